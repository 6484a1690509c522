"""The pool that blocks and training plans are cut from: where, when, how much, at what rate."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from sandbox.aws import times
from sandbox.aws.catalog import ULTRASERVER_MEMBERS
from sandbox.aws.supply import BlockWindow
from sandbox.aws.world import World
from sandbox.aws.zones import Zone, zones_of

LIMITS = (8, 16, 16, 32, 64)
"""How many instances an open day of a zone holds, drawn evenly."""
INSTANT_LIMITS = (2, 4, 8)
SHORTEST = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Run:
    """An unbroken stretch that could be sold in one zone, at USD per unit and hour."""

    zone: Zone
    start: datetime
    end: datetime
    rate: Decimal


@dataclass(frozen=True, slots=True)
class Stretch:
    """A time in one zone, sold or not."""

    zone: Zone
    start: datetime
    end: datetime

    def meets(self, zone: Zone, start: datetime, end: datetime) -> bool:
        """Whether that time in that zone overlaps this one."""
        return zone.id == self.zone.id and start < self.end and self.start < end


@dataclass(frozen=True, slots=True)
class Wish:
    """What is looked for; `unit` is an instance type or an UltraServer type."""

    region: str
    unit: str
    count: int
    length: timedelta
    earliest: datetime
    latest_end: datetime | None
    local_zones: bool


def runs(world: World, wish: Wish) -> list[Run]:
    """Every run that fits the wish, cheapest and then earliest first.

    On the first day blocks are ragged: they begin at a minute that moves with the clock and end
    at 11:30 UTC, a little shorter and a little longer than asked. Later ones begin at 11:30 and
    last exactly as long as asked (EC2 User Guide, Capacity Blocks).
    """
    now = world.now()
    found = []
    for zone in _zones(world, wish):
        windows = windows_of(world, wish.region, wish.unit, zone)
        for stretch in _stretches(world, wish, zone):
            if stretch.start < max(wish.earliest, now + times.LEAD):
                continue
            if wish.latest_end is not None and stretch.end > wish.latest_end:
                continue
            rate = _rate(world, wish, stretch, windows)
            if rate is not None:
                found.append(Run(zone, stretch.start, stretch.end, rate))
    return sorted(found, key=lambda run: (run.rate, run.start, run.end, run.zone.name))


def windows_of(
    world: World, region: str, unit: str, zone: Zone | None = None
) -> list[BlockWindow] | None:
    """The listed windows of a Region and unit that are shown now; nothing if none is listed."""
    listed = [w for w in world.supply.blocks if (w.region, w.instance_type) == (region, unit)]
    if not listed:
        return None
    now = world.now()
    return [
        window
        for window in listed
        if (zone is None or window.zone in {None, zone.name, zone.id})
        and (window.shown_from is None or window.shown_from <= now)
        and (window.shown_until is None or now < window.shown_until)
    ]


def is_sold(world: World, region: str, unit: str) -> bool:
    """Whether blocks of this unit are sold in the Region at all."""
    return world.catalog.sells_blocks(region, unit) or windows_of(world, region, unit) is not None


def held(world: World, region: str, unit: str, stretch: Stretch) -> list[int]:
    """How many units each sale holds that overlaps this stretch, in the order of the books."""
    counts: list[int] = []
    for place in world.region_places(region):
        counts += [
            1 if reservation.ultraserver_type else reservation.count
            for reservation in place.reservations.values()
            if reservation.is_block
            and reservation.holds_capacity
            and (reservation.ultraserver_type or reservation.instance_type) == unit
            and reservation.end is not None
            and stretch.meets(reservation.zone, reservation.start, reservation.end)
        ]
        for plan in place.plans.values():
            if plan.status == "Failed" or plan.offer.ml_instance_type != f"ml.{unit}":
                continue
            counts += [
                plan.offer.count
                for part in plan.segments
                if stretch.meets(part.zone, part.start, part.end)
            ]
    return counts


def left_of(windows: list[int], sold: list[int]) -> list[int]:
    """How many units each window still has, when each sale was cut from the tightest that held it.

    What no single window held (a price that was listed anew, say) is taken from the largest.
    """
    left = list(windows)
    for count in sorted(sold, reverse=True):
        holding = [free for free in left if free >= count]
        place = left.index(min(holding) if holding else max(left))
        left[place] -= count
    return left


def _zones(world: World, wish: Wish) -> list[Zone]:
    """The zones that sell the unit; Local Zones only where a rate is known for them."""
    catalog = world.catalog
    members = ULTRASERVER_MEMBERS.get(wish.unit)
    offered = catalog.zone_ids(wish.region, members[0] if members else wish.unit)
    chosen = []
    for zone in zones_of(wish.region, world.supply.opted_in_zones):
        listed = windows_of(world, wish.region, wish.unit, zone)
        if zone.is_local:
            priced = catalog.block_rate(wish.region, wish.unit, zone.name) is not None
            named = any(window.zone for window in listed or [])
            if (zone.opted_in or wish.local_zones) and (named if listed is not None else priced):
                chosen.append(zone)
        elif listed or (listed is None and zone.id in offered):
            chosen.append(zone)
    return chosen


def _stretches(world: World, wish: Wish, zone: Zone) -> list[Stretch]:
    """What could be sold in a zone: the ragged first day, then every 11:30 of eight weeks."""
    now = world.now()
    jitter = timedelta(minutes=world.draw("instant", wish.region, wish.unit, zone.id) % 10)
    start = times.whole_minute(now) + times.LEAD + jitter + timedelta(minutes=1)
    shorter = times.boundary_before(start + wish.length)
    found = [Stretch(zone, start, shorter + times.DAY)]
    if shorter > start + SHORTEST:
        found.append(Stretch(zone, start, shorter))
    regular = times.boundary_after(max(wish.earliest, now + times.LEAD))
    while regular <= now + times.HORIZON:
        found.append(Stretch(zone, regular, regular + wish.length))
        regular += times.DAY
    return found


def _rate(
    world: World, wish: Wish, stretch: Stretch, windows: list[BlockWindow] | None
) -> Decimal | None:
    """The rate at which the stretch can be had, or nothing when it cannot."""
    zone = stretch.zone
    taken = held(world, wish.region, wish.unit, stretch)
    drawn_rate = world.catalog.block_rate(
        wish.region, wish.unit, zone.name if zone.is_local else ""
    )
    if windows is not None:
        fitting = [
            window
            for window in windows
            if (window.available_from is None or window.available_from <= stretch.start)
            and (window.available_until is None or stretch.end <= window.available_until)
        ]
        if not fitting:
            return None
        left = left_of([window.instance_count for window in fitting], taken)
        rates = [
            window.usd_per_instance_hour or drawn_rate
            for window, free in zip(fitting, left, strict=True)
            if wish.count <= free
        ]
        return min((rate for rate in rates if rate is not None), default=None)
    keys = ("block", wish.region, wish.unit, zone.id, stretch.start.date())
    if world.draw("open", *keys) % 100 >= world.supply.open_percent:
        return None
    limits = LIMITS if stretch.start.time() == times.BOUNDARY else INSTANT_LIMITS
    limit = limits[world.draw("limit", *keys) % len(limits)]
    return drawn_rate if sum(taken) + wish.count <= limit else None
