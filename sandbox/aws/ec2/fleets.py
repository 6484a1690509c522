"""CreateFleet of type `instant`: overrides tried in turn, shortfalls told as errors."""

import json
from typing import Any

from sandbox.aws.ec2.filters import tags_of
from sandbox.aws.ec2.instances import INSUFFICIENT, Order, start_instances
from sandbox.aws.ec2.launch import Launch, read_launch, with_template
from sandbox.aws.errors import AwsError
from sandbox.aws.records import Settled
from sandbox.aws.world import Call, World

CAPACITY_ERRORS = {
    "InvalidCapacityReservationState.PendingActivation",
    "ReservationCapacityExceeded",
    INSUFFICIENT,
}
"""EC2 Fleet tells of each of these as insufficient capacity (EC2 User Guide, EC2 Fleet)."""


def create_fleet(world: World, call: Call) -> dict[str, Any]:
    """CreateFleet: what could be launched, and why the rest could not.

    Raises:
        AwsError: the request is not valid, or its token was used for another.
    """
    params, place = call.params, world.place(call.account, call.region)
    if params.get("Type") != "instant":
        raise AwsError("InvalidParameterValue", "Only fleets of type instant are offered.")
    capacity = params.get("TargetCapacitySpecification") or {}
    wanted = capacity.get("TotalTargetCapacity", 0)
    market = capacity.get("DefaultTargetCapacityType", "on-demand")
    if wanted < 1:
        raise AwsError("InvalidParameterValue", "TotalTargetCapacity must be at least 1.")
    token = params.get("ClientToken")
    request = json.dumps(params, sort_keys=True, default=str)
    key = (call.operation, str(token))
    if token and key in place.tokens:
        if place.tokens[key].request != request:
            raise AwsError(
                "IdempotentParameterMismatch", "The client token was used with other parameters."
            )
        return place.tokens[key].answer
    answer = _launch_all(world, call, wanted, market)
    if token:
        place.tokens[key] = Settled(request=request, answer=answer)
    return answer


def _launch_all(world: World, call: Call, wanted: int, market: str) -> dict[str, Any]:
    tags = tags_of(call.params, "instance")
    launched, errors, left = [], [], wanted
    for config in call.params.get("LaunchTemplateConfigs") or []:
        template = config.get("LaunchTemplateSpecification") or {}
        for override in config.get("Overrides") or [{}]:
            if left == 0:
                break
            used = {
                "LaunchTemplateSpecification": template,
                "Overrides": {
                    name: override[name]
                    for name in ("InstanceType", "SubnetId", "AvailabilityZone")
                    if name in override
                },
            }
            try:
                launch = _launch(world, call, template, override, market)
                machines = start_instances(world, call, Order(launch, 1, left, tags, None))
            except AwsError as error:
                code = INSUFFICIENT if error.code in CAPACITY_ERRORS else error.code
                errors.append(
                    {
                        "LaunchTemplateAndOverrides": used,
                        "Lifecycle": market,
                        "ErrorCode": code,
                        "ErrorMessage": error.message,
                    }
                )
                continue
            left -= len(machines)
            launched.append(
                {
                    "LaunchTemplateAndOverrides": used,
                    "Lifecycle": market,
                    "InstanceIds": [one.id for one in machines],
                    "InstanceType": machines[0].instance_type,
                }
            )
    return {"FleetId": world.new_id("fleet"), "Errors": errors, "Instances": launched}


def _launch(
    world: World,
    call: Call,
    template: dict[str, Any],
    override: dict[str, Any],
    market: str,
) -> Launch:
    """The launch that a template and one override describe."""
    asked: dict[str, Any] = {
        key: override[key] for key in ("InstanceType", "SubnetId", "ImageId") if key in override
    }
    if "AvailabilityZone" in override:
        asked["Placement"] = {"AvailabilityZone": override["AvailabilityZone"]}
    asked["InstanceMarketOptions"] = {"MarketType": market}
    return read_launch(world, call, with_template(call, asked, template))
