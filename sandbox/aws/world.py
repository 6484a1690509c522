"""The state of the simulated AWS, and the one queue through which time changes it."""

import hashlib
import heapq
import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from sandbox.aws.catalog import Catalog, load_catalog
from sandbox.aws.records import Place
from sandbox.aws.supply import Supply

if TYPE_CHECKING:
    from sandbox.aws.mailbox import Queue


@dataclass(frozen=True, slots=True)
class Call:
    """One request: who asks whom for what, with parameters as botocore names them."""

    service: str
    operation: str
    region: str
    account: str
    params: dict[str, Any]
    at: datetime
    role: str | None = None
    """The ARN of the role whose credentials signed it."""


@dataclass(order=True, slots=True)
class _Change:
    at: datetime
    order: int
    apply: Callable[[datetime], None] = field(compare=False)


def _nothing() -> None:
    """What follows a settled world unless somebody looks on."""


class World:
    """Everything the simulated AWS knows; hold `lock` while reading or changing it."""

    def __init__(self, *, now: Callable[[], datetime], seed: int, supply: Supply) -> None:
        self._now = now
        self.seed = seed
        self.supply = supply
        self.catalog: Catalog = load_catalog()
        self.lock = threading.RLock()
        self.places: dict[tuple[str, str], Place] = {}
        self._changes: list[_Change] = []
        self._orders = itertools.count()
        self._serials: dict[str, int] = {}
        self.failing_payments = 0
        """How many of the next purchases will fail to be paid."""
        self.queues: list[Queue] = []
        self.told_states: dict[tuple[str, str], dict[str, str]] = {}
        """By account and Region the states that events have told of."""
        self.on_settled: Callable[[], None] = _nothing

    def now(self) -> datetime:
        """The simulated time, aware UTC."""
        return self._now().astimezone(UTC)

    def place(self, account: str, region: str) -> Place:
        """The books of one account in one Region."""
        key = (account, region)
        if key not in self.places:
            self.places[key] = Place(account=account, region=region)
        return self.places[key]

    def region_places(self, region: str) -> list[Place]:
        """The books of every account in a Region: capacity is shared among them."""
        return [place for (_, name), place in self.places.items() if name == region]

    def draw(self, *keys: object) -> int:
        """A whole number that depends on the seed and the keys alone."""
        text = "|".join([str(self.seed), *map(str, keys)])
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")

    def digest(self, *keys: object) -> str:
        """64 hex digits that depend on the seed and the keys alone."""
        text = "|".join([str(self.seed), *map(str, keys)])
        return hashlib.sha256(text.encode()).hexdigest()

    def new_id(self, prefix: str) -> str:
        """The next id of its kind: the same in every run with the same seed and calls."""
        serial = self._serials.get(prefix, 0) + 1
        self._serials[prefix] = serial
        return f"{prefix}-{self.digest('id', prefix, serial)[:17]}"

    def payment_delay(self, *keys: object) -> timedelta:
        """How long this payment takes."""
        low, high = self.supply.payment_seconds
        return timedelta(seconds=low + self.draw("payment", *keys) % (high - low + 1))

    def at(self, moment: datetime, apply: Callable[[datetime], None]) -> None:
        """Lets `apply(moment)` happen when the clock has reached the moment."""
        heapq.heappush(self._changes, _Change(moment, next(self._orders), apply))

    def mark(self, moment: datetime) -> None:
        """Makes a moment count as an event, when what is read there differs with nothing to do."""
        self.at(moment, lambda _: None)

    def next_event(self) -> datetime | None:
        """The next instant at which something changes by time alone."""
        with self.lock:
            return self._changes[0].at if self._changes else None

    def settle(self) -> None:
        """Applies every change that is due, in the order of their times."""
        with self.lock:
            now = self.now()
            while self._changes and self._changes[0].at <= now:
                change = heapq.heappop(self._changes)
                change.apply(change.at)
            self.on_settled()
