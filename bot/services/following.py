"""Follows what was bought until its last minute: states, at a pace that fits the moment.

"Ready" is said only when AWS's own state says active, once per segment. A payment that fails
frees the money and tells requester and approvers. States that we do not know are shown raw.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.ending import tail, usable
from bot.domain.errors import ConflictError
from bot.domain.lifecycle import LIVE_RESERVATIONS, ReservationState
from bot.domain.market import Segment
from bot.domain.records import AuditEntry, Due, Receipt, Reservation, gpu_id
from bot.domain.saying import Code, Mention, Moment, Sentence, Strong
from bot.domain.values import utc_text
from bot.ports import Clock, Holdings, Store, Transaction
from bot.services.reminding import Reminding
from bot.services.telling import Telling

KIND = "follow"

NEAR = timedelta(minutes=1)
"""Around a start, while AWS does not show it active: somebody waits for the machines."""
PAYING = timedelta(minutes=2)
"""AWS takes the payment within 5 minutes to 12 hours (EC2 User Guide, Capacity Blocks)."""
ENDING = timedelta(minutes=5)
SETTLING_IN = timedelta(minutes=15)
USING = timedelta(hours=1)
FAR = timedelta(hours=6)
"""Nothing is expected before the start, but a block can vanish: four looks a day."""
EARLY = timedelta(minutes=10)
LAST_STRETCH = timedelta(minutes=90)
FIRST_STRETCH = timedelta(hours=2)

NOT_ACTIVE_YET = timedelta(minutes=15)
"""AWS shows a block active some minutes after its start; later than this is worth a warning."""

PENDING_WORDS = frozenset({"payment-pending", "pending"})
WAITING_WORDS = frozenset({"scheduled", "assessing", "delayed"})
ACTIVE_WORDS = frozenset({"active", "running"})
FAILED_WORDS = frozenset({"payment-failed", "failed", "unsupported"})
ENDED_WORDS = frozenset({"expired", "cancelled", "terminated"})
_S = ReservationState


def state_from(receipts: Sequence[Receipt]) -> ReservationState | None:
    """Return what the receipts' words mean for their reservation; None when they say nothing."""
    words = {receipt.state for receipt in receipts if not receipt.gone}
    for known, state in (
        (ACTIVE_WORDS, _S.ACTIVE),
        (PENDING_WORDS, _S.PAYMENT_PENDING),
        (WAITING_WORDS, _S.SCHEDULED),
    ):
        if words & known:
            return state
    if words and words <= ENDED_WORDS:
        return _S.ENDED
    if words & FAILED_WORDS and words <= FAILED_WORDS | ENDED_WORDS:
        return _S.FAILED
    if not words and receipts:
        return _S.ENDED
    return None


def next_look(receipts: Sequence[Receipt], now: datetime) -> datetime | None:
    """Return when to look again; None when nothing is left to follow."""
    times = [moment for receipt in receipts for moment in _looks(receipt, now)]
    return min(times, default=None)


def _looks(receipt: Receipt, now: datetime) -> Sequence[datetime]:
    if receipt.gone or receipt.state in ENDED_WORDS | FAILED_WORDS:
        return ()
    if receipt.state in PENDING_WORDS:
        return (now + PAYING,)
    running = segment_at(receipt, now)
    if running is not None and receipt.state in ACTIVE_WORDS:
        return (_look_while_used(running, lost_of(receipt), now),)
    coming = [segment.start for segment in receipt.segments if segment.start > now]
    if running is not None:
        fresh = now - running.start < 2 * NOT_ACTIVE_YET
        return (now + (NEAR if fresh else SETTLING_IN),)
    if not coming:
        return (now + ENDING,)
    early = min(coming) - EARLY
    return (min(now + FAR, early) if now < early else now + NEAR,)


def _look_while_used(segment: Segment, lost: timedelta, now: datetime) -> datetime:
    _, last_minute = usable(segment, lost)
    stretch = last_minute - LAST_STRETCH
    if now >= stretch:
        return now + ENDING
    pace = SETTLING_IN if now - segment.start < FIRST_STRETCH else USING
    return min(now + pace, stretch)


def lost_of(receipt: Receipt) -> timedelta:
    """Return how long before a segment's end the receipt's machines are lost."""
    return tail(
        receipt.kind,
        instance_type=receipt.instance_type,
        ultraserver=receipt.instance_type.removeprefix("ml.").startswith("u-"),
        target=receipt.target,
    )


def segment_at(receipt: Receipt, now: datetime) -> Segment | None:
    """Return the segment that runs at the moment."""
    return next(
        (segment for segment in receipt.segments if segment.start <= now < segment.end), None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Following:
    """Keeps receipts and reservations as AWS shows them."""

    store: Store
    clock: Clock
    holdings: Holdings
    reminding: Reminding
    telling: Telling

    def began(
        self,
        tx: Transaction,
        reservation: Reservation,
        receipts: Sequence[Receipt],
        *,
        now: datetime,
    ) -> None:
        """Plan all that follows a purchase, in the transaction that stores its receipts."""
        self._plan_look(tx, reservation.id, now + NEAR)
        self.reminding.plan(tx, reservation, receipts)

    def follow(self, due: Due) -> str:
        """Look once at everything of a reservation; return what was done, for the log."""
        reservation_id = int(due.argument)
        with self.store.reading() as tx:
            before = tx.receipts.of(reservation_id)
        seen = self.holdings.look([receipt for receipt in before if not receipt.gone])
        with self.store.transaction() as tx:
            return self._settle(tx, reservation_id, seen)

    def _settle(self, tx: Transaction, reservation_id: int, seen: Mapping[str, Receipt]) -> str:
        now = self.clock.now()
        reservation = tx.reservations.get(reservation_id)
        after: list[Receipt] = []
        for receipt in tx.receipts.of(reservation_id):
            fresh = seen.get(receipt.id)
            after.append(self._take_over(tx, reservation, receipt, fresh, now))
        self._move(tx, reservation, after, now)
        again = next_look(after, now)
        if again is None:
            return "nothing left to follow"
        self._plan_look(tx, reservation_id, again)
        return f"looks again {utc_text(again)}"

    def _plan_look(self, tx: Transaction, reservation_id: int, at: datetime) -> None:
        subject = gpu_id(reservation_id)
        tx.dues.plan(
            Due(
                key=f"{KIND}:{subject}:{utc_text(at)}",
                kind=KIND,
                subject=subject,
                at=at,
                argument=str(reservation_id),
            )
        )

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
            self.telling.note(tx, reservation, f"gone:{stored.id}", _gone_words(saved), now=now)
        if saved.segments != stored.segments:
            self.reminding.plan(tx, reservation, [saved])
        self._say_progress(tx, reservation, saved, now)
        return saved

    def _say_progress(
        self, tx: Transaction, reservation: Reservation, receipt: Receipt, now: datetime
    ) -> None:
        segment = segment_at(receipt, now)
        if segment is None:
            return
        part = f"{receipt.id}:{utc_text(segment.start)}"
        if receipt.state in ACTIVE_WORDS:
            words = _ready_words(reservation, receipt, segment)
            self.telling.note(tx, reservation, f"ready:{part}", words, now=now)
        elif receipt.state in WAITING_WORDS and now - segment.start >= NOT_ACTIVE_YET:
            words = _not_yet_words(receipt, segment)
            self.telling.note(tx, reservation, f"not-yet:{part}", words, now=now)

    def _move(
        self,
        tx: Transaction,
        reservation: Reservation,
        receipts: Sequence[Receipt],
        now: datetime,
    ) -> None:
        state = state_from(receipts)
        failed = [receipt for receipt in receipts if receipt.state in FAILED_WORDS]
        for receipt in failed:
            self._payment_failed(tx, reservation, receipt, now)
        if state is None or state == reservation.state:
            return
        if reservation.state not in LIVE_RESERVATIONS:
            return
        moved = tx.reservations.save(
            reservation.model_copy(update={"state": state, "updated_at": now})
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
        if state is _S.SCHEDULED and reservation.state is _S.PAYMENT_PENDING:
            words = _scheduled_words(moved, receipts)
            self.telling.note(tx, moved, "scheduled", words, now=now)
        if state in (_S.ENDED, _S.FAILED):
            tx.dues.withdraw(gpu_id(reservation.id), kinds=("remind",))
        if state is _S.ENDED:
            self.telling.note(tx, moved, "ended", _ended_words(moved), now=now)
        self.telling.redraw(tx, moved, now=now)

    def _payment_failed(
        self, tx: Transaction, reservation: Reservation, receipt: Receipt, now: datetime
    ) -> None:
        purchase = tx.purchases.get(receipt.purchase_id)
        said = self.telling.note(
            tx,
            reservation,
            f"failed:{receipt.id}",
            _failed_words(reservation, receipt, purchase.approvers),
            now=now,
        )
        if not said:
            return
        tx.budget.free(budget_key(reservation.id, purchase.leg.number))
        for due in ("remind",):
            tx.dues.withdraw(gpu_id(reservation.id), kinds=(due,))
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


def _ready_words(
    reservation: Reservation, receipt: Receipt, segment: Segment
) -> tuple[Sentence, ...]:
    _, last_minute = usable(segment, lost_of(receipt))
    return (
        (
            Strong(text=gpu_id(reservation.id)),
            " is ready: ",
            Code(text=receipt.id),
            (
                f" is {receipt.state} at AWS, {receipt.instance_count} x {receipt.instance_type} in"
                f" {receipt.zone or receipt.region}. Usable until "
            ),
            Moment(at=last_minute),
            ".",
        ),
    )


def _not_yet_words(receipt: Receipt, segment: Segment) -> tuple[Sentence, ...]:
    return (
        (
            "Not active yet: ",
            Code(text=receipt.id),
            " should have started ",
            Moment(at=segment.start),
            f", and AWS still says {receipt.state}. I keep looking every minute.",
        ),
    )


def _gone_words(receipt: Receipt) -> tuple[Sentence, ...]:
    return (
        (
            Code(text=receipt.id),
            (
                " is no longer known to AWS. I stop asking for it; check the account if that"
                " surprises you."
            ),
        ),
    )


def _scheduled_words(reservation: Reservation, receipts: Sequence[Receipt]) -> tuple[Sentence, ...]:
    start = min(segment.start for receipt in receipts for segment in receipt.segments)
    return (
        (
            "Paid: AWS shows ",
            Strong(text=gpu_id(reservation.id)),
            " as scheduled. It starts ",
            Moment(at=start),
            ".",
        ),
    )


def _ended_words(reservation: Reservation) -> tuple[Sentence, ...]:
    return ((Strong(text=gpu_id(reservation.id)), " has ended: AWS shows nothing of it active."),)


def _failed_words(
    reservation: Reservation, receipt: Receipt, approvers: Sequence[str]
) -> tuple[Sentence, ...]:
    names: Sentence = tuple(
        part for who in approvers if who.startswith("U") for part in (" ", Mention(id=who))
    )
    return (
        (
            f"AWS says {receipt.state} for ",
            Code(text=receipt.id),
            (
                ": there is no capacity, and nothing stays paid. The money is free in the budget"
                " again, and its reminders are withdrawn. Ask again with "
            ),
            Code(text=f"/gpu {reservation.line}"),
            " once the payment method works.",
            *names,
        ),
    )
