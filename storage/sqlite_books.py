"""The audit and small facts in SQLite. See bot.ports for each rule."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache

from pydantic import TypeAdapter

from bot.domain.records import AuditEntry
from storage import chain
from storage.bodies import time_of, time_text
from storage.session import Row, Session, number, text

_ENTRY = "select at, actor, action, reservation_id, purchase_id, facts"


class SqliteAudit:
    """See bot.ports.Audit."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def append(self, entry: AuditEntry) -> None:
        """See bot.ports."""
        write = self._session.writing()
        last = self._session.row("select hash from audit where id = (select max(id) from audit)")
        previous = chain.FIRST if last is None else text(last[0])
        write(
            "insert into audit (at, actor, action, reservation_id, purchase_id, facts, previous,"
            " hash) values (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                time_text(entry.at),
                entry.actor,
                entry.action,
                entry.reservation_id,
                entry.purchase_id,
                json.dumps(entry.facts, ensure_ascii=False, separators=(",", ":")),
                previous,
                chain.link(previous, entry),
            ),
        )

    def of(self, reservation_id: int, *, limit: int = 100) -> Sequence[AuditEntry]:
        """See bot.ports. The newest `limit` of them."""
        rows = self._session.rows(
            f"{_ENTRY} from audit where reservation_id = ? order by id desc limit ?",
            (reservation_id, limit),
        )
        return _entries().validate_python([_words(row) for row in reversed(rows)])

    def verify(self) -> Sequence[str]:
        """See bot.ports."""
        problems: list[str] = []
        previous, expected = chain.FIRST, 1
        for row in self._session.stream(f"{_ENTRY}, id, previous, hash from audit order by id"):
            *_, place, before, own = row
            problems += [chain.missing(lost) for lost in range(expected, place)]
            if before != previous:
                problems.append(chain.unlinked(place))
            if not _holds(row):
                problems.append(chain.changed(place))
            previous, expected = own, place + 1
        # SQLite remembers the highest id that was ever given, so a lost end shows as well.
        given = self._session.row("select seq from sqlite_sequence where name = 'audit'")
        last = expected - 1 if given is None else number(given[0])
        return (*problems, *(chain.missing(lost) for lost in range(expected, last + 1)))


def _holds(row: Row) -> bool:
    try:
        return chain.link(text(row[7]), _entry(row)) == row[8]
    except ValueError:
        return False


def _entry(row: Row) -> AuditEntry:
    return AuditEntry.model_validate(_words(row))


@cache
def _entries() -> TypeAdapter[tuple[AuditEntry, ...]]:
    return TypeAdapter(tuple[AuditEntry, ...])


def _words(row: Row) -> dict[str, object]:
    at, actor, action, reservation_id, purchase_id, facts, *_ = row
    return {
        "at": time_of(text(at)),
        "actor": actor,
        "action": action,
        "reservation_id": reservation_id,
        "purchase_id": purchase_id,
        "facts": json.loads(text(facts)),
    }


class SqliteFacts:
    """See bot.ports.Facts."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def get(self, name: str) -> str | None:
        """See bot.ports."""
        row = self._session.row("select value from fact where name = ?", (name,))
        return None if row is None else text(row[0])

    def put(self, name: str, value: str, *, at: datetime) -> None:
        """See bot.ports."""
        self._session.writing()(
            "insert into fact (name, value, at) values (?, ?, ?)"
            " on conflict (name) do update set value = excluded.value, at = excluded.at",
            (name, value, time_text(at)),
        )

    def starting_with(self, prefix: str) -> Mapping[str, str]:
        """See bot.ports."""
        rows = self._session.rows(
            "select name, value from fact where name >= ? and name < ? || char(1114111)"
            " order by name",
            (prefix, prefix),
        )
        return {text(name): text(value) for name, value in rows}

    def drop(self, name: str) -> None:
        """See bot.ports."""
        self._session.writing()("delete from fact where name = ?", (name,))
