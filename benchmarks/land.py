"""A small AWS in this process, a channel that takes every message, and people who exist.

It sells what it is asked for and forgets what is over, so that what grows is the product's.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from bot.domain.market import HourlyRate, Kind, Market, Offering, Segment
from bot.domain.records import Leg, LegPurpose, MessageRef, Person, Purchase, Receipt
from bot.domain.request import Request, Target
from bot.domain.saying import Announcement
from bot.domain.using import Found, GpuUse, Health, Leftover, Machine

DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)
ACCOUNT, ZONE = "research", "us-east-1b"
PAID_AFTER = 3 * MINUTE
BLOCK_HOUR = Decimal("34.608")
RATE = Decimal("55.04")
KEPT = 30 * DAY
"""AWS shows what has ended for so long here, longer than anybody looks at it."""


@dataclass
class LandClock:
    """See bot.ports.Clock: it stands where it was set."""

    instant: datetime = datetime(2027, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self.instant


@dataclass
class Land:
    """Every port that needs AWS; a request's target and wishes say what is on sale for it."""

    clock: LandClock
    sold: dict[str, Receipt] = field(default_factory=dict)
    looks: int = 0
    sales: int = 0

    # --- the market ------------------------------------------------------------------------

    def read(self, request: Request, *, progress: Callable[[Market], None] | None = None) -> Market:
        del progress
        now = self.clock.now()
        plan = request.target is Target.TRAINING_JOB
        hourly = request.interruptible is True
        offerings = () if hourly else tuple(self._offers(request, plan=plan, now=now))
        rates = (self._rate(request, now),) if not plan else ()
        return Market(as_of=now, offerings=offerings, hourly=rates)

    def requote(self, leg: Leg) -> Sequence[Offering]:
        hours = _hours(leg.segments) * leg.instance_count
        more = leg.purpose is LegPurpose.EXTENSION
        fee = (BLOCK_HOUR * hours).quantize(Decimal("0.01")) if more else leg.fee
        return [
            self._offer(leg.kind, leg.ref or f"more-{self.sales}", leg, leg.segments, fee)
            for leg in (leg,)
        ]

    def _offers(self, request: Request, *, plan: bool, now: datetime) -> list[Offering]:
        kind = Kind.TRAINING_PLAN if plan else Kind.CAPACITY_BLOCK
        hours = request.duration_hours or Decimal(24)
        wanted = max(request.earliest_start or now, now + timedelta(hours=1))
        found = []
        for day in range(5):
            start = wanted.replace(hour=11, minute=30, second=0, microsecond=0) + (day + 1) * DAY
            part = Segment(start=start, end=start + timedelta(hours=int(hours)), zone=ZONE)
            fee = BLOCK_HOUR * hours * (request.instance_count or 1) * (100 + day) / 100
            ref = f"{kind}-{start:%Y%m%d}-{hours}-{request.instance_count}"
            found.append(self._offer(kind, ref, request, (part,), fee.quantize(Decimal("0.01"))))
        return found

    def _offer(
        self,
        kind: Kind,
        ref: str,
        what: Request | Leg,
        segments: tuple[Segment, ...],
        fee: Decimal,
    ) -> Offering:
        plan = kind is Kind.TRAINING_PLAN
        name = (what.instance_type or "").removeprefix("ml.")
        return Offering(
            ref=ref,
            kind=kind,  # type: ignore[arg-type]  # only prepaid kinds get here
            account=ACCOUNT,
            region="us-east-1",
            zone=ZONE,
            zone_id="use1-az4",
            zone_type="availability-zone",
            opted_in=True,
            instance_type=f"ml.{name}" if plan else name,
            instance_count=what.instance_count or 1,
            ultraserver_type=None,
            ultraserver_count=None,
            target_resources=("training-job",) if plan else (),
            segments=segments,
            upfront_fee=fee,
            currency="USD",
        )

    def _rate(self, request: Request, now: datetime) -> HourlyRate:
        spot = request.interruptible is True
        kind = Kind.SPOT if spot else Kind.ON_DEMAND
        return HourlyRate(
            ref=f"{kind}:us-east-1:{request.instance_type}",
            kind=kind,
            account=ACCOUNT,
            region="us-east-1",
            zone=None,
            zone_id=None,
            zone_type=None,
            opted_in=True,
            instance_type=request.instance_type or "",
            usd_per_hour=RATE / 3 if spot else RATE,
            source="price list",
            as_of=now,
            last_refused_at=None,
            placement_score=7 if spot else None,
        )

    # --- buying ----------------------------------------------------------------------------

    def buy(self, purchase: Purchase) -> Sequence[Receipt]:
        now, leg = self.clock.now(), purchase.leg
        self.sales += 1
        more = leg.purpose is LegPurpose.EXTENSION
        receipt = Receipt(
            id=f"{leg.extends}#{purchase.offering_ref}" if more else f"cr-{purchase.id}",
            purchase_id=purchase.id,
            reservation_id=purchase.reservation_id,
            kind=leg.kind,
            account=leg.account,
            region=leg.region,
            zone=leg.zone,
            instance_type=leg.instance_type,
            instance_count=leg.instance_count,
            target=leg.target,
            segments=leg.segments,
            state="payment-pending",
            checked_at=now,
        )
        self.sold[receipt.id] = receipt
        if more and leg.extends in self.sold:
            held = self.sold[leg.extends]
            last = held.segments[-1].model_copy(update={"end": leg.segments[-1].end})
            self.sold[held.id] = held.model_copy(update={"segments": (*held.segments[:-1], last)})
        self._forget(now)
        return (self._seen(receipt, now),)

    def _forget(self, now: datetime) -> None:
        over = [one.id for one in self.sold.values() if one.segments[-1].end + KEPT < now]
        for receipt_id in over:
            del self.sold[receipt_id]

    def find(self, purchase: Purchase) -> Sequence[Receipt]:
        return [one for one in self.sold.values() if one.purchase_id == purchase.id]

    def rehearse(self, leg: Leg, *, used_in: str | None = None) -> Sequence[str]:
        del leg, used_in
        return ()

    # --- what is held ------------------------------------------------------------------------

    def look(self, receipts: Sequence[Receipt]) -> Mapping[str, Receipt]:
        now = self.clock.now()
        self.looks += 1
        return {
            one.id: self._seen(self.sold[one.id], now, revision=one.revision)
            if one.id in self.sold
            else one.model_copy(update={"gone": True, "checked_at": now})
            for one in receipts
        }

    def _seen(self, receipt: Receipt, now: datetime, *, revision: int = 0) -> Receipt:
        """Pay soon, run from the start to the end, and use all of it but for a tenth of them."""
        part = receipt.segments[-1]
        runs = part.start <= now < part.end
        paid = now - receipt.checked_at >= PAID_AFTER
        hourly = receipt.kind in (Kind.ON_DEMAND, Kind.SPOT)
        if "#" in receipt.id:
            state = "payment-succeeded" if paid else "payment-pending"
        elif hourly:
            state = "running" if now < part.end else "terminated"
        elif not paid and not runs:
            state = "payment-pending"
        else:
            state = "scheduled" if now < part.start else "active" if runs else "expired"
        counted = runs and not hourly and "#" not in receipt.id
        idle = sum(map(ord, receipt.id)) % 10 == 0
        return receipt.model_copy(
            update={
                "revision": revision,
                "checked_at": now,
                "state": state,
                "total_count": receipt.instance_count if counted else None,
                "available_count": (receipt.instance_count if idle else 0) if counted else None,
                "unhealthy_count": 0 if counted else None,
            }
        )

    def health(self, receipt: Receipt) -> Health:
        seen = self._seen(receipt, self.clock.now())
        machines = tuple(
            Machine(id=f"i-{receipt.reservation_id}-{number}", state=seen.state)
            for number in range(receipt.instance_count)
        )
        return Health(receipt_id=receipt.id, state=seen.state, machines=machines)

    def tag(self, receipt: Receipt, *, owner: str, team: str | None) -> None:
        """Take every tag."""

    # --- what is left --------------------------------------------------------------------------

    def find_left(self, receipts: Sequence[Receipt]) -> Found:
        del receipts
        return Found(items=(), not_read=())


@dataclass(frozen=True)
class Attic:
    """See bot.ports.Leftovers: nothing is ever left."""

    land: Land

    def find(self, receipts: Sequence[Receipt]) -> Found:
        return self.land.find_left(receipts)

    def remove(self, leftover: Leftover) -> None:
        """Remove nothing: there is nothing."""


class Blind:
    """See bot.ports.Utilisation: no agent publishes anything here."""

    def read(self, receipts: Sequence[Receipt], *, window: timedelta) -> Mapping[str, GpuUse]:
        del receipts, window
        return {}


class Unused:
    """A port that nobody in this land has a use for: whatever is asked of it is a fault."""


class Ports:
    """See bot.cloud.Aws."""

    def __init__(self, land: Land) -> None:
        self.market = self.buyer = self.holdings = self.tagger = self.machines = land
        self.leftovers = Attic(land)
        self.utilisation = Blind()

    def event_queues(self) -> tuple[()]:
        """Return none: polling alone is complete."""
        return ()

    def __getattr__(self, name: str) -> Unused:
        return Unused()


@dataclass
class Channel:
    """See bot.ports.Messenger: counts what was said and keeps nothing."""

    posts: int = 0
    updates: int = 0

    def post(self, key: str, announcement: Announcement, *, under: MessageRef | None) -> MessageRef:
        del key, under
        self.posts += 1
        to = announcement.to
        return MessageRef(channel=to.channel or f"D{to.user}", ts=f"{self.posts}.000100")

    def find(
        self, key: str, announcement: Announcement, *, under: MessageRef | None, since: datetime
    ) -> MessageRef | None:
        del key, announcement, under, since

    def update(self, key: str, at: MessageRef, announcement: Announcement) -> None:
        del key, at, announcement
        self.updates += 1

    def whisper(self, announcement: Announcement) -> None:
        del announcement
        self.posts += 1


@dataclass(frozen=True)
class Townsfolk:
    """See bot.ports.People: everybody exists and is active."""

    clock: LandClock

    def person(self, user_id: str, *, max_age: timedelta) -> Person:
        del max_age
        return Person(
            id=user_id,
            zone="Europe/Berlin",
            locale="en-US",
            active=True,
            external=False,
            read_at=self.clock.now(),
        )

    def members(self, group_id: str, *, max_age: timedelta) -> Collection[str]:
        del group_id, max_age
        return frozenset()

    def name(self, user_id: str) -> str:
        return user_id


def _hours(segments: tuple[Segment, ...]) -> Decimal:
    length = sum((part.end - part.start for part in segments), timedelta(0))
    return Decimal(int(length / timedelta(hours=1)))
