"""The card that approvers decide from. Its buttons are there only while it can be decided."""

from collections.abc import Iterator

from bot.domain.decision import Option
from bot.domain.lifecycle import ProposalState, ReservationState
from bot.domain.market import Kind
from bot.domain.records import Proposal, gpu_id
from bot.domain.values import exact_dollars
from bot.services.words.views import CardView
from handlers import ids
from handlers.cards import wording
from handlers.cards.bought import as_bought, confirmed, open_money, paid, so_far
from handlers.cards.decision import MOST_REASON, TIMES, budget_after, option_lines
from handlers.cards.limits import single
from handlers.rendering import (
    Names,
    actions,
    button,
    context,
    cut,
    dated,
    moment,
    one_line,
    peopled,
    section,
    shown,
    strong,
    unnamed,
    utc_words,
)
from handlers.reply import Block, Message

MOST_WARNINGS = 6
FALLEN_BACK = frozenset(
    {
        ReservationState.QUOTED,
        ReservationState.BLOCKED,
        ReservationState.EXPIRED,
        ReservationState.CANCELLED,
    }
)
"""States behind an approval in which nothing more is bought from it."""


def approval_card(view: CardView, names: Names = unnamed) -> Message:
    """Return the proposal's card. The view holds a proposal."""
    proposal = view.proposal
    if proposal is None:
        return Message(f"{gpu_id(view.reservation.id)} has nothing to approve.")
    option = as_bought(proposal.option, view, proposal)
    blocks: list[Block] = [
        section("\n".join(_question(view, proposal, names))),
        section("\n".join(option_lines(option, view, proposal))),
    ]
    asked = proposal.state is ProposalState.OPEN
    if asked:
        blocks.append(section("\n".join(_money(view, proposal))))
    if asked:
        read_at = min(view.decided_at or proposal.asked_at, proposal.asked_at)
        warnings = _warnings(proposal)
        blocks += [context(*warnings)] if warnings else []
        blocks.append(context(f"Prices as of {moment(read_at)}"))
    verdicts = tuple(_verdicts(view, names))
    if verdicts:
        blocks.append(context(*verdicts))
    if asked:
        blocks += actions(list(verdict_buttons(proposal)))
    return single(_fallback(view, proposal, names), blocks)


def _warnings(proposal: Proposal) -> list[str]:
    """Return what else to know, without the times that stand above already."""
    kept = [note for note in proposal.option.warnings if note.code not in TIMES]
    return [f"⚠ {dated(note.text)}" for note in kept[:MOST_WARNINGS]]


def _question(view: CardView, proposal: Proposal, names: Names) -> Iterator[str]:
    ceiling = strong(exact_dollars(proposal.ceiling))
    request = view.reservation.request
    yield f"{strong(gpu_id(view.reservation.id))} · {shown(wording.wanted(request))}"
    match proposal.state:
        case ProposalState.OPEN:
            yield f"Approve up to {ceiling} until {moment(proposal.expires_at)}"
            if proposal.needed > 1:
                yield f"{proposal.needed} different people must agree"
        case ProposalState.EXPIRED:
            yield f"*Expired* {moment(proposal.expires_at)}. Nothing was bought"
        case _:
            yield peopled(strong(_outcome(view, proposal)), names)
            if why := _why_not(view, proposal):
                yield shown(why)
    team = f", team {shown(proposal.team)}" if proposal.team else ""
    yield f"Asked by {shown(names(proposal.asked_by))}{team}"
    if reason := one_line(request.reason or ""):
        yield f"For: {shown(cut(reason, MOST_REASON))}"
    else:
        yield "No reason was given"


def _outcome(view: CardView, proposal: Proposal) -> str:
    """Return what became of a question that is not open any more."""
    match proposal.state:
        case ProposalState.DENIED:
            return f"Denied: nothing was bought for {exact_dollars(proposal.ceiling)}"
        case ProposalState.SUPERSEDED:
            why = proposal.note or "a newer question replaced it"
            return f"No longer asked: {why}. Nothing is bought from this one"
        case ProposalState.EXPIRED:
            return "Expired, nothing was bought"
        case _:
            approved = f"Approved up to {exact_dollars(proposal.ceiling)}"
            return f"{approved}{_followed(view, proposal)}"


def _followed(view: CardView, proposal: Proposal) -> str:
    """Return what an approval has led to, as far as it is certain."""
    rows = confirmed(view, proposal)
    if rows:
        part = "bought so far" if so_far(view, proposal) else "bought"
        if part == "bought" and _in_part(view, proposal):
            part = "but only a part was bought,"
        return f", {part} for {exact_dollars(paid(rows))}"
    if open_money(view, proposal):
        return ""
    if view.reservation.state is ReservationState.SHADOWED:
        return ", rehearsed only: nothing was bought"
    if view.not_bought or view.reservation.state in FALLEN_BACK:
        lent = proposal.option.kind is Kind.OWNED
        return f", but nothing was {'lent' if lent else 'bought'}"
    return ""


def _in_part(view: CardView, proposal: Proposal) -> bool:
    done = {row.leg.number for row in confirmed(view, proposal)}
    return any(leg.number not in done for leg in proposal.legs)


def _why_not(view: CardView, proposal: Proposal) -> str:
    """Return why an approval brought nothing, or only a part; empty when it did or may yet."""
    if proposal.state is not ProposalState.APPROVED or open_money(view, proposal):
        return ""
    if confirmed(view, proposal) and not _in_part(view, proposal):
        return ""
    fallen = view.reservation.state in FALLEN_BACK
    return view.not_bought or (view.reservation.note if fallen else "")


def _money(view: CardView, proposal: Proposal) -> Iterator[str]:
    other = _alternative(view, proposal.option)
    if other is None:
        yield "No other option was found"
    else:
        yield (
            f"Next best: {exact_dollars(other.total_usd)},"
            f" {shown(wording.KINDS[other.kind])}, {wording.CERTAINTIES[other.certainty]}"
        )
    after = budget_after(view, proposal.ceiling)
    if after is None:
        yield "The team has no monthly budget set"
    else:
        short = " — *over the budget*" if after < 0 else ""
        yield f"Budget left after it: {_signed(view, proposal)}{short}"


def _signed(view: CardView, proposal: Proposal) -> str:
    after = budget_after(view, proposal.ceiling)
    return "" if after is None else exact_dollars(after)


def _alternative(view: CardView, option: Option) -> Option | None:
    options = view.decision.options if view.decision is not None else ()
    return next((other for other in options if other.refs != option.refs), None)


def _verdicts(view: CardView, names: Names) -> Iterator[str]:
    if view.proposal is not None and view.proposal.auto:
        yield "Nobody was asked: the rules, or a permission given ahead, allow it."
    for approval in view.approvals:
        said = "Approved" if approval.verdict == "approve" else "Denied"
        reason = shown(approval.reason or "")
        why = f": {reason}" if reason else ""
        yield f"{said} by {shown(names(approval.approver))} {moment(approval.at)}{why}"


def verdict_buttons(proposal: Proposal) -> Iterator[Block]:
    """Give the buttons with which an approver decides."""
    value = ids.ButtonValue(proposal=proposal.id).text()
    amount = exact_dollars(proposal.ceiling)
    final = "" if proposal.option.cancellable else " It cannot be cancelled afterwards."
    yield button(
        f"Approve {amount}",
        ids.APPROVE,
        value,
        style="primary",
        confirm=f"Up to {amount} may be spent for this.{final}",
    )
    yield button("Deny", ids.DENY, value, style="danger")
    yield button("Ask …", ids.ASK, value)


def _fallback(view: CardView, proposal: Proposal, names: Names) -> str:
    amount = exact_dollars(proposal.ceiling)
    name = gpu_id(view.reservation.id)
    if proposal.state is ProposalState.OPEN:
        until = utc_words(proposal.expires_at)
        return shown(f"Approve up to {amount} for {name} until {until}?")
    outcome = wording.first_lower(_outcome(view, proposal))
    head = name if amount in outcome else f"{name}, asked for {amount}"
    return peopled(shown(f"{head}: {outcome}."), names)
