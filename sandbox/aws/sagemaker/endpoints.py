"""Inference endpoints: models, configurations, and endpoints that take minutes to come up."""

from datetime import datetime, timedelta
from typing import Any

from sandbox.aws.errors import AwsError
from sandbox.aws.paging import page, with_token
from sandbox.aws.pools import on_demand_left
from sandbox.aws.quotas import limit
from sandbox.aws.records import Endpoint, Place, Plan
from sandbox.aws.sagemaker.names import arn, checked_name, tags_of
from sandbox.aws.sagemaker.planbooks import find_plan
from sandbox.aws.sagemaker.planviews import in_use, total_instances, used_by
from sandbox.aws.world import Call, World
from sandbox.aws.zones import zones_of

DELETION = timedelta(minutes=2)
ALIVE = {"Creating", "InService", "Updating"}


def create_model(world: World, call: Call) -> dict[str, Any]:
    """CreateModel."""
    place = world.place(call.account, call.region)
    name = checked_name(call.params, "ModelName")
    if name in place.models:
        raise AwsError("ValidationException", f"Cannot create already existing model {name}")
    place.models[name] = {**call.params, "CreationTime": world.now()}
    return {"ModelArn": arn(call, "model", name)}


def describe_model(world: World, call: Call) -> dict[str, Any]:
    """DescribeModel."""
    place = world.place(call.account, call.region)
    name = call.params.get("ModelName", "")
    model = place.models.get(name)
    if model is None:
        raise AwsError("ValidationException", f"Could not find model {name}.")
    kept = ("ModelName", "PrimaryContainer", "ExecutionRoleArn", "CreationTime")
    return {
        **{key: model[key] for key in kept if key in model},
        "ModelArn": arn(call, "model", name),
    }


def delete_model(world: World, call: Call) -> dict[str, Any]:
    """DeleteModel."""
    place = world.place(call.account, call.region)
    if place.models.pop(call.params.get("ModelName", ""), None) is None:
        raise AwsError("ValidationException", "Could not find model.")
    return {}


def list_models(world: World, call: Call) -> dict[str, Any]:
    """ListModels."""
    place = world.place(call.account, call.region)
    part = call.params.get("NameContains", "")
    rows = [
        {
            "ModelName": name,
            "ModelArn": arn(call, "model", name),
            "CreationTime": model["CreationTime"],
        }
        for name, model in place.models.items()
        if part in name
    ]
    found, token = page(rows, call.params, default=100, most=100)
    return with_token({"Models": found}, token)


def create_config(world: World, call: Call) -> dict[str, Any]:
    """CreateEndpointConfig; a plan that a variant names must be Active by now.

    Raises:
        AwsError: the name is taken, a model is missing, or the plan does not fit.
    """
    params, place = call.params, world.place(call.account, call.region)
    name = checked_name(params, "EndpointConfigName")
    if name in place.endpoint_configs:
        raise AwsError(
            "ValidationException", f"Cannot create already existing endpoint configuration {name}"
        )
    variants = params.get("ProductionVariants") or []
    if not variants:
        raise AwsError("ValidationException", "ProductionVariants must hold a variant.")
    plan_arns = set()
    for variant in variants:
        model = variant.get("ModelName")
        if model not in place.models:
            raise AwsError("ValidationException", f"Could not find model {model}.")
        plan_arn = _plan_arn(variant)
        if plan_arn:
            plan_arns.add(plan_arn)
            _check_plan(place, variant, plan_arn)
    if len(plan_arns) > 1:
        raise AwsError("ValidationException", "An endpoint can use one training plan.")
    place.endpoint_configs[name] = {**params, "CreationTime": world.now()}
    return {"EndpointConfigArn": arn(call, "endpoint-config", name)}


def _plan_arn(variant: dict[str, Any]) -> str | None:
    config = variant.get("CapacityReservationConfig") or {}
    found: str | None = config.get("MlReservationArn")
    return found


def _check_plan(place: Place, variant: dict[str, Any], plan_arn: str) -> None:
    try:
        plan = find_plan(place, plan_arn)
    except AwsError as error:
        raise AwsError("ValidationException", f"Could not find {plan_arn}.") from error
    if plan.status != "Active" or plan.offer.target != "endpoint":
        raise AwsError(
            "ValidationException",
            f"Training plan {plan.name} is not an active plan with target resource endpoint.",
        )
    if variant.get("InstanceType") != plan.offer.ml_instance_type:
        raise AwsError(
            "ValidationException", f"The plan reserves {plan.offer.ml_instance_type} instances."
        )
    asked, total = variant.get("InitialInstanceCount", 1), total_instances(plan)
    if asked > total:
        raise AwsError(
            "ValidationException",
            f"Requested instance count ({asked}) exceeds reserved capacity ({total}) "
            "for training plan.",
        )


def describe_config(world: World, call: Call) -> dict[str, Any]:
    """DescribeEndpointConfig."""
    place = world.place(call.account, call.region)
    config = _config(place, call.params.get("EndpointConfigName", ""))
    name = config["EndpointConfigName"]
    return {
        "EndpointConfigName": name,
        "EndpointConfigArn": arn(call, "endpoint-config", name),
        "ProductionVariants": config["ProductionVariants"],
        "CreationTime": config["CreationTime"],
    }


def _config(place: Place, name: str) -> dict[str, Any]:
    if name not in place.endpoint_configs:
        raise AwsError("ValidationException", f'Could not find endpoint configuration "{name}".')
    return place.endpoint_configs[name]


def delete_config(world: World, call: Call) -> dict[str, Any]:
    """DeleteEndpointConfig; one in use can be deleted."""
    place = world.place(call.account, call.region)
    config = _config(place, call.params.get("EndpointConfigName", ""))
    del place.endpoint_configs[config["EndpointConfigName"]]
    return {}


def list_configs(world: World, call: Call) -> dict[str, Any]:
    """ListEndpointConfigs."""
    place = world.place(call.account, call.region)
    rows = [
        {
            "EndpointConfigName": name,
            "EndpointConfigArn": arn(call, "endpoint-config", name),
            "CreationTime": config["CreationTime"],
        }
        for name, config in place.endpoint_configs.items()
        if call.params.get("NameContains", "") in name
    ]
    found, token = page(rows, call.params, default=100, most=100)
    return with_token({"EndpointConfigs": found}, token)


def create_endpoint(world: World, call: Call) -> dict[str, Any]:
    """CreateEndpoint: Creating for some minutes, then InService or Failed.

    Raises:
        AwsError: the name is taken, the configuration is missing, or a quota is reached.
    """
    params, place = call.params, world.place(call.account, call.region)
    name = checked_name(params, "EndpointName")
    if name in place.endpoints:
        raise AwsError("ValidationException", f"Cannot create already existing endpoint {name}")
    config = _config(place, params.get("EndpointConfigName", ""))
    for variant in config["ProductionVariants"]:
        _check_quota(world, call, place, variant)
    now = world.now()
    endpoint = Endpoint(
        name=name,
        arn=arn(call, "endpoint", name),
        config_name=config["EndpointConfigName"],
        status="Creating",
        created=now,
        changed=now,
        tags=tags_of(params),
    )
    failure = _shortage(world, call, place, config)
    place.endpoints[name] = endpoint

    def come_up(moment: datetime) -> None:
        if endpoint.status == "Creating":
            endpoint.status = "Failed" if failure else "InService"
            endpoint.failure = failure
            endpoint.changed = moment

    world.at(now + timedelta(seconds=world.supply.endpoint_seconds), come_up)
    return {"EndpointArn": endpoint.arn}


def _check_quota(world: World, call: Call, place: Place, variant: dict[str, Any]) -> None:
    ml_type, asked = variant.get("InstanceType", ""), variant.get("InitialInstanceCount", 1)
    running = sum(
        other.get("InitialInstanceCount", 1)
        for endpoint in place.endpoints.values()
        if endpoint.status in ALIVE
        for other in place.endpoint_configs.get(endpoint.config_name, {}).get(
            "ProductionVariants", []
        )
        if other.get("InstanceType") == ml_type
    )
    quota = limit(world, call.account, call.region, "sagemaker", f"{ml_type} for endpoint usage")
    if running + asked > quota:
        raise AwsError(
            "ResourceLimitExceeded",
            f"The account-level service limit '{ml_type} for endpoint usage' is {quota:g}.",
        )


def _shortage(world: World, call: Call, place: Place, config: dict[str, Any]) -> str:
    """Why the endpoint will not come up; empty when it will."""
    for variant in config["ProductionVariants"]:
        ml_type, asked = variant.get("InstanceType", ""), variant.get("InitialInstanceCount", 1)
        plan_arn = _plan_arn(variant)
        if plan_arn:
            plan = find_plan(place, plan_arn)
            left = total_instances(plan) - in_use(place, plan) if plan.status == "Active" else 0
        else:
            unit = ml_type.removeprefix("ml.")
            zones = [zone for zone in zones_of(call.region) if not zone.is_local]
            left = max((on_demand_left(world, call.region, one, unit) for one in zones), default=0)
            if unit not in world.catalog.kinds:
                left = asked
        if left < asked:
            return (
                f"Unable to provision requested ML compute capacity due to "
                f"InsufficientInstanceCapacity error ({ml_type})."
            )
    return ""


def _endpoint(place: Place, name: str) -> Endpoint:
    if name not in place.endpoints:
        raise AwsError("ValidationException", f'Could not find endpoint "{name}".')
    return place.endpoints[name]


def describe_endpoint(world: World, call: Call) -> dict[str, Any]:
    """DescribeEndpoint, with what each variant holds of its training plan."""
    place = world.place(call.account, call.region)
    endpoint = _endpoint(place, call.params.get("EndpointName", ""))
    config = place.endpoint_configs.get(endpoint.config_name) or {}
    row: dict[str, Any] = {
        **_summary(endpoint),
        "EndpointConfigName": endpoint.config_name,
        "ProductionVariants": [
            _variant(place, endpoint, variant) for variant in config.get("ProductionVariants", [])
        ],
    }
    if endpoint.failure:
        row["FailureReason"] = endpoint.failure
    return row


def _summary(endpoint: Endpoint) -> dict[str, Any]:
    return {
        "EndpointName": endpoint.name,
        "EndpointArn": endpoint.arn,
        "EndpointStatus": endpoint.status,
        "CreationTime": endpoint.created,
        "LastModifiedTime": endpoint.changed,
    }


def _variant(place: Place, endpoint: Endpoint, variant: dict[str, Any]) -> dict[str, Any]:
    wanted = variant.get("InitialInstanceCount", 1)
    row: dict[str, Any] = {
        "VariantName": variant["VariantName"],
        "CurrentWeight": variant.get("InitialVariantWeight", 1.0),
        "DesiredWeight": variant.get("InitialVariantWeight", 1.0),
        "CurrentInstanceCount": wanted if endpoint.status == "InService" else 0,
        "DesiredInstanceCount": wanted,
    }
    plan_arn = _plan_arn(variant)
    if plan_arn:
        plan: Plan = find_plan(place, plan_arn)
        total, used = total_instances(plan), in_use(place, plan)
        row["CapacityReservationConfig"] = {
            "MlReservationArn": plan_arn,
            "CapacityReservationPreference": "capacity-reservations-only",
            "TotalInstanceCount": total,
            "AvailableInstanceCount": total - used if plan.status == "Active" else 0,
            "UsedByCurrentEndpoint": used_by(place, endpoint, plan_arn),
        }
    return row


def list_endpoints(world: World, call: Call) -> dict[str, Any]:
    """ListEndpoints, newest first."""
    params, place = call.params, world.place(call.account, call.region)
    rows = [
        _summary(endpoint)
        for endpoint in place.endpoints.values()
        if params.get("NameContains", "") in endpoint.name
        and params.get("StatusEquals") in {None, endpoint.status}
    ]
    rows.sort(key=lambda row: row["CreationTime"], reverse=params.get("SortOrder") != "Ascending")
    found, token = page(rows, params, default=100, most=100)
    return with_token({"Endpoints": found}, token)


def delete_endpoint(world: World, call: Call) -> dict[str, Any]:
    """DeleteEndpoint: Deleting for a while, then gone; a plan gets nothing back but room."""
    place = world.place(call.account, call.region)
    endpoint = _endpoint(place, call.params.get("EndpointName", ""))
    if endpoint.status == "Deleting":
        return {}
    endpoint.status = "Deleting"
    endpoint.changed = world.now()

    def vanish(_moment: datetime) -> None:
        place.endpoints.pop(endpoint.name, None)

    world.at(endpoint.changed + DELETION, vanish)
    return {}
