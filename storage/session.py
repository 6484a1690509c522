"""One unit of work on one SQLite connection, and how driver errors become ours."""

import sqlite3
from collections.abc import Callable, Mapping, Sequence

from bot.domain.errors import BugError, BusyError, ConflictError, GpuBotError, UnknownRecordError

Value = str | int | None
Row = tuple[Value, ...]
Write = Callable[[str, Sequence[Value]], sqlite3.Cursor]

_TAKEN = frozenset({sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY})
_EXTENDED = 0xFF
"""SQLite's extended result codes carry the plain code in their low byte (sqlite.org/rescode)."""


def is_busy(error: sqlite3.Error) -> bool:
    """Return whether another connection's lock is the cause."""
    # Errors that the driver raises itself (a closed connection) carry no code.
    code = getattr(error, "sqlite_errorcode", 0) & _EXTENDED
    return code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def ours(error: sqlite3.Error) -> GpuBotError:
    """Return our error for the driver's."""
    code = getattr(error, "sqlite_errorcode", 0)
    if code in _TAKEN:
        return ConflictError(f"that is taken already: {error}")
    if code == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
        return UnknownRecordError("the record that this one belongs to is not here")
    if code & _EXTENDED == sqlite3.SQLITE_CONSTRAINT:
        return BugError(f"the database refused a row: {error}")
    if isinstance(error, sqlite3.ProgrammingError | sqlite3.InterfaceError):
        return BugError(f"the database was asked wrongly: {error}")
    return BusyError(f"the database did not answer: {error}; nothing was stored")


class Session:
    """What the groups of a transaction share: the connection, the right to write, our name."""

    def __init__(self, connection: sqlite3.Connection, *, writable: bool, holder: str) -> None:
        self._connection = connection
        self._writable = writable
        self._open = True
        self.holder = holder

    def end(self) -> None:
        """Refuse everything from now on; the connection belongs to the next unit of work."""
        self._open = False

    def rows(self, sql: str, values: Sequence[Value] = ()) -> list[Row]:
        """Return all rows of a query."""
        self._check_open()
        return self._connection.execute(sql, values).fetchall()

    def named(self, sql: str, values: Mapping[str, Value]) -> list[Row]:
        """Return all rows of a query with named places."""
        self._check_open()
        return self._connection.execute(sql, values).fetchall()

    def row(self, sql: str, values: Sequence[Value] = ()) -> Row | None:
        """Return the first row of a query, or None."""
        self._check_open()
        found: Row | None = self._connection.execute(sql, values).fetchone()
        return found

    def stream(self, sql: str, values: Sequence[Value] = ()) -> sqlite3.Cursor:
        """Return a cursor, for results that do not fit in memory."""
        self._check_open()
        return self._connection.execute(sql, values)

    def writing(self) -> Write:
        """Return what changes rows. Raises BugError in a unit of work that only reads."""
        self._check_open()
        if not self._writable:
            raise BugError("a reading unit of work was asked to write")
        return self._write

    def _write(self, sql: str, values: Sequence[Value]) -> sqlite3.Cursor:
        try:
            return self._connection.execute(sql, values)
        except sqlite3.IntegrityError as error:
            raise ours(error) from error

    def _check_open(self) -> None:
        if not self._open:
            raise BugError("a unit of work was used after it had ended")


def text(value: Value) -> str:
    """Return a column that holds text. Raises BugError when it does not."""
    if not isinstance(value, str):
        raise BugError(f"the database holds {value!r} where text belongs")
    return value


def maybe_text(value: Value) -> str | None:
    """Return a column that holds text or nothing."""
    return None if value is None else text(value)


def number(value: Value) -> int:
    """Return a column that holds a whole number. Raises BugError when it does not."""
    if not isinstance(value, int):
        raise BugError(f"the database holds {value!r} where a number belongs")
    return value


def marks(count: int) -> str:
    """Return so many placeholders: "?, ?, ?"."""
    return ", ".join("?" * count)
