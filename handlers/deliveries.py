"""What Slack delivers, cut down to what the work needs, as it is kept in the inbox.

Shapes: docs.slack.dev, "Slash commands", "block_actions payload", "View interactions payload"
and "app_home_opened", read in January 2026. The deprecated `token` is never kept. `trigger` and
`answer_at` are bearer capabilities for 3 seconds and 30 minutes: they stay out of every log.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Literal

from pydantic import Field

from bot.domain.base import Model
from bot.domain.errors import UserError

Payload = Mapping[str, object]


class Command(Model):
    """A line after /gpu."""

    kind: Literal["command"] = "command"
    user: str
    workspace: str
    channel: str
    text: str
    trigger: str = Field(repr=False)
    answer_at: str | None = Field(repr=False)


class Action(Model):
    """A pressed button or a picked option. `workspace` is the presser's own, not the app's."""

    kind: Literal["action"] = "action"
    user: str
    workspace: str
    channel: str | None
    thread: str | None
    action_id: str
    value: str
    trigger: str = Field(repr=False)
    answer_at: str | None = Field(repr=False)


class Submission(Model):
    """A sent form. `values` holds what was typed or picked, by block."""

    kind: Literal["submission"] = "submission"
    user: str
    workspace: str
    form: str
    context: str
    values: dict[str, str | None]


class Opened(Model):
    """Somebody opened the bot's Home tab."""

    kind: Literal["opened"] = "opened"
    user: str


class Late(Model):
    """Notice that another row, with the key `of`, was acknowledged too late: its sender is asked.

    That row itself is marked as late and waits for the answer.
    """

    kind: Literal["late"] = "late"
    of: str
    user: str
    what: Command | Action | Submission = Field(discriminator="kind")


class Item(Model):
    """One entry of the inbox."""

    item: Command | Action | Submission | Opened | Late = Field(discriminator="kind")


def read_item(body: str) -> Command | Action | Submission | Opened | Late:
    """Return what an inbox row holds."""
    return Item.model_validate_json(body).item


def kept(item: Command | Action | Submission | Opened | Late) -> str:
    """Return the text to keep in an inbox row."""
    return Item(item=item).model_dump_json()


def command_of(payload: Payload) -> tuple[str, Command]:
    """Return a slash command and the key that makes it unique: its trigger id."""
    trigger = _text(payload, "trigger_id")
    command = Command(
        user=_text(payload, "user_id"),
        workspace=_text(payload, "team_id"),
        channel=_text(payload, "channel_id"),
        text=_text(payload, "text"),
        trigger=trigger,
        answer_at=_text(payload, "response_url") or None,
    )
    return _key("command", trigger), command


def action_of(payload: Payload) -> tuple[str, Action]:
    """Return a block action and its key.

    Delivering one press again repeats its `action_ts`; a second press has another one.
    """
    actions = payload.get("actions")
    first = actions[0] if isinstance(actions, list) and actions else {}
    if not isinstance(first, Mapping):
        raise UserError("Slack sent a press that I can't read.")
    container = _part(payload, "container")
    user = _part(payload, "user")
    action = Action(
        user=_text(user, "id"),
        workspace=_text(user, "team_id") or _text(_part(payload, "team"), "id"),
        channel=_text(container, "channel_id") or _text(_part(payload, "channel"), "id") or None,
        thread=_text(container, "thread_ts") or None,
        action_id=_text(first, "action_id"),
        value=_text(first, "value") or _text(_part(first, "selected_option"), "value"),
        trigger=_text(payload, "trigger_id"),
        answer_at=_text(payload, "response_url") or None,
    )
    where = _text(container, "message_ts") or _text(container, "view_id")
    return (
        _key("action", action.user, action.action_id, where, _text(first, "action_ts")),
        action,
    )


def submission_of(payload: Payload) -> tuple[str, Submission]:
    """Return a sent form and its key: the view and the state of it that was sent.

    In a submission `team` is the sender's workspace, and `user.team_id` agrees with it.
    """
    view = _part(payload, "view")
    user = _part(payload, "user")
    submission = Submission(
        user=_text(user, "id"),
        workspace=_text(user, "team_id") or _text(_part(payload, "team"), "id"),
        form=_text(view, "callback_id"),
        context=_text(view, "private_metadata"),
        values=dict(_values(_part(_part(view, "state"), "values"))),
    )
    return _key("submission", submission.user, _text(view, "id"), _text(view, "hash")), submission


def opened_of(payload: Payload) -> tuple[str, Opened] | None:
    """Return a visit to the Home tab and its event id; None for the other tabs."""
    event = _part(payload, "event")
    if event.get("tab") != "home":
        return None
    return _key("event", _text(payload, "event_id")), Opened(user=_text(event, "user"))


def _values(blocks: Payload) -> Iterator[tuple[str, str | None]]:
    """Give each block's one value; several options are joined by commas."""
    for block_id, elements in blocks.items():
        for element in elements.values() if isinstance(elements, Mapping) else ():
            yield block_id, _value(element)


def _value(element: Payload) -> str | None:
    for name in ("value", "selected_user", "selected_date"):
        given = element.get(name)
        if isinstance(given, str):
            return _whole(given)
    picked = element.get("selected_option")
    if isinstance(picked, Mapping):
        return _text(picked, "value")
    several = element.get("selected_options")
    if isinstance(several, list) and several:
        return ",".join(_text(option, "value") for option in several)
    return None


def _key(*parts: str) -> str:
    """Return a key of fixed length: trigger ids are capabilities and don't belong in a key."""
    digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
    return f"{parts[0]}:{digest[:40]}"


def _part(payload: Payload, name: str) -> Payload:
    part = payload.get(name)
    return part if isinstance(part, Mapping) else {}


def _text(payload: Payload, name: str) -> str:
    value = payload.get(name)
    return _whole(value) if isinstance(value, str) else ""


def _whole(text: str) -> str:
    """Return the text with half characters replaced: an emoji cut in two is no text to keep."""
    return _HALF.sub("\N{REPLACEMENT CHARACTER}", text)


_HALF = re.compile("[\ud800-\udfff]")
