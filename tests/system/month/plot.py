"""A month of reservations: what AWS would show of each at any moment, and what is broken when."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random

from bot.domain.errors import DeliveryError
from bot.domain.market import Kind, Segment
from bot.domain.records import MessageRef, Receipt
from tests.fakes.clock import FakeClock
from tests.fakes.messenger import FakeMessenger

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)
FIRST = datetime(2027, 3, 1, tzinfo=UTC)
LAST = datetime(2027, 4, 1, tzinfo=UTC)
ZONES = ("Europe/Berlin", "America/New_York", "America/Sao_Paulo", "Asia/Kolkata", "UTC")
REGIONS = ("us-east-1", "us-east-2", "us-west-2", "eu-north-1")


@dataclass(frozen=True)
class Window:
    """A time in which something does not work, half-open."""

    start: datetime
    end: datetime

    def holds(self, moment: datetime) -> bool:
        return self.start <= moment < self.end


@dataclass(frozen=True)
class Case:
    """One reservation and its whole truth.

    `free` are (moment, machines free) from each moment on; `longer` when AWS shows a later end;
    `vanishes` when it is no longer known, `fails` when the payment fails.
    """

    number: int
    bought: datetime
    kind: Kind
    region: str
    zone: str
    target: str | None
    instance_type: str
    segments: tuple[Segment, ...]
    total: int
    paid: datetime
    lag: timedelta
    free: tuple[tuple[datetime, int], ...]
    fails: datetime | None = None
    vanishes: datetime | None = None
    longer: tuple[datetime, datetime] | None = None
    ultraserver_type: str | None = None

    @property
    def id(self) -> str:
        return f"cr-month-{self.number:03d}"

    @property
    def tail(self) -> timedelta:
        """How long before each end AWS takes the machines."""
        if self.kind is Kind.ODCR:
            return timedelta(0)
        large = self.ultraserver_type is not None
        return HOUR if large or self.target == "hyperpod-cluster" else HOUR / 2

    def parts(self, moment: datetime) -> tuple[Segment, ...]:
        if self.longer is None or moment < self.longer[0]:
            return self.segments
        last = self.segments[-1].model_copy(update={"end": self.longer[1]})
        return (*self.segments[:-1], last)

    def over(self) -> datetime:
        """When AWS would say that it is over, were it asked."""
        ends = [self.parts(LAST + DAY * 60)[-1].end, self.fails, self.vanishes]
        return min(moment for moment in ends if moment is not None)

    def state(self, moment: datetime) -> str:
        plan = self.kind is Kind.TRAINING_PLAN
        if self.fails is not None and moment >= self.fails:
            return "failed" if plan else "payment-failed"
        if moment < self.paid:
            return "pending" if plan else "payment-pending"
        parts = self.parts(moment)
        if moment >= parts[-1].end:
            return "cancelled" if self.kind is Kind.ODCR else "expired"
        runs = any(part.start + self.lag <= moment < part.end for part in parts)
        return "active" if runs else "scheduled"

    def free_at(self, moment: datetime) -> int:
        return next((free for since, free in reversed(self.free) if since <= moment), self.total)


class Sky:
    """AWS as the month has it; see bot.ports.Holdings."""

    def __init__(self, clock: FakeClock, cases: Sequence[Case], dark: Sequence[Window]) -> None:
        self.clock = clock
        self.cases = {case.id: case for case in cases}
        self.dark = dark
        self.calls = 0

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
        case = self.cases[receipt.id]
        fresh: dict[str, object] = {"checked_at": now, "last_error": ""}
        if case.vanishes is not None and now >= case.vanishes:
            return receipt.model_copy(update={**fresh, "gone": True})
        state = case.state(now)
        runs = state == "active"
        return receipt.model_copy(
            update={
                **fresh,
                "state": state,
                "segments": case.parts(now),
                "total_count": case.total if runs else None,
                "available_count": case.free_at(now) if runs else None,
                "unhealthy_count": 0 if runs else None,
            }
        )


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


def cases(count: int, seed: int, down: Sequence[Window]) -> list[Case]:
    """Return the month's reservations, in the order they are bought: never while down."""
    draw = Random(seed)  # noqa: S311 - a plot that is the same in every run
    made = [_case(number, draw, down) for number in range(count)]
    return sorted(made, key=lambda case: (case.bought, case.number))


def _case(number: int, draw: Random, down: Sequence[Window]) -> Case:
    kind = draw.choices((Kind.CAPACITY_BLOCK, Kind.TRAINING_PLAN, Kind.ODCR), (60, 30, 10))[0]
    day = FIRST + DAY * draw.randrange(1, 25)
    start = day + 11 * HOUR + HOUR / 2
    if draw.random() < 0.2:
        start += MINUTE * draw.randrange(1, 700)
    length = draw.choice((1, 1, 2, 2, 3, 4, 7, 9))
    end = day + DAY * length + 11 * HOUR + HOUR / 2
    segments: tuple[Segment, ...] = (Segment(start=start, end=end, zone="us-east-1b"),)
    if kind is Kind.TRAINING_PLAN and draw.random() < 0.5:
        gap = DAY * draw.choice((0, 1, 2))
        again = Segment(start=end + gap, end=end + gap + DAY * draw.choice((1, 2)), zone="b")
        segments = (*segments, again)
    total = draw.choice((1, 2, 4, 8))
    bought = max(FIRST, start - HOUR * draw.choice((1, 3, 8, 30, 60, 200)))
    if kind is Kind.ODCR:
        bought = start
    bought = next((one.start - HOUR for one in down if one.holds(bought)), bought)
    paid = min(bought + MINUTE * draw.choice((0, 3, 7, 45, 300)), start - 5 * MINUTE)
    if kind is Kind.ODCR:
        paid = bought
    large = kind is not Kind.ODCR and draw.random() < 0.15
    targets = ("training-job", "hyperpod-cluster", "endpoint")
    extra = draw.random()
    odd: dict[str, object] = {}
    if kind is not Kind.ODCR and extra < 0.06:
        odd["fails"] = odd_time = bought + MINUTE * draw.choice((4, 90))
        paid = odd_time + DAY * 400
    elif extra < 0.1:
        odd["vanishes"] = start + (end - start) * draw.random()
    elif kind is not Kind.ODCR and extra < 0.25:
        seen = end - HOUR * draw.choice((3, 13, 20))
        odd["longer"] = (seen, segments[-1].end + DAY * draw.choice((1, 2)))
    return Case(
        number=number,
        bought=bought,
        kind=kind,
        region=draw.choice(REGIONS),
        zone=draw.choice(ZONES),
        target=draw.choice(targets) if kind is Kind.TRAINING_PLAN else None,
        instance_type="ml.p5.48xlarge" if kind is Kind.TRAINING_PLAN else "p5.48xlarge",
        segments=segments,
        total=total,
        paid=max(paid, bought),
        lag=MINUTE * (0 if kind is Kind.ODCR else draw.choice((0, 0, 2, 4))),
        free=_use(draw, start, end, total),
        ultraserver_type="u-p6e-gb200x72" if large else None,
        **odd,
    )


def _use(
    draw: Random, start: datetime, end: datetime, total: int
) -> tuple[tuple[datetime, int], ...]:
    """Used from the start, never used, used late, or used and then left alone."""
    pattern = draw.choice(("busy", "busy", "busy", "never", "late", "left"))
    if pattern == "busy":
        return ((start, 0),)
    if pattern == "never":
        return ((start, total),)
    if pattern == "late":
        return ((start, total), (start + HOUR * draw.choice((1, 5, 16)), 0))
    left = start + (end - start) * draw.choice((0.3, 0.5))
    return ((start, 0), (left.replace(second=0, microsecond=0), total))
