"""How Slack reaches us, and what the health page says."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.domain.errors import BusyError, DeliveryError, SettingsError
from bot.domain.lifecycle import PurchaseState
from bot.domain.using import ROUTINE
from bot.domain.values import utc_text
from bot.policy.ceilings import month_of
from bot.ports import Bell, Clock, Store
from bot.settings import Environment
from handlers import (
    Answering,
    Gateway,
    HttpServer,
    Socket,
    app_id_of,
    identify,
    posting_client,
    reading_client,
    register,
)

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

    from handlers.desk import Reading


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrance:
    """All that recording and acknowledging a delivery needs; who works on it comes later."""

    store: Store
    clock: Clock
    bell: Bell
    parse: "Reading"


def health(
    store: Store, clock: Clock, *, mode: str, connected: bool
) -> tuple[bool, Mapping[str, object]]:
    """Return whether the bot serves, and what it has taken on and not finished.

    A database that does not answer is no service: after a disk that did not confirm a write only
    a restart helps (storage.syncing), and whoever watches this page does that.
    """
    now = clock.now()
    try:
        with store.reading() as tx:
            backlog = {
                "inbox": tx.inbox.waiting(),
                "outbox": tx.outbox.waiting(now=now),
                "due": tx.dues.waiting(now=now),
                "purchases": len(tx.purchases.in_state({PurchaseState.SUBMITTED})),
            }
            due_at = tx.dues.next_at(leaving_out=ROUTINE)
            times = [moment for moment in (due_at, tx.outbox.next_at()) if moment]
    except BusyError as error:
        return False, {
            "status": "database",
            "mode": mode,
            "connected": connected,
            "clock": utc_text(now),
            "detail": str(error),
        }
    return connected, {
        "status": "ok" if connected else "disconnected",
        "mode": mode,
        "connected": connected,
        "clock": utc_text(now),
        "backlog": backlog,
        "next_due": utc_text(min(times)) if times else None,
    }


def metrics(store: Store, clock: Clock) -> bytes:
    """Return what the records show to Prometheus, read in one consistent view."""
    from handlers.metering import exposition  # noqa: PLC0415 - a start need not wait for it

    now = clock.now()
    since, until = month_of(now)
    with store.reading() as tx:
        figures = tx.counts.figures(now=now, since=since, until=until)
    return exposition(figures, now=now)


class Transport:
    """How Slack reaches us: a WebSocket that we open, or HTTP; health and metrics beside it."""

    def __init__(
        self,
        environment: Environment,
        entrance: Entrance,
        *,
        workspace: str,
        log: "FilteringBoundLogger",
    ) -> None:
        token = environment.slack_bot_token.get_secret_value()
        base_url = environment.slack_api_url
        self._entrance = entrance
        app = register(
            entrance,
            Answering(posting=posting_client(token, base_url=base_url), log=log),
            bot_token=token,
            workspace=workspace,
            base_url=base_url,
        )
        self.mode = "socket" if environment.socket_mode else "http"
        self._socket: Socket | None = None
        # Without an app token nothing names the app, and the signature alone proves it.
        self._app_id: str | None = None
        if environment.slack_app_token is not None:
            self._app_id = app_id_of(environment.slack_app_token.get_secret_value())
            self._socket = Socket(
                app,
                app_token=environment.slack_app_token.get_secret_value(),
                workspace=workspace,
                base_url=base_url,
            )
        self._server: HttpServer | None = None
        if environment.port is not None:
            gateway = Gateway(
                app=app,
                signing_secret=_signing_secret(environment),
                workspace=workspace,
                app_id=self._app_id,
                health=self._health,
                metrics=self._metrics,
            )
            self._server = HttpServer(gateway, host=environment.host, port=environment.port)

    @property
    def port(self) -> int | None:
        """Return where HTTP is served."""
        return self._server.port if self._server is not None else None

    def open(self) -> None:
        """Serve. Raises SettingsError when the port is taken or Slack lets us not in."""
        if self._server is not None:
            try:
                self._server.start()
            except OSError as error:
                raise SettingsError(
                    f"PORT: {self._server.port} can't be listened on ({error.strerror});"
                    " name a free port"
                ) from error
        if self._socket is not None:
            try:
                self._socket.connect()
            except DeliveryError as error:
                self.close()
                raise SettingsError(
                    "SLACK_APP_TOKEN: Slack does not open a connection with it; make an"
                    " app-level token with connections:write"
                ) from error

    def close(self) -> None:
        """Stop serving; what is recorded goes on at the next start."""
        if self._socket is not None:
            self._socket.close()
        if self._server is not None:
            self._server.close()

    def _metrics(self) -> bytes:
        return metrics(self._entrance.store, self._entrance.clock)

    def _health(self) -> tuple[bool, Mapping[str, object]]:
        connected = self._socket.connected() if self._socket is not None else True
        entrance = self._entrance
        return health(entrance.store, entrance.clock, mode=self.mode, connected=connected)


def _signing_secret(environment: Environment) -> str:
    """Return the secret; one that nobody knows where Socket Mode needs none."""
    secret = environment.slack_signing_secret
    return secret.get_secret_value() if secret is not None else secrets.token_hex(32)


def workspace_of(token: str, base_url: str) -> str:
    """Return the workspace that the token belongs to. Raises SettingsError when Slack says no."""
    try:
        return identify(reading_client(token, base_url=base_url))
    except DeliveryError as error:
        raise SettingsError(
            f"SLACK_BOT_TOKEN: Slack says {error.code}; set it to the Bot User OAuth Token of"
            " your installed app (or mend SLACK_API_URL)"
        ) from error
