"""The payloads Slack sends. Field sets: docs.slack.dev, interaction payload pages, 2026."""

import re
import secrets
from typing import Any

from sandbox.slack.api_chat import wire
from sandbox.slack.elements import initial_values
from sandbox.slack.messages import Message
from sandbox.slack.people import (
    APP_ID,
    BOT_USER_ID,
    PARTNER_TEAM_ID,
    TEAM_DOMAIN,
    TEAM_ID,
    Channel,
    Person,
)
from sandbox.slack.views import View
from sandbox.slack.workspace import Workspace

Json = dict[str, Any]

# The old verification token, which no app should look at any more.
OLD_TOKEN = "deprecated-token"  # noqa: S105 - not a secret: Slack still sends the field


def team_of(person: Person) -> Json:
    """The person's own team."""
    domain = TEAM_DOMAIN if person.team_id == TEAM_ID else PARTNER_TEAM_ID.lower()
    return {"id": person.team_id, "domain": domain}


def _user(person: Person) -> Json:
    return {
        "id": person.id,
        "username": person.name,
        "name": person.name,
        "team_id": person.team_id,
    }


def command(
    workspace: Workspace, person: Person, channel: Channel, text: str, response_url: str
) -> Json:
    """A slash command; mentions are escaped as the manifest's should_escape asks."""
    return {
        "token": OLD_TOKEN,
        "team_id": person.team_id,
        "team_domain": team_of(person)["domain"],
        "channel_id": channel.id,
        "channel_name": channel.sent_name,
        "user_id": person.id,
        "user_name": person.name,
        "command": "/gpu",
        "text": escaped(workspace, text),
        "api_app_id": APP_ID,
        "is_enterprise_install": "false",
        "response_url": response_url,
        "trigger_id": workspace.triggers.issue(person.id),
    }


def escaped(workspace: Workspace, text: str) -> str:
    """`text` with @name and #channel of the workspace turned into Slack's references."""
    people = {person.name: person.id for person in workspace.people.values()}
    groups = {group.handle: group.id for group in workspace.groups.values()}
    channels = {c.name: c.id for c in workspace.channels.values() if c.kind == "channel"}

    def at(match: re.Match[str]) -> str:
        name = match[1].lower()
        if name in people:
            return f"<@{people[name]}|{name}>"
        return f"<!subteam^{groups[name]}|@{name}>" if name in groups else match[0]

    def hash_(match: re.Match[str]) -> str:
        name = match[1].lower()
        return f"<#{channels[name]}|{name}>" if name in channels else match[0]

    text = re.sub(r"(?<![\w<^|@])@([\w.-]*\w)", at, text)
    return re.sub(r"(?<![\w<|#&])#([\w-]+)", hash_, text)


def message_action(
    workspace: Workspace,
    person: Person,
    channel: Channel,
    message: Message,
    *,
    action: Json,
    state: Json,
    response_url: str,
) -> Json:
    """block_actions on a message; an ephemeral one does not carry the message."""
    container: Json = {
        "type": "message",
        "message_ts": message.ts,
        "channel_id": channel.id,
        "is_ephemeral": message.only_for is not None,
    }
    if message.thread_ts is not None:
        container["thread_ts"] = message.thread_ts
    payload = _action_base(workspace, person, action)
    payload |= {
        "container": container,
        "channel": {"id": channel.id, "name": channel.sent_name},
        "state": {"values": state},
        "response_url": response_url,
    }
    if message.only_for is None:
        payload["message"] = wire(message, with_metadata=True)
    return payload


def view_action(workspace: Workspace, person: Person, view: View, action: Json) -> Json:
    """block_actions on a modal or Home tab: no channel, no response_url."""
    payload = _action_base(workspace, person, action)
    return payload | {
        "container": {"type": "view", "view_id": view.id},
        "view": view.shown(),
    }


def _action_base(workspace: Workspace, person: Person, action: Json) -> Json:
    return {
        "type": "block_actions",
        "user": _user(person),
        "api_app_id": APP_ID,
        "token": OLD_TOKEN,
        "trigger_id": workspace.triggers.issue(person.id),
        "team": {"id": TEAM_ID, "domain": TEAM_DOMAIN},
        "enterprise": None,
        "is_enterprise_install": False,
        "actions": [action],
    }


def view_submission(workspace: Workspace, person: Person, view: View) -> Json:
    """view_submission; `team` is the actor's own, as Slack Connect has it."""
    return {
        "type": "view_submission",
        "team": team_of(person),
        "user": _user(person),
        "api_app_id": APP_ID,
        "token": OLD_TOKEN,
        "trigger_id": workspace.triggers.issue(person.id),
        "view": view.shown(),
        "response_urls": [],
        "is_enterprise_install": False,
        "enterprise": None,
    }


def view_closed(person: Person, view: View, *, cleared: bool) -> Json:
    """view_closed: without the state of inputs."""
    return {
        "type": "view_closed",
        "team": team_of(person),
        "user": _user(person),
        "api_app_id": APP_ID,
        "token": OLD_TOKEN,
        "view": view.shown() | {"state": {"values": {}}},
        "is_cleared": cleared,
        "is_enterprise_install": False,
        "enterprise": None,
    }


def home_opened(workspace: Workspace, person: Person) -> Json:
    """The app_home_opened event for the Home tab, in its envelope."""
    seconds, _, _ = workspace.messages.next_ts().partition(".")
    event: Json = {
        "type": "app_home_opened",
        "user": person.id,
        "channel": person.direct_channel,
        "tab": "home",
        "event_ts": f"{seconds}.000000",
    }
    view = workspace.views.home(person.id)
    if view is not None:
        event["view"] = view.shown()
    return {
        "token": OLD_TOKEN,
        "team_id": TEAM_ID,
        "api_app_id": APP_ID,
        "event": event,
        "type": "event_callback",
        "event_id": f"Ev{secrets.token_hex(5).upper()}",
        "event_time": int(seconds),
        "authorizations": [
            {
                "enterprise_id": None,
                "team_id": TEAM_ID,
                "user_id": BOT_USER_ID,
                "is_bot": True,
                "is_enterprise_install": False,
            }
        ],
        "is_ext_shared_channel": False,
    }


def message_state(message: Message) -> Json:
    """`state.values` of a message's untouched elements."""
    return initial_values(message.blocks)
