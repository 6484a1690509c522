"""A watch speaks once, ends in time, and neither buys nor holds."""

from datetime import timedelta
from decimal import Decimal

import pytest

from bot.catalog import packaged
from bot.domain.errors import NotAllowedError, UnknownRecordError, UserError
from bot.language import parse
from tests.fakes.aws import CrashError
from tests.services.money.stage import FEE, OTHER, REQ, asker, block, request
from tests.services.watching.watch_world import LINE

FOUND = f"tell:{REQ}:watch-1:found"
ENDED = f"tell:{REQ}:watch-1:ended"
HOUR = timedelta(hours=1)


def test_the_pick_is_told_in_one_sentence_with_a_way_to_ask_for_it(world):
    world.watch()
    world.run(2 * HOUR)
    assert world.told() == {}
    world.sells(block())
    world.run(HOUR)
    words = world.told()[FOUND]
    assert "2 x p5.48xlarge as a Capacity Block in us-east-1b, $6,877.44 in all" in words
    assert f"/gpu {LINE}" in words
    assert "Nothing is bought or held" in words


def test_a_person_is_told_once_through_restarts_and_repeated_looks(world):
    world.watch()
    world.sells(block())
    world.work()
    for due in [*world.looks, *world.looks]:
        world.watching.look(due)
    world.restart()
    world.run(timedelta(days=2))
    assert list(world.told()) == [FOUND]
    assert len(world.looks) == 1


@pytest.mark.parametrize("before", [True, False])
def test_a_crash_around_the_word_neither_loses_nor_doubles_it(world, before):
    world.watch()
    world.sells(block())
    with world.store.transaction() as tx:
        [due] = tx.dues.claim(now=world.clock.now(), lease=HOUR, limit=9)
    world.store.countdown, world.store.before = 1, before
    with pytest.raises(CrashError):
        world.watching.look(due)
    world.store.countdown = None
    world.restart()
    world.watching.look(due)
    assert list(world.told()) == [FOUND]


def test_a_look_that_is_repeated_does_not_look_twice_as_often(world):
    world.watch()
    world.work()
    world.clock.advance(timedelta(minutes=1))
    world.watching.look(world.looks[0])
    world.run(timedelta(hours=5))
    assert len(world.looks) == 11


def test_it_looks_every_half_hour_and_every_hour_after_a_day(world):
    world.watch(request(earliest_start=None, latest_start=None))
    world.run(timedelta(days=2))
    gaps = {
        later.at - earlier.at for earlier, later in zip(world.looks, world.looks[1:], strict=False)
    }
    assert gaps == {timedelta(minutes=30), HOUR}
    assert len(world.looks) == 1 + 48 + 24


def test_a_price_over_the_cap_is_no_find_until_it_falls(world):
    world.watch(request(max_total_usd=Decimal(5000)))
    world.sells(block(upfront_fee=FEE))
    world.run(5 * HOUR)
    assert world.told() == {}
    world.aws.change("cb-1", upfront_fee=Decimal("4999.50"))
    world.run(HOUR)
    assert "$4,999.50 in all" in world.told()[FOUND]


@pytest.mark.parametrize("field", ["latest_start", "latest_end"])
def test_it_ends_when_the_time_that_was_asked_for_has_passed(world, field):
    at = world.clock.now() + timedelta(hours=30, minutes=7)
    world.watch(request(**{"earliest_start": None, "latest_start": None, field: at}))
    world.run(timedelta(hours=30))
    assert world.told() == {}
    world.run(timedelta(minutes=7))
    assert "I stop watching" in world.told()[ENDED]
    looks = len(world.looks)
    world.sells(block())
    world.run(timedelta(days=3))
    assert list(world.told()) == [ENDED]
    assert len(world.looks) == looks


def test_it_ends_after_fourteen_days_and_says_so_once(world):
    world.watch(request(earliest_start=None, latest_start=None))
    world.run(timedelta(days=14) - HOUR)
    assert world.told() == {}
    world.run(timedelta(days=3))
    assert list(world.told()) == [ENDED]
    assert "could not be read" not in world.told()[ENDED]


def test_what_could_not_be_read_is_not_nothing_and_the_looks_go_on(world):
    world.watch()
    world.sells(unread=True)
    world.run(6 * HOUR)
    assert world.told() == {}
    world.sells(block())
    world.run(HOUR)
    assert list(world.told()) == [FOUND]


def test_the_end_does_not_claim_nothing_was_on_sale_when_a_look_was_not_complete(world):
    world.watch()
    world.sells(unread=True)
    world.run(HOUR)
    world.sells()
    world.run(timedelta(days=14))
    assert "could not be read" in world.told()[ENDED]


def test_a_stopped_watch_says_nothing_more(world):
    number = world.watch()
    world.work()
    with pytest.raises(NotAllowedError):
        world.watching.stop(number, by=OTHER)
    assert "no longer watch" in world.watching.stop(number, by=REQ)
    assert "over already" in world.watching.stop(number, by=REQ)
    world.sells(block())
    world.run(timedelta(days=1))
    assert world.told() == {}
    with pytest.raises(UnknownRecordError):
        world.watching.stop(99, by=REQ)


def test_a_watch_that_is_stopped_during_a_look_says_nothing(world):
    number = world.watch()
    world.sells(block())
    read = world.aws.read

    def stopped_meanwhile(wanted, *, progress=None):
        world.watching.stop(number, by=REQ)
        return read(wanted, progress=progress)

    world.aws.read = stopped_meanwhile
    world.work()
    assert len(world.looks) == 1
    assert world.told() == {}


def test_ten_watches_are_the_most_and_the_way_out_is_told(world):
    lines = [f"watch {count} p5.48xlarge for 72h" for count in range(1, 12)]
    numbers = [world.watch(line=line) for line in lines[:10]]
    assert numbers == list(range(1, 11))
    with pytest.raises(UserError, match="press Stop watching") as refused:
        world.watch(line=lines[10])
    assert refused.value.hint == lines[0]
    assert world.watch(line=lines[0]) == 1
    assert world.watch(line=lines[10], user=OTHER) == 11
    world.watching.stop(1, by=REQ)
    assert world.watch(line=lines[10]) == 12


def test_a_time_that_has_passed_is_not_watched(world):
    with pytest.raises(UserError, match="passed"):
        world.watch(request(latest_start=world.clock.now()))


def test_nothing_is_bought_or_held_or_filed_by_a_watch(world):
    world.watch()
    world.sells(block())
    world.run(timedelta(days=1))
    assert FOUND in world.told()
    assert (world.aws.calls, world.aws.sold) == ([], [])
    assert world.money("held", "committed") == 0
    with world.store.reading() as tx:
        assert not tx.reservations.listing()


def test_what_was_found_is_asked_for_once_and_only_by_whoever_watched(world):
    number = world.watch()
    world.sells(block())
    world.work()
    assert world.watching.found(number, by=REQ).order == "reserve 2 p5.48xlarge for 72h"
    with pytest.raises(NotAllowedError):
        world.watching.found(number, by=OTHER)
    world.watching.filed(number, 5, by=REQ)
    with pytest.raises(UserError, match="gpu-5"):
        world.watching.found(number, by=REQ)


def test_a_watch_without_a_length_is_told_of_any(world):
    world.watch(
        request(earliest_start=None, latest_start=None, duration_hours=None),
        line="watch 2 p5.48xlarge",
    )
    world.sells(block())
    world.work()
    assert "$6,877.44" in world.told()[FOUND]


def test_a_find_without_a_length_is_asked_for_with_one(world):
    free = request(earliest_start=None, latest_start=None, duration_hours=None)
    number = world.watch(free, line="watch 2 p5.48xlarge")
    with pytest.raises(UserError, match="how long") as refused:
        world.watching.found(number, by=REQ)
    assert refused.value.hint == "reserve 2 p5.48xlarge for 1 day"


def test_a_find_whose_time_has_passed_is_not_asked_for(world):
    number = world.watch(request(latest_start=world.clock.now() + HOUR))
    world.clock.advance(HOUR)
    with pytest.raises(UserError, match="passed"):
        world.watching.found(number, by=REQ)


@pytest.mark.parametrize(
    "text",
    [
        "watch 2 p5.48xlarge for 3 days after Mar 11 by Mar 25",
        'watch 2 p5.48xlarge on Mar 15 for 2 days because "evals"',
        "watch 8 H100 for 3 days by Mar 25 under $20k in us-east-1",
    ],
)
def test_what_is_filed_days_later_is_what_was_watched_for(world, text):
    read = {"zone": "Europe/Berlin", "locale": "en-US", "catalog": packaged()}
    said = parse(text, now=world.clock.now(), **read)
    again = parse(text.replace("watch", "reserve"), now=world.clock.now(), **read)
    number = world.watch(said.request, line=said.line)
    world.run(timedelta(days=3))
    meant = world.watching.found(number, by=REQ).meant
    assert (meant.request, meant.line) == (again.request, again.line)
    filed = world.asking.file(meant, by=asker())
    assert filed.reservation.request == said.request


def test_a_watch_whose_time_is_over_does_not_look_any_more(world):
    world.watch(request(earliest_start=None, latest_start=None))
    world.run(timedelta(days=14) - timedelta(minutes=1))
    world.sells(block(), unread=True)
    world.run(HOUR)
    assert "could not be read" not in world.told()[ENDED]
    assert FOUND not in world.told()
