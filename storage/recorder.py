"""One writer for everything that Slack delivers: concurrent calls share one durable commit.

A caller that gave up takes its entry out of the queue itself. The writer empties the queue only
when it holds the write lock, with nothing left to do but insert and commit. Both happen under one
mutex, so an entry is either given up and never written, or written and its commit waited for.
"""

import sqlite3
import threading
import time
from dataclasses import dataclass, field
from datetime import timedelta

from bot.domain.errors import BugError, BusyError
from bot.domain.records import Delivery
from storage.bodies import time_text
from storage.connections import Connections, begin

_SLICE_SECONDS = 0.05
"""How long one try for the lock takes before the queue is looked at again."""


@dataclass(slots=True, eq=False)
class _Entry:
    delivery: Delivery
    settled: threading.Event = field(default_factory=threading.Event)
    is_new: bool | None = None


class Recorder:
    """Stores deliveries from any thread through one thread of its own."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._wake = threading.Condition()
        self._queue: list[_Entry] = []
        self._closed = False
        self._thread: threading.Thread | None = None

    def record(self, delivery: Delivery, *, patience: timedelta) -> bool:
        """See bot.ports.Store.record."""
        entry = _Entry(delivery)
        with self._wake:
            if self._closed:
                raise BugError("the store was used after it had been closed")
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="deliveries", daemon=True)
                self._thread.start()
            self._queue.append(entry)
            self._wake.notify()
        if not entry.settled.wait(patience.total_seconds()):
            with self._wake:
                if entry in self._queue:
                    self._queue.remove(entry)
                    raise BusyError("the database did not take the delivery in time")
            # Its commit has begun, and only its end tells whether the row is there.
            entry.settled.wait()
        if entry.is_new is None:
            raise BusyError("the database did not take the delivery")
        return entry.is_new

    def close(self) -> None:
        """Write what is queued, if the database takes it now, and stop."""
        with self._wake:
            self._closed = True
            self._wake.notify()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        while True:
            with self._wake:
                while not self._queue and not self._closed:
                    self._wake.wait()
                closing = self._closed
                if not self._queue:
                    return
            if not self._try_once() and closing:
                self._refuse_all()

    def _try_once(self) -> bool:
        """Write all that is queued; return False when the lock did not come."""
        if not self._connections.turns.take(seconds=_SLICE_SECONDS):
            return False
        batch: list[_Entry] = []
        try:
            try:
                answers = self._commit(batch)
            finally:
                self._connections.turns.give()
            if answers is None:
                return False
            self._connections.syncing.wait()
            for entry, is_new in zip(batch, answers, strict=True):
                entry.is_new = is_new
        except (sqlite3.Error, BusyError):
            # Callers are told when their patience ends; the next try has a fresh connection.
            time.sleep(_SLICE_SECONDS)
            return False
        finally:
            for entry in batch:
                entry.settled.set()
        return True

    def _commit(self, batch: list[_Entry]) -> list[bool] | None:
        """Move the queue into `batch` and write it; None when the lock did not come."""
        self._connections.syncing.check()
        connection = self._connections.take(until=time.monotonic())
        try:
            try:
                begin(connection, "begin immediate", until=time.monotonic() + _SLICE_SECONDS)
            except BusyError:
                return None
            with self._wake:
                batch += self._queue
                self._queue = []
            answers = [_insert(connection, entry.delivery) for entry in batch]
            connection.execute("commit")
            return answers
        finally:
            self._connections.give(connection)

    def _refuse_all(self) -> None:
        with self._wake:
            refused, self._queue = self._queue, []
        for entry in refused:
            entry.settled.set()


def _insert(connection: sqlite3.Connection, delivery: Delivery) -> bool:
    # "on conflict do nothing" would use up an id for each repeated delivery.
    cursor = connection.execute(
        "insert into inbox (key, kind, body, received_at, late) select ?1, ?2, ?3, ?4, ?5"
        " where not exists (select 1 from inbox where key = ?1)",
        (
            delivery.key,
            delivery.kind,
            delivery.body,
            time_text(delivery.received_at),
            int(delivery.late),
        ),
    )
    return cursor.rowcount == 1
