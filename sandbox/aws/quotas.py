"""Service Quotas: which limits there are, what they are set to, and how much is used.

EC2 quota codes: EC2 instance-type guide, "Instance quotas" (2026); SageMaker names: SageMaker
Developer Guide, "Training plan quotas". Codes that no public page gives are drawn from the name.
"""

import hashlib
from dataclasses import dataclass
from functools import cache
from typing import Any

from sandbox.aws.catalog import ULTRASERVER_MEMBERS, load_catalog
from sandbox.aws.errors import AwsError
from sandbox.aws.paging import page, with_token
from sandbox.aws.world import Call, World

BLOCK_CODES = {
    "p4d": ("P4d", "L-2C8F52B3", "L-B67430DE"),
    "p5": ("P5", "L-DA6814F2", "L-8131B2C6"),
    "p5e": ("P5e", "L-C45F30BC", "L-AD1D1866"),
    "p5en": ("P5en", "L-4F9BB70B", "L-7EA86503"),
    "trn1": ("Trn1", "L-2E30FD7D", "L-C4947F9A"),
    "trn2": ("Trn2", "L-64569A79", "L-24E8B4C0"),
}
FAMILY_CODES = {
    "p": ("P", "L-417A185B", "L-7212CCBC", 768),
    "g": ("G and VT", "L-DB2E81BA", "L-3819A6DF", 768),
    "trn": ("Trn", "L-2C3B7624", "L-6B0D517C", 512),
    "inf": ("Inf", "L-1945791B", "L-B5D1601B", 384),
    "dl": ("DL", "L-6E869C2A", "L-85EED4F7", 96),
}
P5_SPOT_CODE = "L-C4BD4855"
"""P5 has a spot quota of its own beside that of all P types (Service Quotas console, 2025)."""

UNLIMITED = 1_000_000
BLOCK_VCPUS = 64 * 192.0
"""Room for the largest block of the largest instances; AWS's own default is 0."""

PLAN_TOTAL_CODE = "L-867702E6"
KNOWN_CODES = {
    "Number of training plans per Region": PLAN_TOTAL_CODE,
    "Number of ml.p5.48xlarge instances in reserved capacity across training plans per Region": (
        "L-9EF527CA"
    ),
    "ml.p5.48xlarge for cluster usage": "L-8762A75F",
}


@dataclass(frozen=True, slots=True)
class Quota:
    """One limit; `applied` is nothing where only the default is known."""

    service: str
    code: str
    name: str
    default: float
    applied: float | None
    counts_vcpus: bool = False


@cache
def all_quotas() -> tuple[Quota, ...]:
    """Every limit, before a scenario changes it."""
    found = []
    for family, own, organization in BLOCK_CODES.values():
        each = f"Running {family} Capacity Block vCPUs per"
        found.append(Quota("ec2", own, f"{each} account", 0.0, BLOCK_VCPUS))
        found.append(Quota("ec2", organization, f"{each} organization", 0.0, None))
    for label, on_demand, spot, limit in FAMILY_CODES.values():
        name = f"Running On-Demand {label} instances"
        found.append(Quota("ec2", on_demand, name, 0.0, float(limit), counts_vcpus=True))
        found.append(Quota("ec2", spot, f"All {label} Spot Instance Requests", 0.0, float(limit)))
    found.append(Quota("ec2", P5_SPOT_CODE, "All P5 Spot Instance Requests", 0.0, 768.0))
    found.append(
        Quota("sagemaker", PLAN_TOTAL_CODE, "Number of training plans per Region", 25.0, 25.0)
    )
    for kind in load_catalog().kinds.values():
        if not kind.ml_instance_type:
            continue
        names = [
            f"{kind.ml_instance_type} for {use} usage"
            for use in ("endpoint", "cluster", "training job")
        ]
        if kind.training_plans:
            names.append(reserved_capacity_name(kind.ml_instance_type))
        found += [Quota("sagemaker", _sagemaker_code(name), name, 0.0, 64.0) for name in names]
    return tuple(found)


def _sagemaker_code(name: str) -> str:
    drawn = hashlib.sha256(name.encode()).hexdigest()[:8].upper()
    return KNOWN_CODES.get(name, f"L-{drawn}")


def reserved_capacity_name(ml_instance_type: str) -> str:
    """The name of the quota that training plans of this type count against."""
    kind = "UltraServers" if ml_instance_type.startswith("ml.u-") else "instances"
    return (
        f"Number of {ml_instance_type} {kind} in reserved capacity across training plans per Region"
    )


def applied(world: World, account: str, region: str, quota: Quota) -> float | None:
    """The limit in force; nothing where AWS knows only the default."""
    value = quota.applied
    for setting in world.supply.quotas:
        if (
            setting.service == quota.service
            and setting.quota in {quota.code, quota.name}
            and setting.account in {None, account}
            and setting.region in {None, region}
        ):
            value = setting.value
    return value


def limit(world: World, account: str, region: str, service: str, key: str) -> float:
    """The limit in force of a quota, by code or name; endless for one that does not exist."""
    for quota in all_quotas():
        if quota.service == service and key in {quota.code, quota.name}:
            value = applied(world, account, region, quota)
            return quota.default if value is None else value
    return float("inf")


def block_code(unit: str) -> str | None:
    """The quota code that blocks of this type count against; P4de and P6 have none on record."""
    member = ULTRASERVER_MEMBERS[unit][0] if unit in ULTRASERVER_MEMBERS else unit
    row = BLOCK_CODES.get(member.split(".", maxsplit=1)[0])
    return row[1] if row else None


def block_quota(world: World, account: str, region: str, unit: str) -> float:
    """The vCPUs that an account's blocks of this family may have."""
    code = block_code(unit)
    return limit(world, account, region, "ec2", code) if code else float("inf")


def family_codes(instance_type: str, *, spot: bool) -> tuple[str, ...]:
    """The vCPU quota codes that machines of this type count against."""
    for prefix, (_, on_demand, spot_code, _) in (
        (key, FAMILY_CODES[key]) for key in ("trn", "inf", "dl", "p", "g")
    ):
        if instance_type.startswith(prefix):
            if not spot:
                return (on_demand,)
            return (spot_code, P5_SPOT_CODE) if instance_type.startswith("p5") else (spot_code,)
    return ()


def vcpus(world: World, instance_type: str) -> int:
    """The vCPUs of one instance; 0 for a type that is not in the catalog."""
    kind = world.catalog.kinds.get(instance_type)
    return kind.vcpus if kind else 0


def vcpus_in_use(world: World, account: str, region: str, code: str) -> int:
    """How many vCPUs count against an on-demand or spot quota: machines and unused reservations."""
    place = world.place(account, region)
    total = 0
    for instance in place.instances.values():
        spot = instance.market == "spot"
        inside = instance.reservation_id is not None
        if (
            instance.occupies
            and not inside
            and code in family_codes(instance.instance_type, spot=spot)
        ):
            total += vcpus(world, instance.instance_type)
    for reservation in place.reservations.values():
        if reservation.is_block or not reservation.holds_capacity:
            continue
        if code in family_codes(reservation.instance_type, spot=False):
            total += vcpus(world, reservation.instance_type) * reservation.count
    return total


def instances_left(
    world: World, account: str, region: str, instance_type: str, *, spot: bool
) -> int:
    """How many more machines of a type the vCPU quotas allow; plenty where there is no quota."""
    each = vcpus(world, instance_type)
    room = [
        limit(world, account, region, "ec2", code) - vcpus_in_use(world, account, region, code)
        for code in family_codes(instance_type, spot=spot)
    ]
    return min((int(left // each) for left in room if each), default=UNLIMITED)


def list_quotas(world: World, call: Call) -> dict[str, Any]:
    """ListServiceQuotas: the limits that have a value of their own."""
    service = _service(call)
    code = call.params.get("QuotaCode")
    rows = [
        _describe(call, quota, value)
        for quota in all_quotas()
        if quota.service == service
        and code in {None, quota.code}
        and (value := applied(world, call.account, call.region, quota)) is not None
    ]
    found, token = page(rows, call.params, default=100, most=100)
    return with_token({"Quotas": found}, token)


def list_defaults(_world: World, call: Call) -> dict[str, Any]:
    """ListAWSDefaultServiceQuotas."""
    service = _service(call)
    rows = [
        _describe(call, quota, quota.default) for quota in all_quotas() if quota.service == service
    ]
    found, token = page(rows, call.params, default=100, most=100)
    return with_token({"Quotas": found}, token)


def get_quota(world: World, call: Call) -> dict[str, Any]:
    """GetServiceQuota.

    Raises:
        AwsError: the quota does not exist, or only its default is known.
    """
    quota = _find(call)
    value = applied(world, call.account, call.region, quota)
    if value is None:
        raise _missing()
    return {"Quota": _describe(call, quota, value)}


def get_default(_world: World, call: Call) -> dict[str, Any]:
    """GetAWSDefaultServiceQuota."""
    quota = _find(call)
    return {"Quota": _describe(call, quota, quota.default)}


def _service(call: Call) -> str:
    service: str = call.params.get("ServiceCode", "")
    if service not in {"ec2", "sagemaker"}:
        raise _missing()
    return service


def _find(call: Call) -> Quota:
    service, code = _service(call), call.params.get("QuotaCode")
    for quota in all_quotas():
        if (quota.service, quota.code) == (service, code):
            return quota
    raise _missing()


def _missing() -> AwsError:
    return AwsError("NoSuchResourceException", "The request failed because it did not exist.")


def _describe(call: Call, quota: Quota, value: float) -> dict[str, Any]:
    where = f"{call.region}:{call.account}"
    row: dict[str, Any] = {
        "ServiceCode": quota.service,
        "ServiceName": (
            "Amazon Elastic Compute Cloud (Amazon EC2)"
            if quota.service == "ec2"
            else "Amazon SageMaker"
        ),
        "QuotaArn": f"arn:aws:servicequotas:{where}:{quota.service}/{quota.code}",
        "QuotaCode": quota.code,
        "QuotaName": quota.name,
        "Value": value,
        "Unit": "None",
        "Adjustable": True,
        "GlobalQuota": False,
    }
    if quota.counts_vcpus:
        row["UsageMetric"] = {
            "MetricNamespace": "AWS/Usage",
            "MetricName": "ResourceCount",
            "MetricDimensions": {
                "Class": "Standard/OnDemand",
                "Resource": "vCPU",
                "Service": "EC2",
                "Type": "Resource",
            },
            "MetricStatisticRecommendation": "Maximum",
        }
    return row
