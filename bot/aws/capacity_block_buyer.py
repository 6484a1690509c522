"""Buys Capacity Blocks and their extensions. There is no client token: one request, one tag."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from bot.aws import wire
from bot.aws.books import read_reservations
from bot.aws.calls import bought, pages, spend, understood
from bot.aws.clients import Clients
from bot.aws.receipts import EXTENSION_MARK, receipt, reservation_receipts
from bot.aws.tags import PURCHASE, purchase_tags
from bot.domain.errors import BugError, IndeterminateError
from bot.domain.lifecycle import PurchaseState
from bot.domain.market import Segment
from bot.domain.records import LegPurpose, Purchase, Receipt

PLATFORMS: Final = frozenset(
    {"Linux/UNIX", "Red Hat Enterprise Linux", "RHEL with HA", "SUSE Linux", "Ubuntu Pro"}
)
"""Platforms of Capacity Blocks (EC2 User Guide, Capacity Blocks, considerations)."""


def buy_block(clients: Clients, purchase: Purchase, *, at: datetime) -> Sequence[Receipt]:
    """Buy the offering; several segments give several receipts. See bot.ports.Buyer."""
    if purchase.leg.purpose is LegPurpose.EXTENSION:
        return _buy_extension(clients, purchase, at=at)
    client = clients.spending("ec2", purchase.leg.account, purchase.leg.region)
    answer = spend(
        client,
        "purchase_capacity_block",
        after_doubt=purchase.state is PurchaseState.INDETERMINATE,
        CapacityBlockOfferingId=purchase.offering_ref,
        InstancePlatform=purchase.leg.platform,
        TagSpecifications=[
            {"ResourceType": "capacity-reservation", "Tags": purchase_tags(purchase)}
        ],
    )
    receipts = reservation_receipts(purchase, bought(wire.BlockPurchase, answer).all, at=at)
    if not receipts:
        raise IndeterminateError("UnreadableAnswer", "the answer names no reservation")
    return receipts


def find_block(clients: Clients, purchase: Purchase, *, at: datetime) -> Sequence[Receipt]:
    """Return the reservations that carry the purchase's tag, in any state. Raises MarketError.

    All are read and the tag compared here: the API does not document a filter by tag.
    """
    leg = purchase.leg
    if leg.purpose is LegPurpose.EXTENSION:
        return _extension_receipts(purchase, extension_history(clients, purchase), at=at)
    rows = [
        row
        for row in read_reservations(clients, leg.account, leg.region)
        if wire.tagged(row.tags).get(PURCHASE) == purchase.id
    ]
    return reservation_receipts(purchase, rows, at=at)


def extension_history(clients: Clients, purchase: Purchase) -> list[wire.BlockExtension]:
    """Return bought extensions with the purchase's offering id. Raises MarketError."""
    return read_extensions(
        clients,
        account=purchase.leg.account,
        region=purchase.leg.region,
        offering_id=purchase.offering_ref,
    )


def read_extensions(
    clients: Clients, *, account: str, region: str, offering_id: str
) -> list[wire.BlockExtension]:
    """Return bought extensions with that offering id: here AWS records it. Raises MarketError."""
    client = clients.reading("ec2", account, region)
    filters = [{"Name": "capacity-block-extension-offering-id", "Values": [offering_id]}]
    found: list[wire.BlockExtension] = []
    for page in pages(
        client, "describe_capacity_block_extension_history", Filters=filters, MaxResults=100
    ):
        rows = understood(wire.BlockExtensions, page).capacity_block_extensions
        found += [row for row in rows if row.capacity_block_extension_offering_id == offering_id]
    return found


def _buy_extension(clients: Clients, purchase: Purchase, *, at: datetime) -> Sequence[Receipt]:
    if purchase.leg.extends is None:
        raise BugError(f"{purchase.id} extends nothing")
    client = clients.spending("ec2", purchase.leg.account, purchase.leg.region)
    answer = spend(
        client,
        "purchase_capacity_block_extension",
        after_doubt=purchase.state is PurchaseState.INDETERMINATE,
        CapacityBlockExtensionOfferingId=purchase.offering_ref,
        CapacityReservationId=purchase.leg.extends.partition(EXTENSION_MARK)[0],
    )
    rows = bought(wire.BlockExtensions, answer).capacity_block_extensions
    own = [row for row in rows if row.capacity_block_extension_offering_id == purchase.offering_ref]
    receipts = _extension_receipts(purchase, own, at=at)
    if not receipts:
        raise IndeterminateError("UnreadableAnswer", "the answer names no extension")
    return receipts


def _extension_receipts(
    purchase: Purchase, rows: Sequence[wire.BlockExtension], *, at: datetime
) -> tuple[Receipt, ...]:
    held = (purchase.leg.extends or "").partition(EXTENSION_MARK)[0]
    return tuple(
        receipt(
            purchase,
            receipt_id=f"{held}{EXTENSION_MARK}{purchase.offering_ref}",
            state=row.capacity_block_extension_status,
            at=at,
            zone=row.availability_zone,
            count=row.instance_count,
            segments=extension_window(row),
        )
        for row in rows
    )


def extension_window(row: wire.BlockExtension) -> tuple[Segment, ...]:
    """Return the time that the extension adds, empty while AWS does not say."""
    start, end = row.capacity_block_extension_start_date, row.capacity_block_extension_end_date
    if start is None or end is None or end <= start:
        return ()
    return (Segment(start=start, end=end, zone=row.availability_zone),)
