"""Reservations, decisions and proposals over plain dicts. See bot.ports for each rule."""

from collections.abc import Collection, Sequence
from datetime import datetime

from bot.domain.errors import BugError, ConflictError, StateError, UnknownRecordError
from bot.domain.lifecycle import ProposalState, ReservationState, check_reservation_step
from bot.domain.records import (
    Approval,
    DecisionRecord,
    Proposal,
    Reservation,
    ShownDecision,
    gpu_id,
)
from storage.listing import listing
from storage.memory_books import Desk


class MemoryReservations:
    """See bot.ports.Reservations."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def add(self, reservation: Reservation) -> Reservation:
        """See bot.ports. Raises BugError for one that is stored already."""
        books = self._desk.writing()
        if reservation.id or reservation.revision:
            raise BugError(f"{gpu_id(reservation.id)} is stored already")
        number = books.next_number("reservation")
        stored = reservation.model_copy(update={"id": number, "revision": 1})
        books.reservations[number] = stored
        return stored

    def get(self, reservation_id: int) -> Reservation:
        """See bot.ports."""
        stored = self._desk.reading().reservations.get(reservation_id)
        if stored is None:
            raise UnknownRecordError(f"there is no {gpu_id(reservation_id)}")
        return stored

    def save(self, reservation: Reservation) -> Reservation:
        """See bot.ports."""
        books = self._desk.writing()
        stored = self.get(reservation.id)
        if stored.revision != reservation.revision:
            raise ConflictError(f"{gpu_id(reservation.id)} was changed meanwhile")
        check_reservation_step(stored.state, reservation.state)
        following = reservation.model_copy(update={"revision": reservation.revision + 1})
        books.reservations[reservation.id] = following
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
        return asked.page(self._desk.reading().reservations.values())

    def same_line(self, *, requester: str, line: str, since: datetime) -> Reservation | None:
        """See bot.ports."""
        found = [
            one
            for one in self._desk.reading().reservations.values()
            if one.requester == requester and one.line == line and one.created_at >= since
        ]
        return max(found, key=lambda one: one.id, default=None)


class MemoryDecisions:
    """See bot.ports.Decisions."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def add(self, record: DecisionRecord) -> None:
        """See bot.ports. Raises UnknownRecordError without its reservation."""
        books = self._desk.writing_for(record.reservation_id)
        books.decisions[books.next_number("decision")] = record

    def latest(self, reservation_id: int) -> DecisionRecord | None:
        """See bot.ports."""
        found = [
            record
            for record in self._desk.reading().decisions.values()
            if record.reservation_id == reservation_id
        ]
        return found[-1] if found else None

    def shown(self, reservation_id: int) -> ShownDecision | None:
        """See bot.ports."""
        newest = self.latest(reservation_id)
        if newest is None:
            return None
        return ShownDecision(decided_at=newest.decided_at, decision=newest.decision)


class MemoryProposals:
    """See bot.ports.Proposals."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def add(self, proposal: Proposal) -> Proposal:
        """See bot.ports. Raises BugError unless it is new and open."""
        books = self._desk.writing()
        if proposal.id or proposal.state is not ProposalState.OPEN:
            raise BugError("a proposal starts open and without an id")
        self._desk.writing_for(proposal.reservation_id)
        for other in books.proposals.values():
            if other.reservation_id == proposal.reservation_id and other.state == "open":
                raise ConflictError(f"proposal {other.id} is open already")
        stored = proposal.model_copy(update={"id": books.next_number("proposal")})
        books.proposals[stored.id] = stored
        return stored

    def get(self, proposal_id: int) -> Proposal:
        """See bot.ports."""
        stored = self._desk.reading().proposals.get(proposal_id)
        if stored is None:
            raise UnknownRecordError(f"there is no proposal {proposal_id}")
        return stored

    def current(self, reservation_id: int) -> Proposal | None:
        """See bot.ports."""
        found = [
            proposal
            for proposal in self._desk.reading().proposals.values()
            if proposal.reservation_id == reservation_id
        ]
        return max(found, key=lambda one: one.id, default=None)

    def move(self, proposal: Proposal, to: ProposalState, *, note: str = "") -> Proposal:
        """See bot.ports. An empty note keeps the stored one."""
        books = self._desk.writing()
        if to is ProposalState.OPEN:
            raise StateError("a proposal cannot be opened again")
        stored = self.get(proposal.id)
        if stored.state is not ProposalState.OPEN:
            raise ConflictError(f"proposal {proposal.id} is {stored.state} already")
        after = stored.model_copy(update={"state": to, "note": note or stored.note})
        books.proposals[stored.id] = after
        return after

    def give(self, approval: Approval) -> None:
        """See bot.ports. Raises UnknownRecordError without its proposal."""
        books = self._desk.writing()
        key = (approval.proposal_id, approval.approver)
        if key in books.approvals:
            raise ConflictError(f"{approval.approver} has answered already")
        self.get(approval.proposal_id)
        books.approvals[key] = approval

    def given(self, proposal_id: int) -> Sequence[Approval]:
        """See bot.ports."""
        approvals = self._desk.reading().approvals.values()
        return tuple(one for one in approvals if one.proposal_id == proposal_id)
