"""Who may call what: the place where policies are enforced, before anything is done.

A role with policies in the supply may do what they allow and nothing else; everybody else may
do everything. Actions, resources and dependent actions: Service Authorization Reference, "Amazon
EC2" and "Amazon SageMaker"; evaluation: IAM User Guide, "Policy evaluation logic".
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from moto.ec2.models import ec2_backends
from moto.iam.models import iam_backends

from sandbox.aws.errors import AwsError
from sandbox.aws.world import Call, World

PREFIXES = {"service-quotas": "servicequotas"}
"""The prefix of a service's actions, where it is not the service's own name."""

FREE = {("sts", "GetCallerIdentity"), ("sts", "AssumeRole")}
"""No permission is needed, or it is the other side's trust policy that gives it."""

LAUNCH_PARTS = ("image", "subnet", "security-group", "network-interface", "volume")
RESERVING = {"PurchaseCapacityBlock", "CreateCapacityReservation"}
BY_ID = {
    "PurchaseCapacityBlockExtension": ("capacity-reservation", "CapacityReservationId"),
    "DescribeCapacityBlockExtensionOfferings": ("capacity-reservation", "CapacityReservationId"),
    "CancelCapacityReservation": ("capacity-reservation", "CapacityReservationId"),
    "ModifyCapacityReservation": ("capacity-reservation", "CapacityReservationId"),
    "TerminateInstances": ("instance", "InstanceIds"),
    "DeleteVolume": ("volume", "VolumeId"),
    "DeleteFleets": ("fleet", "FleetIds"),
    "CancelSpotInstanceRequests": ("spot-instances-request", "SpotInstanceRequestIds"),
}
"""EC2 operations on things that exist: their resource type, and the parameter that names them."""

NAMED = {
    "DescribeTrainingPlan": (("training-plan", "TrainingPlanName"),),
    "CreateTrainingPlan": (("training-plan", "TrainingPlanName"),),
    "CreateEndpointConfig": (("endpoint-config", "EndpointConfigName"),),
    "CreateEndpoint": (("endpoint", "EndpointName"), ("endpoint-config", "EndpointConfigName")),
    "DescribeEndpoint": (("endpoint", "EndpointName"),),
    "DescribeEndpointConfig": (("endpoint-config", "EndpointConfigName"),),
    "DeleteEndpoint": (("endpoint", "EndpointName"),),
    "DeleteEndpointConfig": (("endpoint-config", "EndpointConfigName"),),
}
"""SageMaker operations with resource types, and the parameters that name them."""

Context = Mapping[str, Sequence[str]]
Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Need:
    """One right that a call needs: an action on a resource, in the context of the call."""

    action: str
    resource: str = "*"
    context: Context = field(default_factory=dict)


def role_of(access_key: str) -> str | None:
    """The ARN of the role whose temporary credentials these are, or nothing."""
    for partitions in list(iam_backends.values()):
        for backend in list(partitions.values()):
            key = backend.access_keys.get(access_key)
            if key is not None:
                arn: str | None = getattr(key, "role_arn", None)
                return arn
    return None


def check_permission(world: World, call: Call) -> None:
    """Passes a permitted call.

    Raises:
        AwsError: the call is denied; EC2 and the others word it differently.
    """
    for denial in world.supply.denied:
        if (
            denial.operation == call.operation
            and denial.account in {None, call.account}
            and denial.region in {None, call.region}
        ):
            raise _refusal(call)
    documents = [policy.document for policy in world.supply.policies if policy.role == call.role]
    if not documents:
        return
    for need in needs_of(world, call):
        if not allowed(documents, need):
            raise _refusal(call)


def _refusal(call: Call) -> AwsError:
    code = "UnauthorizedOperation" if call.service == "ec2" else "AccessDeniedException"
    return AwsError(code, "You are not authorized to perform this operation.")


# --- policies ---------------------------------------------------------------------------------


def allowed(documents: Iterable[Document], need: Need) -> bool:
    """Whether some statement allows the need and none denies it."""
    effects = {
        statement["Effect"]
        for document in documents
        for statement in document["Statement"]
        if _covers(statement, need)
    }
    return effects == {"Allow"}


def _covers(statement: Mapping[str, Any], need: Need) -> bool:
    unknown = set(statement) - {"Sid", "Effect", "Action", "Resource", "Condition"}
    if unknown:
        message = f"the simulated AWS does not evaluate {', '.join(sorted(unknown))}"
        raise ValueError(message)
    return (
        any(_like(need.action.lower(), one.lower()) for one in _many(statement["Action"]))
        and any(_like(need.resource, one) for one in _many(statement["Resource"]))
        and all(
            _holds(operator, key, _many(wanted), need.context)
            for operator, tests in statement.get("Condition", {}).items()
            for key, wanted in tests.items()
        )
    )


def _holds(operator: str, key: str, wanted: list[str], context: Context) -> bool:
    """Whether one condition holds; a key that the call does not have matches nothing."""
    values = context.get(key)
    quantity, _, plain = operator.rpartition(":")
    test = {
        "StringEquals": lambda value: value in wanted,
        "StringLike": lambda value: any(_like(value, one) for one in wanted),
        "Bool": lambda value: value in wanted,
    }.get(plain)
    if test is None or quantity not in {"", "ForAllValues", "ForAnyValue"}:
        message = f"the simulated AWS does not evaluate {operator}"
        raise ValueError(message)
    if quantity == "ForAllValues":
        return all(test(value) for value in values or ())
    return any(test(value) for value in values or ())


def _like(value: str, pattern: str) -> bool:
    return fnmatchcase(value, pattern.replace("[", "[[]"))


def _many(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


# --- what a call needs --------------------------------------------------------------------------


def needs_of(world: World, call: Call) -> list[Need]:
    """Every right that AWS checks for a call, dependent actions included."""
    if (call.service, call.operation) in FREE:
        return []
    if call.service == "ram":
        return list(_ram_needs(world, call))
    if call.service == "ec2":
        return list(_ec2_needs(world, call))
    if call.service == "sagemaker":
        return list(_sagemaker_needs(world, call))
    if call.service == "sqs":
        name = str(call.params.get("QueueUrl", "")).rpartition("/")[2]
        return [Need(_action(call), _arn(call, name), _where(call))]
    return [Need(_action(call), context=_where(call))]


def _action(call: Call) -> str:
    return f"{PREFIXES.get(call.service, call.service)}:{call.operation}"


def _where(call: Call) -> dict[str, list[str]]:
    return {"aws:RequestedRegion": [call.region], f"{call.service}:Region": [call.region]}


def _arn(call: Call, resource: str) -> str:
    return f"arn:aws:{call.service}:{call.region}:{call.account}:{resource}"


def _asked(tags: Iterable[Mapping[str, str]]) -> dict[str, list[str]]:
    pairs = {tag["Key"]: tag.get("Value", "") for tag in tags}
    context = {f"aws:RequestTag/{key}": [value] for key, value in pairs.items()}
    return {**context, "aws:TagKeys": list(pairs)} if pairs else {}


def _carried(tags: Mapping[str, str]) -> dict[str, list[str]]:
    return {f"aws:ResourceTag/{key}": [value] for key, value in tags.items()}


def _ec2_needs(world: World, call: Call) -> Iterator[Need]:
    action, where, params = _action(call), _where(call), call.params
    new = {
        spec["ResourceType"]: _asked(spec.get("Tags", ()))
        for spec in params.get("TagSpecifications", ())
    }
    if call.operation in RESERVING:
        context = where | new.get("capacity-reservation", {})
        yield Need(action, _arn(call, "capacity-reservation/*"), context)
    elif call.operation == "RunInstances":
        for part in ("instance", *LAUNCH_PARTS):
            yield Need(action, _arn(call, f"{part}/*"), where | new.get(part, {}))
        template = params.get("LaunchTemplate", {}).get("LaunchTemplateId")
        if template:
            yield Need(action, _arn(call, f"launch-template/{template}"), where)
    elif call.operation in BY_ID:
        part, name = BY_ID[call.operation]
        for one in _many(params.get(name, [])):
            yield Need(action, _arn(call, f"{part}/{one}"), where | _ec2_tags(world, call, one))
    elif call.operation == "CreateTags":
        for one in params.get("Resources", ()):
            part = "instance" if one.startswith("i-") else "capacity-reservation"
            context = where | _asked(params.get("Tags", ())) | _ec2_tags(world, call, one)
            yield Need(action, _arn(call, f"{part}/{one}"), context)
    else:
        yield Need(action, context=where)
    for part, asked in new.items():
        context = where | asked | {"ec2:CreateAction": [call.operation]}
        yield Need("ec2:CreateTags", _arn(call, f"{part}/*"), context)


def _ec2_tags(world: World, call: Call, name: str) -> dict[str, list[str]]:
    place = world.place(call.account, call.region)
    own = place.reservations.get(name) or place.instances.get(name)
    if own is not None:
        return _carried(own.tags)
    return _carried(dict(ec2_backends[call.account][call.region].tags.get(name, {})))


def _ram_needs(world: World, call: Call) -> Iterator[Need]:
    """What RAM checks (Service Authorization Reference, "AWS Resource Access Manager")."""
    action, where, params = _action(call), _where(call), call.params
    about = {
        "ram:RequestedResourceType": ["ec2:CapacityReservation"] * bool(params.get("resourceArns")),
        "ram:ResourceArn": params.get("resourceArns") or [],
        "ram:Principal": params.get("principals") or [],
    }
    if call.operation == "CreateResourceShare":
        tags = [
            {"Key": tag["key"], "Value": tag.get("value", "")} for tag in params.get("tags", ())
        ]
        external = str(params.get("allowExternalPrincipals", True)).lower()
        asked = where | about | _asked(tags) | {"ram:RequestedAllowsExternalPrincipals": [external]}
        yield Need(action, context=asked)
        if tags:
            yield Need("ram:TagResource", _arn(call, "resource-share/*"), where | _asked(tags))
    elif call.operation.startswith("Get"):
        yield Need(action, context=where)
    else:
        arn = params.get("resourceShareArn", "")
        share = world.place(call.account, call.region).shares.get(arn)
        carried = _carried(share.tags) if share is not None else {}
        yield Need(action, arn, where | about | carried)


def _sagemaker_needs(world: World, call: Call) -> Iterator[Need]:
    action, where, params = _action(call), _where(call), call.params
    asked = _asked(params.get("Tags", ()))
    if call.operation == "AddTags":
        arn = params.get("ResourceArn", "")
        yield Need(action, arn, where | asked | _sagemaker_tags(world, call, arn))
        return
    arns = [_arn(call, f"{part}/{params.get(name, '')}") for part, name in _named(call)]
    for arn in arns:
        yield Need(action, arn, where | asked | _sagemaker_tags(world, call, arn))
    if not arns:
        yield Need(action, context=where)
    made = arns[:1]
    if call.operation == "CreateTrainingPlan":
        reserved = _arn(call, "reserved-capacity/*")
        yield Need("sagemaker:CreateReservedCapacity", reserved, where | asked)
        made = [*made, reserved]
    if asked:
        context = where | asked | {"sagemaker:TaggingAction": [call.operation]}
        yield from (Need("sagemaker:AddTags", arn, context) for arn in made)


def _named(call: Call) -> tuple[tuple[str, str], ...]:
    return NAMED.get(call.operation, ())


def _sagemaker_tags(world: World, call: Call, arn: str) -> dict[str, list[str]]:
    place = world.place(call.account, call.region)
    plans = {plan.arn: plan.tags for plan in place.plans.values()}
    endpoints = {endpoint.arn: endpoint.tags for endpoint in place.endpoints.values()}
    known = plans | endpoints
    if arn in known:
        return _carried(known[arn])
    kind, _, name = arn.rpartition(":")[2].partition("/")
    config = place.endpoint_configs.get(name) if kind == "endpoint-config" else None
    return _carried({tag["Key"]: tag["Value"] for tag in (config or {}).get("Tags", ())})
