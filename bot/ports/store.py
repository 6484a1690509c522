"""The durable store and its unit of work."""

from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Protocol

from bot.domain.records import Delivery
from bot.ports.queues import Dues, Inbox, Outbox
from bot.ports.records import (
    Audit,
    Budget,
    Counts,
    Decisions,
    Facts,
    Loans,
    Proposals,
    Purchases,
    Receipts,
    Reservations,
)


class Transaction(Protocol):
    """One unit of work: everything in it is committed together, or nothing is."""

    reservations: Reservations
    decisions: Decisions
    proposals: Proposals
    purchases: Purchases
    receipts: Receipts
    budget: Budget
    dues: Dues
    outbox: Outbox
    inbox: Inbox
    audit: Audit
    facts: Facts
    loans: Loans
    counts: Counts


class Store(Protocol):
    """Durable records. A transaction commits on leaving the block and rolls back on an error."""

    def transaction(self) -> AbstractContextManager[Transaction]:
        """Open a unit of work that may write. Raises BusyError when the database is locked."""

    def reading(self) -> AbstractContextManager[Transaction]:
        """Open a consistent view; writing through it is a BugError."""

    def record(self, delivery: Delivery, *, patience: timedelta) -> bool:
        """Store a delivery durably; False when its key is known already.

        Concurrent calls share a commit. Raises BusyError when it is not on disk within
        `patience`; the row is then not stored, now or later.
        """

    def close(self) -> None:
        """Release the file or the pool."""
