"""Something that is made when it is first used: AWS's libraries cost a third of a start."""

import threading
from collections.abc import Callable
from typing import Any


class Deferred:
    """Stands for what `make` returns; made once, by whichever thread needs it first."""

    def __init__(self, make: Callable[[], object]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._made: object | None = None

    def __getattr__(self, name: str) -> Any:
        """Return the attribute of the real thing."""
        with self._lock:
            if self._made is None:
                self._made = self._make()
        return getattr(self._made, name)
