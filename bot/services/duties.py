"""Works off what is due: claims rows, calls the step that each kind names, settles them.

A step that fails is tried again with growing pauses; it never takes other rows down with it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.domain.errors import BusyError, ConflictError, MarketError, UnknownRecordError
from bot.domain.records import Due
from bot.ports import Clock, Store, Transaction
from bot.services.words.delivering import Log

LEASE = timedelta(minutes=10)
"""Longer than the slowest step (a cold market read, a purchase at its time-out)."""

BATCH = 8
PAUSES = (10, 30, 60, 300, 900)
"""Seconds before a failed step is tried again."""

Step = Callable[[Due], object]
Settle = Callable[[Transaction], None]


@dataclass(slots=True, kw_only=True)
class Duties:
    """Claims and carries out what is due. Safe from several threads and processes.

    `failed` is told the kind of every step that failed.
    """

    store: Store
    clock: Clock
    steps: Mapping[str, Step]
    log: Log
    failed: Callable[[str], object] = str
    failures: dict[str, int] = field(default_factory=dict)
    owed: dict[str, tuple[datetime, Settle]] = field(default_factory=dict)

    def step(self, *, limit: int = BATCH) -> int:
        """Carry out at most `limit` due rows; return how many were taken."""
        with self.store.transaction() as tx:
            owed = tuple(self.owed.items())
            now = self.clock.now()
            for _, (until, settle) in owed:
                if now < until:
                    settle(tx)
            batch = tx.dues.claim(now=now, lease=LEASE, limit=limit)
        for key, _ in owed:
            self.owed.pop(key, None)
        for due in batch:
            self._carry_out(due)
        return len(batch)

    def _carry_out(self, due: Due) -> None:
        now = self.clock.now()
        if due.stale_after is not None and now >= due.stale_after:
            self._done(due, now, "dropped: too late to be of use")
            self.log.warning("due row dropped", key=due.key, due_at=str(due.at))
            return
        step = self.steps.get(due.kind)
        if step is None:
            self._done(due, now, f"no step is called {due.kind}")
            self.log.warning("due row of an unknown kind", key=due.key)
            return
        try:
            outcome = step(due)
        except UnknownRecordError as missing:
            self._done(due, now, str(missing))
        except (ConflictError, BusyError, MarketError) as error:
            self._again(due, error)
        except Exception as error:  # noqa: BLE001 — the boundary of a background step
            self._again(due, error)
        else:
            self.failures.pop(due.key, None)
            self._done(due, self.clock.now(), str(outcome) if outcome is not None else "done")

    def _done(self, due: Due, at: datetime, outcome: str) -> None:
        self._settle(due, lambda tx: tx.dues.done(due.key, at=at, outcome=outcome))

    def _settle(self, due: Due, settle: Settle) -> None:
        """Write down what became of a row, at the next step if the database is full or busy.

        Left alone, the row would wait for its lease to end.
        """
        try:
            with self.store.transaction() as tx:
                settle(tx)
        except BusyError as error:
            self.log.warning("due row not settled yet", key=due.key, error=str(error))
            # Later, the lease may have ended, and the row be somebody else's.
            self.owed[due.key] = (self.clock.now() + LEASE / 2, settle)

    def _again(self, due: Due, error: Exception) -> None:
        self.failed(due.kind)
        count = self.failures.get(due.key, 0)
        self.failures[due.key] = count + 1
        pause = PAUSES[min(count, len(PAUSES) - 1)]
        self.log.warning(
            "step failed, is tried again",
            key=due.key,
            error=f"{type(error).__name__}: {error}",
            pause_seconds=pause,
        )
        not_before = self.clock.now() + timedelta(seconds=pause)
        self._settle(due, lambda tx: tx.dues.put_back(due.key, not_before=not_before))
