"""A lock that serves in the order of asking, so that no writer starves behind luckier ones."""

import threading
from collections import deque

from bot.domain.errors import BugError


class Turns:
    """One holder at a time, first come first served, within a process."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._waiting: deque[tuple[threading.Lock, int]] = deque()
        self._holder: int | None = None

    def take(self, *, seconds: float) -> bool:
        """Wait for the turn for so long; return whether it came.

        Raises BugError when this thread holds it already, which would wait for itself.
        """
        me = threading.get_ident()
        with self._mutex:
            if self._holder == me:
                raise BugError("a unit of work was opened inside another one")
            if self._holder is None:
                self._holder = me
                return True
            ticket = threading.Lock()
            ticket.acquire()
            self._waiting.append((ticket, me))
        if ticket.acquire(timeout=max(seconds, 0)):
            return True
        with self._mutex:
            if (ticket, me) in self._waiting:
                self._waiting.remove((ticket, me))
                return False
        return True  # it was handed over just as the wait ended

    def give(self) -> None:
        """Hand the turn to whoever asked first."""
        with self._mutex:
            if self._waiting:
                ticket, self._holder = self._waiting.popleft()
                ticket.release()
            else:
                self._holder = None
