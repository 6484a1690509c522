"""Training plans read, listed and extended."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from sandbox.aws import times
from sandbox.aws.errors import AwsError
from sandbox.aws.paging import page, with_token
from sandbox.aws.records import (
    Endpoint,
    Place,
    Plan,
    PlanExtension,
    PlanExtensionOffer,
    PlanSegment,
)
from sandbox.aws.sagemaker.names import arn, tags_of
from sandbox.aws.sagemaker.plans import (
    PLAN_OVER_BLOCK,
    end_part_later,
    search_offerings,
)
from sandbox.aws.sagemaker.planviews import describe_part, summarize
from sandbox.aws.world import Call, World

LATEST_ORDER = timedelta(hours=1)
EARLIEST_ORDER = timedelta(days=57)
PAYMENT_BEFORE_END = timedelta(minutes=35)
SORT_KEYS = {"TrainingPlanName": "TrainingPlanName", "StartTime": "StartTime", "Status": "Status"}


def find_plan(place: Place, name_or_arn: str) -> Plan:
    """The plan with this name or ARN.

    Raises:
        AwsError: there is none.
    """
    for plan in place.plans.values():
        if name_or_arn in {plan.name, plan.arn}:
            return plan
    raise AwsError("ResourceNotFound", f"Training plan {name_or_arn} is not found.")


def describe_plan(world: World, call: Call) -> dict[str, Any]:
    """DescribeTrainingPlan, by name or ARN."""
    place = world.place(call.account, call.region)
    plan = find_plan(place, call.params.get("TrainingPlanName", ""))
    return {
        **summarize(place, plan),
        "UnhealthyInstanceCount": 0,
        "AvailableSpareInstanceCount": 0,
    }


def list_plans(world: World, call: Call) -> dict[str, Any]:
    """ListTrainingPlans, newest first unless a sort is asked; the only filter is Status."""
    params, place = call.params, world.place(call.account, call.region)
    rows = [summarize(place, plan) for plan in place.plans.values()]
    for row in params.get("Filters") or []:
        if row["Name"] != "Status":
            raise AwsError("ValidationException", f"Invalid filter name {row['Name']}")
        rows = [one for one in rows if one["Status"] == row["Value"]]
    after, before = params.get("StartTimeAfter"), params.get("StartTimeBefore")
    rows = [
        one
        for one in rows
        if (after is None or one["StartTime"] > after)
        and (before is None or one["StartTime"] < before)
    ]
    key = SORT_KEYS.get(params.get("SortBy", "StartTime"), "StartTime")
    rows.sort(key=lambda one: one[key], reverse=params.get("SortOrder") == "Descending")
    found, token = page(rows, params, default=100, most=100)
    return with_token({"TrainingPlanSummaries": found}, token)


def search(world: World, call: Call) -> dict[str, Any]:
    """SearchTrainingPlanOfferings: new plans, or more time for the plan that is named."""
    if not call.params.get("TrainingPlanArn"):
        return search_offerings(world, call)
    place = world.place(call.account, call.region)
    plan = find_plan(place, call.params["TrainingPlanArn"])
    _check_extendable(world, plan)
    days = -(-call.params.get("DurationHours", 24) // 24)
    offers = []
    if world.draw("plan-extension", plan.arn, plan.end) % 100 < world.supply.extension_percent:
        offers.append(_describe_offer(plan, _extension_offer(world, place, plan, days)))
    return {"TrainingPlanOfferings": [], "TrainingPlanExtensionOfferings": offers}


def _check_extendable(world: World, plan: Plan) -> None:
    if plan.status not in {"Active", "Scheduled"}:
        raise AwsError("ValidationException", f"Training plan {plan.name} is {plan.status}.")
    if not LATEST_ORDER <= plan.end - world.now() <= EARLIEST_ORDER:
        raise AwsError("ValidationException", "It is too late or too early to extend the plan.")
    if any(one.payment == "Pending" for one in plan.extensions):
        raise AwsError("ValidationException", "An extension is still waiting for its payment.")


def _extension_offer(world: World, place: Place, plan: Plan, days: int) -> PlanExtensionOffer:
    offering_id = f"tpeo-{world.digest('plan-extension', plan.arn, plan.end, days)}"
    known = place.plan_extension_offers.get(offering_id)
    if known is not None:
        return known
    unit = plan.offer.ml_instance_type.removeprefix("ml.")
    zone = plan.segments[-1].zone
    rate = world.catalog.block_rate(place.region, unit, zone.name if zone.is_local else "")
    offer = PlanExtensionOffer(
        id=offering_id,
        plan_name=plan.name,
        start=plan.end,
        end=plan.end + timedelta(days=days),
        rate=(
            plan.offer.rate
            if rate is None
            else (rate * PLAN_OVER_BLOCK).quantize(Decimal("0.0001"))
        ),
        count=plan.offer.count,
    )
    place.plan_extension_offers[offering_id] = offer
    return offer


def _describe_offer(plan: Plan, offer: PlanExtensionOffer) -> dict[str, Any]:
    return {
        "TrainingPlanExtensionOfferingId": offer.id,
        "AvailabilityZone": plan.segments[-1].zone.name,
        "StartDate": offer.start,
        "EndDate": offer.end,
        "DurationHours": times.hours_and_minutes(offer.end - offer.start)[0],
        "UpfrontFee": f"{offer.fee:.2f}",
        "CurrencyCode": "USD",
    }


def extend_plan(world: World, call: Call) -> dict[str, Any]:
    """ExtendTrainingPlan: the offering id alone says which plan; answers all its extensions.

    Raises:
        AwsError: the offering is unknown, or the plan cannot be extended.
    """
    place = world.place(call.account, call.region)
    offering_id = call.params.get("TrainingPlanExtensionOfferingId", "")
    offer = place.plan_extension_offers.get(offering_id)
    if offer is None or offer.sold or place.plans[offer.plan_name].end != offer.start:
        raise AwsError("ResourceNotFound", f"Extension offering {offering_id} is not found.")
    plan = place.plans[offer.plan_name]
    _check_extendable(world, plan)
    offer.sold = True
    extension = PlanExtension(offer, offer.fee, "Pending", "Pending", world.now())
    plan.extensions.append(extension)
    _settle_payment(world, plan, extension)
    return {"TrainingPlanExtensions": [_describe(plan, one) for one in plan.extensions]}


def _settle_payment(world: World, plan: Plan, extension: PlanExtension) -> None:
    due = extension.bought + world.payment_delay(extension.offer.id)
    deadline = extension.offer.start - PAYMENT_BEFORE_END
    fails = world.failing_payments > 0
    if fails:
        world.failing_payments -= 1

    def settle(_moment: datetime) -> None:
        if extension.payment != "Pending":
            return
        if fails or due > deadline:
            extension.status = extension.payment = "Failed"
            return
        extension.status, extension.payment = "Scheduled", "Completed"
        last = plan.segments[-1]
        plan.segments[-1] = PlanSegment(last.zone, last.start, extension.offer.end)
        end_part_later(world, plan, len(plan.segments) - 1)

    world.at(min(due, deadline), settle)


def _describe(plan: Plan, extension: PlanExtension) -> dict[str, Any]:
    zone = plan.segments[-1].zone
    return {
        **_describe_offer(plan, extension.offer),
        "AvailabilityZoneId": zone.id,
        "ExtendedAt": extension.bought,
        "Status": extension.status,
        "PaymentStatus": extension.payment,
        "UpfrontFee": f"{extension.fee:.2f}",
    }


def describe_extension_history(world: World, call: Call) -> dict[str, Any]:
    """DescribeTrainingPlanExtensionHistory."""
    place = world.place(call.account, call.region)
    plan = find_plan(place, call.params.get("TrainingPlanArn", ""))
    rows = [_describe(plan, one) for one in plan.extensions]
    found, token = page(rows, call.params, default=100, most=100)
    return with_token({"TrainingPlanExtensions": found}, token)


def describe_reserved_capacity(world: World, call: Call) -> dict[str, Any]:
    """DescribeReservedCapacity: one part of a plan, with what is free and in use.

    Raises:
        AwsError: there is no such part.
    """
    place = world.place(call.account, call.region)
    wanted = call.params.get("ReservedCapacityArn", "")
    for plan in place.plans.values():
        if wanted in plan.capacity_ids:
            return describe_part(place, plan, plan.capacity_ids.index(wanted))
    raise AwsError("ResourceNotFound", f"Reserved capacity {wanted} is not found.")


def list_tags(world: World, call: Call) -> dict[str, Any]:
    """ListTags of a plan, an endpoint or an endpoint configuration."""
    place = world.place(call.account, call.region)
    wanted = call.params.get("ResourceArn", "")
    resources: list[Plan | Endpoint] = [*place.plans.values(), *place.endpoints.values()]
    tags = {resource.arn: resource.tags for resource in resources}
    for name, config in place.endpoint_configs.items():
        tags[arn(call, "endpoint-config", name)] = tags_of(config)
    if wanted in tags:
        pairs = [{"Key": key, "Value": value} for key, value in tags[wanted].items()]
        found, token = page(pairs, call.params, default=50, most=1000)
        return with_token({"Tags": found}, token)
    raise AwsError("ValidationException", f"Could not find resource {wanted}.")
