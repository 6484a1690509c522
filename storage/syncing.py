"""One sync of the disk for many commits.

SQLite's own `synchronous = full` syncs the write-ahead log inside each commit, while the lock is
held, so that writers wait for the disk one after another. With `normal` a commit only writes to
the log (sqlite.org/pragma.html#pragma_synchronous: durable against a kill, not against a loss of
power); the sync follows here, after the lock was handed on and before the caller goes on. The
log is one file in the order of commits: a sync that begins after a commit holds that commit and
all before it.
"""

import errno
import os
import threading
from pathlib import Path
from weakref import finalize

from bot.domain.errors import BusyError


class Syncing:
    """Syncs a database's write-ahead log, one sync for all who wait.

    The log is opened before the first commit and held: Linux tells every open file once of a
    write that failed, and one that is opened after somebody else was told hears nothing. SQLite
    is told too, in checkpoints after a commit, and says nothing of it. SQLite's own locks are on
    other files, so that no close of this one drops them.
    """

    def __init__(self, log: Path) -> None:
        self._log = os.open(log, os.O_RDONLY | os.O_CLOEXEC)
        # Never closed while somebody may sync: its number could be another file's by then.
        finalize(self, os.close, self._log).atexit = False
        # Some network file systems count no links at all.
        self._watched = os.fstat(self._log).st_nlink > 0
        self._state = threading.Condition()
        self._begun = 0
        self._finished = 0
        self._running = False
        self._failure: OSError | None = None

    def check(self) -> None:
        """Raise BusyError once a sync has failed: what it was for may be lost at any time.

        A later sync says nothing about the pages of one that failed (fsync(2), Linux), so that
        only a restart, which reads what is there, may go on. The same when the log was removed:
        SQLite goes on writing to the file that is gone.
        """
        if self._failure is None and self._is_removed():
            self._failure = FileNotFoundError(errno.ENOENT, "the write-ahead log was removed")
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
        interrupted = True
        try:
            self._sync()
            interrupted = False
        finally:
            with self._state:
                self._running = False
                if not interrupted:
                    self._finished = self._begun
                # After a signal, whoever waited for this sync makes the next one.
                self._state.notify_all()
        self.check()

    def end(self) -> None:
        """Know that connections close from now on; the last one folds the log in and removes it."""
        self._watched = False

    def _sync(self) -> None:
        try:
            os.fdatasync(self._log) if hasattr(os, "fdatasync") else os.fsync(self._log)
        except OSError as error:
            self._failure = error

    def _is_removed(self) -> bool:
        return self._watched and not os.fstat(self._log).st_nlink
