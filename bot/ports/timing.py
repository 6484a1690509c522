"""What tells the time and wakes the loops."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """The one source of now."""

    def now(self) -> datetime:
        """Return the present instant, aware UTC."""


class Bell(Protocol):
    """Wakes the loops that work off inbox, outbox and dues."""

    def ring(self) -> None:
        """Say that there may be work now."""
