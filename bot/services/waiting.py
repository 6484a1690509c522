"""While approvers have not answered: reminders with growing pauses, then the end."""

from collections.abc import Collection
from dataclasses import dataclass

from bot.domain.lifecycle import ProposalState, ReservationState
from bot.domain.records import AuditEntry, Proposal, gpu_id
from bot.domain.saying import Mention, Moment, Sentence
from bot.domain.values import utc_text
from bot.policy.ceilings import dollars
from bot.policy.configuration import Configuration
from bot.policy.tiers import nudge_times, tier_for
from bot.ports import Bell, Clock, Store
from bot.services.closing import Closing
from bot.services.committing import good_until, proposal_due
from bot.services.pleading import Pleading
from bot.services.telling import Telling

EXPIRING = frozenset({ReservationState.PENDING_APPROVAL, ReservationState.APPROVED})
"""States that end when a proposal's time runs out; a purchase that began is settled by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """Reminds approvers and closes what nobody answered."""

    store: Store
    clock: Clock
    telling: Telling
    closing: Closing
    pleading: Pleading
    configuration: Configuration
    bell: Bell

    def expire(self, proposal_id: int) -> str:
        """Close a proposal that was not answered, or not bought, in time; return what was done.

        The money is free again, the requester is told once, both cards lose their buttons.
        """
        now = self.clock.now()
        with self.store.transaction() as tx:
            proposal = tx.proposals.get(proposal_id)
            reservation = tx.reservations.get(proposal.reservation_id)
            newest = tx.proposals.current(reservation.id)
            if newest is None or newest.id != proposal_id or reservation.state not in EXPIRING:
                return "nothing to close"
            end = good_until(tx, proposal)
            if now < end:
                what = f"late-{utc_text(end)}"
                tx.dues.plan(proposal_due("propose-expire", proposal, end, what))
                return "not yet"
            if proposal.state is ProposalState.OPEN:
                proposal = tx.proposals.move(proposal, ProposalState.EXPIRED)
            saved = tx.reservations.save(
                reservation.model_copy(
                    update={
                        "state": ReservationState.EXPIRED,
                        "note": "Nobody answered in time; nothing was bought."
                        if proposal.state is ProposalState.EXPIRED
                        else "It could not be bought before the approval ran out.",
                        "updated_at": now,
                    }
                )
            )
            self.closing.release(tx, proposal, now=now)
            tx.loans.release(reservation.id)
            tx.audit.append(
                AuditEntry(
                    at=now,
                    actor="clock",
                    action="proposal.expired",
                    reservation_id=saved.id,
                    facts={"proposal": str(proposal_id)},
                )
            )
            self.telling.note(
                tx,
                saved,
                f"expired-{proposal_id}",
                (
                    (
                        "The time to agree ended ",
                        Moment(at=proposal.expires_at),
                        ". Nothing was bought; search again if it is still needed.",
                    ),
                ),
                now=now,
            )
            self.telling.redraw(tx, saved, now=now)
        self.bell.ring()
        return "expired"

    def nudge(self, proposal_id: int) -> str:
        """Remind those who have not answered, once for each pause; return what was done."""
        now = self.clock.now()
        with self.store.transaction() as tx:
            proposal = tx.proposals.get(proposal_id)
            tier = tier_for(proposal.ceiling, self.configuration)
            if proposal.state is not ProposalState.OPEN or tier is None:
                return "nobody to remind"
            times = nudge_times(proposal.asked_at, proposal.expires_at, tier.remind_after)
            passed = [moment for moment in times if moment <= now]
            ahead = [moment for moment in times if moment > now]
            if ahead:
                tx.dues.plan(proposal_due("propose-nudge", proposal, ahead[0], str(len(passed))))
            if not passed or now >= proposal.expires_at:
                return "nothing to say yet"
            answered = {verdict.approver for verdict in tx.proposals.given(proposal_id)}
            people = [who for who in tier.approvers if who not in answered]
            if not ahead:
                people += [who for who in tier.escalate_to if who not in people]
            self.pleading.under_approval(
                tx,
                proposal,
                f"nudge-{len(passed)}",
                (_nudge_words(proposal, people),),
                now=now,
            )
        self.bell.ring()
        return "reminded"


def _nudge_words(proposal: Proposal, people: Collection[str]) -> Sentence:
    names: Sentence = tuple(part for who in people for part in (Mention(id=who), " "))
    return (
        *names,
        f"{gpu_id(proposal.reservation_id)} for ${dollars(proposal.ceiling)} waits until ",
        Moment(at=proposal.expires_at),
        " for an answer.",
    )
