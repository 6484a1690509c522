"""Faults that a test puts between the bot and Slack."""

import re
from collections import deque
from dataclasses import dataclass

FAULTS = "429:SECONDS, timeout, 500, disconnect or error:CODE"
SOCKET_METHODS = ("apps.connections.open", "socket")


@dataclass(frozen=True, slots=True)
class Fault:
    """What will happen to one call: `argument` is the seconds of a 429 or an error's code."""

    kind: str
    argument: str = ""


def parse_fault(text: str) -> Fault:
    """The fault that `text` names.

    Raises:
        ValueError: when it names none.
    """
    if text in {"timeout", "500", "disconnect"}:
        return Fault(text)
    if (found := re.fullmatch(r"429(?::(\d{1,5}))?", text)) is not None:
        return Fault("429", found[1] or "30")
    if (found := re.fullmatch(r"error:([a-z_]+)", text)) is not None:
        return Fault("error", found[1])
    raise ValueError(f"fault {text!r} is not known: write {FAULTS}")


class Faults:
    """Faults waiting for the next calls of a method, first in, first out."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[Fault]] = {}

    def add(self, method: str, fault: Fault, times: int) -> None:
        """Let the next `times` calls of `method` meet `fault`."""
        self._waiting.setdefault(method, deque()).extend([fault] * times)

    def take(self, method: str) -> Fault | None:
        """The fault that this call of `method` meets, or None; it is used up."""
        queue = self._waiting.get(method)
        return queue.popleft() if queue else None
