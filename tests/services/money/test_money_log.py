"""Each step of money is one line after its commit, with who, what, how much and the outcome."""

import pytest

from tests.fakes.aws import CrashError, Mood
from tests.services.money.stage import APP1, World


def events(world):
    return [event for event, _ in world.log.rows]


def test_a_purchase_is_told_step_by_step():
    world = World()
    world.bought()
    assert events(world) == [
        "proposal approved",
        "purchase intended",
        "purchase submitted",
        "purchase confirmed",
    ]
    _, facts = world.log.rows[-1]
    assert set(facts) == {"reservation", "purchase", "offering", "fee", "actor", "outcome"}
    assert (facts["reservation"], facts["offering"]) == ("gpu-1", "cb-1")
    assert (facts["fee"], facts["actor"], facts["outcome"]) == ("6877.44", APP1, "cr-00001")


@pytest.mark.parametrize(
    ("mood", "last"),
    [(Mood.REFUSE, "purchase refused"), (Mood.LOSE_ANSWER, "purchase indeterminate")],
)
def test_refusals_and_doubt_are_told(mood, last):
    world = World()
    world.approved()
    world.aws.moods = [mood]
    world.purchasing.buy(1)
    assert events(world)[-1] == last


def test_what_is_found_later_is_told():
    world = World()
    world.approved()
    world.aws.moods = [Mood.LOSE_ANSWER]
    world.purchasing.buy(1)
    world.clock.advance(world.reconciling.spending_timeout * 3)
    world.purchasing.reconcile(world.purchases(1)[0].id)
    assert events(world)[-1] == "purchase confirmed"


def test_what_was_not_committed_is_not_told():
    world = World()
    world.approved()
    world.store.countdown, world.store.before = 1, True
    with pytest.raises(CrashError):
        world.purchasing.buy(1)
    assert events(world) == ["proposal approved"]
