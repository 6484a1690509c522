"""Whether what AWS sells now is still what was approved. Pure.

The same offer may come back under a fresh id. It is the same when nothing that matters moved:
account, region, zone, type, count and end are equal, the price is no higher, and it starts at
most a little later with the asked time still inside.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum

from bot.domain.base import Model
from bot.domain.ending import tail
from bot.domain.market import Kind, Offering, Segment
from bot.domain.records import Leg
from bot.domain.request import Request
from bot.domain.values import Usd, dollars
from bot.policy.configuration import Configuration

HOUR = timedelta(hours=1)
WHOLE_DAY = 24
LAUNCH_GRACE = timedelta(minutes=10)
"""On-demand and spot launch when their start falls due; a busy minute is no missed start."""

LAUNCHED_AT_START = frozenset({Kind.ON_DEMAND, Kind.SPOT})
"""Kinds that AWS holds for nobody: they are launched at the start, not before."""


class Fit(Model):
    """What to buy now for a leg: AWS's present id, its price, its window."""

    ref: str
    fee: Usd
    segments: tuple[Segment, ...]


class Lost(StrEnum):
    """How an approved offer is no longer there."""

    GONE = "gone"
    DEARER = "dearer"
    CHANGED = "changed"
    PAST = "past"


class Misfit(Model):
    """Why nothing is bought for a leg, in a sentence that shows old and new."""

    lost: Lost
    text: str


def fresh(
    leg: Leg,
    offers: Sequence[Offering],
    *,
    request: Request,
    configuration: Configuration,
    now: datetime,
    taken: Collection[str] = (),
) -> Fit | Misfit:
    """Return the offer to buy for a prepaid leg, or why there is none.

    Its own id is preferred, then the cheapest, then the earliest; `taken` are ids that belong
    to another leg or were bought already.
    """
    past = started(request, now)
    if past is not None:
        return past
    alike = [offer for offer in offers if offer.ref not in taken and _alike(leg, offer)]
    if not alike:
        return Misfit(lost=Lost.GONE, text="AWS no longer sells what was approved.")
    priced = [(offer, offer.upfront_fee) for offer in alike if offer.upfront_fee is not None]
    good = [
        (offer, fee)
        for offer, fee in priced
        if _in_time(leg, offer, request=request, configuration=configuration, now=now)
    ]
    if not good:
        return Misfit(lost=Lost.CHANGED, text=_moved_words(leg, alike))
    payable = [(offer, fee) for offer, fee in good if fee <= leg.fee]
    if not payable:
        return Misfit(lost=Lost.DEARER, text=_dearer_words(leg, min(fee for _, fee in good)))
    offer, fee = min(
        payable,
        key=lambda pair: (
            pair[0].ref != leg.ref,
            pair[1],
            pair[0].segments[0].start,
            pair[0].ref,
        ),
    )
    return Fit(ref=offer.ref, fee=fee, segments=offer.segments)


def hourly(leg: Leg, *, request: Request, now: datetime) -> Fit | Misfit:
    """Return an hourly leg with its window worked out again from now, or why it is too late.

    A window is moved as a whole, never shortened; the agreed total stays its ceiling.
    """
    planned = leg.segments[0]
    if planned.start >= now:
        return Fit(ref=leg.ref, fee=leg.fee, segments=leg.segments)
    fixed = request.latest_start is not None and request.earliest_start == request.latest_start
    if fixed and leg.kind in LAUNCHED_AT_START and now - planned.start <= LAUNCH_GRACE:
        return Fit(ref=leg.ref, fee=leg.fee, segments=leg.segments)
    past = started(request, now)
    if past is not None:
        return past
    end = now + (planned.end - planned.start)
    if request.latest_end is not None and end > request.latest_end:
        return Misfit(
            lost=Lost.PAST, text="Too little time is left before the deadline for the asked hours."
        )
    moved = Segment(start=now, end=end, zone=planned.zone)
    return Fit(ref=leg.ref, fee=leg.fee, segments=(moved,))


def started(request: Request, now: datetime) -> Misfit | None:
    """Return the refusal of a request whose last possible start has passed; None before it."""
    if request.latest_start is None or now <= request.latest_start:
        return None
    return Misfit(lost=Lost.PAST, text="The asked start has passed. Search again with a new start.")


def _alike(leg: Leg, offer: Offering) -> bool:
    """Whether it is the same product with the same end; start and price are judged apart."""
    return (
        (offer.kind, offer.account, offer.region, offer.zone)
        == (leg.kind, leg.account, leg.region, leg.zone)
        and (offer.instance_type, offer.instance_count) == (leg.instance_type, leg.instance_count)
        and (offer.ultraserver_type, offer.ultraserver_count)
        == (leg.ultraserver_type, leg.ultraserver_count)
        and (leg.target is None or leg.target in offer.target_resources)
        and offer.currency == "USD"
        and len(offer.segments) == len(leg.segments)
        and all(
            (new.end, new.zone) == (old.end, old.zone)
            for new, old in zip(offer.segments, leg.segments, strict=True)
        )
        and all(
            new.start == old.start
            for new, old in zip(offer.segments[1:], leg.segments[1:], strict=True)
        )
    )


def _in_time(
    leg: Leg,
    offer: Offering,
    *,
    request: Request,
    configuration: Configuration,
    now: datetime,
) -> bool:
    old, new = leg.segments[0].start, offer.segments[0].start
    if not timedelta(0) <= new - old <= configuration.limits.start_drift:
        return False
    if new < now + configuration.decision.payment_margin:
        return False
    if new == old:
        return True
    begin = max(new, request.earliest_start or new)
    if begin == max(old, request.earliest_start or old):
        return True
    # A later start must not eat into the asked hours, nor pass the last start: when that is
    # only the end of a named day, the very instant is already outside.
    if request.latest_start is not None and begin >= request.latest_start:
        return False
    return _hours(leg, offer, request, begin) >= (request.duration_hours or Decimal(0))


def _hours(leg: Leg, offer: Offering, request: Request, begin: datetime) -> Decimal:
    asked = request.duration_hours
    reserved = asked is not None and asked % WHOLE_DAY == 0 and not request.strict
    lost = (
        timedelta(0)
        if reserved
        else tail(
            leg.kind,
            instance_type=leg.instance_type,
            ultraserver=leg.ultraserver_type is not None,
            target=leg.target,
        )
    )
    length = sum(
        (
            max(timedelta(0), segment.end - lost - max(segment.start, begin))
            for segment in offer.segments
        ),
        timedelta(0),
    )
    return Decimal(length // timedelta(seconds=1)) / Decimal(HOUR // timedelta(seconds=1))


def _dearer_words(leg: Leg, fee: Decimal) -> str:
    return f"The price was {dollars(leg.fee)} when it was approved and is {dollars(fee)} now."


def _moved_words(leg: Leg, offers: Sequence[Offering]) -> str:
    old = leg.segments[0].start
    new = min(offer.segments[0].start for offer in offers)
    if new == old:
        return "Its start is too near for the payment to finish."
    return (
        f"It was to start {old:%Y-%m-%d %H:%M} UTC; AWS now sells it from"
        f" {new:%Y-%m-%d %H:%M} UTC only."
    )
