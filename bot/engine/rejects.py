"""The rules that reject a row, in their order; the first that applies gives the code."""

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from bot.domain.decision import Note
from bot.domain.market import Kind
from bot.domain.request import Target
from bot.domain.values import exact_dollars
from bot.engine.candidates import Candidate
from bot.engine.certainty import refused_within
from bot.engine.costs import four_places, instance_rate, total
from bot.engine.quotas import Quotas
from bot.engine.terms import Terms
from bot.engine.windows import Stay, rest_is_enough, whole_is_enough
from bot.engine.words import machines, moment, note, rate, span

CENT = Decimal("0.01")


class Case(NamedTuple):
    """One candidate before the rules, with its measured window: None when the row has none."""

    candidate: Candidate
    stay: Stay | None
    terms: Terms
    quotas: Quotas


def first_fault(case: Case, waived: AbstractSet[str] = frozenset()) -> Note | None:
    """Return the first rule that rejects the candidate, skipping the waived codes."""
    for code, rule in RULES:
        if code not in waived:
            text = rule(case)
            if text is not None:
                return note(code, text)
    return None


def kind_disabled(case: Case) -> str | None:
    """Reject a kind that the configuration leaves out; what is owned is always considered."""
    kind = case.candidate.kind
    if kind is not Kind.OWNED and kind not in case.terms.rules.kinds:
        return f"The configuration does not allow {kind.value}."
    return None


def region_not_allowed(case: Case) -> str | None:
    """Reject what the request or the configuration does not name."""
    row, rules, asked = case.candidate, case.terms.rules, case.terms.request.regions
    if asked and row.region not in asked and row.zone not in asked:
        return f"The request asks for {', '.join(sorted(asked))}, not {row.region}."
    if rules.regions is not None and row.region not in rules.regions.get(row.account, ()):
        return f"The configuration does not allow {row.region} for the account {row.account}."
    return None


def wrong_target(case: Case) -> str | None:
    """Reject the other branch, a plan for another target, and spot outside training jobs."""
    row, target = case.candidate, case.terms.target
    if row.origin is Kind.TRAINING_PLAN:
        if case.terms.sagemaker and target.value in row.targets:
            return None
        made_for = ", ".join(sorted(row.targets)) or "no named target"
        return f"This plan is for {made_for}, and its target is final; the request is {target}."
    is_ml = row.instance_type.startswith("ml.")
    if is_ml is not case.terms.sagemaker:
        return f"{row.instance_type} is not capacity for the target {target}."
    if is_ml and row.origin in (Kind.ODCR, Kind.CAPACITY_BLOCK):
        return f"SageMaker has no {row.origin.value}."
    if is_ml and row.kind is Kind.SPOT and target is not Target.TRAINING_JOB:
        return f"SageMaker uses spot for training jobs only, not for {target}."
    return None


def wrong_type(case: Case) -> str | None:
    """Reject a type that was not asked for."""
    if case.candidate.asked is None:
        wanted = ", ".join(sorted(case.terms.counts)) or "another type"
        return f"The request is for {wanted}, not {case.candidate.instance_type}."
    return None


def zone_not_opted_in(case: Case) -> str | None:
    """Reject a zone that the account has not opted in to."""
    if not case.candidate.opted_in:
        return f"The account has not opted in to the zone {case.candidate.zone}."
    return None


def currency(case: Case) -> str | None:
    """Reject any currency but US dollars; an absent fee has none."""
    row = case.candidate
    if row.currency != "USD" and not (row.currency is None and row.price is None):
        return f"The fee is in {row.currency or 'an unnamed currency'}, not in USD."
    return None


def price_unknown(case: Case) -> str | None:
    """Reject what has no price; less than a cent is a fault in the reading, never an offer."""
    row = case.candidate
    if row.kind is not Kind.OWNED and (row.price is None or row.price < CENT):
        return "AWS gave no price for it."
    return None


def too_few_instances(case: Case) -> str | None:
    """Reject fewer machines than are welcome."""
    row, asked = case.candidate, case.candidate.asked or 0
    least = case.terms.least(asked)
    if row.holds < least or row.machines == 0:
        return f"It holds {row.holds}; at least {least} are needed."
    return None


def too_many_instances(case: Case) -> str | None:
    """Reject more machines than asked; waived when nothing else of the kind fits."""
    row = case.candidate
    if row.asked is not None and row.holds > row.asked:
        return f"It holds {row.holds}, and {row.asked} are asked; it is sold whole."
    return None


def split_not_allowed(case: Case) -> str | None:
    """Reject a gap in the middle for work that cannot pause."""
    terms = case.terms
    if len(case.candidate.segments) <= 1:
        return None
    if terms.target in (Target.TRAINING_JOB, Target.HYPERPOD):
        return None
    if terms.target is Target.EC2 and terms.request.interruptible:
        return None
    return f"It comes in {len(case.candidate.segments)} parts, and this work cannot pause."


def starts_too_soon(case: Case) -> str | None:
    """Reject a prepaid start before a payment can finish."""
    soonest = case.terms.now + case.terms.rules.payment_margin
    if case.candidate.prepaid and case.stay is not None and case.stay.start < soonest:
        return (
            f"It starts at {moment(case.stay.start)}; a payment made now"
            f" is certain only for starts from {moment(soonest)}."
        )
    return None


def starts_too_late(case: Case) -> str | None:
    """Reject a begin after the latest start; the end of a named day is no start of that day."""
    latest = case.terms.request.latest_start
    if latest is None or case.stay is None:
        return None
    begin = case.stay.begin
    if begin > latest or (begin == latest and case.terms.start_ends_a_day):
        return f"It begins at {moment(begin)}; the latest start is {moment(latest)}."
    return None


def starts_too_early(case: Case) -> str | None:
    """Reject a window that is long enough, but not after the stated earliest start."""
    stay, terms = case.stay, case.terms
    if stay is None or terms.request.earliest_start is None:
        return None
    if whole_is_enough(stay, terms) and not rest_is_enough(stay, terms):
        left = stay.reserved_left if terms.by_reserved_hours else stay.usable_left
        return f"Only {span(left)} of it are left after {moment(stay.begin)}."
    return None


def ends_too_late(case: Case) -> str | None:
    """Reject a use that would end after the deadline."""
    latest = case.terms.request.latest_end
    if latest is not None and case.stay is not None and case.stay.use_end > latest:
        return f"The work would end at {moment(case.stay.use_end)}, after {moment(latest)}."
    return None


def too_short(case: Case) -> str | None:
    """Reject a window with too few hours, or with no window at all."""
    stay, terms = case.stay, case.terms
    if stay is None:
        return "AWS gave no times for it."
    if not rest_is_enough(stay, terms):
        left = stay.reserved_left if terms.by_reserved_hours else stay.usable_left
        measure = "reserved" if terms.by_reserved_hours else "usable"
        return f"It has {span(left)} {measure}; {span(terms.needed)} are needed."
    return None


def interruptible(case: Case) -> str | None:
    """Reject spot unless the request says that the work may be interrupted."""
    if case.candidate.kind is Kind.SPOT and not case.terms.request.interruptible:
        return "Spot machines can be taken back at any time, and the request does not allow it."
    return None


def not_guaranteed(case: Case) -> str | None:
    """Reject on-demand and spot when certainty is required."""
    if case.terms.certain and case.candidate.kind in (Kind.ON_DEMAND, Kind.SPOT):
        return "The request has a latest start or end, and nothing guarantees this capacity then."
    return None


def recently_refused(case: Case) -> str | None:
    """Reject the very row that AWS refused a short while ago."""
    row, terms = case.candidate, case.terms
    if row.refused_at is not None and refused_within(row, terms.rules.refusal_memory, terms.now):
        return f"AWS refused it at {moment(row.refused_at)}."
    return None


def quota(case: Case) -> str | None:
    """Reject what a known quota cannot hold as a whole."""
    return case.quotas.too_small(case.candidate)


def over_hourly_cap(case: Case) -> str | None:
    """Reject a rate above the cap for a machine-hour."""
    cap = case.terms.request.max_hourly_usd
    if cap is None or case.stay is None:
        return None
    hourly = instance_rate(case.candidate, case.stay)
    if hourly > Fraction(cap):
        return f"It costs {rate(four_places(hourly))} per machine-hour; the cap is {rate(cap)}."
    return None


def over_budget(case: Case) -> str | None:
    """Reject a total above what the request allows."""
    budget = case.terms.request.max_total_usd
    if budget is None or case.stay is None:
        return None
    amount = total(case.candidate, case.stay, case.terms)
    if amount > budget:
        named = machines(case.candidate.machines, case.candidate.instance_type)
        return (
            f"{named} cost {exact_dollars(amount)} in total; the budget is {exact_dollars(budget)}."
        )
    return None


def hold_too_long(case: Case) -> str | None:
    """Reject an ODCR that would bill for long before its use begins."""
    if case.candidate.kind is not Kind.ODCR or case.stay is None:
        return None
    idle = case.stay.begin - case.terms.now
    if idle > case.terms.rules.hold_limit:
        return f"It would be billed for {span(idle)} before its use begins."
    return None


RULES: tuple[tuple[str, Callable[[Case], str | None]], ...] = (
    ("kind_disabled", kind_disabled),
    ("region_not_allowed", region_not_allowed),
    ("wrong_target", wrong_target),
    ("wrong_type", wrong_type),
    ("zone_not_opted_in", zone_not_opted_in),
    ("currency", currency),
    ("price_unknown", price_unknown),
    ("too_few_instances", too_few_instances),
    ("too_many_instances", too_many_instances),
    ("split_not_allowed", split_not_allowed),
    ("starts_too_soon", starts_too_soon),
    ("starts_too_late", starts_too_late),
    ("starts_too_early", starts_too_early),
    ("ends_too_late", ends_too_late),
    ("too_short", too_short),
    ("interruptible", interruptible),
    ("not_guaranteed", not_guaranteed),
    ("recently_refused", recently_refused),
    ("quota", quota),
    ("over_hourly_cap", over_hourly_cap),
    ("over_budget", over_budget),
    ("hold_too_long", hold_too_long),
)
JOINED_ELSEWHERE = "joined_elsewhere"
