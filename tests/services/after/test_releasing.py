from datetime import timedelta
from decimal import Decimal

import pytest

from bot.domain.errors import NotAllowedError, UserError
from bot.domain.lifecycle import ReservationState
from tests.services.after.after_world import stores
from tests.services.after.extend_world import END, START, ExtendWorld
from tests.services.money.stage import ADMIN, OTHER, OTHER_REQ, REQ, block, request

HALF_HOUR = timedelta(minutes=30)


@pytest.fixture(params=["memory", "sqlite"])
def world(request, tmp_path):
    world = ExtendWorld(url=stores(tmp_path)[request.param])
    yield world
    world.store.close()


def waits(world, user: str = OTHER_REQ, **update) -> int:
    """File a request of the same machines that starts while the block runs."""
    asked = request(
        earliest_start=START,
        latest_start=START + timedelta(days=2),
        duration_hours=Decimal(12),
        instance_count=1,
        **update,
    )
    world.aws.market = world.aws.market.model_copy(update={"offerings": (block(),)})
    return world.quoted(asked, user=user).id


def owner_of(world, number: int) -> str:
    return world.reservation(number).owner


def test_the_next_matching_request_is_offered_it_and_can_take_it(world) -> None:
    number = world.block_held()
    other = waits(world)
    world.after.release(number, by=REQ)
    [said] = world.saying("What you wait for is free")
    assert OTHER_REQ in said
    assert f"gpu-{number}" in said
    assert world.presses("What you wait for is free") == ["gpu.take"]
    assert owner_of(world, number) == REQ
    world.after.take(number, by=OTHER_REQ)
    assert owner_of(world, number) == OTHER_REQ
    assert world.state(other) is ReservationState.CANCELLED


def test_while_one_is_asked_nobody_else_can_take_it_and_afterwards_they_can(world) -> None:
    number = world.block_held()
    waits(world)
    world.after.release(number, by=REQ)
    with pytest.raises(NotAllowedError, match="first word"):
        world.after.take(number, by=OTHER)
    world.run(HALF_HOUR + timedelta(seconds=1))
    assert world.saying("whoever takes it first has it")
    world.after.take(number, by=OTHER)
    assert owner_of(world, number) == OTHER


def test_the_next_one_is_asked_when_half_an_hour_has_passed(world) -> None:
    number = world.block_held()
    waits(world)
    waits(world, user=OTHER)
    world.after.release(number, by=REQ)
    world.run(HALF_HOUR + timedelta(seconds=1))
    said = world.saying("What you wait for is free")
    assert [OTHER_REQ in said[0], OTHER in said[1]] == [True, True]
    with pytest.raises(NotAllowedError):
        world.after.take(number, by=OTHER_REQ)


@pytest.mark.parametrize(
    "update",
    [
        {"regions": ("us-west-2",)},
        {"instance_type": "p4d.24xlarge"},
        {"target": "training-job"},
    ],
)
def test_a_request_that_it_would_not_do_for_is_not_asked(world, update) -> None:
    from bot.domain.request import Target  # noqa: PLC0415 - only this case needs it

    if "target" in update:
        update = {"target": Target.TRAINING_JOB}
    number = world.block_held()
    waits(world, **update)
    world.after.release(number, by=REQ)
    assert not world.saying("What you wait for is free")
    assert world.saying("whoever takes it first has it")


def test_ones_own_requests_are_not_asked(world) -> None:
    number = world.block_held()
    waits(world, user=REQ)
    world.after.release(number, by=REQ)
    assert not world.saying("What you wait for is free")


def test_only_its_owner_or_an_administrator_may_release_it(world) -> None:
    number = world.block_held()
    with pytest.raises(NotAllowedError):
        world.after.release(number, by=OTHER)
    world.after.release(number, by=ADMIN)


def test_two_people_who_press_take_leave_one_owner(world) -> None:
    number = world.block_held()
    world.after.release(number, by=REQ)
    world.after.take(number, by=OTHER)
    with pytest.raises(UserError, match="not offered any more"):
        world.after.take(number, by=OTHER_REQ)
    assert owner_of(world, number) == OTHER


def test_who_belongs_to_another_organisation_takes_nothing(world) -> None:
    number = world.block_held()
    world.after.release(number, by=REQ)
    world.people.external.add(OTHER)
    with pytest.raises(NotAllowedError):
        world.after.take(number, by=OTHER)


def test_the_new_owners_team_is_charged_from_now_on_and_the_old_one_keeps_what_it_paid(
    world,
) -> None:
    number = world.block_held()
    world.after.release(number, by=REQ)
    world.after.take(number, by=OTHER)
    assert world.reservation(number).team is None
    with world.store.reading() as tx:
        [entry] = tx.budget.entries(reservation_id=number)
        moved = [one for one in tx.audit.of(number) if one.action == "reservation.moved"]
    assert (entry.team, entry.state) == ("vision", "committed")
    assert moved[0].facts["from_team"] == "vision"
    assert Decimal(moved[0].facts["worth_from_now"]) > Decimal(6000)


def test_awss_tags_follow_even_when_aws_fails_at_first(world) -> None:
    number = world.block_held()
    world.tagger.broken = 1
    world.after.release(number, by=REQ)
    world.after.take(number, by=OTHER)
    world.run(timedelta(minutes=5))
    assert world.tagger.tags == {world.receipt_of(number).id: (OTHER, None)}


def test_what_is_offered_is_not_reminded_of_and_what_is_taken_is_again(world) -> None:
    number = world.block_held()
    world.after.release(number, by=REQ)
    world.run(END - timedelta(hours=10) - world.clock.now())
    assert not world.saying("save your work")
    world.after.take(number, by=OTHER)
    world.run(END - timedelta(hours=2) - world.clock.now())
    said = world.saying("save your work")
    assert said
    assert all(OTHER in text for text in said)


def test_what_has_ended_or_is_not_bought_can_not_be_given_away(world) -> None:
    quoted = world.quoted().id
    with pytest.raises(UserError, match="nothing to give away"):
        world.after.release(quoted, by=REQ)
    number = world.block_held()
    world.run(END - timedelta(minutes=20) - world.clock.now())
    with pytest.raises(UserError, match="no usable time left"):
        world.after.release(number, by=REQ)


def test_a_hold_that_outlives_the_block_leads_nowhere(world) -> None:
    number = world.block_held()
    waits(world)
    world.after.release(number, by=REQ)
    world.clock.set(END)
    world.work()
    assert not world.saying("whoever takes it first has it")


def test_an_extension_that_waits_for_approval_is_never_offered_anything(world) -> None:
    number = world.block_held()
    world.after.extend(number, hours=Decimal(24), by=REQ)
    with world.store.transaction() as tx:
        child = tx.reservations.get(number + 1)
        tx.reservations.save(child.model_copy(update={"owner": OTHER, "requester": OTHER}))
    world.after.release(number, by=REQ)
    assert not world.saying("What you wait for is free")


def test_a_handover_needs_the_receivers_own_word(world) -> None:
    number = world.block_held()
    world.after.hand(number, to=OTHER, by=REQ)
    assert owner_of(world, number) == REQ
    assert world.presses("wants to hand you") == ["gpu.accept", "gpu.decline"]
    with pytest.raises(NotAllowedError):
        world.after.accept(number, by=OTHER_REQ)
    world.after.accept(number, by=OTHER)
    assert owner_of(world, number) == OTHER
    with pytest.raises(NotAllowedError):
        world.after.accept(number, by=OTHER)


def test_who_declines_leaves_it_where_it_is_and_the_giver_hears_it(world) -> None:
    number = world.block_held()
    world.after.hand(number, to=OTHER, by=REQ)
    world.after.decline(number, by=OTHER)
    assert owner_of(world, number) == REQ
    assert world.saying("does not take")
    with pytest.raises(NotAllowedError):
        world.after.accept(number, by=OTHER)


def test_nothing_is_handed_to_a_stranger_nor_by_one(world) -> None:
    number = world.block_held()
    world.people.inactive.add(OTHER)
    with pytest.raises(NotAllowedError, match="can't take it over"):
        world.after.hand(number, to=OTHER, by=REQ)
    with pytest.raises(NotAllowedError, match="Only its owner"):
        world.after.hand(number, to=OTHER_REQ, by=OTHER_REQ)


def test_a_handover_asked_by_a_former_owner_is_void(world) -> None:
    number = world.block_held()
    world.after.hand(number, to=OTHER, by=REQ)
    world.after.release(number, by=REQ)
    world.after.take(number, by=OTHER_REQ)
    with pytest.raises(UserError, match="another owner by now"):
        world.after.accept(number, by=OTHER)
    assert owner_of(world, number) == OTHER_REQ


def test_who_released_it_can_keep_it_after_all_as_long_as_nobody_took_it(world) -> None:
    number = world.block_held()
    world.after.release(number, by=REQ)
    assert world.presses("whoever takes it first has it") == ["gpu.take", "gpu.keep"]
    with pytest.raises(NotAllowedError):
        world.after.keep(number, by=OTHER)
    world.after.keep(number, by=REQ)
    with pytest.raises(UserError, match="not offered any more"):
        world.after.take(number, by=OTHER)
    assert owner_of(world, number) == REQ
