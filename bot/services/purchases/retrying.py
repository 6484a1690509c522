"""Agreeing to a standing retry: an approved launch that found no capacity is tried again."""

from dataclasses import dataclass

from bot.domain.errors import UserError
from bot.domain.lifecycle import ProposalState, ReservationState
from bot.domain.records import AuditEntry, Reservation, gpu_id
from bot.domain.saying import Mention, Moment, Sentence
from bot.domain.values import money_text, utc_text
from bot.policy.configuration import Configuration
from bot.policy.permitting import not_yours
from bot.ports import Bell, Clock, Store
from bot.services.commitments import budgeting
from bot.services.commitments.committing import proposal_due, standing_name
from bot.services.commitments.walking import walks
from bot.services.purchases.quiet_hours import next_quiet
from bot.services.purchases.standing import Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrying:
    """Takes the requester's word that a refused launch goes on."""

    store: Store
    clock: Clock
    standing: Standing
    configuration: Configuration
    bell: Bell

    def begin(self, proposal_id: int, *, by: str) -> Reservation:
        """Hold the money again and have the launch tried at quieter hours; repeating is harmless.

        The approval must still be the newest one of this very request. Raises NotAllowedError
        for strangers, UserError when the request moved on, time ran out, or a ceiling is reached.
        """
        now = self.clock.now()
        with self.store.transaction() as tx:
            proposal = tx.proposals.get(proposal_id)
            reservation = tx.reservations.get(proposal.reservation_id)
            name = gpu_id(reservation.id)
            if by not in (
                reservation.requester,
                reservation.owner,
                *self.configuration.administrators,
            ):
                raise not_yours(name)
            if tx.facts.get(standing_name(proposal_id)) is not None:
                return reservation
            newest = tx.proposals.current(reservation.id)
            if (
                newest is None
                or newest.id != proposal_id
                or proposal.state is not ProposalState.APPROVED
                or proposal.version != reservation.version
                or reservation.state is not ReservationState.QUOTED
                or not all(walks(leg) for leg in proposal.legs)
            ):
                raise UserError(f"{name} has moved on; look at its card.", hint=f"status {name}")
            until = self.standing.until(reservation, proposal)
            moment = next_quiet(proposal.option.region, now)
            if moment >= until:
                raise UserError(
                    "There is no quieter hour left before it would be too late. Ask anew.",
                    hint=reservation.line,
                )
            budgeting.hold(tx, reservation, proposal, configuration=self.configuration, now=now)
            tx.facts.put(standing_name(proposal_id), utc_text(until), at=now)
            saved = self.standing.rest(tx, reservation, proposal, moment, now=now)
            tx.dues.plan(proposal_due("propose-expire", proposal, until, "standing"))
            tx.audit.append(
                AuditEntry(
                    at=now,
                    actor=by,
                    action="proposal.standing",
                    reservation_id=reservation.id,
                    facts={
                        "proposal": str(proposal_id),
                        "until": utc_text(until),
                        "ceiling": money_text(proposal.ceiling),
                    },
                )
            )
            words: Sentence = (
                Mention(id=by, ping=False),
                f" has {name} tried again at quieter hours, within this approval, until ",
                Moment(at=until),
                f". The next try is at {moment:%Y-%m-%d %H:%M} UTC.",
            )
            self.standing.pleading.under_approval(tx, proposal, "standing", (words,), now=now)
            self.standing.telling.redraw(tx, saved, now=now)
            self.standing.telling.redraw_proposal(tx, proposal_id, now=now)
        self.bell.ring()
        return saved
