"""A quote that nobody takes up ends: its time has passed, or nobody came for days.

Its row is planned with the quote and moves by itself while people still turn to it.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from bot.domain.lifecycle import ProposalState, ReservationState
from bot.domain.records import AuditEntry, Due, Reservation, gpu_id
from bot.domain.request import Request
from bot.domain.values import utc_text
from bot.policy.configuration import Configuration
from bot.ports import Bell, Clock, Store, Transaction
from bot.services.reservations.extensions import parent_of
from bot.services.words.house_words import span
from bot.services.words.telling import Telling

STEP = "lapse"
LAPSING = frozenset({ReservationState.QUOTED, ReservationState.BLOCKED})
"""States in which a reservation waits for nothing but somebody who goes on with it."""
LEAST = timedelta(hours=1)
"""What a search found, if only that it is too late, stays on the card for this long."""


def too_late(request: Request, configuration: Configuration) -> datetime | None:
    """Return from when on nothing can meet the request any more; None when it names no such time.

    As much as a decision forgives, a purchase may be shorter than asked.
    """
    times = [request.latest_start] if request.latest_start is not None else []
    if request.latest_end is not None:
        asked, rules = request.duration_hours or Decimal(0), configuration.decision
        forgiven = min(_hours(asked * rules.short_tolerance), rules.short_limit)
        times.append(request.latest_end - _hours(asked) + forgiven)
    return min(times, default=None)


def lapses_at(reservation: Reservation, configuration: Configuration) -> datetime:
    """Return when it ends unless somebody turns to it before; forgotten on a whole hour.

    So a quote that is made once more, as after a kill, plans no second row within the hour.
    """
    forgotten = _whole_hour(reservation.updated_at + configuration.limits.lapse_after)
    end = too_late(reservation.request, configuration)
    first = forgotten if end is None else min(forgotten, end)
    return max(first, reservation.updated_at + LEAST)


def lapse_due(reservation: Reservation, configuration: Configuration) -> Due:
    """Return the row that ends it; one for each time, so that a later one is a row of its own."""
    subject, at = gpu_id(reservation.id), lapses_at(reservation, configuration)
    return Due(
        key=f"{STEP}:{subject}:{utc_text(at)}",
        kind=STEP,
        subject=subject,
        at=at,
        argument=str(reservation.id),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Lapsing:
    """Ends what was quoted, or blocked, and left there."""

    store: Store
    clock: Clock
    telling: Telling
    configuration: Configuration
    bell: Bell

    def lapse(self, reservation_id: int) -> str:
        """End it if its time is over and nothing is open (due kind "lapse"); return what was done.

        Its card says so once and can have it searched for again; nobody is woken for it.
        """
        now = self.clock.now()
        with self.store.transaction() as tx:
            reservation = tx.reservations.get(reservation_id)
            if reservation.state not in LAPSING or parent_of(tx, reservation_id) is not None:
                return f"left as it is: {reservation.state}"
            proposal = tx.proposals.current(reservation_id)
            if proposal is not None and proposal.state is ProposalState.OPEN:
                return "left as it is: it is before approvers"
            due = lapse_due(reservation, self.configuration)
            if now < due.at:
                tx.dues.plan(due)
                return "not yet"
            self._end(tx, reservation, now)
        self.bell.ring()
        return "lapsed"

    def _end(self, tx: Transaction, reservation: Reservation, now: datetime) -> None:
        end = too_late(reservation.request, self.configuration)
        passed = end is not None and end <= now
        why = (
            "The asked time has passed. Press Change for another one."
            if passed
            else f"Nobody went on with it for {span(self.configuration.limits.lapse_after)}."
            " Press Search again if it is still needed."
        )
        saved = tx.reservations.save(
            reservation.model_copy(
                update={"state": ReservationState.EXPIRED, "note": why, "updated_at": now}
            )
        )
        tx.audit.append(
            AuditEntry(
                at=now,
                actor="clock",
                action="reservation.lapsed",
                reservation_id=saved.id,
                facts={"was": reservation.state, "why": why},
            )
        )
        self.telling.redraw(tx, saved, now=now)


def _whole_hour(moment: datetime) -> datetime:
    """Return the end of the hour that has begun."""
    hour = moment.replace(minute=0, second=0, microsecond=0)
    return hour if hour == moment else hour + timedelta(hours=1)


def _hours(hours: Decimal) -> timedelta:
    return timedelta(seconds=int(hours * 3600))
