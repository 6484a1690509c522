"""DescribeCapacityBlockOfferings."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from sandbox.aws import times
from sandbox.aws.blockpool import Run, Wish, is_sold, runs
from sandbox.aws.catalog import ULTRASERVER_MEMBERS
from sandbox.aws.errors import AwsError
from sandbox.aws.paging import page, with_token
from sandbox.aws.quotas import block_quota
from sandbox.aws.records import BlockOffer, Place, Segment
from sandbox.aws.world import Call, World

MOST_OFFERS = 6
MOST_INSTANCES = 64


def describe_offerings(world: World, call: Call) -> dict[str, Any]:
    """Up to six offerings for the asked type, count, duration and dates.

    Raises:
        AwsError: a parameter is not valid, or the account's quota is 0.
    """
    params = call.params
    hours, earliest, latest_end = _asked_times(world, params)
    place = world.place(call.account, call.region)
    local = bool(params.get("AllAvailabilityZones"))

    def wish(unit: str, count: int) -> Wish:
        length = timedelta(hours=hours)
        return Wish(call.region, unit, count, length, earliest, latest_end, local)

    if params.get("UltraserverType"):
        unit, count = params["UltraserverType"], params.get("UltraserverCount", 1)
        _check(world, call, unit, count)
        offers = [
            _offer(world, place, call.region, [_segment(run, unit, count)], ultraserver=unit)
            for run in _choose(runs(world, wish(unit, count)))
        ]
    else:
        offers = _instance_offers(world, call, place, wish)
    found, token = page([offer for offer in offers if not offer.sold], params)
    return with_token({"CapacityBlockOfferings": [describe(offer) for offer in found]}, token)


def _instance_offers(
    world: World, call: Call, place: Place, wish: Callable[[str, int], Wish]
) -> list[BlockOffer]:
    params = call.params
    preferences = [row["InstanceType"] for row in params.get("InstanceTypePreferences") or []]
    units = (
        preferences or [params["InstanceType"]] if params.get("InstanceType") or preferences else []
    )
    count = params.get("InstanceCount")
    if not units or count is None:
        raise AwsError(
            "MissingParameter", "The request must contain InstanceType and InstanceCount."
        )
    offers: list[BlockOffer] = []
    for unit in units:
        _check(world, call, unit, count)
        for run in _choose(runs(world, wish(unit, count))):
            segments = [_segment(run, unit, count)]
            offers.append(
                _offer(world, place, call.region, segments, show_segments=bool(preferences))
            )
    if preferences:
        joined = _two_segments(world, wish(units[0], count), units[-1])
        if joined:
            offers.append(_offer(world, place, call.region, joined, show_segments=True))
    return offers


def _asked_times(world: World, params: dict[str, Any]) -> tuple[int, datetime, datetime | None]:
    hours = params.get("CapacityDurationHours")
    if hours is None:
        raise AwsError("MissingParameter", "The request must contain CapacityDurationHours.")
    if not times.is_block_duration(hours):
        raise AwsError("InvalidParameterValue", f"The duration {hours} is not valid.")
    now = world.now()
    earliest: datetime = params.get("StartDateRange") or now
    latest_end: datetime | None = params.get("EndDateRange")
    if earliest < now - times.CLOCK_TOLERANCE:
        raise AwsError("InvalidParameterValue", "The start date is not valid: it is in the past.")
    if earliest > now + times.HORIZON:
        raise AwsError(
            "InvalidParameterValue", "The start date is not valid: it is over 8 weeks ahead."
        )
    if latest_end is not None and latest_end <= earliest:
        raise AwsError("InvalidParameterValue", "The end date is not after the start date.")
    return hours, earliest, latest_end


def _check(world: World, call: Call, unit: str, count: int) -> None:
    if not 1 <= count <= MOST_INSTANCES:
        raise AwsError("InvalidParameterValue", f"The instance count {count} is not valid.")
    if not is_sold(world, call.region, unit):
        raise AwsError("InvalidParameterValue", f"'{unit}' is not supported for Capacity Blocks.")
    if block_quota(world, call.account, call.region, unit) == 0:
        # Seen in the field: a quota of 0 makes the search itself fail, with this code.
        raise AwsError(
            "CapacityBlockDescribeLimitExceeded", "You've reached the limit for this account."
        )


def _choose(found: Iterable[Run]) -> list[Run]:
    """At most six runs: the first of each start and end, then more zones."""
    first: dict[tuple[datetime, datetime], Run] = {}
    others = []
    for run in found:
        key = (
            run.start.replace(minute=0) if run.start.time() != times.BOUNDARY else run.start,
            run.end,
        )
        if key in first:
            others.append(run)
        else:
            first[key] = run
    chosen = [*first.values(), *others][:MOST_OFFERS]
    return sorted(chosen, key=lambda run: (run.rate, run.start, run.end))


def _segment(run: Run, unit: str, count: int) -> Segment:
    return Segment(unit, run.zone, count, run.start, run.end, run.rate)


def _two_segments(world: World, wish: Wish, second_unit: str) -> list[Segment] | None:
    """Two halves, back to back, in different zones; nothing when they cannot be had."""
    half = wish.length // 2
    if half % times.DAY or not half:
        return None
    first_wish = replace(wish, length=half)
    for first in runs(world, first_wish):
        if first.end - first.start != half:
            continue
        second_wish = replace(wish, unit=second_unit, length=half, earliest=first.end)
        for second in runs(world, second_wish):
            if second.start == first.end and second.zone != first.zone:
                return [
                    _segment(first, wish.unit, wish.count),
                    _segment(second, second_unit, wish.count),
                ]
    return None


def _offer(
    world: World,
    place: Place,
    region: str,
    segments: list[Segment],
    *,
    ultraserver: str | None = None,
    show_segments: bool = False,
) -> BlockOffer:
    """The offer with these segments: the one already shown, or a new one with its own id."""
    serial = 0
    while True:
        shape = [(s.instance_type, s.zone.id, s.count, s.start, s.end) for s in segments]
        identity = world.digest("offer", place.account, region, serial, show_segments, *shape)
        known = place.offers.get(f"cb-{identity[:17]}")
        if known is None:
            break
        if not known.sold:
            return known
        serial += 1
    offer = BlockOffer(
        id=f"cb-{identity[:17]}",
        segments=tuple(segments),
        show_segments=show_segments,
        ultraserver_type=ultraserver,
    )
    place.offers[offer.id] = offer
    return offer


def describe(offer: BlockOffer) -> dict[str, Any]:
    """The offering as AWS words it."""
    first, last = offer.segments[0], offer.segments[-1]
    hours, minutes = times.hours_and_minutes(last.end - first.start)
    row: dict[str, Any] = {
        "CapacityBlockOfferingId": offer.id,
        "AvailabilityZone": first.zone.name,
        "StartDate": first.start,
        "EndDate": last.end,
        "CapacityBlockDurationHours": hours,
        "CapacityBlockDurationMinutes": minutes,
        "UpfrontFee": f"{offer.fee:.2f}",
        "CurrencyCode": "USD",
        "Tenancy": "default",
        "ZoneType": first.zone.type,
    }
    if offer.ultraserver_type:
        row["UltraserverType"] = offer.ultraserver_type
        row["UltraserverCount"] = first.count
        member, each = ULTRASERVER_MEMBERS[offer.ultraserver_type]
        row["InstanceType"] = member
        row["InstanceCount"] = each * first.count
    else:
        row["InstanceType"] = first.instance_type
        row["InstanceCount"] = first.count
    if offer.show_segments:
        row["CapacityBlockOfferingSegments"] = [
            _describe_segment(offer, segment) for segment in offer.segments
        ]
    return row


def _describe_segment(offer: BlockOffer, segment: Segment) -> dict[str, Any]:
    hours, minutes = times.hours_and_minutes(segment.end - segment.start)
    return {
        "InstanceType": segment.instance_type,
        "AvailabilityZone": segment.zone.name,
        "AvailabilityZoneId": segment.zone.id,
        "InstanceCount": segment.count,
        "StartDate": segment.start,
        "EndDate": segment.end,
        "CapacityBlockDurationHours": hours,
        "CapacityBlockDurationMinutes": minutes,
        "UpfrontFee": f"{offer.fee_of(segment):.2f}",
        "CurrencyCode": "USD",
        "ZoneType": segment.zone.type,
    }
