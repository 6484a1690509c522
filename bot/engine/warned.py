"""The warnings that must stand beside an option, each with its numbers."""

from collections.abc import Callable
from datetime import time, timedelta
from itertools import pairwise

from bot.domain.decision import Note
from bot.domain.market import Kind
from bot.domain.values import how_many, plain_text
from bot.engine.candidates import PREPAID
from bot.engine.certainty import REFUSAL_DOUBT, low_score, refused_within
from bot.engine.quotas import Quotas
from bot.engine.ranking import Fitting, starts_later
from bot.engine.terms import Terms, bare
from bot.engine.windows import is_shorter
from bot.engine.words import moment, note, percent, span

_LOCAL_ZONE = "local-zone"
PRICE_LIFE = timedelta(hours=24)
_BLOCKS_END = time(11, 30)
"""Capacity Blocks end at 11:30 UTC (EC2 User Guide, Capacity Blocks)."""


class Warnings:
    """The warnings of one decision; options alike in all but ref and fee share theirs."""

    def __init__(self, terms: Terms, quotas: Quotas) -> None:
        self._terms = terms
        self._quotas = quotas
        self._said: dict[tuple[object, ...], tuple[Note, ...]] = {}

    def of(self, option: Fitting) -> tuple[Note, ...]:
        """Return every warning that holds for the option, in a fixed order."""
        key = (_looked_at(option), option.versus if option.below else None)
        if key not in self._said:
            self._said[key] = warnings(option, self._terms, self._quotas)
        return self._said[key]


def _looked_at(option: Fitting) -> tuple[object, ...]:
    """Return all that any rule here looks at, but the fee, which only the break-even knows."""
    row = option.candidate
    return (
        option.stay.window,
        row.ultraserver,
        row.kind,
        row.origin,
        row.account,
        row.region,
        row.zone if row.zone_type == _LOCAL_ZONE else None,
        row.zone_type,
        row.instance_type,
        row.asked,
        row.holds,
        row.machines,
        len(row.refs),
        row.as_of,
        row.refused_at,
        row.score,
        row.owner,
    )


def warnings(option: Fitting, terms: Terms, quotas: Quotas) -> tuple[Note, ...]:
    """Return every warning that holds for the option, in a fixed order."""
    found = []
    for code, rule in WARNINGS:
        text = rule(option, terms)
        if text is not None:
            found.append(note(code, text))
    if option.candidate.kind is not Kind.OWNED and not quotas.known(option.candidate):
        found.append(QUOTA_UNKNOWN)
    return tuple(found)


QUOTA_UNKNOWN = Note(code="quota_unknown", text="No known quota covers it: AWS may still refuse.")


def not_cancellable(option: Fitting, _terms: Terms) -> str | None:
    """Say that the whole fee is due whatever happens."""
    if option.candidate.origin not in PREPAID:
        return None
    if option.candidate.kind is Kind.OWNED:
        return "It cannot be cancelled or refunded."
    return "It cannot be cancelled or refunded once bought."


def payment_pending_first(option: Fitting, _terms: Terms) -> str | None:
    """Say that a purchase is no capacity before its payment is through."""
    if option.candidate.prepaid:
        return "After the purchase the payment is pending; the machines are sure once it is paid."
    return None


def early_termination(option: Fitting, _terms: Terms) -> str | None:
    """Say the true last minute."""
    if option.candidate.origin not in PREPAID:
        return None
    return (
        f"AWS ends the machines before the window closes;"
        f" the last useful minute is {moment(option.stay.usable_end)}."
    )


def ends_1130_utc(option: Fitting, _terms: Terms) -> str | None:
    """Say that the window ends at the hour at which blocks end."""
    end = option.candidate.segments[-1].end
    if option.candidate.origin in PREPAID and end.time() == _BLOCKS_END:
        return f"The window ends at {moment(end)}."
    return None


def shorter_than_asked(option: Fitting, terms: Terms) -> str | None:
    """Say that less than the asked hours is left from the begin."""
    if is_shorter(option.stay, terms):
        return f"{span(option.stay.reserved_left)} are reserved; {span(terms.asked)} were asked."
    return None


def longer_than_asked(option: Fitting, terms: Terms) -> str | None:
    """Say that the whole window reserves more hours than asked."""
    if option.candidate.origin in PREPAID and option.stay.reserved > terms.asked:
        return f"The window is {span(option.stay.reserved)}; {span(terms.asked)} were asked."
    return None


def more_machines_than_asked(option: Fitting, _terms: Terms) -> str | None:
    """Say that more machines are paid than were asked."""
    row = option.candidate
    if row.holds > (row.asked or 0):
        return f"It is sold as {row.holds} and paid whole; {row.asked} were asked."
    return None


def whole_machines(option: Fitting, terms: Terms) -> str | None:
    """Say that whole machines hold more GPUs than were asked for."""
    row, asked = option.candidate, terms.request.accelerator_count
    kind = terms.catalog.types.get(bare(row.instance_type))
    if asked is None or kind is None or row.ultraserver:
        return None
    held = kind.accelerators * row.machines
    if held <= asked:
        return None
    machines = how_many(row.machines, "machine")
    return f"It is {plain_text(held)} GPUs on {machines}; {asked} were asked."


def fewer_machines_than_asked(option: Fitting, _terms: Terms) -> str | None:
    """Say that it holds fewer machines than asked."""
    if option.fewer:
        return f"It holds {option.candidate.holds}; {option.candidate.asked} were asked."
    return None


def gap_between_segments(option: Fitting, _terms: Terms) -> str | None:
    """Say when the capacity pauses."""
    parts = option.candidate.segments
    if len(parts) <= 1:
        return None
    pauses = ", ".join(
        f"{moment(before.end)} to {moment(after.start)}" for before, after in pairwise(parts)
    )
    return f"The capacity pauses: {pauses}."


def price_stale(option: Fitting, terms: Terms) -> str | None:
    """Say that the price is older than a day."""
    row = option.candidate
    if row.kind is not Kind.OWNED and terms.now - row.as_of > PRICE_LIFE:
        return f"The price is of {moment(row.as_of)}, more than a day old."
    return None


def local_zone(option: Fitting, _terms: Terms) -> str | None:
    """Say that the capacity is in a Local Zone."""
    if option.candidate.zone_type == _LOCAL_ZONE:
        return f"{option.candidate.zone} is a Local Zone, away from the region's other services."
    return None


def below_break_even(option: Fitting, _terms: Terms) -> str | None:
    """Say that on-demand would be cheaper for the hours in which machines really run."""
    if not option.below or option.versus is None:
        return None
    return (
        f"The machines would run {percent(option.stay.share)} of the window;"
        f" below {percent(option.versus)} on-demand is cheaper."
    )


def target_is_final(option: Fitting, terms: Terms) -> str | None:
    """Say that a plan serves its target only."""
    if option.candidate.origin is Kind.TRAINING_PLAN:
        return f"The plan's target is final: {terms.target} only."
    return None


def refused_before(option: Fitting, terms: Terms) -> str | None:
    """Say that AWS refused this row within a day."""
    refused = option.candidate.refused_at
    if refused is not None and refused_within(option.candidate, REFUSAL_DOUBT, terms.now):
        return f"AWS refused it at {moment(refused)}."
    return None


def score_low(option: Fitting, _terms: Terms) -> str | None:
    """Say that spot machines are unlikely there."""
    if not low_score(option.candidate):
        return None
    if option.candidate.score is None:
        return "No spot placement score is known."
    return f"The spot placement score is {option.candidate.score} of 10."


def not_guaranteed(option: Fitting, terms: Terms) -> str | None:
    """Say that nothing surer is left for a request that wants certainty."""
    if terms.certain and option.candidate.kind in (Kind.ON_DEMAND, Kind.SPOT):
        return "Nothing guarantees that these machines are there at the start."
    return None


def joined(option: Fitting, _terms: Terms) -> str | None:
    """Say that it takes several purchases."""
    legs = len(option.candidate.refs)
    if legs == 1:
        return None
    return (
        f"It is {legs} purchases, each paid by itself: if a later one fails, what was paid is kept."
    )


def later(option: Fitting, terms: Terms) -> str | None:
    """Say that it begins later than a flexible request would wait."""
    if starts_later(option.stay.begin, terms):
        return f"It begins at {moment(option.stay.begin)}."
    return None


def owner_must_agree(option: Fitting, terms: Terms) -> str | None:
    """Say that somebody else's capacity is asked for, not taken.

    Without a requester (the command line) any owner passes: nobody is there to be compared.
    """
    owner = option.candidate.owner
    if owner is not None and terms.requester is not None and owner != terms.requester:
        return f"It belongs to {owner}, who must agree."
    return None


WARNINGS: tuple[tuple[str, Callable[[Fitting, Terms], str | None]], ...] = (
    ("not_cancellable", not_cancellable),
    ("payment_pending_first", payment_pending_first),
    ("early_termination", early_termination),
    ("ends_1130_utc", ends_1130_utc),
    ("whole_machines", whole_machines),
    ("not_guaranteed", not_guaranteed),
    ("owner_must_agree", owner_must_agree),
    ("shorter_than_asked", shorter_than_asked),
    ("longer_than_asked", longer_than_asked),
    ("more_machines_than_asked", more_machines_than_asked),
    ("fewer_machines_than_asked", fewer_machines_than_asked),
    ("gap_between_segments", gap_between_segments),
    ("joined", joined),
    ("starts_later", later),
    ("below_break_even", below_break_even),
    ("target_is_final", target_is_final),
    ("refused_before", refused_before),
    ("score_low", score_low),
    ("local_zone", local_zone),
    ("price_stale", price_stale),
)
