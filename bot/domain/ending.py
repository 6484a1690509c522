"""When reserved machines stop being useful: AWS ends them before the reservation ends.

EC2 User Guide, "Capacity Blocks for ML": instances are terminated from 30 minutes before the
end, UltraServers from 60. SageMaker Developer Guide, "Training plans": 30 minutes for training
jobs and Studio, 60 for HyperPod; for endpoints no figure is published and 30 is assumed.
"""

from datetime import datetime, timedelta

from bot.domain.market import Kind, Segment
from bot.domain.request import Target

HALF_HOUR = timedelta(minutes=30)
HOUR = timedelta(minutes=60)
NOTHING = timedelta(0)


def tail(kind: Kind, *, instance_type: str, ultraserver: bool, target: str | None) -> timedelta:
    """Return how long before a segment's end its machines are lost."""
    if kind is Kind.CAPACITY_BLOCK:
        return HOUR if ultraserver or instance_type.startswith("u-") else HALF_HOUR
    if kind is Kind.TRAINING_PLAN:
        large = ultraserver or "u-" in instance_type
        return HOUR if large or target == Target.HYPERPOD else HALF_HOUR
    return NOTHING


def usable(segment: Segment, lost: timedelta) -> tuple[datetime, datetime]:
    """Return the useful part of a segment, half-open; empty segments end where they start."""
    return segment.start, max(segment.start, segment.end - lost)
