"""Socket Mode: deliveries over a WebSocket that we open.

slack_sdk's builtin client, with the arrival of each envelope remembered, so that waiting in its
queue counts towards lateness. `start()` of Bolt's handler ignores SIGTERM and is not used.
"""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from socket import SHUT_RDWR
from typing import Any, Final

import structlog
from slack_bolt import App
from slack_bolt.adapter.socket_mode.base_handler import BaseSocketModeHandler
from slack_bolt.adapter.socket_mode.internals import send_response
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.socket_mode.builtin import SocketModeClient
from slack_sdk.socket_mode.client import BaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from typing_extensions import override

from bot.domain.errors import DeliveryError
from handlers.http import NOT_OURS
from handlers.receiving import dispatch, is_ours
from handlers.web import SLACK_API, reading_client

PING_SECONDS: Final = 5
"""The client looks after its connection this often, and gives a silent one up after four."""
SLOWEST_SECONDS: Final = 20.0
"""The longest pause between two tries to connect again: apps.connections.open allows few calls a
minute (docs.slack.dev, Tier 1), and a command sent after a cut is to be served within 30 s."""
WORKERS = 16

_log: Any = structlog.get_logger("handlers.socket")


class _Arrived(str):
    """A raw message that knows when it came, wall time."""

    __slots__ = ("at",)
    at: float


class _Candid:
    """A connected socket that says when the other side has hung up.

    The builtin client takes the empty answer of a closed socket for "no message yet" and asks
    again, busily, until its pings have failed for 20 seconds (slack_sdk 3.48, _fetch_messages).
    """

    def __init__(self, sock: Any) -> None:
        self._sock = sock

    def recv(self, size: int) -> bytes:
        """Return what came. Raises ConnectionResetError when nothing can come any more."""
        received: bytes = self._sock.recv(size)
        if not received:
            raise ConnectionResetError("the other side has closed the connection")
        return received

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sock, name)


class _Client(SocketModeClient):
    """The builtin client; `arrived` gives when the envelope in hand came."""

    def __init__(
        self, *, wall: Callable[[], float], monotonic: Callable[[], float], **options: Any
    ) -> None:
        self._wall = wall
        self._monotonic = monotonic
        self._in_hand = threading.local()
        self._failures = 0
        self._not_before = float("-inf")
        super().__init__(**options)

    @override
    def connect_to_new_endpoint(self, force: bool = False) -> None:
        """Connect again, with growing pauses after failures; `force`: Slack itself asked for it."""
        if self._monotonic() < self._not_before and not force:
            return
        try:
            super().connect_to_new_endpoint(force)
        except Exception as error:
            self._rest(error)
            raise
        self._failures = 0

    @override
    def issue_new_wss_url(self) -> str:
        """Return an address to connect to; once connected, raise when Slack asks to wait.

        The builtin client sleeps until then, and with it whoever wants to close it.
        """
        if not self.current_app_monitor_started:
            return super().issue_new_wss_url()
        url: str = self.web_client.apps_connections_open(app_token=self.app_token)["url"]
        return url

    def _rest(self, error: Exception) -> None:
        asked = 0.0
        if isinstance(error, SlackApiError) and error.response["error"] == "ratelimited":
            asked = float(error.response.headers.get("Retry-After", SLOWEST_SECONDS))
        pause = max(min(PING_SECONDS * 2.0**self._failures, SLOWEST_SECONDS), asked)
        self._failures = min(self._failures + 1, 8)
        self._not_before = self._monotonic() + pause
        _log.warning("not connected to Slack", why=type(error).__name__, pause_seconds=pause)

    @override
    def connect(self) -> None:
        """Open a new connection in place of the old one."""
        super().connect()
        session = self.current_session
        if session is not None and session.sock is not None:
            session.sock = _Candid(session.sock)  # type: ignore[assignment]  # stands in for it

    @override
    def close(self) -> None:
        """Hang up, so that nobody waits for a message, and end every thread."""
        session = self.current_session
        sock = session.sock if session is not None else None
        if sock is not None:
            with suppress(OSError):
                sock.shutdown(SHUT_RDWR)
        super().close()

    @override
    def enqueue_message(self, message: str) -> None:
        """Queue a message with the time it came at."""
        stamped = _Arrived(message)
        stamped.at = self._wall()
        super().enqueue_message(stamped)

    @override
    def run_message_listeners(self, message: dict[str, Any], raw_message: str) -> None:
        """Work on one message, remembering when it came."""
        self._in_hand.at = raw_message.at if isinstance(raw_message, _Arrived) else self._wall()
        super().run_message_listeners(message, raw_message)

    def arrived(self) -> float:
        """Return when the message that this thread works on came, wall time."""
        at: float = getattr(self._in_hand, "at", self._wall())
        return at


class Socket(BaseSocketModeHandler):
    """A Socket Mode connection that comes back by itself."""

    client: _Client

    def __init__(
        self,
        app: App,
        *,
        app_token: str,
        workspace: str,
        base_url: str = SLACK_API,
        wall: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.app = app
        self.workspace = workspace
        self.app_id = app_id_of(app_token)
        self.client = _Client(
            wall=wall,
            monotonic=monotonic,
            app_token=app_token,
            web_client=reading_client(None, base_url=base_url),
            ping_interval=PING_SECONDS,
            concurrency=WORKERS,
        )
        self.client.socket_mode_request_listeners.append(self.handle)

    @override
    def connect(self) -> None:
        """Open the connection. Raises DeliveryError when Slack does not let us in."""
        try:
            self.client.connect()
        except (SlackClientError, OSError) as error:
            _log.warning("not connected to Slack", why=type(error).__name__)
            raise DeliveryError("not_connected") from error

    def connected(self) -> bool:
        """Return whether deliveries can come in now."""
        return bool(self.client.is_connected())

    @override
    def close(self) -> None:
        """Disconnect and finish what is in hand."""
        self.client.close()

    @override
    def handle(self, client: BaseSocketModeClient, req: SocketModeRequest) -> None:
        """Answer one envelope."""
        started = time.time()
        body: dict[str, Any] = req.payload
        if not is_ours(body, app_id=self.app_id, workspace=self.workspace):
            _log.warning("delivery for another app or workspace dropped", type=req.type)
            answer: dict[str, Any] = {"envelope_id": req.envelope_id}
            if req.accepts_response_payload:
                answer["payload"] = NOT_OURS
            client.send_socket_mode_response(answer)
            return
        response = dispatch(self.app, body, arrived=self.client.arrived())
        send_response(client, req, response, started)


def app_id_of(app_token: str) -> str | None:
    """Return the app's id, which an app-level token carries: xapp-1-A0123-…."""
    parts = app_token.split("-")
    return parts[2] if len(parts) > 3 and parts[2].startswith("A") else None  # noqa: PLR2004 - xapp, version, id, the rest
