"""Follows what was bought until its last minute: states, counts, and what they mean for people.

"Ready" is said only when AWS's own state says active, once per segment. A payment that fails
frees the money and tells requester and approvers. States that we do not know are shown raw.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.domain.errors import ConflictError
from bot.domain.lifecycle import LIVE_RESERVATIONS, ReservationState
from bot.domain.records import AuditEntry, Due, Receipt, Reservation, gpu_id
from bot.domain.using import GpuUse
from bot.ports import Clock, Holdings, Store, Transaction, Utilisation
from bot.services.reservations import agenda, milestones, progress, sequels
from bot.services.reservations.extensions import parent_of
from bot.services.reservations.gpu_reading import read_gpus
from bot.services.reservations.idling import Idling
from bot.services.reservations.looking import (
    ACTIVE_WORDS,
    FAILED_WORDS,
    MINUTE,
    PAID_WORDS,
    PENDING_WORDS,
    next_look,
    on_minute,
    state_from,
)
from bot.services.reservations.reminding import Reminding
from bot.services.reservations.reporting import report_words
from bot.services.reservations.sharing import end_shares, plan_share, share_of
from bot.services.words.telling import Telling

CHUNK = 25
"""So many reservations are settled in one transaction: few commits, and no long lock."""

_S = ReservationState


@dataclass(frozen=True, slots=True, kw_only=True)
class Following:
    """Keeps receipts and reservations as AWS shows them."""

    store: Store
    clock: Clock
    holdings: Holdings
    reminding: Reminding
    telling: Telling
    utilisation: Utilisation | None = None

    def began(
        self,
        tx: Transaction,
        reservation: Reservation,
        receipts: Sequence[Receipt],
        *,
        now: datetime,
    ) -> None:
        """Plan all that follows a purchase, in the transaction that stores its receipts."""
        for account, region in {(one.account, one.region) for one in receipts}:
            agenda.plan(tx, reservation.id, (account, region), now + MINUTE, now=now)
        self.reminding.plan(tx, reservation, receipts)
        sequels.when_bought(tx, reservation, receipts, now=now)
        for receipt in receipts:
            plan_share(tx, reservation, receipt, self.telling.configuration, now=now)

    def followed(self, tx: Transaction, account: str, region: str) -> Sequence[Receipt]:
        """Return what is followed in an account and region and is there."""
        return agenda.followed(tx, (account, region))

    def hasten(self, tx: Transaction, receipt: Receipt, *, why: str, now: datetime) -> bool:
        """Have it looked at now. See agenda.hasten."""
        return agenda.hasten(tx, receipt, why=why, now=now)

    def follow(self, due: Due) -> str:
        """Look once at everything in an account and region whose time has come.

        Returns what was done, for the log. After an outage all that waited is one batch.
        """
        place = agenda.place_of(due)
        with self.store.reading() as tx:
            names = agenda.waiting(tx, place, now=self.clock.now())
            before = [
                receipt
                for number in names
                for receipt in tx.receipts.of(number)
                if agenda.is_at(receipt, place) and not receipt.gone
            ]
        if not names:
            return "nothing to look at"
        seen = self.holdings.look(before) if before else {}
        gpus = self._gpus(list(seen.values()))
        failed: list[Exception] = []
        for first in range(0, len(names), CHUNK):
            chunk = names[first : first + CHUNK]
            failed += self._settle_all(chunk, place, seen, gpus)
        if failed:
            # All others have moved on; the row is tried again with those that failed alone.
            raise failed[0]
        return f"looked at {len(before)} of {len(names)} reservations"

    def _gpus(self, receipts: Sequence[Receipt]) -> Mapping[str, GpuUse]:
        """Return how busy the GPUs of running machines are, where somebody can tell."""
        limits = self.telling.configuration.limits
        if self.utilisation is None or limits.idle_gpu_below is None:
            return {}
        running = [one for one in receipts if one.state in ACTIVE_WORDS and not one.last_error]
        if not running:
            return {}
        with self.store.reading() as tx:
            shares = {receipt.id: share_of(tx, receipt) for receipt in running}
        return read_gpus(self.utilisation, running, shares, window=limits.idle_after)

    def _settle_all(
        self,
        names: Sequence[int],
        place: tuple[str, str],
        seen: Mapping[str, Receipt],
        gpus: Mapping[str, GpuUse],
    ) -> list[Exception]:
        """Settle all in one transaction; one that fails must not hold up the others."""
        try:
            with self.store.transaction() as tx:
                for number in names:
                    self._settle(tx, number, place, seen, gpus)
        except Exception as error:  # noqa: BLE001 - found again below, by itself
            if len(names) == 1:
                return [error]
        else:
            return []
        return [
            error for number in names for error in self._settle_all([number], place, seen, gpus)
        ]

    def _settle(
        self,
        tx: Transaction,
        reservation_id: int,
        place: tuple[str, str],
        seen: Mapping[str, Receipt],
        gpus: Mapping[str, GpuUse],
    ) -> None:
        now = self.clock.now()
        reservation = tx.reservations.get(reservation_id)
        after: list[Receipt] = []
        moments: list[datetime] = []
        for receipt in tx.receipts.of(reservation_id):
            fresh = seen.get(receipt.id)
            saved = self._take_over(tx, reservation, receipt, fresh, now)
            after.append(saved)
            if fresh is not None:
                again = Idling(telling=self.telling).observe(
                    tx, reservation, saved, now=now, gpus=gpus.get(receipt.id)
                )
                moments += [on_minute(again, now)] if again is not None else []
        self._move(tx, reservation, after, now)
        here = [receipt for receipt in after if agenda.is_at(receipt, place)]
        regular = next_look(here, now, bought_at=_bought_at(tx, here))
        if regular is None or self._extension_settled(tx, reservation, here):
            agenda.forget(tx, reservation_id, place)
        else:
            agenda.plan(tx, reservation_id, place, min((regular, *moments)), now=now)

    def _take_over(
        self,
        tx: Transaction,
        reservation: Reservation,
        stored: Receipt,
        fresh: Receipt | None,
        now: datetime,
    ) -> Receipt:
        if fresh is None:
            return stored
        update = fresh.model_copy(update={"revision": stored.revision})
        if update == stored:
            return stored
        try:
            saved = tx.receipts.save(update)
        except ConflictError:
            return tx.receipts.get(stored.id)
        if saved.gone and not stored.gone:
            words = progress.gone_words(saved)
            self.telling.note(tx, reservation, f"gone:{stored.id}", words, now=now)
        if saved.segments != stored.segments:
            self.reminding.plan(tx, reservation, [saved])
            milestones.say_longer(self.telling, tx, reservation, (stored, saved), now=now)
            self.telling.redraw(tx, reservation, now=now)
        milestones.say_progress(self.telling, tx, reservation, (stored, saved), now=now)
        plan_share(tx, reservation, saved, self.telling.configuration, now=now)
        return saved

    def _move(
        self,
        tx: Transaction,
        reservation: Reservation,
        receipts: Sequence[Receipt],
        now: datetime,
    ) -> None:
        parent = parent_of(tx, reservation.id)
        for receipt in receipts:
            if receipt.state in FAILED_WORDS:
                self._payment_failed(tx, reservation, receipt, parent, now)
        if parent is not None:
            self._move_extension(tx, reservation, receipts, parent, now)
            return
        if reservation.state in (_S.PURCHASING, _S.NEEDS_REVIEW):
            return  # other parts are bought, or in doubt: whoever settles them moves it on
        state = state_from(receipts, before=reservation.state, now=now)
        if state is None or state == reservation.state:
            return
        if reservation.state not in LIVE_RESERVATIONS:
            return
        moved = self._step(tx, reservation, state, receipts, now)
        if state is _S.SCHEDULED and reservation.state is _S.PAYMENT_PENDING:
            words = progress.scheduled_words(moved, receipts)
            self.telling.note(tx, moved, "scheduled", words, now=now)
        over = state in (_S.ENDED, _S.FAILED)
        shared = over and end_shares(tx, receipts, now=now)
        if over:
            tx.dues.withdraw(gpu_id(reservation.id), kinds=("remind",))
        if state is _S.ENDED:
            words = (*progress.ended_words(moved), *report_words(tx, moved))
            self.telling.note(tx, moved, "ended", words, now=now)
            # What is shared is ended first, so that the look at what is left finds none of it.
            sequels.when_ended(tx, moved, now=now + MINUTE if shared else now)

    def _step(
        self,
        tx: Transaction,
        reservation: Reservation,
        state: ReservationState,
        receipts: Sequence[Receipt],
        now: datetime,
    ) -> Reservation:
        """Move on to a state; what was paid, ran and ended while nobody looked was scheduled."""
        if state is _S.ENDED and reservation.state is _S.PAYMENT_PENDING:
            reservation = self._save(tx, reservation, _S.SCHEDULED, receipts, now)
        return self._save(tx, reservation, state, receipts, now)

    def _save(
        self,
        tx: Transaction,
        reservation: Reservation,
        state: ReservationState,
        receipts: Sequence[Receipt],
        now: datetime,
        *,
        note: str | None = None,
    ) -> Reservation:
        said = reservation.note if note is None else note
        moved = tx.reservations.save(
            reservation.model_copy(update={"state": state, "note": said, "updated_at": now})
        )
        tx.audit.append(
            AuditEntry(
                at=now,
                actor="aws",
                action=f"reservation.{state}",
                reservation_id=reservation.id,
                facts={receipt.id: receipt.state for receipt in receipts},
            )
        )
        self.telling.redraw(tx, moved, now=now)
        return moved

    def _move_extension(
        self,
        tx: Transaction,
        reservation: Reservation,
        receipts: Sequence[Receipt],
        parent: int,
        now: datetime,
    ) -> None:
        """End an extension's own record once AWS says what became of its money.

        Paid: what it prolongs is looked at, and its end moves when AWS shows the new one.
        """
        if reservation.state not in LIVE_RESERVATIONS or not receipts:
            return
        words = {receipt.state for receipt in receipts}
        if words <= PAID_WORDS:
            note = f"AWS prolongs {gpu_id(parent)} by it."
            step = reservation
            if step.state is not _S.ACTIVE:
                step = self._save(tx, step, _S.SCHEDULED, receipts, now)
            self._save(tx, step, _S.ENDED, receipts, now, note=note)
            for receipt in tx.receipts.of(parent):
                agenda.plan(tx, parent, (receipt.account, receipt.region), now, now=now)
        elif words & FAILED_WORDS or all(receipt.gone for receipt in receipts):
            note = f"Not paid: {gpu_id(parent)} ends when it would have."
            self._save(tx, reservation, _S.FAILED, receipts, now, note=note)

    def _extension_settled(
        self, tx: Transaction, reservation: Reservation, receipts: Sequence[Receipt]
    ) -> bool:
        if parent_of(tx, reservation.id) is None:
            return False
        return all(receipt.state in PAID_WORDS for receipt in receipts)

    def _payment_failed(
        self,
        tx: Transaction,
        reservation: Reservation,
        receipt: Receipt,
        parent: int | None,
        now: datetime,
    ) -> None:
        purchase = tx.purchases.get(receipt.purchase_id)
        said = self.telling.note(
            tx,
            reservation,
            f"failed:{receipt.id}",
            progress.failed_words(
                reservation,
                receipt,
                purchase.approvers,
                parent=parent,
                alone=len(tx.receipts.of(reservation.id)) == 1,
            ),
            now=now,
        )
        if not said:
            return
        tx.budget.free(budget_key(reservation.id, purchase.leg.number))
        tx.audit.append(
            AuditEntry(
                at=now,
                actor="aws",
                action="purchase.failed",
                reservation_id=reservation.id,
                purchase_id=purchase.id,
                facts={"receipt": receipt.id, "state": receipt.state},
            )
        )


def budget_key(reservation_id: int, leg_number: int) -> str:
    """Return the key of a leg's budget entry."""
    return f"{gpu_id(reservation_id)}/{leg_number}"


def _bought_at(tx: Transaction, receipts: Sequence[Receipt]) -> datetime | None:
    pending = [one for one in receipts if one.state in PENDING_WORDS]
    times = [tx.purchases.get(one.purchase_id).submitted_at for one in pending]
    return max((at for at in times if at is not None), default=None)
