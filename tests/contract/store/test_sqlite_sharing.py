"""Several stores and processes on one file: locks, claims, kill -9."""

import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from bot.domain.errors import BusyError
from bot.ports import Store
from storage import sqlite
from tests.contract.store.conftest import Open
from tests.contract.store.samples import (
    at,
    delivery,
    due,
    entry,
    money,
    proposed,
    purchase,
    saying,
)

LEASE = timedelta(minutes=5)
PATIENCE = timedelta(seconds=1.5)
HOST = socket.gethostname()


def _record_at_once(
    store: Store, count: int, patience: timedelta
) -> tuple[list[threading.Thread], list[str]]:
    answers: list[str] = []

    def record(number: int) -> None:
        try:
            store.record(delivery(f"t-{number}"), patience=patience)
            answers.append("stored")
        except BusyError:
            answers.append("busy")

    threads = [threading.Thread(target=record, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    return threads, answers


def _rows(connection: sqlite3.Connection) -> int:
    (count,) = connection.execute("select count(*) from inbox").fetchone()
    return int(count)


def test_a_lock_of_one_second_costs_no_delivery(
    open_again: Open, beside: sqlite3.Connection
) -> None:
    store = open_again()
    beside.execute("begin immediate")
    threads, answers = _record_at_once(store, 20, PATIENCE)
    planner = threading.Thread(target=lambda: _plan(store, 10))
    planner.start()
    threads[0].join(timeout=1)
    beside.execute("commit")
    for thread in (*threads, planner):
        thread.join()
    assert answers == ["stored"] * 20
    assert _rows(beside) == 20
    with store.reading() as tx:
        assert tx.dues.waiting(now=at(0)) == 10


def _plan(store: Store, count: int) -> None:
    for number in range(count):
        with store.transaction() as tx:
            tx.dues.plan(due(f"due-{number}"))


def test_a_longer_lock_is_answered_busy_and_leaves_no_row(
    open_again: Open, beside: sqlite3.Connection
) -> None:
    store = open_again()
    beside.execute("begin immediate")
    threads, answers = _record_at_once(store, 20, timedelta(seconds=0.2))
    for thread in threads:
        thread.join()
    beside.execute("commit")
    assert answers == ["busy"] * 20
    assert store.record(delivery("later"), patience=PATIENCE)
    assert _rows(beside) == 1


def test_a_delivery_is_refused_while_a_unit_of_work_lasts_too_long(open_again: Open) -> None:
    store = open_again()
    with store.transaction() as tx:
        tx.facts.put("f", "v", at=at(0))
        threads, answers = _record_at_once(store, 2, timedelta(seconds=0.1))
        for thread in threads:
            thread.join()
    assert answers == ["busy"] * 2
    with store.reading() as tx:
        assert tx.inbox.waiting() == 0


def test_giving_up_and_storing_never_both_happen(
    file: Path, open_again: Open, beside: sqlite3.Connection
) -> None:
    store = open_again()
    stored: set[str] = set()
    stop = threading.Event()

    def disturb() -> None:
        other = sqlite3.connect(
            file,
            isolation_level=None,
            timeout=1,
            check_same_thread=False,
        )
        while not stop.is_set():
            other.execute("begin immediate")
            other.execute("commit")
        other.close()

    def record(first: int) -> None:
        for number in range(first, first + 60):
            try:
                store.record(delivery(f"t-{number}"), patience=timedelta(milliseconds=number % 4))
                stored.add(f"t-{number}")
            except BusyError:
                pass

    rival = threading.Thread(target=disturb)
    threads = [threading.Thread(target=record, args=(1000 * one,)) for one in range(4)]
    for thread in (rival, *threads):
        thread.start()
    for thread in threads:
        thread.join()
    stop.set()
    rival.join()
    store.close()
    assert {key for (key,) in beside.execute("select key from inbox")} == stored


def test_closing_answers_what_is_still_queued(open_again: Open, beside: sqlite3.Connection) -> None:
    store = open_again()
    beside.execute("begin immediate")
    threads, answers = _record_at_once(store, 5, timedelta(seconds=60))
    threads[0].join(timeout=0.2)
    store.close()
    beside.execute("commit")
    for thread in threads:
        thread.join()
    assert answers == ["busy"] * 5
    assert _rows(beside) == 0


def test_a_unit_of_work_waits_for_the_lock_and_then_says_busy(
    open_again: Open, beside: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "_LOCK_SECONDS", 0.1)
    store = open_again()
    beside.execute("begin immediate")
    with pytest.raises(BusyError), store.transaction():
        pass
    with store.reading() as tx:
        assert tx.facts.get("f") is None
    beside.execute("commit")
    with store.transaction() as tx:
        tx.facts.put("f", "v", at=at(0))


def test_a_fault_between_two_writes_keeps_neither(
    open_again: Open, beside: sqlite3.Connection
) -> None:
    store = open_again()
    with store.transaction() as tx:
        ids = proposed(tx)
    beside.execute(
        "create trigger fault before insert on audit begin select raise(abort, 'fault'); end"
    )
    with pytest.raises(Exception, match="fault"), store.transaction() as tx:
        tx.purchases.add(purchase(*ids))
        tx.audit.append(entry())
    with open_again().reading() as tx:
        assert tx.purchases.recent() == ()
        assert tx.audit.of(1) == ()


def test_amounts_are_the_same_after_a_restart(open_again: Open) -> None:
    amounts = ["0.10", "1661.184", "1105.60"]
    store = open_again()
    with store.transaction() as tx:
        reservation_id, proposal_id = proposed(tx)
        for number, amount in enumerate(amounts):
            tx.budget.hold(money(reservation_id, purchase_key=str(number), amount=Decimal(amount)))
        tx.purchases.add(purchase(reservation_id, proposal_id, fee=Decimal("1105.60")))
    store.close()
    with open_again().reading() as tx:
        assert [str(one.amount) for one in tx.budget.entries()] == amounts
        assert str(tx.purchases.get("gpubot-1").fee) == "1105.60"


def _fill(store: Store) -> None:
    store.record(delivery(), patience=PATIENCE)
    with store.transaction() as tx:
        tx.dues.plan(due())
        tx.outbox.put("n", saying(), at=at(0))


def _claim(store: Store, minutes: float = 0) -> list[object]:
    with store.transaction() as tx:
        now = at(minutes)
        return [
            *(one.key for one in tx.dues.claim(now=now, lease=LEASE, limit=9)),
            *((one.key, one.in_doubt) for one in tx.outbox.claim(now=now, lease=LEASE, limit=9)),
            *(one.key for one in tx.inbox.claim(now=now, lease=LEASE, limit=9)),
        ]


ALL = ["due-1", ("n", False), "trigger-1"]
ALL_AGAIN = ["due-1", ("n", True), "trigger-1"]


@pytest.fixture
def living() -> Iterator[int]:
    """The number of another process that runs."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield process.pid
    process.communicate(b"\n")


@pytest.fixture
def dead() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_a_living_neighbour_keeps_its_rows_until_its_lease_ends(
    open_again: Open, living: int
) -> None:
    first, second = open_again(holder=f"{HOST}:{living}:aa"), open_again()
    _fill(first)
    assert _claim(first) == ALL
    assert _claim(second, 4.9) == []
    assert _claim(second, 5) == ALL_AGAIN


def test_a_process_of_another_host_keeps_its_rows_until_its_lease_ends(
    open_again: Open, dead: int
) -> None:
    first, second = open_again(holder=f"elsewhere:{dead}:aa"), open_again()
    _fill(first)
    assert _claim(first) == ALL
    assert _claim(second, 4.9) == []
    assert _claim(second, 5) == ALL_AGAIN


def test_the_rows_of_a_dead_process_are_free_at_once(open_again: Open, dead: int) -> None:
    first, second = open_again(holder=f"{HOST}:{dead}:aa"), open_again()
    _fill(first)
    assert _claim(first) == ALL
    assert _claim(second) == ALL_AGAIN
    assert _claim(second) == []


def test_rows_of_an_earlier_process_with_our_number_are_free_at_once(open_again: Open) -> None:
    first, second = open_again(holder=f"{HOST}:{os.getpid()}:earlier"), open_again()
    _fill(first)
    assert _claim(first) == ALL
    assert _claim(second) == ALL_AGAIN


def test_two_stores_of_one_process_do_not_work_the_same_rows(open_again: Open) -> None:
    first, second = open_again(), open_again()
    _fill(first)
    assert _claim(first) == ALL
    assert _claim(second) == []


CHILD = """
import sys
from datetime import timedelta
from storage import open_store
from tests.contract.store.samples import at, delivery, due, saying

store = open_store("sqlite:///" + sys.argv[1])
lease = timedelta(minutes=5)
match sys.argv[2]:
    case "claim and wait":
        with store.transaction() as tx:
            tx.dues.claim(now=at(0), lease=lease, limit=9)
            tx.outbox.claim(now=at(0), lease=lease, limit=9)
            tx.inbox.claim(now=at(0), lease=lease, limit=9)
    case "write and wait":
        store.record(delivery(), patience=lease)
        with store.transaction() as tx:
            tx.dues.plan(due())
            tx.outbox.put("n", saying(), at=at(0))
        open_unit = store.transaction()
        open_unit.__enter__().facts.put("half", "done", at=at(0))
    case "claim one by one":
        print("ready", flush=True)
        input()
        for _ in range(60):
            with store.transaction() as tx:
                for one in tx.dues.claim(now=at(0), lease=lease, limit=1):
                    print(one.key, flush=True)
print("ready", flush=True)
input()
"""
ROOT = Path(__file__).parents[3]


@contextmanager
def _child(file: Path, task: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(file), task],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def _ready(process: subprocess.Popen[str]) -> list[str]:
    assert process.stdout is not None
    lines = list(iter(process.stdout.readline, "ready\n"))
    assert "" not in lines
    return [line.strip() for line in lines]


def test_what_was_committed_outlives_a_kill_and_what_was_not_is_gone(
    file: Path, open_again: Open
) -> None:
    with _child(file, "write and wait") as process:
        _ready(process)
        process.send_signal(signal.SIGKILL)
        process.wait()
    store = open_again()
    assert _claim(store) == ALL
    with store.reading() as tx:
        assert tx.facts.get("half") is None


def test_after_a_kill_work_resumes_at_once(file: Path, open_again: Open) -> None:
    store = open_again()
    _fill(store)
    with _child(file, "claim and wait") as process:
        _ready(process)
        assert _claim(store) == []
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert _claim(store) == ALL_AGAIN


def test_two_processes_share_the_work(file: Path, open_again: Open) -> None:
    store = open_again()
    _plan(store, 100)
    with _child(file, "claim one by one") as one, _child(file, "claim one by one") as two:
        for process in (one, two):
            _ready(process)
        for process in (one, two):
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        claimed = [*_ready(one), *_ready(two)]
    assert sorted(claimed) == sorted(f"due-{number}" for number in range(100))
