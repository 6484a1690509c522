"""A purchase in doubt is looked for at its pace, and leaves the machine in peace between looks."""

from datetime import timedelta

from bot.domain.lifecycle import PurchaseState
from tests.fakes.aws import Mood
from tests.services.money.stage import World


def in_doubt() -> World:
    world = World()
    proposal = world.approved()
    world.aws.moods = [Mood.LOSE_REQUEST]
    world.purchasing.buy(proposal.reservation_id)
    (purchase,) = world.purchases(proposal.reservation_id)
    assert purchase.state is PurchaseState.INDETERMINATE
    return world


def test_a_sweep_that_finds_the_next_look_planned_has_nothing_to_do():
    world = in_doubt()
    world.reconciling.sweep()
    assert world.reconciling.sweep() == 0


def test_a_sweep_adds_no_looks_to_those_at_their_pace():
    world = in_doubt()
    looks = 0
    for _ in range(24 * 60):
        world.clock.advance(timedelta(minutes=1))
        looks += world.reconciling.sweep()
    assert looks <= 40


def test_a_call_that_is_under_way_leaves_a_sweep_nothing_to_do():
    world = World()
    proposal = world.approved()
    counted = []
    world.aws.before_buy = lambda _: counted.append(world.reconciling.sweep())
    world.purchasing.buy(proposal.reservation_id)
    assert counted == [0]
