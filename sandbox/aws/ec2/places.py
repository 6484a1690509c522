"""Zones as an account sees them, and tags put on later."""

from typing import Any

from sandbox.aws.ec2.filters import passes
from sandbox.aws.errors import AwsError
from sandbox.aws.world import Call, World
from sandbox.aws.zones import Zone, zones_of


def describe_zones(world: World, call: Call) -> dict[str, Any]:
    """DescribeAvailabilityZones; Local Zones not opted into show with AllAvailabilityZones."""
    params = call.params
    everything = params.get("AllAvailabilityZones", False)
    wanted = {*(params.get("ZoneNames") or []), *(params.get("ZoneIds") or [])}
    zones = zones_of(call.region, world.supply.opted_in_zones)
    known = {name for zone in zones for name in (zone.name, zone.id)}
    if wanted - known:
        missing = min(wanted - known)
        raise AwsError("InvalidParameterValue", f"Invalid availability zone: [{missing}]")
    rows = [
        _describe(call.region, zone)
        for zone in zones
        if (everything or zone.opted_in)
        and (not wanted or zone.name in wanted or zone.id in wanted)
    ]
    filters = params.get("Filters")
    return {"AvailabilityZones": [row for row in rows if passes(filters, _fields(row), {})]}


def _fields(row: dict[str, Any]) -> dict[str, str]:
    return {
        "zone-name": row["ZoneName"],
        "zone-id": row["ZoneId"],
        "zone-type": row["ZoneType"],
        "group-name": row["GroupName"],
        "opt-in-status": row["OptInStatus"],
        "region-name": row["RegionName"],
        "state": row["State"],
    }


def _describe(region: str, zone: Zone) -> dict[str, Any]:
    opted = "opted-in" if zone.opted_in else "not-opted-in"
    row: dict[str, Any] = {
        "ZoneName": zone.name,
        "ZoneId": zone.id,
        "ZoneType": zone.type,
        "RegionName": region,
        "GroupName": zone.group,
        "NetworkBorderGroup": zone.group if zone.is_local else region,
        "State": "available",
        "OptInStatus": opted if zone.is_local else "opt-in-not-required",
        "Messages": [],
    }
    if zone.is_local:
        parent = zones_of(region)[0]
        row["ParentZoneName"], row["ParentZoneId"] = parent.name, parent.id
    return row


def create_tags(world: World, call: Call) -> dict[str, Any]:
    """CreateTags on reservations, blocks and machines.

    Raises:
        AwsError: a resource is unknown.
    """
    place = world.place(call.account, call.region)
    tags = {tag["Key"]: tag.get("Value", "") for tag in call.params.get("Tags") or []}
    if any(key.startswith("aws:") for key in tags):
        raise AwsError("InvalidParameterValue", "Tag keys starting with 'aws:' are reserved.")
    targets = []
    for one in call.params.get("Resources") or []:
        found = place.reservations.get(one) or place.instances.get(one) or place.blocks.get(one)
        if found is None:
            raise AwsError("InvalidID", f"The ID '{one}' is not valid")
        targets.append(found)
    for target in targets:
        target.tags.update(tags)
    return {}
