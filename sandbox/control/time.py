"""`/clock` and `/control/clock`: the one time of the world."""

import re
from datetime import UTC, datetime, timedelta
from typing import Self

from aiohttp import web
from pydantic import AwareDatetime, model_validator

from sandbox.clock import WorldClock, iso
from sandbox.control.errors import Body, RequestError, read_body
from sandbox.control.journey import Journey

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def duration(text: str) -> timedelta:
    """`36h`, `2d12h`, `90m`, `45s`.

    Raises:
        RequestError: anything else.
    """
    compact = text.replace(" ", "").lower()
    parts = re.findall(r"(\d+(?:\.\d+)?)([smhdw])", compact)
    if not parts or "".join(number + unit for number, unit in parts) != compact:
        raise RequestError(f"advance {text!r} is no duration; write one like 36h or 2d12h")
    try:
        return sum(
            (timedelta(seconds=float(number) * UNITS[unit]) for number, unit in parts),
            timedelta(),
        )
    except OverflowError as error:
        raise RequestError(f"advance {text!r} is too long") from error


class ClockBody(Body):
    """Either how far to go, or where to."""

    advance: str | None = None
    set: AwareDatetime | None = None

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if (self.advance is None) == (self.set is None):
            raise ValueError('send {"advance": "36h"} or {"set": "2027-03-12T09:00:00Z"}')
        return self


class TimeControl:
    """Handlers of the clock."""

    def __init__(self, clock: WorldClock, journey: Journey) -> None:
        self._clock = clock
        self._journey = journey

    def add_to(self, app: web.Application) -> None:
        """Register the addresses."""
        app.router.add_get("/clock", self.show)
        app.router.add_get("/control/clock", self.show)
        app.router.add_post("/control/clock", self.jump)

    async def show(self, request: web.Request) -> web.Response:  # noqa: ARG002 - aiohttp's shape
        """What time it is."""
        return web.json_response({"now": iso(self._clock.now())})

    async def jump(self, request: web.Request) -> web.Response:
        """Go there, from event to event, and answer when all that fell due is done."""
        body = await read_body(request, ClockBody)
        if body.advance is not None:
            step = duration(body.advance)
            reached = await self._journey.to(lambda: self._later(step))
        else:
            instant = (body.set or self._clock.now()).astimezone(UTC)
            reached = await self._journey.to(lambda: instant)
        return web.json_response({"now": iso(reached)})

    def _later(self, step: timedelta) -> datetime:
        try:
            return self._clock.now() + step
        except OverflowError as error:
            raise RequestError("that is beyond the end of the calendar") from error
