from datetime import UTC, datetime, timedelta

from bot.domain.market import Kind, Segment

START = datetime(2027, 3, 12, 11, 30, tzinfo=UTC)
END = datetime(2027, 3, 14, 11, 30, tzinfo=UTC)
SAVE = "save your work"


def make_active(world, reservation) -> None:
    world.holdings.shown[f"cr-{reservation.id}"] = {"state": "active"}


def test_the_start_is_reminded_of_a_day_and_an_hour_ahead(world) -> None:
    world.bought(START, END)
    world.run_until(START - timedelta(hours=24, seconds=1))
    assert world.saying("Have ready") == []
    world.run_until(START - timedelta(hours=23, minutes=59))
    assert len(world.saying("Have ready")) == 1
    world.run_until(START - timedelta(minutes=59))
    assert len(world.saying("Have ready")) == 2
    assert all("U0ANA" in said for said in world.saying("Have ready"))


def test_whoever_has_a_plan_for_endpoints_is_told_the_line_that_makes_one(world) -> None:
    plan = world.bought(START, END, kind=Kind.TRAINING_PLAN, target="endpoint")
    world.run_until(START - timedelta(hours=23, minutes=59))
    [said] = world.saying("Have your model in SageMaker by then.")
    assert f"/gpu endpoint create gpu-{plan.id} your-model" in said
    assert world.saying("job or cluster definition") == []


def test_the_last_usable_moment_is_before_the_end_and_told_before_aws_tells(world) -> None:
    reservation = world.bought(START, END)
    make_active(world, reservation)
    world.run_until(END - timedelta(minutes=41))
    said = world.saying(SAVE)
    assert len(said) == 4
    assert all("2027-03-14T11:00Z" in words for words in said)
    assert not any("11:30Z" in words for words in said)


def test_a_reminder_that_was_due_while_the_bot_was_away_is_said_once_and_marked_late(
    world,
) -> None:
    world.bought(START, END)
    world.clock.set(START - timedelta(hours=24) + timedelta(minutes=10))
    world.start()
    world.settle()
    [said] = world.saying("Have ready")
    assert "late" in said
    world.start()
    world.settle()
    assert len(world.saying("Have ready")) == 1


def test_reminders_of_a_block_that_ended_meanwhile_are_dropped_and_logged(world) -> None:
    world.bought(START, END)
    world.clock.set(END + timedelta(days=1))
    world.start()
    world.settle()
    assert world.saying("Have ready") == []
    assert world.saying(SAVE) == []
    assert any("due row dropped" in line for line in world.log.lines)


def test_after_a_later_end_only_the_new_times_fire(world) -> None:
    reservation = world.bought(START, END)
    make_active(world, reservation)
    world.run_until(START + timedelta(hours=1))
    later = END + timedelta(days=1)
    world.holdings.shown[f"cr-{reservation.id}"] = {
        "state": "active",
        "segments": (Segment(start=START, end=later, zone="us-east-1b"),),
    }
    world.run_until(END)
    assert not any("2027-03-14T11:00Z" in said for said in world.saying(SAVE))
    world.run_until(later)
    assert len(world.saying(SAVE)) == 5


def test_a_reservation_that_aws_dropped_is_not_reminded_of(world) -> None:
    reservation = world.bought(START, END)
    world.holdings.shown[f"cr-{reservation.id}"] = {"state": "cancelled"}
    world.run_until(END)
    assert world.saying("Have ready") == []
