"""A look at AWS because somebody asked: what is older than a minute is read again at once."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.lifecycle import LIVE_RESERVATIONS
from bot.domain.records import Due, gpu_id
from bot.domain.values import utc_text
from bot.ports import Bell, Clock, Store
from bot.services.reservations.following import Following
from bot.services.words.telling import Telling

STALE = timedelta(minutes=1)
"""As often as one person may have AWS read again; AWS's own books lag by about as much."""
DRAW_AFTER = timedelta(seconds=5)
"""The look takes about so long; the card is drawn from what it found."""
REDRAW = "redraw"


@dataclass(frozen=True, slots=True, kw_only=True)
class Glancing:
    """Has a reservation looked at out of turn."""

    store: Store
    clock: Clock
    following: Following
    telling: Telling
    bell: Bell

    def look_again(self, reservation_id: int) -> datetime | None:
        """Have it read again if the last look is older than a minute; return when that was.

        None: there is nothing to read, or what is known is fresh.
        """
        now = self.clock.now()
        with self.store.transaction() as tx:
            reservation = tx.reservations.get(reservation_id)
            held = [one for one in tx.receipts.of(reservation_id) if not one.gone]
            if reservation.state not in LIVE_RESERVATIONS or not held:
                return None
            last = min(one.checked_at for one in held)
            if now - last < STALE:
                return None
            why = f"asked:{utc_text(now.replace(second=0, microsecond=0))}"
            hastened = [
                self.following.hasten(tx, one, why=f"{why}:{one.id}", now=now) for one in held
            ]
            if not any(hastened):
                return None
            subject = gpu_id(reservation_id)
            tx.dues.plan(
                Due(
                    key=f"{REDRAW}:{subject}:{why}",
                    kind=REDRAW,
                    subject=subject,
                    at=now + DRAW_AFTER,
                    argument=str(reservation_id),
                )
            )
        self.bell.ring()
        return last

    def redraw(self, due: Due) -> str:
        """Have the card drawn from what the look found."""
        with self.store.transaction() as tx:
            reservation = tx.reservations.get(int(due.argument))
            self.telling.redraw(tx, reservation, now=self.clock.now())
        return "drawn anew"
