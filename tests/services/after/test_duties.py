from datetime import timedelta

from bot.domain.errors import MarketError
from bot.domain.records import Due


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
