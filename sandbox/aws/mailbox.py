"""A queue of SQS as a value: what it holds, and what it gave up."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta


@dataclass(slots=True)
class Message:
    """One message; `handle` is that of its newest receive."""

    id: str
    body: str
    visible_at: datetime
    receives: int = 0
    handle: str = ""


@dataclass(slots=True)
class Queue:
    """A queue with what it holds and what it gave up."""

    account: str
    region: str
    name: str
    max_receives: int
    visibility: timedelta
    messages: list[Message] = field(default_factory=list)
    dead: list[Message] = field(default_factory=list)

    def receive(self, now: datetime, most: int, visibility: timedelta) -> list[Message]:
        """Take visible messages, oldest first; those received too often go to the dead."""
        taken: list[Message] = []
        for message in [one for one in self.messages if one.visible_at <= now]:
            if message.receives >= self.max_receives:
                self.messages.remove(message)
                self.dead.append(message)
                continue
            if len(taken) == most:
                break
            message.receives += 1
            message.visible_at = now + visibility
            message.handle = f"{message.id}/{message.receives}"
            taken.append(message)
        return taken
