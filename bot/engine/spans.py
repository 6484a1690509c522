"""Which lengths to search for, from when and until when, so that an answer can serve a request.

Blocks are sold by the day up to 14 days, then by the week up to 182, and end at 11:30 UTC (EC2
User Guide, Capacity Blocks); plans by the day (SageMaker Developer Guide, training plans).
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from bot.domain.market import Offering
from bot.domain.request import Request

HORIZON = timedelta(days=56)
"""How far ahead both products are sold (EC2 and SageMaker guides: 8 weeks)."""
BROWSE_HOURS = Decimal(24)
"""Asked for when a request names no duration (looking at the market)."""

_DAY = timedelta(days=1)
_END_OF_BLOCK = timedelta(hours=11, minutes=30)
_LONGEST_DAYS = 182
_DAILY_UP_TO = 14
_SHORT_LIMIT = timedelta(hours=12)
_PATIENCE = timedelta(days=7)
_ASAP = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Span:
    """A length on sale, and between which moments it must lie."""

    hours: int
    start_after: datetime
    end_before: datetime


@dataclass(frozen=True, slots=True)
class Need:
    """The request's times: what is needed, from when, and the last moment it may begin."""

    full: timedelta
    least: timedelta
    lost: timedelta
    earliest: datetime
    last_begin: datetime
    near_end: datetime

    def covered_by(self, offering: Offering) -> bool:
        """Return whether enough hours are left from the first possible beginning."""
        begin = max(offering.segments[0].start, self.earliest)
        left = sum(
            (max(timedelta(0), part.end - max(part.start, begin)) for part in offering.segments),
            timedelta(0),
        )
        lost = self.lost * (len(offering.segments) - 1)
        return begin <= self.last_begin and left - lost >= self.least


def need_of(request: Request, *, now: datetime, lost: timedelta) -> Need | None:
    """Return the request's times as a search needs them, or None when it can begin no more.

    `lost` is what AWS takes back before the end of each segment.
    """
    hours = request.duration_hours or BROWSE_HOURS
    asked = timedelta(seconds=int(hours * 3600))
    start, end = request.earliest_start, request.latest_end
    from_to = start is not None and end is not None and start + asked >= end
    if hours % 24 == 0 and not request.strict and not from_to:
        full = asked
        least = max(asked * 9 / 10, asked - _SHORT_LIMIT)
    else:
        full = least = asked + lost
    earliest = max(start or now, now)
    limits = [now + HORIZON]
    if request.latest_start is not None:
        limits.append(request.latest_start)
    if end is not None:
        limits.append(end - asked)
    last_begin = min(limits)
    if last_begin < earliest:
        return None
    near = earliest + _PATIENCE if start is not None and start > now else now + _ASAP
    return Need(
        full=full, least=least, lost=lost, earliest=earliest, last_begin=last_begin, near_end=near
    )


def spans_of(need: Need, *, now: datetime, plans: bool) -> tuple[list[Span], list[Span]]:
    """Return the spans to ask for first, and those with an earlier start, to ask for later.

    Blocks start at 11:30 UTC, or within the hour when bought at once; all end at 11:30 UTC.
    """
    at_or_after: list[Span] = []
    if _next_end(need.earliest) <= need.last_begin or need.earliest == now:
        hours = _hours(need.full, plans=plans)
        if hours is not None:
            start = _shared_start(need.earliest) if need.earliest == now else need.earliest
            end = _next_end(need.last_begin + timedelta(hours=hours))
            at_or_after.append(Span(hours, start, end))
            exact_only = plans and hours > _DAILY_UP_TO * 24 and hours % (7 * 24)
            weekly = _hours(need.full, plans=False) if exact_only else None
            if weekly is not None:
                end = _next_end(need.last_begin + timedelta(hours=weekly))
                return at_or_after, [Span(weekly, start, end)]
    before: list[Span] = []
    start = max(_next_end(need.earliest) - _DAY, _shared_start(now))
    if _next_end(need.earliest) != need.earliest and need.earliest != now:
        for length in dict.fromkeys((need.least, need.full)):
            stop = _next_end(need.earliest + length)
            hours = _hours(stop - start, plans=plans)
            if hours is not None:
                # One that is bought at once starts off the hour and is a little shorter than asked.
                ragged = timedelta(0) if _next_end(start) == start else _DAY
                end = _next_end(start + timedelta(hours=hours) - ragged)
                before.append(Span(hours, start, end))
    before = list(dict.fromkeys(before))
    return (at_or_after, before[-1:]) if at_or_after else (before, [])


def near_days(span: Span, need: Need) -> Span | None:
    """Return the span cut to the days that need no waiting, or None when it has no others."""
    if need.last_begin <= need.near_end:
        return None
    end = _next_end(need.near_end + timedelta(hours=span.hours))
    return Span(span.hours, span.start_after, end)


def _shared_start(moment: datetime) -> datetime:
    """Return the moment cut to five minutes, so that people who ask at once ask the same."""
    return moment.replace(minute=moment.minute - moment.minute % 5, second=0, microsecond=0)


def _hours(length: timedelta, *, plans: bool) -> int | None:
    """Return the shortest length on sale that is no shorter, or None beyond 182 days.

    Blocks: each day up to 14, then whole weeks. Plans: each day (SageMaker guide).
    """
    days = -(-length // _DAY)
    if days > _DAILY_UP_TO and not plans:
        days = -(-days // 7) * 7
    return max(days, 1) * 24 if days <= _LONGEST_DAYS else None


def _next_end(moment: datetime) -> datetime:
    """Return the first 11:30 UTC at or after the moment."""
    midnight = moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    today = midnight + _END_OF_BLOCK
    return today if today >= moment else today + _DAY
