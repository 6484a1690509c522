"""Where a launch that found no capacity may be tried next, within what was approved. Pure.

The same kind, type and number of machines in another zone or region, in the order of the
decision, at no more than the approved price. Only AWS's plain refusal leads on: doubt never does.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from bot.domain.base import Model
from bot.domain.lifecycle import PurchaseState
from bot.domain.market import Segment
from bot.domain.records import DecisionRecord, Leg, Proposal, Purchase
from bot.policy.configuration import Configuration
from bot.services.commitments.refusals import Refusal, sort_of
from bot.services.commitments.requoting import LAUNCHED_AT_START

Place = tuple[str, str, str | None]
"""An account, a region, and a zone; without a zone AWS chooses one."""


def walks(leg: Leg) -> bool:
    """Return whether a leg without capacity may be tried elsewhere: it is launched, not held."""
    return leg.kind in LAUNCHED_AT_START


def place_of(leg: Leg) -> Place:
    """Return where a leg is to be launched."""
    return leg.account, leg.region, leg.zone


class Places(Model):
    """Where a leg may be launched, in order; kept, because later decisions know of refusals."""

    legs: tuple[Leg, ...]


def next_place(
    places: Iterable[Leg], rows: Iterable[Purchase], *, since: datetime | None = None
) -> Leg | None:
    """Return the first place that has not refused for lack of capacity; None when all have.

    `rows` are the proposal's purchases; with `since`, older refusals don't count any more.
    """
    refused = {
        place_of(row.leg)
        for row in rows
        if row.state is PurchaseState.REFUSED
        and sort_of(row.outcome.partition(":")[0]) is Refusal.CAPACITY
        and (since is None or row.intended_at >= since)
    }
    return next((leg for leg in places if place_of(leg) not in refused), None)


def places_of(
    leg: Leg, proposal: Proposal, record: DecisionRecord | None, configuration: Configuration
) -> Places:
    """Return where the leg may be launched by the decision that was approved, its own first."""
    return Places(legs=tuple(_places(leg, proposal, record, configuration)))


def _places(
    leg: Leg, proposal: Proposal, record: DecisionRecord | None, configuration: Configuration
) -> Iterator[Leg]:
    yield from _zones(leg, configuration)
    if record is None or record.version != proposal.version:
        return
    for option in record.decision.options:
        alike = (option.kind, option.instance_type, option.instance_count) == (
            leg.kind,
            leg.instance_type,
            leg.instance_count,
        )
        if not alike or option.total_usd > leg.fee or option.account != leg.account:
            continue
        # Another region may only change where it is, never for how long or when.
        if _length(option.segments) != _length(leg.segments):
            continue
        moved = leg.model_copy(
            update={
                "ref": option.refs[0],
                "region": option.region,
                "zone": option.zone,
                "fee": option.total_usd,
                "segments": _in_zone(leg.segments, option.zone),
            }
        )
        yield from _zones(moved, configuration)


def _zones(leg: Leg, configuration: Configuration) -> Iterator[Leg]:
    """Give the leg itself; where AWS was to choose a zone, then each one that has a subnet."""
    yield leg
    if leg.zone is not None:
        return
    subnets = next(
        (entry.subnets for entry in configuration.accounts if entry.name == leg.account), {}
    )
    for zone in sorted(zone for zone in subnets if zone.startswith(leg.region)):
        yield leg.model_copy(update={"zone": zone, "segments": _in_zone(leg.segments, zone)})


def _in_zone(segments: Iterable[Segment], zone: str | None) -> tuple[Segment, ...]:
    return tuple(segment.model_copy(update={"zone": zone}) for segment in segments)


def _length(segments: Iterable[Segment]) -> timedelta:
    return sum((segment.end - segment.start for segment in segments), timedelta(0))
