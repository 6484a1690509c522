"""The state of the simulated workspace, shared by its Web API and by what its people do."""

import itertools
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sandbox.slack.blocks import with_ids
from sandbox.slack.errors import SlackError
from sandbox.slack.faults import Faults
from sandbox.slack.messages import Message, MessageLog
from sandbox.slack.people import (
    APP_ID,
    BOT_USER_ID,
    Channel,
    Person,
    UserGroup,
    default_channels,
    default_groups,
)
from sandbox.slack.tickets import ResponseAddresses, Triggers
from sandbox.slack.views import Views

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Credentials:
    """What the bot proves itself with; made up anew for every world."""

    bot_token: str
    app_token: str
    signing_secret: str

    @classmethod
    def fresh(cls) -> "Credentials":
        """Random credentials in Slack's forms."""
        return cls(
            bot_token=f"xoxb-1000000000001-1000000000002-{secrets.token_hex(12)}",
            app_token=f"xapp-1-{APP_ID}-1000000000003-{secrets.token_hex(32)}",
            signing_secret=secrets.token_hex(16),
        )


class Workspace:
    """People, channels, messages, views and everything Slack has handed out."""

    def __init__(
        self,
        *,
        people: Sequence[Person],
        now: Callable[[], datetime],
        credentials: Credentials | None = None,
        groups: Sequence[UserGroup] | None = None,
        scopes: frozenset[str] | None = None,
    ) -> None:
        self.now = now
        self.scopes = scopes
        self.credentials = credentials or Credentials.fresh()
        self.people = {person.id: person for person in people}
        self.channels = {c.id: c for c in default_channels(tuple(people))}
        self.groups = {g.id: g for g in (default_groups() if groups is None else groups)}
        self.messages = MessageLog(now=now)
        self.views = Views()
        self.triggers = Triggers()
        self.responses = ResponseAddresses(now=now)
        self.faults = Faults()
        self._fresh = itertools.count(1)

    def channel(self, given: Any) -> Channel:
        """The channel by id, name, or the person whose direct messages they are.

        Raises:
            SlackError: `channel_not_found`.
        """
        if isinstance(given, str):
            if given in self.channels:
                return self.channels[given]
            if given in self.people and not self.people[given].deleted:
                return self.channels[self.people[given].direct_channel]
            for channel in self.channels.values():
                if channel.kind == "channel" and channel.name == given.removeprefix("#"):
                    return channel
        raise SlackError("channel_not_found")

    def person(self, given: Any) -> Person:
        """The person with this id.

        Raises:
            SlackError: `user_not_found`.
        """
        if given not in self.people:
            raise SlackError("user_not_found")
        return self.people[given]

    def post(
        self,
        channel: Channel,
        *,
        text: str,
        blocks: list[Json],
        thread_ts: str | None = None,
        only_for: str | None = None,
        metadata: Json | None = None,
        user: str = BOT_USER_ID,
    ) -> Message:
        """The new message; a reply to a reply goes under its root.

        Raises:
            SlackError: `thread_not_found`.
        """
        if thread_ts is not None:
            root = self.messages.find(channel.id, thread_ts)
            if root is None or (root.only_for is not None and only_for is None):
                raise SlackError("thread_not_found")
            thread_ts = root.thread_ts or root.ts
        return self.messages.post(
            channel.id,
            user=user,
            text=text,
            blocks=self.with_ids(blocks),
            thread_ts=thread_ts,
            only_for=only_for,
            metadata=metadata,
        )

    def with_ids(self, blocks: list[Json]) -> list[Json]:
        """The blocks with ids that this workspace has not used yet."""
        return with_ids(blocks, f"m{next(self._fresh)}.")
