"""Two people, or two workers, at the same moment on one database."""

from collections.abc import Callable
from functools import partial
from threading import Barrier, Thread

import pytest

from bot.domain.errors import BusyError, ConflictError, UserError
from bot.domain.lifecycle import ReservationState
from bot.domain.market import Market
from storage import open_store
from tests.fakes.clock import NOW
from tests.services.money.stage import APP1, APP2, World, block, configuration


@pytest.fixture
def world(tmp_path) -> World:
    offers = tuple(block(f"cb-{n}") for n in range(40))
    world = World(
        url=f"sqlite:///{tmp_path}/gpubot.db",
        market=Market(as_of=NOW, offerings=offers),
        configuration=configuration(daily_ceiling_usd=None, teams=()),
    )
    yield world
    world.store.close()


def _together(*acts: Callable[[], object]) -> list[object]:
    barrier, outcomes = Barrier(len(acts)), [None] * len(acts)

    def run(number: int, act: Callable[[], object]) -> None:
        barrier.wait()
        try:
            outcomes[number] = act()
        except (UserError, ConflictError, BusyError) as error:
            outcomes[number] = error

    threads = [Thread(target=run, args=pair) for pair in enumerate(acts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


def _reminders(world, reservation_id: int) -> int:
    """How many reminders are planned; they are none afterwards."""
    with world.store.transaction() as tx:
        return tx.dues.withdraw(f"gpu-{reservation_id}", kinds={"remind"})


def test_of_two_approvers_at_the_same_moment_one_wins_and_the_other_is_told(world):
    alone = World()
    one_set = _reminders(alone, alone.bought().reservation_id)
    assert one_set > 0
    for turn in range(20):
        proposal = world.proposed()
        outcomes = _together(
            partial(world.approving.approve, proposal.id, by=APP1),
            partial(world.approving.approve, proposal.id, by=APP2),
        )
        losers = [one for one in outcomes if isinstance(one, UserError)]
        assert len(losers) == 1
        assert "already approved by @" in losers[0].message
        world.work()
        with world.store.reading() as tx:
            assert len(tx.proposals.given(proposal.id)) == 1
        assert len(world.aws.calls) == turn + 1
        assert _reminders(world, proposal.reservation_id) == one_set


def test_two_workers_that_buy_at_the_same_moment_make_one_call(world, tmp_path):
    other = open_store(f"sqlite:///{tmp_path}/gpubot.db", holder="two")
    second = World.__new__(World)
    second.__dict__.update(world.__dict__)
    second.store = other
    second.restart()
    for turn in range(10):
        proposal = world.approved()
        _together(
            partial(world.purchasing.buy, proposal.reservation_id),
            partial(second.purchasing.buy, proposal.reservation_id),
        )
        assert len(world.aws.calls) == turn + 1
        assert world.state(proposal.reservation_id) is ReservationState.PAYMENT_PENDING
    other.close()
