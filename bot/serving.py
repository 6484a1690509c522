"""How Slack reaches us, and what the health page says."""

import secrets
from collections.abc import Mapping
from functools import partial

from bot.domain.errors import DeliveryError, SettingsError
from bot.domain.lifecycle import PurchaseState
from bot.domain.values import utc_text
from bot.services import uses
from bot.settings import Environment
from bot.wiring import House, Slack
from handlers import Gateway, HttpServer, Socket, identify, reading_client, register


def health(house: House, *, mode: str, connected: bool) -> tuple[bool, Mapping[str, object]]:
    """Return whether the bot serves, and what it has taken on and not finished."""
    now = house.clock.now()
    with house.store.reading() as tx:
        backlog = {
            "inbox": tx.inbox.waiting(),
            "outbox": tx.outbox.waiting(now=now),
            "due": tx.dues.waiting(now=now),
            "purchases": len(tx.purchases.in_state({PurchaseState.SUBMITTED})),
        }
        due_at = tx.dues.next_at(leaving_out=uses.ROUTINE)
        times = [moment for moment in (due_at, tx.outbox.next_at()) if moment]
    return connected, {
        "status": "ok" if connected else "disconnected",
        "mode": mode,
        "connected": connected,
        "clock": utc_text(now),
        "backlog": backlog,
        "next_due": utc_text(min(times)) if times else None,
    }


class Transport:
    """How Slack reaches us: a WebSocket that we open, or HTTP; health and metrics beside it."""

    def __init__(self, environment: Environment, house: House, slack: Slack) -> None:
        app = register(
            house.desk,
            house.answering,
            bot_token=slack.token,
            workspace=slack.workspace,
            base_url=slack.base_url,
        )
        self.mode = "socket" if environment.socket_mode else "http"
        self._socket: Socket | None = None
        if environment.slack_app_token is not None:
            self._socket = Socket(
                app,
                app_token=environment.slack_app_token.get_secret_value(),
                workspace=slack.workspace,
                base_url=slack.base_url,
            )
        self._server: HttpServer | None = None
        if environment.port is not None:
            gateway = Gateway(
                app=app,
                signing_secret=_signing_secret(environment),
                workspace=slack.workspace,
                app_id=None,
                health=partial(self._health, house),
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

    def _health(self, house: House) -> tuple[bool, Mapping[str, object]]:
        connected = self._socket.connected() if self._socket is not None else True
        return health(house, mode=self.mode, connected=connected)


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
