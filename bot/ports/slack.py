"""What the services ask of Slack."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Protocol

from bot.domain.records import MessageRef, Person
from bot.domain.saying import Announcement


class Messenger(Protocol):
    """Says things to people. `key` travels with a message, so that it can be found again."""

    def post(self, key: str, announcement: Announcement, *, under: MessageRef | None) -> MessageRef:
        """Post a new message, under a thread when `under` is given, and return where it is.

        Raises DeliveryError (not posted) or DeliveryDoubtError (may be posted).
        """

    def find(
        self, key: str, announcement: Announcement, *, under: MessageRef | None, since: datetime
    ) -> MessageRef | None:
        """Return the message that carries the key, if Slack holds one. Raises DeliveryError."""

    def update(self, key: str, at: MessageRef, announcement: Announcement) -> None:
        """Draw the message anew; repeating it is harmless. Raises DeliveryError."""

    def whisper(self, announcement: Announcement) -> None:
        """Show it to one person in a channel only, at most once. Raises DeliveryError."""


class People(Protocol):
    """Who somebody is, by Slack's own word."""

    def person(self, user_id: str, *, max_age: timedelta) -> Person:
        """Return the person, read again when older than `max_age`. Raises DeliveryError."""

    def members(self, group_id: str, *, max_age: timedelta) -> Collection[str]:
        """Return the user ids in a user group (S…). Raises DeliveryError."""
