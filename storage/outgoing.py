"""A row of the outbox as it is handed out."""

from dataclasses import dataclass
from datetime import datetime

from bot.domain.saying import Announcement

PASSING = ("note", "whisper", "digest")
"""Kinds of messages that are said once; the others live and are drawn anew."""


def numbered(subject: str) -> int | None:
    """Return the number in gpu-42; None when the subject is no reservation."""
    number = subject.removeprefix("gpu-")
    return int(number) if number != subject and number.isdecimal() else None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingMessage:
    """See bot.ports.Outgoing."""

    key: str
    announcement: Announcement
    attempt: int
    in_doubt: bool
    created_at: datetime
