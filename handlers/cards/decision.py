"""The living card of one reservation: what it costs, how sure it is, and what may be done.

It fits a phone without scrolling: the pick first, at most four others in a line each, and
everything that is not settled said openly.
"""

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal

from bot.domain.decision import Decision, Option
from bot.domain.lifecycle import ReservationState as State
from bot.domain.records import Proposal, Receipt, Switch, gpu_id
from bot.domain.values import exact_dollars
from bot.services.reservations.looking import ACTIVE_WORDS, counts_words, id_words
from bot.services.words.views import CardView
from handlers.cards import wording
from handlers.cards.accounts import elsewhere_line
from handlers.cards.bought import confirmed, extended, so_far
from handlers.cards.buttons import BEFORE_MONEY, card_buttons, used_buttons
from handlers.cards.limits import single
from handlers.cards.rivals import other_ways
from handlers.rendering import (
    Names,
    actions,
    code,
    context,
    cut,
    dated,
    moment,
    one_line,
    section,
    shown,
    strong,
    unnamed,
    utc_words,
)
from handlers.reply import Block, Message

PLANNED = "/gpu plan "
MOST_WARNINGS = 4
MOST_REASON = 300
TIMES = frozenset({"early_termination", "ends_1130_utc"})
"""Warnings that repeat the last usable minute and the end behind it."""

SAID_ALREADY = TIMES | {"not_cancellable", "below_break_even"}
"""Warnings whose figures stand in the card's own lines."""

BEFORE_BUYING = frozenset(
    {"joined", "quota_unknown", "payment_pending_first", "refused_before", "score_low"}
)
"""Warnings of what the purchase might bring; once it is made, its outcome says more."""

BOUGHT = frozenset(
    {State.PAYMENT_PENDING, State.SCHEDULED, State.ACTIVE, State.ENDED, State.NEEDS_REVIEW}
)
PAID = frozenset({State.SCHEDULED, State.ACTIVE, State.ENDED})


def decision_card(view: CardView, names: Names = unnamed, *, live: bool = True) -> Message:
    """Return the reservation's card.

    Without `live` it is a copy that is never drawn anew: its buttons are only those that do what
    they say whatever has happened since.
    """
    reservation = view.reservation
    blocks: list[Block] = [section("\n".join(_head(view, names)))]
    option = wording.shown_option(view)
    if option is not None:
        blocks.append(section("\n".join(option_lines(option, view))))
        warnings = _warnings(option, bought=_through(view))
        if warnings:
            blocks.append(context(*warnings))
    if reservation.state == State.QUOTED and view.decision is not None:
        blocks += other_ways(view.decision, option, can="Press Change to ask for something else.")
    blocks += [context(*lines) for lines in [list(_small_print(view))] if lines]
    blocks += actions(list(card_buttons(view, option) if live else used_buttons(view)))
    return single(_fallback(view, option), blocks)


def plan_card(decision: Decision, line: str, *, read_at: datetime | None = None) -> Message:
    """Return what would be decided, for /gpu plan: the same lines, nothing filed.

    `line` is what was planned, with /gpu plan before it; `read_at` is when the market was read.
    """
    option = decision.options[0] if decision.recommended is not None else None
    blocks: list[Block] = [section(f"*Plan only, nothing was filed*\n{code(line)}")]
    if option is not None:
        blocks.append(section("\n".join(option_lines(option, None))))
        warnings = _warnings(option)
        if warnings:
            blocks.append(context(*warnings))
    blocks += other_ways(decision, option)
    if option is not None and line.startswith(PLANNED):
        blocks.append(section(f"Request it: {code(f'/gpu reserve {line.removeprefix(PLANNED)}')}"))
    if read_at is not None:
        blocks.append(context(f"Prices as of {moment(read_at)}"))
    text = "Plan: nothing fits." if option is None else f"Plan: {_gist(option)}"
    return single(text, blocks)


def option_lines(
    option: Option, view: CardView | None, proposal: Proposal | None = None
) -> Iterator[str]:
    """Give the lines on one option: price, time, place, certainty, break-even, budget.

    `option` is what was bought, once something was; `proposal` is the one that it belongs to.
    """
    paid = {
        "upfront": "paid up front",
        "hourly": "paid by the hour",
        "already": "paid already",
    }[option.paid]
    amount = _sum_of(view, proposal)
    yield (
        f"{strong(exact_dollars(option.total_usd))} {amount}, {paid} · "
        f"{wording.hourly(option.usd_per_accelerator_hour)} per GPU-hour"
    )
    kind = wording.KINDS[option.kind]
    agreed = "" if view is None else _of_agreed(option, view, proposal)
    yield f"{shown(wording.machines(option))}{agreed} · {kind} · {shown(wording.place(option))}"
    yield f"Starts {moment(wording.began(option))}"
    yield f"Last usable minute {moment(option.usable_end)}"
    if len(option.segments) > 1:
        yield f"In {len(option.segments)} parts, with a gap between them"
    final = "can be cancelled" if option.cancellable else "*cannot be cancelled*"
    yield f"{wording.first_upper(wording.CERTAINTIES[option.certainty])} · {final}"
    if option.break_even_utilization is not None:
        said = view.reservation.request.utilization if view is not None else None
        use = f"; you said {wording.percent(said)}" if said is not None else ""
        even = wording.percent(option.break_even_utilization)
        yield f"Pays off above {even} of the time in use{use}"
    line = elsewhere_line(option, view) if view is not None and _undecided(view) else None
    if line is not None:
        yield line
    if view is not None and view.budget_left is not None and view.reservation.state in BEFORE_MONEY:
        yield f"Budget left this month: {exact_dollars(view.budget_left)}"


def _sum_of(view: CardView | None, proposal: Proposal | None) -> str:
    """Return what the amount counts: all of it, what is bought so far, or what began it."""
    if view is None:
        return "in all"
    if so_far(view, proposal):
        return "so far"
    return "without its extensions" if extended(view, proposal) else "in all"


def _undecided(view: CardView) -> bool:
    """Return whether the option can still be turned down."""
    return view.reservation.state in BEFORE_MONEY


def _of_agreed(option: Option, view: CardView, proposal: Proposal | None) -> str:
    """Return how many machines were agreed on, where fewer than that are bought."""
    agreed = proposal.option if proposal is not None else view.reservation.option
    if not confirmed(view, proposal) or agreed is None:
        return ""
    fewer = option.instance_count < agreed.instance_count
    return f", of {agreed.instance_count} agreed" if fewer else ""


def _head(view: CardView, names: Names) -> Iterator[str]:
    reservation = view.reservation
    tick = "✓ " if wording.sure(view) else ""
    name = strong(gpu_id(reservation.id))
    yield f"{name} · {shown(wording.wanted(reservation.request))}"
    state = strong(wording.first_upper(wording.state_words(view)))
    yield f"{tick}{state}{_more(view, names)}"
    if reservation.request.reason:
        yield f"For: {shown(cut(one_line(reservation.request.reason), MOST_REASON))}"


def _more(view: CardView, names: Names) -> str:
    """Return what belongs behind the state: until when, by whom, why."""
    note = f" — {shown(view.reservation.note)}" if view.reservation.note else ""
    progress = f" — {shown(view.progress)}" if view.progress else ""
    more = note
    match view.reservation.state:
        case State.REQUESTED:
            more = progress or "…"
        case State.PENDING_APPROVAL if view.proposal is not None:
            given = sum(1 for approval in view.approvals if approval.verdict == "approve")
            until = moment(view.proposal.expires_at)
            more = f", {given} of {view.proposal.needed} given, until {until}"
        case State.APPROVED | State.PURCHASING:
            who = [names(a.approver) for a in view.approvals if a.verdict == "approve"]
            more = (f" by {shown(', '.join(who))}" if who else "") + progress
        case State.DECLINED:
            denial = next((a for a in view.approvals if a.verdict == "deny"), None)
            if denial is not None:
                more = f" by {shown(names(denial.approver))}: {shown(denial.reason)}"
        case State.PAYMENT_PENDING if wording.prepaid(view):
            more = f" — AWS has the order and takes the payment; not certain before that{note}"
        case State.NEEDS_REVIEW:
            more = f" — it may have been bought; its money stays held{note}"
    return more


def _warnings(option: Option, *, bought: bool = False) -> tuple[str, ...]:
    known = SAID_ALREADY | BEFORE_BUYING if bought else SAID_ALREADY
    told = [note for note in option.warnings if note.code not in known]
    first = sorted(told, key=lambda note: note.code != "joined")
    return tuple(f"⚠ {dated(note.text)}" for note in first[:MOST_WARNINGS])


def _through(view: CardView) -> bool:
    """Return whether all of it is bought: what it might bring needs no warning any more."""
    whole = bool(confirmed(view)) and not so_far(view)
    return whole or view.reservation.state in PAID


def _small_print(view: CardView) -> Iterator[str]:
    option = wording.shown_option(view)
    if (
        view.reservation.state == State.QUOTED
        and option is not None
        and view.approvable_up_to is not None
        and not wording.approvable(view, option)
    ):
        most = exact_dollars(view.approvable_up_to)
        yield (
            f"Nobody here may approve more than {most}. Ask for less, for a shorter time, or have"
            " an administrator raise the limit."
        )
    if view.switch is Switch.OFF and view.reservation.state in BEFORE_MONEY:
        yield "Buying is stopped: nothing will be bought until an administrator resumes it."
    if view.switch is Switch.SHADOW and view.reservation.state in BEFORE_MONEY:
        yield "Shadow mode: everything happens but the purchase itself."
    for receipt in view.receipts[:6]:
        trouble = ", AWS no longer knows it" if receipt.gone else ""
        look = ", last look failed" if receipt.last_error else ""
        before, known = id_words(receipt)
        yield (
            f"{wording.first_upper(before)}{code(known)} is {shown(receipt.state)}{trouble}{look},"
            f" seen {moment(receipt.checked_at)}"
            f"{_counts(receipt)}"
        )
    if view.decided_at is not None and view.reservation.state in BEFORE_MONEY:
        yield f"Prices as of {moment(view.decided_at)}"


def _counts(receipt: Receipt) -> str:
    """Return how many machines are used, free and ill while AWS shows it."""
    words = counts_words(receipt) if receipt.state in ACTIVE_WORDS else ""
    return f" · {shown(words.strip(' .'))}" if words else ""


def _gist(option: Option) -> str:
    return (
        f"{exact_dollars(option.total_usd)} for {wording.machines(option)},"
        f" {wording.KINDS[option.kind]}, {utc_words(wording.began(option))}"
        f" to {utc_words(option.usable_end)}, {wording.CERTAINTIES[option.certainty]}"
    )


def _fallback(view: CardView, option: Option | None) -> str:
    reservation = view.reservation
    head = f"{gpu_id(reservation.id)}: {wording.wanted(reservation.request)}, "
    state = wording.state_words(view)
    apart = "; its extensions are paid apart" if extended(view) else ""
    gist = f". {_gist(option)}{apart}" if option is not None else ""
    return shown(f"{head}{state}{gist}.")


def budget_after(view: CardView, ceiling: Decimal) -> Decimal | None:
    """Return the month's budget once the proposal's ceiling is taken from it."""
    return None if view.budget_left is None else view.budget_left - ceiling
