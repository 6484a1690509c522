"""Training plans as SageMaker words them."""

from datetime import timedelta
from typing import Any

from sandbox.aws import times
from sandbox.aws.catalog import ULTRASERVER_MEMBERS
from sandbox.aws.records import Endpoint, Place, Plan, PlanOffer


def describe_offer(offer: PlanOffer) -> dict[str, Any]:
    """A TrainingPlanOffering."""
    length = sum((one.end - one.start for one in offer.segments), timedelta())
    hours, minutes = times.hours_and_minutes(length)
    row: dict[str, Any] = {
        "TrainingPlanOfferingId": offer.id,
        "TargetResources": [offer.target],
        "DurationHours": hours,
        "DurationMinutes": minutes,
        "UpfrontFee": f"{offer.fee:.2f}",
        "CurrencyCode": "USD",
        "ReservedCapacityOfferings": [],
    }
    if offer.asked_start is not None:
        row["RequestedStartTimeAfter"] = offer.asked_start
    if offer.asked_end is not None:
        row["RequestedEndTimeBefore"] = offer.asked_end
    for part in offer.segments:
        hours, minutes = times.hours_and_minutes(part.end - part.start)
        row["ReservedCapacityOfferings"].append(
            {
                **_units(offer, total_key="InstanceCount"),
                "AvailabilityZone": part.zone.name,
                "DurationHours": hours,
                "DurationMinutes": minutes,
                "StartTime": part.start,
                "EndTime": part.end,
            }
        )
    return row


def _units(offer: PlanOffer, *, total_key: str) -> dict[str, Any]:
    unit = offer.ml_instance_type.removeprefix("ml.")
    if unit not in ULTRASERVER_MEMBERS:
        return {
            "ReservedCapacityType": "Instance",
            "InstanceType": offer.ml_instance_type,
            total_key: offer.count,
        }
    member, each = ULTRASERVER_MEMBERS[unit]
    return {
        "ReservedCapacityType": "UltraServer",
        "UltraServerType": offer.ml_instance_type,
        "UltraServerCount": offer.count,
        "InstanceType": f"ml.{member}",
        total_key: each * offer.count,
    }


def total_instances(plan: Plan) -> int:
    """The instances of each part of a plan."""
    count: int = _units(plan.offer, total_key="total")["total"]
    return count


def used_by(place: Place, endpoint: Endpoint, plan_arn: str) -> int:
    """How many of a plan's instances an endpoint holds."""
    if endpoint.status not in {"Creating", "InService", "Updating"}:
        return 0
    config = place.endpoint_configs.get(endpoint.config_name) or {}
    return sum(
        variant.get("InitialInstanceCount", 1)
        for variant in config.get("ProductionVariants", [])
        if (variant.get("CapacityReservationConfig") or {}).get("MlReservationArn") == plan_arn
    )


def in_use(place: Place, plan: Plan) -> int:
    """How many of a plan's instances all endpoints hold."""
    return sum(used_by(place, endpoint, plan.arn) for endpoint in place.endpoints.values())


def summarize(place: Place, plan: Plan) -> dict[str, Any]:
    """A TrainingPlanSummary; DescribeTrainingPlan answers two counts more."""
    length = sum((one.end - one.start for one in plan.segments), timedelta())
    hours, minutes = times.hours_and_minutes(length)
    total, used = total_instances(plan), in_use(place, plan)
    row: dict[str, Any] = {
        "TrainingPlanArn": plan.arn,
        "TrainingPlanName": plan.name,
        "Status": plan.status,
        "DurationHours": hours,
        "DurationMinutes": minutes,
        "StartTime": plan.start,
        "EndTime": plan.end,
        "UpfrontFee": f"{plan.fee:.2f}",
        "CurrencyCode": "USD",
        "TotalInstanceCount": total,
        "AvailableInstanceCount": total - used if plan.status == "Active" else 0,
        "InUseInstanceCount": used,
        "TargetResources": [plan.offer.target],
        "ReservedCapacitySummaries": [_part(plan, index) for index in range(len(plan.segments))],
    }
    if plan.status_message:
        row["StatusMessage"] = plan.status_message
    if plan.offer.ml_instance_type.removeprefix("ml.") in ULTRASERVER_MEMBERS:
        row["TotalUltraServerCount"] = plan.offer.count
    return row


def describe_part(place: Place, plan: Plan, index: int) -> dict[str, Any]:
    """One part of a plan as DescribeReservedCapacity words it."""
    row = _part(plan, index)
    known = {
        key: row[key]
        for key in row
        if key not in {"AvailabilityZoneId", "UltraServerType", "UltraServerCount"}
    }
    total, used = total_instances(plan), in_use(place, plan)
    active = plan.part_status[index] == "Active"
    return {
        **known,
        "AvailableInstanceCount": total - used if active else 0,
        "InUseInstanceCount": used if active else 0,
    }


def _part(plan: Plan, index: int) -> dict[str, Any]:
    part = plan.segments[index]
    hours, minutes = times.hours_and_minutes(part.end - part.start)
    return {
        **_units(plan.offer, total_key="TotalInstanceCount"),
        "ReservedCapacityArn": plan.capacity_ids[index],
        "Status": plan.part_status[index],
        "AvailabilityZone": part.zone.name,
        "AvailabilityZoneId": part.zone.id,
        "DurationHours": hours,
        "DurationMinutes": minutes,
        "StartTime": part.start,
        "EndTime": part.end,
    }
