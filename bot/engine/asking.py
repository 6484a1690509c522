"""Which searches of prepaid capacity a request needs: the fewest that give the same best answer.

Coarse first: one search over the whole range of starts for each type at its own count. Finer
ones (an earlier start, the near days alone, other counts) are worth a call only after an answer
that leaves something open, so the caller asks again with what was `answered` until nothing is
left. AWS gives few tokens for these calls (EC2 Developer Guide, API throttling: 10, then 0.15/s).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial

from bot.catalog import Catalog
from bot.domain.ending import tail
from bot.domain.market import Kind, Offering
from bot.domain.request import Request, Target
from bot.engine.counts import first_count, more_counts_pay, other_counts
from bot.engine.spans import Need, Span, near_days, need_of, spans_of
from bot.engine.wanted import Wanted, ml_name, wanted_types

MOST_CALLS = 10
"""Searches in one Region for one request: the burst of the token bucket."""


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


Answered = Mapping[Search, Sequence[Offering]]


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
    wanted = [
        Wanted(ml_name(item.instance_type, catalog), item.count, item.ultraserver)
        for item in wanted_types(request, catalog=catalog)
        if (known := catalog.types.get(item.instance_type)) is None
        or (known.training_plans and known.ml_name)
    ]
    return _searches(request, wanted, now=now, answered=answered or {}, target=target.value)


def _searches(
    request: Request,
    wanted: Sequence[Wanted],
    *,
    now: datetime,
    answered: Answered,
    target: str | None,
) -> tuple[Search, ...]:
    planned: list[Search] = []
    for item in wanted:
        need = need_of(request, now=now, lost=_lost(item, target))
        if need is not None:
            planned += _next_of(request, item, need, now=now, answered=answered, target=target)
    left = max(0, MOST_CALLS - len(answered))
    return tuple(dict.fromkeys(search for search in planned if search not in answered))[:left]


def _lost(item: Wanted, target: str | None) -> timedelta:
    return tail(
        Kind.CAPACITY_BLOCK if target is None else Kind.TRAINING_PLAN,
        instance_type=item.instance_type,
        ultraserver=item.ultraserver,
        target=target,
    )


def _next_of(
    request: Request,
    item: Wanted,
    need: Need,
    *,
    now: datetime,
    answered: Answered,
    target: str | None,
) -> Iterator[Search]:
    """Yield this type's searches in order, up to the first that is not answered yet."""
    spans, earlier = spans_of(need, now=now, plans=target is not None)
    count = first_count(item.count, plans=target is not None)

    def ask(span: Span, number: int) -> Search:
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
            near = near_days(stage[0], need)
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
    for other in other_counts(item.count, request, first=first, target=target):
        search = ask(other)
        yield search
        found = answered.get(search)
        if found is None or not more_counts_pay(other, found, request, item, target=target):
            return


def _fits(offering: Offering, request: Request, item: Wanted, need: Need) -> bool:
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
