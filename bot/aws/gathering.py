"""Everything that one reading asks, at once, and what is known so far as the answers come."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import TracebackType
from typing import Final

from typing_extensions import override

from bot.aws.findings import Found, Place

_MOST_PARTS: Final = 64
"""Parts in work at once; each only waits for its calls."""
_MOST_CALLS: Final = 48
"""Calls in flight: boto3 takes some 3 ms of CPU a call, so that more would wait for the CPU."""
_MOST_SEARCHES: Final = 32
"""Searches in flight or waiting for a token: apart, so that no other call waits behind them."""
_PATIENCE_SECONDS: Final = 45.0
"""A Region that has not answered by then is `unreachable` in this reading."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a reading: what it is called, and the work that reads it."""

    place: Place
    market: str
    work: Callable[[], Found]


class Lanes(AbstractContextManager["Lanes"]):
    """The threads of one reading: `calls` and `searches` never wait for one another."""

    def __init__(self) -> None:
        self.parts = ThreadPoolExecutor(_MOST_PARTS, thread_name_prefix="market")
        self.calls = ThreadPoolExecutor(_MOST_CALLS, thread_name_prefix="market-call")
        self.searches = ThreadPoolExecutor(_MOST_SEARCHES, thread_name_prefix="market-search")

    @override
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let go of the threads without waiting for calls that never come back."""
        for pool in (self.parts, self.calls, self.searches):
            pool.shutdown(wait=False, cancel_futures=True)


def gather(lanes: Lanes, parts: Sequence[Part], progress: Callable[[Found], None] | None) -> Found:
    """Return what all parts found; `progress` sees it whenever a place has answered in full."""
    found = Found()
    waiting = {lanes.parts.submit(part.work): part for part in parts}
    open_parts: dict[Place, int] = {}
    for part in parts:
        open_parts[part.place] = open_parts.get(part.place, 0) + 1
    pending = set(waiting)
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while pending:
        left = max(0.0, deadline - time.monotonic())
        done, pending = wait(pending, timeout=left, return_when="FIRST_COMPLETED")
        if not done:
            break
        complete = False
        for future in done:
            part = waiting[future]
            _take(found, future, part)
            open_parts[part.place] -= 1
            complete = complete or open_parts[part.place] == 0
        if progress is not None and complete:
            progress(found)
    for future in pending:
        part = waiting[future]
        found.missed(part.place, part.market, "unreachable", "no answer in time")
    return found


def _take(found: Found, future: Future[Found], part: Part) -> None:
    """Take over what a part found; a mistake of our own spoils that part alone."""
    error = future.exception()
    if error is None:
        found.add(future.result())
    else:
        found.missed(part.place, part.market, "unknown", repr(error))
