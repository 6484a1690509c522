"""Spot: price history, placement scores, and the requests behind running machines."""

from datetime import datetime, timedelta
from typing import Any

from sandbox.aws.ec2.filters import passes
from sandbox.aws.errors import AwsError
from sandbox.aws.paging import page, with_token
from sandbox.aws.records import Instance
from sandbox.aws.spotprices import STEP, change_at, spot_price, spot_score
from sandbox.aws.world import Call, World
from sandbox.aws.zones import zones_of

HISTORY = timedelta(days=90)
LINUX = "Linux/UNIX"
MOST_SCORES = 10


def describe_price_history(world: World, call: Call) -> dict[str, Any]:
    """DescribeSpotPriceHistory, newest first; the last page has an empty token."""
    params = call.params
    now = world.now()
    until: datetime = min(params.get("EndTime") or now, now)
    since: datetime = max(params.get("StartTime") or until - HISTORY, now - HISTORY)
    rows = _history(world, call, min(since, until), until)
    found, token = page(rows, params)
    return {"SpotPriceHistory": found, "NextToken": token or ""}


def _history(world: World, call: Call, since: datetime, until: datetime) -> list[dict[str, Any]]:
    params = call.params
    products = params.get("ProductDescriptions")
    if products and LINUX not in products:
        return []
    wanted = params.get("InstanceTypes") or sorted(world.catalog.kinds)
    rows = []
    for zone in zones_of(call.region):
        if params.get("AvailabilityZone") not in {None, zone.name}:
            continue
        for instance_type in wanted:
            moment = until
            while True:
                price = spot_price(world, call.region, instance_type, zone, moment)
                if price is None:
                    break
                began = change_at(world, call.region, instance_type, zone, moment)
                row = {
                    "AvailabilityZone": zone.name,
                    "AvailabilityZoneId": zone.id,
                    "InstanceType": instance_type,
                    "ProductDescription": LINUX,
                    "SpotPrice": f"{price:.6f}",
                    "Timestamp": began,
                }
                if passes(params.get("Filters"), _fields(row), {}):
                    rows.append(row)
                if began <= since:
                    break
                moment = began - STEP
    return sorted(rows, key=lambda row: row["Timestamp"], reverse=True)


def _fields(row: dict[str, Any]) -> dict[str, str]:
    return {
        "availability-zone": row["AvailabilityZone"],
        "availability-zone-id": row["AvailabilityZoneId"],
        "instance-type": row["InstanceType"],
        "product-description": row["ProductDescription"],
        "spot-price": row["SpotPrice"],
        "timestamp": row["Timestamp"].isoformat(),
    }


def get_placement_scores(world: World, call: Call) -> dict[str, Any]:
    """GetSpotPlacementScores: the ten best Regions, or zones.

    Raises:
        AwsError: a parameter is not valid.
    """
    params = call.params
    types, regions = params.get("InstanceTypes"), params.get("RegionNames") or [call.region]
    if params.get("TargetCapacity", 0) < 1:
        raise AwsError("InvalidParameterValue", "TargetCapacity must be at least 1.")
    if not types:
        raise AwsError("MissingParameter", "The request must contain InstanceTypes.")
    if len(regions) > 10:
        raise AwsError("InvalidParameterValue", "At most 10 Regions can be given.")
    rows: list[dict[str, Any]] = []
    for region in regions:
        scores = {
            zone.id: spot_score(world, region, zone.id, types)
            for zone in zones_of(region)
            if not zone.is_local
            and any(zone.id in world.catalog.zone_ids(region, one) for one in types)
        }
        if params.get("SingleAvailabilityZone"):
            rows += [
                {"Region": region, "AvailabilityZoneId": zone_id, "Score": score}
                for zone_id, score in scores.items()
            ]
        elif scores:
            rows.append({"Region": region, "Score": max(scores.values())})
    best = sorted(rows, key=lambda row: -row["Score"])[:MOST_SCORES]
    found, token = page(best, params)
    return with_token({"SpotPlacementScores": found}, token)


def describe_requests(world: World, call: Call) -> dict[str, Any]:
    """DescribeSpotInstanceRequests: one-time requests, each fulfilled by one machine."""
    place = world.place(call.account, call.region)
    wanted = call.params.get("SpotInstanceRequestIds")
    rows = [
        row
        for machine in place.instances.values()
        if machine.spot_request_id is not None and wanted in (None, [], [machine.spot_request_id])
        for row in [_request(machine)]
        if passes(call.params.get("Filters"), _request_fields(row), {})
    ]
    found, token = page(rows, call.params)
    return with_token({"SpotInstanceRequests": found}, token)


def _request(machine: Instance) -> dict[str, Any]:
    alive = machine.state in {"pending", "running"}
    if alive:
        code = "marked-for-termination" if machine.noticed else "fulfilled"
    else:
        code = (
            "instance-terminated-no-capacity" if machine.noticed else "instance-terminated-by-user"
        )
    return {
        "SpotInstanceRequestId": machine.spot_request_id,
        "InstanceId": machine.id,
        "State": "active" if alive else "closed",
        "Status": {"Code": code, "Message": code.replace("-", " ")},
        "Type": "one-time",
        "CreateTime": machine.launched,
    }


def _request_fields(row: dict[str, Any]) -> dict[str, str]:
    return {
        "instance-id": row["InstanceId"],
        "spot-instance-request-id": row["SpotInstanceRequestId"],
        "state": row["State"],
        "status-code": row["Status"]["Code"],
        "type": row["Type"],
    }
