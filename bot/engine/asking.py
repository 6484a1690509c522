"""Which searches of prepaid capacity a request needs: the fewest that give the same best answer.

Coarse first: one search over the whole range of starts for each type at its own count. Finer
ones (an earlier start, the near days alone, other counts) are worth a call only after an answer
that leaves something open, so the caller asks again with what was `answered` until nothing is
left. AWS gives few tokens for these calls (EC2 Developer Guide, API throttling: 10, then 0.15/s).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import ROUND_CEILING, Decimal
from functools import partial

from bot.catalog import Catalog
from bot.domain.market import Offering
from bot.domain.request import Request, Target

HORIZON = timedelta(days=56)
"""How far ahead both products are sold (EC2 and SageMaker guides: 8 weeks)."""
MOST_CALLS = 10
"""Searches in one Region for one request: the burst of the token bucket."""
BROWSE_HOURS = Decimal(24)
"""Asked for when a request names no duration (looking at the market)."""

_DAY = timedelta(days=1)
_END_OF_BLOCK = timedelta(hours=11, minutes=30)
_LARGEST = 64
_LONGEST_DAYS = 182
_DAILY_UP_TO = 14
_SHORT_LIMIT = timedelta(hours=12)
_PATIENCE = timedelta(days=7)
_ASAP = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Wanted:
    """One type at the count that serves the request; an UltraServer counts whole ones."""

    instance_type: str
    count: int
    ultraserver: bool = False


@dataclass(frozen=True, slots=True)
class Search:
    """One call: capacity of `hours` that starts from `start_after` and ends by `end_before`."""

    instance_type: str
    count: int
    hours: int
    start_after: datetime
    end_before: datetime
    ultraserver: bool = False
    target: str | None = None


BlockSearch = Search
PlanSearch = Search
Answered = Mapping[Search, Sequence[Offering]]


def wanted_types(request: Request, *, catalog: Catalog) -> tuple[Wanted, ...]:
    """Return each type that could serve, at its own count (decision.md, "Types")."""
    if request.ultraserver_type:
        return (_ultraserver(request, request.ultraserver_type, catalog),)
    if request.instance_type:
        return (Wanted(request.instance_type, request.instance_count or 1),)
    if request.accelerator:
        number = request.accelerator_count or 1
        return tuple(
            Wanted(kind.name, _ceil(Decimal(number) / kind.accelerators))
            for kind in catalog.carrying(request.accelerator)
        )
    return ()


def block_searches(
    request: Request,
    *,
    now: datetime,
    catalog: Catalog,
    answered: Answered | None = None,
    default_target: Target = Target.EC2,
) -> tuple[Search, ...]:
    """Return the Capacity Block searches that are worth a call after what was answered."""
    if (request.target or default_target) is not Target.EC2:
        return ()
    wanted = [
        item
        for item in wanted_types(request, catalog=catalog)
        if item.instance_type not in catalog.types
        or catalog.types[item.instance_type].capacity_blocks
    ]
    return _searches(request, wanted, now=now, answered=answered or {}, target=None)


def plan_searches(
    request: Request,
    *,
    now: datetime,
    catalog: Catalog,
    answered: Answered | None = None,
    default_target: Target = Target.EC2,
) -> tuple[Search, ...]:
    """Return the training-plan searches that are worth a call, with `ml.` type names."""
    target = request.target or default_target
    if target is Target.EC2:
        return ()
    wanted = []
    for item in wanted_types(request, catalog=catalog):
        known = catalog.types.get(item.instance_type)
        if known is None:
            wanted.append(Wanted(f"ml.{item.instance_type}", item.count, item.ultraserver))
        elif known.training_plans and known.ml_name:
            wanted.append(Wanted(known.ml_name, item.count, item.ultraserver))
    return _searches(request, wanted, now=now, answered=answered or {}, target=target.value)


@dataclass(frozen=True, slots=True)
class _Span:
    hours: int
    start_after: datetime
    end_before: datetime


@dataclass(frozen=True, slots=True)
class _Need:
    """The request's times: what is needed, from when, and the last moment it may begin."""

    full: timedelta
    least: timedelta
    tail: timedelta
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
        tails = self.tail * (len(offering.segments) - 1)
        return begin <= self.last_begin and left - tails >= self.least


def _searches(
    request: Request,
    wanted: Sequence[Wanted],
    *,
    now: datetime,
    answered: Answered,
    target: str | None,
) -> tuple[Search, ...]:
    need = _need(request, now=now, hyperpod=target == Target.HYPERPOD.value)
    if need is None:
        return ()
    planned: list[Search] = []
    for item in wanted:
        planned += _next_of(request, item, need, now=now, answered=answered, target=target)
    left = max(0, MOST_CALLS - len(answered))
    return tuple(dict.fromkeys(search for search in planned if search not in answered))[:left]


def _next_of(
    request: Request,
    item: Wanted,
    need: _Need,
    *,
    now: datetime,
    answered: Answered,
    target: str | None,
) -> Iterator[Search]:
    """Yield this type's searches in order, up to the first that is not answered yet."""
    spans, earlier = _spans(need, now=now, plans=target is not None)
    count = _first_count(item.count, plans=target is not None)

    def ask(span: _Span, number: int) -> Search:
        return Search(
            instance_type=item.instance_type,
            count=number,
            hours=span.hours,
            start_after=span.start_after,
            end_before=span.end_before,
            ultraserver=item.ultraserver,
            target=target,
        )

    for stage in (spans, earlier):
        asked = [ask(span, count) for span in stage]
        yield from asked
        if any(search not in answered for search in asked):
            return
        offers = [offering for search in asked for offering in answered[search]]
        fitting = [offering for offering in offers if _fits(offering, request, item, need)]
        if fitting:
            near = _near(stage[0], need)
            if near is not None and all(o.segments[0].start > need.near_end for o in fitting):
                yield ask(near, count)
            return
    if spans:
        yield from _counts(request, item, partial(ask, spans[-1]), answered=answered, first=count)


def _counts(
    request: Request,
    item: Wanted,
    ask: Callable[[int], Search],
    *,
    answered: Answered,
    first: int,
) -> Iterator[Search]:
    """Yield searches with other counts while each answer leaves a better one possible."""
    target = ask(first).target
    for other in _other_counts(item.count, request, first=first, target=target):
        search = ask(other)
        yield search
        found = answered.get(search)
        if found is None or not _more_counts_pay(other, found, request, item, target=target):
            return


def _need(request: Request, *, now: datetime, hyperpod: bool) -> _Need | None:
    hours = request.duration_hours or BROWSE_HOURS
    asked = timedelta(seconds=int(hours * 3600))
    tail = timedelta(minutes=60 if hyperpod or request.ultraserver_type else 30)
    start, end = request.earliest_start, request.latest_end
    from_to = start is not None and end is not None and start + asked >= end
    if hours % 24 == 0 and not request.strict and not from_to:
        full = asked
        least = max(asked * 9 / 10, asked - _SHORT_LIMIT)
    else:
        full = least = asked + tail
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
    return _Need(
        full=full, least=least, tail=tail, earliest=earliest, last_begin=last_begin, near_end=near
    )


def _spans(need: _Need, *, now: datetime, plans: bool) -> tuple[list[_Span], list[_Span]]:
    """Return the spans to ask for first, and those with an earlier start, to ask for later.

    Blocks start at 11:30 UTC, or within the hour when bought at once; all end at 11:30 UTC.
    """
    at_or_after: list[_Span] = []
    if _next_end(need.earliest) <= need.last_begin or need.earliest == now:
        hours = _hours(need.full, plans=plans)
        if hours is not None:
            start = _shared_start(need.earliest) if need.earliest == now else need.earliest
            end = _next_end(need.last_begin + timedelta(hours=hours))
            at_or_after.append(_Span(hours, start, end))
            exact_only = plans and hours > _DAILY_UP_TO * 24 and hours % (7 * 24)
            weekly = _hours(need.full, plans=False) if exact_only else None
            if weekly is not None:
                end = _next_end(need.last_begin + timedelta(hours=weekly))
                return at_or_after, [_Span(weekly, start, end)]
    before: list[_Span] = []
    start = max(_next_end(need.earliest) - _DAY, _shared_start(now))
    if _next_end(need.earliest) != need.earliest and need.earliest != now:
        for length in dict.fromkeys((need.least, need.full)):
            stop = _next_end(need.earliest + length)
            hours = _hours(stop - start, plans=plans)
            if hours is not None:
                # One that is bought at once starts off the hour and is a little shorter than asked.
                ragged = timedelta(0) if _next_end(start) == start else _DAY
                end = _next_end(start + timedelta(hours=hours) - ragged)
                before.append(_Span(hours, start, end))
    before = list(dict.fromkeys(before))
    return (at_or_after, before[-1:]) if at_or_after else (before, [])


def _shared_start(moment: datetime) -> datetime:
    """Return the moment cut to five minutes, so that people who ask at once ask the same."""
    return moment.replace(minute=moment.minute - moment.minute % 5, second=0, microsecond=0)


def _near(span: _Span, need: _Need) -> _Span | None:
    if need.last_begin <= need.near_end:
        return None
    end = _next_end(need.near_end + timedelta(hours=span.hours))
    return _Span(span.hours, span.start_after, end)


def _fits(offering: Offering, request: Request, item: Wanted, need: _Need) -> bool:
    """Return whether the offering alone serves the request as far as a search can tell."""
    held = offering.ultraserver_count if item.ultraserver else offering.instance_count
    fee = offering.upfront_fee
    return (
        held == item.count
        and offering.opted_in
        and fee is not None
        and (request.max_total_usd is None or fee <= request.max_total_usd)
        and _under_hourly_cap(offering, request)
        and (len(offering.segments) == 1 or _may_be_split(request))
        and need.covered_by(offering)
    )


def _under_hourly_cap(offering: Offering, request: Request) -> bool:
    if request.max_hourly_usd is None or offering.upfront_fee is None:
        return True
    length = sum((part.end - part.start for part in offering.segments), timedelta(0))
    hours = Decimal(int(length.total_seconds())) / 3600
    return offering.upfront_fee <= request.max_hourly_usd * offering.instance_count * hours


def _may_be_split(request: Request) -> bool:
    if request.target in {Target.TRAINING_JOB, Target.HYPERPOD}:
        return True
    return request.target in {None, Target.EC2} and request.interruptible is True


def _first_count(count: int, *, plans: bool) -> int:
    """Return the count to ask for first; plans are sold in powers of two only."""
    if plans and count <= _LARGEST:
        return _power_of_two_from(count)
    return min(count, _LARGEST)


def _other_counts(
    count: int, request: Request, *, first: int, target: str | None
) -> tuple[int, ...]:
    """Return further counts, most useful first: a little more, then parts of a join.

    One machine is asked for before larger parts: where AWS has not even one, no part exists.
    """
    more = _power_of_two_from(count)
    larger = (more,) if count < more <= min(_LARGEST, 2 * count) and more != first else ()
    minimum = request.minimum_count or count
    powers = [1 << bit for bit in range(7) if (1 << bit) < count]
    if target in {None, Target.HYPERPOD.value}:
        probe = powers[:1]
        return (*larger, *probe, *sorted((p for p in powers if p > 1), reverse=True))
    return (*larger, *sorted((p for p in powers if p >= minimum), reverse=True))


def _more_counts_pay(
    asked: int,
    found: Sequence[Offering],
    request: Request,
    item: Wanted,
    *,
    target: str | None,
) -> bool:
    """Return whether another count may still bring a better answer than this one did."""
    if asked == 1:
        return bool(found)
    if asked > item.count:
        return not found
    if found and request.minimum_count is not None and asked >= request.minimum_count:
        return False
    if target not in {None, Target.HYPERPOD.value}:
        return True
    together: dict[tuple[object, ...], int] = {}
    for offering in found:
        key = (offering.zone, offering.segments)
        together[key] = together.get(key, 0) + (
            (offering.ultraserver_count or 0) if item.ultraserver else offering.instance_count
        )
    return not any(total >= item.count for total in together.values())


def _ultraserver(request: Request, name: str, catalog: Catalog) -> Wanted:
    whole = catalog.types.get(name)
    if whole is not None and request.accelerator_count:
        number = _ceil(Decimal(request.accelerator_count) / whole.accelerators)
        return Wanted(name, number, ultraserver=True)
    inner = catalog.types.get(request.instance_type or "")
    number = request.instance_count or 1
    if whole is not None and inner is not None and inner.name != name:
        number = _ceil(number * inner.accelerators / whole.accelerators)
    return Wanted(name, number, ultraserver=True)


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


def _power_of_two_from(count: int) -> int:
    return 1 << max(count - 1, 0).bit_length()


def _ceil(number: Decimal) -> int:
    return int(number.to_integral_value(rounding=ROUND_CEILING))
