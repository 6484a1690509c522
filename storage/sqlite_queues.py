"""What falls due, what is to be said and what came in, in SQLite. See bot.ports for each rule.

A claimed row carries its holder and a lease. It is free again when the lease has passed or the
holder's process is known to have ended, so that work goes on at once after a kill and a restart.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from bot.domain.errors import UnknownRecordError
from bot.domain.records import Delivery, Due, MessageRef
from bot.domain.saying import Announcement
from storage.bodies import body_of, maybe_time_of, maybe_time_text, time_of, time_text
from storage.holders import is_dead
from storage.outgoing import OutgoingMessage
from storage.session import Row, Session, Value, marks, number, text
from storage.sqlite_records import LIVE


def _free_the_dead(session: Session, table: str) -> None:
    """Give back what processes held that have ended."""
    rows = session.rows(f"select distinct holder from {table} where holder is not null")  # noqa: S608 - a table's name from this file
    for (holder,) in rows:
        if is_dead(text(holder), seen_by=session.holder):
            session.writing()(
                f"update {table} set holder = null, held_until = null where holder = ?",  # noqa: S608 - as above
                (holder,),
            )


class SqliteDues:
    """See bot.ports.Dues."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def plan(self, due: Due) -> bool:
        """See bot.ports."""
        cursor = self._session.writing()(
            "insert into due (key, kind, subject, at, not_before, argument, stale_after, state)"
            " values (?, ?, ?, ?, ?, ?, ?, 'open') on conflict (key) do nothing",
            (
                due.key,
                due.kind,
                due.subject,
                time_text(due.at),
                time_text(due.at),
                due.argument,
                maybe_time_text(due.stale_after),
            ),
        )
        return cursor.rowcount == 1

    def move(self, key: str, at: datetime) -> None:
        """See bot.ports. A claimed row is free again, at its new time."""
        self._session.writing()(
            "update due set at = ?, not_before = ?, holder = null, held_until = null"
            " where key = ? and state = 'open'",
            (time_text(at), time_text(at), key),
        )

    def claim(self, *, now: datetime, lease: timedelta, limit: int) -> Sequence[Due]:
        """See bot.ports."""
        write = self._session.writing()
        _free_the_dead(self._session, "due")
        present = time_text(now)
        rows = self._session.rows(
            "select id, key, kind, subject, at, argument, stale_after from due"
            " where state = 'open' and not_before <= ? and (holder is null or held_until <= ?)"
            " order by not_before, id limit ?",
            (present, present, limit),
        )
        for row in rows:
            write(
                "update due set holder = ?, held_until = ? where id = ?",
                (self._session.holder, time_text(now + lease), row[0]),
            )
        return tuple(_due(row) for row in rows)

    def done(self, key: str, *, at: datetime, outcome: str = "done") -> None:
        """See bot.ports. What was withdrawn stays withdrawn; unknown keys are ignored."""
        self._session.writing()(
            "update due set state = 'done', outcome = ?, settled_at = ?, holder = null,"
            " held_until = null where key = ? and state = 'open'",
            (outcome, time_text(at), key),
        )

    def put_back(self, key: str, *, not_before: datetime) -> None:
        """See bot.ports. The row keeps its own time."""
        self._session.writing()(
            "update due set not_before = ?, holder = null, held_until = null"
            " where key = ? and state = 'open'",
            (time_text(not_before), key),
        )

    def withdraw(self, subject: str, *, kinds: Collection[str] | None = None) -> int:
        """See bot.ports."""
        which, values = "", list[Value]()
        if kinds is not None:
            which, values = f" and kind in ({marks(len(kinds))})", list(kinds)
        cursor = self._session.writing()(
            "update due set state = 'withdrawn', holder = null, held_until = null"  # noqa: S608 - placeholders only
            f" where state = 'open' and subject = ?{which}",
            (subject, *values),
        )
        return cursor.rowcount

    def next_at(self, *, leaving_out: Collection[str] = ()) -> datetime | None:
        """See bot.ports."""
        which = f" and kind not in ({marks(len(leaving_out))})" if leaving_out else ""
        row = self._session.row(
            f"select min(not_before) from due where state = 'open'{which}",  # noqa: S608 - placeholders only
            tuple(leaving_out),
        )
        return None if row is None or row[0] is None else time_of(text(row[0]))

    def waiting(self, *, now: datetime) -> int:
        """See bot.ports."""
        row = self._session.row(
            "select count(*) from due where state = 'open' and not_before <= ?", (time_text(now),)
        )
        return 0 if row is None else number(row[0])

    def prune(self, *, before: datetime, limit: int) -> int:
        """See bot.ports."""
        cursor = self._session.writing()(
            "delete from due where id in (select id from due indexed by due_over"  # noqa: S608 - a condition from this package
            " where state <> 'open' and at < ? and not exists (select 1 from reservation"
            "  where due.subject glob 'gpu-[0-9]*'"
            f" and reservation.id = cast(substr(due.subject, 5) as integer) and {LIVE})"
            " limit ?)",
            (time_text(before), limit),
        )
        return cursor.rowcount


def _due(row: Row) -> Due:
    _, key, kind, subject, at, argument, stale_after = row
    return Due(
        key=text(key),
        kind=text(kind),
        subject=text(subject),
        at=time_of(text(at)),
        argument=text(argument),
        stale_after=maybe_time_of(None if stale_after is None else text(stale_after)),
    )


_IN_ORDER = (
    "select this.id, this.key, this.announcement, this.attempt, this.doubt, this.created_at"
    " from outbox as this where this.state = 'waiting' and this.not_before <= :now"
    " and (this.holder is null or this.held_until <= :now)"
    " and not exists (select 1 from outbox as other where other.state = 'waiting'"
    "  and other.lane = this.lane and other.id <> this.id"
    "  and ((other.holder is not null and other.held_until > :now)"
    "   or (other.position < this.position"
    "    and (other.attempt > 0 or other.not_before <= :now))))"
    " and not exists (select 1 from outbox as card where card.key = this.thread"
    "  and card.key <> this.key and card.state = 'waiting' and card.channel is null)"
    " order by this.position limit :limit"
)
"""What may leave: nothing of its lane is out, and nothing earlier in its lane still has to leave,
and the card it belongs under has been posted.

An earlier row that was put in for a later time, and never tried, does not hold up the others.
"""

LEAVING = (
    "select count(*) from outbox as this where this.state = 'waiting' and this.not_before <= :now"
    " and (this.holder is not null or not exists (select 1 from outbox as other"
    "  where other.state = 'waiting' and other.lane = this.lane and other.id <> this.id"
    "  and other.holder is null and other.not_before > :now"
    "  and ((other.attempt > 0 and other.position < this.position)"
    "   or (other.key = this.thread and other.channel is null))))"
)
"""How many are out or may leave: not what stands behind a message that was put back for later."""

OVER = (
    "state <> 'waiting' and json_extract(announcement, '$.kind') in ('note', 'whisper', 'digest')"
)
"""The condition of the index of messages that were said once, word for word."""

_NEXT = (
    "select min(case when this.holder is null then this.not_before"
    " else max(this.not_before, this.held_until) end)"
    " from outbox as this where this.state = 'waiting'"
    " and not exists (select 1 from outbox as other where other.state = 'waiting'"
    "  and other.lane = this.lane and other.id <> this.id"
    "  and (other.holder is not null or (other.position < this.position"
    "   and (other.attempt > 0 or other.not_before <= this.not_before))))"
    " and not exists (select 1 from outbox as card where card.key = this.thread"
    "  and card.key <> this.key and card.state = 'waiting' and card.channel is null)"
)


class SqliteOutbox:
    """See bot.ports.Outbox."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def put(
        self,
        key: str,
        announcement: Announcement,
        *,
        at: datetime,
        not_before: datetime | None = None,
    ) -> bool:
        """See bot.ports."""
        write = self._session.writing()
        if self._session.row("select 1 from outbox where key = ?", (key,)):
            return False
        write(
            "insert into outbox (key, lane, thread, position, announcement, state, not_before,"
            " created_at) values (?, ?, ?, ?, ?, 'waiting', ?, ?)",
            (
                key,
                announcement.thread or key,
                announcement.thread,
                self._last_position() + 1,
                body_of(announcement),
                time_text(not_before or at),
                time_text(at),
            ),
        )
        return True

    def redraw(self, key: str, announcement: Announcement, *, at: datetime) -> None:
        """See bot.ports. One that is waiting keeps its place; a settled one goes to the end."""
        write = self._session.writing()
        if self.put(key, announcement, at=at):
            return
        body, lane = body_of(announcement), announcement.thread or key
        merged = write(
            "update outbox set announcement = ?, lane = ?, thread = ?,"
            " again = (holder is not null) where key = ? and state = 'waiting'",
            (body, lane, announcement.thread, key),
        )
        if merged.rowcount:
            return
        # A first post that was given up in doubt may be there: it is still looked for from then.
        write(
            "update outbox set announcement = ?, lane = ?, thread = ?, state = 'waiting',"
            " attempt = 0, again = 0,"
            " doubt = (doubt and channel is null), position = ?, not_before = ?,"
            " created_at = iif(doubt and channel is null, created_at, ?), error = '',"
            " settled_at = null where key = ?",
            (
                body,
                lane,
                announcement.thread,
                self._last_position() + 1,
                time_text(at),
                time_text(at),
                key,
            ),
        )

    def claim(self, *, now: datetime, lease: timedelta, limit: int) -> Sequence[OutgoingMessage]:
        """See bot.ports."""
        write = self._session.writing()
        _free_the_dead(self._session, "outbox")
        rows = self._session.named(_IN_ORDER, {"now": time_text(now), "limit": limit})
        for row in rows:
            write(
                "update outbox set holder = ?, held_until = ?, attempt = attempt + 1, doubt = 1,"
                " again = 0 where id = ?",
                (self._session.holder, time_text(now + lease), row[0]),
            )
        return tuple(_outgoing(row) for row in rows)

    def sent(self, key: str, *, at: datetime, ref: MessageRef | None) -> None:
        """See bot.ports. Without a `ref` the known place stays."""
        write = self._session.writing()
        if ref is not None:
            write("update outbox set channel = ?, ts = ? where key = ?", (ref.channel, ref.ts, key))
        write(
            "update outbox set state = iif(again, 'waiting', 'sent'), settled_at = ?, doubt = 0,"
            " attempt = 0, again = 0, error = '', holder = null, held_until = null"
            " where key = ? and state = 'waiting'",
            (time_text(at), key),
        )

    def put_back(self, key: str, *, not_before: datetime, in_doubt: bool, error: str) -> None:
        """See bot.ports."""
        self._session.writing()(
            "update outbox set not_before = ?, doubt = ?, error = ?, again = 0, holder = null,"
            " held_until = null where key = ? and state = 'waiting'",
            (time_text(not_before), int(in_doubt), error, key),
        )

    def drop(self, key: str, *, at: datetime, error: str) -> None:
        """See bot.ports. A redraw that came meanwhile stays queued."""
        self._session.writing()(
            "update outbox set state = iif(again, 'waiting', 'dropped'), settled_at = ?,"
            " error = ?, attempt = 0, again = 0, holder = null, held_until = null"
            " where key = ? and state = 'waiting'",
            (time_text(at), error, key),
        )

    def where(self, key: str) -> MessageRef | None:
        """See bot.ports."""
        row = self._session.row(
            "select channel, ts from outbox where key = ? and channel is not null", (key,)
        )
        return None if row is None else MessageRef(channel=text(row[0]), ts=text(row[1]))

    def waiting(self, *, now: datetime) -> int:
        """See bot.ports. Counts what is out, too."""
        [row] = self._session.named(LEAVING, {"now": time_text(now)})
        return number(row[0])

    def next_at(self) -> datetime | None:
        """See bot.ports. What is out may leave again when its lease ends."""
        row = self._session.row(_NEXT)
        return None if row is None or row[0] is None else time_of(text(row[0]))

    def prune(self, *, before: datetime, untied_before: datetime, limit: int) -> int:
        """See bot.ports. The newest row stays: positions count on from it."""
        cursor = self._session.writing()(
            "delete from outbox where id in (select id from outbox as this indexed by outbox_over"  # noqa: S608 - a condition from this package
            f" where {OVER} and settled_at < iif(json_extract(announcement, '$.reservation_id')"
            "  is null, min(?1, ?2), ?1) and settled_at < ?1"
            " and not exists (select 1 from reservation"
            f"  where id = json_extract(this.announcement, '$.reservation_id') and {LIVE})"
            " and position < (select max(position) from outbox) limit ?3)",
            (time_text(before), time_text(untied_before), limit),
        )
        return cursor.rowcount

    def _last_position(self) -> int:
        row = self._session.row("select position from outbox order by position desc limit 1")
        return 0 if row is None else number(row[0])


def _outgoing(row: Row) -> OutgoingMessage:
    _, key, announcement, attempt, doubt, created_at = row
    return OutgoingMessage(
        key=text(key),
        announcement=Announcement.model_validate_json(text(announcement)),
        attempt=number(attempt) + 1,
        in_doubt=bool(doubt),
        created_at=time_of(text(created_at)),
    )


_DELIVERY = "select id, key, kind, body, received_at, late from inbox"


class SqliteInbox:
    """See bot.ports.Inbox."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def get(self, delivery_id: int) -> Delivery:
        """See bot.ports."""
        row = self._session.row(f"{_DELIVERY} where id = ?", (delivery_id,))
        if row is None:
            raise UnknownRecordError(f"there is no delivery {delivery_id}")
        return _delivery(row)

    def claim(self, *, now: datetime, lease: timedelta, limit: int) -> Sequence[Delivery]:
        """See bot.ports. Late ones wait for their confirmation."""
        write = self._session.writing()
        _free_the_dead(self._session, "inbox")
        rows = self._session.rows(
            f"{_DELIVERY} where state = 'waiting' and late = 0"
            " and (holder is null or held_until <= ?) order by id limit ?",
            (time_text(now), limit),
        )
        for row in rows:
            write(
                "update inbox set holder = ?, held_until = ? where id = ?",
                (self._session.holder, time_text(now + lease), row[0]),
            )
        return tuple(_delivery(row) for row in rows)

    def done(self, delivery_id: int, *, outcome: str) -> None:
        """See bot.ports."""
        self._session.writing()(
            "update inbox set state = 'done', outcome = ?, holder = null, held_until = null"
            " where id = ? and state = 'waiting'",
            (outcome, delivery_id),
        )

    def confirm(self, delivery_id: int) -> bool:
        """See bot.ports."""
        cursor = self._session.writing()(
            "update inbox set late = 0 where id = ? and late = 1 and state = 'waiting'",
            (delivery_id,),
        )
        return cursor.rowcount == 1

    def waiting(self) -> int:
        """See bot.ports."""
        row = self._session.row("select count(*) from inbox where state = 'waiting' and late = 0")
        return 0 if row is None else number(row[0])

    def find(self, key: str) -> Delivery | None:
        """See bot.ports."""
        row = self._session.row(f"{_DELIVERY} where key = ?", (key,))
        return None if row is None else _delivery(row)

    def prune(self, *, before: datetime, limit: int) -> int:
        """See bot.ports."""
        cursor = self._session.writing()(
            "delete from inbox where id in (select id from inbox indexed by inbox_over"
            " where state = 'done' and received_at < ? limit ?)",
            (time_text(before), limit),
        )
        return cursor.rowcount


def _delivery(row: Row) -> Delivery:
    delivery_id, key, kind, body, received_at, late = row
    return Delivery.model_validate(
        {
            "id": delivery_id,
            "key": key,
            "kind": kind,
            "body": body,
            "received_at": time_of(text(received_at)),
            "late": bool(late),
        }
    )
