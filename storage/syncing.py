"""One sync of the disk for many commits.

SQLite's own `synchronous = full` syncs the write-ahead log inside each commit, while the lock is
held, so that writers wait for the disk one after another. With `normal` a commit only writes to
the log (sqlite.org/pragma.html#pragma_synchronous: durable against a kill, not against a loss of
power); the sync follows here, after the lock was handed on and before the caller goes on. The
log is one file in the order of commits: a sync that begins after a commit holds that commit and
all before it.
"""

import os
import threading
from pathlib import Path

from bot.domain.errors import BusyError


class Syncing:
    """Syncs a database's write-ahead log, one sync for all who wait."""

    def __init__(self, path: Path) -> None:
        self._log = Path(f"{path}-wal")
        self._state = threading.Condition()
        self._begun = 0
        self._finished = 0
        self._running = False
        self._failure: OSError | None = None

    def check(self) -> None:
        """Raise BusyError once a sync has failed: what it was for may be lost at any time.

        A later sync says nothing about the pages of one that failed (fsync(2), Linux), so that
        only a restart, which reads what is there, may go on.
        """
        if self._failure is not None:
            raise BusyError(
                f"the disk did not confirm a write ({self._failure.strerror}); mend it and restart"
            )

    def wait(self) -> None:
        """Return when everything that was committed before this call is on disk.

        Raises BusyError when the disk does not confirm it: it may be stored, or not.
        """
        with self._state:
            # One that runs already may have begun before our commit.
            mine = self._begun + 1
            while self._finished < mine and self._running:
                self._state.wait()
            if self._finished >= mine:
                self.check()
                return
            self._running = True
            self._begun += 1
        try:
            self._sync()
        except OSError as error:
            self._failure = error
        finally:
            with self._state:
                self._running = False
                self._finished = self._begun
                self._state.notify_all()
        self.check()

    def _sync(self) -> None:
        # Opened anew each time, because whoever closes the database last removes the file; then
        # all of it is in the database itself. SQLite holds no lock on it that a close could drop.
        try:
            file = os.open(self._log, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return
        try:
            os.fdatasync(file) if hasattr(os, "fdatasync") else os.fsync(file)
        finally:
            os.close(file)
