"""Answers that come through a response_url or in an acknowledgement."""

from typing import Any

from sandbox.slack.blocks import check_blocks
from sandbox.slack.errors import SlackError
from sandbox.slack.messages import Message
from sandbox.slack.tickets import ResponseAddress
from sandbox.slack.workspace import Workspace

Json = dict[str, Any]


def answer_with(workspace: Workspace, address: ResponseAddress, body: Json) -> Message | None:
    """What the answer left behind: a new or changed message, or None after a deletion.

    Raises:
        SlackError: `no_text`, `invalid_blocks`, or nothing to replace.
    """
    original = address.original
    if body.get("delete_original"):
        if original is None:
            raise SlackError("message_not_found")
        original.deleted = True
        return None
    text, blocks = str(body.get("text") or ""), body.get("blocks") or []
    if not text and not blocks:
        raise SlackError("no_text")
    check_blocks(blocks, "message")
    if body.get("replace_original") and original is not None and not original.deleted:
        workspace.messages.change(original, text=text, blocks=workspace.with_ids(blocks))
        return original
    in_channel = body.get("response_type") == "in_channel"
    posted = workspace.post(
        workspace.channels[address.channel],
        text=text,
        blocks=blocks,
        thread_ts=body.get("thread_ts"),
        only_for=None if in_channel else address.user,
        metadata=body.get("metadata") if in_channel else None,
    )
    if original is None:
        # A later replace_original of a command's address means the answer it gave first.
        address.original = posted
    return posted
