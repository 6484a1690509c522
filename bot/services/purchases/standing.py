"""A launch without capacity: tried elsewhere at once, and at quieter hours if somebody agrees.

Everything stays inside the approval: the same machines, never above its price. Each attempt is a
purchase row of its own with its own token. Only AWS's plain refusal leads here.
"""

from dataclasses import dataclass
from datetime import datetime

from bot.domain.lifecycle import ProposalState, ReservationState
from bot.domain.records import Due, Leg, Proposal, Purchase, Reservation, gpu_id
from bot.domain.saying import Moment, Press, Sentence
from bot.domain.values import utc_text
from bot.policy.configuration import Configuration
from bot.ports import Transaction
from bot.services.commitments.committing import standing_until
from bot.services.commitments.walking import Places, next_place, places_of, walks
from bot.services.purchases.quiet_hours import next_quiet
from bot.services.words.pleading import Pleading
from bot.services.words.telling import Telling

RETRY = "gpu.retry"
"""The button that agrees to a standing retry; its argument is the proposal's number."""


def round_name(proposal_id: int) -> str:
    """Return the name of the fact since when refusals count: the present round's start."""
    return f"round:{proposal_id}"


def _places_name(proposal_id: int) -> str:
    return f"places:{proposal_id}"


def buy_due(reservation_id: int, *, at: datetime, what: str) -> Due:
    """Return the due row of an attempt to buy; `what` makes it unique."""
    subject = gpu_id(reservation_id)
    return Due(
        key=f"buy:{subject}:{what}",
        kind="buy",
        subject=subject,
        at=at,
        argument=str(reservation_id),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Decides where and when a refused launch goes on, inside the caller's transaction."""

    telling: Telling
    pleading: Pleading
    configuration: Configuration

    def place_for(self, tx: Transaction, proposal: Proposal, leg: Leg) -> Leg | None:
        """Return the leg at the next place of this round; None when all have refused it."""
        rows = [
            row
            for row in tx.purchases.of(proposal.reservation_id)
            if row.proposal_id == proposal.id and row.leg.number == leg.number
        ]
        return next_place(
            self._places(tx, proposal, leg).legs, rows, since=self.begins(tx, proposal)
        )

    def _places(self, tx: Transaction, proposal: Proposal, leg: Leg) -> Places:
        kept = tx.facts.get(_places_name(proposal.id))
        if kept is not None:
            return Places.model_validate_json(kept)
        record = tx.decisions.latest(proposal.reservation_id)
        return places_of(leg, proposal, record, self.configuration)

    def begins(self, tx: Transaction, proposal: Proposal) -> datetime | None:
        """Return when the present round begins; None when there is none but the first."""
        said = tx.facts.get(round_name(proposal.id))
        return datetime.fromisoformat(said) if said is not None else None

    def goes_on(self, tx: Transaction, purchase: Purchase, *, now: datetime) -> bool:
        """Have a refused launch tried at the next place, or at the next quiet hour agreed to.

        Its money stays held. Return False when there is no such place and time.
        """
        proposal = tx.proposals.current(purchase.reservation_id)
        reservation = tx.reservations.get(purchase.reservation_id)
        if (
            proposal is None
            or proposal.id != purchase.proposal_id
            or proposal.state is not ProposalState.APPROVED
            or reservation.state is not ReservationState.PURCHASING
            or not walks(purchase.leg)
        ):
            return False
        leg = next(one for one in proposal.legs if one.number == purchase.leg.number)
        if tx.facts.get(_places_name(proposal.id)) is None:
            # At the first refusal the newest decision is still the one that was approved.
            places = self._places(tx, proposal, leg)
            tx.facts.put(_places_name(proposal.id), places.model_dump_json(), at=now)
        place = self.place_for(tx, proposal, leg)
        if place is not None:
            tx.dues.plan(buy_due(reservation.id, at=now, what=f"walk-{purchase.id}"))
            return True
        until = standing_until(tx, proposal.id)
        moment = next_quiet(leg.region, now)
        if until is None or moment >= until:
            return False
        self._rest(tx, reservation, proposal, moment, now=now)
        return True

    def offer(self, tx: Transaction, purchase: Purchase, *, now: datetime) -> bool:
        """Offer the requester to go on trying at quieter hours; return whether there is a use."""
        proposal = tx.proposals.get(purchase.proposal_id)
        if not walks(purchase.leg) or standing_until(tx, proposal.id) is not None:
            return False
        reservation = tx.reservations.get(purchase.reservation_id)
        until = self.until(reservation, proposal)
        leg = next(one for one in proposal.legs if one.number == purchase.leg.number)
        if reservation.state is not ReservationState.QUOTED or next_quiet(leg.region, now) >= until:
            return False
        words: Sentence = (
            (
                "No zone or region within the approval had capacity. I can go on trying at quieter"
                " hours until "
            ),
            Moment(at=until),
            ", for the same machines at no more than the approved price.",
        )
        press = Press(action=RETRY, label="Keep trying", argument=str(proposal.id), style="primary")
        return self.telling.note(
            tx, reservation, f"retry-{proposal.id}", (words,), now=now, presses=(press,)
        )

    def until(self, reservation: Reservation, proposal: Proposal) -> datetime:
        """Return until when trying again makes sense: the file's limit, and what was asked."""
        request = reservation.request
        start, end = proposal.option.segments[0].start, proposal.option.segments[-1].end
        times = [max(proposal.asked_at, start) + self.configuration.limits.retry_for]
        if request.latest_start is not None:
            times.append(request.latest_start)
        if request.latest_end is not None:
            times.append(request.latest_end - (end - start))
        return min(times)

    def _rest(
        self,
        tx: Transaction,
        reservation: Reservation,
        proposal: Proposal,
        moment: datetime,
        *,
        now: datetime,
    ) -> None:
        """Wait as approved, so that it can still be cancelled, until a round begins anew."""
        quoted = tx.reservations.save(
            reservation.model_copy(update={"state": ReservationState.QUOTED, "updated_at": now})
        )
        self.rest(tx, quoted, proposal, moment, now=now)

    def rest(
        self,
        tx: Transaction,
        reservation: Reservation,
        proposal: Proposal,
        moment: datetime,
        *,
        now: datetime,
    ) -> Reservation:
        """Make a quoted reservation wait as approved for the next round at the moment."""
        saved = tx.reservations.save(
            reservation.model_copy(
                update={
                    "state": ReservationState.APPROVED,
                    "note": f"No capacity yet; the next try is at {moment:%Y-%m-%d %H:%M} UTC.",
                    "updated_at": now,
                }
            )
        )
        tx.facts.put(round_name(proposal.id), utc_text(moment), at=now)
        tx.dues.plan(
            buy_due(reservation.id, at=moment, what=f"{proposal.id}-round-{utc_text(moment)}")
        )
        return saved
