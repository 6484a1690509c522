"""The order of the options: one key, whose docstring is the policy."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from bot.domain.decision import Certainty
from bot.domain.market import Kind
from bot.engine.candidates import Candidate
from bot.engine.certainty import CLASSES, certainty, low_score
from bot.engine.costs import OnDemandRates, exact_total, instance_rate, total, versus_on_demand
from bot.engine.terms import Terms
from bot.engine.windows import Stay
from bot.engine.words import MICROSECOND

_FINEST = 10**20
"""Weighted totals compare as whole parts of a dollar this fine: equal ones are equal integers."""
KINDS = tuple(Kind)
"""The order of kinds in ties: least commitment first, as the enumeration lists them."""


class Fitting(NamedTuple):
    """A candidate that passed every rule, with what it costs and how sure it is.

    `below`: paid ahead, though it would run for less of its hours than make it the cheaper way.
    """

    candidate: Candidate
    stay: Stay
    certainty: Certainty
    exact: Fraction
    total: Decimal
    rate: Fraction
    versus: Fraction | None
    below: bool

    @property
    def fewer(self) -> bool:
        """Whether it holds fewer machines than asked."""
        return self.candidate.holds < (self.candidate.asked or 0)


def fitting(candidate: Candidate, stay: Stay, terms: Terms, rates: OnDemandRates) -> Fitting:
    """Return the candidate priced and classed."""
    rate = instance_rate(candidate, stay)
    versus = versus_on_demand(candidate, rate, rates)
    return Fitting(
        candidate=candidate,
        stay=stay,
        certainty=certainty(candidate, terms.now),
        exact=exact_total(candidate, stay, terms),
        total=total(candidate, stay, terms),
        rate=rate,
        versus=versus,
        below=candidate.prepaid and versus is not None and stay.share < versus,
    )


def starts_later(begin: datetime, terms: Terms) -> bool:
    """Return whether a flexible request would wait longer than it has patience for.

    More than the asap window from now when no start is named, else more than the patience
    after the stated earliest start. A request that requires certainty has its own limits.
    """
    if terms.certain:
        return False
    earliest = terms.request.earliest_start
    if earliest is None:
        return begin > terms.now + terms.rules.asap_window
    return begin > earliest + terms.rules.patience


def ranked(options: Sequence[Fitting], terms: Terms) -> list[Fitting]:
    """Return the options in the order of the policy."""
    least = min((option.candidate.machines for option in options), default=0)
    return sorted(options, key=lambda option: rank_key(option, terms, least=least))


def rank_key(option: Fitting, terms: Terms, *, least: int) -> tuple[object, ...]:
    """Return the sort key; the policy, in this order.

    1. The full count before fewer machines.
    2. Flexible requests: what begins soon before what begins later than patience allows.
    3. Owned before everything that costs.
    4. Certainty required: on-demand before spot (both stand only when nothing surer is left),
       then the certainty class.
    5. The weighted total (see `weighted_total`).
    6. Ties: earlier begin, fewer purchases, fewer machines, kind, the account that the caller
       prefers, if it names one, account, region, zone, refs.
    """
    row = option.candidate
    weighted = weighted_total(option, terms, least=least)
    return (
        option.fewer,
        starts_later(option.stay.begin, terms),
        row.kind is not Kind.OWNED,
        terms.certain and row.kind is Kind.SPOT,
        CLASSES.index(option.certainty) if terms.certain else 0,
        weighted.numerator * _FINEST // weighted.denominator,
        option.stay.begin,
        len(row.refs),
        row.machines,
        KINDS.index(row.kind),
        terms.prefers is not None and row.account != terms.prefers,
        row.account,
        row.region,
        row.zone or "",
        row.refs,
        row.instance_type,
        option.stay.usable_end,
        option.exact,
    )


def weighted_total(option: Fitting, terms: Terms, *, least: int) -> Fraction:
    """Return the total as it ranks: commitment must pay for itself.

    Raised by the kind's premium when the request is flexible; by the asked over the left
    reserved hours when the window is shorter than asked; by the premium for more machines
    than the least when several types compete.
    """
    amount = option.exact
    if not terms.certain:
        amount *= raised_by(premium(option.candidate, terms))
    left = option.stay.reserved_left
    if left < terms.asked:
        amount *= Fraction(terms.asked // MICROSECOND, left // MICROSECOND)
    if terms.several_types and option.candidate.machines > least:
        amount *= raised_by(terms.rules.more_machines_premium)
    return amount


@lru_cache(maxsize=64)
def raised_by(share: Decimal) -> Fraction:
    """Return the factor that raises an amount by that share."""
    return 1 + Fraction(share)


def premium(candidate: Candidate, terms: Terms) -> Decimal:
    """Return what this kind must be cheaper by before it beats the least commitment."""
    premiums = terms.rules.premium
    match candidate.kind:
        case Kind.OWNED:
            return Decimal(0)
        case Kind.ON_DEMAND:
            return premiums.on_demand
        case Kind.SPOT:
            return premiums.spot_low if low_score(candidate) else premiums.spot
        case Kind.ODCR:
            return premiums.odcr
        case Kind.CAPACITY_BLOCK:
            return premiums.capacity_block
        case Kind.TRAINING_PLAN:
            return premiums.training_plan
