"""How many machines are promised at once."""

from collections.abc import Iterable
from datetime import datetime


def most_at_once(
    holds: Iterable[tuple[datetime, datetime, int]], *, start: datetime, end: datetime
) -> int:
    """Return the highest sum of counts at one moment of [start, end); holds are half-open."""
    steps: list[tuple[datetime, int]] = []
    for begins, ends, count in holds:
        if begins < end and start < ends:
            steps += [(begins, count), (ends, -count)]
    most = now = 0
    # At one instant the gives come before the takes: an end does not overlap a start.
    for _, change in sorted(steps):
        now += change
        most = max(most, now)
    return most
