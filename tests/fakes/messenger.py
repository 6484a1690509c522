"""A channel that keeps what was said, with faults on demand."""

from datetime import datetime

from bot.domain.errors import DeliveryDoubtError, DeliveryError
from bot.domain.records import MessageRef
from bot.domain.saying import Announcement


class FakeMessenger:
    """See bot.ports.Messenger. `faults` are used up, one a post: "refuse", "lost-answer"."""

    def __init__(self) -> None:
        self.said: dict[str, Announcement] = {}
        self.places: dict[str, MessageRef] = {}
        self.whispers: list[Announcement] = []
        self.posts = 0
        self.faults: list[str] = []

    def post(self, key: str, announcement: Announcement, *, under: MessageRef | None) -> MessageRef:
        fault = self.faults.pop(0) if self.faults else ""
        if fault == "refuse":
            raise DeliveryError("ratelimited", retry_after_seconds=30)
        self.posts += 1
        to = announcement.to
        place = MessageRef(channel=to.channel or f"D{to.user}", ts=f"{self.posts}.000100")
        self.said[key] = announcement
        self.places[key] = place
        if fault == "lost-answer":
            raise DeliveryDoubtError("timeout")
        return place

    def find(
        self, key: str, announcement: Announcement, *, under: MessageRef | None, since: datetime
    ) -> MessageRef | None:
        return self.places.get(key)

    def update(self, key: str, at: MessageRef, announcement: Announcement) -> None:
        if at not in self.places.values():
            raise DeliveryError("message_not_found")
        self.said[key] = announcement

    def whisper(self, announcement: Announcement) -> None:
        self.whispers.append(announcement)
