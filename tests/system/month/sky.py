"""AWS and Slack as the month has them: every port that the product needs from outside."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from bot.domain.errors import DeliveryError, MarketError
from bot.domain.market import Kind, Market, NotRead
from bot.domain.records import MessageRef, Receipt
from bot.domain.using import (
    EndpointOrder,
    EndpointView,
    Found,
    Health,
    Leftover,
    LeftoverKind,
    Machine,
    PlanView,
)
from tests.fakes.clock import FakeClock
from tests.fakes.messenger import FakeMessenger
from tests.system.month.plot import MINUTE, Case, Month, Window

DYING = 3 * MINUTE
"""How long what is told to end takes to do so."""


def purchase_of(case: Case) -> str:
    return f"p-{case.id}"


class Sky:
    """See bot.ports: Holdings, Machines, MarketReader, Buyer, Tagger."""

    def __init__(self, clock: FakeClock, cases: Sequence[Case], month: Month) -> None:
        self.clock = clock
        self.cases = {case.id: case for case in cases}
        self.dark = month.dark
        self.calls = 0
        self.tags: dict[str, str] = {}

    def check_light(self) -> None:
        if any(window.holds(self.clock.now()) for window in self.dark):
            raise MarketError("unreachable", "timeout")

    def look(self, receipts: Sequence[Receipt]) -> Mapping[str, Receipt]:
        self.calls += 1
        now = self.clock.now()
        if any(window.holds(now) for window in self.dark):
            return {
                one.id: one.model_copy(update={"last_error": "unreachable: timeout"})
                for one in receipts
            }
        return {one.id: self._seen(one, now) for one in receipts}

    def _seen(self, receipt: Receipt, now: datetime) -> Receipt:
        held, mark, _ = receipt.id.partition("#")
        case = self.cases[held]
        fresh: dict[str, object] = {"checked_at": now, "last_error": ""}
        if mark:
            return receipt.model_copy(update={**fresh, "state": _extension_state(case, now)})
        if case.vanishes is not None and now >= case.vanishes:
            return receipt.model_copy(update={**fresh, "gone": True})
        state = case.state(now)
        counts: dict[str, object] = {}
        if case.kind not in (Kind.ON_DEMAND, Kind.SPOT):
            runs = state == "active"
            counts = {
                "total_count": case.total if runs else None,
                "available_count": case.free_at(now) if runs else None,
                "unhealthy_count": case.ill_at(now) if runs else None,
            }
        return receipt.model_copy(
            update={**fresh, "state": state, "segments": case.parts(now), **counts}
        )

    def health(self, receipt: Receipt) -> Health:
        now = self.clock.now()
        if any(window.holds(now) for window in self.dark):
            unread = NotRead(
                account="research", region=receipt.region, market="instances", why="unreachable"
            )
            return Health(receipt_id=receipt.id, state=receipt.state, not_read=(unread,))
        case = self.cases[receipt.id]
        taken = case.taken is not None and now >= case.taken
        machine = Machine(
            id=f"i-{case.id}",
            state=case.state(now),
            notice="to be terminated" if taken else "",
        )
        return Health(receipt_id=receipt.id, state=receipt.state, machines=(machine,))

    def read(self, request: object, *, progress: object = None) -> Market:
        del request, progress
        return Market(as_of=self.clock.now())

    def requote(self, leg: object) -> Sequence[object]:
        del leg
        self.check_light()
        return ()

    def find(self, purchase: object) -> Sequence[Receipt]:
        del purchase
        return ()

    def tag(self, receipt: Receipt, *, owner: str, team: str | None) -> None:
        del team
        self.check_light()
        self.tags[receipt.id] = owner


def _extension_state(case: Case, now: datetime) -> str:
    more = case.prolonging
    assert more is not None
    if now < more.settled:
        return "payment-pending"
    return "payment-succeeded" if more.paid else "payment-failed"


@dataclass
class Kitchen:
    """See bot.ports.Endpoints: serves as the plot says, or not."""

    sky: Sky
    made: dict[str, datetime] = field(default_factory=dict)
    configured_: set[str] = field(default_factory=set)
    dying: dict[str, datetime] = field(default_factory=dict)
    creates: list[str] = field(default_factory=list)

    def plan(self, receipt: Receipt) -> PlanView | None:
        self.sky.check_light()
        case = self.sky.cases[receipt.id]
        word = case.state(self.sky.clock.now()).title()
        return PlanView(status=word, targets=("endpoint",), total=case.total)

    def configured(self, order: EndpointOrder) -> bool:
        self.sky.check_light()
        return order.name in self.configured_

    def look(self, order: EndpointOrder) -> EndpointView | None:
        self.sky.check_light()
        now = self.sky.clock.now()
        if self.dying.get(order.name, now) < now:
            self.made.pop(order.name, None)
        made = self.made.get(order.name)
        serving = self.sky.cases[order.plan_arn].serving
        if made is None or serving is None:
            return None
        if order.name in self.dying:
            return EndpointView(status="Deleting")
        if now < made + serving.up:
            return EndpointView(status="Creating")
        status = "Failed" if serving.why else "InService"
        return EndpointView(status=status, reason=serving.why, used=1, total=2)

    def configure(self, order: EndpointOrder) -> None:
        self.configured_.add(order.name)

    def create(self, order: EndpointOrder) -> None:
        self.made[order.name] = self.sky.clock.now()
        self.creates.append(order.name)

    def delete(self, order: EndpointOrder) -> None:
        self.dying.setdefault(order.name, self.sky.clock.now() + DYING)

    def unconfigure(self, order: EndpointOrder) -> None:
        self.configured_.discard(order.name)


@dataclass
class Attic:
    """See bot.ports.Leftovers: a machine that somebody started and nobody ended."""

    sky: Sky
    dying: dict[str, datetime] = field(default_factory=dict)
    removals: list[str] = field(default_factory=list)

    def find(self, receipts: Sequence[Receipt]) -> Found:
        now = self.sky.clock.now()
        if any(window.holds(now) for window in self.sky.dark):
            unread = NotRead(
                account="research", region=receipts[0].region, market="instances", why="timeout"
            )
            return Found(items=(), not_read=(unread,))
        cases = [self.sky.cases[one.id] for one in receipts if "#" not in one.id]
        return Found(
            items=tuple(self._left(one) for one in cases if self._is_there(one)), not_read=()
        )

    def _is_there(self, case: Case) -> bool:
        now = self.sky.clock.now()
        return case.left and self.dying.get(f"i-left-{case.id}", now) >= now

    def _left(self, case: Case) -> Leftover:
        return Leftover(
            kind=LeftoverKind.INSTANCE,
            id=f"i-left-{case.id}",
            account="research",
            region=case.region,
            state="running",
            purchase=purchase_of(case),
            usd_per_day=Decimal("120.00"),
        )

    def remove(self, leftover: Leftover) -> None:
        self.removals.append(leftover.id)
        self.dying.setdefault(leftover.id, self.sky.clock.now() + DYING)


class Ports:
    """See bot.cloud.Aws."""

    def __init__(self, sky: Sky) -> None:
        self.market = self.buyer = self.holdings = self.tagger = self.machines = sky
        self.endpoints = Kitchen(sky)
        self.leftovers = Attic(sky)
        self.utilisation = self

    def __getattr__(self, name: str) -> object:
        return object()

    def event_queues(self) -> tuple[()]:
        return ()

    def read(self, receipts: object, *, window: object) -> Mapping[str, object]:
        """No agent publishes GPU metrics: the reservation's own counts are all that is known."""
        del receipts, window
        return {}


@dataclass
class Ear(FakeMessenger):
    """Slack, which is away now and then; keeps when each message arrived."""

    clock: FakeClock
    away: Sequence[Window] = ()
    when: dict[str, datetime] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__init__()

    def post(self, key, announcement, *, under) -> MessageRef:
        now = self.clock.now()
        if any(window.holds(now) for window in self.away):
            raise DeliveryError("service_unavailable", retry_after_seconds=60)
        place = super().post(key, announcement, under=under)
        assert key not in self.when, f"{key} was said twice"
        self.when[key] = now
        return place
