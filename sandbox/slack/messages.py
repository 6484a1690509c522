"""Every message of the simulated workspace, in order, with what became of it."""

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

Json = dict[str, Any]


@dataclass(slots=True, kw_only=True)
class Message:
    """One message; `only_for` names the one person who sees an ephemeral one."""

    channel: str
    ts: str
    user: str
    text: str
    blocks: list[Json]
    thread_ts: str | None = None
    only_for: str | None = None
    metadata: Json | None = None
    edited: bool = False
    deleted: bool = False
    earlier_blocks: list[list[Json]] = field(default_factory=list)

    def shown(self) -> Json:
        """The message as the control surface shows it."""
        return {
            "ts": self.ts,
            "thread_ts": self.thread_ts,
            "user": self.user,
            "text": self.text,
            "blocks": copy.deepcopy(self.blocks),
            "only_for": self.only_for,
            "edited": self.edited,
            "deleted": self.deleted,
            "metadata": copy.deepcopy(self.metadata),
        }


class MessageLog:
    """Messages of all channels; timestamps are unique and rise with the world's clock."""

    def __init__(self, *, now: Callable[[], datetime]) -> None:
        self._now = now
        self._last_microseconds = 0
        self._messages: list[Message] = []

    def post(
        self,
        channel: str,
        *,
        user: str,
        text: str,
        blocks: list[Json] | None = None,
        thread_ts: str | None = None,
        only_for: str | None = None,
        metadata: Json | None = None,
    ) -> Message:
        """The new message, stored."""
        message = Message(
            channel=channel,
            ts=self.next_ts(),
            user=user,
            text=text,
            blocks=blocks or [],
            thread_ts=thread_ts,
            only_for=only_for,
            metadata=metadata,
        )
        self._messages.append(message)
        return message

    def change(self, message: Message, *, text: str, blocks: list[Json]) -> None:
        """Replace what the message says; what it said before stays for stale clicks."""
        message.earlier_blocks.append(message.blocks)
        message.text, message.blocks, message.edited = text, blocks, True

    def find(self, channel: str, ts: str) -> Message | None:
        """The message, deleted or not, or None."""
        return next((m for m in self._messages if m.channel == channel and m.ts == ts), None)

    def visible(self, channel: str, user: str | None) -> list[Message]:
        """All messages of a channel that `user` (None: anyone) has seen, oldest first."""
        return [m for m in self._messages if m.channel == channel and m.only_for in (None, user)]

    def kept(self, channel: str) -> list[Message]:
        """What Slack itself keeps of a channel: no ephemerals, nothing deleted; oldest first."""
        return [
            m
            for m in self._messages
            if m.channel == channel and m.only_for is None and not m.deleted
        ]

    def next_ts(self) -> str:
        """A timestamp that no message has had, as Slack writes them."""
        since = self._now() - datetime.fromtimestamp(0, tz=self._now().tzinfo)
        self._last_microseconds = max(
            since // timedelta(microseconds=1), self._last_microseconds + 1
        )
        seconds, microseconds = divmod(self._last_microseconds, 1_000_000)
        return f"{seconds}.{microseconds:06d}"
