"""How long a window is, what of it is left from the begin, and when its use would end."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.ending import tail
from bot.engine.candidates import Candidate, begin_of
from bot.engine.terms import Terms

_NOTHING = timedelta()


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


def lost_at_end(candidate: Candidate, terms: Terms) -> timedelta:
    """Return what AWS takes back before the end of each segment."""
    return tail(
        candidate.origin,
        instance_type=candidate.instance_type,
        ultraserver=candidate.ultraserver,
        target=terms.target,
    )


def measure(candidate: Candidate, terms: Terms) -> Stay | None:
    """Return the measured window, or None when the row has no segment."""
    segments = candidate.segments
    if not segments:
        return None
    lost = lost_at_end(candidate, terms)
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
