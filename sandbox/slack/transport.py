"""How a payload reaches the bot and how its acknowledgement comes back."""

import asyncio
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol
from urllib.parse import urlencode

import aiohttp
from aiohttp import web

from sandbox.slack.people import APP_ID

Json = dict[str, Any]
Kind = Literal["slash_commands", "interactive", "events_api"]

# docs.slack.dev, "Implementing slash commands": 3000 ms, else the user sees a failure.
ACK_SECONDS = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One payload for the bot; a repeat keeps its `envelope_id`."""

    kind: Kind
    payload: Json
    envelope_id: str = field(default_factory=lambda: secrets.token_hex(16))
    retry: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ack:
    """What came back: `timeout` when nothing did in three seconds of wall time."""

    milliseconds: int
    status: Literal["ok", "timeout", "error"]
    body: Json | None = None
    error: str | None = None


class Transport(Protocol):
    """A way to the bot."""

    @property
    def connected(self) -> bool:
        """Whether a delivery has somewhere to go."""

    async def deliver(self, delivery: Delivery) -> Ack:
        """Send and wait for the acknowledgement, at most three seconds."""


def _since(begun: float) -> int:
    return round((time.monotonic() - begun) * 1000)


class SocketTransport:
    """Socket Mode: envelopes over WebSockets that the bot has opened."""

    def __init__(self) -> None:
        self._sockets: list[web.WebSocketResponse] = []
        self._requests: dict[web.WebSocketResponse, web.Request] = {}
        self._turn = 0
        self._tickets: set[str] = set()
        self._waiting: dict[str, asyncio.Future[Json | None]] = {}

    @property
    def connected(self) -> bool:
        """See Transport."""
        return bool(self._sockets)

    def ticket(self) -> str:
        """A ticket for one connection."""
        ticket = secrets.token_hex(16)
        self._tickets.add(ticket)
        return ticket

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """One Socket Mode connection, from hello to its end."""
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            return web.Response(status=401, text="invalid_ticket")
        self._tickets.remove(ticket)
        socket = web.WebSocketResponse(autoping=True)
        await socket.prepare(request)
        self._sockets.append(socket)
        self._requests[socket] = request
        await socket.send_json(
            {
                "type": "hello",
                "num_connections": len(self._sockets),
                "debug_info": {
                    "host": "applink-sandbox",
                    "build_number": 1,
                    "approximate_connection_time": 18060,
                },
                "connection_info": {"app_id": APP_ID},
            }
        )
        try:
            async for message in socket:
                if message.type == aiohttp.WSMsgType.TEXT:
                    self._take_ack(message.data)
        finally:
            self._forget(socket)
        return socket

    async def deliver(self, delivery: Delivery) -> Ack:
        """See Transport; connections take turns, as Slack balances them."""
        begun = time.monotonic()
        envelope: Json = {
            "envelope_id": delivery.envelope_id,
            "payload": delivery.payload,
            "type": delivery.kind,
            "accepts_response_payload": delivery.kind != "events_api",
        }
        if delivery.kind == "events_api" or delivery.retry:
            envelope |= {
                "retry_attempt": delivery.retry,
                "retry_reason": "timeout" if delivery.retry else "",
            }
        acknowledged = self._waiting.get(delivery.envelope_id)
        if acknowledged is None or acknowledged.done():
            acknowledged = asyncio.get_running_loop().create_future()
            self._waiting[delivery.envelope_id] = acknowledged
        if not await self._send(envelope):
            return Ack(milliseconds=_since(begun), status="error", error="dispatch_failed")
        try:
            body = await asyncio.wait_for(asyncio.shield(acknowledged), ACK_SECONDS)
        except TimeoutError:
            return Ack(milliseconds=_since(begun), status="timeout", error="operation_timeout")
        return Ack(milliseconds=_since(begun), status="ok", body=body)

    async def cut(self) -> None:
        """Drop every connection without a word, as a broken network does."""
        for socket in tuple(self._sockets):
            request = self._forget(socket)
            if request is not None and request.transport is not None:
                request.transport.abort()

    async def close(self) -> None:
        """Say goodbye to every connection."""
        for socket in tuple(self._sockets):
            await socket.close(code=aiohttp.WSCloseCode.GOING_AWAY)

    async def _send(self, envelope: Json) -> bool:
        for _ in range(len(self._sockets)):
            self._turn += 1
            socket = self._sockets[self._turn % len(self._sockets)]
            try:
                await socket.send_json(envelope)
            except (ConnectionError, RuntimeError):
                self._forget(socket)
                continue
            return True
        return False

    def _forget(self, socket: web.WebSocketResponse) -> web.Request | None:
        if socket in self._sockets:
            self._sockets.remove(socket)
        return self._requests.pop(socket, None)

    def _take_ack(self, text: str) -> None:
        try:
            answer = json.loads(text)
        except ValueError:
            return
        waiting = self._waiting.get(str(answer.get("envelope_id")))
        if waiting is not None and not waiting.done():
            waiting.set_result(answer.get("payload") or None)


class HttpTransport:
    """HTTP mode: signed form posts to the bot's request URL."""

    def __init__(self, *, url: str, signing_secret: str, alive: Callable[[], bool]) -> None:
        self._url = url
        self._secret = signing_secret
        self._alive = alive

    @property
    def connected(self) -> bool:
        """See Transport."""
        return self._alive()

    async def deliver(self, delivery: Delivery) -> Ack:
        """See Transport."""
        begun = time.monotonic()
        body, content_type = encoded(delivery)
        headers = {"Content-Type": content_type, **signature(self._secret, body)}
        if delivery.retry:
            headers["X-Slack-Retry-Num"] = str(delivery.retry)
            headers["X-Slack-Retry-Reason"] = "http_timeout"
        limit = aiohttp.ClientTimeout(total=ACK_SECONDS)
        try:
            async with (
                aiohttp.ClientSession(timeout=limit) as session,
                session.post(self._url, data=body.encode(), headers=headers) as answer,
            ):
                text = await answer.text()
        except TimeoutError:
            return Ack(milliseconds=_since(begun), status="timeout", error="operation_timeout")
        except aiohttp.ClientError:
            return Ack(milliseconds=_since(begun), status="error", error="dispatch_failed")
        if answer.status != 200:
            failure = f"dispatch_failed: the app answered HTTP {answer.status}"
            return Ack(milliseconds=_since(begun), status="error", error=failure)
        return Ack(milliseconds=_since(begun), status="ok", body=_decoded(text))


def encoded(delivery: Delivery) -> tuple[str, str]:
    """The HTTP body and its content type: forms for people's acts, JSON for events."""
    if delivery.kind == "events_api":
        return json.dumps(delivery.payload), "application/json"
    form = "application/x-www-form-urlencoded"
    if delivery.kind == "slash_commands":
        # Slack leaves out what a form cannot hold.
        return urlencode({k: v for k, v in delivery.payload.items() if v is not None}), form
    return urlencode({"payload": json.dumps(delivery.payload)}), form


def signature(secret: str, body: str) -> dict[str, str]:
    """The v0 signature headers; docs.slack.dev, "Verifying requests from Slack"."""
    # Slack's stamp is wall time: the receiver compares it with its own wall clock.
    stamp = str(int(time.time()))
    digest = hmac.new(secret.encode(), f"v0:{stamp}:{body}".encode(), hashlib.sha256)
    return {
        "X-Slack-Request-Timestamp": stamp,
        "X-Slack-Signature": f"v0={digest.hexdigest()}",
    }


def _decoded(text: str) -> Json | None:
    if not text.strip():
        return None
    try:
        body = json.loads(text)
    except ValueError:
        return {"text": text}
    return body if isinstance(body, dict) else {"text": text}
