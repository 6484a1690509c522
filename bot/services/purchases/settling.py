"""What follows from the outcome of a purchase, inside the caller's transaction.

Doubt counts as spent: money goes back only with AWS's plain refusal, or for what was never sent.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from bot.domain.errors import RefusedError
from bot.domain.lifecycle import PurchaseState, ReservationState
from bot.domain.records import (
    AuditEntry,
    Due,
    Leg,
    Proposal,
    Purchase,
    Receipt,
    Reservation,
    gpu_id,
)
from bot.domain.saying import Code, Mention, Sentence
from bot.domain.values import dollars, money_text, utc_text
from bot.policy.configuration import Configuration
from bot.ports import Transaction
from bot.services.commitments.closing import Closing
from bot.services.commitments.refusals import Refusal, advice, sort_of
from bot.services.commitments.walking import walks
from bot.services.purchases.standing import Standing
from bot.services.requests.lapsing import lapse_due
from bot.services.requests.searching import quote_due, refusal_name
from bot.services.reservations.following import budget_key
from bot.services.reservations.looking import (
    ACTIVE_WORDS,
    WAITING_WORDS,
    id_words,
    is_extension,
)
from bot.services.reservations.overstaying import overstay_due
from bot.services.reservations.tendering import PREPAID
from bot.services.words.pleading import Pleading
from bot.services.words.telling import Telling
from bot.services.words.views import not_bought_name

FIRST_LOOK = timedelta(seconds=15)
"""AWS's own describe calls show a new tag within seconds, mostly."""

DOUBTFUL = frozenset({PurchaseState.SUBMITTED, PurchaseState.INDETERMINATE})


class Beginning(Protocol):
    """Plans what follows a purchase: looks and reminders (see reservations.following)."""

    def began(
        self,
        tx: Transaction,
        reservation: Reservation,
        receipts: Sequence[Receipt],
        *,
        now: datetime,
    ) -> None:
        """Plan it in the transaction that stores the receipts."""


def state_of(receipts: Sequence[Receipt]) -> ReservationState:
    """Return the state that AWS's own words allow: never further than its slowest part."""
    words = {receipt.state for receipt in receipts}
    if words and words <= ACTIVE_WORDS:
        return ReservationState.ACTIVE
    if words and words <= ACTIVE_WORDS | WAITING_WORDS:
        return ReservationState.SCHEDULED
    return ReservationState.PAYMENT_PENDING


@dataclass(frozen=True, slots=True, kw_only=True)
class Settling:
    """Writes down outcomes and tells people."""

    telling: Telling
    closing: Closing
    pleading: Pleading
    following: Beginning
    configuration: Configuration

    @property
    def standing(self) -> Standing:
        """Return who decides where and when a launch without capacity is tried again."""
        return Standing(
            telling=self.telling, pleading=self.pleading, configuration=self.configuration
        )

    def place_for(self, tx: Transaction, proposal: Proposal, leg: Leg) -> Leg | None:
        """See Standing.place_for."""
        return self.standing.place_for(tx, proposal, leg)

    def confirm(
        self, tx: Transaction, purchase: Purchase, receipts: Sequence[Receipt], *, now: datetime
    ) -> None:
        """Store what AWS sold, commit the exact fee, and go on with the reservation."""
        tx.purchases.move(
            purchase,
            PurchaseState.CONFIRMED,
            at=now,
            outcome=" ".join(receipt.id for receipt in receipts),
        )
        for receipt in receipts:
            tx.receipts.add(receipt)
        tx.budget.settle(
            budget_key(purchase.reservation_id, purchase.leg.number),
            amount=money_text(purchase.fee),
        )
        write(tx, purchase, "purchase.confirmed", now, receipts=[one.id for one in receipts])
        reservation = tx.reservations.get(purchase.reservation_id)
        proposal = tx.proposals.get(purchase.proposal_id)
        every = tx.receipts.of(reservation.id)
        if self._missing(tx, proposal):
            self._go_on(tx, reservation, purchase, now)
        else:
            reservation = self._save(tx, reservation, state_of(every), "", now)
            self._say_bought(tx, reservation, proposal, every, now)
        self.following.began(tx, reservation, every, now=now)
        if walks(purchase.leg):
            tx.dues.plan(overstay_due(purchase, purchase.leg.segments[-1].end))
        self._redraw(tx, reservation, proposal, now)

    def refuse(
        self, tx: Transaction, purchase: Purchase, error: RefusedError, *, now: datetime
    ) -> None:
        """Free the money of what AWS plainly refused; say what can be done."""
        tx.purchases.move(
            purchase, PurchaseState.REFUSED, at=now, outcome=f"{error.code}: {error.detail}"
        )
        write(tx, purchase, "purchase.refused", now, code=error.code)
        leg = purchase.leg
        sort = sort_of(error.code)
        if sort is Refusal.CAPACITY:
            name = refusal_name(leg.kind, leg.account, leg.region, leg.zone, leg.instance_type)
            tx.facts.put(name, utc_text(now), at=now)
        if sort is Refusal.CAPACITY and self.standing.goes_on(tx, purchase, now=now):
            self._redraw_of(tx, purchase, now)
            return
        record = tx.decisions.latest(purchase.reservation_id)
        self.give_up(
            tx,
            purchase.reservation_id,
            advice(error, leg, record.market if record else None),
            now=now,
            to=ReservationState.BLOCKED
            if sort in (Refusal.QUOTA, Refusal.PERMISSION)
            else ReservationState.QUOTED,
        )
        if sort is Refusal.CAPACITY:
            self.standing.offer(tx, purchase, now=now)

    def doubt(self, tx: Transaction, purchase: Purchase, text: str, *, now: datetime) -> None:
        """Count it as spent until AWS's books say otherwise, and look there soon."""
        tx.purchases.move(purchase, PurchaseState.INDETERMINATE, at=now, outcome=text)
        write(tx, purchase, "purchase.indeterminate", now, why=text)
        tx.dues.plan(reconcile_due(purchase, now + FIRST_LOOK))
        reservation = tx.reservations.get(purchase.reservation_id)
        proposal = tx.proposals.get(purchase.proposal_id)
        words: Sentence = (
            "AWS gave no clear answer to the purchase of ",
            Code(text=purchase.offering_ref),
            (
                f" for {dollars(purchase.fee)}. It counts as bought until AWS's books say"
                " otherwise; I am looking, and will not buy it again."
            ),
        )
        self._tell_both(tx, reservation, proposal, f"doubt-{purchase.id}", words=words, now=now)
        self._redraw(tx, reservation, proposal, now)

    def review(self, tx: Transaction, purchase: Purchase, *, now: datetime) -> None:
        """Have a named person look where our own looking has found nothing for long enough."""
        reservation = tx.reservations.get(purchase.reservation_id)
        proposal = tx.proposals.get(purchase.proposal_id)
        if reservation.state is not ReservationState.PURCHASING:
            return
        leg = purchase.leg
        saved = self._save(
            tx,
            reservation,
            ReservationState.NEEDS_REVIEW,
            "It is not known whether AWS sold this; its money stays held.",
            now,
        )
        write(tx, purchase, "purchase.needs_review", now)
        words: Sentence = (
            Mention(id=self.configuration.administrators[0]),
            (
                f" please look into account {leg.account}, {leg.region}: is there a"
                f" {leg.kind.replace('_', ' ')} of {leg.instance_count} x {leg.instance_type}"
                f" starting {leg.segments[0].start:%Y-%m-%d %H:%M} UTC that carries "
            ),
            Code(text=purchase.id),
            (
                f"? Its {dollars(purchase.fee)} stays held, and I go on looking every hour."
                " Nothing is bought again."
            ),
        )
        self._tell_both(tx, saved, proposal, f"review-{purchase.id}", words=words, now=now)
        self._redraw(tx, saved, proposal, now)

    def give_up(
        self,
        tx: Transaction,
        reservation_id: int,
        why: str,
        *,
        now: datetime,
        to: ReservationState,
    ) -> None:
        """Buy no more for this approval: withdraw what was never sent, free its money, say why.

        What was bought stays and is followed; what is in doubt stays held. Otherwise the
        reservation goes `to` a state from which only a fresh approval leads on.
        """
        reservation = tx.reservations.get(reservation_id)
        proposal = tx.proposals.current(reservation_id)
        if proposal is None:
            return
        for purchase in tx.purchases.of(reservation_id):
            if purchase.state is PurchaseState.INTENDED:
                tx.purchases.move(purchase, PurchaseState.WITHDRAWN, at=now, outcome=why)
                write(tx, purchase, "purchase.withdrawn", now, why=why)
        mine = [row for row in tx.purchases.of(reservation_id) if row.proposal_id == proposal.id]
        tx.facts.put(not_bought_name(proposal.id), why, at=now)
        self.closing.release(tx, proposal, now=now)
        if any(row.state in DOUBTFUL for row in mine):
            return
        if any(row.state is PurchaseState.CONFIRMED for row in mine):
            self._part(tx, reservation, proposal, why=why, now=now)
            return
        if reservation.state is ReservationState.PURCHASING and to is ReservationState.EXPIRED:
            to = ReservationState.QUOTED
        saved = self._save(tx, reservation, to, why, now)
        if to is ReservationState.QUOTED:
            tx.dues.plan(quote_due(saved, at=now, why=f"after-{saved.revision}"))
        if to is ReservationState.BLOCKED:
            tx.dues.plan(lapse_due(saved, self.configuration))
        words: Sentence = (f"Nothing was bought. {why}",)
        self._tell_both(tx, saved, proposal, f"not-bought-{saved.revision}", words=words, now=now)
        self._redraw(tx, saved, proposal, now)

    def _redraw_of(self, tx: Transaction, purchase: Purchase, now: datetime) -> None:
        reservation = tx.reservations.get(purchase.reservation_id)
        self._redraw(tx, reservation, tx.proposals.get(purchase.proposal_id), now)

    def _missing(self, tx: Transaction, proposal: Proposal) -> bool:
        done = {row.leg.number for row in _bought(tx, proposal.reservation_id)}
        return any(leg.number not in done for leg in proposal.legs)

    def _go_on(
        self,
        tx: Transaction,
        reservation: Reservation,
        purchase: Purchase,
        now: datetime,
    ) -> None:
        """Have the other parts bought; after a review only a person starts that again."""
        if reservation.state is not ReservationState.PURCHASING:
            self.give_up(
                tx,
                reservation.id,
                "The other parts were not bought, because this one was in doubt for too long.",
                now=now,
                to=ReservationState.QUOTED,
            )
            return
        subject = gpu_id(reservation.id)
        tx.dues.plan(
            Due(
                key=f"buy:{subject}:after-{purchase.id}",
                kind="buy",
                subject=subject,
                at=now,
                argument=str(reservation.id),
            )
        )

    def _part(
        self,
        tx: Transaction,
        reservation: Reservation,
        proposal: Proposal,
        *,
        why: str,
        now: datetime,
    ) -> None:
        bought = _bought(tx, reservation.id)
        paid = sum(row.fee for row in bought)
        text = f"Only {len(bought)} of {len(proposal.legs)} parts were bought, for ${paid:,.2f}."
        state = state_of(tx.receipts.of(reservation.id))
        saved = self._save(tx, reservation, state, text, now)
        words: Sentence = (
            (
                f"{text} {why} What was bought can't be given back; the rest is not tried again"
                " by itself: ask for it anew if it is still needed."
            ),
        )
        self._tell_both(tx, saved, proposal, f"part-{saved.revision}", words=words, now=now)
        self._redraw(tx, saved, proposal, now)

    def _say_bought(
        self,
        tx: Transaction,
        reservation: Reservation,
        proposal: Proposal,
        receipts: Sequence[Receipt],
        now: datetime,
    ) -> None:
        paid = sum(row.fee for row in _bought(tx, reservation.id))
        states = ", ".join(f"{''.join(id_words(one))} is {one.state}" for one in receipts)
        prepaid = proposal.option.kind in PREPAID
        how = "" if prepaid else ", paid by the hour"
        sure = "scheduled or active" if prepaid else "active or running"
        if any(is_extension(one) for one in receipts):
            sure = "payment-succeeded"
        words: Sentence = (
            (
                f"Bought for ${paid:,.2f}{how}. AWS says: {states}. It counts as yours once AWS"
                f" shows it {sure}; I will say so."
            ),
        )
        self._tell_both(tx, reservation, proposal, f"bought-{proposal.id}", words=words, now=now)

    def _save(
        self,
        tx: Transaction,
        reservation: Reservation,
        state: ReservationState,
        note: str,
        now: datetime,
    ) -> Reservation:
        fresh = tx.reservations.get(reservation.id)
        return tx.reservations.save(
            fresh.model_copy(update={"state": state, "note": note, "updated_at": now})
        )

    def _tell_both(
        self,
        tx: Transaction,
        reservation: Reservation,
        proposal: Proposal,
        what: str,
        *,
        words: Sentence,
        now: datetime,
    ) -> None:
        self.telling.note(tx, reservation, what, (words,), now=now)
        self.pleading.under_approval(tx, proposal, what, (words,), now=now)

    def _redraw(
        self, tx: Transaction, reservation: Reservation, proposal: Proposal, now: datetime
    ) -> None:
        self.telling.redraw(tx, reservation, now=now)
        self.telling.redraw_proposal(tx, proposal.id, now=now)


def _bought(tx: Transaction, reservation_id: int) -> Sequence[Purchase]:
    rows = tx.purchases.of(reservation_id)
    return [row for row in rows if row.state is PurchaseState.CONFIRMED]


def reconcile_due(purchase: Purchase, at: datetime) -> Due:
    """Return the due row of one look into AWS's books."""
    subject = gpu_id(purchase.reservation_id)
    return Due(
        key=f"reconcile:{subject}:{purchase.id}:{utc_text(at)}",
        kind="reconcile",
        subject=subject,
        at=at,
        argument=purchase.id,
    )


def write(
    tx: Transaction, purchase: Purchase, action: str, now: datetime, **facts: str | list[str]
) -> None:
    """Append the audit entry of one money step: actor, offering, fee, outcome."""
    said = {
        name: value if isinstance(value, str) else " ".join(value) for name, value in facts.items()
    }
    tx.audit.append(
        AuditEntry(
            at=now,
            actor=" ".join(purchase.approvers),
            action=action,
            reservation_id=purchase.reservation_id,
            purchase_id=purchase.id,
            facts={
                "offering": purchase.offering_ref,
                "fee": money_text(purchase.fee),
                "leg": str(purchase.leg.number),
                **said,
            },
        )
    )
