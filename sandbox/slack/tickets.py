"""Short-lived permissions that Slack hands out: trigger ids and response addresses."""

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from sandbox.slack.errors import SlackError
from sandbox.slack.messages import Message

# docs.slack.dev, "Handling user interaction": 3 seconds and single use; 5 uses in 30 minutes.
TRIGGER_LIFE_SECONDS = 3.0
RESPONSE_LIFE = timedelta(minutes=30)
RESPONSE_USES = 5


@dataclass(slots=True)
class Trigger:
    """One trigger id: whose, since when in wall time, and whether it was exchanged."""

    user: str
    issued: float
    exchanged: bool = False


class Triggers:
    """Trigger ids; their life is wall time, whatever the world's clock does."""

    def __init__(self, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._numbers = itertools.count(1)
        self._issued: dict[str, Trigger] = {}

    def issue(self, user: str) -> str:
        """A fresh trigger id for what `user` has just done."""
        number = next(self._numbers)
        trigger_id = f"{1000000 + number}.{2000000 + number}.{number:032x}"
        self._issued[trigger_id] = Trigger(user, self._monotonic())
        return trigger_id

    def exchange(self, trigger_id: str) -> str:
        """The user behind the id, which is used up.

        Raises:
            SlackError: unknown, used before, or older than three seconds.
        """
        trigger = self._issued.get(trigger_id)
        if trigger is None:
            raise SlackError("invalid_trigger_id")
        if trigger.exchanged:
            raise SlackError("exchanged_trigger_id")
        if self._monotonic() - trigger.issued > TRIGGER_LIFE_SECONDS:
            raise SlackError("expired_trigger_id")
        trigger.exchanged = True
        return trigger.user


@dataclass(slots=True, kw_only=True)
class ResponseAddress:
    """One response_url: where it answers, to whom, and what it may replace."""

    channel: str
    user: str
    issued: datetime
    thread_ts: str | None
    original: Message | None
    uses: int = 0


class ResponseAddresses:
    """response_urls; their 30 minutes are the world's."""

    def __init__(self, *, now: Callable[[], datetime]) -> None:
        self._now = now
        self._numbers = itertools.count(1)
        self._issued: dict[str, ResponseAddress] = {}

    def issue(self, channel: str, user: str, original: Message | None = None) -> str:
        """The last part of a fresh response_url."""
        key = f"{next(self._numbers):08x}"
        self._issued[key] = ResponseAddress(
            channel=channel,
            user=user,
            issued=self._now(),
            thread_ts=None if original is None else original.thread_ts,
            original=original,
        )
        return key

    def use(self, key: str) -> ResponseAddress:
        """The address, one use poorer.

        Raises:
            SlackError: unknown, used up, or too old.
        """
        address = self._issued.get(key)
        if address is None:
            raise SlackError("invalid_url")
        if self._now() - address.issued > RESPONSE_LIFE:
            raise SlackError("expired_url")
        if address.uses >= RESPONSE_USES:
            raise SlackError("used_url")
        address.uses += 1
        return address
