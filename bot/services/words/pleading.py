"""Words to approvers, under the card that they decide on."""

from dataclasses import dataclass
from datetime import datetime

from bot.domain.records import Proposal, gpu_id
from bot.domain.saying import Announcement, Audience, Moment, Press, Section, Sentence, Strong
from bot.domain.values import dollars
from bot.policy.configuration import Configuration
from bot.ports import Transaction
from bot.services.words.telling import Telling, approval_key

ALONE = "gpu.alone"
"""The button with which a listed person acts alone; its argument is the proposal's number."""


def may_act_alone(user: str, proposal: Proposal, configuration: Configuration) -> bool:
    """Return whether the file lets this person act alone on so much in an emergency."""
    rule = configuration.approval.break_glass
    return rule is not None and user in rule.people and proposal.ceiling <= rule.up_to_usd


@dataclass(frozen=True, slots=True, kw_only=True)
class Pleading:
    """Writes notes to approvers, inside the caller's transaction."""

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

    def offer_alone(self, tx: Transaction, proposal: Proposal, user: str, *, now: datetime) -> bool:
        """Offer one listed person, in private and once, to act alone with a posted reason."""
        name = gpu_id(proposal.reservation_id)
        words: Sentence = (
            Strong(text=name),
            (
                f" waits for approval of {dollars(proposal.ceiling)}. In an emergency you may act"
                " alone: the reason that you give is posted for everybody. It can be done until "
            ),
            Moment(at=proposal.expires_at),
            ".",
        )
        press = Press(action=ALONE, label="Act alone …", argument=str(proposal.id), style="danger")
        telling = Telling(configuration=self.configuration)
        return telling.tell(tx, user, f"alone-{proposal.id}", (words,), now=now, presses=(press,))
