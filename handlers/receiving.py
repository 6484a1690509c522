"""Takes in what Slack delivers: write it down durably, acknowledge, wake the workers.

No AWS call, no Slack call and no rule stands between a delivery and its acknowledgement, and
nothing escapes a listener: slack_bolt 1.30 takes an acknowledgement back when its listener
raises. What can't be written down in time is acknowledged as not accepted and leaves no row.

Lateness is settled before the row is written: the time that writing may take is what is left of
`ACK_LIMIT`, so that a row that says "in time" was acknowledged in time. Times here are the wall's.
"""

import json
import logging
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal

import structlog
from prometheus_client import Counter, Histogram
from slack_bolt import Ack, App, BoltContext, BoltRequest, BoltResponse
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.error import BoltUnhandledRequestError
from slack_sdk import WebClient

from bot.domain.errors import BusyError, UserError
from bot.domain.records import Delivery
from bot.ports import Bell, Clock, Store
from handlers import ids
from handlers.cards.private import not_accepted
from handlers.deliveries import (
    Action,
    Command,
    Late,
    Opened,
    Submission,
    action_of,
    command_of,
    kept,
    opened_of,
    submission_of,
)
from handlers.forms import DENIAL, WORDS, FormContext, complaints, sentence_of
from handlers.ids import DENY_VIEW, REQUEST_VIEW, WORDS_VIEWS
from handlers.web import SLACK_API, call, reading_client

if TYPE_CHECKING:
    from handlers.desk import Reading

ACK_LIMIT = timedelta(seconds=2.5)
"""Slack gives up after 3 s; half a second is the way back."""
PATIENCE = timedelta(seconds=1.5)
LEAST_PATIENCE = timedelta(seconds=0.3)
"""With less time than this left, a delivery counts as late at once."""

ARRIVED = "gpubot_arrived"
"""Under this name a transport puts the wall time at which Slack sent or we took a delivery."""

_ANY = re.compile("")
"""Every press is acknowledged, old ones too; which it is is looked up by its exact name later."""

_log: Any = structlog.get_logger("handlers.receiving")
_TAKEN = Counter("gpubot_deliveries", "Deliveries from Slack, by what became of them", ["outcome"])
_ACK = Histogram(
    "gpubot_ack_seconds",
    "Seconds from the arrival of a delivery to its acknowledgement",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 1.5, 2.5, 3, 5),
)

Kind = Literal["command", "action", "submission", "event"]


class Verdict(StrEnum):
    """What became of a delivery."""

    TAKEN = "taken"
    KNOWN = "known"
    LATE = "late"
    BUSY = "busy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Receiver:
    """Writes deliveries down. `wall` gives seconds since the epoch by the wall clock.

    `locked` is set from a delivery that the database did not take until one that it takes: those
    in between wait but shortly, so that a crowd of them is told in time.
    """

    store: Store
    clock: Clock
    bell: Bell
    wall: Callable[[], float] = time.time
    locked: threading.Event = field(default_factory=threading.Event)

    def take(
        self,
        kind: Kind,
        key: str,
        item: Command | Action | Submission | Opened,
        *,
        arrived: float,
    ) -> Verdict:
        """Return what became of it; TAKEN and LATE are on disk."""
        left = ACK_LIMIT - timedelta(seconds=self.wall() - arrived)
        late = left < LEAST_PATIENCE and not isinstance(item, Opened)
        patience = PATIENCE if late else max(min(PATIENCE, left), LEAST_PATIENCE)
        if self.locked.is_set():
            patience = LEAST_PATIENCE
        verdict = self._write(kind, key, item, late=late, patience=patience)
        if verdict is Verdict.BUSY:
            self.locked.set()
        else:
            self.locked.clear()
        _TAKEN.labels(verdict.value).inc()
        if verdict in (Verdict.TAKEN, Verdict.LATE):
            self.bell.ring()
        return verdict

    def _write(
        self,
        kind: Kind,
        key: str,
        item: Command | Action | Submission | Opened,
        *,
        late: bool,
        patience: timedelta,
    ) -> Verdict:
        row = Delivery(key=key, kind=kind, body=kept(item), received_at=self.clock.now(), late=late)
        try:
            if not self.store.record(row, patience=patience):
                return Verdict.KNOWN
            if not late or isinstance(item, Opened):
                return Verdict.TAKEN
            question = Late(of=key, user=item.user, what=item)
            self.store.record(
                Delivery(
                    key=f"late:{key}",
                    kind="event",
                    body=kept(question),
                    received_at=row.received_at,
                ),
                patience=PATIENCE,
            )
        except BusyError:
            return Verdict.BUSY
        return Verdict.LATE


@dataclass(frozen=True, slots=True, kw_only=True)
class Listeners:
    """The bodies of the listeners: record and acknowledge, nothing else. Total.

    `sorry` tells the presser that a press was not accepted, without waiting for it to be told:
    Slack shows nothing of what acknowledges a press.
    """

    receiver: Receiver
    parse: "Reading"
    sorry: Callable[[Action], None]

    def command(self, ack: Ack, body: dict[str, Any], context: BoltContext) -> BoltResponse:
        """Take a slash command."""
        arrived = self._arrived(context)
        try:
            key, item = command_of(body)
            verdict = self.receiver.take("command", key, item, arrived=arrived)
        except Exception as error:  # noqa: BLE001 - a boundary: nothing may escape a listener
            return self._failed(ack, error, arrived)
        if verdict is Verdict.BUSY:
            return self._done(ack, arrived, **_private(item.text))
        return self._done(ack, arrived)

    def action(self, ack: Ack, body: dict[str, Any], context: BoltContext) -> BoltResponse:
        """Take a press."""
        arrived = self._arrived(context)
        try:
            key, item = action_of(body)
            if item.action_id:
                verdict = self.receiver.take("action", key, item, arrived=arrived)
                if verdict is Verdict.BUSY:
                    self.sorry(item)
        except Exception as error:  # noqa: BLE001 - a boundary: nothing may escape a listener
            return self._failed(ack, error, arrived)
        return self._done(ack, arrived)

    def submission(self, ack: Ack, body: dict[str, Any], context: BoltContext) -> BoltResponse:
        """Take a sent form: complaints stand under its fields, else it is written down."""
        arrived = self._arrived(context)
        try:
            key, item = submission_of(body)
            errors = self._complaints(item)
            if not errors:
                verdict = self.receiver.take("submission", key, item, arrived=arrived)
                if verdict is Verdict.BUSY:
                    first = next(iter(item.values), DENIAL)
                    errors = {first: "Not accepted: I was too busy. Please send it again."}
        except Exception as error:  # noqa: BLE001 - a boundary: nothing may escape a listener
            return self._failed(ack, error, arrived)
        if errors:
            return self._done(ack, arrived, response_action="errors", errors=errors)
        return self._done(ack, arrived)

    def opened(self, ack: Ack, body: dict[str, Any], context: BoltContext) -> BoltResponse:
        """Take a visit to the Home tab."""
        arrived = self._arrived(context)
        try:
            found = opened_of(body)
            if found is not None:
                self.receiver.take("event", found[0], found[1], arrived=arrived)
        except Exception as error:  # noqa: BLE001 - a boundary: nothing may escape a listener
            return self._failed(ack, error, arrived)
        return self._done(ack, arrived)

    def _complaints(self, item: Submission) -> dict[str, str]:
        if item.form == DENY_VIEW:
            said = (item.values.get(DENIAL) or "").strip()
            return {} if said else {DENIAL: "Please say why; the requester will read it."}
        if item.form in WORDS_VIEWS:
            said = (item.values.get(WORDS) or "").strip()
            return {} if said else {WORDS: "Please write something; others will read it."}
        if item.form != REQUEST_VIEW:
            return {}
        context = FormContext.model_validate_json(item.context or "{}")
        line, spans = sentence_of(item.values)
        parsed = self.parse(
            line, now=self.receiver.clock.now(), zone=context.zone, locale=context.locale
        )
        return complaints(parsed, spans)

    def _arrived(self, context: Mapping[str, Any]) -> float:
        arrived = context.get(ARRIVED)
        return arrived if isinstance(arrived, float) else self.receiver.wall()

    def _done(self, ack: Ack, arrived: float, **answer: Any) -> BoltResponse:
        _ACK.observe(max(0.0, self.receiver.wall() - arrived))
        return ack(**answer)

    def _failed(self, ack: Ack, error: Exception, arrived: float) -> BoltResponse:
        if not isinstance(error, UserError):
            _log.error("delivery not taken", kind=type(error).__name__, exc_info=error)
        _TAKEN.labels("failed").inc()
        return self._done(ack, arrived, **_private(""))


def _private(text: str) -> dict[str, Any]:
    message = not_accepted(text)
    return {
        "text": message.text,
        "blocks": list(message.blocks),
        "response_type": "ephemeral",
    }


def build_app(
    listeners: Listeners, *, bot_token: str, workspace: str, base_url: str = SLACK_API
) -> App:
    """Return the Bolt app with every listener registered; making it calls nobody.

    The transport in front of it verifies signatures. Authorisation is a constant, so that no
    request waits for auth.test, and so that SLACK_CLIENT_ID in the environment can't switch
    Bolt into its OAuth mode with a token store of its own.
    """
    # Bolt's own loggers take the root's level, at whose DEBUG they print whole bodies.
    quiet = logging.getLogger("handlers.bolt")
    quiet.setLevel(logging.ERROR)
    logging.getLogger("slack_sdk").setLevel(logging.WARNING)
    app = App(
        name="gpubot",
        logger=quiet,
        process_before_response=True,
        token_verification_enabled=False,
        request_verification_enabled=False,
        ssl_check_enabled=False,
        raise_error_for_unhandled_request=True,
        client=reading_client(None, base_url=base_url),
        authorize=_as_installed(bot_token, workspace),
    )
    app.error(_unhandled)
    app.command(ids.COMMAND)(listeners.command)
    app.action(_ANY)(listeners.action)
    app.view(REQUEST_VIEW)(listeners.submission)
    app.view(DENY_VIEW)(listeners.submission)
    for view in WORDS_VIEWS:
        app.view(view)(listeners.submission)
    app.event("app_home_opened")(listeners.opened)
    return app


def dispatch(app: App, body: dict[str, Any], *, arrived: float) -> BoltResponse:
    """Return what Slack is answered. `body` is parsed and verified; `arrived` is wall time.

    Total: slack_bolt 1.30 raises from its own error path when a payload lacks fields.
    """
    try:
        request = BoltRequest(mode="socket_mode", body=body, context={ARRIVED: arrived})
        return app.dispatch(request)
    except Exception:  # noqa: BLE001 - a boundary: Slack repeats what gets no answer
        _log.exception("delivery not dispatched")
        return BoltResponse(status=200, body=json.dumps(_private("")))


def _as_installed(bot_token: str, workspace: str) -> Callable[..., AuthorizeResult]:
    def authorize() -> AuthorizeResult:
        return AuthorizeResult(
            enterprise_id=None, team_id=workspace, bot_token=bot_token, bot_id="B", bot_user_id="U"
        )

    return authorize


def _unhandled(error: Exception, body: dict[str, Any]) -> BoltResponse:
    """Acknowledge what nobody listens to: Slack repeats events that get no 200."""
    kind = str(body.get("type", ""))
    if isinstance(error, BoltUnhandledRequestError):
        _log.info("delivery without a listener", type=kind)
        return BoltResponse(status=200, body="")
    _log.error("dispatch failed", type=kind, exc_info=error)
    return BoltResponse(status=200, body=json.dumps(_private("")))


def is_ours(body: Mapping[str, Any], *, app_id: str | None, workspace: str) -> bool:
    """Return whether a delivery is for this app in this workspace.

    A single-workspace Bolt app serves any workspace with its own token (slack_bolt 1.30). In a
    press `team` is where the app is installed, or null; in a sent form it is the sender's, and
    the view names the installation.
    """
    sent_to = body.get("api_app_id")
    if app_id is not None and sent_to is not None and sent_to != app_id:
        return False
    view = body.get("view")
    team = body.get("team")
    theirs = body.get("team_id")
    if body.get("type") == "view_submission":
        theirs = view.get("app_installed_team_id") if isinstance(view, Mapping) else None
    elif isinstance(team, Mapping):
        theirs = team.get("id")
    return theirs is None or theirs == workspace


def identify(client: WebClient) -> str:
    """Return the id of the workspace that the token belongs to. Raises DeliveryError."""
    return str(call(client.auth_test)["team_id"])
