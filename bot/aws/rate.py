"""Sharing scarce calls: one token budget per account and Region, and one answer for everybody.

DescribeCapacityBlockOfferings has a bucket of 10 tokens that refills by 0.15 a second, per
account and Region (EC2 Developer Guide, API throttling); botocore never backs off for it.
"""

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Generic, TypeVar

from bot.ports import Clock

V = TypeVar("V")

BURST: Final = 10.0
REFILL_PER_SECOND: Final = 0.15
SET_ASIDE: Final = 2.0
"""Tokens that only a re-quote before a purchase may take."""
_ROUNDING: Final = 1e-9


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at: float


class Tokens:
    """A token bucket for each key, shared by all threads."""

    def __init__(
        self,
        *,
        seconds: Callable[[], float],
        sleep: Callable[[float], None],
        burst: float = BURST,
        refill: float = REFILL_PER_SECOND,
        set_aside: float = SET_ASIDE,
    ) -> None:
        self._seconds = seconds
        self._sleep = sleep
        self._burst = burst
        self._refill = refill
        self._set_aside = set_aside
        self._lock = threading.Lock()
        self._buckets: dict[Hashable, _Bucket] = {}

    def take(self, key: Hashable, *, patience_seconds: float, spare: bool = False) -> bool:
        """Take one token, waiting for it up to the patience; return whether it was had.

        `spare` may also take the tokens that are set aside.
        """
        left = patience_seconds
        while (wait := self._try(key, floor=0.0 if spare else self._set_aside)) > 0:
            if wait > left:
                return False
            self._sleep(wait)
            left -= wait
        return True

    def empty(self, key: Hashable) -> None:
        """Take note that AWS refused: somebody else used the tokens."""
        with self._lock:
            self._refilled(key).tokens = 0.0

    def _try(self, key: Hashable, *, floor: float) -> float:
        """Take a token if there is one; return the seconds to wait for it, 0 when taken."""
        with self._lock:
            bucket = self._refilled(key)
            missing = 1.0 + floor - bucket.tokens
            if missing <= _ROUNDING:
                bucket.tokens -= 1.0
                return 0.0
            return missing / self._refill

    def _refilled(self, key: Hashable) -> _Bucket:
        now = self._seconds()
        bucket = self._buckets.setdefault(key, _Bucket(self._burst, now))
        gained = (now - bucket.at) * self._refill
        bucket.tokens = min(self._burst, bucket.tokens + gained)
        bucket.at = now
        return bucket


class Shared(Generic[V]):
    """Answers kept for a while; people who ask at once wait for one call instead of making ten.

    A failure is told to those who waited for it and not kept.
    """

    def __init__(self, *, clock: Clock, keep: timedelta) -> None:
        self._clock = clock
        self._keep = keep
        self._lock = threading.Lock()
        self._kept: dict[Hashable, tuple[datetime, Future[V]]] = {}

    def get(self, key: Hashable, make: Callable[[], V]) -> V:
        """Return the kept answer, or the one that is being made, or make it."""
        future, mine = self._claim(key)
        if mine:
            try:
                future.set_result(make())
            except BaseException as error:  # noqa: BLE001  # told to all who wait, then raised
                with self._lock:
                    self._kept.pop(key, None)
                future.set_exception(error)
        return future.result()

    def _claim(self, key: Hashable) -> tuple[Future[V], bool]:
        now = self._clock.now()
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None and (not kept[1].done() or abs(now - kept[0]) < self._keep):
                return kept[1], False
            if len(self._kept) > _MOST_KEPT:
                self._forget(now)
            future: Future[V] = Future()
            self._kept[key] = (now, future)
            return future, True

    def _forget(self, now: datetime) -> None:
        old = [
            key
            for key, (at, future) in self._kept.items()
            if future.done() and abs(now - at) >= self._keep
        ]
        for key in old:
            del self._kept[key]


_MOST_KEPT: Final = 2000
