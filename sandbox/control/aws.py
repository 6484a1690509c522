"""`/control/aws/*`: faults, events and the books of the simulated AWS."""

import asyncio
import json
from collections.abc import Callable
from typing import Any, Protocol

from aiohttp import web

from sandbox.control.errors import RequestError

Json = dict[str, Any]


class AwsBooks(Protocol):
    """What the control surface needs of the simulated AWS."""

    def add_fault(self, fault: Json) -> None:
        """Let the next matching calls meet a fault."""

    def event(self, event: Json) -> None:
        """Let something happen now."""

    def calls(self, operation: str | None) -> list[Json]:
        """Every API call so far."""

    def sold(self) -> list[Json]:
        """All that was sold or runs."""

    def queues(self) -> list[Json]:
        """The queues of events, and what they gave up."""


class AwsControl:
    """Handlers of the simulated AWS."""

    def __init__(self, aws: AwsBooks) -> None:
        self._aws = aws

    def add_to(self, app: web.Application) -> None:
        """Register the addresses."""
        app.router.add_post("/control/aws/fault", self.fault)
        app.router.add_post("/control/aws/event", self.event)
        app.router.add_get("/control/aws/calls", self.calls)
        app.router.add_get("/control/aws/sold", self.sold)
        app.router.add_get("/control/aws/queues", self.queues)

    async def fault(self, request: web.Request) -> web.Response:
        """Set a fault."""
        return await self._order(request, self._aws.add_fault)

    async def event(self, request: web.Request) -> web.Response:
        """Let something happen."""
        return await self._order(request, self._aws.event)

    async def calls(self, request: web.Request) -> web.Response:
        """The calls, in order; with `last=N` only the last ones."""
        operation = request.query.get("operation") or None
        last = request.query.get("last", "")
        if last and not last.isdigit():
            raise RequestError("last must be a whole number")
        calls = await asyncio.to_thread(self._aws.calls, operation)
        return web.json_response(calls[-int(last) :] if last else calls)

    async def sold(self, request: web.Request) -> web.Response:  # noqa: ARG002 - aiohttp's shape
        """What was sold."""
        return web.json_response(await asyncio.to_thread(self._aws.sold))

    async def queues(self, request: web.Request) -> web.Response:  # noqa: ARG002 - aiohttp's shape
        """What waits in the queues of events."""
        return web.json_response(await asyncio.to_thread(self._aws.queues))

    async def _order(self, request: web.Request, take: Callable[[Json], None]) -> web.Response:
        try:
            order = json.loads(await request.read() or b"{}")
        except ValueError as error:
            raise RequestError("the body is no JSON") from error
        if not isinstance(order, dict):
            raise RequestError("the body must be a JSON object")
        try:
            await asyncio.to_thread(take, order)
        except (ValueError, KeyError, LookupError) as error:
            said = error.args[0] if error.args else "not understood"
            raise RequestError(str(said)) from error
        return web.json_response({"ok": True})
