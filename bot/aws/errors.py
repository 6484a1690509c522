"""AWS error codes, sorted by what they say about our money.

Doubt counts as spent: only a code in one of the named sets means that nothing was bought. A
timeout, a broken connection, any other code and an answer that can't be read are doubt.
Codes: EC2 API Reference, "Error codes for the Amazon EC2 API"; SageMaker API Reference,
CreateTrainingPlan, ExtendTrainingPlan and "Common Errors".
"""

from typing import Final

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    CredentialRetrievalError,
    EndpointConnectionError,
    NoCredentialsError,
    NoRegionError,
    ParamValidationError,
    PartialCredentialsError,
)

from bot.domain.errors import IndeterminateError, MarketError, PurchaseError, RefusedError

THROTTLES: Final = frozenset(
    {
        "RequestLimitExceeded",  # EC2, "Request throttling": rejected before any work is done
        "Client.RequestLimitExceeded",
        "EC2ThrottledException",
        "Throttling",  # common errors of the Query and JSON protocols
        "ThrottlingException",
        "ThrottledException",
        "RequestThrottled",
        "RequestThrottledException",
        "TooManyRequestsException",
        "BandwidthLimitExceeded",
        "SlowDown",
        "CapacityBlockDescribeLimitExceeded",  # EC2 errors: call rate, or a quota of zero
        "MaxConfigLimitExceeded",  # EC2 GetSpotPlacementScores: new configurations in 24 hours
    }
)

QUOTA: Final = frozenset(
    {
        "InstanceLimitExceeded",  # EC2 client errors: more instances than allowed
        "VcpuLimitExceeded",  # EC2 client errors
        "MaxSpotInstanceCountExceeded",  # EC2 client errors
        "ReservationCapacityExceeded",  # EC2 client errors
        "ResourceLimitExceeded",  # SageMaker CreateTrainingPlan: "a resource limit was exceeded"
        "ServiceQuotaExceededException",
        "LimitExceededException",
    }
)

AUTH: Final = frozenset(
    {
        "UnauthorizedOperation",  # EC2 client errors, all of these: stopped before any work
        "AuthFailure",
        "AccessDenied",
        "AccessDeniedException",
        "Blocked",
        "ExpiredToken",
        "ExpiredTokenException",
        "IncompleteSignature",
        "InvalidClientTokenId",
        "MissingAuthenticationToken",
        "NotAuthorized",
        "OptInRequired",
        "PendingVerification",
        "RequestExpired",
        "SignatureDoesNotMatch",
        "UnrecognizedClientException",
    }
)

REFUSALS: Final = frozenset(
    {
        # EC2 client errors: the block is "no longer available", unknown or misspelt.
        "InvalidCapacityBlockOfferingIdExpired",
        "InvalidCapacityBlockOfferingIdNotFound",
        "InvalidCapacityBlockOfferingIdMalformed",
        # EC2 client errors about what is to be extended or launched into.
        "InvalidCapacityReservationId.NotFound",
        "InvalidCapacityReservationId.Malformed",
        "InvalidCapacityReservationState",
        # EC2 client errors: the request itself is wrong, "do not retry".
        "InvalidParameter",
        "InvalidParameterCombination",
        "InvalidParameterValue",
        "InvalidParameterDependency",
        "InvalidRequest",
        "InvalidInput",
        "InvalidAction",
        "InvalidAMIID.NotFound",
        "InvalidAMIID.Unavailable",
        "InvalidAvailabilityZone",
        "InvalidInstanceType",
        "InvalidLaunchTemplateId.NotFound",
        "InvalidLaunchTemplateId.Malformed",
        "InvalidLaunchTemplateId.VersionNotFound",
        "InvalidSubnetID.NotFound",
        "InvalidSubnet.NotFound",
        "InvalidGroup.NotFound",
        "InvalidKeyPair.NotFound",
        "InvalidTagKey.Malformed",
        "TagLimitExceeded",
        "MalformedQueryString",
        "MissingAction",
        "MissingParameter",
        "UnknownParameter",
        "UnsupportedOperation",
        "Unsupported",
        "UnsupportedInstanceAttribute",
        "SpotMaxPriceTooLow",
        # EC2 server errors, all three: no capacity now; nothing was launched or reserved.
        "InsufficientInstanceCapacity",
        "InsufficientReservedInstanceCapacity",
        "UnfulfillableCapacity",
        # SageMaker: CreateTrainingPlan and ExtendTrainingPlan, and its common errors.
        "ResourceNotFound",
        "ValidationException",
        "ValidationError",
        "UnknownOperationException",
        "InvalidParameterException",
        "OptInRequiredException",
        # RAM CreateResourceShare and AssociateResourceShare: nothing was shared.
        "InvalidStateTransitionException",
        "MalformedArnException",
        "OperationNotPermittedException",
        "ResourceShareLimitExceededException",
        "TagLimitExceededException",
        "TagPolicyViolationException",
        "UnknownResourceException",
    }
)
"""Codes that mean that nothing was bought. `ResourceInUse` is not here: a plan of our own name
may be our own, bought by a call whose answer was lost. Nor are the codes about a client token
that was used before."""

NOTHING_BOUGHT: Final = REFUSALS | THROTTLES | QUOTA | AUTH

NOT_SENT: Final = (
    ConnectTimeoutError,
    CredentialRetrievalError,
    EndpointConnectionError,
    NoCredentialsError,
    NoRegionError,
    ParamValidationError,
    PartialCredentialsError,
)
"""botocore raises these before the first byte of the request leaves."""

_NO_CREDENTIALS: Final = (NoCredentialsError, PartialCredentialsError, CredentialRetrievalError)
_UNREACHABLE_CODES: Final = frozenset(
    {"InternalError", "InternalFailure", "ServiceUnavailable", "Unavailable", "ServerInternal"}
)
_NOT_SOLD_CODES: Final = frozenset(
    {"InvalidParameterValue", "InvalidParameter", "Unsupported", "UnsupportedOperation"}
)
_NOT_SOLD_HERE: Final = ("not supported", "not available in", "not offered")


def code_of(error: BaseException) -> str:
    """Return AWS's own code, or the exception's name where there was no answer."""
    if isinstance(error, ClientError):
        return str(error.response.get("Error", {}).get("Code", "Unknown"))
    return type(error).__name__


def message_of(error: BaseException) -> str:
    """Return AWS's own message."""
    if isinstance(error, ClientError):
        return str(error.response.get("Error", {}).get("Message", ""))
    return str(error)


def market_error(error: BaseException) -> MarketError:
    """Return what a failed read says, in the contract's words for `not_read`."""
    code = code_of(error)
    said = isinstance(error, ClientError)
    if code in THROTTLES:
        why, detail = "throttled", code
    elif code in QUOTA:
        why, detail = "quota", f"{code}: {message_of(error)}"
    elif code in AUTH or isinstance(error, _NO_CREDENTIALS):
        why, detail = "refused", code
    elif code in _UNREACHABLE_CODES or (not said and isinstance(error, (BotoCoreError, OSError))):
        why, detail = "unreachable", code
    else:
        why, detail = "unknown", f"{code}: {message_of(error)}"
    return MarketError(why, detail)


def purchase_error(error: BaseException, *, after_doubt: bool) -> PurchaseError:
    """Return a refusal only for a code that says so, to a first try; else doubt.

    `after_doubt`: an earlier try of the same purchase may have bought it, so that "not found"
    or "no longer available" can be the trace of our own success.
    """
    code, message = code_of(error), message_of(error)
    if after_doubt:
        return IndeterminateError(code, message)
    if isinstance(error, ClientError):
        return (RefusedError if code in NOTHING_BOUGHT else IndeterminateError)(code, message)
    if isinstance(error, NOT_SENT):
        return RefusedError("NotSent", f"the request did not leave: {code}: {message}")
    return IndeterminateError(code, message)


def not_sold_here(error: MarketError) -> bool:
    """Return whether AWS says that this market has no such product, which is an answer.

    EC2 answers an unsupported type with InvalidParameterValue ("… is not supported …"),
    SageMaker with ValidationException ("Invalid instance type") or UnknownOperationException
    ("not supported in the called region"); texts seen in public tools, so matched loosely.
    """
    code, _, text = error.detail.partition(": ")
    lower = text.lower()
    if code in _NOT_SOLD_CODES:
        return any(words in lower for words in _NOT_SOLD_HERE)
    if code == "UnknownOperationException":
        return "not supported" in lower
    return code == "ValidationException" and (
        "invalid instance type" in lower
        or "invalid instance count" in lower
        or "target resource" in lower
        or ("constraint" in lower and "instancetype" in lower)
    )
