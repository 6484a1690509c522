"""Forgetting what was worked off long ago, a little at a time.

Reservations, decisions, the ledger and the audit are never touched. What goes are rows of the
queues: nobody looks at them again, and their keys guard against repeats no longer.
"""

import threading
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.domain.errors import BusyError
from bot.ports import Clock, Store

KEEP = timedelta(days=30)
"""Slack repeats an event within the hour and signs nothing that is older than five minutes."""
KEEP_UNTIED = timedelta(days=400)
"""For messages about no reservation: longer than anything lasts that AWS sells ahead."""
EVERY = timedelta(hours=6)
BATCH = 200
"""Rows of one queue in one transaction: milliseconds, so that no acknowledgement waits."""


@dataclass(slots=True, kw_only=True)
class Pruning:
    """Empties the queues of what is over."""

    store: Store
    clock: Clock
    next_at: datetime | None = None
    turn: threading.Lock = field(default_factory=threading.Lock)

    def step(self) -> int:
        """Forget one batch if it is time; return how many rows it was. 0 means: done for now."""
        now = self.clock.now()
        with self.turn:
            if self.next_at is not None and now < self.next_at:
                return 0
            try:
                count = self._batch(now)
            except BusyError:
                count = 0
            if count == 0:
                self.next_at = now + EVERY
        return count

    def _batch(self, now: datetime) -> int:
        before = now - KEEP
        with self.store.transaction() as tx:
            return (
                tx.inbox.prune(before=before, limit=BATCH)
                + tx.dues.prune(before=before, limit=BATCH)
                + tx.outbox.prune(before=before, untied_before=now - KEEP_UNTIED, limit=BATCH)
            )
