"""Why an option may be the right one: what it is best at among the options."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from bot.domain.decision import Certainty, Note
from bot.domain.market import Kind
from bot.domain.values import exact_dollars
from bot.engine.ranking import Fitting
from bot.engine.words import moment, note

_ONLY = note("only_one_that_fits", "It is the only option that fits.")
_GUARANTEED = Note(code="guaranteed_start", text="Once paid, the machines are there at the start.")
_LEAST_COMMITMENT = Note(
    code="least_commitment", text="It is paid by the hour and can be stopped at any time."
)


@dataclass(frozen=True, slots=True)
class Best:
    """The best values among all options of one decision."""

    options: int
    total: Fraction
    begin: datetime
    machines: int
    several_begins: bool
    several_machines: bool


def best_of(options: Sequence[Fitting]) -> Best | None:
    """Return the best values, None when there is no option."""
    if not options:
        return None
    begins = {option.stay.begin for option in options}
    counts = {option.candidate.machines for option in options}
    return Best(
        options=len(options),
        total=min(option.exact for option in options),
        begin=min(begins),
        machines=min(counts),
        several_begins=len(begins) > 1,
        several_machines=len(counts) > 1,
    )


def reasons(option: Fitting, best: Best) -> tuple[Note, ...]:
    """Return what speaks for the option, in a fixed order."""
    row = option.candidate
    found = []
    if row.kind is Kind.OWNED:
        found.append(note("already_paid", f"It is paid already, in {row.account}."))
    if best.options == 1:
        found.append(_ONLY)
    elif option.exact == best.total:
        found.append(
            note("cheapest", f"No other option costs less than {exact_dollars(option.total)}.")
        )
    if option.certainty is Certainty.GUARANTEED:
        found.append(_GUARANTEED)
    if row.kind in (Kind.ON_DEMAND, Kind.SPOT):
        found.append(_LEAST_COMMITMENT)
    if best.several_begins and option.stay.begin == best.begin:
        found.append(
            note("starts_soonest", f"No other option begins before {moment(option.stay.begin)}.")
        )
    if best.several_machines and row.machines == best.machines:
        found.append(
            note("fewest_machines", f"No other option needs fewer machines than {row.machines}.")
        )
    return tuple(found)
