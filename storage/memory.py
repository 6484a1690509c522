"""The store in plain dicts: copied when a unit of work begins, swapped in when it commits."""

from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta

from bot.domain.errors import BugError, BusyError
from bot.domain.records import Delivery
from bot.ports import (
    Audit,
    Budget,
    Counts,
    Decisions,
    Dues,
    Facts,
    Inbox,
    Loans,
    Outbox,
    Proposals,
    Purchases,
    Receipts,
    Reservations,
    Transaction,
)
from storage.memory_audit import MemoryAudit, MemoryCounts, MemoryFacts
from storage.memory_books import Books, Desk, InRow
from storage.memory_ledger import MemoryBudget, MemoryLoans, MemoryPurchases, MemoryReceipts
from storage.memory_queues import MemoryDues, MemoryInbox, MemoryOutbox
from storage.memory_records import MemoryDecisions, MemoryProposals, MemoryReservations
from storage.turns import Turns

_LOCK_SECONDS = 10.0
"""As long as a unit of work waits on a file."""


class MemoryTransaction:
    """See bot.ports.Transaction."""

    def __init__(self, desk: Desk) -> None:
        self.reservations: Reservations = MemoryReservations(desk)
        self.decisions: Decisions = MemoryDecisions(desk)
        self.proposals: Proposals = MemoryProposals(desk)
        self.purchases: Purchases = MemoryPurchases(desk)
        self.receipts: Receipts = MemoryReceipts(desk)
        self.budget: Budget = MemoryBudget(desk)
        self.dues: Dues = MemoryDues(desk)
        self.outbox: Outbox = MemoryOutbox(desk)
        self.inbox: Inbox = MemoryInbox(desk)
        self.audit: Audit = MemoryAudit(desk)
        self.facts: Facts = MemoryFacts(desk)
        self.loans: Loans = MemoryLoans(desk)
        self.counts: Counts = MemoryCounts(desk)


class MemoryStore:
    """See bot.ports.Store. Nothing survives the process."""

    def __init__(self, *, holder: str) -> None:
        self._holder = holder
        self._turns = Turns()
        self._books = Books()
        self._closed = False

    @contextmanager
    def transaction(self) -> Generator[Transaction]:
        """See bot.ports."""
        self._check_open()
        self._take(_LOCK_SECONDS)
        desk = Desk(self._books.copy(), writable=True, holder=self._holder)
        try:
            yield MemoryTransaction(desk)
            self._books = desk.books
        finally:
            desk.is_open = False
            self._turns.give()

    @contextmanager
    def reading(self) -> Generator[Transaction]:
        """See bot.ports."""
        self._check_open()
        desk = Desk(self._books, writable=False, holder=self._holder)
        try:
            yield MemoryTransaction(desk)
        finally:
            desk.is_open = False

    def record(self, delivery: Delivery, *, patience: timedelta) -> bool:
        """See bot.ports."""
        self._check_open()
        self._take(patience.total_seconds())
        try:
            if delivery.key in self._books.inbox:
                return False
            books = self._books.copy()
            numbered = delivery.model_copy(update={"id": books.next_number("inbox")})
            books.inbox[delivery.key] = InRow(numbered)
            self._books = books
            return True
        finally:
            self._turns.give()

    def close(self) -> None:
        """See bot.ports."""
        self._closed = True

    def _take(self, seconds: float) -> None:
        if not self._turns.take(seconds=seconds):
            raise BusyError("the store is held by another unit of work; nothing was stored")

    def _check_open(self) -> None:
        if self._closed:
            raise BugError("the store was used after it had been closed")
