"""Nobody goes on before their commit is on disk, and one sync serves all who wait."""

import errno
import os
import shutil
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from types import FrameType

import pytest

from bot.domain.errors import BusyError
from bot.domain.records import Delivery
from bot.ports import Store
from bot.serving import health
from storage import open_store
from storage.syncing import Syncing
from tests.contract.store.conftest import Open
from tests.contract.store.samples import NOW, at, reservation
from tests.fakes.clock import FakeClock

PATIENCE = timedelta(seconds=20)


class Disk:
    """Stands in for the sync of the disk: counts, waits at a gate, or fails."""

    def __init__(self) -> None:
        self.syncs = 0
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Semaphore(0)
        self.before: Callable[[], object] = int
        self.error: OSError | None = None
        self.files: list[tuple[int, int]] = []

    def sync(self, file: int) -> None:
        self.syncs += 1
        self.files.append((file, os.fstat(file).st_ino))
        self.before()
        self.entered.release()
        assert self.gate.wait(20)
        if self.error is not None:
            raise self.error


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    made = Disk()
    monkeypatch.setattr(os, "fdatasync", made.sync)
    return made


@pytest.fixture
def ready(open_again: Open) -> Iterator[Store]:
    store = open_again()
    with store.transaction() as tx:
        tx.facts.put("a", "0", at=NOW)
    yield store
    store.close()


def _put(store: Store, name: str) -> None:
    with store.transaction() as tx:
        tx.facts.put(name, "1", at=NOW)


def _delivery(key: str) -> Delivery:
    return Delivery(key=key, kind="command", body="{}", received_at=NOW)


def test_a_unit_of_work_that_wrote_is_synced_after_its_commit(
    ready: Store, disk: Disk, beside: sqlite3.Connection
) -> None:
    seen: list[object] = []
    disk.before = lambda: seen.append(
        beside.execute("select value from fact where name = 'b'").fetchone()
    )
    _put(ready, "b")
    assert seen == [("1",)]


def test_what_reads_or_changes_nothing_waits_for_no_disk(ready: Store, disk: Disk) -> None:
    with ready.reading() as tx:
        tx.facts.get("a")
    with ready.transaction() as tx:
        tx.dues.claim(now=NOW, lease=at(1) - NOW, limit=9)
    with pytest.raises(ValueError, match="undone"), ready.transaction() as tx:
        tx.facts.put("b", "1", at=NOW)
        raise ValueError("undone")
    assert disk.syncs == 0


def test_a_delivery_is_synced_before_it_is_called_recorded(ready: Store, disk: Disk) -> None:
    disk.gate.clear()
    answers: list[bool] = []
    taking = threading.Thread(
        target=lambda: answers.append(ready.record(_delivery("k"), patience=PATIENCE))
    )
    taking.start()
    assert disk.entered.acquire(timeout=20)
    assert answers == []
    disk.gate.set()
    taking.join(20)
    assert answers == [True]


def test_the_next_writer_does_not_wait_for_the_disk_of_the_one_before(
    ready: Store, disk: Disk, beside: sqlite3.Connection
) -> None:
    disk.gate.clear()
    first = threading.Thread(target=_put, args=(ready, "first"))
    first.start()
    assert disk.entered.acquire(timeout=20)
    beside.execute("begin immediate")
    beside.execute("commit")
    disk.gate.set()
    first.join(20)


def test_all_who_committed_while_a_sync_ran_share_the_next(ready: Store, disk: Disk) -> None:
    disk.gate.clear()
    threads = [threading.Thread(target=_put, args=(ready, f"n{number}")) for number in range(8)]
    threads[0].start()
    assert disk.entered.acquire(timeout=20)
    for thread in threads[1:]:
        thread.start()
    _until_waiting(threads[1:])
    disk.gate.set()
    for thread in threads:
        thread.join(20)
    assert disk.syncs == 2


def _until_waiting(threads: list[threading.Thread]) -> None:
    """Return when every thread waits for somebody else's sync."""
    while not all(_waits(sys._current_frames().get(one.ident or 0)) for one in threads):  # noqa: SLF001 - the only way to see where a thread stands
        pass


def _waits(frame: FrameType | None) -> bool:
    while frame is not None and frame.f_code is not Syncing.wait.__code__:
        frame = frame.f_back
    return frame is not None


def test_a_sync_that_ran_before_the_commit_does_not_count(tmp_path: Path, disk: Disk) -> None:
    syncing = _on_a_log(tmp_path)
    disk.gate.clear()
    threads = [threading.Thread(target=syncing.wait) for _ in range(2)]
    threads[0].start()
    assert disk.entered.acquire(timeout=20)
    threads[1].start()
    disk.gate.set()
    for thread in threads:
        thread.join(20)
    syncing.wait()
    assert disk.syncs == 3


def test_a_disk_that_does_not_confirm_stops_all_writing(ready: Store, disk: Disk) -> None:
    disk.error = OSError(errno.EIO, "Input/output error")
    with pytest.raises(BusyError, match="did not confirm a write"):
        _put(ready, "b")
    disk.error = None
    with pytest.raises(BusyError, match="mend it and restart"), ready.transaction() as tx:
        tx.reservations.add(reservation())
    with pytest.raises(BusyError):
        ready.record(_delivery("k"), patience=timedelta(seconds=0.2))
    assert disk.syncs == 1


def test_a_disk_that_does_not_confirm_shows_on_the_health_page(ready: Store, disk: Disk) -> None:
    clock = FakeClock()
    assert health(ready, clock, mode="socket", connected=True)[0]
    disk.error = OSError(errno.EIO, "Input/output error")
    with pytest.raises(BusyError):
        _put(ready, "b")
    well, facts = health(ready, clock, mode="socket", connected=True)
    assert not well
    assert facts["status"] == "database"
    assert "mend it and restart" in str(facts["detail"])


def test_who_waits_for_a_sync_that_a_signal_broke_off_makes_the_next(
    tmp_path: Path, disk: Disk
) -> None:
    syncing = _on_a_log(tmp_path)
    broken_off: list[bool] = []

    def waiting() -> None:
        try:
            syncing.wait()
        except KeyboardInterrupt:
            broken_off.append(True)

    def signal() -> None:
        if disk.syncs == 2:
            raise KeyboardInterrupt

    threads = [threading.Thread(target=waiting) for _ in range(3)]
    disk.gate.clear()
    threads[0].start()
    assert disk.entered.acquire(timeout=20)
    for thread in threads[1:]:
        thread.start()
    _until_waiting(threads[1:])
    disk.before = signal
    disk.gate.set()
    for thread in threads:
        thread.join(20)
    assert broken_off == [True]
    assert disk.syncs == 3


def _on_a_log(folder: Path) -> Syncing:
    log = folder / "x-wal"
    log.touch()
    return Syncing(log)


def test_one_file_is_held_from_before_the_first_commit_so_that_no_failure_is_missed(
    ready: Store, disk: Disk, file: Path
) -> None:
    log = Path(f"{file}-wal")
    before = {int(one.name) for one in Path("/proc/self/fd").iterdir() if _is(one, log)}
    for name in ("b", "c"):
        _put(ready, name)
    (held,) = set(disk.files)
    assert held[0] in before
    assert held[1] == log.stat().st_ino


def _is(one: Path, file: Path) -> bool:
    return one.exists() and one.samefile(file)


def test_a_database_behind_a_link_is_synced_where_it_lies(
    tmp_path: Path, disk: Disk, file: Path
) -> None:
    open_store(f"sqlite:///{file}").close()
    link = tmp_path / "link.db"
    link.symlink_to(file)
    store = open_store(f"sqlite:///{link}")
    disk.files = []
    _put(store, "b")
    assert disk.files[0][1] == Path(f"{file}-wal").stat().st_ino
    store.close()


def test_a_log_that_was_removed_stops_all_writing(ready: Store, file: Path) -> None:
    Path(f"{file}-wal").unlink()
    with pytest.raises(BusyError, match="log was removed"):
        _put(ready, "b")


def test_what_a_store_closes_is_in_the_database_itself(
    ready: Store, file: Path, disk: Disk
) -> None:
    with ready.transaction() as tx:
        tx.facts.put("b", "1", at=NOW)
        ready.close()
    assert disk.syncs == 1
    assert _facts_without_log(file)["b"] == "1"


def test_what_a_killed_process_left_in_the_log_is_folded_in_at_the_start(
    tmp_path: Path, open_again: Open
) -> None:
    first = open_again()
    _put(first, "b")
    killed = tmp_path / "killed"
    killed.mkdir()
    for name in ("gpubot.db", "gpubot.db-wal"):
        shutil.copy2(tmp_path / name, killed / name)
    assert "b" not in _facts_without_log(killed / "gpubot.db")
    store = open_store(f"sqlite:///{killed / 'gpubot.db'}")
    assert _facts_without_log(killed / "gpubot.db")["b"] == "1"
    store.close()


def _facts_without_log(file: Path) -> dict[str, str]:
    """Return what the database file alone holds."""
    alone = file.with_name("alone.db")
    shutil.copy2(file, alone)
    with closing(sqlite3.connect(f"file:{alone}?immutable=1", uri=True)) as connection:
        if not connection.execute("select 1 from sqlite_schema where name = 'fact'").fetchone():
            return {}
        return dict(connection.execute("select name, value from fact"))
