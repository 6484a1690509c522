"""HTTP mode: a WSGI application that verifies, parses and answers, and its server.

It verifies Slack's signature itself, over the raw bytes, and parses the form itself:
slack_bolt 1.30 drops every command whose form holds the word "payload" anywhere
(slack_bolt/request/internals.py, parse_body). Also serves GET /healthz and GET /metrics.
"""

import json
import logging
import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import structlog
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from slack_bolt import App, BoltResponse
from slack_sdk.signature import Clock, SignatureVerifier
from typing_extensions import override
from waitress import wasyncore
from waitress.server import BaseWSGIServer, create_server

from bot.domain.errors import BusyError
from handlers.receiving import dispatch, is_ours

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment

EVENTS_PATH = "/slack/events"
MOST_BODY = 1_000_000
"""Bytes. Slack's largest are forms of 250 kB, percent-encoded at most three times that."""
_LENGTH = re.compile(r"[0-9]{1,9}")
THREADS = 16
NOT_OURS = {
    "response_type": "ephemeral",
    "text": "I only serve the workspace that I am installed in.",
}

_log: Any = structlog.get_logger("handlers.http")


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer."""

    status: str
    body: bytes = b""
    kind: str = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """The WSGI application.

    `health` gives what /healthz shows and whether it is well, `metrics` what /metrics shows
    beside the counters of this process. An empty signing secret is refused by slack_sdk's
    verifier when this is made.
    """

    app: App
    signing_secret: str = field(repr=False)
    workspace: str
    app_id: str | None
    health: Callable[[], tuple[bool, Mapping[str, object]]]
    metrics: Callable[[], bytes] = bytes
    wall: Callable[[], float] = time.time
    verifier: SignatureVerifier = field(init=False, repr=False)

    def __post_init__(self) -> None:
        verifier = SignatureVerifier(self.signing_secret, clock=_Wall(self.wall))
        object.__setattr__(self, "verifier", verifier)

    def __call__(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        """Serve one request."""
        answer = self._answer(environ)
        start_response(
            answer.status,
            [("Content-Type", answer.kind), ("Content-Length", str(len(answer.body)))],
        )
        return [answer.body]

    def _answer(self, environ: "WSGIEnvironment") -> Answer:
        path, method = environ.get("PATH_INFO", ""), environ.get("REQUEST_METHOD", "")
        match method, path:
            case "GET", "/healthz":
                well, facts = self.health()
                status = "200 OK" if well else "503 Service Unavailable"
                return _json(dict(facts), status=status)
            case "GET", "/metrics":
                return Answer("200 OK", generate_latest() + self._counted(), CONTENT_TYPE_LATEST)
            case "POST", path if path == EVENTS_PATH:
                return self._from_slack(environ)
            case _:
                return Answer("404 Not Found", b"not found")

    def _counted(self) -> bytes:
        """Return what the records show; nothing when the database does not answer now."""
        try:
            return self.metrics()
        except BusyError:
            _log.warning("figures not read: database busy")
            return b""

    def _from_slack(self, environ: "WSGIEnvironment") -> Answer:
        arrived = self.wall()
        raw = _read(environ)
        if raw is None:
            return Answer("413 Content Too Large", b"too large")
        sent = self._sent_at(environ, raw)
        if sent is None:
            return Answer("401 Unauthorized", b"bad signature")
        body = _parsed(raw, environ.get("CONTENT_TYPE", ""))
        if body is None:
            return Answer("400 Bad Request", b"unreadable")
        return self._verified(body, arrived=min(arrived, sent))

    def _verified(self, body: dict[str, Any], *, arrived: float) -> Answer:
        if body.get("ssl_check") == "1":
            return Answer("200 OK")
        if body.get("type") == "url_verification":
            return _json({"challenge": body.get("challenge")})
        if not is_ours(body, app_id=self.app_id, workspace=self.workspace):
            _log.warning("delivery for another app or workspace dropped")
            return _json(NOT_OURS)
        return _from_bolt(dispatch(self.app, body, arrived=arrived))

    def _sent_at(self, environ: "WSGIEnvironment", raw: bytes) -> float | None:
        """Return when Slack signed it, wall time; None unless the signature holds.

        The verifier raises for a timestamp that is no number, and for a signature beyond ASCII.
        """
        timestamp = environ.get("HTTP_X_SLACK_REQUEST_TIMESTAMP", "")
        signature = environ.get("HTTP_X_SLACK_SIGNATURE", "")
        try:
            valid = self.verifier.is_valid(raw, timestamp, signature)
        except (ValueError, TypeError):
            return None
        return float(timestamp) if valid else None


class _Wall(Clock):
    """slack_sdk's clock, taken from ours."""

    def __init__(self, wall: Callable[[], float]) -> None:
        self._wall = wall

    @override
    def now(self) -> float:
        return self._wall()


@dataclass(slots=True)
class HttpServer:
    """waitress in a thread of its own. `port` is the one it really listens on."""

    gateway: Gateway
    host: str = "0.0.0.0"  # noqa: S104 - a container is reached from outside; the signature guards
    port: int = 3000
    _sockets: dict[int, Any] = field(default_factory=dict)
    _listeners: tuple[BaseWSGIServer, ...] = ()
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Listen, and serve until `close`."""
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)
        server = create_server(
            self.gateway,
            map=self._sockets,
            host=self.host,
            port=self.port,
            threads=THREADS,
            ident=None,
            max_request_body_size=MOST_BODY,
            clear_untrusted_proxy_headers=True,
        )
        # A name such as localhost may stand for several addresses: one listener for each.
        self._listeners = tuple(
            one for one in self._sockets.values() if isinstance(one, BaseWSGIServer)
        )
        self.port = int(self._listeners[0].effective_port)
        self._thread = threading.Thread(target=server.run, name="http", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening; requests that are being served are finished."""
        if self._thread is None:
            return
        # Sockets are closed by the thread that waits for them: one closed under its select
        # ends it with an error (waitress 3.0, wasyncore.poll).
        trigger = self._listeners[0].trigger
        trigger.pull_trigger(self._stop_listening)
        self._listeners[0].task_dispatcher.shutdown()
        trigger.pull_trigger(partial(wasyncore.close_all, self._sockets, ignore_all=True))
        self._thread.join(timeout=5)
        self._thread = None

    def _stop_listening(self) -> None:
        for listener in self._listeners:
            wasyncore.dispatcher.close(listener)


def _read(environ: "WSGIEnvironment") -> bytes | None:
    """Return the raw body; None when it is larger than anything Slack sends."""
    length = environ.get("CONTENT_LENGTH") or "0"
    if not _LENGTH.fullmatch(length) or int(length) > MOST_BODY:
        return None
    body: bytes = environ["wsgi.input"].read(int(length))
    return body


def _parsed(raw: bytes, kind: str) -> dict[str, Any] | None:
    """Return a delivery: JSON for events, a form with JSON in `payload`, or a command's form."""
    try:
        text = raw.decode()
        if kind.startswith("application/json"):
            body = json.loads(text)
        else:
            form = dict(parse_qsl(text, keep_blank_values=True))
            is_command = "command" in form or "ssl_check" in form
            body = form if is_command else json.loads(form.get("payload", ""))
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def _from_bolt(response: BoltResponse) -> Answer:
    kind = response.headers.get("content-type", ["text/plain; charset=utf-8"])[0]
    body = response.body.encode()
    return Answer(f"{response.status} {'OK' if response.status == 200 else 'Error'}", body, kind)  # noqa: PLR2004 - HTTP's own number


def _json(body: Mapping[str, object], *, status: str = "200 OK") -> Answer:
    return Answer(status, json.dumps(body).encode(), "application/json")
