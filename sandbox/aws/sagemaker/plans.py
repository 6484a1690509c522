"""Training plans: searched, bought, paid, delivered in one or two parts, ended."""

from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from sandbox.aws import times
from sandbox.aws.blockpool import Run, Wish, is_sold, runs
from sandbox.aws.catalog import ULTRASERVER_MEMBERS
from sandbox.aws.errors import AwsError
from sandbox.aws.quotas import PLAN_TOTAL_CODE, limit, reserved_capacity_name
from sandbox.aws.records import Plan, PlanOffer, PlanSegment
from sandbox.aws.sagemaker.names import arn, checked_name, tags_of
from sandbox.aws.sagemaker.planviews import describe_offer
from sandbox.aws.world import Call, World

COUNTS = {1, 2, 4, 8, 16, 32, 64}
TARGETS = {"training-job", "hyperpod-cluster", "endpoint", "studio-apps"}
MOST_OFFERS = 3
LONGEST_HOURS = 182 * 24
PLAN_OVER_BLOCK = Decimal("1.15")
"""No plan rates are published; one was seen at 1.15 times the block rate (ml.p5e, June 2026)."""


def search_offerings(world: World, call: Call) -> dict[str, Any]:
    """SearchTrainingPlanOfferings: at most three, continuous ones first, none when none fits.

    Raises:
        AwsError: a parameter is not valid, or the reserved-capacity quota is too small.
    """
    params = call.params
    unit, count = _asked_unit(params)
    target = _asked_target(params)
    _check_search(world, call, unit, count)
    hours = -(-params.get("DurationHours", 0) // 24) * 24
    if not 24 <= hours <= LONGEST_HOURS:
        raise AwsError("ValidationException", "DurationHours must be between 1 and 4368.")
    now = world.now()
    earliest: datetime = params.get("StartTimeAfter") or now
    if earliest < now - times.CLOCK_TOLERANCE:
        raise AwsError("ValidationException", "StartTimeAfter must be in the future.")
    latest_end: datetime | None = params.get("EndTimeBefore")
    wish = Wish(
        region=call.region,
        unit=unit,
        count=count,
        length=timedelta(hours=hours),
        earliest=earliest,
        latest_end=latest_end,
        local_zones=unit in ULTRASERVER_MEMBERS,
    )
    parts = [[run] for run in _continuous(runs(world, wish))]
    split = _two_parts(world, wish)
    if split:
        parts.append(split)
    offers = [_offer(world, call, target, wish, one) for one in parts[:MOST_OFFERS]]
    return {"TrainingPlanOfferings": [describe_offer(one) for one in offers]}


def _asked_unit(params: dict[str, Any]) -> tuple[str, int]:
    ml_type = params.get("UltraServerType") or params.get("InstanceType") or ""
    if not ml_type.startswith("ml."):
        raise AwsError("ValidationException", f"Invalid instance type {ml_type}")
    ultraserver = "UltraServerType" in params
    count = params.get("UltraServerCount" if ultraserver else "InstanceCount", 1)
    if not ultraserver and count not in COUNTS:
        raise AwsError(
            "ValidationException", f"Invalid instance count {count} for instance type {ml_type}"
        )
    return ml_type.removeprefix("ml."), count


def _asked_target(params: dict[str, Any]) -> str:
    targets = params.get("TargetResources") or ["training-job"]
    if len(targets) != 1 or targets[0] not in TARGETS:
        raise AwsError("ValidationException", "TargetResources must hold one target resource.")
    target: str = targets[0]
    return target


def _check_search(world: World, call: Call, unit: str, count: int) -> None:
    kind = world.catalog.kinds.get(unit)
    if kind is None or not kind.training_plans or not is_sold(world, call.region, unit):
        raise AwsError("ValidationException", f"Invalid instance type ml.{unit}")
    check_capacity_quota(world, call, f"ml.{unit}", count)


def check_capacity_quota(world: World, call: Call, ml_type: str, count: int) -> None:
    """Passes a count within the reserved-capacity quota; search itself is refused beyond it."""
    place = world.place(call.account, call.region)
    held = sum(
        plan.offer.count
        for plan in place.plans.values()
        if plan.offer.ml_instance_type == ml_type and plan.status not in {"Failed", "Expired"}
    )
    name = reserved_capacity_name(ml_type)
    quota = limit(world, call.account, call.region, "sagemaker", name)
    if held + count > quota:
        raise AwsError(
            "ResourceLimitExceeded",
            f"The account-level service limit 'reserved-capacity {ml_type} instance quota' is "
            f"{quota:g}. The instance quota is not sufficient for {count} more.",
        )


def _continuous(found: list[Run]) -> list[Run]:
    """The first ragged run that is long enough, and the first two that begin at 11:30."""
    ordered = sorted(found, key=lambda one: (one.start, one.end))
    ragged = [one for one in ordered if one.start.time() != times.BOUNDARY]
    regular: dict[datetime, Run] = {}
    for run in ordered:
        if run.start.time() == times.BOUNDARY:
            regular.setdefault(run.start, run)
    longest = max((one.end for one in ragged), default=None)
    first = next((one for one in ragged if one.end == longest), None)
    return [*([first] if first else []), *list(regular.values())][: MOST_OFFERS - 1]


def _two_parts(world: World, wish: Wish) -> list[Run] | None:
    """Two parts with a day or more between them, in one zone; nothing when none can be had."""
    days = wish.length // times.DAY
    if days < 2:
        return None
    second_length = timedelta(days=days // 2)
    first_wish = replace(wish, length=wish.length - second_length)
    first = next((one for one in runs(world, first_wish) if _lasts(one, first_wish)), None)
    if first is None:
        return None
    second_wish = replace(wish, length=second_length, earliest=first.end + times.DAY)
    for second in runs(world, second_wish):
        if second.zone == first.zone and _lasts(second, second_wish):
            return [first, second]
    return None


def _lasts(run: Run, wish: Wish) -> bool:
    return run.end - run.start == wish.length


def _offer(world: World, call: Call, target: str, wish: Wish, parts: list[Run]) -> PlanOffer:
    """The offer with these parts: the one already shown, or a new one with its own id."""
    place = world.place(call.account, call.region)
    ml_type, count = f"ml.{wish.unit}", wish.count
    shape = [(one.zone.id, one.start, one.end) for one in parts]
    serial = 0
    while True:
        keys = ("plan", place.account, place.region, target, ml_type, count, serial, *shape)
        offering_id = f"tpo-{world.digest(*keys)}"
        known = place.plan_offers.get(offering_id)
        if known is None:
            break
        if not known.sold:
            return known
        serial += 1
    offer = PlanOffer(
        id=offering_id,
        target=target,
        ml_instance_type=ml_type,
        count=count,
        segments=tuple(PlanSegment(one.zone, one.start, one.end) for one in parts),
        rate=(parts[0].rate * PLAN_OVER_BLOCK).quantize(Decimal("0.0001")),
        asked_start=call.params.get("StartTimeAfter"),
        asked_end=call.params.get("EndTimeBefore"),
    )
    place.plan_offers[offer.id] = offer
    return offer


def create_plan(world: World, call: Call) -> dict[str, Any]:
    """CreateTrainingPlan: the plan is Pending until it is paid.

    Raises:
        AwsError: the name is taken, the offering is gone, or a quota is reached.
    """
    params, place = call.params, world.place(call.account, call.region)
    name = checked_name(params, "TrainingPlanName")
    if name in place.plans:
        raise AwsError("ResourceInUse", f"Training plan {name} already exists.")
    offering_id = params.get("TrainingPlanOfferingId", "")
    offer = place.plan_offers.get(offering_id)
    now = world.now()
    if offer is None or offer.sold or offer.segments[0].start - times.PAYMENT_BEFORE_START <= now:
        raise AwsError("ResourceNotFound", f"Training plan offering {offering_id} is not found.")
    total = limit(world, call.account, call.region, "sagemaker", PLAN_TOTAL_CODE)
    alive = [one for one in place.plans.values() if one.status not in {"Failed", "Expired"}]
    if len(alive) + 1 > total:
        raise AwsError(
            "ResourceLimitExceeded",
            f"The account-level service limit 'training-plan-total_count' is {total:g}.",
        )
    check_capacity_quota(world, call, offer.ml_instance_type, offer.count)
    offer.sold = world.supply.offering_sells_once
    plan = Plan(
        name=name,
        arn=arn(call, "training-plan", name),
        offer=offer,
        segments=list(offer.segments),
        capacity_ids=tuple(
            arn(call, "reserved-capacity", world.new_id("rc")[3:]) for _ in offer.segments
        ),
        fee=offer.fee,
        status="Pending",
        status_message="",
        created=now,
        tags=tags_of(params),
        part_status=["Pending" for _ in offer.segments],
    )
    place.plans[name] = plan
    _settle_payment(world, plan)
    return {"TrainingPlanArn": plan.arn}


def _settle_payment(world: World, plan: Plan) -> None:
    due = plan.created + world.payment_delay(plan.arn)
    deadline = plan.start - times.PAYMENT_BEFORE_START
    fails = world.failing_payments > 0
    if fails:
        world.failing_payments -= 1

    def settle(_moment: datetime) -> None:
        if plan.status != "Pending":
            return
        if fails or due > deadline:
            fail_plan(plan)
            return
        plan.status = "Scheduled"
        plan.part_status = ["Scheduled" for _ in plan.segments]
        for index in range(len(plan.segments)):
            _deliver(world, plan, index)

    world.at(min(due, deadline), settle)


def fail_plan(plan: Plan) -> None:
    """Ends a plan whose payment did not come through."""
    plan.status = "Failed"
    plan.status_message = "The upfront payment could not be processed."
    plan.part_status = ["Failed" for _ in plan.segments]


def _deliver(world: World, plan: Plan, index: int) -> None:
    """Lets a part begin some minutes after its start, and end in time."""

    def begin(_moment: datetime) -> None:
        if plan.part_status[index] == "Scheduled":
            plan.part_status[index] = "Active"
            plan.status = "Active"

    delay = timedelta(seconds=world.supply.activation_seconds)
    world.at(plan.segments[index].start + delay, begin)
    end_part_later(world, plan, index)


def end_part_later(world: World, plan: Plan, index: int) -> None:
    """Lets a part end at its present end: the plan waits for the next part, or is over."""
    expected = plan.segments[index].end

    def end(_moment: datetime) -> None:
        if plan.segments[index].end != expected or plan.part_status[index] == "Failed":
            return
        plan.part_status[index] = "Expired"
        last = all(one == "Expired" for one in plan.part_status)
        plan.status = "Expired" if last else "Scheduled"

    world.at(expected, end)
