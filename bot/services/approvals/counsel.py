"""What people say around an approval besides yes and no: ask, answer, act alone, go on trying."""

from dataclasses import dataclass

from bot.domain.records import Proposal, Reservation
from bot.services.approvals.approving import Approving
from bot.services.approvals.questioning import Question, Questioning
from bot.services.purchases.retrying import Retrying


@dataclass(frozen=True, slots=True, kw_only=True)
class Counsel:
    """One door to the services behind the buttons of an approval and its notes."""

    questioning: Questioning
    approving: Approving
    retrying: Retrying

    def ask(self, proposal_id: int, *, by: str, text: str) -> Question:
        """See Questioning.ask."""
        return self.questioning.ask(proposal_id, by=by, text=text)

    def answer(self, proposal_id: int, number: int, *, by: str, text: str) -> Question:
        """See Questioning.answer."""
        return self.questioning.answer(proposal_id, number, by=by, text=text)

    def alone(self, proposal_id: int, *, by: str, reason: str) -> Proposal:
        """See Approving.break_glass."""
        return self.approving.break_glass(proposal_id, by=by, reason=reason)

    def retry(self, proposal_id: int, *, by: str) -> Reservation:
        """See Retrying.begin."""
        return self.retrying.begin(proposal_id, by=by)
