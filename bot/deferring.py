"""Something that is made or imported when it is first used, so that a start need not wait for it.

AWS's libraries cost a third of a start, the services and the language another.
"""

import importlib
import threading
from collections.abc import Callable, Mapping, Sequence
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


def on_first_use(package: str, homes: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """Return a package's `__getattr__`: each name comes from its module when it is asked for.

    `homes` gives the names of each module; "VERBS=KNOWN" gives the module's KNOWN as VERBS.
    """
    places = {
        name.partition("=")[0]: (module, name.rpartition("=")[2])
        for module, names in homes.items()
        for name in names
    }

    def find(name: str) -> Any:
        if name not in places:
            message = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(message)
        module, there = places[name]
        return getattr(importlib.import_module(f"{package}.{module}"), there)

    return find
