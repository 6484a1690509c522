"""Filing, changing and withdrawing requests. Nothing here spends."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.base import Model
from bot.domain.errors import BugError, NotAllowedError, UserError
from bot.domain.lifecycle import BEFORE_PURCHASE, ReservationState
from bot.domain.records import AuditEntry, Reservation, gpu_id
from bot.domain.request import Parsed, Request, Status
from bot.policy.configuration import Configuration
from bot.policy.permitting import (
    asking_groups,
    check_concerned,
    may_ask,
    may_not_ask,
    teams_of,
    unfit,
)
from bot.ports import Bell, Clock, Store, Transaction
from bot.services.commitments.closing import Closing
from bot.services.requests.searching import quote_due
from bot.services.verifying import Verifying
from bot.services.words.telling import Telling

SAME_FOR = timedelta(minutes=2)
"""The same line again this soon is a double send: Slack's own retries end within a minute."""

CHANGEABLE = frozenset(
    {
        ReservationState.REQUESTED,
        ReservationState.QUOTED,
        ReservationState.PENDING_APPROVAL,
        ReservationState.BLOCKED,
        ReservationState.EXPIRED,
    }
)
"""States in which a request may become another one; an approved one is cancelled instead."""


class Asker(Model):
    """Who asks, from where, and how they read times and numbers."""

    user: str
    workspace: str
    channel: str
    zone: str
    locale: str


class Filed(Model):
    """The filed reservation; or, with `same_as`, the one that the same line filed just before."""

    reservation: Reservation | None
    same_as: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Takes requests from people who may ask, for a team that pays."""

    store: Store
    clock: Clock
    verifying: Verifying
    telling: Telling
    closing: Closing
    configuration: Configuration
    bell: Bell

    def file(self, parsed: Parsed, *, by: Asker, again: bool = False) -> Filed:
        """Store a request and have it quoted; the same line within two minutes is not repeated.

        Raises NotAllowedError for people who may not ask, UserError when it must be said who
        pays.
        """
        request, line = _meant(parsed)
        owner = request.owner or by.user
        team = self._payer(request, by.user, line)
        self._check_owner(owner, by.user)
        now = self.clock.now()
        with self.store.transaction() as tx:
            same = tx.reservations.same_line(requester=by.user, line=line, since=now - SAME_FOR)
            if same is not None and not again:
                return Filed(reservation=None, same_as=same.id)
            reservation = tx.reservations.add(
                Reservation(
                    state=ReservationState.REQUESTED,
                    workspace=by.workspace,
                    requester=by.user,
                    owner=owner,
                    team=team,
                    channel=request.channel or by.channel,
                    request=request,
                    line=line,
                    zone=by.zone,
                    locale=by.locale,
                    created_at=now,
                    updated_at=now,
                )
            )
            tx.dues.plan(quote_due(reservation, at=now))
            self._write(tx, reservation, by.user, "reservation.requested", now)
        self.bell.ring()
        return Filed(reservation=reservation, same_as=None)

    def cancel(self, reservation_id: int, *, by: str) -> Reservation:
        """Withdraw a request that is not bought yet, free its money and close its cards.

        Raises NotAllowedError for strangers, UserError once it is bought or over.
        """
        now = self.clock.now()
        with self.store.transaction() as tx:
            reservation = tx.reservations.get(reservation_id)
            check_concerned(reservation, by, self.configuration)
            name = gpu_id(reservation_id)
            if reservation.state is ReservationState.CANCELLED:
                return reservation
            if reservation.state not in BEFORE_PURCHASE:
                raise UserError(
                    f"{name} is {reservation.state.replace('_', ' ')}: only what is not bought yet"
                    " can be cancelled.",
                    hint=f"status {name}",
                    code="bought_already",
                    name=name,
                )
            self.closing.withdraw_proposal(tx, reservation, now=now, note=f"withdrawn by @{by}")
            tx.loans.release(reservation_id)
            tx.dues.withdraw(name)
            saved = tx.reservations.save(
                reservation.model_copy(
                    update={
                        "state": ReservationState.CANCELLED,
                        "updated_at": now,
                        "note": "Cancelled before anything was bought.",
                    }
                )
            )
            self._write(tx, saved, by, "reservation.cancelled", now)
        self.bell.ring()
        return saved

    def change(self, reservation_id: int, parsed: Parsed, *, by: str) -> Reservation:
        """Replace the request by another one; whatever was proposed loses its power.

        Raises NotAllowedError, or UserError once it is approved or over.
        """
        request, line = _meant(parsed)
        with self.store.reading() as tx:
            before = tx.reservations.get(reservation_id)
        check_concerned(before, by, self.configuration)
        owner = request.owner or before.owner
        team = self._payer(request, before.requester, line)
        self._check_owner(owner, before.requester)
        now = self.clock.now()
        with self.store.transaction() as tx:
            reservation = tx.reservations.get(reservation_id)
            if reservation.state not in CHANGEABLE:
                raise UserError(
                    f"{gpu_id(reservation_id)} is {reservation.state.replace('_', ' ')} and can't"
                    " be changed any more. Cancel it, or ask anew.",
                    hint=line,
                )
            self.closing.withdraw_proposal(tx, reservation, now=now, note="the request was changed")
            saved = tx.reservations.save(
                reservation.model_copy(
                    update={
                        "state": ReservationState.REQUESTED,
                        "version": reservation.version + 1,
                        "request": request,
                        "line": line,
                        "owner": owner,
                        "team": team,
                        "shown_rank": 1,
                        "option": None,
                        "note": "",
                        "updated_at": now,
                    }
                )
            )
            tx.dues.plan(quote_due(saved, at=now))
            self._write(tx, saved, by, "reservation.changed", now)
        self.bell.ring()
        return saved

    def _payer(self, request: Request, user: str, line: str) -> str | None:
        standing = self.verifying.standing(user, asking_groups(self.configuration))
        obstacle = may_ask(standing, self.configuration)
        if obstacle is not None:
            raise may_not_ask(obstacle)
        names = [team.name for team in teams_of(standing, self.configuration)]
        if request.team is not None:
            if request.team in names:
                return request.team
            yours = ", ".join(names) or "none"
            raise NotAllowedError(
                f"{request.team} is not a team of yours, so it can't pay. Yours: {yours}."
            )
        if len(names) > 1:
            raise UserError(
                f"Which team pays: {' or '.join(names)}?", hint=f"{line} team {names[0]}"
            )
        return names[0] if names else None

    def _check_owner(self, owner: str, requester: str) -> None:
        if owner == requester:
            return
        if unfit(self.verifying.standing(owner)) is not None:
            raise UserError("The owner must be an active member of this workspace.")

    def _write(
        self, tx: Transaction, reservation: Reservation, by: str, action: str, now: datetime
    ) -> None:
        tx.audit.append(
            AuditEntry(
                at=now,
                actor=by,
                action=action,
                reservation_id=reservation.id,
                facts={
                    "line": reservation.line,
                    "version": str(reservation.version),
                    "owner": reservation.owner,
                    "team": reservation.team or "",
                },
            )
        )
        self.telling.redraw(tx, reservation, now=now)


def _meant(parsed: Parsed) -> tuple[Request, str]:
    """Return the request and its canonical line. Raises UserError when something is open."""
    if parsed.status is not Status.OK:
        problem = parsed.problem
        raise UserError(
            problem.message if problem else "Something must be settled first.",
            hint=problem.hint if problem else None,
        )
    if parsed.request is None or parsed.line is None or parsed.command != "reserve":
        raise BugError(f"{parsed.command} files nothing")
    return parsed.request, parsed.line
