"""An administrator's word that AWS never sold something: the one way by which doubt frees money."""

from dataclasses import dataclass

from bot.domain.errors import MarketError, UserError
from bot.domain.lifecycle import PurchaseState, ReservationState
from bot.domain.records import AuditEntry, Purchase, gpu_id
from bot.domain.saying import Code, Sentence
from bot.domain.values import dollars, money_text
from bot.ports import Buyer, Clock, Store
from bot.services.commitments.closing import Closing
from bot.services.purchases.settling import DOUBTFUL, state_of
from bot.services.reservations.following import budget_key
from bot.services.words.pleading import Pleading
from bot.services.words.telling import Telling


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaring:
    """Settles what needs review as not bought."""

    store: Store
    clock: Clock
    buyer: Buyer
    telling: Telling
    closing: Closing
    pleading: Pleading

    def not_bought(self, purchase_id: str, *, by: str, reason: str) -> Purchase:
        """Call a purchase in doubt refused, free its money, and say who said so and why.

        AWS's books are read once more first: what is there, or can't be read, is not declared
        away. Raises UserError unless the reservation waits for a review.
        """
        words = " ".join(reason.split())
        if not words:
            raise UserError("Say how you know: the reason is kept for ever.")
        with self.store.reading() as tx:
            purchase = tx.purchases.get(purchase_id)
            reservation = tx.reservations.get(purchase.reservation_id)
        name = gpu_id(reservation.id)
        if (
            purchase.state is not PurchaseState.INDETERMINATE
            or reservation.state is not ReservationState.NEEDS_REVIEW
        ):
            raise UserError(
                f"{purchase_id} is {purchase.state} and {name} is"
                f" {reservation.state.replace('_', ' ')}: there is nothing to declare."
            )
        self._check_books(purchase)
        now = self.clock.now()
        with self.store.transaction() as tx:
            settled = tx.purchases.move(
                tx.purchases.get(purchase_id),
                PurchaseState.REFUSED,
                at=now,
                outcome=f"declared as not bought by {by}: {words}",
            )
            tx.budget.free(budget_key(reservation.id, purchase.leg.number))
            bought = tx.receipts.of(reservation.id)
            open_still = any(row.state in DOUBTFUL for row in tx.purchases.of(reservation.id))
            state = state_of(bought) if bought else ReservationState.FAILED
            saved = tx.reservations.save(
                tx.reservations.get(reservation.id).model_copy(
                    update={
                        "state": ReservationState.NEEDS_REVIEW if open_still else state,
                        "note": "An administrator found that AWS never sold it.",
                        "updated_at": now,
                    }
                )
            )
            tx.audit.append(
                AuditEntry(
                    at=now,
                    actor=by,
                    action="purchase.declared",
                    reservation_id=reservation.id,
                    purchase_id=purchase_id,
                    facts={
                        "declared": "not bought",
                        "reason": words,
                        "fee": money_text(purchase.fee),
                        "offering": purchase.offering_ref,
                    },
                )
            )
            proposal = tx.proposals.get(purchase.proposal_id)
            said: Sentence = (
                "An administrator declared that AWS never sold ",
                Code(text=purchase.offering_ref),
                f": {words}. Its {dollars(purchase.fee)} is free again. Ask anew if it is needed.",
            )
            self.telling.note(tx, saved, f"declared-{purchase_id}", (said,), now=now)
            self.pleading.under_approval(tx, proposal, f"declared-{purchase_id}", (said,), now=now)
            self.closing.release(tx, proposal, now=now)
            self.telling.redraw(tx, saved, now=now)
        return settled

    def _check_books(self, purchase: Purchase) -> None:
        try:
            found = self.buyer.find(purchase)
        except MarketError as error:
            raise UserError(
                f"AWS's books could not be read just now ({error.why}), so nothing is declared."
            ) from error
        if found:
            ids = ", ".join(receipt.id for receipt in found)
            raise UserError(
                f"AWS's books show {ids} for it: it was bought. The running bot adopts it at its"
                " next look."
            )
