"""People as Slack would show them, with outages on demand."""

from collections.abc import Collection
from datetime import timedelta

from bot.domain.errors import DeliveryError
from bot.domain.records import Person
from tests.fakes.clock import FakeClock


class FakePeople:
    """See bot.ports.People. Everybody exists and is active unless said otherwise."""

    def __init__(self, clock: FakeClock | None = None) -> None:
        self.clock = clock or FakeClock()
        self.inactive: set[str] = set()
        self.external: set[str] = set()
        self.bots: set[str] = set()
        self.groups: dict[str, set[str]] = {}
        self.down = False
        self.asked: list[tuple[str, timedelta]] = []

    def person(self, user_id: str, *, max_age: timedelta) -> Person:
        self.asked.append((user_id, max_age))
        if self.down:
            raise DeliveryError("service_unavailable")
        return Person(
            id=user_id,
            zone="Europe/Berlin",
            locale="en-US",
            active=user_id not in self.inactive,
            external=user_id in self.external,
            bot=user_id in self.bots,
            read_at=self.clock.now(),
        )

    def members(self, group_id: str, *, max_age: timedelta) -> Collection[str]:
        self.asked.append((group_id, max_age))
        if self.down:
            raise DeliveryError("service_unavailable")
        return frozenset(self.groups.get(group_id, ()))
