"""What more time for something bought costs now. Reads AWS; buys nothing.

EC2 User Guide, "Extend Capacity Blocks", and SageMaker Developer Guide, "Extend training plans":
an extension can be bought until 1 hour before the end; a block's is to be paid 35 minutes before
it. Lengths: 1 to 14 days in days, then whole weeks, up to 182 days in all.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Protocol

from bot.domain.base import Model
from bot.domain.errors import MarketError
from bot.domain.lifecycle import PurchaseState, ReservationState
from bot.domain.market import Kind, Offering, Segment
from bot.domain.records import Leg, LegPurpose, Receipt
from bot.domain.values import Instant, Usd, dollars
from bot.ports import Clock, MarketReader, Store, Transaction

BUY_BEFORE_END = timedelta(hours=1)
PAY_BEFORE_END = timedelta(minutes=35)
LONGEST = timedelta(days=182)
LONGEST_IN_DAYS = 14
PREPAID = frozenset({Kind.CAPACITY_BLOCK, Kind.TRAINING_PLAN})
LIVE = frozenset({"active", "scheduled"})


class Tender(Model):
    """What AWS says now about prolonging: a leg with its price, or why there is none.

    `possible` is False when it is certain that nothing can be bought any more.
    """

    leg: Leg | None = None
    fee: Usd | None = None
    until: Instant | None = None
    why: str = ""
    possible: bool = True

    @property
    def price(self) -> str:
        """The fee for people: $1,105.10."""
        return "" if self.fee is None else dollars(self.fee)


NOT_ASKED = Tender()
UNDER_WAY = Tender(possible=False)
"""More time is asked for already: a second extension is refused until that one is settled."""


class Pricing(Protocol):
    """Asks AWS what prolonging costs."""

    def tender(self, reservation_id: int, *, hours: int) -> Tender:
        """Return it; never raises for what AWS does not answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tendering:
    """See Pricing."""

    store: Store
    clock: Clock
    market: MarketReader

    def tender(self, reservation_id: int, *, hours: int) -> Tender:
        """Return what so many more hours cost now, or why that is not known."""
        now = self.clock.now()
        with self.store.reading() as tx:
            asked = draft(tx, reservation_id, hours=hours, now=now)
        if isinstance(asked, Tender) or asked is None:
            return asked or Tender(why="There is nothing that could be prolonged.", possible=False)
        until = asked.segments[0].start - BUY_BEFORE_END
        try:
            offers = self.market.requote(asked)
        except MarketError as error:
            return Tender(
                until=until, why=f"What it costs could not be read at AWS just now ({error.why})."
            )
        end = asked.segments[-1].end
        known = [
            (offer.upfront_fee, offer)
            for offer in offers
            if offer.upfront_fee is not None
            and offer.currency == "USD"
            and offer.segments
            and offer.segments[-1].end == end
        ]
        if not known:
            return Tender(until=until, why="AWS offers no extension of that length just now.")
        fee, offer = min(known, key=lambda pair: (pair[0], pair[1].ref))
        return Tender(leg=_leg(asked, offer, fee), fee=fee, until=until)


def draft(
    tx: Transaction, reservation_id: int, *, hours: int, now: datetime
) -> Leg | Tender | None:
    """Return the leg to ask for, a tender that says why not, or None for nothing to prolong."""
    reservation = tx.reservations.get(reservation_id)
    if reservation.state not in (ReservationState.ACTIVE, ReservationState.SCHEDULED):
        return None
    receipt = last_receipt(tx, reservation_id)
    if receipt is None:
        return None
    first = min(receipt.segments, key=lambda part: part.start)
    last = max(receipt.segments, key=lambda part: part.end)
    more = timedelta(hours=hours)
    if now > last.end - BUY_BEFORE_END:
        return Tender(
            why="It can't be extended any more: AWS sells that until 1 hour before the end.",
            possible=False,
        )
    if last.end + more - first.start > LONGEST:
        return Tender(why="AWS sells 182 days in all at most.", possible=False)
    bought = tx.purchases.get(receipt.purchase_id)
    return Leg(
        number=1,
        purpose=LegPurpose.EXTENSION,
        kind=receipt.kind,
        ref="",
        account=receipt.account,
        region=receipt.region,
        zone=receipt.zone,
        instance_type=receipt.instance_type,
        instance_count=receipt.instance_count,
        ultraserver_type=bought.leg.ultraserver_type,
        ultraserver_count=bought.leg.ultraserver_count,
        segments=(Segment(start=last.end, end=last.end + more, zone=last.zone),),
        target=receipt.target,
        platform=bought.leg.platform,
        fee=Decimal(0),
        extends=receipt.id,
    )


def last_receipt(tx: Transaction, reservation_id: int) -> Receipt | None:
    """Return what runs longest of the reservation's prepaid capacity."""
    live = [
        receipt
        for receipt in tx.receipts.of(reservation_id)
        if receipt.kind in PREPAID
        and receipt.state in LIVE
        and not receipt.gone
        and receipt.segments
        and tx.purchases.get(receipt.purchase_id).state is PurchaseState.CONFIRMED
    ]
    return max(live, key=lambda one: max(part.end for part in one.segments), default=None)


def on_sale(hours: Decimal) -> bool:
    """Return whether AWS sells extensions of that length at all."""
    days, rest = divmod(hours, 24)
    if rest or days < 1:
        return False
    return days <= LONGEST_IN_DAYS or (days % 7 == 0 and days <= LONGEST.days)


def _leg(asked: Leg, offer: Offering, fee: Decimal) -> Leg:
    return asked.model_copy(
        update={
            "ref": offer.ref,
            "zone": offer.zone,
            "instance_type": offer.instance_type,
            "instance_count": offer.instance_count,
            "ultraserver_type": offer.ultraserver_type,
            "ultraserver_count": offer.ultraserver_count,
            "segments": offer.segments,
            "fee": fee,
        }
    )
