"""A clock that stands still until it is moved."""

from datetime import UTC, datetime, timedelta

NOW = datetime(2027, 3, 10, 15, 0, tzinfo=UTC)


class FakeClock:
    """See bot.ports.Clock."""

    def __init__(self, now: datetime = NOW) -> None:
        self.instant = now

    def now(self) -> datetime:
        return self.instant

    def advance(self, by: timedelta) -> datetime:
        self.instant += by
        return self.instant

    def set(self, to: datetime) -> None:
        self.instant = to
