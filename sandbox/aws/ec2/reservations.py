"""Capacity reservations: their books, and on-demand ones made, changed and given back."""

import json
from datetime import datetime, timedelta
from typing import Any

from sandbox.aws.ec2.filters import check_tag_targets, passes, tag_list, tags_of
from sandbox.aws.errors import AwsError
from sandbox.aws.paging import page, with_token
from sandbox.aws.pools import on_demand_left
from sandbox.aws.quotas import instances_left
from sandbox.aws.records import Instance, Reservation, Settled
from sandbox.aws.times import stamp
from sandbox.aws.world import Call, World
from sandbox.aws.zones import Zone, zone_named, zones_of

SIZE_TAG = "aws:ec2capacityreservation:incrementalRequestedQuantity"
"""Holds a block's size before it starts (EC2 User Guide, "View Capacity Blocks")."""

PLATFORMS = {
    "Linux/UNIX",
    "Red Hat Enterprise Linux",
    "RHEL with HA",
    "SUSE Linux",
    "Ubuntu Pro",
    "Windows",
}
GRACE = timedelta(minutes=45)
"""A limited reservation ends within an hour after the given time (EC2 API Reference)."""


def machines_in(world: World, reservation: Reservation) -> list[Instance]:
    """The machines in a reservation, of every account that it is shared with, ended ones too."""
    return [
        instance
        for place in world.region_places(reservation.region)
        for instance in place.instances.values()
        if instance.reservation_id == reservation.id
    ]


def in_use(world: World, reservation: Reservation) -> int:
    """How many machines occupy a reservation."""
    return sum(1 for instance in machines_in(world, reservation) if instance.occupies)


def out_of_order(world: World, reservation: Reservation) -> int:
    """How many slots no machine can use, besides those that a failed machine still occupies."""
    now = world.now()
    return sum(
        outage.count
        for outage in reservation.outages
        if outage.until is not None and now < outage.until
    )


def available(world: World, reservation: Reservation) -> int:
    """How many machines can be launched into a reservation now."""
    if reservation.state != "active":
        return 0
    free = reservation.count - in_use(world, reservation) - out_of_order(world, reservation)
    return max(free, 0)


def find(world: World, call: Call, reservation_id: str) -> Reservation:
    """The reservation with this id.

    Raises:
        AwsError: the id is malformed, unknown, or not yet in the books.
    """
    if not reservation_id.startswith("cr-"):
        raise AwsError(
            "InvalidCapacityReservationId.Malformed",
            f"Invalid id: '{reservation_id}' (expecting 'cr-...').",
        )
    reservation = world.place(call.account, call.region).reservations.get(reservation_id)
    if reservation is None or world.now() < reservation.visible_at:
        raise AwsError(
            "InvalidCapacityReservationId.NotFound",
            f"The capacity reservation ID '{reservation_id}' does not exist.",
        )
    return reservation


def shared_with(world: World, call: Call) -> dict[str, Reservation]:
    """The reservations of other accounts that are shared with the caller's, by id."""
    arns = {
        part.entity
        for place in world.region_places(call.region)
        for share in place.shares.values()
        if place.account != call.account and share.holds("PRINCIPAL", call.account)
        for part in share.parts
        if share.holds("RESOURCE", part.entity)
    }
    return {
        one.id: one
        for place in world.region_places(call.region)
        for one in place.reservations.values()
        if one.arn in arns
    }


def find_usable(world: World, call: Call, reservation_id: str) -> Reservation:
    """The reservation with this id, the caller's own or one that is shared with it.

    Raises:
        AwsError: the id is malformed, unknown, not yet in the books, or not shared.
    """
    shared = shared_with(world, call).get(reservation_id)
    return shared or find(world, call, reservation_id)


def describe_reservations(world: World, call: Call) -> dict[str, Any]:
    """DescribeCapacityReservations, shared ones too; one unknown id fails the whole call."""
    place = world.place(call.account, call.region)
    ids = call.params.get("CapacityReservationIds")
    if ids:
        chosen = [find_usable(world, call, one) for one in ids]
    else:
        now = world.now()
        chosen = [one for one in place.reservations.values() if one.visible_at <= now]
        chosen += shared_with(world, call).values()
    filters = call.params.get("Filters")
    rows = [
        describe(world, one) if one.account == call.account else _seen_elsewhere(world, one)
        for one in chosen
        if passes(filters, _fields(one), one.tags if one.account == call.account else {})
    ]
    found, token = page(rows, call.params)
    return with_token({"CapacityReservations": found}, token)


def _fields(reservation: Reservation) -> dict[str, str]:
    end = reservation.end
    return {
        "instance-type": reservation.instance_type,
        "owner-id": reservation.account,
        "instance-platform": reservation.platform,
        "availability-zone": reservation.zone.name,
        "availability-zone-id": reservation.zone.id,
        "tenancy": "default",
        "state": reservation.state,
        "start-date": stamp(reservation.start),
        "end-date": stamp(end) if end else "",
        "end-date-type": "limited" if end else "unlimited",
        "instance-match-criteria": reservation.match,
        "reservation-type": "capacity-block" if reservation.is_block else "default",
        "capacity-reservation-id": reservation.id,
    }


def describe(world: World, reservation: Reservation) -> dict[str, Any]:
    """The reservation as AWS words it; a block counts 0 instances before it starts."""
    waits = reservation.state in {"payment-pending", "payment-failed", "scheduled"}
    tags = dict(reservation.tags)
    if reservation.is_block:
        tags[SIZE_TAG] = str(reservation.count)
    row: dict[str, Any] = {
        "CapacityReservationId": reservation.id,
        "OwnerId": reservation.account,
        "CapacityReservationArn": reservation.arn,
        "AvailabilityZone": reservation.zone.name,
        "AvailabilityZoneId": reservation.zone.id,
        "InstanceType": reservation.instance_type,
        "InstancePlatform": reservation.platform,
        "Tenancy": "default",
        "TotalInstanceCount": 0 if waits else reservation.count,
        "AvailableInstanceCount": available(world, reservation),
        "EbsOptimized": False,
        "EphemeralStorage": False,
        "State": reservation.state,
        "StartDate": reservation.start,
        "EndDateType": "limited" if reservation.end else "unlimited",
        "InstanceMatchCriteria": reservation.match,
        "CreateDate": reservation.created,
        "Tags": tag_list(tags),
        "ReservationType": "capacity-block" if reservation.is_block else "default",
    }
    if reservation.end is not None:
        row["EndDate"] = reservation.end
    if reservation.block_id is not None:
        row["CapacityBlockId"] = reservation.block_id
    if reservation.ultraserver_type is not None:
        active = reservation.state == "active"
        row["LaunchStatus"] = "launchable" if active else "unlaunchable"
    return row


def _seen_elsewhere(world: World, reservation: Reservation) -> dict[str, Any]:
    """The reservation as a consumer sees it: its owner's tags are the owner's alone."""
    return {**describe(world, reservation), "Tags": []}


def create_reservation(world: World, call: Call) -> dict[str, Any]:
    """CreateCapacityReservation, at once; idempotent by `ClientToken`.

    Raises:
        AwsError: a parameter is not valid, the quota is reached, or there is no capacity.
    """
    params, place = call.params, world.place(call.account, call.region)
    token = params.get("ClientToken")
    request = json.dumps(params, sort_keys=True, default=str)
    key = (call.operation, str(token))
    if token and key in place.tokens:
        settled = place.tokens[key]
        if settled.request != request:
            raise AwsError(
                "IdempotentParameterMismatch",
                "The client token was used with other parameters.",
            )
        return settled.answer
    zone, instance_type, count = _asked(world, call)
    _check_capacity(world, call, zone, instance_type, count)
    now = world.now()
    reservation = Reservation(
        id=world.new_id("cr"),
        account=call.account,
        region=call.region,
        zone=zone,
        instance_type=instance_type,
        count=count,
        platform=params["InstancePlatform"],
        state="active",
        start=now,
        end=params.get("EndDate"),
        created=now,
        visible_at=now + timedelta(seconds=world.supply.visibility_seconds),
        tags=tags_of(params, "capacity-reservation"),
        match=params.get("InstanceMatchCriteria", "open"),
    )
    place.reservations[reservation.id] = reservation
    world.mark(reservation.visible_at)
    _end_later(world, reservation)
    answer = {"CapacityReservation": describe(world, reservation)}
    if token:
        place.tokens[key] = Settled(request=request, answer=answer)
    return answer


def _asked(world: World, call: Call) -> tuple[Zone, str, int]:
    params = call.params
    for name in ("InstanceType", "InstancePlatform", "InstanceCount"):
        if name not in params:
            raise AwsError("MissingParameter", f"The request must contain the parameter {name}")
    check_tag_targets(params, {"capacity-reservation"})
    if "StartDate" in params or "CommitmentDuration" in params:
        raise AwsError(
            "InvalidParameterValue",
            f"Future-dated reservations are not supported for '{params['InstanceType']}'.",
        )
    if params["InstancePlatform"] not in PLATFORMS:
        raise AwsError("InvalidParameterValue", f"Invalid platform: {params['InstancePlatform']}")
    if not 1 <= params["InstanceCount"] <= 1000:
        raise AwsError("InvalidParameterValue", "The instance count must be between 1 and 1000.")
    _check_end(world, params)
    opted_in = world.supply.opted_in_zones
    zone_name = params.get("AvailabilityZone") or params.get("AvailabilityZoneId")
    zone = zone_named(call.region, zone_name, opted_in) if zone_name else None
    if zone is None and zone_name is None:
        raise AwsError(
            "MissingParameter", "The request must contain the parameter AvailabilityZone"
        )
    if zone is None or not zone.opted_in:
        raise AwsError("InvalidParameterValue", f"Invalid availability zone: [{zone_name}]")
    if params["InstanceType"] not in world.catalog.kinds:
        raise AwsError("InvalidParameterValue", f"Invalid instance type: {params['InstanceType']}")
    return zone, params["InstanceType"], params["InstanceCount"]


def _check_end(world: World, params: dict[str, Any]) -> None:
    kind, end = params.get("EndDateType"), params.get("EndDate")
    if kind == "limited" and end is None:
        raise AwsError(
            "InvalidParameterCombination", "EndDate is needed when EndDateType is limited."
        )
    if kind != "limited" and end is not None:
        raise AwsError("InvalidParameterCombination", "EndDate needs EndDateType limited.")
    if end is not None and end <= world.now():
        raise AwsError("InvalidParameterValue", "The end date is in the past.")


def _check_capacity(world: World, call: Call, zone: Zone, instance_type: str, count: int) -> None:
    if instances_left(world, call.account, call.region, instance_type, spot=False) < count:
        raise AwsError(
            "VcpuLimitExceeded",
            "You have requested more vCPU capacity than your current vCPU limit allows.",
        )
    if on_demand_left(world, call.region, zone, instance_type) < count:
        raise AwsError(
            "InsufficientInstanceCapacity",
            f"We currently do not have sufficient {instance_type} capacity in the Availability "
            f"Zone you requested ({zone.name}).",
        )


def _end_later(world: World, reservation: Reservation) -> None:
    """Lets a limited reservation expire; machines inside run on as on demand."""
    if reservation.end is None:
        return
    expected = reservation.end

    def expire(moment: datetime) -> None:
        if reservation.state != "active" or reservation.end != expected:
            return
        reservation.state = "expired"
        _release(world, reservation, moment)

    world.at(expected + GRACE, expire)


def _release(world: World, reservation: Reservation, _moment: datetime) -> None:
    for instance in machines_in(world, reservation):
        instance.reservation_id = None


def cancel_reservation(world: World, call: Call) -> dict[str, Any]:
    """CancelCapacityReservation.

    Raises:
        AwsError: it is a Capacity Block, or over already.
    """
    reservation = find(world, call, call.params.get("CapacityReservationId", ""))
    if reservation.is_block:
        raise AwsError("OperationNotPermitted", "You can't modify or cancel a Capacity Block.")
    if reservation.state != "active":
        raise AwsError(
            "InvalidCapacityReservationState",
            f"The reservation is {reservation.state} and can't be cancelled.",
        )
    reservation.state = "cancelled"
    reservation.end = world.now()
    _release(world, reservation, world.now())
    return {"Return": True}


def modify_reservation(world: World, call: Call) -> dict[str, Any]:
    """ModifyCapacityReservation: count, end date or match criteria.

    Raises:
        AwsError: it is a Capacity Block or not active, or there is no room.
    """
    params = call.params
    reservation = find(world, call, params.get("CapacityReservationId", ""))
    if reservation.is_block:
        raise AwsError("OperationNotPermitted", "You can't modify or cancel a Capacity Block.")
    if reservation.state != "active":
        raise AwsError("InvalidCapacityReservationState", f"It is {reservation.state}.")
    count = params.get("InstanceCount", reservation.count)
    if count < max(in_use(world, reservation), 1):
        raise AwsError("InvalidParameterValue", "More instances run in it than that.")
    if params.get("EndDateType") == "limited" or "EndDate" in params:
        _check_end(world, params)
    criteria = params.get("InstanceMatchCriteria", reservation.match)
    if criteria != reservation.match and in_use(world, reservation):
        raise AwsError("InvalidParameterValue", "Match criteria change only while it is idle.")
    if count > reservation.count:
        more = count - reservation.count
        _check_capacity(world, call, reservation.zone, reservation.instance_type, more)
    reservation.count = count
    reservation.match = criteria
    if params.get("EndDateType") == "unlimited":
        reservation.end = None
    elif "EndDate" in params:
        reservation.end = params["EndDate"]
        _end_later(world, reservation)
    return {"Return": True}


def zone_or_any(world: World, region: str, name: str | None) -> Zone | None:
    """The zone with this name, or the first of the Region's own when no name is given."""
    opted_in = world.supply.opted_in_zones
    return zone_named(region, name, opted_in) if name else next(iter(zones_of(region, opted_in)))
