from datetime import timedelta

import pytest

from bot.domain.errors import BusyError, MarketError
from bot.domain.records import Due
from bot.services.duties import LEASE, Duties


def plan(world, key: str, **update) -> None:
    with world.store.transaction() as tx:
        tx.dues.plan(Due(key=key, kind="try", subject="x", at=world.clock.now(), **update))


def test_a_step_that_fails_is_tried_again_later_and_takes_no_other_with_it(world) -> None:
    calls: list[str] = []

    def step(due: Due) -> None:
        calls.append(due.key)
        if due.key == "a" and calls.count("a") < 3:
            raise MarketError("unreachable", "timeout")

    world.duties.steps = {"try": step}
    plan(world, "a")
    plan(world, "b")
    world.settle()
    assert sorted(calls) == ["a", "b"]
    world.run_until(world.clock.now() + timedelta(minutes=2))
    assert calls.count("a") == 3
    assert calls.count("b") == 1


def test_a_row_of_a_kind_that_nobody_knows_is_settled_and_logged(world) -> None:
    plan(world, "a")
    world.duties.steps = {}
    world.settle()
    assert any("unknown kind" in line for line in world.log.lines)
    with world.store.reading() as tx:
        assert tx.dues.waiting(now=world.clock.now()) == 0


def test_a_row_past_its_use_is_dropped_and_not_done_late(world) -> None:
    calls: list[str] = []
    world.duties.steps = {"try": lambda due: calls.append(due.key)}
    plan(world, "a", stale_after=world.clock.now() + timedelta(hours=1))
    world.clock.advance(timedelta(hours=1))
    world.settle()
    assert calls == []


class FullDisk:
    """A store that takes no write while it is full."""

    def __init__(self, store) -> None:
        self._store = store
        self.full = False

    def transaction(self):
        if self.full:
            raise BusyError("disk I/O error")
        return self._store.transaction()


@pytest.mark.parametrize("fails", [True, False])
def test_what_a_full_disk_did_not_take_is_written_as_soon_as_it_does(world, fails) -> None:
    calls: list[str] = []
    disk = FullDisk(world.store)

    def step(due: Due) -> None:
        calls.append(due.key)
        if len(calls) == 1:
            disk.full = True
            if fails:
                raise BusyError("disk I/O error")

    duties = Duties(store=disk, clock=world.clock, steps={"try": step}, log=world.log)
    plan(world, "a")
    assert duties.step() == 1
    disk.full = False
    duties.step()
    world.clock.advance(timedelta(seconds=10))
    duties.step()
    assert calls == (["a", "a"] if fails else ["a"])
    with world.store.reading() as tx:
        assert tx.dues.waiting(now=world.clock.now()) == 0


def test_what_was_not_written_is_left_alone_once_the_row_may_be_somebody_elses(world) -> None:
    disk = FullDisk(world.store)

    def fill(_: Due) -> None:
        disk.full = True

    duties = Duties(store=disk, clock=world.clock, steps={"try": fill}, log=world.log)
    plan(world, "a")
    duties.step()
    disk.full = False
    world.clock.advance(LEASE)
    with world.store.transaction() as tx:
        assert [due.key for due in tx.dues.claim(now=world.clock.now(), lease=LEASE, limit=1)]
    duties.step()
    with world.store.reading() as tx:
        assert tx.dues.waiting(now=world.clock.now()) == 1
