"""What falls due, what is to be said and what came in, over plain dicts. See bot.ports."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bot.domain.errors import UnknownRecordError
from bot.domain.records import Delivery, Due, MessageRef
from bot.domain.saying import Announcement
from storage.memory_books import Desk, DueRow, Hold, InRow, OutRow
from storage.outgoing import PASSING, OutgoingMessage, numbered


def _is_free(hold: Hold | None, now: datetime, desk: Desk) -> bool:
    return hold is None or not hold.binds(now, seen_by=desk.holder)


class MemoryDues:
    """See bot.ports.Dues."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def plan(self, due: Due) -> bool:
        """See bot.ports."""
        books = self._desk.writing()
        if due.key in books.dues:
            return False
        books.dues[due.key] = DueRow(due, due.at)
        return True

    def move(self, key: str, at: datetime) -> None:
        """See bot.ports. A claimed row is free again, at its new time."""
        books = self._desk.writing()
        row = books.dues.get(key)
        if row is not None and row.state == "open":
            books.dues[key] = DueRow(row.due.model_copy(update={"at": at}), at)

    def claim(self, *, now: datetime, lease: timedelta, limit: int) -> Sequence[Due]:
        """See bot.ports."""
        books = self._desk.writing()
        ready = [
            row
            for row in self._open()
            if row.not_before <= now and _is_free(row.hold, now, self._desk)
        ]
        ready.sort(key=lambda row: row.not_before)
        for row in ready[:limit]:
            hold = Hold(self._desk.holder, now + lease)
            books.dues[row.due.key] = replace(row, hold=hold)
        return tuple(row.due for row in ready[:limit])

    def done(self, key: str, *, at: datetime, outcome: str = "done") -> None:
        """See bot.ports. What was withdrawn stays withdrawn; unknown keys are ignored."""
        books = self._desk.writing()
        row = books.dues.get(key)
        if row is not None and row.state == "open":
            books.dues[key] = replace(row, state=f"done: {outcome} {at}", hold=None)

    def put_back(self, key: str, *, not_before: datetime) -> None:
        """See bot.ports. The row keeps its own time."""
        books = self._desk.writing()
        row = books.dues.get(key)
        if row is not None and row.state == "open":
            books.dues[key] = DueRow(row.due, not_before)

    def withdraw(self, subject: str, *, kinds: Collection[str] | None = None) -> int:
        """See bot.ports."""
        books = self._desk.writing()
        gone = [
            row
            for row in self._open()
            if row.due.subject == subject and (kinds is None or row.due.kind in kinds)
        ]
        for row in gone:
            books.dues[row.due.key] = replace(row, state="withdrawn", hold=None)
        return len(gone)

    def next_at(self, *, leaving_out: Collection[str] = ()) -> datetime | None:
        """See bot.ports."""
        open_rows = (row for row in self._open() if row.due.kind not in leaving_out)
        return min((row.not_before for row in open_rows), default=None)

    def waiting(self, *, now: datetime) -> int:
        """See bot.ports."""
        return sum(row.not_before <= now for row in self._open())

    def prune(self, *, before: datetime, limit: int) -> int:
        """See bot.ports."""
        books = self._desk.writing()
        old = [
            key
            for key, row in books.dues.items()
            if row.state != "open"
            and row.due.at < before
            and not books.is_live(numbered(row.due.subject))
        ]
        for key in old[:limit]:
            del books.dues[key]
        return len(old[:limit])

    def _open(self) -> list[DueRow]:
        return [row for row in self._desk.reading().dues.values() if row.state == "open"]


class MemoryOutbox:
    """See bot.ports.Outbox."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def put(
        self,
        key: str,
        announcement: Announcement,
        *,
        at: datetime,
        not_before: datetime | None = None,
    ) -> bool:
        """See bot.ports."""
        books = self._desk.writing()
        if key in books.outbox:
            return False
        books.outbox[key] = OutRow(
            key=key,
            announcement=announcement,
            position=books.next_number("position"),
            not_before=not_before or at,
            created_at=at,
        )
        return True

    def redraw(self, key: str, announcement: Announcement, *, at: datetime) -> None:
        """See bot.ports. One that is waiting keeps its place; a settled one goes to the end."""
        books = self._desk.writing()
        if self.put(key, announcement, at=at):
            return
        row = books.outbox[key]
        if row.state == "waiting":
            again = row.hold is not None
            books.outbox[key] = replace(row, announcement=announcement, again=again)
            return
        # A first post that was given up in doubt may be there: it is still looked for from then.
        doubt = row.doubt and row.ref is None
        books.outbox[key] = OutRow(
            key=key,
            announcement=announcement,
            position=books.next_number("position"),
            not_before=at,
            created_at=row.created_at if doubt else at,
            doubt=doubt,
            ref=row.ref,
        )

    def claim(self, *, now: datetime, lease: timedelta, limit: int) -> Sequence[OutgoingMessage]:
        """See bot.ports."""
        books = self._desk.writing()
        leaving: list[OutRow] = []
        blocked: set[str] = set()
        waiting = self._waiting()
        for row in waiting:
            if not _is_free(row.hold, now, self._desk):
                blocked.add(row.lane)
        for row in waiting:
            if row.lane in blocked or len(leaving) == limit:
                continue
            if row.not_before > now:
                # Put in for later, it lets others pass; put back after a try, it does not.
                if row.attempt:
                    blocked.add(row.lane)
                continue
            blocked.add(row.lane)
            if not self._needs_card(row):
                leaving.append(row)
        for row in leaving:
            books.outbox[row.key] = replace(
                row,
                attempt=row.attempt + 1,
                doubt=True,
                again=False,
                hold=Hold(self._desk.holder, now + lease),
            )
        return tuple(
            OutgoingMessage(
                key=row.key,
                announcement=row.announcement,
                attempt=row.attempt + 1,
                in_doubt=row.doubt,
                created_at=row.created_at,
            )
            for row in leaving
        )

    def sent(self, key: str, *, at: datetime, ref: MessageRef | None) -> None:
        """See bot.ports. Without a `ref` the known place stays."""
        books = self._desk.writing()
        row = books.outbox.get(key)
        if row is None:
            return
        row = replace(row, ref=ref or row.ref)
        if row.state == "waiting":
            row = self._settled(row, "sent", at=at, error="", doubt=False)
        books.outbox[key] = row

    def put_back(self, key: str, *, not_before: datetime, in_doubt: bool, error: str) -> None:
        """See bot.ports."""
        books = self._desk.writing()
        row = books.outbox.get(key)
        if row is not None and row.state == "waiting":
            books.outbox[key] = replace(
                row, not_before=not_before, doubt=in_doubt, error=error, again=False, hold=None
            )

    def drop(self, key: str, *, at: datetime, error: str) -> None:
        """See bot.ports. A redraw that came meanwhile stays queued."""
        books = self._desk.writing()
        row = books.outbox.get(key)
        if row is not None and row.state == "waiting":
            books.outbox[key] = self._settled(row, "dropped", at=at, error=error, doubt=row.doubt)

    def where(self, key: str) -> MessageRef | None:
        """See bot.ports."""
        row = self._desk.reading().outbox.get(key)
        return None if row is None else row.ref

    def waiting(self, *, now: datetime) -> int:
        """See bot.ports. Counts what is out, too."""
        waiting = self._waiting()
        later = [row for row in waiting if row.hold is None and row.not_before > now]
        return sum(
            row.not_before <= now
            and (row.hold is not None or not any(_holds_up(other, row) for other in later))
            for row in waiting
        )

    def next_at(self) -> datetime | None:
        """See bot.ports. What is out may leave again when its lease ends."""
        times: list[datetime] = []
        waiting = self._waiting()
        held = {row.lane: row.key for row in waiting if row.hold is not None}
        for row in waiting:
            earlier = [
                other
                for other in waiting
                if other.lane == row.lane
                and other.position < row.position
                and (other.attempt or other.not_before <= row.not_before)
            ]
            if earlier or held.get(row.lane, row.key) != row.key or self._needs_card(row):
                continue
            times.append(
                row.not_before if row.hold is None else max(row.not_before, row.hold.until)
            )
        return min(times, default=None)

    def prune(self, *, before: datetime, untied_before: datetime, limit: int) -> int:
        """See bot.ports."""
        books = self._desk.writing()
        old: list[str] = []
        for key, row in books.outbox.items():
            about = row.announcement.reservation_id
            bound = untied_before if about is None else before
            if (
                row.state != "waiting"
                and row.announcement.kind in PASSING
                and row.settled_at is not None
                and row.settled_at < bound
                and not books.is_live(about)
            ):
                old.append(key)
        for key in old[:limit]:
            del books.outbox[key]
        return len(old[:limit])

    def _settled(self, row: OutRow, state: str, *, at: datetime, error: str, doubt: bool) -> OutRow:
        return replace(
            row,
            state="waiting" if row.again else state,
            settled_at=at,
            error=error,
            doubt=doubt,
            attempt=0,
            again=False,
            hold=None,
        )

    def _needs_card(self, row: OutRow) -> bool:
        """Return whether the card that the note belongs under has not been posted."""
        thread = row.announcement.thread
        card = None if thread is None else self._desk.reading().outbox.get(thread)
        return (
            card is not None
            and card.key != row.key
            and card.state == "waiting"
            and card.ref is None
        )

    def _waiting(self) -> list[OutRow]:
        rows = self._desk.reading().outbox.values()
        return sorted((row for row in rows if row.state == "waiting"), key=lambda row: row.position)


def _holds_up(other: OutRow, row: OutRow) -> bool:
    """Return whether `other`, which may leave later only, lets `row` wait until then."""
    card = other.key == row.announcement.thread and other.ref is None
    tried = other.attempt > 0 and other.position < row.position
    return other.lane == row.lane and other.key != row.key and (card or tried)


class MemoryInbox:
    """See bot.ports.Inbox."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def get(self, delivery_id: int) -> Delivery:
        """See bot.ports."""
        return self._row(delivery_id).delivery

    def claim(self, *, now: datetime, lease: timedelta, limit: int) -> Sequence[Delivery]:
        """See bot.ports. Late ones wait for their confirmation."""
        books = self._desk.writing()
        ready = [row for row in self._workable() if _is_free(row.hold, now, self._desk)][:limit]
        for row in ready:
            hold = Hold(self._desk.holder, now + lease)
            books.inbox[row.delivery.key] = replace(row, hold=hold)
        return tuple(row.delivery for row in ready)

    def done(self, delivery_id: int, *, outcome: str) -> None:
        """See bot.ports."""
        books = self._desk.writing()
        for key, row in tuple(books.inbox.items()):
            if row.delivery.id == delivery_id:
                books.inbox[key] = replace(row, done=True, outcome=outcome, hold=None)

    def confirm(self, delivery_id: int) -> bool:
        """See bot.ports."""
        books = self._desk.writing()
        for key, row in tuple(books.inbox.items()):
            if row.delivery.id == delivery_id and row.delivery.late and not row.done:
                punctual = row.delivery.model_copy(update={"late": False})
                books.inbox[key] = replace(row, delivery=punctual)
                return True
        return False

    def waiting(self) -> int:
        """See bot.ports."""
        return len(self._workable())

    def find(self, key: str) -> Delivery | None:
        """See bot.ports."""
        row = self._desk.reading().inbox.get(key)
        return None if row is None else row.delivery

    def prune(self, *, before: datetime, limit: int) -> int:
        """See bot.ports."""
        books = self._desk.writing()
        old = [
            key
            for key, row in books.inbox.items()
            if row.done and row.delivery.received_at < before
        ]
        for key in old[:limit]:
            del books.inbox[key]
        return len(old[:limit])

    def _workable(self) -> list[InRow]:
        rows = self._desk.reading().inbox.values()
        return [row for row in rows if not row.done and not row.delivery.late]

    def _row(self, delivery_id: int) -> InRow:
        for row in self._desk.reading().inbox.values():
            if row.delivery.id == delivery_id:
                return row
        raise UnknownRecordError(f"there is no delivery {delivery_id}")
