"""A month of reservations: what AWS would show of each at any moment, and what people do.

Nothing of the product's rules is here: only what happens, when.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from random import Random

from bot.domain.market import Kind, Segment

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)
NEVER = timedelta(days=400)
ZONES = ("Europe/Berlin", "America/New_York", "America/Sao_Paulo", "Asia/Kolkata", "UTC")
REGIONS = ("us-east-1", "us-east-2", "us-west-2", "eu-north-1")
QUEUE_REGIONS = ("ap-south-1", "ap-northeast-1", "sa-east-1", "eu-west-2", "ca-central-1")
"""Each has one release at most, so that nobody waits for another one's machines."""
PREPAID = (Kind.CAPACITY_BLOCK, Kind.TRAINING_PLAN)
HOURLY = (Kind.ON_DEMAND, Kind.SPOT)
OWNER, TAKER = "U0ANA", "U0LIN"


@dataclass(frozen=True)
class Window:
    """A time in which something does not work, half-open."""

    start: datetime
    end: datetime

    def holds(self, moment: datetime) -> bool:
        return self.start <= moment < self.end


@dataclass(frozen=True)
class Month:
    """When it is, and what is broken when.

    `down`: the bot is not running; `dark`: AWS can't be read; `away`: Slack takes nothing.
    """

    first: datetime
    last: datetime
    down: tuple[Window, ...]
    dark: tuple[Window, ...]
    away: tuple[Window, ...]
    restarts: tuple[datetime, ...]
    digest_zone: str


@dataclass(frozen=True)
class Serving:
    """An endpoint: when it is ordered; `up` how long it takes; `why` it fails, if it does."""

    ordered: datetime
    up: timedelta
    why: str = ""


@dataclass(frozen=True)
class Release:
    """What its owner gives away when, how many wait for it, and after how long who takes it."""

    at: datetime
    waiting: int
    taken_after: timedelta | None = None


@dataclass(frozen=True)
class Prolonging:
    """More time asked for here: paid or not, and when AWS says so."""

    asked: datetime
    end: datetime
    settled: datetime
    paid: bool


@dataclass(frozen=True)
class Case:
    """One thing bought and its whole truth; a join has several on one reservation.

    `free` are (moment, machines free) from each moment on, `ill` likewise; `longer` when AWS
    shows another last end, and which; `moved` when it shows another start, by how much;
    `vanishes` when it is no longer known, `fails` when the payment fails; `taken` when AWS takes
    a spot machine; `left` what still bills after the end.
    """

    number: int
    group: int
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
    ill: tuple[tuple[datetime, int], ...] = ()
    fails: datetime | None = None
    vanishes: datetime | None = None
    longer: tuple[datetime, datetime] | None = None
    moved: tuple[datetime, timedelta] | None = None
    ultraserver_type: str | None = None
    serving: Serving | None = None
    release: Release | None = None
    handed: datetime | None = None
    prolonging: Prolonging | None = None
    taken: datetime | None = None
    left: bool = False

    @property
    def id(self) -> str:
        return f"cr-month-{self.number:03d}"

    @property
    def tail(self) -> timedelta:
        """How long before each end AWS takes the machines, by its user guides."""
        if self.kind not in PREPAID:
            return timedelta(0)
        large = self.ultraserver_type is not None
        return HOUR if large or self.target == "hyperpod-cluster" else HOUR / 2

    @property
    def last_end(self) -> tuple[datetime, datetime] | None:
        """When AWS shows another end than the first one, and which."""
        if self.longer is not None:
            return self.longer
        more = self.prolonging
        return (more.settled, more.end) if more is not None and more.paid else None

    def parts(self, moment: datetime) -> tuple[Segment, ...]:
        """The segments as AWS shows them at the moment."""
        found = self.segments
        if self.moved is not None and moment >= self.moved[0]:
            found = tuple(_shifted(part, self.moved[1]) for part in found)
        if self.last_end is not None and moment >= self.last_end[0]:
            last = found[-1].model_copy(update={"end": self.last_end[1]})
            found = (*found[:-1], last)
        return found

    def final(self) -> tuple[Segment, ...]:
        """The segments as they are in the end."""
        return self.parts(self.bought + NEVER)

    def over(self) -> datetime:
        """When AWS would say that it is over, were it asked."""
        ends = [self.final()[-1].end, self.fails, self.vanishes]
        if self.taken is not None:
            ends.append(self.taken + 2 * MINUTE)
        return min(moment for moment in ends if moment is not None)

    def state(self, moment: datetime) -> str:
        """AWS's word for it at the moment."""
        plan = self.kind is Kind.TRAINING_PLAN
        if self.kind in HOURLY:
            return "running" if moment < self.over() else "terminated"
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
        return _at(self.free, moment, self.total)

    def ill_at(self, moment: datetime) -> int:
        return _at(self.ill, moment, 0)


def _at(steps: Sequence[tuple[datetime, int]], moment: datetime, before: int) -> int:
    return next((value for since, value in reversed(steps) if since <= moment), before)


def _shifted(part: Segment, by: timedelta) -> Segment:
    return part.model_copy(update={"start": part.start + by, "end": part.end + by})


@dataclass
class Plot:
    """Draws the cases of a month: the same ones in every run."""

    month: Month
    draw: Random
    regions: list[str] = field(default_factory=lambda: list(QUEUE_REGIONS))

    def cases(self, count: int) -> list[Case]:
        """Return so many reservations in the order they are bought: never while down."""
        made: list[Case] = []
        for group in range(count):
            case = self._case(group)
            made.append(case)
            if self._plain(case) and case.kind is Kind.CAPACITY_BLOCK and self.draw.random() < 0.15:
                twin = replace(case, number=count + group, free=self._use(case, case.total))
                fails = self.draw.random() < 0.3
                never = case.bought + NEVER
                bad = replace(twin, fails=case.bought + 9 * MINUTE, paid=never, left=False)
                made.append(bad if fails else twin)
        return sorted(made, key=lambda case: (case.bought, case.number))

    def _plain(self, case: Case) -> bool:
        odd = (case.fails, case.vanishes, case.longer, case.moved, case.serving, case.release)
        return not any((*odd, case.handed, case.prolonging, case.taken))

    def _case(self, number: int) -> Case:
        draw = self.draw
        kinds = (Kind.CAPACITY_BLOCK, Kind.TRAINING_PLAN, Kind.ODCR, Kind.ON_DEMAND, Kind.SPOT)
        kind = draw.choices(kinds, (52, 28, 9, 6, 5))[0]
        days = (self.month.last - self.month.first) // DAY - 6
        day = self.month.first + DAY * draw.randrange(1, days)
        start = day + 11 * HOUR + HOUR / 2
        if draw.random() < 0.2:
            start += MINUTE * draw.randrange(1, 700)
        length = draw.choice((1, 1, 2, 2, 3, 4, 7, 9))
        end = day + DAY * length + 11 * HOUR + HOUR / 2
        if kind in HOURLY:
            end = start + HOUR * (3 if kind is Kind.SPOT else draw.choice((4, 9, 20)))
        parts = self._segments(kind, start, end)
        if kind in PREPAID:
            bought = max(self.month.first, start - HOUR * draw.choice((1, 3, 8, 30, 60, 200)))
        else:
            bought = start
        bought = self._awake(bought)
        if kind not in PREPAID and bought > start:
            shift = bought - start
            parts = tuple(_shifted(part, shift) for part in parts)
        paid = min(bought + MINUTE * draw.choice((0, 3, 7, 45, 300)), parts[0].start - 5 * MINUTE)
        large = kind in PREPAID and draw.random() < 0.15
        targets = ("training-job", "hyperpod-cluster", "endpoint")
        case = Case(
            number=number,
            group=number,
            bought=bought,
            kind=kind,
            region=draw.choice(REGIONS),
            zone=draw.choice(ZONES),
            target=draw.choice(targets) if kind is Kind.TRAINING_PLAN else None,
            instance_type="ml.p5.48xlarge" if kind is Kind.TRAINING_PLAN else "p5.48xlarge",
            segments=parts,
            total=draw.choice((1, 2, 4, 8)),
            paid=max(paid, bought) if kind in PREPAID else bought,
            lag=MINUTE * (draw.choice((0, 0, 2, 4, 20)) if kind in PREPAID else 0),
            free=(),
            ultraserver_type="u-p6e-gb200x72" if large else None,
            left=draw.random() < 0.2,
        )
        case = replace(case, free=self._use(case, case.total))
        return self._odd(case)

    def _awake(self, moment: datetime) -> datetime:
        """Return the moment, or an hour before what is broken then."""
        broken = (*self.month.down, *self.month.dark)
        return next((one.start - HOUR for one in broken if one.holds(moment)), moment)

    def _segments(self, kind: Kind, start: datetime, end: datetime) -> tuple[Segment, ...]:
        first = Segment(start=start, end=end, zone="us-east-1b")
        if kind is not Kind.TRAINING_PLAN or self.draw.random() < 0.5:
            return (first,)
        begin = end + DAY * self.draw.choice((0, 1, 2))
        more = DAY * self.draw.choice((1, 2))
        return (first, Segment(start=begin, end=begin + more, zone="b"))

    def _use(self, case: Case, total: int) -> tuple[tuple[datetime, int], ...]:
        """Used from the start, never used, used late, or used and then left alone."""
        start, end = case.segments[0].start, case.segments[0].end
        pattern = self.draw.choice(("busy", "busy", "busy", "never", "late", "left"))
        if pattern == "busy":
            return ((start, 0),)
        if pattern == "never":
            return ((start, total),)
        if pattern == "late":
            return ((start, total), (start + HOUR * self.draw.choice((1, 5, 16)), 0))
        left = start + (end - start) * self.draw.choice((0.3, 0.5))
        return ((start, 0), (left.replace(second=0, microsecond=0), total))

    def _odd(self, case: Case) -> Case:
        """Give it what happens to few: at most one thing."""
        extra = self.draw.random()
        start, end = case.segments[0].start, case.segments[0].end
        if case.kind is Kind.SPOT:
            taken = start + (end - start) * 0.6
            return replace(case, taken=_whole(taken)) if extra < 0.6 else case
        if case.kind not in PREPAID:
            vanishes = _whole(start + (end - start) * self.draw.random())
            return replace(case, vanishes=vanishes) if extra < 0.1 else case
        if case.target == "endpoint" and extra < 0.8:
            return self._served(case)
        chances = (
            (0.08, self._unpaid),
            (0.12, self._lost),
            (0.2, self._longer),
            (0.27, self._moved),
            (0.35, self._prolonged),
            (0.5, self._given),
            (0.6, self._unwell),
        )
        return next((happen(case) for below, happen in chances if extra < below), case)

    def _served(self, case: Case) -> Case:
        start = case.segments[0].start
        ahead = HOUR * self.draw.choice((0, 1, 5))
        order = self._awake(max(case.bought, start - ahead) + MINUTE)
        fails = self.draw.random() < 0.4
        why = "The container did not pass the ping health check." if fails else ""
        return replace(case, serving=Serving(order, MINUTE * self.draw.choice((4, 9)), why))

    def _unpaid(self, case: Case) -> Case:
        ahead = case.segments[0].start - case.bought
        pause = self.draw.choice([one for one in (4, 90, 11 * 60) if one * MINUTE < ahead])
        fails = case.bought + MINUTE * pause
        return replace(case, fails=fails, paid=case.bought + NEVER)

    def _lost(self, case: Case) -> Case:
        start, end = case.segments[0].start, case.segments[0].end
        return replace(case, vanishes=_whole(start + (end - start) * self.draw.random()))

    def _longer(self, case: Case) -> Case:
        seen = case.segments[0].end - HOUR * self.draw.choice((3, 13, 20))
        end = case.segments[-1].end + DAY * self.draw.choice((1, 2))
        return replace(case, longer=(seen, end))

    def _moved(self, case: Case) -> Case:
        ahead = case.segments[0].start - case.bought
        if ahead <= 12 * HOUR:
            return case
        return replace(
            case, moved=(_whole(case.bought + ahead / 2), HOUR * self.draw.choice((5, 24)))
        )

    def _prolonged(self, case: Case) -> Case:
        if len(case.segments) > 1:
            return case
        end = case.segments[0].end
        asked = self._awake(end - HOUR * self.draw.choice((5, 10)))
        settled = asked + MINUTE * self.draw.choice((6, 50))
        paid = self.draw.random() < 0.6
        return replace(case, prolonging=Prolonging(asked, end + DAY, settled, paid))

    def _unwell(self, case: Case) -> Case:
        start, end = case.segments[0].start, case.segments[0].end
        if case.total == 1:
            return case
        since = _whole(start + (end - start) * 0.4)
        worse = ((since, 1), (since + 3 * HOUR, 2)) if case.total > 2 else ((since, 1),)
        return replace(case, ill=worse, free=((start, 0),))

    def _given(self, case: Case) -> Case:
        """Have it handed over, or released to those who wait or to anybody."""
        start, end = case.segments[0].start, case.segments[0].end
        moment = self._awake(_whole(start + (end - start) * self.draw.choice((0.2, 0.6))))
        if moment <= case.paid + HOUR:
            return case
        if moment <= case.segments[0].start + HOUR or self.draw.random() < 0.4:
            return replace(case, handed=moment, zone="Europe/Berlin")
        waiting = self.draw.choice((0, 1, 2)) if self.regions else 0
        if waiting == 0:
            return replace(case, release=Release(moment, 0))
        region = self.regions.pop()
        after = 10 * MINUTE if waiting == 1 else None
        given = replace(case, region=region, zone="Europe/Berlin")
        return replace(given, release=Release(moment, waiting, after))


def _whole(moment: datetime) -> datetime:
    return moment.replace(second=0, microsecond=0)
