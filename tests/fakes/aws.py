"""A small AWS: what it sells, what it sold, and how it fails.

It keeps its own books: a sale stands whatever the buyer was told about it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum

from bot.domain.errors import IndeterminateError, MarketError, PurchaseError, RefusedError
from bot.domain.market import Kind, Market, Offering
from bot.domain.records import Leg, Purchase, Receipt
from bot.domain.request import Request
from bot.domain.using import Found, GpuUse, Leftover, QueuedEvent, SpotPrice
from tests.fakes.clock import FakeClock

PREPAID = (Kind.CAPACITY_BLOCK, Kind.TRAINING_PLAN)


class CrashError(BaseException):
    """The process ends here, as kill -9 would end it: no handler runs."""


class Mood(StrEnum):
    """How a call that buys goes."""

    SELL = "sell"
    REFUSE = "refuse"
    QUOTA = "quota"
    FULL = "no capacity"
    CRASH_BEFORE = "crash before"
    CRASH_AFTER = "crash after"
    FAIL_AFTER = "fail after"
    LOSE_REQUEST = "lose request"
    LOSE_ANSWER = "lose answer"
    SLOW_SALE = "slow sale"
    EMPTY_ANSWER = "empty answer"


PLAIN = {Mood.QUOTA: "ResourceLimitExceeded", Mood.FULL: "InsufficientInstanceCapacity"}
"""Moods that are refusals whatever is bought."""


@dataclass
class Sale:
    """One line in AWS's books. `seen_from`: since when its describe calls show it."""

    purchase_id: str
    reservation_id: int
    leg: int
    ref: str
    fee: Decimal
    at: datetime
    seen_from: datetime
    receipt: Receipt


@dataclass
class FakeAws:
    """See bot.ports.MarketReader, Buyer and Holdings."""

    clock: FakeClock
    market: Market
    moods: list[Mood] = field(default_factory=list)
    sold: list[Sale] = field(default_factory=list)
    calls: list[Purchase] = field(default_factory=list)
    searches: list[str] = field(default_factory=list)
    unreadable: bool = False
    obstacles: tuple[str, ...] = ()
    rehearsed: list[tuple[str, str | None]] = field(default_factory=list)
    state: str = "payment-pending"
    slow: timedelta = timedelta(minutes=5)
    before_buy: Callable[[Purchase], None] | None = None
    on_requote: Callable[[Leg], None] | None = None
    left: Found = field(default_factory=lambda: Found(items=(), not_read=()))
    removed: list[Leftover] = field(default_factory=list)
    remove_error: PurchaseError | None = None

    # --- the market ------------------------------------------------------------------------

    def read(self, request: Request, *, progress: Callable[[Market], None] | None = None) -> Market:
        seen = self.market.model_copy(update={"as_of": self.clock.now()})
        if progress is not None:
            progress(seen)
        return seen

    def requote(self, leg: Leg) -> Sequence[Offering]:
        if self.on_requote is not None:
            self.on_requote(leg)
        if self.unreadable:
            raise MarketError("throttled", "RequestLimitExceeded")
        return [
            row
            for row in self.market.offerings
            if (row.account, row.region, row.instance_type, row.instance_count)
            == (leg.account, leg.region, leg.instance_type, leg.instance_count)
        ]

    def change(self, ref: str, /, **update: object) -> None:
        """Change a row on sale: upfront_fee, segments, ref …"""
        self.market = self.market.model_copy(
            update={
                "offerings": tuple(
                    row.model_copy(update=update) if row.ref == ref else row
                    for row in self.market.offerings
                )
            }
        )

    def withdraw(self, ref: str) -> None:
        """Sell a row to somebody else."""
        self.market = self.market.model_copy(
            update={"offerings": tuple(row for row in self.market.offerings if row.ref != ref)}
        )

    # --- what is left ------------------------------------------------------------------------

    def remove(self, leftover: Leftover) -> None:
        self.removed.append(leftover)
        if self.remove_error is not None:
            raise self.remove_error

    # --- buying ----------------------------------------------------------------------------

    def buy(self, purchase: Purchase) -> Sequence[Receipt]:
        self.calls.append(purchase)
        if self.before_buy is not None:
            self.before_buy(purchase)
        mood = self.moods.pop(0) if self.moods else Mood.SELL
        if mood is Mood.CRASH_BEFORE:
            raise CrashError
        if mood is Mood.LOSE_REQUEST:
            raise IndeterminateError("ConnectTimeout", "no answer")
        if mood in PLAIN:
            raise RefusedError(PLAIN[mood], "the simulated AWS was told so")
        offer = next(
            (row for row in self.market.offerings if row.ref == purchase.offering_ref), None
        )
        prepaid = purchase.leg.kind in PREPAID
        if mood is Mood.REFUSE or (prepaid and offer is None):
            raise RefusedError("InvalidCapacityBlockOfferingIdExpired", "no longer available")
        sale = self._sell(purchase, offer, mood)
        if mood is Mood.CRASH_AFTER:
            raise CrashError
        if mood is Mood.FAIL_AFTER:
            raise ValueError("an answer nobody could read")
        if mood in (Mood.LOSE_ANSWER, Mood.SLOW_SALE):
            raise IndeterminateError("ReadTimeout", "no answer in time")
        if mood is Mood.EMPTY_ANSWER:
            return ()
        return (sale.receipt,)

    def find(self, purchase: Purchase) -> Sequence[Receipt]:
        self.searches.append(purchase.id)
        if self.unreadable:
            raise MarketError("unreachable", "EndpointConnectionError")
        now = self.clock.now()
        return [
            sale.receipt
            for sale in self.sold
            if sale.purchase_id == purchase.id and sale.seen_from <= now
        ]

    def rehearse(self, leg: Leg, *, used_in: str | None = None) -> Sequence[str]:
        self.rehearsed.append((leg.account, used_in))
        if self.unreadable:
            raise MarketError("throttled", "RequestLimitExceeded")
        return self.obstacles

    def look(self, receipts: Sequence[Receipt]) -> Mapping[str, Receipt]:
        now = self.clock.now()
        shown = {sale.receipt.id: sale.receipt for sale in self.sold}
        return {
            one.id: shown[one.id].model_copy(update={"revision": one.revision, "checked_at": now})
            if one.id in shown
            else one.model_copy(update={"gone": True, "checked_at": now})
            for one in receipts
        }

    def show(self, receipt_id: str, *, state: str) -> None:
        """Have AWS show something it sold in another state."""
        for sale in self.sold:
            if sale.receipt.id == receipt_id:
                sale.receipt = sale.receipt.model_copy(update={"state": state})

    def _sell(self, purchase: Purchase, offer: Offering | None, mood: Mood) -> Sale:
        now = self.clock.now()
        leg = purchase.leg
        fee = leg.fee if offer is None or offer.upfront_fee is None else offer.upfront_fee
        receipt = Receipt(
            id=f"cr-{len(self.sold) + 1:05d}",
            purchase_id=purchase.id,
            reservation_id=purchase.reservation_id,
            kind=leg.kind,
            account=leg.account,
            region=leg.region,
            zone=leg.zone,
            instance_type=leg.instance_type,
            instance_count=leg.instance_count,
            target=leg.target,
            segments=leg.segments if offer is None else offer.segments,
            state=self.state,
            checked_at=now,
        )
        sale = Sale(
            purchase_id=purchase.id,
            reservation_id=purchase.reservation_id,
            leg=leg.number,
            ref=purchase.offering_ref,
            fee=fee,
            at=now,
            seen_from=now + self.slow if mood is Mood.SLOW_SALE else now,
            receipt=receipt,
        )
        self.sold.append(sale)
        if offer is not None:
            self.withdraw(offer.ref)
        return sale


@dataclass
class FakeUtilisation:
    """See bot.ports.Utilisation. `shares` by receipt id; what is not there, nobody reports.

    `elsewhere` are the shares in accounts that use what another one bought.
    """

    clock: FakeClock
    shares: dict[str, tuple[Decimal, ...]] = field(default_factory=dict)
    machines: dict[str, int] = field(default_factory=dict)
    not_read: str = ""
    windows: list[timedelta] = field(default_factory=list)
    elsewhere: dict[str, dict[str, tuple[Decimal, ...]]] = field(default_factory=dict)

    def read(self, receipts: Sequence[Receipt], *, window: timedelta) -> Mapping[str, GpuUse]:
        self.windows.append(window)
        now = self.clock.now()
        return {
            one.id: GpuUse(
                since=now - window,
                until=now,
                machines=self._machines(one),
                shares=() if self.not_read else tuple(sorted(self._shares(one))),
                not_read=self.not_read,
            )
            for one in receipts
            if one.kind is not Kind.TRAINING_PLAN
        }

    def _shares(self, one: Receipt) -> tuple[Decimal, ...]:
        return self.elsewhere.get(one.account, self.shares).get(one.id, ())

    def _machines(self, one: Receipt) -> int:
        known = {} if one.account in self.elsewhere else self.machines
        return known.get(one.id, len(self._shares(one)))


@dataclass
class FakeEventQueue:
    """See bot.ports.EventQueue. What is not deleted comes again at the next receive."""

    account: str = "research"
    region: str = "us-east-1"
    waiting: list[QueuedEvent] = field(default_factory=list)
    unreadable: bool = False
    stuck: bool = False

    def put(self, body: str) -> None:
        self.waiting.append(
            QueuedEvent(
                queue="https://sqs.us-east-1.amazonaws.com/111122223333/gpubot-events",
                account=self.account,
                region=self.region,
                body=body,
                handle=f"handle-{len(self.waiting)}",
                receives=0,
            )
        )

    def receive(self) -> Sequence[QueuedEvent]:
        if self.unreadable:
            raise MarketError("refused", "QueueDoesNotExist")
        self.waiting = [
            one.model_copy(update={"receives": one.receives + 1}) for one in self.waiting
        ]
        return tuple(self.waiting[:10])

    def delete(self, event: QueuedEvent) -> None:
        if self.stuck:
            raise MarketError("unreachable", "EndpointConnectionError")
        self.waiting = [one for one in self.waiting if one.handle != event.handle]


@dataclass
class FakeSpotPrices:
    """See bot.ports.SpotPrices. `changes` are of every type and zone, oldest first."""

    changes: list[SpotPrice] = field(default_factory=list)
    unreadable: bool = False

    def since(self, receipt: Receipt, moment: datetime) -> Sequence[SpotPrice]:
        if self.unreadable:
            raise MarketError("throttled", "RequestLimitExceeded")
        held = [one for one in self.changes if one.at <= moment][-1:]
        return [*held, *(one for one in self.changes if one.at > moment)]
