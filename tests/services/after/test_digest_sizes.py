import json
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from bot.domain.records import gpu_id
from handlers.cards.limits import MOST_BLOCKS, MOST_CHARACTERS
from handlers.cards.notes import note_messages
from tests.services.after.after_world import plain

NINE = datetime(2027, 3, 11, 12, 0, tzinfo=UTC)


def newest(world):
    keys = sorted(key for key in world.messenger.said if key.startswith("digest:"))
    return world.messenger.said[keys[-1]]


@pytest.mark.parametrize("count", [80, 800])
def test_it_fits_one_message_and_every_reservation_stays_reachable(world, count) -> None:
    for number in range(count):
        start = NINE + timedelta(hours=1 + number % 150)
        world.bought(start, start + timedelta(days=3))
    world.clock.set(NINE)
    with world.store.transaction() as tx:
        for name in tx.facts.starting_with("look:"):
            tx.facts.drop(name)
    world.settle()
    messages = note_messages(newest(world))
    assert len(messages) == 1
    assert len(messages[0].blocks) <= MOST_BLOCKS
    assert sum(len(json.dumps(block)) for block in messages[0].blocks) <= MOST_CHARACTERS
    text = plain(newest(world))
    listed = sum(
        f"{gpu_id(number)} " in text or f"{gpu_id(number)}," in text
        for number in range(1, count + 1)
    )
    assert listed >= 20
    assert "more: /gpu list all" in text


def test_what_is_as_yesterday_is_one_line_and_news_stand_in_full(world) -> None:
    for _ in range(3):
        world.bought(NINE + timedelta(days=5), NINE + timedelta(days=7))
    world.run_until(NINE + timedelta(minutes=1))
    assert "gpu-1 2 x p5.48xlarge" in plain(newest(world))
    world.bought(NINE + timedelta(days=4), NINE + timedelta(days=7))
    world.run_until(NINE + timedelta(days=1, minutes=1))
    text = plain(newest(world))
    assert "As yesterday: gpu-1, gpu-2, gpu-3." in text
    assert "gpu-4 2 x p5.48xlarge" in text
    assert "gpu-1 2 x p5.48xlarge" not in text


def test_counts_alone_are_no_news(world) -> None:
    reservation = world.bought(NINE - timedelta(hours=12), NINE + timedelta(days=9))
    for day, free in ((0, 0), (1, 1)):
        world.holdings.shown[f"cr-{reservation.id}"] = {
            "state": "active",
            "total_count": 2,
            "available_count": free,
        }
        world.run_until(NINE + timedelta(days=day, minutes=1))
    assert "As yesterday: gpu-1." in plain(newest(world))


def test_what_stands_idle_is_in_dollars_an_hour(world) -> None:
    reservation = world.bought(NINE - timedelta(hours=12), NINE + timedelta(days=1, hours=12))
    world.holdings.shown[f"cr-{reservation.id}"] = {
        "state": "active",
        "total_count": 2,
        "available_count": 2,
    }
    world.run_until(NINE + timedelta(minutes=1))
    assert "gpu-1 2 of 2 machines idle at $23.02 an hour." in plain(newest(world))


def test_after_the_last_usable_minute_it_says_that_machines_are_being_terminated(world) -> None:
    reservation = world.bought(NINE - timedelta(days=2), NINE + timedelta(minutes=15))
    world.holdings.shown[f"cr-{reservation.id}"] = {
        "state": "active",
        "total_count": 2,
        "available_count": 2,
    }
    world.run_until(NINE + timedelta(minutes=1))
    text = plain(newest(world))
    assert "ending, instances are being terminated" in text
    assert "idle at" not in text


def test_machines_that_still_run_shortly_before_the_end_need_cleaning_up(world) -> None:
    reservation = world.bought(NINE - timedelta(days=2), NINE + timedelta(hours=5))
    world.holdings.shown[f"cr-{reservation.id}"] = {
        "state": "active",
        "total_count": 2,
        "available_count": 0,
    }
    world.run_until(NINE + timedelta(minutes=1))
    assert "gpu-1: 2 machines still run in it" in plain(newest(world))


@pytest.mark.parametrize(
    ("zone", "at", "first"),
    [
        ("America/New_York", "02:30", date(2027, 3, 12)),
        ("America/New_York", "01:30", date(2027, 11, 5)),
        ("Europe/Berlin", "02:30", date(2027, 3, 26)),
        ("Europe/Berlin", "02:30", date(2027, 10, 29)),
    ],
)
def test_there_is_one_a_day_across_every_clock_change_and_restart(world, zone, at, first) -> None:
    world.configuration = world.configuration.model_copy(
        update={
            "digest": world.configuration.digest.model_copy(
                update={"zone": zone, "at": at, "when_empty": "post"}
            )
        }
    )
    begin = datetime(first.year, first.month, first.day, tzinfo=ZoneInfo(zone)).astimezone(UTC)
    world.clock.set(begin)
    with world.store.transaction() as tx:
        tx.facts.drop("digest:planned")
        tx.dues.withdraw("digest")
    world.start()
    for hours in range(5 * 24):
        world.run_until(begin + timedelta(hours=hours, minutes=45))
        world.start()
    keys = [key for key in world.messenger.said if key.startswith("digest:")]
    days = [f"digest:{first + timedelta(days=number)}" for number in range(5)]
    assert keys == days
    assert world.messenger.posts == len(world.messenger.said)
