"""More time for a Capacity Block: offered, bought, paid."""

from datetime import datetime, timedelta
from typing import Any

from sandbox.aws import times
from sandbox.aws.blockpool import windows_of
from sandbox.aws.ec2.blocks import end_block_later
from sandbox.aws.ec2.filters import passes
from sandbox.aws.ec2.reservations import find
from sandbox.aws.errors import AwsError
from sandbox.aws.paging import page, with_token
from sandbox.aws.records import Extension, ExtensionOffer, Place, Reservation
from sandbox.aws.world import Call, World

LATEST_ORDER = timedelta(hours=1)
EARLIEST_ORDER = timedelta(days=57)
PAYMENT_BEFORE_END = timedelta(minutes=35)
LONGEST = timedelta(days=182)
"""Limits of extensions: EC2 User Guide, "Extend Capacity Blocks" (2026)."""


def describe_extension_offerings(world: World, call: Call) -> dict[str, Any]:
    """DescribeCapacityBlockExtensionOfferings: one offering, or none when there is no capacity."""
    hours = call.params.get("CapacityBlockExtensionDurationHours")
    reservation = _extendable(world, call)
    if hours is None or not times.is_block_duration(hours):
        raise AwsError("InvalidParameterValue", f"The duration {hours} is not valid.")
    place = world.place(call.account, call.region)
    end = _end(reservation)
    offers = []
    if end + timedelta(hours=hours) - reservation.start <= LONGEST and _has_room(
        world, reservation, hours
    ):
        offer = _offer(world, place, reservation, hours)
        if not offer.sold:
            offers.append(_describe_offer(reservation, offer))
    found, token = page(offers, call.params)
    return with_token({"CapacityBlockExtensionOfferings": found}, token)


def _end(reservation: Reservation) -> datetime:
    if reservation.end is None:
        raise AwsError("InvalidParameterValue", f"{reservation.id} is not a Capacity Block.")
    return reservation.end


def _extendable(world: World, call: Call) -> Reservation:
    """The block's reservation, if it may be extended now.

    Raises:
        AwsError: it is no block, not active or scheduled, too late or early, or being extended.
    """
    reservation = find(world, call, call.params.get("CapacityReservationId", ""))
    if not reservation.is_block:
        raise AwsError("InvalidParameterValue", f"{reservation.id} is not a Capacity Block.")
    if reservation.state not in {"active", "scheduled"}:
        raise AwsError(
            "InvalidCapacityReservationState",
            f"The Capacity Block is {reservation.state} and can't be extended.",
        )
    left = _end(reservation) - world.now()
    if not LATEST_ORDER <= left <= EARLIEST_ORDER:
        raise AwsError(
            "InvalidParameterValue",
            "A Capacity Block can be extended from 57 days to 1 hour before its end.",
        )
    place = world.place(call.account, call.region)
    if any(
        one.offer.reservation_id == reservation.id and one.status == "payment-pending"
        for one in place.extensions
    ):
        raise AwsError("InvalidParameterValue", "An extension of it is still waiting for payment.")
    return reservation


def _has_room(world: World, reservation: Reservation, hours: int) -> bool:
    windows = windows_of(world, reservation.region, reservation.instance_type, reservation.zone)
    if windows is not None:
        end = _end(reservation) + timedelta(hours=hours)
        return any(w.available_until is None or end <= w.available_until for w in windows)
    return (
        world.draw("extension", reservation.id, reservation.end) % 100
        < world.supply.extension_percent
    )


def _offer(world: World, place: Place, reservation: Reservation, hours: int) -> ExtensionOffer:
    end = _end(reservation)
    identity = world.digest("extension", reservation.id, end, hours)[:17]
    known = place.extension_offers.get(f"cbe-{identity}")
    if known is not None:
        return known
    zone = reservation.zone
    unit = reservation.ultraserver_type or reservation.instance_type
    rate = world.catalog.block_rate(reservation.region, unit, zone.name if zone.is_local else "")
    offer = ExtensionOffer(
        id=f"cbe-{identity}",
        reservation_id=reservation.id,
        start=end,
        end=end + timedelta(hours=hours),
        hours=hours,
        rate=reservation.rate if rate is None else rate,
        count=1 if reservation.ultraserver_type else reservation.count,
    )
    place.extension_offers[offer.id] = offer
    return offer


def _describe_offer(reservation: Reservation, offer: ExtensionOffer) -> dict[str, Any]:
    return {
        "CapacityBlockExtensionOfferingId": offer.id,
        "InstanceType": reservation.instance_type,
        "InstanceCount": reservation.count,
        "AvailabilityZone": reservation.zone.name,
        "AvailabilityZoneId": reservation.zone.id,
        "StartDate": reservation.start,
        "CapacityBlockExtensionStartDate": offer.start,
        "CapacityBlockExtensionEndDate": offer.end,
        "CapacityBlockExtensionDurationHours": offer.hours,
        "UpfrontFee": f"{offer.fee:.2f}",
        "CurrencyCode": "USD",
        "Tenancy": "default",
        "ZoneType": reservation.zone.type,
    }


def purchase_extension(world: World, call: Call) -> dict[str, Any]:
    """PurchaseCapacityBlockExtension: the end moves once the payment has come through.

    Raises:
        AwsError: the block cannot be extended, or the offering is not valid for it.
    """
    place = world.place(call.account, call.region)
    reservation = _extendable(world, call)
    offering_id = call.params.get("CapacityBlockExtensionOfferingId", "")
    offer = place.extension_offers.get(offering_id)
    if offer is None or offer.reservation_id != reservation.id:
        raise AwsError(
            "InvalidCapacityBlockExtensionOfferingIdNotFound",
            f"The extension offering '{offering_id}' cannot be found for this Capacity Block.",
        )
    if offer.sold or offer.start != reservation.end:
        raise AwsError(
            "InvalidCapacityBlockExtensionOfferingIdExpired",
            f"The extension offering '{offering_id}' is no longer available.",
        )
    offer.sold = True
    extension = Extension(offer=offer, fee=offer.fee, status="payment-pending", bought=world.now())
    place.extensions.append(extension)
    _settle_payment(world, reservation, extension)
    return {"CapacityBlockExtensions": [_describe(reservation, extension)]}


def _settle_payment(world: World, reservation: Reservation, extension: Extension) -> None:
    due = extension.bought + world.payment_delay(extension.offer.id)
    deadline = min(
        extension.bought + times.PAYMENT_LIMIT, extension.offer.start - PAYMENT_BEFORE_END
    )
    fails = world.failing_payments > 0
    if fails:
        world.failing_payments -= 1

    def settle(_moment: datetime) -> None:
        if extension.status != "payment-pending":
            return
        if fails or due > deadline:
            extension.status = "payment-failed"
            return
        extension.status = "payment-succeeded"
        reservation.end = extension.offer.end
        block = world.place(reservation.account, reservation.region).blocks[
            str(reservation.block_id)
        ]
        block.end = max(block.end, extension.offer.end)
        end_block_later(world, reservation)

    world.at(min(due, deadline), settle)


def _describe(reservation: Reservation, extension: Extension) -> dict[str, Any]:
    offer = extension.offer
    return {
        "CapacityReservationId": reservation.id,
        "InstanceType": reservation.instance_type,
        "InstanceCount": reservation.count,
        "AvailabilityZone": reservation.zone.name,
        "AvailabilityZoneId": reservation.zone.id,
        "CapacityBlockExtensionOfferingId": offer.id,
        "CapacityBlockExtensionDurationHours": offer.hours,
        "CapacityBlockExtensionStatus": extension.status,
        "CapacityBlockExtensionPurchaseDate": extension.bought,
        "CapacityBlockExtensionStartDate": offer.start,
        "CapacityBlockExtensionEndDate": offer.end,
        "UpfrontFee": f"{extension.fee:.2f}",
        "CurrencyCode": "USD",
        "ZoneType": reservation.zone.type,
    }


def describe_extension_history(world: World, call: Call) -> dict[str, Any]:
    """DescribeCapacityBlockExtensionHistory: what was bought, under its offering id."""
    place = world.place(call.account, call.region)
    wanted = call.params.get("CapacityReservationIds")
    chosen = {find(world, call, one).id for one in wanted} if wanted else None
    rows = []
    for extension in place.extensions:
        reservation = place.reservations[extension.offer.reservation_id]
        fields = {
            "availability-zone": reservation.zone.name,
            "availability-zone-id": reservation.zone.id,
            "capacity-block-extension-offering-id": extension.offer.id,
            "capacity-block-extension-status": extension.status,
            "capacity-reservation-id": reservation.id,
            "instance-type": reservation.instance_type,
        }
        if (chosen is None or reservation.id in chosen) and passes(
            call.params.get("Filters"), fields, {}
        ):
            rows.append(_describe(reservation, extension))
    found, token = page(rows, call.params)
    return with_token({"CapacityBlockExtensions": found}, token)
