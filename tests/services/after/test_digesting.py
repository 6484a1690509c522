from datetime import UTC, datetime, timedelta

NINE = datetime(2027, 3, 11, 12, 0, tzinfo=UTC)
"""09:00 in São Paulo, as the example file says."""


def digests(world) -> list[str]:
    return [key for key in world.messenger.said if key.startswith("digest:")]


def busy(world) -> None:
    world.bought(NINE + timedelta(days=2), NINE + timedelta(days=4))


def test_it_is_posted_once_at_its_local_hour(world) -> None:
    busy(world)
    world.run_until(NINE - timedelta(seconds=1))
    assert digests(world) == []
    world.run_until(NINE + timedelta(minutes=1))
    assert digests(world) == ["digest:2027-03-11"]


def test_restarts_after_it_was_sent_send_no_other(world) -> None:
    busy(world)
    world.run_until(NINE + timedelta(minutes=1))
    for minutes in (5, 20, 40):
        world.clock.set(NINE + timedelta(minutes=minutes))
        world.start()
        world.settle()
    assert world.messenger.posts == len(world.messenger.said)
    assert digests(world) == ["digest:2027-03-11"]


def test_a_bot_that_was_away_at_nine_sends_it_when_it_is_back(world) -> None:
    busy(world)
    world.run_until(NINE - timedelta(minutes=5))
    world.clock.set(NINE + timedelta(minutes=10))
    world.start()
    world.settle()
    assert digests(world) == ["digest:2027-03-11"]


def test_a_reminder_and_the_digest_of_a_short_absence_come_once_and_late(world) -> None:
    world.bought(NINE + timedelta(days=1), NINE + timedelta(days=3))
    world.run_until(NINE - timedelta(minutes=5))
    for minutes in (10, 11):
        world.clock.set(NINE + timedelta(minutes=minutes))
        world.start()
        world.settle()
    assert digests(world) == ["digest:2027-03-11"]
    [reminder] = world.saying("Have ready")
    assert "late" in reminder
    assert world.messenger.posts == len(world.messenger.said)


def test_after_three_days_away_there_is_one_digest_and_it_is_todays(world) -> None:
    busy(world)
    world.clock.set(NINE + timedelta(days=3, minutes=10))
    world.start()
    world.settle()
    assert digests(world) == ["digest:2027-03-14"]


def test_there_is_one_a_day_across_a_clock_change(world) -> None:
    world.configuration = world.configuration.model_copy(
        update={
            "digest": world.configuration.digest.model_copy(
                update={"zone": "America/New_York", "at": "02:30", "when_empty": "post"}
            )
        }
    )
    world.start()
    world.run_until(datetime(2027, 3, 17, tzinfo=UTC))
    days = [f"digest:2027-03-{day}" for day in range(11, 17)]
    assert digests(world) == days


def test_an_empty_day_is_skipped_when_the_file_says_so(world) -> None:
    world.run_until(NINE + timedelta(minutes=1))
    assert digests(world) == []


def test_fees_add_up_to_the_cent(world) -> None:
    for _ in range(3):
        busy(world)
    world.run_until(NINE + timedelta(minutes=1))
    [said] = world.saying("vision this month")
    assert "$3,315.30 bought" in said


def test_it_says_what_starts_within_a_week(world) -> None:
    busy(world)
    world.run_until(NINE + timedelta(minutes=1))
    assert world.saying("gpu-1 2 x p5.48xlarge in us-east-1b starts 2027-03-13T12:00Z")


def test_sums_that_are_yesterdays_are_no_reason_for_a_digest(world) -> None:
    world.bought(NINE + timedelta(days=10), NINE + timedelta(days=12))
    world.run_until(NINE + timedelta(days=2, minutes=1))
    assert digests(world) == ["digest:2027-03-11"]
    world.bought(NINE + timedelta(days=20), NINE + timedelta(days=22))
    world.run_until(NINE + timedelta(days=2, hours=25))
    assert digests(world) == ["digest:2027-03-11", "digest:2027-03-14"]


def test_where_the_file_wants_a_digest_every_day_old_sums_are_told_too(world) -> None:
    world.configuration = world.configuration.model_copy(
        update={"digest": world.configuration.digest.model_copy(update={"when_empty": "post"})}
    )
    world.start()
    world.bought(NINE + timedelta(days=10), NINE + timedelta(days=12))
    world.run_until(NINE + timedelta(days=1, minutes=1))
    assert digests(world) == ["digest:2027-03-11", "digest:2027-03-12"]
