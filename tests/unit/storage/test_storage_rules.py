"""The small rules under the stores: turns, holders, exact text, overlap, the chain."""

import os
import socket
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.base import Model
from bot.domain.errors import BugError
from bot.domain.records import AuditEntry
from bot.domain.values import Instant, Rate
from storage.bodies import body_of, time_of, time_text
from storage.chain import FIRST, link
from storage.holders import is_dead, this_process
from storage.overlap import most_at_once
from storage.turns import Turns

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
HOST = socket.gethostname()


EARLY, LATE = datetime(2000, 1, 2), datetime(2199, 12, 30)  # noqa: DTZ001 - hypothesis adds the zone


class Exact(Model):
    """One of each kind of value that JSON could bend."""

    rate: Rate
    length: timedelta
    at: Instant


@given(
    rate=st.decimals(allow_nan=False, allow_infinity=False),
    length=st.timedeltas(min_value=timedelta(days=-100000), max_value=timedelta(days=100000)),
    at=st.datetimes(timezones=st.just(UTC), min_value=EARLY, max_value=LATE),
)
def test_a_body_gives_back_the_equal_value(rate: Decimal, length: timedelta, at: datetime) -> None:
    value = Exact(rate=rate, length=length, at=at)
    assert Exact.model_validate_json(body_of(value)) == value


MOMENTS = st.datetimes(
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=-11))]),
    min_value=EARLY,
    max_value=LATE,
)


@given(MOMENTS, MOMENTS)
def test_texts_of_times_sort_as_the_instants_do(one: datetime, two: datetime) -> None:
    assert (time_text(one) < time_text(two)) == (one < two)
    assert time_of(time_text(one)) == one


HOLDS = st.lists(st.tuples(st.integers(0, 20), st.integers(1, 9), st.integers(1, 5)), max_size=8)


@given(holds=HOLDS, start=st.integers(0, 20), length=st.integers(1, 9))
def test_the_most_at_once_is_the_busiest_minute(
    holds: list[tuple[int, int, int]], start: int, length: int
) -> None:
    def minute(number: int) -> datetime:
        return NOW + timedelta(minutes=number)

    busiest = max(
        sum(count for begins, lasts, count in holds if begins <= at < begins + lasts)
        for at in range(start, start + length)
    )
    spans = [(minute(begins), minute(begins + lasts), count) for begins, lasts, count in holds]
    assert most_at_once(spans, start=minute(start), end=minute(start + length)) == busiest


def test_this_process_is_alive_and_an_earlier_one_with_its_number_is_dead() -> None:
    me = this_process()
    assert not is_dead(me, seen_by=me)
    assert is_dead(f"{HOST}:{os.getpid()}:earlier", seen_by=me)


def test_a_process_that_ended_is_dead_on_its_own_host_only() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    me = this_process()
    assert is_dead(f"{HOST}:{process.pid}:a", seen_by=me)
    assert not is_dead(f"elsewhere:{process.pid}:a", seen_by=me)


@pytest.mark.parametrize("name", ["", "worker", "worker:1", f"{HOST}:x:a", f"{HOST}:1:a"])
def test_a_name_that_tells_nothing_and_a_living_process_are_not_dead(name: str) -> None:
    assert not is_dead(name, seen_by=this_process())


def test_turns_come_in_the_order_of_asking() -> None:
    turns = Turns()
    turns.take(seconds=0)
    served: list[int] = []

    def ask(number: int) -> None:
        turns.take(seconds=60)
        served.append(number)
        turns.give()

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for number, thread in enumerate(threads):
        thread.start()
        while len(turns._waiting) <= number:  # noqa: SLF001 - the queue is what is asked for
            pass
    turns.give()
    for thread in threads:
        thread.join()
    assert served == list(range(8))


def test_who_gave_up_waiting_is_not_served() -> None:
    turns = Turns()
    turns.take(seconds=0)
    came: list[bool] = []
    thread = threading.Thread(target=lambda: came.append(turns.take(seconds=0)))
    thread.start()
    thread.join()
    turns.give()
    assert came == [False]
    assert turns.take(seconds=0)


def test_taking_a_turn_twice_is_a_bug_and_not_a_wait() -> None:
    turns = Turns()
    turns.take(seconds=0)
    with pytest.raises(BugError):
        turns.take(seconds=60)


def test_a_link_covers_every_word_and_the_link_before() -> None:
    entry = AuditEntry(at=NOW, actor="U1", action="approved", facts={"a": "1", "b": "2"})
    changes: list[dict[str, object]] = [
        {"at": NOW + timedelta(microseconds=1)},
        {"actor": "U2"},
        {"action": "denied"},
        {"reservation_id": 1},
        {"purchase_id": "p"},
        {"facts": {"a": "1"}},
        {"facts": {"a": "1", "b": "3"}},
    ]
    links = {link(FIRST, entry.model_copy(update=change)) for change in changes}
    assert len(links | {link(FIRST, entry), link("1" * 64, entry)}) == len(changes) + 2
    again = entry.model_copy(update={"facts": {"b": "2", "a": "1"}})
    assert link(FIRST, again) == link(FIRST, entry)
