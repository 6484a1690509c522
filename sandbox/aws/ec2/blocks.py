"""Capacity Blocks: bought, paid, delivered, ended; and what can be read about them."""

import re
from datetime import datetime, timedelta
from typing import Any

from sandbox.aws import times
from sandbox.aws.catalog import ULTRASERVER_MEMBERS
from sandbox.aws.ec2.filters import check_tag_targets, passes, tag_list, tags_of
from sandbox.aws.ec2.instances import end_instance
from sandbox.aws.ec2.reservations import (
    available,
    describe,
    in_use,
    machines_in,
    out_of_order,
)
from sandbox.aws.errors import AwsError
from sandbox.aws.paging import page, with_token
from sandbox.aws.quotas import block_code, block_quota, vcpus
from sandbox.aws.records import Block, BlockOffer, Place, Reservation, Segment
from sandbox.aws.world import Call, World

OFFERING_ID = re.compile(r"cb-[0-9a-f]{17}")
BLOCK_PLATFORMS = {
    "Linux/UNIX",
    "Red Hat Enterprise Linux",
    "RHEL with HA",
    "SUSE Linux",
    "Ubuntu Pro",
}
"""Platforms of Capacity Blocks (EC2 User Guide); the API's enum has many more."""

ORGANIZATION_INSTANCES = 256


def purchase_block(world: World, call: Call) -> dict[str, Any]:
    """PurchaseCapacityBlock: the fee is owed from now on, the payment is settled later.

    Raises:
        AwsError: the offering, the platform or the tags are not valid, or a limit is reached.
    """
    params, place = call.params, world.place(call.account, call.region)
    offer = _offer(world, place, params)
    platform = params.get("InstancePlatform")
    if platform not in BLOCK_PLATFORMS:
        raise AwsError("InvalidParameterValue", f"Invalid platform for Capacity Blocks: {platform}")
    check_tag_targets(params, {"capacity-reservation", "capacity-block"})
    _check_limits(world, place, offer)
    now = world.now()
    block_id = world.new_id("cb")
    reservations = [
        reservation
        for segment in offer.segments
        for reservation in _reserve(world, call, offer, segment, block_id)
    ]
    block = Block(
        id=block_id,
        zone=offer.segments[0].zone,
        reservation_ids=tuple(one.id for one in reservations),
        start=offer.segments[0].start,
        end=offer.segments[-1].end,
        created=now,
        tags=tags_of(params, "capacity-block") or tags_of(params, "capacity-reservation"),
        ultraserver_type=offer.ultraserver_type,
    )
    place.blocks[block.id] = block
    place.reservations |= {one.id: one for one in reservations}
    offer.sold = world.supply.offering_sells_once
    _settle_payment(world, block, reservations)
    rows = [describe(world, one) for one in reservations]
    return {
        "CapacityReservation": rows[0],
        "CapacityReservations": rows,
        "CapacityBlocks": [_describe_block(place, block)],
    }


def _offer(world: World, place: Place, params: dict[str, Any]) -> BlockOffer:
    offering_id = params.get("CapacityBlockOfferingId", "")
    if not OFFERING_ID.fullmatch(offering_id):
        raise AwsError(
            "InvalidCapacityBlockOfferingIdMalformed",
            f"The Capacity Block offering ID '{offering_id}' is malformed.",
        )
    offer = place.offers.get(offering_id)
    if offer is None:
        raise AwsError(
            "InvalidCapacityBlockOfferingIdNotFound",
            f"The Capacity Block offering '{offering_id}' cannot be found for this account.",
        )
    too_late = offer.segments[0].start - times.PAYMENT_BEFORE_START <= world.now()
    if offer.sold or too_late:
        raise AwsError(
            "InvalidCapacityBlockOfferingIdExpired",
            f"The Capacity Block offering '{offering_id}' is no longer available.",
        )
    return offer


def _check_limits(world: World, place: Place, offer: BlockOffer) -> None:
    """Passes a purchase within the vCPU quota and the organization's 256 instances."""
    for segment in offer.segments:
        code = block_code(segment.instance_type)
        quota = block_quota(world, place.account, place.region, segment.instance_type)
        used = sum(
            vcpus(world, one.instance_type) * one.count
            for one in place.reservations.values()
            if one.is_block
            and one.holds_capacity
            and block_code(one.instance_type) == code
            and one.end is not None
            and one.start < segment.end
            and segment.start < one.end
        )
        if code and used + vcpus(world, segment.instance_type) * segment.count > quota:
            raise AwsError(
                "VcpuLimitExceeded",
                "You have requested more Capacity Block vCPUs than your limit allows.",
            )
        held = sum(
            one.count
            for each in world.places.values()
            for one in each.reservations.values()
            if one.is_block
            and one.holds_capacity
            and one.end is not None
            and one.start < segment.end
            and segment.start < one.end
        )
        if held + segment.count > ORGANIZATION_INSTANCES:
            raise AwsError(
                "InstanceLimitExceeded", "An organization may have 256 instances a date."
            )


def _reserve(
    world: World,
    call: Call,
    offer: BlockOffer,
    segment: Segment,
    block_id: str,
) -> list[Reservation]:
    """The capacity reservations of one segment: one, or one for each UltraServer."""
    if offer.ultraserver_type:
        instance_type, each = ULTRASERVER_MEMBERS[offer.ultraserver_type]
        copies = segment.count
    else:
        instance_type, each, copies = segment.instance_type, segment.count, 1
    now = world.now()
    rate = segment.rate + offer.rate_change
    unit = 1 if offer.ultraserver_type else segment.count
    return [
        Reservation(
            id=world.new_id("cr"),
            account=call.account,
            region=call.region,
            zone=segment.zone,
            instance_type=instance_type,
            count=each,
            platform=call.params["InstancePlatform"],
            state="payment-pending",
            start=segment.start,
            end=segment.end,
            created=now,
            visible_at=now + timedelta(seconds=world.supply.visibility_seconds),
            tags=tags_of(call.params, "capacity-reservation"),
            match="targeted",
            fee=times.fee(rate, unit, segment.end - segment.start),
            rate=rate,
            block_id=block_id,
            offering_id=offer.id,
            ultraserver_type=offer.ultraserver_type,
        )
        for _ in range(copies)
    ]


def _settle_payment(world: World, block: Block, reservations: list[Reservation]) -> None:
    """Lets the payment come through, or fail, at its time."""
    deadline = min(block.created + times.PAYMENT_LIMIT, block.start - times.PAYMENT_BEFORE_START)
    due = block.created + world.payment_delay(block.id)
    fails = world.failing_payments > 0
    if fails:
        world.failing_payments -= 1

    def settle(_moment: datetime) -> None:
        if any(one.state != "payment-pending" for one in reservations):
            return
        if fails or due > deadline:
            fail_payment(reservations)
            return
        for one in reservations:
            one.state = "scheduled"
            _deliver(world, one)

    world.mark(reservations[0].visible_at)
    world.at(min(due, deadline), settle)


def fail_payment(reservations: list[Reservation]) -> None:
    """Releases a block whose payment did not come through."""
    for one in reservations:
        one.state = "payment-failed"


def _deliver(world: World, reservation: Reservation) -> None:
    """Lets a paid block become active some minutes after its start, and end in time."""

    def activate(_moment: datetime) -> None:
        if reservation.state == "scheduled":
            reservation.state = "active"

    world.at(reservation.start + timedelta(seconds=world.supply.activation_seconds), activate)
    end_block_later(world, reservation)


def end_block_later(world: World, reservation: Reservation) -> None:
    """Lets the block end at its present end: machines go half an hour (or one hour) before."""
    expected = reservation.end
    if expected is None:
        return
    early = timedelta(hours=1 if reservation.ultraserver_type else 0.5)

    def drain(moment: datetime) -> None:
        if reservation.end != expected or reservation.state != "active":
            return
        for instance in machines_in(world, reservation):
            if instance.occupies:
                end_instance(world, instance, moment, "Server.CapacityBlockExpired")

    def expire(_moment: datetime) -> None:
        if reservation.end == expected and reservation.holds_capacity:
            reservation.state = "expired"

    world.at(expected - early, drain)
    world.at(expected, expire)


def state_of(place: Place, block: Block) -> str:
    """A block's state, from its reservations: the worst of what is still to come."""
    states = [place.reservations[one].state for one in block.reservation_ids]
    for state in ("payment-pending", "payment-failed", "active", "scheduled"):
        if state in states:
            return state
    return states[0]


def _describe_block(place: Place, block: Block) -> dict[str, Any]:
    row: dict[str, Any] = {
        "CapacityBlockId": block.id,
        "AvailabilityZone": block.zone.name,
        "AvailabilityZoneId": block.zone.id,
        "CapacityReservationIds": list(block.reservation_ids),
        "StartDate": block.start,
        "EndDate": block.end,
        "CreateDate": block.created,
        "State": state_of(place, block),
        "Tags": tag_list(block.tags),
    }
    if block.ultraserver_type:
        row["UltraserverType"] = block.ultraserver_type
    return row


def _visible(world: World, call: Call) -> list[Block]:
    """The asked blocks that are in the books by now.

    Raises:
        AwsError: an asked id is unknown.
    """
    place = world.place(call.account, call.region)
    delay = timedelta(seconds=world.supply.visibility_seconds)
    known = {one.id: one for one in place.blocks.values() if one.created + delay <= world.now()}
    ids = call.params.get("CapacityBlockIds")
    if not ids:
        return list(known.values())
    for one in ids:
        if one not in known:
            raise AwsError(
                "InvalidCapacityBlockId.NotFound", f"The Capacity Block '{one}' does not exist."
            )
    return [known[one] for one in ids]


def describe_blocks(world: World, call: Call) -> dict[str, Any]:
    """DescribeCapacityBlocks."""
    place = world.place(call.account, call.region)
    rows = [
        _describe_block(place, block)
        for block in _visible(world, call)
        if passes(
            call.params.get("Filters"),
            {
                "capacity-block-id": block.id,
                "ultraserver-type": block.ultraserver_type or "",
                "availability-zone": block.zone.name,
                "start-date": times.stamp(block.start),
                "end-date": times.stamp(block.end),
                "create-date": times.stamp(block.created),
                "state": state_of(place, block),
            },
            block.tags,
        )
    ]
    found, token = page(rows, call.params)
    return with_token({"CapacityBlocks": found}, token)


def describe_block_status(world: World, call: Call) -> dict[str, Any]:
    """DescribeCapacityBlockStatus: counts, and the health of the interconnect."""
    place = world.place(call.account, call.region)
    rows = []
    for block in _visible(world, call):
        row = _describe_status(world, place, block)
        if passes(
            call.params.get("Filters"), {"interconnect-status": row["InterconnectStatus"]}, {}
        ):
            rows.append(row)
    found, token = page(rows, call.params)
    return with_token({"CapacityBlockStatuses": found}, token)


def _describe_status(world: World, place: Place, block: Block) -> dict[str, Any]:
    parts = [place.reservations[one] for one in block.reservation_ids]
    broken = sum(_impaired(world, one) + out_of_order(world, one) for one in parts)
    active = state_of(place, block) == "active"
    return {
        "CapacityBlockId": block.id,
        "InterconnectStatus": "ok" if active else "insufficient-data",
        "TotalCapacity": sum(one.count for one in parts),
        "TotalAvailableCapacity": sum(available(world, one) for one in parts),
        "TotalUnavailableCapacity": broken,
        "CapacityReservationStatuses": [
            {
                "CapacityReservationId": one.id,
                "TotalCapacity": one.count,
                "TotalAvailableCapacity": available(world, one),
                "TotalUnavailableCapacity": in_use(world, one) + out_of_order(world, one),
            }
            for one in parts
        ],
    }


def _impaired(world: World, reservation: Reservation) -> int:
    machines = machines_in(world, reservation)
    return sum(1 for machine in machines if machine.occupies and machine.impaired)
