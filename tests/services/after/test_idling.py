from datetime import UTC, datetime, timedelta

import pytest

from bot.domain.market import Segment
from bot.domain.saying import Mention

START = datetime(2027, 3, 12, 11, 30, tzinfo=UTC)
END = datetime(2027, 3, 14, 11, 30, tzinfo=UTC)
IDLE = "stands idle"


def show(world, reservation, *, free: int = 0, total: int = 2, ill: int = 0, **more) -> None:
    world.holdings.shown[f"cr-{reservation.id}"] = {
        "state": "active",
        "total_count": total,
        "available_count": free,
        "unhealthy_count": ill,
        **more,
    }


def to_owner(world) -> list[str]:
    return [key for key in world.messenger.said if key.startswith("tell:U0ANA:idle")]


def to_channel(world) -> list[str]:
    return [key for key in world.messenger.said if ":idle:" in key and key.startswith("note:")]


def test_nothing_launched_is_told_to_the_owner_half_an_hour_after_the_start(world) -> None:
    reservation = world.bought(START, END)
    show(world, reservation, free=2)
    world.run_until(START + timedelta(minutes=29))
    assert to_owner(world) == []
    world.run_until(START + timedelta(minutes=30))
    assert len(to_owner(world)) == 1
    [said] = world.saying(IDLE)
    assert "2 of 2 x p5.48xlarge cost $23.02 an hour" in said


def test_an_hour_later_the_channel_hears_of_it_and_then_nobody_any_more(world) -> None:
    reservation = world.bought(START, END)
    show(world, reservation, free=2)
    world.run_until(START + timedelta(minutes=89))
    assert to_channel(world) == []
    world.run_until(START + timedelta(minutes=91))
    assert len(to_channel(world)) == 1
    world.run_until(END)
    assert len(to_owner(world)) == 1
    assert len(to_channel(world)) == 1


def test_the_owner_is_not_pinged_a_second_time_in_the_channel(world) -> None:
    reservation = world.bought(START, END)
    show(world, reservation, free=2)
    world.run_until(START + timedelta(minutes=91))
    [note] = [world.messenger.said[key] for key in to_channel(world)]
    assert not [part for part in note.sections[0].sentences[0] if isinstance(part, Mention)]


def test_its_buttons_are_launch_release_and_keep(world) -> None:
    reservation = world.bought(START, END)
    show(world, reservation, free=2)
    world.run_until(START + timedelta(minutes=31))
    [note] = [world.messenger.said[key] for key in to_owner(world)]
    assert [press.action for press in note.presses] == ["gpu.launch", "gpu.release", "gpu.keep"]


def test_who_launches_in_time_hears_nothing(world) -> None:
    reservation = world.bought(START, END)
    show(world, reservation, free=0)
    world.run_until(END)
    assert world.saying(IDLE) == []


def test_use_that_stays_low_for_long_enough_is_told_and_a_short_dip_is_not(world) -> None:
    reservation = world.bought(START, END)
    show(world, reservation, free=0, total=4)
    world.run_until(START + timedelta(hours=20))
    show(world, reservation, free=3, total=4)
    world.run_until(START + timedelta(hours=20, minutes=31))
    show(world, reservation, free=0, total=4)
    world.run_until(START + timedelta(hours=22))
    assert world.saying(IDLE) == []
    show(world, reservation, free=3, total=4)
    world.run_until(START + timedelta(hours=24))
    [said] = [world.messenger.said[key] for key in to_owner(world)]
    assert said


def test_a_new_episode_is_told_anew_but_not_within_six_hours(world) -> None:
    reservation = world.bought(START, END)
    show(world, reservation, free=2)
    world.run_until(START + timedelta(hours=1))
    for hours in (2, 3, 4):
        show(world, reservation, free=2 * (hours % 2))
        world.run_until(START + timedelta(hours=hours))
    assert len(to_owner(world)) == 1
    show(world, reservation, free=2)
    world.run_until(START + timedelta(hours=24))
    assert len(to_owner(world)) == 2


def test_nobody_is_woken_for_it(world) -> None:
    night = START.replace(hour=22)
    reservation = world.bought(night, night + timedelta(days=1, hours=13, minutes=30))
    show(world, reservation, free=2)
    world.run_until(night + timedelta(hours=7))
    assert to_owner(world) == []
    world.run_until(night + timedelta(hours=8, minutes=1))
    assert len(to_owner(world)) == 1


def test_after_keep_nobody_says_more_of_this_episode(world) -> None:
    reservation = world.bought(START, END)
    show(world, reservation, free=2)
    world.run_until(START + timedelta(minutes=40))
    from bot.services.reservations.idling import Idling  # noqa: PLC0415 - only this case needs it

    with world.store.transaction() as tx:
        assert Idling(telling=world.following.telling).keep(
            tx, tx.receipts.get(f"cr-{reservation.id}"), now=world.clock.now()
        )
    world.run_until(END)
    assert to_channel(world) == []


def test_counts_that_could_not_be_read_prove_nothing(world) -> None:
    reservation = world.bought(START, END)
    show(world, reservation, free=2, last_error="throttled: RequestLimitExceeded")
    world.run_until(START + timedelta(hours=5))
    assert world.saying(IDLE) == []


def test_an_episode_that_can_no_longer_be_seen_is_not_told(world) -> None:
    reservation = world.bought(START, END)
    show(world, reservation, free=0)
    world.run_until(START + timedelta(hours=20, minutes=31))
    show(world, reservation, free=2)
    world.run_until(START + timedelta(hours=21, minutes=31))
    show(world, reservation, free=2, last_error="throttled: RequestLimitExceeded")
    already = len(world.saying(IDLE))
    world.run_until(START + timedelta(hours=30))
    assert len(world.saying(IDLE)) == already == 0


def test_an_ill_machine_is_told_once_with_what_to_do(world) -> None:
    reservation = world.bought(START, END)
    show(world, reservation, free=0)
    world.run_until(START + timedelta(hours=3))
    show(world, reservation, free=0, ill=1)
    world.run_until(START + timedelta(hours=9))
    [said] = world.saying("failed a check")
    assert "1 machine of 2" in said
    assert "about 10 minutes" in said
    show(world, reservation, free=0, ill=2)
    world.run_until(START + timedelta(hours=11))
    assert len(world.saying("failed a check")) == 2
    show(world, reservation, free=0)
    world.run_until(START + timedelta(hours=13))
    show(world, reservation, free=0, ill=1)
    world.run_until(START + timedelta(hours=15))
    assert len(world.saying("failed a check")) == 3


def test_an_ultraserver_is_mended_as_a_whole(world) -> None:
    reservation = world.bought(START, END)
    show(
        world,
        reservation,
        free=0,
        ill=1,
        instance_type="p6e-gb200.36xlarge",
        ultraserver_type="u-p6e-gb200x72",
    )
    world.run_until(START + timedelta(hours=1))
    [said] = world.saying("The lost hours are counted")
    assert "support case" in said
    assert "about 10 minutes" not in said
    [ready] = world.saying("is ready")
    assert "Usable until 2027-03-14T10:30Z" in ready


def test_the_report_counts_what_was_used_and_compares_honestly(world) -> None:
    reservation = world.bought(START, END, fee="1105.10")
    show(world, reservation, free=1)
    world.run_until(END - timedelta(minutes=20))
    show(world, reservation, state="expired")
    world.run_until(END + timedelta(minutes=10))
    [said] = world.saying("Report:")
    assert "$1,105.10 paid, 50 % used: 47.5 of 95.0 machine-hours" in said
    assert "$2.91 for each GPU-hour in use" in said


def test_hours_lost_to_an_ill_machine_stand_in_the_report(world) -> None:
    reservation = world.bought(START, END)
    show(world, reservation, free=0)
    world.run_until(START + timedelta(hours=4, minutes=30))
    show(world, reservation, free=0, ill=1)
    world.run_until(START + timedelta(hours=14, minutes=30))
    show(world, reservation, free=0)
    world.run_until(END - timedelta(minutes=20))
    show(world, reservation, state="expired")
    world.run_until(END + timedelta(minutes=10))
    [said] = world.saying("Report:")
    assert "10.0 machine-hours were lost to machines that were ill" in said


def test_hours_that_nobody_saw_are_said_to_be_unseen(world) -> None:
    reservation = world.bought(START, END)
    show(world, reservation, free=0)
    world.run_until(START + timedelta(hours=4, minutes=30))
    world.clock.set(START + timedelta(hours=24, minutes=30))
    world.start()
    world.run_until(END - timedelta(minutes=20))
    show(world, reservation, state="expired")
    world.run_until(END + timedelta(minutes=10))
    [said] = world.saying("Report:")
    assert "nobody could see" in said


@pytest.mark.parametrize("ahead", [timedelta(0), timedelta(days=3)])
def test_two_parts_are_told_one_by_one(world, ahead) -> None:
    second = Segment(start=END + ahead + timedelta(days=1), end=END + ahead + timedelta(days=2))
    reservation = world.bought(START, END)
    parts = {"segments": (Segment(start=START, end=END, zone="us-east-1b"), second)}
    world.holdings.shown[f"cr-{reservation.id}"] = {"state": "scheduled", **parts}
    world.run_until(START - timedelta(minutes=5))
    show(world, reservation, free=0, **parts)
    world.run_until(END - timedelta(minutes=1))
    show(world, reservation, free=0, **parts)
    world.holdings.shown[f"cr-{reservation.id}"]["state"] = "scheduled"
    world.run_until(END + timedelta(hours=1))
    assert world.saying("part 1 of 2 is ready")
    assert len(world.saying("Part 2 of 2 starts")) == 1
    show(world, reservation, free=0, **parts)
    world.run_until(second.start + timedelta(hours=1))
    assert len(world.saying("part 2 of 2 is ready")) == 1
    assert len(world.saying("part 2 of 2: 2 x p5.48xlarge")) == 2


def test_a_joins_parts_that_stand_idle_together_are_told_once(world) -> None:
    reservation = world.bought(START, START + timedelta(days=3))
    with world.store.transaction() as tx:
        [first] = tx.receipts.of(reservation.id)
        tx.receipts.add(first.model_copy(update={"id": "cr-second", "revision": 0}))
    shown = {"state": "active", "total_count": 2, "available_count": 2}
    world.holdings.shown[first.id] = shown
    world.holdings.shown["cr-second"] = shown
    world.run_until(START + timedelta(hours=1))
    told = [key for key in world.messenger.said if key.startswith("tell:U0ANA:idle:")]
    assert len(told) == 1


def test_word_of_an_ill_machine_comes_with_the_button_that_shows_its_health(world) -> None:
    reservation = world.bought(START, END)
    show(world, reservation, ill=1)
    world.run_until(START + timedelta(minutes=30))
    [note] = [one for key, one in world.messenger.said.items() if ":unwell:" in key]
    assert [press.action for press in note.presses] == ["gpu.health"]
