"""Slack's own addresses: the Web API, the Socket Mode socket and response_urls."""

import asyncio
import json
from typing import TYPE_CHECKING, Any

from aiohttp import web

from sandbox.slack.api import WebApi
from sandbox.slack.errors import SlackError
from sandbox.slack.faults import Fault
from sandbox.slack.responding import answer_with
from sandbox.slack.transport import SocketTransport
from sandbox.slack.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Mapping

Json = dict[str, Any]

# How long a call that met the fault `timeout` is left without an answer, in wall time.
SILENCE_SECONDS = 300.0


class SlackRoutes:
    """Handlers for what the bot calls."""

    def __init__(
        self, workspace: Workspace, api: WebApi, socket: SocketTransport, stopping: asyncio.Event
    ) -> None:
        self._workspace = workspace
        self._api = api
        self._socket = socket
        self._stopping = stopping

    def add_to(self, app: web.Application) -> None:
        """Register the addresses."""
        app.router.add_route("*", "/api/{method}", self.web_api)
        app.router.add_get("/socket", self._socket.serve)
        app.router.add_post("/respond/{key}", self.respond)

    async def web_api(self, request: web.Request) -> web.StreamResponse:
        """One Web API call, with the fault that waits for it, if any."""
        method = request.match_info["method"]
        token, arguments = await read_call(request)
        fault = self._workspace.faults.take(method)
        if fault is None:
            return web.json_response(self._api.call(method, token, arguments))
        return await self._faulty(request, fault, method, token, arguments)

    async def _faulty(
        self,
        request: web.Request,
        fault: Fault,
        method: str,
        token: str | None,
        arguments: Json,
    ) -> web.StreamResponse:
        if fault.kind in {"429", "500", "error"}:
            self._api.record(method, arguments, f"fault {fault.kind}")
        if fault.kind == "429":
            return web.json_response(
                {"ok": False, "error": "ratelimited"},
                status=429,
                headers={"Retry-After": fault.argument},
            )
        if fault.kind == "500":
            return web.json_response({"ok": False, "error": "internal_error"}, status=500)
        if fault.kind == "error":
            return web.json_response({"ok": False, "error": fault.argument})
        # A lost answer: Slack has done its part, and the caller cannot know.
        answer = self._api.call(method, token, arguments)
        if fault.kind == "timeout":
            await self._silence(request)
        else:
            await self._socket.cut()
        if request.transport is not None:
            request.transport.abort()
        return web.json_response(answer)

    async def _silence(self, request: web.Request) -> None:
        limit = asyncio.get_running_loop().time() + SILENCE_SECONDS
        while asyncio.get_running_loop().time() < limit and not self._stopping.is_set():
            if request.transport is None or request.transport.is_closing():
                return
            await asyncio.sleep(0.05)

    async def respond(self, request: web.Request) -> web.Response:
        """A response_url: 404 once it is dead, as Slack answers."""
        try:
            address = self._workspace.responses.use(request.match_info["key"])
        except SlackError as refusal:
            return web.Response(status=404, text=refusal.code)
        try:
            body = json.loads(await request.text())
            answer_with(self._workspace, address, body)
        except SlackError as refusal:
            return web.json_response({"ok": False, "error": refusal.code}, status=400)
        except (ValueError, AttributeError):
            return web.json_response({"ok": False, "error": "invalid_payload"}, status=400)
        return web.Response(text="ok")


async def read_call(request: web.Request) -> tuple[str | None, Json]:
    """The token and the arguments of a call, from its header, its query, JSON or form."""
    arguments: Json = dict(request.query)
    if request.content_type == "application/json":
        try:
            body = json.loads(await request.text() or "{}")
        except ValueError:
            body = {}
        arguments |= body if isinstance(body, dict) else {}
    else:
        form: Mapping[str, Any] = await request.post()
        arguments |= {name: str(value) for name, value in form.items()}
    token = arguments.pop("token", None)
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer" and given:
        token = given
    return token, {name: value for name, value in arguments.items() if value is not None}
