"""Clients that give canned answers by operation and remember every call."""

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

from botocore.exceptions import ClientError

from bot.aws.clients import Clients
from bot.domain.lifecycle import PurchaseState
from bot.domain.market import Kind, Segment
from bot.domain.records import Leg, LegPurpose, Purchase, Receipt
from bot.policy.configuration import Account
from tests.fakes.clock import NOW

RESEARCH = Account(
    name="research",
    account_id="111122223333",
    regions=("us-east-1",),
    launch_templates={"us-east-1": "lt-0a11ce0000000001"},
)
START = NOW.replace(day=15, hour=11, minute=30)

Answer = dict[str, Any] | Exception | Callable[..., Any]


def said(code: str, message: str = "", operation: str = "Any") -> ClientError:
    """The error with which AWS answers."""
    return ClientError({"Error": {"Code": code, "Message": message}}, operation)


class CannedClient:
    def __init__(self, owner: "CannedClients", where: tuple[str, str, str]) -> None:
        self._owner = owner
        self._where = where

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        def call(**parameters: Any) -> Any:
            self._owner.calls.append((operation, self._where, parameters))
            answer = self._owner.answers.get(operation, {})
            if isinstance(answer, list):
                answer = answer.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer(**parameters) if callable(answer) else answer

        return call


class CannedClients(Clients):
    """`answers`: by operation a reply, an error, a function, or a list of those in order."""

    def __init__(self, *accounts: Account, **answers: Answer | list[Any]) -> None:
        super().__init__(accounts or (RESEARCH,))
        self.answers: dict[str, Any] = answers
        self.calls: list[tuple[str, tuple[str, str, str], dict[str, Any]]] = []

    def reading(self, service: str, account: str, region: str) -> Any:
        return CannedClient(self, (service, account, region))

    def spending(self, service: str, account: str, region: str, *, purpose: str = "buy") -> Any:
        return CannedClient(self, (service, account, region))

    def asked(self, operation: str) -> list[dict[str, Any]]:
        return [parameters for name, _, parameters in self.calls if name == operation]


def leg_of(kind: Kind = Kind.CAPACITY_BLOCK, **update: Any) -> Leg:
    plan = kind is Kind.TRAINING_PLAN
    values: dict[str, Any] = {
        "number": 1,
        "purpose": LegPurpose.INITIAL,
        "kind": kind,
        "ref": "tpo-1" if plan else "cb-1",
        "account": "research",
        "region": "us-east-1",
        "zone": "us-east-1b",
        "instance_type": "ml.p5.48xlarge" if plan else "p5.48xlarge",
        "instance_count": 2,
        "segments": (Segment(start=START, end=START + timedelta(days=3), zone="us-east-1b"),),
        "target": "training-job" if plan else None,
        "platform": "Linux/UNIX",
        "fee": Decimal("6877.44"),
    }
    return Leg(**{**values, **update})


def purchase_of(kind: Kind = Kind.CAPACITY_BLOCK, **update: Any) -> Purchase:
    leg = update.pop("leg", None) or leg_of(kind)
    values: dict[str, Any] = {
        "id": "inst-7/gpu-42/1/1",
        "reservation_id": 42,
        "proposal_id": 7,
        "leg": leg,
        "attempt": 1,
        "state": PurchaseState.SUBMITTED,
        "offering_ref": leg.ref,
        "fee": leg.fee,
        "owner": "U0ANA",
        "team": "vision",
        "approvers": ("U0BRUNO", "U0CARLA"),
        "intended_at": NOW,
    }
    return Purchase(**{**values, **update})


def receipt_of(receipt_id: str, kind: Kind = Kind.CAPACITY_BLOCK, **update: Any) -> Receipt:
    values: dict[str, Any] = {
        "id": receipt_id,
        "purchase_id": "inst-7/gpu-42/1/1",
        "reservation_id": 42,
        "kind": kind,
        "account": "research",
        "region": "us-east-1",
        "zone": "us-east-1b",
        "instance_type": "p5.48xlarge",
        "instance_count": 2,
        "target": None,
        "segments": (Segment(start=START, end=START + timedelta(days=3)),),
        "state": "scheduled",
        "checked_at": NOW - timedelta(hours=1),
    }
    return Receipt(**{**values, **update})
