"""How many machines can be had at once, on demand and as spot."""

from sandbox.aws.supply import Pool
from sandbox.aws.world import World
from sandbox.aws.zones import Zone

PLENTY = 200
LARGE = ("p4", "p5", "p6", "trn2")
"""Families that are seldom to be had on demand (crossplane issue 2103, June 2026)."""
LARGE_REFUSED_PERCENT = 60


def on_demand_left(world: World, region: str, zone: Zone, instance_type: str) -> int:
    """How many more instances of a type a zone gives on demand, or to a reservation, now."""
    return _left(world, region, zone, instance_type, spot=False)


def spot_left(world: World, region: str, zone: Zone, instance_type: str) -> int:
    """How many more spot instances of a type a zone gives now."""
    return _left(world, region, zone, instance_type, spot=True)


def _left(world: World, region: str, zone: Zone, instance_type: str, *, spot: bool) -> int:
    pools = world.supply.spot_pools if spot else world.supply.on_demand
    size = _listed(pools, region, zone, instance_type)
    if size is None:
        size = _drawn(world, region, zone, instance_type, spot=spot)
    return size - _taken(world, region, zone, instance_type, spot=spot)


def _listed(pools: tuple[Pool, ...], region: str, zone: Zone, instance_type: str) -> int | None:
    for pool in pools:
        if (pool.region, pool.instance_type) == (region, instance_type) and pool.zone in {
            None,
            zone.name,
            zone.id,
        }:
            return pool.instance_count
    return None


def _drawn(world: World, region: str, zone: Zone, instance_type: str, *, spot: bool) -> int:
    if zone.id not in world.catalog.zone_ids(region, instance_type):
        return 0
    if not instance_type.startswith(LARGE):
        return PLENTY
    market = "spot-pool" if spot else "on-demand-pool"
    drawn = world.draw(market, region, zone.id, instance_type)
    if drawn % 100 < LARGE_REFUSED_PERCENT:
        return 0
    return 1 + drawn // 100 % 8


def _taken(world: World, region: str, zone: Zone, instance_type: str, *, spot: bool) -> int:
    total = 0
    for place in world.region_places(region):
        for instance in place.instances.values():
            if (
                instance.occupies
                and instance.reservation_id is None
                and instance.market == ("spot" if spot else "on-demand")
                and (instance.zone.id, instance.instance_type) == (zone.id, instance_type)
            ):
                total += 1
        if spot:
            continue
        total += sum(
            reservation.count
            for reservation in place.reservations.values()
            if not reservation.is_block
            and reservation.holds_capacity
            and (reservation.zone.id, reservation.instance_type) == (zone.id, instance_type)
        )
    return total
