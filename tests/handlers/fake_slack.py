"""A Slack on 127.0.0.1: Web API, response addresses and Socket Mode, as far as handlers need it.

It judges every message and view by Block Kit's rules and keeps what was sent.
"""

import asyncio
import json
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.handlers.block_kit import faults, view_faults

Json = dict[str, Any]


@dataclass
class Call:
    """One call as it came in."""

    method: str
    arguments: Json


@dataclass
class FakeSlack:
    """Run by `start` in a thread of its own; `stop` ends it. `wrong` holds refused blocks."""

    calls: list[Call] = field(default_factory=list)
    private: list[Json] = field(default_factory=list)
    messages: dict[str, list[Json]] = field(default_factory=dict)
    views: list[Json] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    faults: dict[str, list[str]] = field(default_factory=dict)
    people: dict[str, Json] = field(default_factory=dict)
    groups: dict[str, list[str]] = field(default_factory=dict)
    dead_addresses: bool = False
    refuse_sockets: bool = False
    port: int = 0
    _last: int = 0

    def start(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.ready = threading.Event()
        self.sockets: list[web.WebSocketResponse] = []
        self.transports: dict[web.WebSocketResponse, Any] = {}
        self.acks: dict[str, Future[Json]] = {}
        self.arrived = threading.Event()
        self.thread.start()
        assert self.ready.wait(10)

    def stop(self) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self.loop).result(10)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)
        self.loop.close()

    @property
    def api(self) -> str:
        return f"http://127.0.0.1:{self.port}/api/"

    def address(self, name: str) -> str:
        return f"http://127.0.0.1:{self.port}/respond/{name}"

    def count(self, method: str) -> int:
        return sum(call.method == method for call in self.calls)

    def last(self, method: str) -> Json:
        return next(call.arguments for call in reversed(self.calls) if call.method == method)

    def envelope(self, kind: str, payload: Json, *, envelope_id: str) -> Future[Json]:
        """Send an envelope over a socket; the future holds its acknowledgement."""
        answered: Future[Json] = Future()
        self.acks[envelope_id] = answered
        message = {
            "type": kind,
            "envelope_id": envelope_id,
            "payload": payload,
            "accepts_response_payload": kind != "events_api",
        }
        asyncio.run_coroutine_threadsafe(self.sockets[-1].send_json(message), self.loop).result(5)
        return answered

    def refresh(self) -> None:
        """Ask for a new connection, as Slack does now and then, while this one still works."""
        message = {"type": "disconnect", "reason": "refresh_requested", "debug_info": {}}
        self.arrived.clear()
        asyncio.run_coroutine_threadsafe(self.sockets[-1].send_json(message), self.loop).result(5)

    def cut(self) -> None:
        """Drop every socket without a word."""
        asyncio.run_coroutine_threadsafe(self._cut(), self.loop).result(5)

    def wait_for_socket(self, seconds: float = 30) -> bool:
        return self.arrived.wait(seconds)

    def _serve(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(self._begin())
        self.loop.run_forever()

    async def _begin(self) -> None:
        app = web.Application()
        app.router.add_post("/api/{method}", self._api)
        app.router.add_post("/respond/{name}", self._respond)
        app.router.add_get("/socket", self._socket)
        self.runner = web.AppRunner(app, shutdown_timeout=0.1, access_log=None)
        await self.runner.setup()
        site = web.TCPSite(self.runner, "127.0.0.1", 0)
        await site.start()
        self.port = self.runner.addresses[0][1]
        self.ready.set()

    async def _end(self) -> None:
        await self._cut()
        await self.runner.cleanup()

    async def _cut(self) -> None:
        self.arrived.clear()
        for socket in self.sockets:
            transport = self.transports.pop(socket)
            if transport is not None:
                transport.abort()
        self.sockets.clear()

    async def _api(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        given: Json = {}
        if request.content_type == "application/json":
            given = json.loads(await request.text())
        else:
            given = dict(await request.post())
        given.pop("token", None)
        for name in ("blocks", "view", "metadata"):
            if isinstance(given.get(name), str):
                given[name] = json.loads(given[name])
        self.calls.append(Call(method, given))
        fault = (self.faults.get(method) or [None]).pop(0) if self.faults.get(method) else None
        if fault == "429":
            return web.json_response(
                {"ok": False, "error": "ratelimited"}, status=429, headers={"Retry-After": "7"}
            )
        if fault == "500":
            return web.Response(status=500, text="oops")
        if fault == "drop":
            self._answer(method, given)
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        if fault is not None:
            return web.json_response({"ok": False, "error": fault})
        return web.json_response(self._answer(method, given))

    def _answer(self, method: str, given: Json) -> Json:
        if given.get("blocks"):
            self.wrong += faults(given["blocks"])
        if given.get("view"):
            self.wrong += view_faults(given["view"])
        known: dict[str, Callable[[Json], Json]] = {
            "chat.postMessage": self._post,
            "chat.update": self._update,
            "chat.postEphemeral": self._ephemeral,
            "views.open": self._view,
            "views.publish": self._view,
            "users.info": self._user,
            "usergroups.users.list": self._group,
            "conversations.history": self._history,
            "conversations.replies": self._history,
            "conversations.open": lambda g: {"channel": {"id": "D" + g["users"][1:]}},
            "auth.test": lambda _: {"team_id": "T0GPU"},
            "apps.connections.open": self._connect,
        }
        answer = known[method](given)
        return {"ok": "error" not in answer, **answer}

    def _post(self, given: Json) -> Json:
        if not given.get("text"):
            self.wrong.append("a message without fallback text")
        channel = given["channel"].replace("U0", "D0", 1)
        self._last += 1
        message = {**given, "channel": channel, "ts": f"1900000000.{self._last:06d}"}
        self.messages.setdefault(channel, []).append(message)
        return {"channel": channel, "ts": message["ts"]}

    def _update(self, given: Json) -> Json:
        for message in self.messages.get(given["channel"], []):
            if message["ts"] == given["ts"]:
                message.update(given)
                return {"channel": given["channel"], "ts": given["ts"]}
        return {"error": "message_not_found"}

    def _ephemeral(self, given: Json) -> Json:
        self.private.append(given)
        return {"message_ts": "1"}

    def _view(self, given: Json) -> Json:
        self.views.append(given["view"])
        return {"view": {"id": f"V{len(self.views)}"}}

    def _user(self, given: Json) -> Json:
        user = self.people.get(given["user"])
        return {"user": user} if user is not None else {"error": "user_not_found"}

    def _group(self, given: Json) -> Json:
        users = self.groups.get(given["usergroup"])
        return {"users": users} if users is not None else {"error": "no_such_subteam"}

    def _history(self, given: Json) -> Json:
        found = self.messages.get(given["channel"], [])
        oldest = float(given.get("oldest") or 0)
        thread = given.get("ts")
        shown = [
            message
            for message in found
            if float(message["ts"]) >= oldest
            and (thread is None or thread in (message.get("thread_ts"), message["ts"]))
        ]
        return {"messages": shown[::-1]}

    def _connect(self, given: Json) -> Json:
        if self.refuse_sockets:
            return {"error": "internal_error"}
        return {"url": f"ws://127.0.0.1:{self.port}/socket"}

    async def _respond(self, request: web.Request) -> web.Response:
        if self.dead_addresses:
            return web.Response(status=404, text="used_url")
        body = json.loads(await request.text())
        if body.get("blocks"):
            self.wrong += faults(body["blocks"])
        self.private.append({**body, "address": request.match_info["name"]})
        return web.Response(text="ok")

    async def _socket(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self.sockets.append(socket)
        self.transports[socket] = request.transport
        await socket.send_json({"type": "hello", "num_connections": 1})
        self.arrived.set()
        with suppress(ConnectionError):
            async for message in socket:
                body = json.loads(message.data)
                waiting = self.acks.get(body.get("envelope_id", ""))
                if waiting is not None and not waiting.done():
                    waiting.set_result(body)
        return socket


def person(user: str, *, team: str = "T0GPU", zone: str = "Europe/Berlin", **more: Any) -> Json:
    """Return a user object as users.info answers it."""
    return {
        "id": user,
        "team_id": team,
        "name": user.lower(),
        "real_name": f"{user} Name",
        "tz": zone,
        "locale": "en-US",
        "deleted": False,
        "is_bot": False,
        **more,
    }
