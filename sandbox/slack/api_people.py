"""auth.*, users.*, usergroups.* and conversations.* methods."""

from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any
from zoneinfo import ZoneInfo

from sandbox.slack.api_chat import wire
from sandbox.slack.arguments import flag, page, required
from sandbox.slack.errors import SlackError
from sandbox.slack.messages import Message
from sandbox.slack.people import (
    BOT_ID,
    BOT_USER_ID,
    PARTNER_TEAM_ID,
    TEAM_DOMAIN,
    TEAM_ID,
    Channel,
    Person,
)
from sandbox.slack.workspace import Workspace

Json = dict[str, Any]

CREATED = 1_700_000_000


def auth_test(workspace: Workspace, arguments: Json) -> Json:  # noqa: ARG001 - one shape for all methods
    """auth.test."""
    return {
        "url": f"https://{TEAM_DOMAIN}.slack.com/",
        "team": "GPU Sandbox",
        "user": "gpubot",
        "team_id": TEAM_ID,
        "user_id": BOT_USER_ID,
        "bot_id": BOT_ID,
        "is_enterprise_install": False,
    }


def users_info(workspace: Workspace, arguments: Json) -> Json:
    """users.info: strangers have no locale, and deactivated people no zone."""
    given = required(arguments, "user", "user_not_found")
    if given == BOT_USER_ID:
        return {"user": _bot()}
    person = workspace.person(given)
    return {"user": _user(person, workspace.now(), flag(arguments, "include_locale"))}


def users_list(workspace: Workspace, arguments: Json) -> Json:
    """users.list: deactivated people too, strangers not."""
    own = [p for p in workspace.people.values() if not p.is_stranger]
    shown, more = page(own, arguments, default=200, most=1000)
    locale = flag(arguments, "include_locale")
    members = [_user(person, workspace.now(), locale) for person in shown]
    return {"members": members, "response_metadata": more}


def usergroups_list(workspace: Workspace, arguments: Json) -> Json:
    """usergroups.list."""
    groups = []
    for group in workspace.groups.values():
        entry = {
            "id": group.id,
            "team_id": TEAM_ID,
            "is_usergroup": True,
            "name": group.handle,
            "handle": group.handle,
            "date_delete": 0,
            "user_count": len(group.users),
        }
        if flag(arguments, "include_users"):
            entry["users"] = list(group.users)
        groups.append(entry)
    return {"usergroups": groups}


def usergroups_users_list(workspace: Workspace, arguments: Json) -> Json:
    """usergroups.users.list."""
    group = workspace.groups.get(required(arguments, "usergroup"))
    if group is None:
        raise SlackError("no_such_subteam")
    return {"users": list(group.users)}


def conversations_info(workspace: Workspace, arguments: Json) -> Json:
    """conversations.info."""
    return {"channel": _channel(_known(workspace, arguments))}


def conversations_list(workspace: Workspace, arguments: Json) -> Json:
    """conversations.list: public channels."""
    public = [c for c in workspace.channels.values() if c.kind == "channel"]
    shown, more = page(public, arguments, default=100, most=1000)
    return {"channels": [_channel(c) for c in shown], "response_metadata": more}


def conversations_members(workspace: Workspace, arguments: Json) -> Json:
    """conversations.members."""
    channel = _known(workspace, arguments)
    shown, more = page(list(channel.members), arguments, default=100, most=1000)
    return {"members": shown, "response_metadata": more}


def conversations_open(workspace: Workspace, arguments: Json) -> Json:
    """conversations.open: the direct messages with one person."""
    users = str(required(arguments, "users", "users_list_not_supplied")).split(",")
    if len(users) != 1:
        raise SlackError("not_enough_users")
    person = workspace.person(users[0])
    if person.deleted:
        raise SlackError("user_disabled")
    return {"channel": {"id": person.direct_channel}, "no_op": True, "already_open": True}


def conversations_history(workspace: Workspace, arguments: Json) -> Json:
    """conversations.history: newest first, no replies, no ephemerals."""
    channel = _known(workspace, arguments)
    roots = [m for m in workspace.messages.kept(channel.id) if m.thread_ts in (None, m.ts)]
    chosen = [m for m in reversed(roots) if _within(m, arguments)]
    shown, more = page(chosen, arguments, default=100, most=999)
    metadata = flag(arguments, "include_all_metadata")
    return {
        "messages": [wire(message, with_metadata=metadata) for message in shown],
        "has_more": more["next_cursor"] != "",
        "response_metadata": more,
    }


def conversations_replies(workspace: Workspace, arguments: Json) -> Json:
    """conversations.replies: the root and its replies, oldest first."""
    channel = _known(workspace, arguments)
    ts = required(arguments, "ts", "thread_not_found")
    asked = workspace.messages.find(channel.id, ts)
    if asked is None or asked.only_for is not None:
        raise SlackError("thread_not_found")
    root = asked.thread_ts or asked.ts
    thread = [m for m in workspace.messages.kept(channel.id) if root in (m.ts, m.thread_ts)]
    chosen = [m for m in thread if m.ts == root or _within(m, arguments)]
    shown, more = page(chosen, arguments, default=100, most=1000)
    metadata = flag(arguments, "include_all_metadata")
    return {
        "messages": [wire(message, with_metadata=metadata) for message in shown],
        "has_more": more["next_cursor"] != "",
        "response_metadata": more,
    }


def _known(workspace: Workspace, arguments: Json) -> Channel:
    return workspace.channel(required(arguments, "channel", "channel_not_found"))


def _within(message: Message, arguments: Json) -> bool:
    """Whether the message lies between `oldest` and `latest`, which are exclusive by default."""
    try:
        oldest = Decimal(str(arguments.get("oldest") or "0"))
        latest = Decimal(str(arguments.get("latest") or "Infinity"))
    except InvalidOperation as error:
        raise SlackError("invalid_ts_oldest") from error
    ts = Decimal(message.ts)
    if flag(arguments, "inclusive"):
        return oldest <= ts <= latest
    return oldest < ts < latest


def _user(person: Person, now: datetime, include_locale: bool) -> Json:  # noqa: FBT001 - Slack's own flag
    user: Json = {
        "id": person.id,
        "team_id": person.team_id,
        "name": person.name,
        "deleted": person.deleted,
        "real_name": person.real_name,
        "profile": {
            "real_name": person.real_name,
            "display_name": person.name,
            "title": person.role,
            "team": person.team_id,
        },
        "is_bot": False,
        "is_app_user": False,
        "updated": CREATED,
    }
    if person.deleted:
        return user
    offset = now.astimezone(UTC).astimezone(ZoneInfo(person.tz)).utcoffset()
    user |= {
        "tz": person.tz,
        "tz_label": person.tz,
        "tz_offset": 0 if offset is None else int(offset.total_seconds()),
        "is_admin": person.role == "administrator",
        "is_owner": False,
        "is_restricted": False,
        "is_ultra_restricted": False,
        "is_stranger": person.is_stranger,
    }
    if include_locale and not person.is_stranger:
        user["locale"] = person.locale
    return user


def _bot() -> Json:
    return {
        "id": BOT_USER_ID,
        "team_id": TEAM_ID,
        "name": "gpubot",
        "deleted": False,
        "real_name": "gpubot",
        "profile": {"real_name": "gpubot", "display_name": "gpubot", "bot_id": BOT_ID},
        "tz": "Etc/UTC",
        "tz_label": "UTC",
        "tz_offset": 0,
        "is_bot": True,
        "is_app_user": False,
        "updated": CREATED,
    }


def _channel(channel: Channel) -> Json:
    if channel.direct_with is not None:
        return {
            "id": channel.id,
            "created": CREATED,
            "is_im": True,
            "is_archived": False,
            "is_org_shared": False,
            "is_ext_shared": False,
            "user": channel.direct_with,
            "context_team_id": TEAM_ID,
        }
    return {
        "id": channel.id,
        "name": channel.name,
        "name_normalized": channel.name,
        "created": CREATED,
        "is_channel": True,
        "is_group": False,
        "is_im": False,
        "is_mpim": False,
        "is_archived": False,
        "is_general": False,
        "is_private": channel.is_private,
        "is_shared": channel.is_ext_shared,
        "is_ext_shared": channel.is_ext_shared,
        "is_org_shared": False,
        "is_pending_ext_shared": False,
        "pending_shared": [],
        "shared_team_ids": [TEAM_ID, PARTNER_TEAM_ID] if channel.is_ext_shared else [TEAM_ID],
        "is_member": BOT_USER_ID in channel.members,
        "num_members": len(channel.members),
        "context_team_id": TEAM_ID,
        "topic": {"value": "", "creator": "", "last_set": 0},
        "purpose": {"value": "", "creator": "", "last_set": 0},
    }


METHODS = {
    "auth.test": auth_test,
    "users.info": users_info,
    "users.list": users_list,
    "usergroups.list": usergroups_list,
    "usergroups.users.list": usergroups_users_list,
    "conversations.info": conversations_info,
    "conversations.list": conversations_list,
    "conversations.members": conversations_members,
    "conversations.open": conversations_open,
    "conversations.history": conversations_history,
    "conversations.replies": conversations_replies,
}
