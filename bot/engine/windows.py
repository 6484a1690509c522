"""How long a window is, what of it is left from the begin, and when its use would end.

Tails: "EC2 User Guide, Capacity Blocks" (instances are terminated 30 minutes before the end,
UltraServers 60) and "SageMaker AI Developer Guide, training plans" (30 minutes before the end
for training jobs, 60 for HyperPod and UltraServers; endpoints are assumed to lose 30).
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.market import Kind
from bot.domain.request import Target
from bot.engine.candidates import Candidate, begin_of
from bot.engine.terms import Terms

_NOTHING = timedelta()
_HALF_HOUR = timedelta(minutes=30)
_HOUR = timedelta(minutes=60)


@dataclass(frozen=True, slots=True)
class Stay:
    """One window measured for one request.

    `reserved` and `usable` sum the whole window, `reserved_left` and `usable_left` what
    remains from `begin`. `use_end` is when the asked hours are used up, never past
    `usable_end`, the last useful minute.
    """

    start: datetime
    begin: datetime
    reserved: timedelta
    usable: timedelta
    reserved_left: timedelta
    usable_left: timedelta
    usable_end: datetime
    use_end: datetime


def tail(candidate: Candidate, target: Target) -> timedelta:
    """Return what AWS takes back before the end of each segment."""
    match candidate.origin:
        case Kind.CAPACITY_BLOCK:
            return _HOUR if candidate.ultraserver else _HALF_HOUR
        case Kind.TRAINING_PLAN:
            if candidate.ultraserver or target is Target.HYPERPOD:
                return _HOUR
            return _HALF_HOUR
        case _:
            return _NOTHING


def measure(candidate: Candidate, terms: Terms) -> Stay | None:
    """Return the measured window, or None when the row has no segment."""
    segments = candidate.segments
    if not segments:
        return None
    lost = tail(candidate, terms.target)
    start = segments[0].start
    begin = begin_of(start, terms)
    reserved = usable = reserved_left = usable_left = _NOTHING
    use_end = None
    for segment in segments:
        opens, closes = segment.start, segment.end
        last = closes - lost
        reserved += closes - opens
        usable += max(last - opens, _NOTHING)
        left_from = max(opens, begin)
        reserved_left += max(closes - left_from, _NOTHING)
        useful = max(last - left_from, _NOTHING)
        if use_end is None and useful and usable_left + useful >= terms.asked:
            use_end = left_from + (terms.asked - usable_left)
        usable_left += useful
    usable_end = segments[-1].end - lost
    return Stay(
        start=start,
        begin=begin,
        reserved=reserved,
        usable=usable,
        reserved_left=reserved_left,
        usable_left=usable_left,
        usable_end=usable_end,
        use_end=usable_end if use_end is None else use_end,
    )


def whole_is_enough(stay: Stay, terms: Terms) -> bool:
    """Return whether the window as a whole is long enough."""
    return (stay.reserved if terms.by_reserved_hours else stay.usable) >= terms.needed


def rest_is_enough(stay: Stay, terms: Terms) -> bool:
    """Return whether enough of the window remains from its begin."""
    left = stay.reserved_left if terms.by_reserved_hours else stay.usable_left
    return left > _NOTHING and left >= terms.needed


def is_shorter(stay: Stay, terms: Terms) -> bool:
    """Return whether less than the asked hours is left, measured as the request is."""
    return (stay.reserved_left if terms.by_reserved_hours else stay.usable_left) < terms.asked
