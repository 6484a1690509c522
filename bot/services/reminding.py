"""Reminders: rows planned when a window is known, checked again when they fall due.

Before each segment's start: 24 h and 1 h, with what must be ready. Before its true last minute:
90 and 20 minutes (AWS's own notice comes 10 minutes before the machines are taken, so ours is
earlier). A reminder for something that is over is dropped; a late one says that it is late.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.ending import tail, usable
from bot.domain.lifecycle import ReservationState
from bot.domain.market import Kind, Segment
from bot.domain.records import Due, Receipt, Reservation, gpu_id
from bot.domain.saying import Code, Moment, Press, Sentence, Strong
from bot.domain.values import utc_text
from bot.ports import Clock, Store, Transaction
from bot.services.telling import Telling

KIND = "remind"
BEFORE_START = (timedelta(hours=24), timedelta(hours=1))
BEFORE_LAST_MINUTE = (timedelta(minutes=90), timedelta(minutes=20))
LATE = timedelta(minutes=2)
"""A reminder this late says so: two turns of the slowest sweep."""

OVER = frozenset({"expired", "cancelled", "failed", "payment-failed", "terminated"})
_S = ReservationState


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminding:
    """Plans and says reminders."""

    store: Store
    clock: Clock
    telling: Telling

    def plan(self, tx: Transaction, reservation: Reservation, receipts: Sequence[Receipt]) -> None:
        """Plan the reminders of every segment anew: those of times that no longer hold go."""
        subject = gpu_id(reservation.id)
        now = self.clock.now()
        tx.dues.withdraw(subject, kinds=(KIND,))
        for receipt in receipts:
            if receipt.kind not in (Kind.CAPACITY_BLOCK, Kind.TRAINING_PLAN):
                continue
            for segment in receipt.segments:
                self._plan_segment(tx, subject, receipt, segment, now)

    def _plan_segment(
        self, tx: Transaction, subject: str, receipt: Receipt, segment: Segment, now: datetime
    ) -> None:
        start, last_minute = usable(segment, _lost(receipt))
        for ahead in BEFORE_START:
            self._plan_one(tx, subject, receipt, what="start", about=start, ahead=ahead, now=now)
        for ahead in BEFORE_LAST_MINUTE:
            self._plan_one(
                tx, subject, receipt, what="end", about=last_minute, ahead=ahead, now=now
            )

    def _plan_one(
        self,
        tx: Transaction,
        subject: str,
        receipt: Receipt,
        *,
        what: str,
        about: datetime,
        ahead: timedelta,
        now: datetime,
    ) -> None:
        at = about - ahead
        if at < now:
            return
        minutes = int(ahead.total_seconds()) // 60
        tx.dues.plan(
            Due(
                key=f"{KIND}:{subject}:{receipt.id}:{what}:{utc_text(about)}:{minutes}",
                kind=KIND,
                subject=subject,
                at=at,
                argument=f"{receipt.id}|{what}|{utc_text(about)}",
                stale_after=about,
            )
        )

    def remind(self, due: Due) -> str:
        """Say one reminder if it still holds; return what was done, for the log."""
        receipt_id, what, about_text = due.argument.split("|")
        about = datetime.fromisoformat(about_text)
        with self.store.transaction() as tx:
            now = self.clock.now()
            receipt = tx.receipts.get(receipt_id)
            reservation = tx.reservations.get(receipt.reservation_id)
            wanted = {_S.SCHEDULED, _S.ACTIVE, _S.PAYMENT_PENDING}
            if reservation.state not in wanted or receipt.state in OVER or receipt.gone:
                return "dropped: it is over"
            times = {
                moment for segment in receipt.segments for moment in usable(segment, _lost(receipt))
            }
            if about not in times:
                return "dropped: the time has changed"
            if now >= about:
                return "dropped: too late to be of use"
            late = now - due.at > LATE
            sentences = (
                _start_words(reservation, receipt, about, late=late)
                if what == "start"
                else _end_words(reservation, receipt, about, late=late)
            )
            self.telling.note(
                tx,
                reservation,
                due.key,
                sentences,
                now=now,
                presses=_presses(reservation, what),
            )
            return "said"


def _lost(receipt: Receipt) -> timedelta:
    return tail(
        receipt.kind,
        instance_type=receipt.instance_type,
        ultraserver=receipt.instance_type.removeprefix("ml.").startswith("u-"),
        target=receipt.target,
    )


def _presses(reservation: Reservation, what: str) -> tuple[Press, ...]:
    if what != "end":
        return ()
    argument = str(reservation.id)
    return (
        Press(action="gpu.extend", label="Extend", argument=argument, style="primary"),
        Press(action="gpu.cleanup", label="Clean up", argument=argument),
    )


def _late_words(*, late: bool) -> str:
    return " (This reminder is late: I was not running when it was due.)" if late else ""


def _start_words(
    reservation: Reservation, receipt: Receipt, start: datetime, *, late: bool
) -> tuple[Sentence, ...]:
    place = receipt.zone or receipt.region
    ready: Sentence = (
        "Have ready by then: an image for the platform you bought, a subnet in ",
        Code(text=place),
        ", and room in your launch quota. I say so here the moment AWS shows it active.",
    )
    if receipt.kind is Kind.TRAINING_PLAN:
        ready = (
            (
                "Have ready by then: your job or cluster definition with the plan's ARN, and the"
                " role it runs under. I say so here the moment AWS shows it active."
            ),
        )
    return (
        (
            Strong(text=gpu_id(reservation.id)),
            f": {receipt.instance_count} x {receipt.instance_type} in {place} starts ",
            Moment(at=start),
            "." + _late_words(late=late),
        ),
        ready,
    )


def _end_words(
    reservation: Reservation, receipt: Receipt, last_minute: datetime, *, late: bool
) -> tuple[Sentence, ...]:
    return (
        (
            Strong(text=gpu_id(reservation.id)),
            ": save your work. The last usable moment is ",
            Moment(at=last_minute),
            "; from then on AWS takes the machines of ",
            Code(text=receipt.id),
            "." + _late_words(late=late),
        ),
    )
