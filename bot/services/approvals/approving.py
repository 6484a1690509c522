"""Putting an option before approvers, and taking their word: each click is judged by the records.

Who somebody is gets read before the transaction; whether their word still counts is decided in
it, together with everything that follows from it.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from bot.domain.errors import ConflictError, NotAllowedError, UserError
from bot.domain.lifecycle import ProposalState, ReservationState
from bot.domain.market import Kind
from bot.domain.records import Approval, AuditEntry, Proposal, Reservation, Switch, gpu_id
from bot.domain.saying import Code, Mention
from bot.domain.values import money_text
from bot.policy.configuration import Configuration
from bot.policy.delegating import seat_of
from bot.policy.permitting import (
    Obstacle,
    Standing,
    approval_words,
    check_fit,
    may_approve,
    may_not_decide,
    unfit,
)
from bot.ports import Bell, Clock, Store, Transaction
from bot.services.approvals.proposing import Proposing
from bot.services.approvals.waiting import Waiting
from bot.services.commitments.closing import Closing
from bot.services.commitments.committing import POLICY, break_glass_name, commit
from bot.services.commitments.entitling import entitled, named, needed, seat_name, seats_taken
from bot.services.purchases.money_log import SILENT, MoneyLog, proposal_line
from bot.services.verifying import Verifying
from bot.services.words.auditing import write_audit
from bot.services.words.pleading import Pleading, may_act_alone
from bot.services.words.telling import Telling
from bot.services.words.views import switch_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Approving:
    """Takes approvals and denials; the last one needed commits the money."""

    store: Store
    clock: Clock
    verifying: Verifying
    telling: Telling
    closing: Closing
    pleading: Pleading
    proposing: Proposing
    waiting: Waiting
    configuration: Configuration
    bell: Bell
    log: MoneyLog = SILENT

    def approve(self, proposal_id: int, *, by: str) -> Proposal:
        """Record an approval; with the last one needed, hold the money and have it bought.

        Raises NotAllowedError with who may not and why, UserError when the proposal is old,
        expired, superseded, decided already, over a ceiling, or purchasing is stopped. Then
        nothing has changed.
        """
        before, given = self._look(proposal_id)
        standing = self._standing(before, by)
        void = self._no_longer(before, given)
        now = self.clock.now()
        try:
            with self.store.transaction() as tx:
                proposal, reservation = self._open(tx, proposal_id, now, by=by)
                self._take_seat(tx, proposal, reservation, standing, now)
                self._check_switch(tx, proposal)
                self._give(tx, proposal, by, "approve", now, reason="")
                agreed = [user for user in (*self._agreed(tx, proposal_id), by) if user not in void]
                voices = set(seats_taken(tx, proposal_id, agreed).values())
                if len(voices) >= needed(proposal, self.configuration):
                    proposal = commit(
                        tx,
                        proposal,
                        reservation,
                        by=by,
                        now=now,
                        telling=self.telling,
                        configuration=self.configuration,
                    )
                else:
                    self.telling.redraw(tx, reservation, now=now)
                    self.telling.redraw_proposal(tx, proposal_id, now=now)
        except NotAllowedError:
            self._offer_alone(before, standing, now)
            raise
        proposal_line(self.log, proposal, by=by)
        self.bell.ring()
        return proposal

    def break_glass(self, proposal_id: int, *, by: str, reason: str) -> Proposal:
        """Approve alone in an emergency, with a reason that is posted for all to read.

        Raises NotAllowedError unless the file names this person and the amount is within reach.
        """
        before, _ = self._look(proposal_id)
        standing = self.verifying.standing(by)
        check_fit(standing)
        if not may_act_alone(by, before, self.configuration):
            raise NotAllowedError("You may not act alone on this amount.")
        if not reason.strip():
            raise UserError("Acting alone needs a reason; it is posted for everybody.")
        now = self.clock.now()
        with self.store.transaction() as tx:
            proposal, reservation = self._open(tx, proposal_id, now, by=by)
            self._check_switch(tx, proposal)
            tx.facts.put(break_glass_name(proposal_id), by, at=now)
            if by not in {verdict.approver for verdict in tx.proposals.given(proposal_id)}:
                self._give(tx, proposal, by, "approve", now, reason=f"alone: {reason}")
            self.pleading.under_approval(
                tx,
                proposal,
                "break-glass",
                ((Mention(id=by), f" acts alone on {gpu_id(reservation.id)}: {reason}"),),
                now=now,
            )
            proposal = commit(
                tx,
                proposal,
                reservation,
                by=by,
                now=now,
                telling=self.telling,
                configuration=self.configuration,
            )
        proposal_line(self.log, proposal, by=by)
        self.bell.ring()
        return proposal

    def deny(self, proposal_id: int, *, by: str, reason: str) -> Proposal:
        """Refuse the proposal with a reason; the requester is told once.

        Raises as `approve` does.
        """
        before, _ = self._look(proposal_id)
        standing = self._standing(before, by)
        if not reason.strip():
            raise UserError("Please say why; the requester will read it.")
        now = self.clock.now()
        with self.store.transaction() as tx:
            proposal, reservation = self._open(tx, proposal_id, now, by=by)
            obstacle = unfit(standing) or self._voiceless(tx, proposal, standing, now)
            if obstacle is not None:
                raise may_not_decide(obstacle)
            if by not in {verdict.approver for verdict in tx.proposals.given(proposal_id)}:
                self._give(tx, proposal, by, "deny", now, reason=reason)
            moved = tx.proposals.move(proposal, ProposalState.DENIED, note=f"denied by @{by}")
            saved = tx.reservations.save(
                reservation.model_copy(
                    update={
                        "state": ReservationState.DECLINED,
                        "note": f"Denied: {reason}",
                        "updated_at": now,
                    }
                )
            )
            self.closing.release(tx, moved, now=now)
            write_audit(tx, saved, by, "proposal.denied", now, reason=reason)
            self.telling.note(
                tx,
                saved,
                f"denied-{proposal_id}",
                (
                    ("Denied by ", Mention(id=by, ping=False), f": {reason}"),
                    (
                        "To ask for something else, change and send: ",
                        Code(text=f"/gpu {saved.line}"),
                    ),
                ),
                now=now,
            )
            self.telling.redraw(tx, saved, now=now)
        proposal_line(self.log, moved, by=by)
        self.bell.ring()
        return moved

    def propose(self, reservation_id: int, *, by: str, rank: int | None = None) -> Proposal:
        """See Proposing.propose."""
        return self.proposing.propose(reservation_id, by=by, rank=rank)

    def expire(self, proposal_id: int) -> str:
        """See Waiting.expire."""
        return self.waiting.expire(proposal_id)

    def nudge(self, proposal_id: int) -> str:
        """See Waiting.nudge."""
        return self.waiting.nudge(proposal_id)

    def _look(self, proposal_id: int) -> tuple[Proposal, tuple[str, ...]]:
        with self.store.reading() as tx:
            given = tuple(verdict.approver for verdict in tx.proposals.given(proposal_id))
            return tx.proposals.get(proposal_id), given

    def _standing(self, proposal: Proposal, user: str) -> Standing:
        return self.verifying.standing(user, named(proposal, self.configuration))

    def _agreed(self, tx: Transaction, proposal_id: int) -> tuple[str, ...]:
        return tuple(
            verdict.approver
            for verdict in tx.proposals.given(proposal_id)
            if verdict.verdict == "approve"
        )

    def _no_longer(self, proposal: Proposal, given: Collection[str]) -> frozenset[str]:
        """Return earlier approvers whose word no longer counts: they left, or left the group."""
        if not given:
            return frozenset()
        standings = [self._standing(proposal, user) for user in given]
        now = self.clock.now()
        with self.store.reading() as tx:
            return frozenset(
                standing.user
                for standing in standings
                if (unfit(standing) or self._voiceless(tx, proposal, standing, now))
                not in (None, Obstacle.UNVERIFIED)
            )

    def _voiceless(
        self, tx: Transaction, proposal: Proposal, standing: Standing, now: datetime
    ) -> Obstacle | None:
        """Return NOT_NAMED for whoever neither is an approver nor stands in for one."""
        seat = seat_of(
            standing,
            approvers=entitled(tx, proposal, self.configuration),
            configuration=self.configuration,
            now=now,
        )
        return Obstacle.NOT_NAMED if seat is None else None

    def _take_seat(
        self,
        tx: Transaction,
        proposal: Proposal,
        reservation: Reservation,
        standing: Standing,
        now: datetime,
    ) -> None:
        """Write down whose voice it is. Raises NotAllowedError for whoever has none."""
        by = standing.user
        owner = self._owner(proposal, reservation)
        approvers = entitled(tx, proposal, self.configuration)
        seat = seat_of(
            standing,
            approvers=approvers,
            configuration=self.configuration,
            now=now,
            barred=(reservation.requester, owner),
        )
        given = [verdict.approver for verdict in tx.proposals.given(proposal.id)]
        taken = seats_taken(tx, proposal.id, given)
        obstacle = may_approve(
            standing,
            approvers=(*approvers, by) if seat is not None else approvers,
            requester=reservation.requester,
            owner=owner,
            given_by=(*given, *taken.values()),
        )
        if obstacle is None and seat in taken.values():
            obstacle = Obstacle.TWICE
        if obstacle is not None:
            raise may_not_decide(obstacle)
        if seat is not None and seat != by:
            tx.facts.put(seat_name(proposal.id, by), seat, at=now)

    def _offer_alone(self, proposal: Proposal, standing: Standing, now: datetime) -> None:
        """Tell somebody who may act alone in an emergency, in private, how that is done."""
        if unfit(standing) is not None or not may_act_alone(
            standing.user, proposal, self.configuration
        ):
            return
        with self.store.transaction() as tx:
            if tx.proposals.get(proposal.id).state is ProposalState.OPEN:
                self.pleading.offer_alone(tx, proposal, standing.user, now=now)
        self.bell.ring()

    def _owner(self, proposal: Proposal, reservation: Reservation) -> str:
        """Return whose consent would be self-approval; a lender consents to lend their own."""
        return reservation.requester if proposal.option.kind is Kind.OWNED else reservation.owner

    def _open(
        self, tx: Transaction, proposal_id: int, now: datetime, *, by: str
    ) -> tuple[Proposal, Reservation]:
        """Return the proposal if its buttons still have power. Raises UserError otherwise."""
        proposal = tx.proposals.get(proposal_id)
        reservation = tx.reservations.get(proposal.reservation_id)
        name = gpu_id(reservation.id)
        newest = tx.proposals.current(reservation.id)
        if proposal.state is ProposalState.APPROVED:
            who = [verdict.approver for verdict in tx.proposals.given(proposal_id)]
            mine = "you" if by in who else " and ".join(f"@{one}" for one in who) or POLICY
            raise UserError(f"{name} was already approved by {mine}.")
        if proposal.state is ProposalState.DENIED:
            raise UserError(f"{name} was already {proposal.note or 'denied'}.")
        if proposal.state is ProposalState.EXPIRED or now >= proposal.expires_at:
            raise UserError(f"{name}'s approval has expired. Nothing was bought; search again.")
        if proposal.state is ProposalState.SUPERSEDED and proposal.note:
            raise UserError(
                f"This card of {name} is out of date: {proposal.note}. Nothing is bought from it."
            )
        replaced = newest is None or newest.id != proposal_id
        if (
            proposal.state is ProposalState.SUPERSEDED
            or replaced
            or proposal.version != reservation.version
            or reservation.state is not ReservationState.PENDING_APPROVAL
        ):
            raise UserError(f"This card of {name} is out of date; look at the newest one.")
        return proposal, reservation

    def _check_switch(self, tx: Transaction, proposal: Proposal) -> None:
        if proposal.option.kind is Kind.OWNED:
            return
        if switch_of(tx, self.configuration) is Switch.OFF:
            raise UserError(
                "Purchasing is stopped, so nothing can be approved. An administrator can resume it."
            )

    def _give(
        self,
        tx: Transaction,
        proposal: Proposal,
        by: str,
        verdict: Literal["approve", "deny"],
        now: datetime,
        *,
        reason: str,
    ) -> None:
        try:
            tx.proposals.give(
                Approval(
                    proposal_id=proposal.id,
                    approver=by,
                    verdict=verdict,
                    at=now,
                    fee=proposal.ceiling,
                    reason=reason,
                )
            )
        except ConflictError as error:
            raise NotAllowedError(approval_words(Obstacle.TWICE)) from error
        tx.audit.append(
            AuditEntry(
                at=now,
                actor=by,
                action=f"proposal.{verdict}",
                reservation_id=proposal.reservation_id,
                facts={
                    "proposal": str(proposal.id),
                    "fee": money_text(proposal.ceiling),
                    "offering": "+".join(proposal.option.refs),
                    "reason": reason,
                },
            )
        )
