"""The store on a SQLite file: each unit of work has a connection of its own."""

import sqlite3
import time
from contextlib import AbstractContextManager
from datetime import timedelta
from pathlib import Path
from types import TracebackType

from bot.domain.errors import BusyError
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
from storage.connections import Connections, begin
from storage.recorder import Recorder
from storage.session import Session, ours
from storage.sqlite_books import SqliteAudit, SqliteFacts
from storage.sqlite_figures import SqliteCounts
from storage.sqlite_ledger import SqliteBudget, SqliteLoans, SqlitePurchases, SqliteReceipts
from storage.sqlite_queues import SqliteDues, SqliteInbox, SqliteOutbox
from storage.sqlite_records import SqliteDecisions, SqliteProposals, SqliteReservations

_LOCK_SECONDS = 10.0
"""How long a unit of work waits for the write lock; longer than any commit of ours, and shorter
than a person waits."""


class SqliteTransaction:
    """See bot.ports.Transaction."""

    def __init__(self, session: Session) -> None:
        self.reservations: Reservations = SqliteReservations(session)
        self.decisions: Decisions = SqliteDecisions(session)
        self.proposals: Proposals = SqliteProposals(session)
        self.purchases: Purchases = SqlitePurchases(session)
        self.receipts: Receipts = SqliteReceipts(session)
        self.budget: Budget = SqliteBudget(session)
        self.dues: Dues = SqliteDues(session)
        self.outbox: Outbox = SqliteOutbox(session)
        self.inbox: Inbox = SqliteInbox(session)
        self.audit: Audit = SqliteAudit(session)
        self.facts: Facts = SqliteFacts(session)
        self.loans: Loans = SqliteLoans(session)
        self.counts: Counts = SqliteCounts(session)


class _Unit:
    """One unit of work: a turn if it writes, a connection, a transaction around the block.

    Written out, not as a generator: every screen and every step opens several.
    """

    def __init__(self, connections: Connections, *, holder: str, writable: bool) -> None:
        self._connections = connections
        self._holder = holder
        self._writable = writable

    def __enter__(self) -> Transaction:
        until = time.monotonic() + _LOCK_SECONDS
        if self._writable and not self._connections.turns.take(seconds=_LOCK_SECONDS):
            raise BusyError("the database is locked by another unit of work")
        try:
            self._connection = self._connections.take(until=until)
            self._changes = self._connection.total_changes
            try:
                self._begin(until)
            except BaseException:
                self._connections.give(self._connection)
                raise
        except BaseException as error:
            self._give_turn()
            if isinstance(error, sqlite3.Error):
                raise ours(error) from error
            raise
        self._session = Session(self._connection, writable=self._writable, holder=self._holder)
        return SqliteTransaction(self._session)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        changed = False
        try:
            if error is None:
                self._connection.execute("commit")
                changed = self._connection.total_changes != self._changes
        except sqlite3.Error as failed:
            raise ours(failed) from failed
        finally:
            self._session.end()
            self._connections.give(self._connection)
            self._give_turn()
        if changed:
            # Only now: the next writer need not wait for our disk.
            self._connections.syncing.wait()
        if isinstance(error, sqlite3.Error):
            raise ours(error) from error

    def _begin(self, until: float) -> None:
        # Readers, too: what they would show may not outlive the restart that is needed.
        self._connections.syncing.check()
        if self._writable:
            begin(self._connection, "begin immediate", until=until)
        else:
            self._connection.execute("begin")
            # The view is taken by the first read, not by begin.
            begin(self._connection, "select 1 from sqlite_schema", until=until)

    def _give_turn(self) -> None:
        if self._writable:
            self._connections.turns.give()


class SqliteStore:
    """See bot.ports.Store. Durable against kill -9 and power loss.

    Whoever leaves a unit of work that wrote something has seen it synced (storage.syncing).
    """

    def __init__(self, path: Path, *, holder: str) -> None:
        self._connections = Connections(path)
        self._recorder = Recorder(self._connections)
        self._holder = holder

    def transaction(self) -> AbstractContextManager[Transaction]:
        """See bot.ports."""
        return _Unit(self._connections, holder=self._holder, writable=True)

    def reading(self) -> AbstractContextManager[Transaction]:
        """See bot.ports."""
        return _Unit(self._connections, holder=self._holder, writable=False)

    def record(self, delivery: Delivery, *, patience: timedelta) -> bool:
        """See bot.ports."""
        return self._recorder.record(delivery, patience=patience)

    def close(self) -> None:
        """See bot.ports. Queued deliveries are written first, if the database takes them now."""
        self._recorder.close()
        self._connections.close()
