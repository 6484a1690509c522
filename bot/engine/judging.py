"""Every row of a market as an option or a rejection, before anything is said about them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from bot.domain.decision import Note
from bot.domain.market import Market
from bot.domain.request import Target
from bot.engine.candidates import PREPAID, Candidate, candidates, joined
from bot.engine.costs import OnDemandRates
from bot.engine.joins import Leg, best_join, joinable
from bot.engine.quotas import Quotas
from bot.engine.ranking import Fitting, fitting, ranked
from bot.engine.rejects import JOINED_ELSEWHERE, Case, first_fault
from bot.engine.terms import Terms
from bot.engine.windows import Windows
from bot.engine.words import machines, note

_TOO_MANY = frozenset({"too_many_instances"})
_NOT_GUARANTEED = frozenset({"not_guaranteed"})
_JUDGED_AS_ONE = frozenset({"too_few_instances", "quota", "over_hourly_cap", "over_budget"})
"""Faults of one leg that a join need not share: they are judged on the whole."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The options in rank order, and each rejected candidate with its reason."""

    terms: Terms
    quotas: Quotas
    options: tuple[Fitting, ...]
    rejected: tuple[tuple[Case, Note], ...]

    @property
    def pick(self) -> Fitting | None:
        """The first option, or None."""
        return self.options[0] if self.options else None


class _Bench:
    """The cases of one market, each with its present verdict (None: it is an option)."""

    def __init__(self, market: Market, terms: Terms) -> None:
        self.terms = terms
        self.quotas = Quotas(market, terms.catalog)
        self._windows = Windows(terms)
        self.cases = [self.case(candidate) for candidate in candidates(market, terms)]
        self.faults = [first_fault(case) for case in self.cases]
        self.joins: list[Case] = []
        self.taken: set[int] = set()

    def case(self, candidate: Candidate) -> Case:
        """Return the candidate as the rules look at it."""
        return Case(candidate, self._windows.of(candidate), self.terms, self.quotas)

    def options(self) -> list[Case]:
        """Return what stands as an option now, joins included."""
        return [
            *(
                case
                for place, (case, fault) in enumerate(zip(self.cases, self.faults, strict=True))
                if fault is None and place not in self.taken
            ),
            *self.joins,
        ]

    def again(self, places: Iterable[int], waived: frozenset[str]) -> None:
        """Judge these cases again without the waived rule."""
        for place in places:
            self.faults[place] = first_fault(self.cases[place], waived)

    def places(self, code: str) -> list[int]:
        """Return where the present verdict is this code."""
        verdicts = enumerate(self.faults)
        return [place for place, fault in verdicts if fault is not None and fault.code == code]


def judge(market: Market, terms: Terms) -> Judged:
    """Return every row as an option or a rejection: rules, joins, oversize, last resorts."""
    bench = _Bench(market, terms)
    if terms.target in (Target.EC2, Target.HYPERPOD):
        _join(bench)
    _allow_oversize(bench)
    _allow_unguaranteed(bench)
    rates = OnDemandRates(market)
    options = [
        fitting(case.candidate, case.stay, terms, rates)
        for case in bench.options()
        if case.stay is not None
    ]
    rejected = tuple(
        (case, fault)
        for place, (case, fault) in enumerate(zip(bench.cases, bench.faults, strict=True))
        if fault is not None and place not in bench.taken
    )
    return Judged(terms, bench.quotas, tuple(ranked(options, terms)), rejected)


def _join(bench: _Bench) -> None:
    """Join offerings of one window to exactly the count where no single one fits."""
    groups: defaultdict[tuple[object, ...], list[int]] = defaultdict(list)
    for place, (case, fault) in enumerate(zip(bench.cases, bench.faults, strict=True)):
        row = case.candidate
        if fault is None or fault.code not in _JUDGED_AS_ONE:
            continue
        if row.kind in PREPAID and row.asked is not None and 0 < row.holds < row.asked:
            groups[row.join_key].append(place)
    if not groups:
        return
    served = {case.candidate.join_key for case in bench.options()}
    for key, places in groups.items():
        if key not in served and len(places) > 1:
            _join_group(bench, places)


def _join_group(bench: _Bench, places: Sequence[int]) -> None:
    rows = {place: bench.cases[place].candidate for place in places}
    asked = rows[places[0]].asked or 0
    legs = [
        Leg(fee=row.price, ref=row.refs[0], count=row.holds, place=place)
        for place, row in rows.items()
        if row.price is not None
    ]
    chosen = best_join(legs, asked)
    if chosen is None:
        return
    whole = bench.case(joined([rows[leg.place] for leg in chosen]))
    if first_fault(whole) is not None:
        return
    bench.joins.append(whole)
    bench.taken.update(leg.place for leg in chosen)
    part = joinable(Counter(leg.count for leg in legs), asked)
    names = "+".join(whole.candidate.refs)
    text = f"{machines(asked, whole.candidate.instance_type)} are joined better from {names}."
    for leg in legs:
        if leg.place not in bench.taken and leg.count in part:
            bench.faults[leg.place] = note(JOINED_ELSEWHERE, text)


def _allow_oversize(bench: _Bench) -> None:
    """Let larger offerings stand for a kind of which nothing else fits."""
    limit = bench.terms.rules.oversize_limit
    fitting_kinds = {case.candidate.kind for case in bench.options()}
    bench.again(
        [
            place
            for place in bench.places("too_many_instances")
            if _small_enough(bench.cases[place].candidate, limit)
            and bench.cases[place].candidate.kind not in fitting_kinds
        ],
        _TOO_MANY,
    )


def _small_enough(row: Candidate, limit: Decimal) -> bool:
    return row.asked is not None and row.holds <= row.asked * limit


def _allow_unguaranteed(bench: _Bench) -> None:
    """Let on-demand and spot stand when nothing surer is left and the start can be booked."""
    if not bench.terms.certain or bench.terms.beyond_horizon or bench.options():
        return
    bench.again(bench.places("not_guaranteed"), _NOT_GUARANTEED)
