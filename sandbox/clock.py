"""The one clock of Slack, AWS and the bot."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

DEFAULT_START = datetime(2027, 3, 10, 15, 0, tzinfo=UTC)


class ClockError(ValueError):
    """The clock was asked for something that time cannot do."""


class WorldClock:
    """A clock that runs at wall speed, can be held still, and only ever moves forward.

    Safe to read from any thread.
    """

    def __init__(
        self, start: datetime = DEFAULT_START, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._lock = threading.Lock()
        self._monotonic = monotonic
        self._base = start.astimezone(UTC)
        self._since = monotonic()
        self._held = False

    def now(self) -> datetime:
        """The instant of the simulated world, in UTC."""
        with self._lock:
            return self._read()

    def move_to(self, instant: datetime) -> None:
        """Put the clock at `instant`.

        Raises:
            ClockError: when `instant` lies in the past.
        """
        with self._lock:
            now = self._read()
            if instant < now:
                raise ClockError(
                    f"time only moves forward: it is {iso(now)}, asked for {iso(instant)}"
                )
            self._base = instant.astimezone(UTC)
            self._since = self._monotonic()

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Stand still inside the block; `move_to` still works. Wall speed again after it."""
        with self._lock:
            self._base, self._held = self._read(), True
        try:
            yield
        finally:
            with self._lock:
                self._held = False
                self._since = self._monotonic()

    def _read(self) -> datetime:
        if self._held:
            return self._base
        return self._base + timedelta(seconds=self._monotonic() - self._since)


def iso(instant: datetime) -> str:
    """`instant` as ISO 8601 UTC with Z; fractions only when there are any."""
    return instant.astimezone(UTC).isoformat().replace("+00:00", "Z")
