"""What AWS's plain refusals mean for people: sorted, with the limit and the next step named.

Codes: botocore ec2 2016-11-15 and sagemaker 2017-07-24; EC2 API Reference, "Error codes";
SageMaker API Reference, CreateTrainingPlan.
"""

from enum import StrEnum
from fnmatch import fnmatchcase

from bot.domain.errors import RefusedError
from bot.domain.market import Market, Quota
from bot.domain.records import Leg

QUOTA_CODES = frozenset(
    {
        "ResourceLimitExceeded",
        "VcpuLimitExceeded",
        "InstanceLimitExceeded",
        "MaxSpotInstanceCountExceeded",
        "CapacityBlockDescribeLimitExceeded",
        "ReservationLimitExceeded",
        "LimitExceededException",
        "ServiceQuotaExceededException",
    }
)
CAPACITY_CODES = frozenset(
    {
        "InsufficientInstanceCapacity",
        "InsufficientCapacity",
        "InsufficientHostCapacity",
        "InsufficientCapacityException",
        "InsufficientReservedInstanceCapacity",
        "ReservationCapacityExceeded",
        "UnfulfillableCapacity",
        "SpotMaxPriceTooLow",
        "Unsupported",
    }
)
PERMISSION_CODES = frozenset(
    {
        "AccessDenied",
        "AccessDeniedException",
        "AuthFailure",
        "Blocked",
        "ExpiredToken",
        "ExpiredTokenException",
        "IncompleteSignature",
        "InvalidClientTokenId",
        "MissingAuthenticationToken",
        "NoCredentials",
        "NotAuthorized",
        "OptInRequired",
        "OptInRequiredException",
        "PendingVerification",
        "RequestExpired",
        "SignatureDoesNotMatch",
        "UnauthorizedOperation",
        "UnrecognizedClientException",
    }
)


class Refusal(StrEnum):
    """Who can do something about a refusal."""

    QUOTA = "quota"
    CAPACITY = "capacity"
    PERMISSION = "permission"
    OFFER = "offer"


def sort_of(code: str) -> Refusal:
    """Return what kind of refusal a code is; the rest speak of the offer itself."""
    if code in QUOTA_CODES:
        return Refusal.QUOTA
    if code in CAPACITY_CODES:
        return Refusal.CAPACITY
    if code in PERMISSION_CODES:
        return Refusal.PERMISSION
    return Refusal.OFFER


def advice(error: RefusedError, leg: Leg, market: Market | None) -> str:
    """Return what happened and what to do next, naming the limit when it is known."""
    said = f"AWS said {error.code}: {error.detail}".rstrip(".")
    match sort_of(error.code):
        case Refusal.QUOTA:
            return (
                f"Blocked: quota. {said}. {_limit_words(leg, market)} Ask for a higher limit in"
                " Service Quotas, then search again: the same request can be tried again."
            )
        case Refusal.PERMISSION:
            return (
                f"Blocked: permission. {said}. An administrator must let the bot buy in account"
                f" {leg.account}; then search again."
            )
        case Refusal.CAPACITY:
            return (
                f"{said}. There is no capacity of {leg.instance_type} in"
                f" {leg.zone or leg.region} just now; a fresh search shows what there is."
            )
        case Refusal.OFFER:
            return f"{said}. A fresh search shows what AWS sells now."


def _limit_words(leg: Leg, market: Market | None) -> str:
    quota = next((row for row in market.quotas if _covers(row, leg)), None) if market else None
    if quota is None:
        return f"The limit is that of {leg.instance_type} in {leg.account}, {leg.region}."
    code = f" ({quota.code})" if quota.code else ""
    held = "unknown" if quota.limit is None else f"{quota.limit} {quota.unit}"
    return f"The limit is “{quota.name}”{code} in {leg.account}, {leg.region}: {held}."


def _covers(quota: Quota, leg: Leg) -> bool:
    return (
        (quota.account, quota.region) == (leg.account, leg.region)
        and leg.kind in quota.kinds
        and any(fnmatchcase(leg.instance_type, pattern) for pattern in quota.types)
    )
