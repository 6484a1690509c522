"""Capacity that was bought in the simulated AWS, and everything that is done with it then."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import boto3

from bot.aws import (
    AwsBuyer,
    AwsEndpoints,
    AwsHoldings,
    AwsLeftovers,
    AwsMachines,
    AwsMarket,
    AwsUtilisation,
    Clients,
)
from bot.catalog import packaged
from bot.domain.lifecycle import ProposalState, PurchaseState, ReservationState
from bot.domain.market import Kind, Segment
from bot.domain.records import Leg, LegPurpose, Proposal, Purchase, Reservation
from bot.domain.request import Request, Target
from bot.domain.saying import Announcement
from bot.domain.using import ROUTINE
from bot.ports import Store
from bot.services.duties import Duties
from bot.services.reservations.following import Following
from bot.services.reservations.reminding import Reminding
from bot.services.uses import Means, Uses, uses
from bot.services.verifying import Verifying
from bot.services.words.delivering import Delivering
from bot.services.words.telling import Telling
from bot.settings.config_file import EXAMPLE, parse_configuration
from sandbox.aws import SimulatedAws
from storage import open_store
from tests.fakes.bell import FakeBell
from tests.fakes.clock import FakeClock
from tests.fakes.messenger import FakeMessenger
from tests.fakes.people import FakePeople
from tests.services.after.after_world import FakeLog, option, plain
from tests.unit.aws.canned import RESEARCH

SESSION = boto3.Session()
"""One for all tests: it keeps the service models that it has read."""
HOURLY = (Kind.ON_DEMAND, Kind.SPOT)


class NoPrices:
    """Nobody tenders extensions here."""

    def price(self, *_: object, **__: object) -> None:
        return None


@dataclass
class UseWorld:
    aws: SimulatedAws
    clock: FakeClock
    store: Store = field(default_factory=lambda: open_store("memory://"))

    def __post_init__(self) -> None:
        configuration, faults = parse_configuration(EXAMPLE)
        assert configuration is not None, faults
        self.configuration = configuration.model_copy(update={"accounts": (RESEARCH,)})
        self.people = FakePeople(self.clock)
        self.messenger = FakeMessenger()
        self.log = FakeLog()
        self.clients = Clients((RESEARCH,))
        self.clients._sessions[None] = SESSION  # noqa: SLF001 - spares a second of reading models
        self.bell = FakeBell()
        self.quoted: list[int] = []
        self.start()

    def start(self) -> None:
        """Build the services anew on the same store, as a restarted process would."""
        telling = Telling(configuration=self.configuration)
        accounts = (RESEARCH,)
        utilisation = AwsUtilisation(accounts, clock=self.clock, clients=self.clients)
        holdings = AwsHoldings(accounts, clock=self.clock, clients=self.clients)
        self.following = Following(
            store=self.store,
            clock=self.clock,
            holdings=holdings,
            reminding=Reminding(
                store=self.store, clock=self.clock, telling=telling, pricing=NoPrices()
            ),
            telling=telling,
            utilisation=utilisation,
        )
        self.uses: Uses = uses(
            Means(
                store=self.store,
                clock=self.clock,
                endpoints=AwsEndpoints(accounts, clients=self.clients),
                machines=AwsMachines(accounts, clients=self.clients),
                leftovers=AwsLeftovers(accounts, clock=self.clock, clients=self.clients),
                utilisation=utilisation,
                verifying=Verifying(people=self.people),
                telling=telling,
                catalog=packaged(),
                configuration=self.configuration,
                bell=self.bell,
            )
        )
        self.duties = Duties(
            store=self.store,
            clock=self.clock,
            log=self.log,
            steps={
                "follow": self.following.follow,
                "remind": lambda _: "left out",
                "quote": lambda due: self.quoted.append(int(due.argument)),
                **self.uses.steps,
            },
        )
        self.delivering = Delivering(
            store=self.store, clock=self.clock, messenger=self.messenger, log=self.log
        )

    # --- time --------------------------------------------------------------------------------

    def settle(self) -> None:
        self.aws.settle()
        for _ in range(200):
            if not self.duties.step() + self.delivering.step():
                return
        raise AssertionError("it never comes to rest")

    def run(self, length: timedelta) -> None:
        self.run_until(self.clock.now() + length)

    def run_until(self, end: datetime) -> None:
        """Move the clock from event to event."""
        self.settle()
        for _ in range(20_000):
            with self.store.reading() as tx:
                times = [
                    tx.dues.next_at(leaving_out=ROUTINE),
                    tx.outbox.next_at(),
                    self.aws.next_event(),
                ]
            ahead = min((at for at in times if at and at > self.clock.now()), default=end)
            self.clock.set(min(ahead, end))
            self.settle()
            if self.clock.now() >= end:
                return
        raise AssertionError("the time never comes")

    # --- what is held ------------------------------------------------------------------------

    def buy(
        self,
        kind: Kind,
        target: Target | None = None,
        *,
        count: int = 2,
        days: int = 2,
        machine: str = "p5.48xlarge",
    ) -> int:
        """Buy it in the simulated AWS, put it in the books, and return the reservation."""
        now = self.clock.now()
        hourly = kind in HOURLY
        leg = self._leg(kind, target, count, timedelta(days=days), machine)
        with self.store.transaction() as tx:
            reservation = tx.reservations.add(self._reservation(leg, now))
            for step in ("quoted", "approved", "purchasing"):
                reservation = tx.reservations.save(
                    reservation.model_copy(update={"state": ReservationState(step)})
                )
            proposal = tx.proposals.add(
                Proposal(
                    reservation_id=reservation.id,
                    version=1,
                    state=ProposalState.OPEN,
                    option=option(leg.fee, leg.segments[0]),
                    legs=(leg,),
                    ceiling=leg.fee,
                    team="vision",
                    needed=1,
                    approvers=("U0BRUNO", "U0CARLA"),
                    asked_by="U0ANA",
                    asked_at=now,
                    expires_at=now + timedelta(hours=4),
                )
            )
            tx.proposals.move(proposal, ProposalState.APPROVED)
            purchase = Purchase(
                id=f"gpubot-0123456789-{reservation.id}-1-1",
                reservation_id=reservation.id,
                proposal_id=proposal.id,
                leg=leg,
                attempt=1,
                state=PurchaseState.INTENDED,
                offering_ref=leg.ref,
                fee=leg.fee,
                owner="U0ANA",
                team="vision",
                approvers=("U0BRUNO",),
                intended_at=now,
            )
            tx.purchases.add(purchase)
            purchase = tx.purchases.move(purchase, PurchaseState.SUBMITTED, at=now)
        receipts = AwsBuyer((RESEARCH,), clock=self.clock, clients=self.clients).buy(purchase)
        with self.store.transaction() as tx:
            tx.purchases.move(purchase, PurchaseState.CONFIRMED, at=now)
            stored = [tx.receipts.add(receipt) for receipt in receipts]
            becomes = ReservationState.ACTIVE if hourly else ReservationState.PAYMENT_PENDING
            reservation = tx.reservations.save(reservation.model_copy(update={"state": becomes}))
            self.following.telling.redraw(tx, reservation, now=now)
            self.following.began(tx, reservation, stored, now=now)
        return reservation.id

    def begun(self, kind: Kind, target: Target | None = None, *, count: int = 2) -> int:
        """The same, and its time has come."""
        number = self.buy(kind, target, count=count)
        self.run_until(self.receipt(number).segments[0].start + timedelta(minutes=20))
        return number

    def _leg(
        self, kind: Kind, target: Target | None, count: int, length: timedelta, machine: str
    ) -> Leg:
        values: dict[str, Any] = {
            "number": 1,
            "purpose": LegPurpose.INITIAL,
            "kind": kind,
            "account": "research",
            "region": "us-east-1",
            "instance_count": count,
            "platform": "Linux/UNIX",
            "target": target,
        }
        now = self.clock.now()
        if kind in HOURLY or kind is Kind.ODCR:
            segment = Segment(start=now, end=now + length, zone="us-east-1b")
            return Leg(
                ref=f"{kind}:us-east-1b",
                zone="us-east-1b",
                instance_type="g6.xlarge",
                segments=(segment,),
                fee=Decimal("20.00"),
                **values,
            )
        market = AwsMarket(
            (RESEARCH,),
            clock=self.clock,
            catalog=packaged(),
            refusals=dict,
            clients=self.clients,
            kinds=(kind,),
        ).read(
            Request(
                instance_type=machine,
                instance_count=count,
                duration_hours=Decimal(length // timedelta(hours=1)),
                target=target,
            )
        )
        row = next(one for one in market.offerings if one.opted_in and len(one.segments) == 1)
        return Leg(
            ref=row.ref,
            zone=row.zone,
            instance_type=row.instance_type,
            segments=row.segments,
            fee=row.upfront_fee or Decimal(0),
            **values,
        )

    def _reservation(self, leg: Leg, now: datetime) -> Reservation:
        return Reservation(
            state=ReservationState.REQUESTED,
            workspace="T0",
            requester="U0ANA",
            owner="U0ANA",
            team="vision",
            channel="C0GPU",
            request=Request(
                instance_type=leg.instance_type.removeprefix("ml."),
                instance_count=leg.instance_count,
                duration_hours=Decimal(48),
                interruptible=True if leg.kind is Kind.SPOT else None,
                max_total_usd=Decimal(100) if leg.kind is Kind.SPOT else None,
            ),
            line=f"reserve {leg.instance_count} {leg.instance_type.removeprefix('ml.')} for 48h",
            zone="Europe/Berlin",
            locale="en-US",
            created_at=now,
            updated_at=now,
        )

    # --- looking at it -------------------------------------------------------------------------

    def client(self, service: str) -> Any:
        return self.clients.reading(service, "research", "us-east-1")

    def receipt(self, number: int) -> Any:
        with self.store.reading() as tx:
            return tx.receipts.of(number)[0]

    def reservation(self, number: int) -> Reservation:
        with self.store.reading() as tx:
            return tx.reservations.get(number)

    def audit(self, number: int) -> list[tuple[str, dict[str, str]]]:
        with self.store.reading() as tx:
            return [(entry.action, entry.facts) for entry in tx.audit.of(number)]

    def calls(self, operation: str) -> int:
        return len(self.aws.calls(operation))

    def note(self, key: str) -> str:
        """What the note with that key says now."""
        return plain(self.messenger.said[key])

    def said(self, part: str) -> list[Announcement]:
        return [one for one in self.messenger.said.values() if part in plain(one)]
