"""A quote that nobody takes up ends by itself, once, and can be asked for again."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from bot.domain.errors import UserError
from bot.domain.lifecycle import ReservationState as State
from bot.domain.market import Market
from bot.services.reservations.extensions import link
from tests.fakes.aws import CrashError, Mood
from tests.fakes.clock import NOW
from tests.services.money.stage import APP1, REQ, World, asap, asker, parsed, request

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
WEEK = 7 * DAY


@pytest.fixture(params=["memory", "sqlite"])
def world(request, tmp_path) -> Iterator[World]:
    url = "memory://" if request.param == "memory" else f"sqlite:///{tmp_path / 'lapse.sqlite'}"
    world = World(url=url)
    yield world
    world.store.close()


def allow(world: World, length: timedelta) -> None:
    """Have the file say so."""
    limits = world.configuration.limits.model_copy(update={"lapse_after": length})
    world.configuration = world.configuration.model_copy(update={"limits": limits})
    world.restart()


def lapses(world: World, number: int) -> list[str]:
    with world.store.reading() as tx:
        rows = tx.audit.of(number)
    return [row.facts["was"] for row in rows if row.action == "reservation.lapsed"]


def test_a_quote_that_nobody_answers_expires_after_a_week_and_says_so_once(world):
    number = world.quoted(asap()).id
    world.run(WEEK - timedelta(minutes=1))
    assert world.state(number) is State.QUOTED
    world.run(timedelta(minutes=1))
    assert world.state(number) is State.EXPIRED
    assert "Nobody went on with it for 7 days" in world.reservation(number).note
    world.run(WEEK)
    assert lapses(world, number) == ["quoted"]
    assert world.said() == {}


def test_a_quote_made_once_more_within_the_hour_plans_one_end(world):
    world.clock.set(NOW + timedelta(minutes=1))
    number = world.quoted(asap()).id
    world.run(timedelta(minutes=3))
    world.quoting.quote(number)
    with world.store.transaction() as tx:
        rows = tx.dues.claim(now=NOW + 9 * DAY, lease=HOUR, limit=100)
    assert [row.kind for row in rows].count("lapse") == 1


def test_the_limit_is_the_files(world):
    allow(world, 2 * DAY)
    number = world.quoted(asap()).id
    world.run(2 * DAY)
    assert world.state(number) is State.EXPIRED
    assert "for 2 days" in world.reservation(number).note


@pytest.mark.parametrize(
    ("asked", "last"),
    [
        ({"latest_start": NOW + 30 * HOUR}, 30 * HOUR),
        ({"latest_end": NOW + 90 * HOUR}, 18 * HOUR + 7.2 * HOUR),
    ],
)
def test_a_quote_expires_when_its_time_can_no_longer_be_met(world, asked, last):
    number = world.quoted(request(**{"earliest_start": None, "latest_start": None, **asked})).id
    world.run(last - timedelta(minutes=1))
    assert world.state(number) is State.QUOTED
    world.run(timedelta(minutes=1))
    assert world.state(number) is State.EXPIRED
    assert "The asked time has passed" in world.reservation(number).note


def test_what_a_late_search_found_is_shown_for_an_hour(world):
    number = world.quoted(asap(latest_start=NOW + timedelta(minutes=5))).id
    world.run(HOUR - timedelta(minutes=1))
    assert world.state(number) is State.QUOTED
    world.run(timedelta(minutes=1))
    assert world.state(number) is State.EXPIRED


def test_a_quote_that_somebody_turns_to_waits_from_then_on(world):
    number = world.quoted(asap()).id
    world.run(5 * DAY)
    world.asking.change(number, parsed(asap(instance_count=1)), by=REQ)
    world.run(WEEK - timedelta(minutes=1))
    assert world.state(number) is State.QUOTED
    world.run(timedelta(minutes=1))
    assert world.state(number) is State.EXPIRED


def test_what_is_before_approvers_or_bought_does_not_lapse(world):
    proposal = world.proposed()
    world.clock.set(NOW + WEEK)
    assert world.lapsing.lapse(proposal.reservation_id) == "left as it is: pending_approval"
    world.clock.set(NOW)
    world.approving.approve(proposal.id, by=APP1)
    world.purchasing.buy(proposal.reservation_id)
    world.run(WEEK)
    assert lapses(world, proposal.reservation_id) == []


def test_what_fell_back_to_a_quote_lapses_a_week_after_that(world):
    world.clock.advance(HOUR)
    proposal = world.approved(asap())
    world.aws.market = Market(as_of=NOW)
    world.clock.advance(HOUR)
    world.purchasing.buy(proposal.reservation_id)
    world.run(WEEK - timedelta(minutes=1))
    assert world.state(proposal.reservation_id) is State.QUOTED
    world.run(timedelta(minutes=1))
    assert world.state(proposal.reservation_id) is State.EXPIRED
    assert lapses(world, proposal.reservation_id) == ["quoted"]


def test_what_is_blocked_lapses_even_if_its_quote_was_before_approvers_then(world):
    allow(world, DAY)
    world.aws.moods = [Mood.QUOTA]
    number = world.quoted(asap()).id
    world.run(DAY - HOUR)
    proposal = world.approving.propose(number, by=REQ)
    world.run(2 * HOUR)
    world.approving.approve(proposal.id, by=APP1)
    world.work()
    assert world.state(number) is State.BLOCKED
    world.run(DAY)
    assert world.state(number) is State.EXPIRED
    assert lapses(world, number) == ["blocked"]


def test_what_expired_is_found_again_by_a_press_and_expires_again(world):
    number = world.quoted(asap()).id
    world.run(WEEK)
    world.quoting.again(number, by=REQ)
    world.work()
    assert world.state(number) is State.QUOTED
    world.run(WEEK)
    assert lapses(world, number) == ["quoted", "quoted"]


@pytest.mark.parametrize("before", [True, False])
def test_a_crash_around_the_end_neither_loses_nor_doubles_it(world, before):
    number = world.quoted(asap()).id
    world.work()
    world.clock.advance(WEEK)
    world.store.countdown, world.store.before = 1, before
    with pytest.raises(CrashError):
        world.lapsing.lapse(number)
    world.store.countdown = None
    world.restart()
    world.work()
    assert world.state(number) is State.EXPIRED
    assert lapses(world, number) == ["quoted"]


def test_the_row_is_planned_with_the_quote_or_neither(world):
    filed = world.asking.file(parsed(asap()), by=asker(), again=True).reservation
    assert filed is not None
    world.store.countdown, world.store.before = 3, True
    with pytest.raises(CrashError):
        world.quoting.quote(filed.id)
    assert world.state(filed.id) is State.REQUESTED
    with world.store.reading() as tx:
        assert tx.dues.next_at() == NOW


def test_an_extension_is_not_searched_for_as_something_new(world):
    number = world.quoted(asap()).id
    with world.store.transaction() as tx:
        link(tx, child=number, parent=99, now=NOW)
    with pytest.raises(UserError, match="more time for gpu-99") as refused:
        world.quoting.again(number, by=REQ)
    assert refused.value.hint == "extend gpu-99"
    world.run(WEEK)
    assert world.state(number) is State.QUOTED
