"""Rate limits: token buckets per account, Region and operation, refilled by simulated time."""

from dataclasses import dataclass
from datetime import datetime

from sandbox.aws.errors import throttled
from sandbox.aws.world import Call

RATES: dict[str, tuple[int, float]] = {
    "DescribeCapacityBlockOfferings": (10, 0.15),
    "DescribeCapacityBlockExtensionOfferings": (10, 0.15),
    "PurchaseCapacityBlock": (10, 0.15),
    "PurchaseCapacityBlockExtension": (10, 0.15),
    "RunInstances": (5, 2),
    "TerminateInstances": (100, 5),
    "CreateTags": (100, 10),
}
"""Bucket size and refill a second (EC2 Developer Guide, "Request throttling for the EC2 API")."""

READS = (100, 20.0)
CHANGES = (50, 5.0)


@dataclass(slots=True)
class Bucket:
    """Tokens left at a time."""

    tokens: float
    at: datetime


class Buckets:
    """All buckets; only EC2 publishes its rates, so only EC2 calls are limited."""

    def __init__(self) -> None:
        self._buckets: dict[tuple[str, str, str], Bucket] = {}

    def take(self, call: Call) -> None:
        """Takes one token.

        Raises:
            AwsError: the bucket is empty.
        """
        if call.service != "ec2":
            return
        general = READS if call.operation.startswith(("Describe", "Get")) else CHANGES
        size, refill = RATES.get(call.operation, general)
        key = (call.account, call.region, call.operation)
        bucket = self._buckets.setdefault(key, Bucket(size, call.at))
        passed = max((call.at - bucket.at).total_seconds(), 0)
        bucket.tokens = min(size, bucket.tokens + passed * refill)
        bucket.at = call.at
        if bucket.tokens < 1:
            raise throttled(call.service, call.operation)
        bucket.tokens -= 1
