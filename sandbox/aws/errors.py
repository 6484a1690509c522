"""Errors as AWS names them, with the HTTP status each travels with."""

STATUS_OF = {
    "DryRunOperation": 412,
    "UnauthorizedOperation": 403,
    "AuthFailure": 401,
    "InternalError": 500,
    "InternalFailure": 500,
    "InsufficientInstanceCapacity": 500,
    "InsufficientCapacity": 500,
    "InsufficientReservedInstanceCapacity": 500,
    "ServerInternal": 500,
    "Unavailable": 503,
    "ServiceUnavailable": 503,
    "RequestLimitExceeded": 503,
    "CapacityBlockDescribeLimitExceeded": 400,
}
"""Codes that are not a plain 400 (EC2 API Reference, "Error codes", server errors)."""


class AwsError(Exception):
    """An answer that refuses: a code, a message and an HTTP status."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.status = STATUS_OF.get(code, 400)


def throttled(service: str, operation: str) -> AwsError:
    """The refusal that this service gives when its rate limit is reached.

    Capacity Block searches have a code of their own, which no SDK retries
    (EC2 API Reference, "Error codes"; EC2 Developer Guide, "Request throttling").
    """
    if service == "ec2":
        if operation in {
            "DescribeCapacityBlockOfferings",
            "DescribeCapacityBlockExtensionOfferings",
        }:
            return AwsError(
                "CapacityBlockDescribeLimitExceeded",
                "You've reached the limit for this account.",
            )
        return AwsError("RequestLimitExceeded", "Request limit exceeded.")
    if service == "service-quotas":
        return AwsError("TooManyRequestsException", "Rate exceeded")
    if service == "sts":
        return AwsError("Throttling", "Rate exceeded")
    return AwsError("ThrottlingException", "Rate exceeded")
