"""Two processes on one database and one workspace: everything is said by one of them."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from threading import Barrier, Thread

import pytest

from storage import open_store
from tests.fakes.clock import FakeClock
from tests.fakes.messenger import FakeMessenger
from tests.services.after.after_world import AfterWorld

START = datetime(2027, 3, 12, 11, 30, tzinfo=UTC)
END = datetime(2027, 3, 14, 11, 30, tzinfo=UTC)


@pytest.fixture
def bots(tmp_path) -> Iterator[list[AfterWorld]]:
    """Two bots that share a file, a clock and a Slack."""
    clock, messenger = FakeClock(), FakeMessenger()
    url = f"sqlite:///{tmp_path}/two.sqlite"
    found = [
        AfterWorld(store=open_store(url, holder=name), clock=clock, messenger=messenger)
        for name in ("one", "two")
    ]
    yield found
    for bot in found:
        bot.store.close()


def together(bots: list[AfterWorld]) -> None:
    """Have both work off what is due at the same time, until neither finds anything."""
    barrier = Barrier(len(bots))
    broken: list[BaseException] = []

    def work(bot: AfterWorld) -> None:
        barrier.wait()
        try:
            bot.settle()
        except BaseException as error:  # noqa: BLE001 - a thread's fault is the test's
            broken.append(error)

    threads = [Thread(target=work, args=(bot,)) for bot in bots]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert broken == []


def test_a_reminder_and_a_digest_that_fall_due_are_said_once(bots) -> None:
    first, _ = bots
    first.bought(START, END)
    together(bots)
    first.clock.set(START - timedelta(days=1))
    together(bots)
    assert len(first.saying("starts 2027-03-12T11:30Z")) == 1
    first.clock.set(datetime(2027, 3, 11, 12, 0, tzinfo=UTC))
    together(bots)
    digests = [key for key in first.messenger.said if key.startswith("digest:")]
    assert digests == ["digest:2027-03-11"]
    assert first.messenger.posts == len(first.messenger.said)


def test_a_month_of_both_says_nothing_twice(bots) -> None:
    first, _ = bots
    for number in range(4):
        first.bought(START + timedelta(hours=number), END + timedelta(hours=number))
    now = first.clock.now()
    while now < END + timedelta(days=1):
        now += timedelta(hours=3)
        first.clock.set(now)
        together(bots)
    assert first.messenger.posts == len(first.messenger.said)
    assert len(first.saying("save your work in time")) >= 4
