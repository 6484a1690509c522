"""Using capacity that an account holds already: the holder agrees, nothing is bought."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.decision import Option
from bot.domain.errors import ConflictError
from bot.domain.lifecycle import ReservationState
from bot.domain.market import Kind, Owned
from bot.domain.records import AuditEntry, Due, Proposal, Reservation, gpu_id
from bot.domain.request import Request
from bot.domain.saying import Code, Mention, Sentence
from bot.domain.values import utc_text
from bot.ports import Bell, Clock, MarketReader, Store
from bot.services.commitments.spending import Stop, leave
from bot.services.purchases.settling import Settling

SECONDS_IN_HOUR = 3600
LENT = frozenset({ReservationState.SCHEDULED, ReservationState.ACTIVE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Lending:
    """Promises owned machines to a reservation, none of them twice."""

    store: Store
    clock: Clock
    market: MarketReader
    settling: Settling
    bell: Bell

    def take(self, reservation: Reservation, proposal: Proposal) -> str:
        """Hold the agreed machines for the reservation; return what was done.

        What is free is read anew at AWS; if it is too little now, only a fresh choice goes on.
        """
        if proposal.option.kind is not Kind.OWNED:
            return "not lent: it must be bought"
        option = proposal.option
        owned = self.market.read(reservation.request).owned
        row = next((one for one in owned if one.ref in option.refs), None)
        now = self.clock.now()
        start, end = _window(reservation.request, option, now)
        with self.store.transaction() as tx:
            allowed = leave(tx, reservation.id, configuration=self.settling.configuration, now=now)
            if isinstance(allowed, Stop) or allowed.proposal.id != proposal.id:
                return "not lent: it moved on"
            try:
                tx.loans.hold(
                    reservation_id=reservation.id,
                    ref=option.refs[0],
                    count=option.instance_count,
                    start=start,
                    end=end,
                    free=row.available_count if row is not None else 0,
                )
            except ConflictError:
                held = False
            else:
                held = True
            if not held:
                self.settling.give_up(
                    tx,
                    reservation.id,
                    f"{option.refs[0]} has too few free machines now.",
                    now=now,
                    to=ReservationState.QUOTED,
                )
                return "not lent: too few are free"
            # Borrowed machines exist already, so that their window alone says what they are.
            saved = tx.reservations.save(
                allowed.reservation.model_copy(
                    update={"state": ReservationState.ACTIVE, "updated_at": now}
                )
            )
            if start > now:
                saved = tx.reservations.save(
                    saved.model_copy(update={"state": ReservationState.SCHEDULED})
                )
            tx.audit.append(
                AuditEntry(
                    at=now,
                    actor=proposal.note or proposal.asked_by,
                    action="loan.held",
                    reservation_id=reservation.id,
                    facts={"ref": option.refs[0], "count": str(option.instance_count)},
                )
            )
            self.settling.telling.note(
                tx, saved, f"lent-{proposal.id}", (_words(proposal, row),), now=now
            )
            tx.facts.put(_loan_name(reservation.id), utc_text(end), at=now)
            for at in (start, end):
                tx.dues.plan(_loan_due(reservation.id, at))
            self.settling.closing.release(tx, proposal, now=now)
            self.settling.telling.redraw(tx, saved, now=now)
        self.bell.ring()
        return "lent"

    def turn(self, reservation_id: int) -> str:
        """Begin or end a loan when its time has come (due kind "loan"); return what was done."""
        now = self.clock.now()
        with self.store.transaction() as tx:
            reservation = tx.reservations.get(reservation_id)
            until = tx.facts.get(_loan_name(reservation_id))
            if until is None or reservation.state not in LENT:
                return "no loan"
            over = now >= datetime.fromisoformat(until)
            state = ReservationState.ENDED if over else ReservationState.ACTIVE
            saved = tx.reservations.save(
                reservation.model_copy(update={"state": state, "updated_at": now})
            )
            if over:
                tx.loans.release(reservation_id)
                self.settling.telling.note(
                    tx,
                    saved,
                    "loan-ended",
                    (("The borrowed time is over; the machines are their holder's again.",),),
                    now=now,
                )
            tx.audit.append(
                AuditEntry(
                    at=now, actor="clock", action=f"loan.{state}", reservation_id=reservation_id
                )
            )
            self.settling.telling.redraw(tx, saved, now=now)
        self.bell.ring()
        return str(state)


def _loan_name(reservation_id: int) -> str:
    return f"loan:{gpu_id(reservation_id)}"


def _loan_due(reservation_id: int, at: datetime) -> Due:
    subject = gpu_id(reservation_id)
    return Due(
        key=f"loan:{subject}:{utc_text(at)}",
        kind="loan",
        subject=subject,
        at=at,
        argument=str(reservation_id),
    )


def _window(request: Request, option: Option, now: datetime) -> tuple[datetime, datetime]:
    """Return when the machines are used: the asked hours, within what is owned."""
    owned_from, owned_until = option.segments[0].start, option.segments[-1].end
    begin = max(owned_from, request.earliest_start or now, now)
    if request.duration_hours is None:
        return begin, owned_until
    length = timedelta(seconds=int(request.duration_hours * SECONDS_IN_HOUR))
    return begin, min(owned_until, begin + length)


def _words(proposal: Proposal, row: Owned | None) -> Sentence:
    option = proposal.option
    holder: Sentence = (
        (" Agree on the hand-over with ", Mention(id=row.owner), ".") if row and row.owner else ()
    )
    return (
        f"{option.instance_count} x {option.instance_type} of ",
        Code(text=option.refs[0]),
        " are yours to use. Nothing was bought.",
        *holder,
    )
