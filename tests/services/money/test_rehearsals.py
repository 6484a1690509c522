"""A rehearsal never spends; where AWS may have taken one for a purchase, everything stops."""

import pytest

from bot.domain.errors import IndeterminateError, UserError
from bot.domain.lifecycle import ReservationState
from bot.domain.records import Switch
from tests.services.money.stage import ADMIN, REQ, World


@pytest.fixture(params=["memory", "sqlite"])
def world(request, tmp_path):
    url = "memory://" if request.param == "memory" else f"sqlite:///{tmp_path}/gpubot.db"
    world = World(url=url)
    yield world
    world.store.close()


def ignored(world) -> list[str]:
    """Have AWS take every rehearsal for a purchase; return what it bought so."""
    bought: list[str] = []

    def takes_it_for_real(leg, **_how):
        bought.append(leg.ref)
        raise IndeterminateError("DryRunIgnored", "it was not treated as a DryRun")

    world.aws.rehearse = takes_it_for_real
    return bought


def test_a_trial_that_aws_took_for_real_stops_all_purchasing(world) -> None:
    number = world.quoted().id
    ignored(world)
    with pytest.raises(UserError, match="may have taken a trial run for a purchase"):
        world.approving.propose(number, by=REQ)
    assert world.switching.state() is Switch.OFF
    assert world.state(number) is ReservationState.QUOTED


def test_a_trial_that_aws_took_for_real_is_never_repeated_before_somebody_resumed(world) -> None:
    number, other = world.quoted().id, world.quoted().id
    bought = ignored(world)
    for one in (number, number, other):
        with pytest.raises(UserError):
            world.approving.propose(one, by=REQ)
    assert len(bought) == 1


def test_administrators_and_asker_hear_of_a_trial_that_aws_took_for_real(world) -> None:
    number = world.quoted().id
    ignored(world)
    with pytest.raises(UserError):
        world.approving.propose(number, by=REQ)
    said = [words for words in world.said().values() if "did not treat a DryRun as one" in words]
    assert len(said) == 2
    assert any(key.startswith(f"tell:{ADMIN}:") for key in world.heard)
    assert all("cb-1 for $6,877.44 in account research, us-east-1" in words for words in said)
    with world.store.reading() as tx:
        [entry] = [one for one in tx.audit.of(number) if one.action == "rehearsal.in_doubt"]
    assert entry.facts["fee"] == "6877.44"
    assert entry.facts["why"] == "DryRunIgnored: it was not treated as a DryRun"
