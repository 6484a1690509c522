"""The store on a SQLite file: each unit of work has a connection of its own."""

import sqlite3
import time
from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from bot.domain.errors import BusyError
from bot.domain.records import Delivery
from bot.ports import (
    Audit,
    Budget,
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


class SqliteStore:
    """See bot.ports.Store. Durable against kill -9 and power loss: every commit is synced."""

    def __init__(self, path: Path, *, holder: str) -> None:
        self._connections = Connections(path)
        self._recorder = Recorder(self._connections)
        self._holder = holder

    @contextmanager
    def transaction(self) -> Generator[Transaction]:
        """See bot.ports."""
        until = time.monotonic() + _LOCK_SECONDS
        if not self._connections.turns.take(seconds=_LOCK_SECONDS):
            raise BusyError("the database is locked by another unit of work")
        try:
            with self._unit(writable=True, until=until) as transaction:
                yield transaction
        finally:
            self._connections.turns.give()

    @contextmanager
    def reading(self) -> Generator[Transaction]:
        """See bot.ports."""
        until = time.monotonic() + _LOCK_SECONDS
        with self._unit(writable=False, until=until) as transaction:
            yield transaction

    @contextmanager
    def _unit(self, *, writable: bool, until: float) -> Generator[Transaction]:
        try:
            connection = self._connections.take(until=until)
        except sqlite3.Error as error:
            raise ours(error) from error
        session = Session(connection, writable=writable, holder=self._holder)
        try:
            if writable:
                begin(connection, "begin immediate", until=until)
            else:
                connection.execute("begin")
                # The view is taken by the first read, not by begin.
                begin(connection, "select 1 from sqlite_schema", until=until)
            yield SqliteTransaction(session)
            connection.execute("commit")
        except sqlite3.Error as error:
            raise ours(error) from error
        finally:
            session.end()
            self._connections.give(connection)

    def record(self, delivery: Delivery, *, patience: timedelta) -> bool:
        """See bot.ports."""
        return self._recorder.record(delivery, patience=patience)

    def close(self) -> None:
        """See bot.ports. Queued deliveries are written first, if the database takes them now."""
        self._recorder.close()
        self._connections.close()
