"""Reservations, the ledger, money and the audit over plain dicts. See bot.ports for each rule."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from decimal import Decimal

from bot.domain.errors import BugError, ConflictError, StateError, UnknownRecordError
from bot.domain.lifecycle import (
    LIVE_PURCHASES,
    ProposalState,
    PurchaseState,
    ReservationState,
    check_purchase_step,
    check_reservation_step,
)
from bot.domain.records import (
    Approval,
    AuditEntry,
    BudgetEntry,
    DecisionRecord,
    Proposal,
    Purchase,
    Receipt,
    Reservation,
    gpu_id,
)
from storage import chain
from storage.memory_books import Desk, Loan
from storage.moving import moved
from storage.overlap import most_at_once


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
        """See bot.ports. `before_id` ends the page before: what follows it in the order shown."""
        found = [
            one
            for one in self._desk.reading().reservations.values()
            if (states is None or one.state in states)
            and (requester is None or requester in {one.requester, one.owner})
            and (team is None or one.team == team)
            and (before_id is None or (one.id < before_id) == newest_first)
            and one.id != before_id
        ]
        found.sort(key=lambda one: one.id, reverse=newest_first)
        return tuple(found[:limit])

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


class MemoryPurchases:
    """See bot.ports.Purchases."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def add(self, purchase: Purchase) -> None:
        """See bot.ports. Raises BugError unless it is intended."""
        books = self._desk.writing()
        if purchase.state is not PurchaseState.INTENDED:
            raise BugError(f"a purchase starts as intended, not {purchase.state}")
        leg = (purchase.reservation_id, purchase.leg.number)
        for other in books.purchases.values():
            live = other.state in LIVE_PURCHASES
            if other.id == purchase.id or (
                live and (other.reservation_id, other.leg.number) == leg
            ):
                raise ConflictError(f"purchase {other.id} stands for that leg already")
        self._desk.writing_for(purchase.reservation_id)
        if purchase.proposal_id not in books.proposals:
            raise UnknownRecordError(f"there is no proposal {purchase.proposal_id}")
        books.purchases[purchase.id] = purchase

    def get(self, purchase_id: str) -> Purchase:
        """See bot.ports."""
        stored = self._desk.reading().purchases.get(purchase_id)
        if stored is None:
            raise UnknownRecordError(f"there is no purchase {purchase_id}")
        return stored

    def move(
        self,
        purchase: Purchase,
        to: PurchaseState,
        *,
        at: datetime,
        outcome: str = "",
        offering_ref: str | None = None,
        fee: str | None = None,
    ) -> Purchase:
        """See bot.ports."""
        books = self._desk.writing()
        stored = self.get(purchase.id)
        if stored.state is not purchase.state:
            raise ConflictError(f"purchase {purchase.id} is {stored.state} already")
        check_purchase_step(stored.state, to)
        after = moved(stored, to, at=at, outcome=outcome, offering_ref=offering_ref, fee=fee)
        books.purchases[purchase.id] = after
        return after

    def of(self, reservation_id: int) -> Sequence[Purchase]:
        """See bot.ports."""
        found = [one for one in self._all() if one.reservation_id == reservation_id]
        found.sort(key=lambda one: (one.leg.number, one.attempt))
        return tuple(found)

    def in_state(self, states: Collection[PurchaseState]) -> Sequence[Purchase]:
        """See bot.ports."""
        return tuple(one for one in self._all() if one.state in states)

    def recent(self, *, limit: int = 100) -> Sequence[Purchase]:
        """See bot.ports."""
        return tuple(reversed(self._all()))[:limit]

    def _all(self) -> list[Purchase]:
        """Return all, oldest first."""
        purchases = self._desk.reading().purchases.values()
        return sorted(purchases, key=lambda one: (one.intended_at, one.id))


class MemoryReceipts:
    """See bot.ports.Receipts."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def add(self, receipt: Receipt) -> Receipt:
        """See bot.ports. Raises UnknownRecordError without its reservation."""
        books = self._desk.writing()
        if receipt.id not in books.receipts:
            self._desk.writing_for(receipt.reservation_id)
            books.receipts[receipt.id] = receipt.model_copy(update={"revision": 1})
        return books.receipts[receipt.id]

    def get(self, receipt_id: str) -> Receipt:
        """See bot.ports."""
        stored = self._desk.reading().receipts.get(receipt_id)
        if stored is None:
            raise UnknownRecordError(f"there is no receipt {receipt_id}")
        return stored

    def save(self, receipt: Receipt) -> Receipt:
        """See bot.ports. Raises UnknownRecordError for one that was never added.

        Raises BugError when it would go to another reservation.
        """
        books = self._desk.writing()
        stored = self.get(receipt.id)
        if stored.reservation_id != receipt.reservation_id:
            raise BugError(f"receipt {receipt.id} belongs to another reservation")
        if stored.revision != receipt.revision:
            raise ConflictError(f"receipt {receipt.id} was changed meanwhile")
        following = receipt.model_copy(update={"revision": receipt.revision + 1})
        books.receipts[receipt.id] = following
        return following

    def of(self, reservation_id: int) -> Sequence[Receipt]:
        """See bot.ports. In the order they were added."""
        receipts = self._desk.reading().receipts.values()
        return tuple(one for one in receipts if one.reservation_id == reservation_id)


class MemoryBudget:
    """See bot.ports.Budget."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def hold(self, entry: BudgetEntry) -> None:
        """See bot.ports. Raises BugError unless it is held."""
        books = self._desk.writing()
        if entry.state != "held":
            raise BugError(f"money is held first, not {entry.state}")
        stored = books.budget.get(entry.purchase_key)
        if stored is not None and stored.state != "freed":
            raise ConflictError(f"money for {entry.purchase_key} is held already")
        self._desk.writing_for(entry.reservation_id)
        books.budget[entry.purchase_key] = entry

    def settle(self, purchase_key: str, *, amount: str) -> None:
        """See bot.ports. Repeating it with the same amount is harmless.

        Raises UnknownRecordError without an entry, StateError when it was freed or settled
        with another amount.
        """
        books = self._desk.writing()
        stored = books.budget.get(purchase_key)
        if stored is None:
            raise UnknownRecordError(f"no money is held for {purchase_key}")
        after = BudgetEntry.model_validate(
            {**dict(stored), "amount": Decimal(amount), "state": "committed"}
        )
        if stored.state != "held" and after != stored:
            raise StateError(f"money for {purchase_key} is {stored.state}: {stored.amount}")
        books.budget[purchase_key] = after

    def free(self, purchase_key: str) -> None:
        """See bot.ports. An unknown key holds no money, so there is nothing to give back."""
        books = self._desk.writing()
        stored = books.budget.get(purchase_key)
        if stored is not None:
            books.budget[purchase_key] = stored.model_copy(update={"state": "freed"})

    def entries(
        self,
        *,
        team: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        reservation_id: int | None = None,
    ) -> Sequence[BudgetEntry]:
        """See bot.ports."""
        found = [
            entry
            for entry in self._desk.reading().budget.values()
            if (team is None or entry.team == team)
            and (since is None or entry.held_at >= since)
            and (until is None or entry.held_at < until)
            and (reservation_id is None or entry.reservation_id == reservation_id)
        ]
        return tuple(sorted(found, key=lambda entry: (entry.held_at, entry.purchase_key)))

    def spent(
        self,
        *,
        since: datetime,
        until: datetime,
        team: str | None = None,
        apart: Collection[str] = (),
    ) -> Decimal:
        """See bot.ports."""
        found = self.entries(team=team, since=since, until=until)
        return sum(
            (
                entry.amount
                for entry in found
                if entry.state != "freed" and entry.purchase_key not in apart
            ),
            Decimal(0),
        )


class MemoryLoans:
    """See bot.ports.Loans."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def hold(
        self,
        *,
        reservation_id: int,
        ref: str,
        count: int,
        start: datetime,
        end: datetime,
        free: int,
    ) -> None:
        """See bot.ports. Raises BugError for no machines or no time."""
        books = self._desk.writing()
        if count <= 0 or start >= end:
            raise BugError(f"{count} machines from {start} to {end} cannot be held")
        held = self.held(ref, start=start, end=end)
        if held + count > free:
            raise ConflictError(f"{ref}: {held} of {free} machines are promised already")
        self._desk.writing_for(reservation_id)
        books.loans[books.next_number("loan")] = Loan(reservation_id, ref, count, start, end)

    def release(self, reservation_id: int) -> None:
        """See bot.ports."""
        books = self._desk.writing()
        books.loans = {
            number: loan
            for number, loan in books.loans.items()
            if loan.reservation_id != reservation_id
        }

    def held(self, ref: str, *, start: datetime, end: datetime) -> int:
        """See bot.ports."""
        loans = self._desk.reading().loans.values()
        holds = ((one.start, one.end, one.count) for one in loans if one.ref == ref)
        return most_at_once(holds, start=start, end=end)


class MemoryAudit:
    """See bot.ports.Audit."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def append(self, entry: AuditEntry) -> None:
        """See bot.ports."""
        books = self._desk.writing()
        last = books.audit.get(books.numbers.get("audit", 0))
        previous = chain.FIRST if last is None else last[1]
        number = books.next_number("audit")
        kept = entry.model_copy(update={"facts": dict(entry.facts)})
        books.audit[number] = (previous, chain.link(previous, entry), kept)

    def of(self, reservation_id: int, *, limit: int = 100) -> Sequence[AuditEntry]:
        """See bot.ports. The newest `limit` of them."""
        entries = (entry for _, _, entry in self._desk.reading().audit.values())
        found = [entry for entry in entries if entry.reservation_id == reservation_id]
        return tuple(found[-limit:] if limit else ())

    def verify(self) -> Sequence[str]:
        """See bot.ports."""
        books = self._desk.reading()
        problems: list[str] = []
        previous = chain.FIRST
        for number in range(1, books.numbers.get("audit", 0) + 1):
            stored = books.audit.get(number)
            if stored is None:
                problems.append(chain.missing(number))
                continue
            before, own, entry = stored
            if before != previous:
                problems.append(chain.unlinked(number))
            if chain.link(before, entry) != own:
                problems.append(chain.changed(number))
            previous = own
        return tuple(problems)


class MemoryFacts:
    """See bot.ports.Facts."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def get(self, name: str) -> str | None:
        """See bot.ports."""
        stored = self._desk.reading().facts.get(name)
        return None if stored is None else stored[0]

    def put(self, name: str, value: str, *, at: datetime) -> None:
        """See bot.ports."""
        self._desk.writing().facts[name] = (value, at)

    def starting_with(self, prefix: str) -> Mapping[str, str]:
        """See bot.ports."""
        facts = self._desk.reading().facts
        return {name: facts[name][0] for name in sorted(facts) if name.startswith(prefix)}

    def drop(self, name: str) -> None:
        """See bot.ports."""
        self._desk.writing().facts.pop(name, None)
