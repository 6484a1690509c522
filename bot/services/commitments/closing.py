"""Ending what stood in front of a purchase: proposals lose their power, money goes back."""

from dataclasses import dataclass
from datetime import datetime

from bot.domain.lifecycle import ProposalState
from bot.domain.records import Proposal, Reservation, gpu_id
from bot.ports import Transaction
from bot.services.commitments.budgeting import free_unbought
from bot.services.words.telling import Telling

PROPOSING = ("propose-expire", "propose-nudge")
"""Kinds of due rows that belong to a proposal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Closing:
    """Takes proposals back inside the caller's transaction."""

    telling: Telling

    def withdraw_proposal(
        self, tx: Transaction, reservation: Reservation, *, now: datetime, note: str
    ) -> Proposal | None:
        """Supersede the open proposal, free unbought money, drop its due rows, redraw its card.

        `note` says why in words that approvers read: "withdrawn by @U…", "the request was changed".
        Returns the reservation's newest proposal; None when there was none.
        """
        proposal = tx.proposals.current(reservation.id)
        if proposal is None:
            return None
        if proposal.state is ProposalState.OPEN:
            proposal = tx.proposals.move(proposal, ProposalState.SUPERSEDED, note=note)
        self.release(tx, proposal, now=now)
        return proposal

    def release(self, tx: Transaction, proposal: Proposal, *, now: datetime) -> None:
        """Free the money of what was not bought, and close the approvers' card."""
        free_unbought(tx, proposal)
        tx.dues.withdraw(gpu_id(proposal.reservation_id), kinds=PROPOSING)
        self.telling.redraw_proposal(tx, proposal.id, now=now)
