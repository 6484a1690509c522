"""Reservations, decisions, proposals and approvals in SQLite. See bot.ports for each rule."""

from collections.abc import Collection, Sequence
from datetime import datetime
from functools import cache

from pydantic import TypeAdapter

from bot.domain.errors import BugError, ConflictError, StateError, UnknownRecordError
from bot.domain.lifecycle import (
    LIVE_RESERVATIONS,
    ProposalState,
    ReservationState,
    check_reservation_step,
)
from bot.domain.records import (
    Approval,
    DecisionRecord,
    Proposal,
    Reservation,
    ShownDecision,
    gpu_id,
)
from storage.bodies import body_of, time_text
from storage.listing import Listing, listing
from storage.session import Row, Session, Value, marks, number, text

LIVE = "state not in ('ended', 'declined', 'expired', 'cancelled', 'failed', 'shadowed')"
"""The condition of the indexes of live rows, word for word: else SQLite does not use them."""


class SqliteReservations:
    """See bot.ports.Reservations."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, reservation: Reservation) -> Reservation:
        """See bot.ports. Raises BugError for one that is stored already."""
        write = self._session.writing()
        if reservation.id or reservation.revision:
            raise BugError(f"{gpu_id(reservation.id)} is stored already")
        first = reservation.model_copy(update={"revision": 1})
        cursor = write(
            "insert into reservation (revision, state, requester, owner, team, line, created_at,"
            " body) values (1, ?, ?, ?, ?, ?, ?, ?)",
            (
                first.state,
                first.requester,
                first.owner,
                first.team,
                first.line,
                time_text(first.created_at),
                body_of(first),
            ),
        )
        return first.model_copy(update={"id": cursor.lastrowid})

    def get(self, reservation_id: int) -> Reservation:
        """See bot.ports."""
        row = self._session.row("select id, body from reservation where id = ?", (reservation_id,))
        if row is None:
            raise UnknownRecordError(f"there is no {gpu_id(reservation_id)}")
        return _reservation(row)

    def save(self, reservation: Reservation) -> Reservation:
        """See bot.ports."""
        write = self._session.writing()
        row = self._session.row(
            "select revision, state from reservation where id = ?", (reservation.id,)
        )
        if row is None:
            raise UnknownRecordError(f"there is no {gpu_id(reservation.id)}")
        if row[0] != reservation.revision:
            raise ConflictError(f"{gpu_id(reservation.id)} was changed meanwhile")
        check_reservation_step(ReservationState(text(row[1])), reservation.state)
        following = reservation.model_copy(update={"revision": reservation.revision + 1})
        cursor = write(
            "update reservation set revision = ?, state = ?, requester = ?, owner = ?, team = ?,"
            " line = ?, created_at = ?, body = ? where id = ? and revision = ?",
            (
                following.revision,
                following.state,
                following.requester,
                following.owner,
                following.team,
                following.line,
                time_text(following.created_at),
                body_of(following),
                following.id,
                reservation.revision,
            ),
        )
        if cursor.rowcount != 1:
            raise ConflictError(f"{gpu_id(reservation.id)} was changed meanwhile")
        return following

    def listing(
        self,
        *,
        states: Collection[ReservationState] | None = None,
        requester: str | None = None,
        team: str | None = None,
        newest_first: bool = True,
        limit: int = 50,
        before_id: int | None = None,
    ) -> Sequence[Reservation]:
        """See bot.ports."""
        asked = listing(
            states=states,
            requester=requester,
            team=team,
            newest_first=newest_first,
            limit=limit,
            before_id=before_id,
        )
        if asked.states is not None and not asked.states:
            return ()
        return _reservations(self._session.rows(*_listing_query(asked)))

    def same_line(self, *, requester: str, line: str, since: datetime) -> Reservation | None:
        """See bot.ports."""
        row = self._session.row(
            "select id, body from reservation"
            " where requester = ? and created_at >= ? and line = ? order by id desc limit 1",
            (requester, time_text(since), line),
        )
        return None if row is None else _reservation(row)


def _listing_query(asked: Listing) -> tuple[str, list[Value]]:
    """Return the statement for a listing and its values.

    Each limb walks one index in the order of ids and stops at the limit. Live rows have indexes
    of their own, so that the few are found without walking the many ended ones.
    """
    also, also_values = _states_term(asked)
    if asked.requester is not None and asked.team is not None:
        also, also_values = f"{also} and +team = ?", [*also_values, asked.team]
    after, order = asked.order
    keys: list[tuple[str, str]] = [("", "")] if asked.team is None else [("team", asked.team)]
    if asked.requester is not None:
        keys = [("requester", asked.requester), ("owner", asked.requester)]
    limbs: list[str] = []
    values: list[Value] = []
    for column, value in keys:
        own = f" and {column} = ?" if column else ""
        limbs.append(
            f"from reservation{_walking(column, live=asked.only_live)}"
            f" where id {after} ?{own}{also} order by id {order} limit ?"
        )
        values += [asked.bound, *([value] if column else []), *also_values, asked.limit]
    if len(limbs) == 1:
        return f"select id, body {limbs[0]}", values
    ids = " union ".join(f"select id from (select id {limb})" for limb in limbs)  # noqa: S608 - every part is written in this file; values are bound
    whole = (
        f"select id, body from reservation where id in ({ids} order by id {order} limit ?)"  # noqa: S608 - as above
        f" order by id {order}"
    )
    return whole, [*values, asked.limit]


def _states_term(asked: Listing) -> tuple[str, list[Value]]:
    """Return the condition on states and its values."""
    if asked.states is None:
        return "", []
    term = f" and {LIVE}" if asked.only_live else ""
    if asked.states == LIVE_RESERVATIONS:
        return term, []
    return f"{term} and +state in ({marks(len(asked.states))})", [*sorted(asked.states)]


def _walking(column: str, *, live: bool) -> str:
    """Return which index is walked: the planner can't know how few rows are live."""
    if not live:
        return f" indexed by reservation_by_{column}" if column else ""
    return f" indexed by reservation_live{f'_by_{column}' if column else ''}"


def _reservation(row: Row) -> Reservation:
    return _with_id(Reservation.model_validate_json(text(row[1])), row)


def _with_id(stored: Reservation, row: Row) -> Reservation:
    # Only a row that was never saved again does not know its own number yet.
    return stored if stored.id == row[0] else stored.model_copy(update={"id": number(row[0])})


@cache
def _many() -> TypeAdapter[tuple[Reservation, ...]]:
    return TypeAdapter(tuple[Reservation, ...])


def _reservations(rows: Sequence[Row]) -> tuple[Reservation, ...]:
    """Return them all out of one JSON text, which is quicker than one by one."""
    stored = _many().validate_json(f"[{','.join(text(body) for _, body in rows)}]")
    return tuple(map(_with_id, stored, rows))


class SqliteDecisions:
    """See bot.ports.Decisions."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, record: DecisionRecord) -> None:
        """See bot.ports. Raises UnknownRecordError without its reservation."""
        self._session.writing()(
            "insert into decision (reservation_id, version, decided_at, body) values (?, ?, ?, ?)",
            (record.reservation_id, record.version, time_text(record.decided_at), body_of(record)),
        )

    def latest(self, reservation_id: int) -> DecisionRecord | None:
        """See bot.ports."""
        body = self._newest(reservation_id)
        return None if body is None else DecisionRecord.model_validate_json(body)

    def shown(self, reservation_id: int) -> ShownDecision | None:
        """See bot.ports."""
        body = self._newest(reservation_id)
        return None if body is None else ShownDecision.model_validate_json(body)

    def _newest(self, reservation_id: int) -> str | None:
        row = self._session.row(
            "select body from decision where reservation_id = ? order by id desc limit 1",
            (reservation_id,),
        )
        return None if row is None else text(row[0])


class SqliteProposals:
    """See bot.ports.Proposals."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, proposal: Proposal) -> Proposal:
        """See bot.ports. Raises BugError unless it is new and open."""
        write = self._session.writing()
        if proposal.id or proposal.state is not ProposalState.OPEN:
            raise BugError("a proposal starts open and without an id")
        cursor = write(
            "insert into proposal (reservation_id, state, body) values (?, ?, ?)",
            (proposal.reservation_id, proposal.state, body_of(proposal)),
        )
        return proposal.model_copy(update={"id": cursor.lastrowid})

    def get(self, proposal_id: int) -> Proposal:
        """See bot.ports."""
        row = self._session.row("select id, body from proposal where id = ?", (proposal_id,))
        if row is None:
            raise UnknownRecordError(f"there is no proposal {proposal_id}")
        return _proposal(row)

    def current(self, reservation_id: int) -> Proposal | None:
        """See bot.ports."""
        row = self._session.row(
            "select id, body from proposal where reservation_id = ? order by id desc limit 1",
            (reservation_id,),
        )
        return None if row is None else _proposal(row)

    def move(self, proposal: Proposal, to: ProposalState, *, note: str = "") -> Proposal:
        """See bot.ports. An empty note keeps the stored one."""
        write = self._session.writing()
        if to is ProposalState.OPEN:
            raise StateError("a proposal cannot be opened again")
        stored = self.get(proposal.id)
        moved = stored.model_copy(update={"state": to, "note": note or stored.note})
        cursor = write(
            "update proposal set state = ?, body = ? where id = ? and state = 'open'",
            (to, body_of(moved), proposal.id),
        )
        if cursor.rowcount != 1:
            raise ConflictError(f"proposal {proposal.id} is {stored.state} already")
        return moved

    def give(self, approval: Approval) -> None:
        """See bot.ports. Raises UnknownRecordError without its proposal."""
        self._session.writing()(
            "insert into approval (proposal_id, approver, body) values (?, ?, ?)",
            (approval.proposal_id, approval.approver, body_of(approval)),
        )

    def given(self, proposal_id: int) -> Sequence[Approval]:
        """See bot.ports."""
        rows = self._session.rows(
            "select body from approval where proposal_id = ? order by id", (proposal_id,)
        )
        return tuple(Approval.model_validate_json(text(row[0])) for row in rows)


def _proposal(row: Row) -> Proposal:
    stored = Proposal.model_validate_json(text(row[1]))
    return stored if stored.id == row[0] else stored.model_copy(update={"id": number(row[0])})
