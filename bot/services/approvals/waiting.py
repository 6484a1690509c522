"""While approvers have not answered: reminders with growing pauses, then the end."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from bot.domain.lifecycle import ProposalState, ReservationState
from bot.domain.market import Kind
from bot.domain.records import AuditEntry, Proposal, Reservation, gpu_id
from bot.domain.saying import Mention, Moment, Sentence
from bot.domain.values import dollars, utc_text
from bot.policy.configuration import Configuration, Tier
from bot.policy.permitting import Obstacle, unfit
from bot.policy.tiers import escalation_time, everyone, nudge_times, tier_for
from bot.ports import Bell, Clock, Store, Transaction
from bot.services.commitments.closing import Closing
from bot.services.commitments.committing import good_until, proposal_due
from bot.services.commitments.entitling import escalated_name, needed
from bot.services.verifying import Verifying
from bot.services.words.pleading import Pleading, may_act_alone
from bot.services.words.telling import Telling
from bot.services.words.views import not_bought_name

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
    verifying: Verifying
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
            why = (
                "Nobody answered in time; nothing was bought."
                if proposal.state is ProposalState.EXPIRED
                else "It could not be bought before the approval ran out."
            )
            tx.facts.put(not_bought_name(proposal_id), why, at=now)
            saved = tx.reservations.save(
                reservation.model_copy(
                    update={
                        "state": ReservationState.EXPIRED,
                        "note": why,
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
        """Ask approvers at once, remind them with growing pauses, escalate silence.

        Quiet approvers are never pinged. When too few are left who could agree, it is escalated
        without waiting. Returns what was done.
        """
        with self.store.reading() as tx:
            proposal = tx.proposals.get(proposal_id)
            reservation = tx.reservations.get(proposal.reservation_id)
            given = [verdict.approver for verdict in tx.proposals.given(proposal_id)]
        tier = tier_for(proposal.ceiling, self.configuration)
        if proposal.state is not ProposalState.OPEN or tier is None:
            return "nobody to remind"
        owned = proposal.option.kind is Kind.OWNED
        stuck = not owned and self._too_few(proposal, reservation, everyone(tier), given)
        now = self.clock.now()
        with self.store.transaction() as tx:
            proposal = tx.proposals.get(proposal_id)
            if proposal.state is not ProposalState.OPEN or now >= proposal.expires_at:
                return "nobody to remind"
            passed = self._plan_next(tx, proposal, tier, now)
            pinged = proposal.approvers if owned else tier.approvers
            answered = {verdict.approver for verdict in tx.proposals.given(proposal_id)}
            people = [who for who in pinged if who not in answered]
            silent = now >= escalation_time(
                proposal.asked_at, proposal.expires_at, tier.remind_after
            )
            if (
                not owned
                and (stuck or silent)
                and self._escalate(tx, proposal, tier, now, stuck=stuck)
            ):
                people += [who for who in tier.escalate_to if who not in people]
            if not owned or passed:
                first = not passed and not silent
                what = "asked" if first else f"nudge-{passed}"
                words = (
                    _asked_words(proposal, people)
                    if first
                    else _nudge_words(proposal, people, passed)
                )
                self.pleading.under_approval(tx, proposal, what, (words,), now=now)
        self.bell.ring()
        return "reminded" if passed else "asked"

    def _plan_next(self, tx: Transaction, proposal: Proposal, tier: Tier, now: datetime) -> int:
        """Plan the next look; return how many reminders were due by now."""
        times = nudge_times(proposal.asked_at, proposal.expires_at, tier.remind_after)
        last = escalation_time(proposal.asked_at, proposal.expires_at, tier.remind_after)
        ahead = [moment for moment in (*times, last) if moment > now]
        if ahead:
            tx.dues.plan(proposal_due("propose-nudge", proposal, ahead[0], utc_text(ahead[0])))
        return sum(moment <= now for moment in times)

    def _escalate(
        self, tx: Transaction, proposal: Proposal, tier: Tier, now: datetime, *, stuck: bool
    ) -> bool:
        """Let more people answer, once; return whether there are any.

        Who may act alone in an emergency is told in private. With nobody left to turn to, the
        requester and an administrator hear it instead of waiting for nothing.
        """
        if tx.facts.get(escalated_name(proposal.id)) is not None:
            return bool(tier.escalate_to)
        tx.facts.put(escalated_name(proposal.id), utc_text(now), at=now)
        tx.audit.append(
            AuditEntry(
                at=now,
                actor="clock",
                action="proposal.escalated",
                reservation_id=proposal.reservation_id,
                facts={"proposal": str(proposal.id), "why": "too few left" if stuck else "silence"},
            )
        )
        rule = self.configuration.approval.break_glass
        for user in rule.people if rule is not None else ():
            if may_act_alone(user, proposal, self.configuration):
                self.pleading.offer_alone(tx, proposal, user, now=now)
        reservation = tx.reservations.get(proposal.reservation_id)
        if stuck:
            self._say_stuck(tx, reservation, proposal, tier, now)
        self.telling.redraw_proposal(tx, proposal.id, now=now)
        return bool(tier.escalate_to)

    def _say_stuck(
        self,
        tx: Transaction,
        reservation: Reservation,
        proposal: Proposal,
        tier: Tier,
        now: datetime,
    ) -> None:
        turned: Sentence = (
            tuple(part for who in tier.escalate_to for part in (" ", Mention(id=who)))
            if tier.escalate_to
            else (" an administrator: ", Mention(id=self.configuration.administrators[0]))
        )
        words: Sentence = (
            (
                f"Too few of those who may approve {dollars(proposal.ceiling)} are left: they are"
                " deactivated, outside, or asked for it themselves. I have turned to"
            ),
            *turned,
            ".",
        )
        self.telling.note(tx, reservation, f"stuck-{proposal.id}", (words,), now=now)
        self.pleading.under_approval(tx, proposal, "stuck", (words,), now=now)

    def _too_few(
        self,
        proposal: Proposal,
        reservation: Reservation,
        approvers: Collection[str],
        given: Collection[str],
    ) -> bool:
        """Return whether it is certain that not enough people are left; doubt is no certainty."""
        own = {reservation.requester, reservation.owner}
        able: set[str] = set()
        for who in approvers:
            people = self.verifying.members(who) if who.startswith("S") else (who,)
            if people is None:
                return False
            for user in people:
                if user in own or user in able:
                    continue
                obstacle = unfit(self.verifying.standing(user))
                if obstacle in (None, Obstacle.UNVERIFIED):
                    able.add(user)
            if len(able | set(given)) >= needed(proposal, self.configuration):
                return False
        return True


def _asked_words(proposal: Proposal, people: Collection[str]) -> Sentence:
    return (
        *_names(people),
        (
            f"{gpu_id(proposal.reservation_id)} asks for {dollars(proposal.ceiling)}: please"
            " answer by "
        ),
        Moment(at=proposal.expires_at),
        ".",
    )


def _names(people: Collection[str]) -> Sentence:
    return tuple(part for who in people for part in (Mention(id=who), " "))


def _nudge_words(proposal: Proposal, people: Collection[str], number: int) -> Sentence:
    count = f"reminder {number}: " if number > 1 else ""
    return (
        *_names(people),
        (
            f"{count}{gpu_id(proposal.reservation_id)} for {dollars(proposal.ceiling)} has waited"
            " for an answer since "
        ),
        Moment(at=proposal.asked_at),
        "; the time for it ends ",
        Moment(at=proposal.expires_at),
        ".",
    )
