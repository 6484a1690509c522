"""The clock of the machine, and a clock elsewhere that is asked for its time."""

import json
import threading
import time
from datetime import UTC, datetime, timedelta
from urllib.error import URLError
from urllib.request import urlopen

from typing_extensions import override

from bot.domain.errors import SettingsError
from bot.ports import Clock

ASK_EVERY_SECONDS = 0.05
TIMEOUT_SECONDS = 2.0
SILENCE_SECONDS = 1.0
"""A clock that does not answer is asked this seldom: every caller waits for its time-out."""
_NO_TIME = (URLError, OSError, ValueError, KeyError, TypeError)


class SystemClock(Clock):
    """The machine's own time."""

    @override
    def now(self) -> datetime:
        return datetime.now(UTC)


class RemoteClock(Clock):
    """A clock that answers `{"now": "…Z"}`; between two answers the machine's own pace counts.

    It never runs backwards within one process. When the clock does not answer, time goes on at
    the machine's pace from the last answer.
    """

    def __init__(self, address: str) -> None:
        """Ask the clock once. Raises SettingsError when it does not answer."""
        self._address = address
        self._lock = threading.Lock()
        self._asked_at = time.monotonic()
        self._silent_until = 0.0
        try:
            self._said = self._ask()
        except _NO_TIME as error:
            raise SettingsError(
                f"GPUBOT_CLOCK: {address} does not answer with a time ({error});"
                " leave it out to use the machine's clock"
            ) from error
        self._latest = self._said

    @override
    def now(self) -> datetime:
        with self._lock:
            moment = time.monotonic()
            if moment - self._asked_at >= ASK_EVERY_SECONDS and moment >= self._silent_until:
                self._ask_again()
            since = timedelta(seconds=time.monotonic() - self._asked_at)
            self._latest = max(self._latest, self._said + since)
            return self._latest

    def _ask_again(self) -> None:
        try:
            self._said = self._ask()
        except _NO_TIME:
            self._silent_until = time.monotonic() + SILENCE_SECONDS
        else:
            self._asked_at = time.monotonic()

    def _ask(self) -> datetime:
        with urlopen(self._address, timeout=TIMEOUT_SECONDS) as answer:  # noqa: S310 — settings admit http only
            said = datetime.fromisoformat(json.load(answer)["now"])
        if said.tzinfo is None:
            raise ValueError("the time has no zone")
        return said.astimezone(UTC)


def clock_at(address: str) -> Clock:
    """Return the clock that `GPUBOT_CLOCK` names: "system" or an address."""
    return SystemClock() if address == "system" else RemoteClock(address)
