"""Spot prices over time: a base from the data, moved every six hours by a few percent."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from sandbox.aws.supply import SpotPrice
from sandbox.aws.world import World
from sandbox.aws.zones import Zone

STEP = timedelta(hours=6)
EPOCH = datetime(2020, 1, 1, tzinfo=UTC)


def listed(world: World, region: str, instance_type: str) -> SpotPrice | None:
    """What the scenario says of spot for this Region and type."""
    for row in world.supply.spot:
        if (row.region, row.instance_type) == (region, instance_type):
            return row
    return None


def change_at(
    world: World, region: str, instance_type: str, zone: Zone, moment: datetime
) -> datetime:
    """When the price that holds at this moment began."""
    offset = timedelta(minutes=world.draw("spot-step", region, instance_type, zone.id) % 360)
    return EPOCH + offset + (moment - EPOCH - offset) // STEP * STEP


def spot_price(
    world: World, region: str, instance_type: str, zone: Zone, moment: datetime
) -> Decimal | None:
    """USD per instance-hour at a moment, never above on demand; nothing where spot is not sold."""
    row = listed(world, region, instance_type)
    if row is not None and row.usd_per_instance_hour is not None:
        return row.usd_per_instance_hour
    if zone.id not in world.catalog.zone_ids(region, instance_type):
        return None
    base = world.catalog.spot_rate(region, instance_type, zone.id)
    if base is None:
        return None
    since = change_at(world, region, instance_type, zone, moment)
    percent = 95 + world.draw("spot", region, instance_type, zone.id, since) % 11
    price = (base * percent / 100).quantize(Decimal("0.0001"))
    on_demand = world.catalog.on_demand_rate(region, instance_type)
    return price if on_demand is None else min(price, on_demand)


def spot_score(world: World, region: str, zone_id: str, instance_types: list[str]) -> int:
    """The placement score 1-10; always low for fewer than three types (EC2 API Reference)."""
    scores = []
    for instance_type in instance_types:
        row = listed(world, region, instance_type)
        if row is not None and row.score is not None:
            scores.append(row.score)
        elif zone_id in world.catalog.zone_ids(region, instance_type):
            scores.append(1 + world.draw("score", region, zone_id, instance_type) % 10)
    best = max(scores, default=1)
    return best if len(instance_types) >= 3 else min(best, 3)
