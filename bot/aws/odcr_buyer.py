"""Makes on-demand capacity reservations, found and repeated by a client token of our own.

botocore does not fill in that token for CreateCapacityReservation (no idempotencyToken trait in
ec2 2016-11-15), so ours is the only one. A repeat must be identical, or AWS answers
IdempotentParameterMismatch; everything in the request comes from the purchase alone.
"""

from collections.abc import Sequence
from datetime import datetime

from bot.aws import wire
from bot.aws.books import read_reservations
from bot.aws.calls import bought, read, spend
from bot.aws.clients import Clients
from bot.aws.receipts import reservation_receipts
from bot.aws.tags import PURCHASE, purchase_tags, purchase_token
from bot.domain.errors import IndeterminateError, MarketError, RefusedError
from bot.domain.records import Leg, Purchase, Receipt


def make_odcr(clients: Clients, purchase: Purchase, *, at: datetime) -> Sequence[Receipt]:
    """Make a targeted reservation that ends with the leg. See bot.ports.Buyer.

    Targeted, because an open one is taken silently by any matching machine that runs already.
    """
    leg = purchase.leg
    zone = choose_zone(clients, leg)
    answer = spend(
        clients.spending("ec2", leg.account, leg.region),
        "create_capacity_reservation",
        after_doubt=False,
        ClientToken=purchase_token(purchase),
        InstanceType=leg.instance_type,
        InstancePlatform=leg.platform,
        InstanceCount=leg.instance_count,
        AvailabilityZone=zone,
        EndDateType="limited",
        EndDate=leg.segments[-1].end,
        InstanceMatchCriteria="targeted",
        TagSpecifications=[
            {"ResourceType": "capacity-reservation", "Tags": purchase_tags(purchase)}
        ],
    )
    row = bought(wire.ReservationMade, answer).capacity_reservation
    receipts = reservation_receipts(purchase, [row] if row else [], at=at)
    if not receipts:
        raise IndeterminateError("UnreadableAnswer", "the answer names no reservation")
    return receipts


def find_odcr(clients: Clients, purchase: Purchase, *, at: datetime) -> Sequence[Receipt]:
    """Return the reservations with the purchase's tag. Raises MarketError."""
    rows = [
        row
        for row in read_reservations(clients, purchase.leg.account, purchase.leg.region)
        if wire.tagged(row.tags).get(PURCHASE) == purchase.id
    ]
    return reservation_receipts(purchase, rows, at=at)


def choose_zone(clients: Clients, leg: Leg) -> str:
    """Return the leg's zone, else the first where we have a subnet and the type is offered.

    Raises RefusedError when there is none, or when it can't be found out.
    """
    if leg.zone is not None:
        return leg.zone
    subnets = {zone for zone in clients.account(leg.account).subnets if zone.startswith(leg.region)}
    try:
        answer = read(
            clients.reading("ec2", leg.account, leg.region),
            "describe_instance_type_offerings",
            LocationType="availability-zone",
            Filters=[{"Name": "instance-type", "Values": [leg.instance_type]}],
        )
    except MarketError as error:
        raise RefusedError("NotSent", f"no zone could be chosen: {error}") from error
    offered = sorted(
        str(row.get("Location"))
        for row in answer.get("InstanceTypeOfferings", ())
        if row.get("Location")
    )
    zones = [zone for zone in offered if zone in subnets] or offered
    if not zones:
        raise RefusedError("NotSent", f"{leg.instance_type} is offered in no zone of {leg.region}")
    return zones[0]
