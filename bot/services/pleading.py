"""Words to approvers, under the card that they decide on."""

from dataclasses import dataclass
from datetime import datetime

from bot.domain.records import Proposal, gpu_id
from bot.domain.saying import Announcement, Audience, Press, Section, Sentence
from bot.policy.configuration import Configuration
from bot.ports import Transaction
from bot.services.telling import approval_key


@dataclass(frozen=True, slots=True, kw_only=True)
class Pleading:
    """Writes notes into the approvals channel, inside the caller's transaction."""

    configuration: Configuration

    def under_approval(
        self,
        tx: Transaction,
        proposal: Proposal,
        what: str,
        sentences: tuple[Sentence, ...],
        *,
        now: datetime,
        presses: tuple[Press, ...] = (),
    ) -> bool:
        """Say something once under the approvers' card; `what` makes it unique per proposal."""
        return tx.outbox.put(
            f"note:{gpu_id(proposal.reservation_id)}:{proposal.id}-{what}",
            Announcement(
                kind="note",
                to=Audience(channel=self.configuration.channels.approvals),
                reservation_id=proposal.reservation_id,
                proposal_id=proposal.id,
                thread=approval_key(proposal.id),
                sections=(Section(sentences=sentences),),
                presses=presses,
            ),
            at=now,
        )
