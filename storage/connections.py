"""The SQLite file: opening it with clear refusals, its connections, and the turn to write."""

import os
import sqlite3
import threading
import time
from pathlib import Path
from weakref import WeakValueDictionary

from bot.domain.errors import BugError, BusyError, SettingsError
from storage.session import is_busy
from storage.steps import STEPS
from storage.syncing import Syncing
from storage.turns import Turns

_OPENING_SECONDS = 10.0
_PAUSE_SECONDS = 0.002
"""Between two tries for a lock that another process holds; SQLite's own handler sleeps up to
100 ms, which breaks the promise of a fast acknowledgement."""
_IDLE_CONNECTIONS = 8
"""Kept for the next unit of work. At least one must stay open: SQLite checkpoints and deletes
the write-ahead log when the last connection closes, which costs hundreds of milliseconds."""

_HAS_STEPS = "select 1 from sqlite_schema where name = '_sqlite_migrations'"
_APPLIED = "select name from _sqlite_migrations where migration_set = 'gpubot'"

_turns_by_file: WeakValueDictionary[str, Turns] = WeakValueDictionary()
_turns_guard = threading.Lock()


def _turns_for(path: Path) -> Turns:
    """Return the one lock of this process for that file, however many stores are open on it."""
    key = str(path.resolve())
    with _turns_guard:
        return _turns_by_file.setdefault(key, Turns())


class Connections:
    """Connections to one file; each belongs to one unit of work at a time."""

    def __init__(self, path: Path) -> None:
        first = _first_connection(path)
        # As SQLite does it: the log lies beside the file itself, not beside a link to it.
        self._path = path.resolve()
        self._guard = threading.Lock()
        self._idle = [first]
        self._closed = False
        self.turns = _turns_for(path)
        try:
            self.syncing = Syncing(Path(f"{self._path}-wal"))
        except OSError as error:
            first.close()
            raise SettingsError(
                f"database {path}: its log cannot be read ({error.strerror})"
            ) from error

    def take(self, *, until: float) -> sqlite3.Connection:
        """Return a connection that nobody else uses.

        `until` is on the monotonic clock. Raises BugError after `close`, BusyError when the file
        is locked against any reader until then.
        """
        with self._guard:
            if self._closed:
                raise BugError("the store was used after it had been closed")
            if self._idle:
                return self._idle.pop()
        return _connect(self._path, until=until)

    def give(self, connection: sqlite3.Connection) -> None:
        """Take a connection back, whatever state it is in."""
        if connection.in_transaction:
            connection.rollback()
        with self._guard:
            if not self._closed and len(self._idle) < _IDLE_CONNECTIONS:
                self._idle.append(connection)
                return
        connection.close()

    def close(self) -> None:
        """Close what is idle; what is in use closes when it comes back."""
        with self._guard:
            self._closed = True
            self.syncing.end()
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()


def begin(connection: sqlite3.Connection, how: str, *, until: float) -> None:
    """Run `how`, trying again while another connection's lock is in the way.

    `until` is on the monotonic clock. Raises BusyError when it has passed.
    """
    while True:
        try:
            connection.execute(how)
        except sqlite3.OperationalError as error:
            if not is_busy(error):
                raise
            if time.monotonic() >= until:
                raise BusyError("the database is locked by another writer") from error
            time.sleep(_PAUSE_SECONDS)
        else:
            return


def _connect(path: Path, *, until: float) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("pragma foreign_keys = on")
        # This one looks into the file, so it can meet a lock. Who commits waits for Syncing.
        begin(connection, "pragma synchronous = normal", until=until)
    except BaseException:
        connection.close()
        raise
    return connection


def _first_connection(path: Path) -> sqlite3.Connection:
    """Return a connection to the file, made and brought to this version's schema if needed.

    Raises SettingsError with one line that names the path and what to do.
    """
    _check_place(path)
    try:
        if not path.exists():
            # Requests and prices are nobody else's business on this machine.
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        until = time.monotonic() + _OPENING_SECONDS
        connection = _connect(path, until=until)
        try:
            _prepare(connection, path, until=until)
        except BaseException:
            connection.close()
            raise
    except BusyError as error:
        raise SettingsError(
            f"database {path}: another program keeps it locked; stop that program and start again"
        ) from error
    except sqlite3.Error as error:
        raise SettingsError(_what_to_do(path, error)) from error
    except OSError as error:
        raise SettingsError(f"database {path}: cannot be made ({error.strerror})") from error
    return connection


def _check_place(path: Path) -> None:
    folder = path.parent
    if not folder.is_dir():
        raise SettingsError(f"database {path}: the folder {folder} does not exist; create it")
    if path.is_dir():
        raise SettingsError(f"database {path}: this is a folder; name a file in it")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise SettingsError(f"database {path}: gpubot may not write in {folder}; allow it")
    if path.exists() and not os.access(path, os.R_OK | os.W_OK):
        raise SettingsError(f"database {path}: gpubot may not read and write it; allow it")


def _what_to_do(path: Path, error: sqlite3.Error) -> str:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_NOTADB:
        return f"database {path}: not a SQLite database; name another file or restore a copy"
    if code == sqlite3.SQLITE_CORRUPT:
        return f"database {path}: damaged ({error}); restore a copy"
    return f"database {path}: cannot be used ({error})"


def _prepare(connection: sqlite3.Connection, path: Path, *, until: float) -> None:
    begin(connection, "select count(*) from sqlite_schema", until=until)
    _check_owner(connection, path)
    begin(connection, "pragma journal_mode = wal", until=until)
    (mode,) = connection.execute("pragma journal_mode").fetchone()
    if mode != "wal":
        raise SettingsError(
            f"database {path}: its disk allows no write-ahead log; use a local disk"
        )
    if _pending(connection, path):
        connection.execute("pragma synchronous = full")
        begin(connection, "begin immediate", until=until)
        try:
            # Looked at again: another process may have migrated while this one waited.
            if _pending(connection, path):
                _migrate(connection)
            connection.execute("commit")
        finally:
            if connection.in_transaction:
                connection.rollback()
        connection.execute("pragma synchronous = normal")
    # What a killed process left in the log may have missed the disk while memory shows it whole
    # (fsync(2)). Folded in, it is written again, and nothing later hangs behind a hole.
    begin(connection, "pragma wal_checkpoint(passive)", until=until)


def _check_owner(connection: sqlite3.Connection, path: Path) -> None:
    tables = {name for (name,) in connection.execute("select name from sqlite_schema")}
    if tables and "_sqlite_migrations" not in tables:
        raise SettingsError(f"database {path}: holds another program's tables; name another file")


def _pending(connection: sqlite3.Connection, path: Path) -> bool:
    """Return whether steps are missing. Raises SettingsError for steps of a later version."""
    if not connection.execute(_HAS_STEPS).fetchone():
        return True
    applied = {name for (name,) in connection.execute(_APPLIED)}
    later = applied - set(STEPS)
    if later:
        raise SettingsError(
            f"database {path}: written by a newer gpubot (step {max(later)});"
            " start that version, or restore a copy made before it"
        )
    return bool(set(STEPS) - applied)


def _migrate(connection: sqlite3.Connection) -> None:
    from sqlite_utils import Database  # noqa: PLC0415 — only a file that lacks steps needs it

    from storage.migrations import MIGRATIONS  # noqa: PLC0415 — as above

    MIGRATIONS.apply(Database(connection, execute_plugins=False))
