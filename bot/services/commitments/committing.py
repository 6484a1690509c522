"""The moment a proposal becomes a commitment: money held, purchase due, in one transaction."""

from datetime import datetime

from bot.domain.lifecycle import ProposalState, ReservationState
from bot.domain.market import Kind
from bot.domain.records import AuditEntry, Due, Proposal, Reservation, gpu_id
from bot.domain.values import money_text
from bot.policy.configuration import Configuration
from bot.ports import Transaction
from bot.services.commitments import budgeting
from bot.services.commitments.requoting import LAUNCH_GRACE, LAUNCHED_AT_START
from bot.services.words.telling import Telling

POLICY = "policy"
"""The actor on record when a tier needs nobody."""


def break_glass_name(proposal_id: int) -> str:
    """Return the name of the fact that somebody acted alone on a proposal."""
    return f"break-glass:{proposal_id}"


def commit(
    tx: Transaction,
    proposal: Proposal,
    reservation: Reservation,
    *,
    by: str,
    now: datetime,
    telling: Telling,
    configuration: Configuration,
) -> Proposal:
    """Approve for good: hold the money, have it bought. Raises UserError when it is too much."""
    if proposal.option.kind is not Kind.OWNED:
        budgeting.hold(tx, reservation, proposal, configuration=configuration, now=now)
    moved = tx.proposals.move(proposal, ProposalState.APPROVED, note=f"approved by @{by}")
    saved = tx.reservations.save(
        reservation.model_copy(
            update={"state": ReservationState.APPROVED, "note": "", "updated_at": now}
        )
    )
    subject = gpu_id(reservation.id)
    tx.dues.withdraw(subject, kinds=("propose-nudge",))
    tx.dues.plan(
        Due(
            key=f"buy:{subject}:{proposal.id}",
            kind="buy",
            subject=subject,
            at=_when_to_buy(proposal, now),
            argument=str(reservation.id),
        )
    )
    tx.audit.append(
        AuditEntry(
            at=now,
            actor=by,
            action="proposal.approved",
            reservation_id=reservation.id,
            facts={
                "proposal": str(proposal.id),
                "ceiling": money_text(proposal.ceiling),
                "offering": "+".join(proposal.option.refs),
            },
        )
    )
    telling.redraw(tx, saved, now=now)
    telling.redraw_proposal(tx, proposal.id, now=now)
    return moved


def standing_name(proposal_id: int) -> str:
    """Return the name of the fact until when an approved launch is tried again by itself."""
    return f"standing:{proposal_id}"


def standing_until(tx: Transaction, proposal_id: int) -> datetime | None:
    """Return until when an approved launch is tried again by itself; None when it is not."""
    said = tx.facts.get(standing_name(proposal_id))
    return datetime.fromisoformat(said) if said is not None else None


def good_until(tx: Transaction, proposal: Proposal) -> datetime:
    """Return until when an approved proposal may be bought.

    What is launched at its start only, on-demand and spot, is still to be bought then, and
    where somebody agreed to a standing retry, until that ends.
    """
    if proposal.state is ProposalState.APPROVED and proposal.option.kind in LAUNCHED_AT_START:
        start = proposal.option.segments[0].start + LAUNCH_GRACE
        standing = standing_until(tx, proposal.id)
        return max(proposal.expires_at, start, standing or start)
    return proposal.expires_at


def _when_to_buy(proposal: Proposal, now: datetime) -> datetime:
    if proposal.option.kind in LAUNCHED_AT_START:
        return max(now, proposal.option.segments[0].start)
    return now


def proposal_due(kind: str, proposal: Proposal, at: datetime, what: str) -> Due:
    """Return a due row about the proposal; `what` makes it unique among its kind's."""
    subject = gpu_id(proposal.reservation_id)
    return Due(
        key=f"{kind}:{subject}:{proposal.id}-{what}",
        kind=kind,
        subject=subject,
        at=at,
        argument=str(proposal.id),
    )
