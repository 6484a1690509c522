"""Launch kits: handed over once when capacity is active, and whenever one is asked for."""

from datetime import timedelta

import pytest

from bot.domain.errors import UserError
from bot.domain.market import Kind
from bot.domain.request import Target
from bot.kits import Format
from tests.unit.kits import readers


def test_the_moment_it_is_active_its_owner_gets_a_kit_for_this_very_reservation(world) -> None:
    number = world.buy(Kind.CAPACITY_BLOCK)
    start = world.receipt(number).segments[0].start
    world.run_until(start - timedelta(minutes=1))
    assert not world.said("Launch kit")
    world.run_until(start + timedelta(minutes=10))
    (given,) = world.said("Launch kit")
    assert given.sections[0].sentences[0][0].id == "U0ANA"
    ((operation, asked),) = readers.commands(given.sections[0].listing)
    target = asked["CapacityReservationSpecification"]["CapacityReservationTarget"]
    assert (operation, target) == (
        "RunInstances",
        {"CapacityReservationId": world.receipt(number).id},
    )
    assert asked["LaunchTemplate"] == {"LaunchTemplateId": "lt-0a11ce0000000001"}


def test_a_kit_comes_once_however_often_it_is_looked_at(world) -> None:
    number = world.begun(Kind.CAPACITY_BLOCK)
    world.run(timedelta(hours=6))
    assert len(world.said("Launch kit")) == 1
    assert number


def test_the_menu_offers_exactly_what_fits(world) -> None:
    number = world.begun(Kind.CAPACITY_BLOCK)
    (handout,) = world.uses.kits.launch(number)
    (menu,) = handout.menus
    assert menu.action == "gpu.kit"
    assert {choice.argument for choice in menu.choices} == {str(name) for name in Format}
    for choice in menu.choices:
        (chosen,) = world.uses.kits.launch(number, name=choice.argument)
        assert chosen.sections[0].listing


def test_a_kit_really_launches_into_the_block(world) -> None:
    number = world.begun(Kind.CAPACITY_BLOCK)
    (handout,) = world.uses.kits.launch(number, name="boto3")
    ((_, asked),) = readers.calls(handout.sections[0].listing)
    asked.pop("SubnetId")
    answer = world.client("ec2").run_instances(**asked)
    assert len(answer["Instances"]) == 2
    assert {one["CapacityReservationId"] for one in answer["Instances"]} == {
        world.receipt(number).id
    }


def test_a_plan_names_what_its_target_is(world) -> None:
    number = world.begun(Kind.TRAINING_PLAN, Target.HYPERPOD)
    (handout,) = world.uses.kits.launch(number)
    ((operation, asked),) = readers.commands(handout.sections[0].listing)
    assert operation == "CreateCluster"
    assert asked["InstanceGroups"][0]["TrainingPlanArn"] == world.receipt(number).id


def test_a_format_that_does_not_fit_is_refused_with_those_that_do(world) -> None:
    number = world.begun(Kind.TRAINING_PLAN, Target.TRAINING_JOB)
    with pytest.raises(UserError, match=r"AWS CLI, Python"):
        world.uses.kits.launch(number, name="karpenter")
    with pytest.raises(UserError, match="I know no format"):
        world.uses.kits.launch(number, name="pulumi")


def test_over_is_over(world) -> None:
    number = world.begun(Kind.CAPACITY_BLOCK)
    world.run_until(world.receipt(number).segments[0].end + timedelta(hours=1))
    with pytest.raises(UserError, match="nothing to launch into"):
        world.uses.kits.launch(number)
