"""Zones: names and ids as one account sees them, Local Zones included."""

import string
from dataclasses import dataclass
from functools import cache

from moto.ec2.models.availability_zones_and_regions import RegionsAndZonesBackend

from sandbox.aws.catalog import LOCAL_ZONE_IDS, load_catalog


@dataclass(frozen=True, slots=True)
class Zone:
    """An Availability Zone or Local Zone."""

    name: str
    id: str
    type: str
    group: str
    opted_in: bool

    @property
    def is_local(self) -> bool:
        """Whether it is a Local Zone."""
        return self.type == "local-zone"


@cache
def zones_of(region: str, opted_in: tuple[str, ...] = ()) -> tuple[Zone, ...]:
    """The zones of a Region, its Local Zones last.

    Names follow moto's mapping, so that moto's default subnets lie in the same zones.
    """
    named = {zone.zone_id: zone.name for zone in RegionsAndZonesBackend.zones.get(region, [])}
    row = load_catalog().regions.get(region)
    if row is None:
        return ()
    free = iter(sorted({region + letter for letter in string.ascii_lowercase} - {*named.values()}))
    plain = [
        Zone(
            name=named.get(zone_id) or next(free),
            id=zone_id,
            type="availability-zone",
            group=f"{region}-zg-1",
            opted_in=True,
        )
        for zone_id in row.zone_ids
    ]
    local = [
        Zone(
            name=name,
            id=LOCAL_ZONE_IDS[name],
            type="local-zone",
            group=name[:-1],
            opted_in=name in opted_in or name[:-1] in opted_in,
        )
        for name in row.local_zones
    ]
    return (*sorted(plain, key=lambda zone: zone.name), *local)


def zone_named(region: str, name: str, opted_in: tuple[str, ...] = ()) -> Zone | None:
    """The zone with this name or id, if the Region has it."""
    return next((z for z in zones_of(region, opted_in) if name in {z.name, z.id}), None)
