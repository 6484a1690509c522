"""How long a window is, what of it is left from the begin, and when its use would end."""

from datetime import datetime, timedelta
from fractions import Fraction
from typing import NamedTuple

from bot.domain.ending import tail
from bot.engine.candidates import Candidate, Window, begin_of
from bot.engine.terms import Terms
from bot.engine.words import MICROSECOND

_NOTHING = timedelta()


class Stay(NamedTuple):
    """One window measured for one request.

    `reserved` and `usable` sum the whole window, `reserved_left` and `usable_left` what
    remains from `begin`. `share` is the part of the reserved hours in which the machines will
    really run. `use_end` is when the asked hours are used up, never past
    `usable_end`, the last useful minute.
    """

    window: Window
    start: datetime
    begin: datetime
    reserved: timedelta
    usable: timedelta
    reserved_left: timedelta
    usable_left: timedelta
    usable_end: datetime
    use_end: datetime
    share: Fraction


def lost_at_end(candidate: Candidate, terms: Terms) -> timedelta:
    """Return what AWS takes back before the end of each segment."""
    return tail(
        candidate.origin,
        instance_type=candidate.instance_type,
        ultraserver=candidate.ultraserver,
        target=terms.target,
    )


class Windows:
    """The windows of one market, measured for one request; rows share few, so each is once."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._measured: dict[tuple[timedelta, Window], Stay | None] = {}

    def of(self, candidate: Candidate) -> Stay | None:
        """Return the row's measured window, or None when it has no segment."""
        key = (lost_at_end(candidate, self._terms), candidate.window)
        if key not in self._measured:
            self._measured[key] = measure(candidate.window, self._terms, lost=key[0])
        return self._measured[key]


def measure(window: Window, terms: Terms, *, lost: timedelta) -> Stay | None:
    """Return the measured window, or None when it has no segment; each loses its end."""
    if not window:
        return None
    start = window[0][0]
    begin = begin_of(start, terms)
    reserved = usable = reserved_left = usable_left = _NOTHING
    use_end = None
    for opens, closes in window:
        last = closes - lost
        reserved += closes - opens
        usable += max(last - opens, _NOTHING)
        left_from = max(opens, begin)
        reserved_left += max(closes - left_from, _NOTHING)
        useful = max(last - left_from, _NOTHING)
        if use_end is None and useful and usable_left + useful >= terms.asked:
            use_end = left_from + (terms.asked - usable_left)
        usable_left += useful
    usable_end = window[-1][1] - lost
    return Stay(
        window=window,
        start=start,
        begin=begin,
        reserved=reserved,
        usable=usable,
        reserved_left=reserved_left,
        usable_left=usable_left,
        usable_end=usable_end,
        use_end=usable_end if use_end is None else use_end,
        share=_share(reserved, terms),
    )


def _share(reserved: timedelta, terms: Terms) -> Fraction:
    """Return the asked hours times the stated use over the reserved hours, 0 without any."""
    if reserved <= _NOTHING:
        return Fraction(0)
    running, of = terms.utilization.numerator, terms.utilization.denominator
    return Fraction(terms.asked // MICROSECOND * running, reserved // MICROSECOND * of)


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
