"""Faults that a script orders: what goes wrong on the wire, for which calls, how often."""

import difflib
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sandbox.aws.world import Call

PLAIN = {
    "lost-request",
    "lost-answer",
    "truncated-answer",
    "throttle",
    "kill-before-call",
    "kill-before-answer",
    "kill-after-answer",
}
TIMED = {"slow", "slow-sale"}
KEYS = {"operation", "fault", "times", "region", "match"}


@dataclass(slots=True)
class Fault:
    """One order: `kind` befalls the next `times` matching calls."""

    operation: str
    kind: str
    code: str
    seconds: float
    times: int
    region: str | None
    match: dict[str, Any]

    def befalls(self, call: Call) -> bool:
        """Whether this call is one that the order means.

        A dry run spends nothing, so it does not use up a fault unless `match` asks for it.
        """
        if self.times < 1 or call.operation != self.operation:
            return False
        if self.region is not None and call.region != self.region:
            return False
        if call.params.get("DryRun") and "DryRun" not in self.match:
            return False
        return is_part(self.match, call.params)


def is_part(wanted: Any, actual: Any) -> bool:
    """Whether all that is wanted stands in the actual value; scalars compare as text."""
    if isinstance(wanted, dict):
        return isinstance(actual, dict) and all(
            key in actual and is_part(value, actual[key]) for key, value in wanted.items()
        )
    if isinstance(wanted, list):
        return isinstance(actual, list) and all(
            any(is_part(item, other) for other in actual) for item in wanted
        )
    return str(wanted) == str(actual)


class FaultBook:
    """The orders that still stand, oldest first."""

    def __init__(self, operations: Iterable[str]) -> None:
        self._operations = sorted(operations)
        self._faults: list[Fault] = []
        self._lock = threading.Lock()

    def add(self, order: dict[str, Any]) -> None:
        """Takes an order as `POST /control/aws/fault` brings it.

        Raises:
            ValueError: the order is not understood; the message says what is.
        """
        self._faults.append(self._read(order))

    def take(self, call: Call) -> Fault | None:
        """The fault that befalls this call, used up once."""
        with self._lock:
            for fault in self._faults:
                if fault.befalls(call):
                    fault.times -= 1
                    return fault
        return None

    def _read(self, order: dict[str, Any]) -> Fault:
        unknown = sorted(set(order) - KEYS)
        if unknown:
            raise ValueError(f"A fault has no {unknown[0]!r}; it has {', '.join(sorted(KEYS))}.")
        operation, text = order.get("operation"), order.get("fault")
        if not isinstance(operation, str) or operation not in self._operations:
            near = difflib.get_close_matches(str(operation), self._operations, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise ValueError(f"The simulated AWS has no operation {operation!r}.{hint}")
        repeats = order.get("times", 1)
        if not isinstance(repeats, int) or isinstance(repeats, bool) or repeats < 1:
            raise ValueError("'times' is a whole number of at least 1.")
        region, match = order.get("region"), order.get("match") or {}
        if not isinstance(region, str | None) or not isinstance(match, dict):
            # A wrong type is the writer's mistake like any other, so it is told in the same way.
            raise ValueError(  # noqa: TRY004 - callers tell people every ValueError
                "'region' is a code such as 'us-east-1', 'match' an object of parameters."
            )
        kind, code, seconds = read_kind(str(text))
        return Fault(operation, kind, code, seconds, repeats, region, match)


def read_kind(text: str) -> tuple[str, str, float]:
    """A fault's kind, its error code and its seconds.

    Raises:
        ValueError: no such fault.
    """
    kind, colon, argument = text.partition(":")
    if kind in PLAIN and not colon:
        return kind, "", 0
    if kind == "error" and argument:
        return kind, argument, 0
    if kind in TIMED:
        try:
            seconds = float(argument)
        except ValueError:
            seconds = -1
        if 0 <= seconds <= 3600:
            return kind, "", seconds
        raise ValueError(f"{kind!r} needs seconds between 0 and 3600, as in '{kind}:3'.")
    known = ", ".join(sorted([*PLAIN, "slow:N", "slow-sale:N", "error:CODE"]))
    raise ValueError(f"There is no fault {text!r}; there are {known}.")
