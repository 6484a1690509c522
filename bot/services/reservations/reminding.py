"""Reminders: rows planned when a window is known, checked again when they fall due.

Before each start a day and an hour ahead, with what must be ready. Before the true last minute
a week, two days, a day, six hours and 90 minutes ahead, with what an extension costs now and
until when it can be bought; and 20 minutes ahead, before AWS's own notice. A reminder for
something that is over is dropped, a late one says so, and of several that an outage left behind
only the newest is said. What can wait is not said at night.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.ending import usable
from bot.domain.lifecycle import ReservationState
from bot.domain.market import Kind, Segment
from bot.domain.records import Due, Receipt, Reservation, gpu_id
from bot.domain.saying import Press, Sentence, Strong
from bot.domain.values import utc_text
from bot.ports import Clock, Store, Transaction
from bot.services.reservations.ending_as_planned import is_meant_to_end
from bot.services.reservations.extensions import open_child, parent_of
from bot.services.reservations.looking import lost_of
from bot.services.reservations.permissions import (
    ask_press,
    left_of,
    only_part,
    permission_of,
    plan_prolonging,
    prolong_at,
    stop_press,
)
from bot.services.reservations.reminder_words import (
    by_itself_words,
    end_words,
    in_flight_words,
    start_words,
)
from bot.services.reservations.tendering import NOT_ASKED, UNDER_WAY, Pricing, Tender
from bot.services.words.quiet import said_at
from bot.services.words.telling import Telling

KIND = "remind"
HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
BEFORE_START = (24 * HOUR, HOUR)
BEFORE_LAST_MINUTE = (168 * HOUR, 48 * HOUR, 24 * HOUR, 6 * HOUR, 90 * MINUTE, 20 * MINUTE)
SOON = 90 * MINUTE
SAVE_NOW = BEFORE_LAST_MINUTE[-1]
"""10 minutes before AWS's own notice, which comes 40 minutes before the end (EC2 User Guide)."""
CAN_WAIT = 24 * HOUR
"""Reminders at least so far ahead wait for the morning."""
LATE = timedelta(minutes=2)
"""A reminder this late says so: two turns of the slowest sweep."""
ONE_DAY = 24

OVER = frozenset({"expired", "cancelled", "failed", "payment-failed", "terminated"})
_S = ReservationState
WANTED = frozenset({_S.SCHEDULED, _S.ACTIVE, _S.PAYMENT_PENDING})


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminding:
    """Plans and says reminders. Without `pricing` nothing is said of extensions."""

    store: Store
    clock: Clock
    telling: Telling
    pricing: Pricing | None = None

    def plan(self, tx: Transaction, reservation: Reservation, receipts: Sequence[Receipt]) -> None:
        """Plan the reminders of every segment that are not planned yet.

        Those of times that no longer hold stay, and are dropped when they fall due.
        """
        now = self.clock.now()
        if parent_of(tx, reservation.id) is not None:
            return
        for receipt in receipts:
            if receipt.kind not in (Kind.CAPACITY_BLOCK, Kind.TRAINING_PLAN):
                continue
            for segment in receipt.segments:
                self._plan_segment(tx, reservation, receipt, segment, now)
        part = only_part(tx.receipts.of(reservation.id))
        if part is not None and permission_of(tx, reservation.id) is not None:
            plan_prolonging(tx, reservation, part, now=now)

    def _plan_segment(
        self,
        tx: Transaction,
        reservation: Reservation,
        receipt: Receipt,
        segment: Segment,
        now: datetime,
    ) -> None:
        start, last_minute = usable(segment, lost_of(receipt))
        for what, about, leads in (
            ("start", start, BEFORE_START),
            ("end", last_minute, BEFORE_LAST_MINUTE),
        ):
            for ahead in leads:
                # A part that another part follows can't be extended: only its last hours count.
                soon = ahead <= SOON or (_final(receipt, about) and about - ahead >= start)
                if what == "end" and not soon:
                    continue
                at = moment_of(about, ahead, leads, reservation.zone)
                if at >= now:
                    tx.dues.plan(
                        _due(reservation, receipt, what=what, about=about, ahead=ahead, at=at)
                    )

    def remind(self, due: Due) -> str:
        """Say one reminder if it still holds; return what was done, for the log."""
        receipt_id, what, about_text, minutes = due.argument.split("|")
        about, ahead = datetime.fromisoformat(about_text), int(minutes) * MINUTE
        with self.store.reading() as tx:
            dropped = self._dropped(tx, receipt_id, what, about, ahead)
            receipt = tx.receipts.get(receipt_id)
            asked = open_child(tx, receipt.reservation_id)
        if dropped is not None:
            return dropped
        tender = NOT_ASKED if asked is None else UNDER_WAY
        if (
            what == "end"
            and asked is None
            and ahead > SAVE_NOW
            and self.pricing is not None
            and _final(receipt, about)
        ):
            tender = self.pricing.tender(receipt.reservation_id, hours=ONE_DAY)
        with self.store.transaction() as tx:
            dropped = self._dropped(tx, receipt_id, what, about, ahead)
            if dropped is not None:
                return dropped
            receipt = tx.receipts.get(receipt_id)
            reservation = tx.reservations.get(receipt.reservation_id)
            self._say(tx, reservation, receipt, due, tender)
        return "said"

    def _say(
        self,
        tx: Transaction,
        reservation: Reservation,
        receipt: Receipt,
        due: Due,
        tender: Tender,
    ) -> None:
        now = self.clock.now()
        _, what, about_text, minutes = due.argument.split("|")
        about, late = datetime.fromisoformat(about_text), now - due.at > LATE
        ahead = int(minutes) * MINUTE
        last = ahead == SAVE_NOW
        if what == "start":
            sentences = start_words(reservation, receipt, about, late=late)
        else:
            sentences = end_words(reservation, receipt, about, late=late, last=last, tender=tender)
            if not last and _final(receipt, about):
                sentences += self._by_itself(tx, reservation, receipt, tender, ahead=ahead)
        self.telling.note(
            tx,
            reservation,
            due.key,
            sentences,
            now=now,
            presses=self._presses(tx, reservation, tender, last=last) if what == "end" else (),
        )

    def _presses(
        self, tx: Transaction, reservation: Reservation, tender: Tender, *, last: bool
    ) -> tuple[Press, ...]:
        presses = _end_presses(reservation, tender, last=last)
        if last or not tender.possible or tender.fee is None:
            return presses
        if permission_of(tx, reservation.id) is not None:
            return (*presses, stop_press(reservation.id))
        return (*presses, ask_press(reservation.id))

    def _by_itself(
        self,
        tx: Transaction,
        reservation: Reservation,
        receipt: Receipt,
        tender: Tender,
        *,
        ahead: timedelta,
    ) -> tuple[Sentence, ...]:
        """Return what is bought by itself before this end; who allowed it hears it, too."""
        now = self.clock.now()
        permission = permission_of(tx, reservation.id)
        asked = open_child(tx, reservation.id)
        if asked is not None:
            return (in_flight_words(asked.id),)
        at = prolong_at(receipt)
        if permission is None or at <= now:
            return ()
        left = left_of(tx, reservation.id, permission)
        words = by_itself_words(permission, left, at, tender)
        if ahead <= CAN_WAIT:
            what = f"by-itself:{gpu_id(reservation.id)}:{receipt.id}:{utc_text(at)}"
            head: Sentence = (Strong(text=gpu_id(reservation.id)), ": ")
            self.telling.tell(
                tx,
                permission.by,
                what,
                ((*head, *words),),
                now=now,
                presses=(stop_press(reservation.id),),
            )
        return (words,)

    def _dropped(
        self, tx: Transaction, receipt_id: str, what: str, about: datetime, ahead: timedelta
    ) -> str | None:
        """Return why the reminder is not said; None when it is to be said."""
        now = self.clock.now()
        receipt = tx.receipts.get(receipt_id)
        reservation = tx.reservations.get(receipt.reservation_id)
        place = 0 if what == "start" else 1
        leads = BEFORE_START if what == "start" else BEFORE_LAST_MINUTE
        newer = (lead for lead in leads if lead < ahead)
        reasons = {
            "it is over": reservation.state not in WANTED or receipt.state in OVER or receipt.gone,
            "the time has changed": about
            not in {usable(part, lost_of(receipt))[place] for part in receipt.segments},
            "too late to be of use": now >= about,
            "a newer one is due": any(
                moment_of(about, lead, leads, reservation.zone) <= now for lead in newer
            ),
            "it is offered to others": tx.facts.get(f"released:{gpu_id(reservation.id)}")
            is not None,
            "it is meant to end": what == "end"
            and ahead > SAVE_NOW
            and is_meant_to_end(tx, reservation, receipt),
        }
        return next((f"dropped: {why}" for why, holds in reasons.items() if holds), None)


def moment_of(about: datetime, ahead: timedelta, leads: Sequence[timedelta], zone: str) -> datetime:
    """Return when a reminder is said: not at night if it can wait for the morning."""
    at = about - ahead
    if ahead < CAN_WAIT:
        return at
    morning = said_at(at, zone)
    following = max((lead for lead in leads if lead < ahead), default=timedelta(0))
    return morning if morning < about - following else at


def _due(
    reservation: Reservation,
    receipt: Receipt,
    *,
    what: str,
    about: datetime,
    ahead: timedelta,
    at: datetime,
) -> Due:
    subject, minutes = gpu_id(reservation.id), ahead // MINUTE
    return Due(
        key=f"{KIND}:{subject}:{receipt.id}:{what}:{utc_text(about)}:{minutes}",
        kind=KIND,
        subject=subject,
        at=at,
        argument=f"{receipt.id}|{what}|{utc_text(about)}|{minutes}",
        stale_after=about,
    )


def _final(receipt: Receipt, last_minute: datetime) -> bool:
    """Return whether nothing of the receipt comes after that last minute."""
    return all(usable(part, lost_of(receipt))[1] <= last_minute for part in receipt.segments)


def _end_presses(reservation: Reservation, tender: Tender, *, last: bool) -> tuple[Press, ...]:
    number = str(reservation.id)
    clean_up = Press(action="gpu.cleanup", label="Clean up", argument=number)
    if last:
        return (clean_up,)
    extend = Press(
        action="gpu.extend",
        label="Extend by 1 day" if tender.fee is None else f"Extend by 1 day, {tender.price}",
        argument=f"{number}|{ONE_DAY}",
        style="primary",
    )
    nothing = Press(action="gpu.nothing", label="Let it end", argument=number)
    return (extend, clean_up, nothing) if tender.possible else (clean_up, nothing)
