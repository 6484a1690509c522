"""Spending, at most once for each leg: commit "submitted", call, commit the outcome.

Exactly one request leaves for a purchase row, outside any transaction. A row that says submitted
is never called again, by anybody; what became of it is read in AWS's books.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.errors import ConflictError, RefusedError
from bot.domain.lifecycle import LIVE_PURCHASES, PurchaseState, ReservationState
from bot.domain.market import Kind
from bot.domain.records import Due, Leg, Proposal, Purchase, Receipt, gpu_id
from bot.domain.request import Request
from bot.domain.values import utc_text
from bot.policy.configuration import Configuration
from bot.ports import Bell, Buyer, Clock, MarketReader, Store, Transaction
from bot.services.commitments import budgeting
from bot.services.commitments.committing import POLICY, good_until
from bot.services.commitments.drafting import PREPAID
from bot.services.commitments.requoting import LAUNCHED_AT_START, Fit, Misfit, fresh, hourly
from bot.services.commitments.spending import Leave, Stop, approvers_of, leave
from bot.services.commitments.walking import walks
from bot.services.purchases.legs import agreed_fee, missing
from bot.services.purchases.lending import Lending
from bot.services.purchases.money_log import SILENT, MoneyLog, purchase_line
from bot.services.purchases.naming import purchase_id
from bot.services.purchases.reconciling import Reconciling
from bot.services.purchases.settling import DOUBTFUL, Settling, write

LOOK_AGAIN = timedelta(seconds=30)
_INTENDED = PurchaseState.INTENDED

BOUGHT = "bought"
SHADOWED = "shadowed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Purchasing:
    """Buys what is approved, and finds out what became of it.

    `spending_timeout` is how long one call to AWS may take; `started_at` when this process
    began: whoever submitted before it is gone.
    """

    store: Store
    clock: Clock
    market: MarketReader
    buyer: Buyer
    settling: Settling
    lending: Lending
    reconciling: Reconciling
    configuration: Configuration
    bell: Bell
    spending_timeout: timedelta = timedelta(seconds=90)
    started_at: datetime | None = None
    log: MoneyLog = SILENT

    def buy(self, reservation_id: int) -> str:
        """Buy every leg that is approved and not bought yet; return what was done.

        Safe to run twice and after a crash at any point. Raises MarketError when AWS can't be
        asked for the present price: nothing is bought, and it may be tried again.
        """
        outcome = self._buy(reservation_id)
        self.bell.ring()
        return outcome

    def reconcile(self, purchase_id: str) -> str:
        """See Reconciling.reconcile."""
        return self.reconciling.reconcile(purchase_id)

    def _buy(self, reservation_id: int) -> str:
        with self.store.reading() as tx:
            rows = tx.purchases.of(reservation_id)
            allowed = self._leave(tx, reservation_id)
        unclear = [row for row in rows if row.state in DOUBTFUL]
        if unclear:
            return self._unclear(unclear[0])
        if isinstance(allowed, Stop):
            return self._stopped(reservation_id, allowed)
        proposal = allowed.proposal
        if proposal.option.kind is Kind.OWNED:
            return self.lending.take(allowed.reservation, proposal)
        if proposal.option.kind in LAUNCHED_AT_START:
            start = self._launches(proposal)
            if self.clock.now() < start:
                return self._later(reservation_id, start, f"{proposal.id}-start-{utc_text(start)}")
        return self._buy_legs(allowed, rows)

    def _buy_legs(self, allowed: Leave, rows: Sequence[Purchase]) -> str:
        proposal, request = allowed.proposal, allowed.reservation.request
        to_buy = missing(rows, proposal)
        if len(to_buy) > 1 and len(to_buy) == len(proposal.legs):
            # Half a join is of no use: look at all parts before the first is paid.
            for leg in to_buy:
                fit = self._fit(proposal, leg, request)
                if isinstance(fit, Misfit):
                    return self._lost(proposal, leg, fit)
        for leg in to_buy:
            outcome = self._buy_leg(proposal, leg, request)
            if outcome not in (BOUGHT, SHADOWED):
                return outcome
        if allowed.shadow:
            return self._finish_shadow(proposal)
        return BOUGHT

    def _buy_leg(self, proposal: Proposal, leg: Leg, request: Request) -> str:
        leg = self._placed(proposal, leg)
        fit = self._fit(proposal, leg, request)
        if isinstance(fit, Misfit):
            return self._lost(proposal, leg, fit)
        try:
            with self.store.transaction() as tx:
                intended = self._intend(tx, proposal, leg, fit)
            if not isinstance(intended, Purchase):
                return self._stopped(proposal.reservation_id, intended)
            purchase_line(self.log, intended)
            if intended.state is PurchaseState.SHADOWED:
                return SHADOWED
            with self.store.transaction() as tx:
                submitted = self._submit(tx, proposal, intended)
        except ConflictError:
            return "another worker has it"
        if not isinstance(submitted, Purchase):
            return self._stopped(proposal.reservation_id, submitted)
        purchase_line(self.log, submitted)
        outcome, after = self._call(submitted)
        purchase_line(self.log, after)
        return outcome

    def _intend(
        self, tx: Transaction, proposal: Proposal, leg: Leg, fit: Fit
    ) -> Purchase | Stop | str:
        """Store the intention if it may still be spent; a text says which ceiling forbids it."""
        allowed = self._leave(tx, proposal.reservation_id)
        if isinstance(allowed, Stop):
            return allowed
        if allowed.proposal.id != proposal.id:
            return Stop.NOT_APPROVED
        now = self.clock.now()
        rows = tx.purchases.of(proposal.reservation_id)
        for row in rows:
            if row.leg.number == leg.number and row.state is PurchaseState.INTENDED:
                tx.purchases.move(row, PurchaseState.WITHDRAWN, at=now, outcome="begun anew")
        over = budgeting.renew(tx, proposal, leg.number, configuration=self.configuration, now=now)
        if over is not None:
            return over
        agreed = agreed_fee(proposal, leg, fit, rows)
        reservation = allowed.reservation
        approvers = approvers_of(tx, proposal) or (POLICY,)
        attempt = sum(row.leg.number == leg.number for row in rows) + 1
        purchase = Purchase(
            id=purchase_id(tx, proposal.reservation_id, leg.number, attempt, now=now),
            reservation_id=proposal.reservation_id,
            proposal_id=proposal.id,
            leg=leg.model_copy(update={"segments": fit.segments}),
            attempt=attempt,
            state=PurchaseState.INTENDED,
            offering_ref=fit.ref,
            fee=fit.fee,
            owner=reservation.owner,
            team=reservation.team,
            approvers=approvers,
            intended_at=now,
        )
        tx.purchases.add(purchase)
        write(tx, purchase, "purchase.intended", now, approved=str(agreed))
        if reservation.state is not ReservationState.PURCHASING:
            reservation = tx.reservations.save(
                reservation.model_copy(
                    update={"state": ReservationState.PURCHASING, "updated_at": now}
                )
            )
        if allowed.shadow:
            purchase = tx.purchases.move(purchase, PurchaseState.SHADOWED, at=now)
            write(tx, purchase, "purchase.shadowed", now)
        self.settling.telling.redraw(tx, reservation, now=now)
        return purchase

    def _submit(self, tx: Transaction, proposal: Proposal, intended: Purchase) -> Purchase | Stop:
        """Commit that the call is about to leave, if the leave to spend still stands."""
        allowed = self._leave(tx, proposal.reservation_id)
        if isinstance(allowed, Stop):
            return allowed
        if allowed.shadow or allowed.proposal.id != proposal.id:
            return Stop.SWITCHED_OFF
        now = self.clock.now()
        submitted = tx.purchases.move(intended, PurchaseState.SUBMITTED, at=now)
        write(tx, submitted, "purchase.submitted", now)
        return submitted

    def _call(self, purchase: Purchase) -> tuple[str, Purchase]:
        """Make the one call, commit its outcome; return it, and the row as it is then."""
        refusal: RefusedError | None = None
        text = ""
        receipts: tuple[Receipt, ...] = ()
        try:
            receipts = tuple(self.buyer.buy(purchase))
        except RefusedError as error:
            refusal = error
        except Exception as error:  # noqa: BLE001 — whatever went wrong, the money may be gone
            text = f"{type(error).__name__}: {error}"
        with self.store.transaction() as tx:
            outcome = self._settle(tx, purchase, receipts, refusal, text)
            return outcome, tx.purchases.get(purchase.id)

    def _settle(
        self,
        tx: Transaction,
        purchase: Purchase,
        receipts: Sequence[Receipt],
        refusal: RefusedError | None,
        text: str,
    ) -> str:
        """Write down what AWS answered.

        A sweep may have put the row in doubt meanwhile, or found the sale already; what AWS
        answered to this very call is proof all the same.
        """
        now = self.clock.now()
        stored = tx.purchases.get(purchase.id)
        if stored.state not in DOUBTFUL:
            return BOUGHT if stored.state is PurchaseState.CONFIRMED else str(stored.state)
        if receipts:
            self.settling.confirm(tx, stored, receipts, now=now)
            return BOUGHT
        if refusal is not None:
            self.settling.refuse(tx, stored, refusal, now=now)
            return "refused"
        if stored.state is PurchaseState.SUBMITTED:
            self.settling.doubt(tx, stored, text or "an answer without an id", now=now)
        return "in doubt"

    def _leave(self, tx: Transaction, reservation_id: int) -> Leave | Stop:
        return leave(tx, reservation_id, configuration=self.configuration, now=self.clock.now())

    def _launches(self, proposal: Proposal) -> datetime:
        """Return from when a launch may leave: its start, or that of its next round."""
        start = proposal.option.segments[0].start
        with self.store.reading() as tx:
            return max(start, self.settling.standing.begins(tx, proposal) or start)

    def _placed(self, proposal: Proposal, leg: Leg) -> Leg:
        """Return the leg at the first place that has not refused it in this round."""
        if not walks(leg):
            return leg
        with self.store.reading() as tx:
            return self.settling.place_for(tx, proposal, leg) or leg

    def _fit(self, proposal: Proposal, leg: Leg, request: Request) -> Fit | Misfit:
        """Ask AWS what it sells for the leg now. Raises MarketError."""
        if leg.kind not in PREPAID:
            return hourly(leg, request=request, now=self.clock.now())
        offers = self.market.requote(leg)
        with self.store.reading() as tx:
            bought = {
                row.offering_ref
                for row in tx.purchases.of(proposal.reservation_id)
                if row.state in LIVE_PURCHASES and row.leg.number != leg.number
            }
        others = {other.ref for other in proposal.legs if other.number != leg.number}
        return fresh(
            leg,
            offers,
            request=request,
            configuration=self.configuration,
            now=self.clock.now(),
            taken=(others - {leg.ref}) | bought,
        )

    def _lost(self, proposal: Proposal, leg: Leg, misfit: Misfit) -> str:
        """Say that the offer is no longer what was approved; only a fresh approval goes on.

        It may be gone because another worker is buying, or has bought, this very leg.
        """
        with self.store.transaction() as tx:
            if any(
                row.leg.number == leg.number and row.state in LIVE_PURCHASES - {_INTENDED}
                for row in tx.purchases.of(proposal.reservation_id)
            ):
                return "another worker has it"
            allowed = self._leave(tx, proposal.reservation_id)
            if isinstance(allowed, Leave) and allowed.proposal.id == proposal.id:
                self.settling.give_up(
                    tx,
                    proposal.reservation_id,
                    misfit.text,
                    now=self.clock.now(),
                    to=ReservationState.QUOTED,
                )
        return f"not bought: {misfit.lost}"

    def _stopped(self, reservation_id: int, stop: Stop | str) -> str:
        """Act on what stands against spending: an expiry ends it, a stop waits."""
        now = self.clock.now()
        with self.store.transaction() as tx:
            allowed = self._leave(tx, reservation_id)
            if isinstance(stop, Stop) and allowed is not stop:
                # The switch or the records moved between two looks: look again soon.
                soon = now + LOOK_AGAIN
                self._plan(tx, reservation_id, soon, f"again-{soon:%Y%m%d%H%M%S}")
                return "not bought: it moved on"
            if stop is Stop.NOT_APPROVED:
                return "nothing to buy"
            if stop is Stop.SWITCHED_OFF:
                self._say_stopped(tx, reservation_id, now)
            else:
                to = ReservationState.EXPIRED if stop is Stop.EXPIRED else ReservationState.QUOTED
                text = (
                    "The approval ran out before it could be bought."
                    if stop is Stop.EXPIRED
                    else str(stop)
                )
                self.settling.give_up(tx, reservation_id, text, now=now, to=to)
        return f"not bought: {stop}"

    def _say_stopped(self, tx: Transaction, reservation_id: int, now: datetime) -> None:
        proposal = tx.proposals.current(reservation_id)
        if proposal is None:
            return
        self._plan(tx, reservation_id, good_until(tx, proposal), f"{proposal.id}-end")
        self.settling.telling.note(
            tx,
            tx.reservations.get(reservation_id),
            f"stopped-{proposal.id}",
            (("Purchasing is stopped, so nothing is bought. It goes on when it is resumed.",),),
            now=now,
        )

    def _unclear(self, purchase: Purchase) -> str:
        """Leave a live call alone; treat one whose caller is gone as doubt."""
        if purchase.state is PurchaseState.INDETERMINATE:
            return "in doubt: AWS's books are being read"
        now = self.clock.now()
        sent = purchase.submitted_at or purchase.intended_at
        orphan = self.started_at is not None and sent < self.started_at
        old = sent + 2 * self.spending_timeout
        if not orphan and now < old:
            return self._later(purchase.reservation_id, old, f"{purchase.id}-sent")
        return self.reconciling.orphaned(purchase)

    def _finish_shadow(self, proposal: Proposal) -> str:
        with self.store.transaction() as tx:
            reservation = tx.reservations.get(proposal.reservation_id)
            if reservation.state is ReservationState.PURCHASING:
                self.settling.give_up(
                    tx,
                    reservation.id,
                    "Shadow mode: everything was done but the call that buys.",
                    now=self.clock.now(),
                    to=ReservationState.SHADOWED,
                )
        return SHADOWED

    def _later(self, reservation_id: int, at: datetime, what: str) -> str:
        with self.store.transaction() as tx:
            self._plan(tx, reservation_id, at, what)
        return f"waits until {at:%Y-%m-%d %H:%M:%S} UTC"

    def _plan(self, tx: Transaction, reservation_id: int, at: datetime, what: str) -> None:
        subject = gpu_id(reservation_id)
        tx.dues.plan(
            Due(
                key=f"buy:{subject}:{what}",
                kind="buy",
                subject=subject,
                at=at,
                argument=str(reservation_id),
            )
        )
