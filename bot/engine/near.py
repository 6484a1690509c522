"""What was nearest when nothing fits: one field relaxed at a time, each as a line to send.

A line is advised only when the same market holds an option for it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction

from bot.catalog import InstanceType
from bot.domain.decision import Note
from bot.domain.market import Kind, Market
from bot.domain.request import Request
from bot.domain.values import exact_dollars
from bot.engine.costs import exact_total
from bot.engine.judging import Judged, judge
from bot.engine.lines import line_of
from bot.engine.ranking import Fitting
from bot.engine.rejects import Case, first_fault
from bot.engine.terms import Terms, bare, terms_of
from bot.engine.windows import lost_at_end
from bot.engine.words import machines, moment

_TRIES = 4
"""How many values of one field are tried: the nearest ones; bounds the work on any market."""
_DAY = timedelta(days=1)
_BLOCKS_BEGIN = time(11, 30)
"""Capacity Blocks begin and end at 11:30 UTC (EC2 User Guide, Capacity Blocks)."""

_COUNT_FAULTS = frozenset({"too_few_instances", "quota", "over_budget"})
"""What fewer machines may mend."""
_TIME_FAULTS = frozenset(
    {
        "too_few_instances",
        "starts_too_late",
        "starts_too_early",
        "ends_too_late",
        "too_short",
        "not_guaranteed",
        "over_budget",
        "hold_too_long",
    }
)
"""What another time may mend; a count is judged before the time, so that it hides one.

What starts too early for its remaining hours is too short as well.
"""

_JUDGED_LATER = frozenset(
    {
        "too_few_instances",
        "too_many_instances",
        "not_guaranteed",
        "quota",
        "over_hourly_cap",
        "over_budget",
    }
)
"""Faults that depend on what is joined, or on what else is left."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What stays the same while one field is relaxed."""

    market: Market
    terms: Terms
    zone: str

    def judged(self, request: Request) -> Judged:
        """Return the judgement of another request on the same market."""
        terms = self.terms
        return judge(
            self.market,
            terms_of(
                request,
                terms.rules,
                now=terms.now,
                zone=self.zone,
                catalog=terms.catalog,
                requester=terms.requester,
                prefers=terms.prefers,
            ),
        )

    def among(self, judged: Judged, codes: frozenset[str]) -> "Setting":
        """Return the same market with only the rows that one of these faults keeps from fitting.

        A row with any other fault keeps it when one field is relaxed, so judging it again
        for each of many relaxed requests would only take time.
        """
        waived = codes | _JUDGED_LATER
        refs = {
            case.candidate.refs[0]
            for case, reason in judged.rejected
            if reason.code in codes and first_fault(case, waived) is None
        }
        market = self.market.model_copy(
            update={
                "offerings": tuple(row for row in self.market.offerings if row.ref in refs),
                "hourly": tuple(row for row in self.market.hourly if row.ref in refs),
                "owned": tuple(row for row in self.market.owned if row.ref in refs),
            }
        )
        return replace(self, market=market)

    def note(self, code: str, lead: str, request: Request) -> Note | None:
        """Return the request as a line to send when an option answers it, else None."""
        start = request.earliest_start
        if start is not None and start < self.terms.now:
            # A start that has passed can't be sent again, and asks for no more than now does.
            request = request.model_copy(update={"earliest_start": None})
        pick = self.judged(request).pick
        if pick is None:
            return None
        line = line_of(request, zone=self.zone)
        return Note(code=code, text=f"{lead} would fit for {exact_dollars(pick.total)}: {line}")


def near_misses(setting: Setting, judged: Judged) -> tuple[Note, ...]:
    """Return the nearest requests that this market can answer, at most one for each field."""
    ways: tuple[tuple[Callable[[Setting, Judged], Iterator[Note | None]], frozenset[str]], ...] = (
        (_fewer_machines, _COUNT_FAULTS),
        (_other_days, _TIME_FAULTS),
        (_longer_block, _TIME_FAULTS),
        (_other_region, frozenset({"region_not_allowed"})),
        (_other_type, frozenset({"wrong_type"})),
    )
    found = []
    for way, mended in ways:
        notes = way(setting.among(judged, mended), judged)
        note = next((note for note in notes if note is not None), None)
        if note is not None:
            found.append(note)
    return tuple(found)


def _fewer_machines(setting: Setting, judged: Judged) -> Iterator[Note | None]:
    request = setting.terms.request
    for name, asked in sorted(setting.terms.counts.items()):
        for count in _smaller_counts(judged, name, asked):
            fewer = request.model_copy(
                update={
                    "instance_type": None if request.ultraserver_type == name else name,
                    "instance_count": count,
                    "minimum_count": None,
                    "accelerator": None,
                    "accelerator_count": None,
                }
            )
            yield setting.note("split_request", f"{machines(count, name)}", fewer)


def _smaller_counts(judged: Judged, name: str, asked: int) -> list[int]:
    """Return the largest counts below the asked one that a row, a quota or the budget allows."""
    counts = set()
    budget = judged.terms.request.max_total_usd
    for case, reason in judged.rejected:
        row = case.candidate
        if row.asked is None or bare(row.instance_type) != name:
            continue
        counts.add(row.holds)
        if reason.code == "over_budget" and row.hourly and budget is not None and case.stay:
            amount = exact_total(row, case.stay, judged.terms)
            counts.add(int(Fraction(budget) * row.machines // amount))
        for quota in judged.quotas.covering(row):
            need = judged.quotas.needed(quota, row)
            if quota.limit is not None and need:
                counts.add((quota.limit - (quota.used or 0)) * row.machines // need)
    return sorted((count for count in counts if 0 < count < asked), reverse=True)[:_TRIES]


def _other_days(setting: Setting, _judged: Judged) -> Iterator[Note | None]:
    request = setting.terms.request
    if request.earliest_start is None and not setting.terms.certain:
        return
    wanted = request.earliest_start or setting.terms.now
    free = request.model_copy(
        update={"earliest_start": None, "latest_start": None, "latest_end": None}
    )
    for option in _nearest(setting.judged(free).options, wanted):
        begin = option.stay.begin
        start = begin if option.candidate.prepaid else None
        moved = free.model_copy(update={"earliest_start": start, "latest_start": start})
        when = moment(begin) if start else "A start now"
        yield setting.note("try_other_time", when, moved)


def _nearest(options: tuple[Fitting, ...], wanted: datetime) -> list[Fitting]:
    """Return the options whose begin is nearest to the wanted one, in rank order when equal."""
    return sorted(options, key=lambda option: abs(option.stay.begin - wanted))[:_TRIES]


def _longer_block(setting: Setting, judged: Judged) -> Iterator[Note | None]:
    """Advise the block of whole days that covers a fixed stay across 11:30 UTC.

    Such a block may be on sale though this market was not asked for its length; the line asks.
    """
    request, terms = setting.terms.request, setting.terms
    start = request.earliest_start
    if start is None or start != request.latest_start:
        return
    tails = [
        lost_at_end(case.candidate, terms)
        for case, _ in judged.rejected
        if _is_block_of_type(case, terms)
    ]
    if not tails:
        return
    opening = datetime.combine(start.date(), _BLOCKS_BEGIN, tzinfo=start.tzinfo)
    if opening > start:
        opening -= _DAY
    lost = timedelta() if terms.by_reserved_hours else max(tails)
    days = -((opening - start - terms.asked - lost) // _DAY)
    if days * _DAY <= terms.asked or opening < terms.now + terms.rules.payment_margin:
        return
    longer = request.model_copy(
        update={
            "earliest_start": opening,
            "latest_start": opening,
            "latest_end": None,
            "duration_hours": Decimal(days * 24),
            "strict": False,
        }
    )
    note = setting.note("try_other_time", f"A block of {days} days", longer)
    line = line_of(longer, zone=setting.zone)
    ask = f"A block of {days} days from {moment(opening)} would cover it; ask for one: {line}"
    yield note or Note(code="try_other_time", text=ask)


def _is_block_of_type(case: Case, terms: Terms) -> bool:
    row = case.candidate
    return row.kind is Kind.CAPACITY_BLOCK and bare(row.instance_type) in terms.counts


def _other_region(setting: Setting, _judged: Judged) -> Iterator[Note | None]:
    request = setting.terms.request
    if not request.regions:
        return
    options = setting.judged(request.model_copy(update={"regions": ()})).options
    regions = dict.fromkeys(option.candidate.region for option in options)
    for region in list(regions)[:_TRIES]:
        moved = request.model_copy(update={"regions": (region,)})
        yield setting.note("try_other_region", region, moved)


def _other_type(setting: Setting, judged: Judged) -> Iterator[Note | None]:
    terms = setting.terms
    wanted = _accelerators(terms)
    offered = {
        bare(case.candidate.instance_type)
        for case, reason in judged.rejected
        if reason.code == "wrong_type"
    }
    known = [
        kind
        for name in sorted(offered)
        if (kind := terms.catalog.types.get(name)) is not None and not _is_sold_in_a_whole(kind)
    ]
    for kind in sorted(known, key=lambda kind: _distance(kind, _memory(terms)))[:_TRIES]:
        count = int((wanted / kind.accelerators).to_integral_value(rounding=ROUND_CEILING))
        other = terms.request.model_copy(
            update={
                "instance_type": kind.name,
                "instance_count": count,
                "minimum_count": None,
                "accelerator": None,
                "accelerator_count": None,
                "ultraserver_type": None,
            }
        )
        yield setting.note("try_other_type", machines(count, kind.name), other)


def _is_sold_in_a_whole(kind: InstanceType) -> bool:
    """Return whether the type is a part of an UltraServer, which nobody can ask for alone."""
    return kind.ultraserver is not None and not kind.name.startswith("u-")


def _accelerators(terms: Terms) -> Decimal:
    """Return how many accelerators the request asks for, at least one."""
    asked = [
        terms.catalog.types[name].accelerators * count
        for name, count in sorted(terms.counts.items())
        if name in terms.catalog.types
    ]
    return min(asked, default=Decimal(1))


def _distance(kind: InstanceType, memory_gib: Decimal) -> tuple[bool, Decimal, str]:
    """Return how far a type's accelerator memory is from the wanted one; less comes last."""
    return (kind.memory_gib < memory_gib, abs(kind.memory_gib - memory_gib), kind.name)


def _memory(terms: Terms) -> Decimal:
    known = [
        terms.catalog.types[name] for name in sorted(terms.counts) if name in terms.catalog.types
    ]
    return known[0].memory_gib if known else Decimal(0)
