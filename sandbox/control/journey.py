"""Moving the world's clock from event to event, and waiting for the bot at each."""

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from sandbox.bot_process import Health
from sandbox.clock import WorldClock, iso

# Wall seconds: the bot gets this long at one instant, and a whole jump this long.
INSTANT_SECONDS = 90.0
JUMP_SECONDS = 900.0
POLL_SECONDS = 0.02


class JumpError(RuntimeError):
    """A jump could not be finished; the message says where it stopped and why."""


class Source(Protocol):
    """Something that changes by time alone."""

    def next_event(self) -> datetime | None:
        """When it changes next."""

    def settle(self) -> None:
        """Do all that is due."""


class Bot(Protocol):
    """The bot as a jump sees it."""

    @property
    def running(self) -> bool:
        """Whether its process is alive."""

    async def report(self) -> Health | None:
        """Its own report, or None when it gives none."""


class Journey:
    """Jumps of the clock, one at a time."""

    def __init__(
        self,
        clock: WorldClock,
        sources: tuple[Source, ...],
        bot: Bot,
        *,
        instant_seconds: float = INSTANT_SECONDS,
        jump_seconds: float = JUMP_SECONDS,
    ) -> None:
        self._clock = clock
        self._sources = sources
        self._bot = bot
        self._instant_seconds = instant_seconds
        self._jump_seconds = jump_seconds
        self._lock = asyncio.Lock()

    async def to(self, target: Callable[[], datetime]) -> datetime:
        """The instant reached: `target()`, worked out once the clock stands still.

        A bot that is down does not hold the world up: time then just passes.

        Raises:
            ClockError: the target lies in the past.
            JumpError: the bot did not finish in time.
        """
        async with self._lock:
            with self._clock.hold():
                end = target()
                limit = asyncio.get_running_loop().time() + self._jump_seconds
                await self._be_at(self._clock.now(), limit)
                while asyncio.get_running_loop().time() < limit:
                    due = await self._next(end)
                    await self._be_at(end if due is None else due, limit)
                    if due is None and await self._next(end) is None:
                        return self._clock.now()
                raise JumpError(
                    f"the jump stopped at {iso(self._clock.now())}: something stays due for ever"
                )

    async def _next(self, end: datetime) -> datetime | None:
        """The earliest thing due up to `end`, never before now; None when nothing is."""
        moments = [source.next_event() for source in self._sources]
        health = await self._bot.report()
        if health is not None:
            moments.append(health.next_due)
        known = [moment for moment in moments if moment is not None and moment <= end]
        return max(min(known), self._clock.now()) if known else None

    async def _be_at(self, instant: datetime, limit: float) -> None:
        """Put the clock at `instant` and wait until AWS and the bot have done what is due."""
        self._clock.move_to(instant)
        loop = asyncio.get_running_loop()
        begun = loop.time()
        for source in self._sources:
            await asyncio.to_thread(source.settle)
        health = None
        while self._bot.running:
            health = await self._bot.report()
            if health is not None and idle(health, instant):
                return
            if loop.time() - begun > self._instant_seconds or loop.time() > limit:
                raise JumpError(self._why(instant, health))
            await asyncio.sleep(POLL_SECONDS)

    @staticmethod
    def _why(instant: datetime, health: Health | None) -> str:
        if health is None:
            return f"the jump stopped at {iso(instant)}: the bot runs but /healthz is silent"
        due = "nothing" if health.next_due is None else iso(health.next_due)
        return (
            f"the jump stopped at {iso(instant)}: the bot is not done; it believes it is "
            f"{iso(health.clock)}, has {health.backlog.said()}, and next due is {due}"
        )


def idle(health: Health, instant: datetime) -> bool:
    """Whether the bot has done all that fell due up to `instant`."""
    return (
        health.clock >= instant
        and health.backlog.empty()
        and (health.next_due is None or health.next_due > instant)
    )
