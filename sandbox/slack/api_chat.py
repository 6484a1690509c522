"""chat.* methods. Rules: docs.slack.dev, method pages, read in 2026."""

import copy
from typing import Any

from sandbox.slack.arguments import required
from sandbox.slack.blocks import check_blocks
from sandbox.slack.errors import SlackError
from sandbox.slack.messages import Message
from sandbox.slack.people import APP_ID, BOT_ID, BOT_USER_ID, TEAM_DOMAIN, TEAM_ID, Channel
from sandbox.slack.workspace import Workspace

Json = dict[str, Any]

# chat.postMessage cuts longer text; chat.update refuses it.
MOST_POSTED_TEXT = 40_000
MOST_UPDATED_TEXT = 4_000


def wire(message: Message, *, with_metadata: bool = False) -> Json:
    """The message object of Slack's answers and payloads."""
    shown: Json = {
        "type": "message",
        "user": message.user,
        "ts": message.ts,
        "text": message.text,
        "team": TEAM_ID,
        "blocks": copy.deepcopy(message.blocks),
    }
    if message.user == BOT_USER_ID:
        shown |= {"bot_id": BOT_ID, "app_id": APP_ID}
    if message.thread_ts is not None:
        shown |= {"thread_ts": message.thread_ts, "parent_user_id": BOT_USER_ID}
    if message.edited:
        shown["edited"] = {"user": message.user, "ts": message.ts}
    if with_metadata and message.metadata is not None:
        shown["metadata"] = copy.deepcopy(message.metadata)
    return shown


def post_message(workspace: Workspace, arguments: Json) -> Json:
    """chat.postMessage."""
    channel = _writable(workspace, arguments)
    text, blocks = _content(arguments)
    message = workspace.post(
        channel,
        text=text[:MOST_POSTED_TEXT],
        blocks=blocks,
        thread_ts=arguments.get("thread_ts"),
        metadata=_metadata(arguments),
    )
    return {
        "channel": channel.id,
        "ts": message.ts,
        "message": wire(message, with_metadata=True),
    }


def post_ephemeral(workspace: Workspace, arguments: Json) -> Json:
    """chat.postEphemeral."""
    channel = _writable(workspace, arguments)
    user = required(arguments, "user")
    if user not in channel.members:
        raise SlackError("user_not_in_channel")
    text, blocks = _content(arguments)
    message = workspace.post(
        channel,
        text=text[:MOST_POSTED_TEXT],
        blocks=blocks,
        thread_ts=arguments.get("thread_ts"),
        only_for=user,
    )
    return {"message_ts": message.ts}


def update(workspace: Workspace, arguments: Json) -> Json:
    """chat.update: text without blocks removes the blocks; metadata stays unless given."""
    channel = _by_id(workspace, arguments)
    message = _own_message(workspace, channel, arguments, "cant_update_message")
    text, blocks = _content(arguments)
    if len(text) > MOST_UPDATED_TEXT:
        raise SlackError("msg_too_long")
    workspace.messages.change(
        message,
        text=text if arguments.get("text") is not None else message.text,
        blocks=workspace.with_ids(blocks),
    )
    if arguments.get("metadata") is not None:
        message.metadata = _metadata(arguments)
    return {
        "channel": channel.id,
        "ts": message.ts,
        "text": message.text,
        "message": wire(message, with_metadata=True),
    }


def delete(workspace: Workspace, arguments: Json) -> Json:
    """chat.delete."""
    channel = _by_id(workspace, arguments)
    message = _own_message(workspace, channel, arguments, "cant_delete_message")
    message.deleted = True
    return {"channel": channel.id, "ts": message.ts}


def get_permalink(workspace: Workspace, arguments: Json) -> Json:
    """chat.getPermalink."""
    channel = _by_id(workspace, arguments)
    ts = required(arguments, "message_ts")
    message = workspace.messages.find(channel.id, ts)
    if message is None or message.deleted or message.only_for is not None:
        raise SlackError("message_not_found")
    path = f"archives/{channel.id}/p{ts.replace('.', '')}"
    return {"channel": channel.id, "permalink": f"https://{TEAM_DOMAIN}.slack.com/{path}"}


def _writable(workspace: Workspace, arguments: Json) -> Channel:
    channel = workspace.channel(required(arguments, "channel", "channel_not_found"))
    if BOT_USER_ID not in channel.members:
        raise SlackError("not_in_channel")
    return channel


def _by_id(workspace: Workspace, arguments: Json) -> Channel:
    """chat.update and chat.delete take ids only, and D… for direct messages."""
    given = required(arguments, "channel", "channel_not_found")
    if given not in workspace.channels:
        raise SlackError("channel_not_found")
    return workspace.channels[given]


def _own_message(workspace: Workspace, channel: Channel, arguments: Json, refusal: str) -> Message:
    message = workspace.messages.find(channel.id, required(arguments, "ts", "message_not_found"))
    if message is None or message.deleted or message.only_for is not None:
        raise SlackError("message_not_found")
    if message.user != BOT_USER_ID:
        raise SlackError(refusal)
    return message


def _content(arguments: Json) -> tuple[str, list[Json]]:
    """Text and blocks of a message.

    Raises:
        SlackError: `no_text` or `invalid_blocks`.
    """
    text, blocks = str(arguments.get("text") or ""), arguments.get("blocks") or []
    if not text and not blocks and not arguments.get("attachments"):
        raise SlackError("no_text")
    check_blocks(blocks, "message")
    return text, blocks


def _metadata(arguments: Json) -> Json | None:
    metadata = arguments.get("metadata")
    if not metadata:
        return None
    if (
        not isinstance(metadata, dict)
        or set(metadata) - {"entities"} != {"event_type", "event_payload"}
        or not isinstance(metadata["event_type"], str)
        or not isinstance(metadata["event_payload"], dict)
    ):
        raise SlackError("invalid_metadata_format")
    return metadata


METHODS = {
    "chat.postMessage": post_message,
    "chat.postEphemeral": post_ephemeral,
    "chat.update": update,
    "chat.delete": delete,
    "chat.getPermalink": get_permalink,
}
