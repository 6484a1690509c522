"""How machines are, and what happens when AWS takes spot machines back."""

import re
from datetime import timedelta
from decimal import Decimal

import pytest

from bot.domain.errors import UserError
from bot.domain.lifecycle import ReservationState
from bot.domain.market import Kind
from bot.domain.request import Target
from bot.domain.saying import Moment
from bot.services.reservations.sequels import signal_due
from bot.services.running.healing import missing_part
from tests.services.after.after_world import phrase_text, plain
from tests.services.use.test_use_cleaning import started_with_kit


def words(sections) -> str:
    return "\n".join(
        "".join(map(phrase_text, sentence)) for part in sections for sentence in part.sentences
    )


def test_a_block_shows_used_free_and_its_interconnect(world) -> None:
    number = world.begun(Kind.CAPACITY_BLOCK)
    machine = started_with_kit(world, number)
    world.run(timedelta(minutes=2))
    said = words(world.uses.healing.health(number))
    assert "Of 2 machines: 1 used, 1 free, 0 unhealthy." in said
    assert "The interconnect is ok." in said
    assert f"{machine} is running." in said


def test_an_unhealthy_machine_comes_with_the_way_to_replace_it(world) -> None:
    number = world.begun(Kind.CAPACITY_BLOCK)
    machine = started_with_kit(world, number)
    world.run(timedelta(minutes=2))
    world.aws.event({"event": "node-failed", "reservation": world.receipt(number).id})
    said = words(world.uses.healing.health(number))
    assert f"{machine} is running, but fails AWS's status check." in said
    assert f"aws ec2 terminate-instances --instance-ids {machine} --region us-east-1" in said
    assert f"/gpu launch gpu-{number}" in said
    assert "It costs nothing more" in said


def test_health_says_when_it_was_seen(world) -> None:
    number = world.begun(Kind.CAPACITY_BLOCK)
    now = phrase_text(Moment(at=world.clock.now()))
    assert f" is active, seen {now}." in words(world.uses.healing.health(number))


def test_a_plan_shows_its_counts(world) -> None:
    number = world.begun(Kind.TRAINING_PLAN, Target.TRAINING_JOB)
    assert "Of 2 machines: 0 used, 2 free, 0 unhealthy." in words(world.uses.healing.health(number))


def test_before_its_time_it_is_said_when_it_begins(world) -> None:
    number = world.buy(Kind.CAPACITY_BLOCK)
    said = words(world.uses.healing.health(number))
    start = world.receipt(number).segments[0].start
    assert f"It has not begun: it begins {phrase_text(Moment(at=start))}." in said
    assert "0 used" not in said


def test_what_aws_does_not_let_us_read_is_said(world_with) -> None:
    world = world_with(denied=[{"operation": "DescribeInstances"}])
    number = world.begun(Kind.CAPACITY_BLOCK)
    assert "AWS did not let me read instances (refused)" in words(world.uses.healing.health(number))


def test_nothing_held_has_no_health(world) -> None:
    number = world.begun(Kind.ODCR)
    world.client("ec2").cancel_capacity_reservation(CapacityReservationId=world.receipt(number).id)
    world.run(timedelta(hours=2))
    with pytest.raises(UserError, match="holds no machines"):
        world.uses.healing.health(number)


def test_a_spot_notice_is_told_before_the_machine_is_gone_and_decided_anew(world) -> None:
    number = world.begun(Kind.SPOT)
    world.aws.event({"event": "spot-interruption"})
    noticed = world.clock.now()
    world.run(timedelta(seconds=100))
    (told,) = world.said("Spot interruption")
    assert world.clock.now() - noticed < timedelta(minutes=2)
    assert world.said("save your work now") == [told]
    assert re.search(rf"AWS takes back i-\w+ of gpu-{number} within two minutes: save", plain(told))
    anew = world.reservation(number + 1)
    assert (anew.state, anew.owner, anew.team) == (ReservationState.REQUESTED, "U0ANA", "vision")
    assert world.quoted == [anew.id]
    assert anew.request.instance_count == 1
    assert anew.request.instance_type == "g6.xlarge"
    assert anew.request.latest_end == world.receipt(number).segments[0].end
    assert anew.line.startswith("reserve 1 g6.xlarge")
    with world.store.reading() as tx:
        assert not tx.purchases.of(anew.id)
        assert tx.proposals.current(anew.id) is None
    assert dict(world.audit(number))["spot.interrupted"]["asked_anew"] == f"gpu-{number + 1}"


def test_each_machine_is_told_of_once(world) -> None:
    number = world.begun(Kind.SPOT)
    world.aws.event({"event": "spot-interruption"})
    world.run(timedelta(minutes=30))
    assert len(world.said("Spot interruption")) == 1
    world.aws.event({"event": "spot-interruption"})
    world.run(timedelta(minutes=30))
    assert len(world.said("Spot interruption")) == 2
    assert world.reservation(number + 2).request.instance_count == 1


def test_what_a_person_terminated_is_no_interruption(world) -> None:
    number = world.begun(Kind.SPOT)
    with world.store.reading() as tx:
        (launch,) = tx.receipts.of(number)
    found = world.client("ec2").describe_instances(
        Filters=[{"Name": "reservation-id", "Values": [launch.id]}]
    )
    machine = found["Reservations"][0]["Instances"][0]["InstanceId"]
    world.client("ec2").terminate_instances(InstanceIds=[machine])
    world.run(timedelta(minutes=10))
    assert not world.said("Spot interruption")


def test_watching_ends_with_the_machines(world) -> None:
    world.begun(Kind.SPOT)
    for _ in range(2):
        world.aws.event({"event": "spot-interruption"})
        world.run(timedelta(minutes=10))
    world.run(timedelta(minutes=10))
    asked = world.calls("DescribeSpotInstanceRequests")
    world.run(timedelta(hours=1))
    assert world.calls("DescribeSpotInstanceRequests") == asked


def test_too_little_time_left_asks_for_nothing(world) -> None:
    number = world.begun(Kind.SPOT)
    end = world.receipt(number).segments[0].end
    world.run_until(end - timedelta(minutes=40))
    world.aws.event({"event": "spot-interruption"})
    world.run(timedelta(minutes=3))
    assert world.said("Too little time is left")


def test_the_part_that_is_missing_gets_its_share_of_the_cap(world) -> None:
    number = world.begun(Kind.SPOT)
    receipt = world.receipt(number)
    start, end = receipt.segments[0].start, receipt.segments[0].end
    half = missing_part(
        world.reservation(number).request,
        receipt,
        count=1,
        now=start + (end - start) / 2,
        end=end,
    )
    assert half.max_total_usd == Decimal("25.00")
    assert half.duration_hours == 24
    assert half.minimum_count is None


def test_health_says_how_busy_the_gpus_are_and_how_it_knows(world) -> None:
    number = world.begun(Kind.CAPACITY_BLOCK)
    machine = started_with_kit(world, number)
    world.run(timedelta(minutes=2))
    assert "No agent reports to CloudWatch" in words(world.uses.healing.health(number))
    world.aws.event({"event": "gpu-utilisation", "instance": machine, "percent": 42})
    world.run(timedelta(minutes=40))
    said = words(world.uses.healing.health(number))
    assert "GPUs are 42 % busy on average (CloudWatch, last 30 min, 1 of 1 machine" in said


def test_health_says_that_gpus_could_not_be_read(world_with) -> None:
    world = world_with(denied=[{"operation": "ListMetrics"}])
    number = world.begun(Kind.CAPACITY_BLOCK)
    started_with_kit(world, number)
    world.run(timedelta(minutes=2))
    said = words(world.uses.healing.health(number))
    assert "CloudWatch could not be asked how busy the GPUs are (refused: Access" in said


def signalled(world, number, what, machine, *, signal="event-1"):
    """Have a look due as an event of AWS would, and let it be made."""
    with world.store.transaction() as tx:
        due = signal_due(number, what, machine, signal, at=world.clock.now())
        tx.dues.plan(due)
    world.settle()


def spot_machine(world, number):
    found = world.client("ec2").describe_instances(
        Filters=[{"Name": "reservation-id", "Values": [world.receipt(number).id]}]
    )
    return found["Reservations"][0]["Instances"][0]["InstanceId"]


def test_an_interruption_event_is_told_at_once_and_the_next_look_tells_no_second_time(world):
    number = world.begun(Kind.SPOT)
    machine = spot_machine(world, number)
    world.aws.event({"event": "spot-interruption", "instance": machine})
    signalled(world, number, "interruption", machine)
    assert len(world.said("Spot interruption")) == 1
    world.run(timedelta(minutes=30))
    assert len(world.said("Spot interruption")) == 1
    assert world.quoted == [number + 1]


def test_an_event_after_the_look_tells_nothing_new(world):
    number = world.begun(Kind.SPOT)
    machine = spot_machine(world, number)
    world.aws.event({"event": "spot-interruption", "instance": machine})
    world.run(timedelta(seconds=100))
    signalled(world, number, "interruption", machine)
    signalled(world, number, "rebalance", machine, signal="event-2")
    world.run(timedelta(minutes=5))
    assert len(world.said("Spot interruption")) == 1
    assert not world.said("at risk")


def test_a_forged_interruption_is_looked_into_and_not_told(world):
    number = world.begun(Kind.SPOT)
    signalled(world, number, "interruption", spot_machine(world, number))
    world.run(timedelta(minutes=10))
    assert not world.said("Spot interruption")
    assert world.quoted == []


def test_a_notice_that_the_books_show_late_is_looked_for_again(world):
    number = world.begun(Kind.SPOT)
    machine = spot_machine(world, number)
    signalled(world, number, "interruption", machine)
    world.aws.event({"event": "spot-interruption", "instance": machine})
    world.run(timedelta(seconds=11))
    assert len(world.said("Spot interruption")) == 1


def test_a_rebalance_recommendation_for_our_machine_is_told_once_and_asks_for_nothing(world):
    number = world.begun(Kind.SPOT)
    machine = spot_machine(world, number)
    for signal in ("event-1", "event-2"):
        signalled(world, number, "rebalance", machine, signal=signal)
    (said,) = world.said("at risk")
    assert machine in plain(said)
    assert world.quoted == []


def test_a_rebalance_recommendation_for_a_strangers_machine_is_not_told(world):
    number = world.begun(Kind.SPOT)
    signalled(world, number, "rebalance", "i-0123456789abcdef0")
    assert not world.said("at risk")
