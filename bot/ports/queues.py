"""What waits to be done, said or worked off, within one transaction."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from bot.domain.records import Delivery, Due, MessageRef
from bot.domain.saying import Announcement


class Dues(Protocol):
    """What falls due."""

    def plan(self, due: Due) -> bool:
        """Store it unless its key is known (done ones too); return whether it is new."""

    def move(self, key: str, at: datetime) -> None:
        """Change the time of one that is not done; unknown keys are ignored."""

    def claim(self, *, now: datetime, lease: timedelta, limit: int) -> Sequence[Due]:
        """Take rows due by now that nobody holds, oldest first; held until now + lease."""

    def done(self, key: str, *, at: datetime, outcome: str = "done") -> None:
        """Mark one as done; it never comes back and its key stays taken."""

    def put_back(self, key: str, *, not_before: datetime) -> None:
        """Give a claimed row back, to be claimed again at that time; a done row stays done."""

    def withdraw(self, subject: str, *, kinds: Collection[str] | None = None) -> int:
        """Mark the subject's rows that are not done as withdrawn; return how many."""

    def next_at(self, *, leaving_out: Collection[str] = ()) -> datetime | None:
        """Return when the next row that is not done falls due (held ones too).

        Rows of the kinds to be left out don't count.
        """

    def waiting(self, *, now: datetime) -> int:
        """Return how many rows are due by now and not done."""

    def prune(self, *, before: datetime, limit: int) -> int:
        """Forget at most so many rows, due before then and not open; return how many.

        Rows about a live reservation stay: their keys may be planned again.
        """


class Outgoing(Protocol):
    """One row of the outbox as it is handed out. `attempt` counts from 1."""

    @property
    def key(self) -> str:
        """Return what makes the message unique."""

    @property
    def announcement(self) -> Announcement:
        """Return what is to be said."""

    @property
    def attempt(self) -> int:
        """Return which attempt this is."""

    @property
    def in_doubt(self) -> bool:
        """Return whether an earlier attempt may have arrived."""

    @property
    def created_at(self) -> datetime:
        """Return when it was put in."""


class Outbox(Protocol):
    """What is to be said. Rows of one lane (card, thread) leave in the order they came."""

    def put(
        self,
        key: str,
        announcement: Announcement,
        *,
        at: datetime,
        not_before: datetime | None = None,
    ) -> bool:
        """Queue a message once; return False when the key is known already."""

    def redraw(self, key: str, announcement: Announcement, *, at: datetime) -> None:
        """Queue a living message to be posted (first time) or drawn anew; waiting ones merge."""

    def claim(self, *, now: datetime, lease: timedelta, limit: int) -> Sequence[Outgoing]:
        """Take messages that may leave now, marked as in doubt until they are settled."""

    def sent(self, key: str, *, at: datetime, ref: MessageRef | None) -> None:
        """Settle one as delivered. A redraw that came meanwhile stays queued."""

    def put_back(self, key: str, *, not_before: datetime, in_doubt: bool, error: str) -> None:
        """Give one back to be tried later."""

    def drop(self, key: str, *, at: datetime, error: str) -> None:
        """Give one up, with the reason."""

    def where(self, key: str) -> MessageRef | None:
        """Return where the message with that key is, if it was delivered."""

    def waiting(self, *, now: datetime) -> int:
        """Return how many messages may leave now and have not."""

    def next_at(self) -> datetime | None:
        """Return when the next message may leave."""

    def prune(self, *, before: datetime, untied_before: datetime, limit: int) -> int:
        """Forget at most so many messages that were settled before then; return how many.

        Living messages stay, because they may be drawn anew, and so do those about a live
        reservation, because their keys may come again. What is about no reservation goes when it
        was settled before `untied_before`.
        """


class Inbox(Protocol):
    """Deliveries that were recorded and are to be worked on."""

    def get(self, delivery_id: int) -> Delivery:
        """Return one. Raises UnknownRecordError."""

    def claim(self, *, now: datetime, lease: timedelta, limit: int) -> Sequence[Delivery]:
        """Take deliveries that nobody works on, oldest first."""

    def done(self, delivery_id: int, *, outcome: str) -> None:
        """Mark one as worked on."""

    def confirm(self, delivery_id: int) -> bool:
        """Make a late one workable; return False when it was confirmed or is no longer late."""

    def waiting(self) -> int:
        """Return how many deliveries are not worked on yet (late ones apart)."""

    def find(self, key: str) -> Delivery | None:
        """Return the delivery with that key, worked on or not."""

    def prune(self, *, before: datetime, limit: int) -> int:
        """Forget at most so many that were worked on and received before then; say how many."""
