"""A row of the outbox as it is handed out."""

from dataclasses import dataclass
from datetime import datetime

from bot.domain.saying import Announcement


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingMessage:
    """See bot.ports.Outgoing."""

    key: str
    announcement: Announcement
    attempt: int
    in_doubt: bool
    created_at: datetime
