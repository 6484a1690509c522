"""Launches machines on demand or as spot from the account's launch template in the Region."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from bot.aws import wire
from bot.aws.calls import bought, pages, spend, understood
from bot.aws.clients import Clients
from bot.aws.receipts import launch_state, receipt
from bot.aws.tags import purchase_tags, purchase_token
from bot.domain.errors import IndeterminateError, RefusedError
from bot.domain.market import Kind
from bot.domain.records import Purchase, Receipt


def launch(clients: Clients, purchase: Purchase, *, at: datetime) -> Sequence[Receipt]:
    """Launch all machines or none; the receipt's id is EC2's launch (r-…). See bot.ports.Buyer."""
    leg = purchase.leg
    account = clients.account(leg.account)
    template = account.launch_templates.get(leg.region)
    if template is None:
        raise RefusedError(
            "NotSent", f"account {leg.account} has no launch template for {leg.region}"
        )
    more: dict[str, Any] = {}
    if leg.kind is Kind.SPOT:
        more["InstanceMarketOptions"] = {
            "MarketType": "spot",
            "SpotOptions": {"SpotInstanceType": "one-time"},
        }
    if leg.zone is not None and leg.zone in account.subnets:
        more["SubnetId"] = account.subnets[leg.zone]
    elif leg.zone is not None:
        more["Placement"] = {"AvailabilityZone": leg.zone}
    tags = purchase_tags(purchase)
    answer = spend(
        clients.spending("ec2", leg.account, leg.region, purpose="launch"),
        "run_instances",
        after_doubt=False,
        ClientToken=purchase_token(purchase),
        LaunchTemplate={"LaunchTemplateId": template},
        InstanceType=leg.instance_type,
        MinCount=leg.instance_count,
        MaxCount=leg.instance_count,
        TagSpecifications=[{"ResourceType": "instance", "Tags": tags}],
        **more,
    )
    receipts = _receipts(purchase, [bought(wire.Launch, answer)], at=at)
    if not receipts:
        raise IndeterminateError("UnreadableAnswer", "the answer names no launch")
    return receipts


def find_launch(clients: Clients, purchase: Purchase, *, at: datetime) -> Sequence[Receipt]:
    """Return the launches with the purchase's client token. Raises MarketError."""
    client = clients.reading("ec2", purchase.leg.account, purchase.leg.region)
    filters = [{"Name": "client-token", "Values": [purchase_token(purchase)]}]
    rows: list[wire.Launch] = []
    for page in pages(client, "describe_instances", Filters=filters, MaxResults=1000):
        rows += understood(wire.Launches, page).reservations
    return _receipts(purchase, rows, at=at)


def _receipts(
    purchase: Purchase, rows: Sequence[wire.Launch], *, at: datetime
) -> tuple[Receipt, ...]:
    return tuple(
        receipt(
            purchase,
            receipt_id=row.reservation_id,
            state=launch_state(row.instances),
            at=at,
            zone=next((m.placement.availability_zone for m in row.instances), None),
            count=len(row.instances),
        )
        for row in rows
        if row.reservation_id and row.instances
    )
