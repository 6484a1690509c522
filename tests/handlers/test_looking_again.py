"""A status tells how old it is, and has AWS read again when that is over a minute."""

from datetime import timedelta

import pytest

from bot.services.digests.glancing import Glancing
from handlers.commands import shown_card
from tests.fakes.bell import FakeBell
from tests.fakes.clock import NOW
from tests.handlers.office import card
from tests.services.after.after_world import world_on


class DeskOf:
    def __init__(self, world) -> None:
        self.clock = world.clock
        self.views = self
        self.glancing = Glancing(
            store=world.store,
            clock=world.clock,
            following=world.following,
            telling=world.following.telling,
            bell=FakeBell(),
        )

    def copy(self, reservation_id: int, *, reader: str):
        return card()


@pytest.fixture
def world():
    world = world_on("memory://")
    yield world
    world.store.close()


def status(world, number: int) -> str:
    reply = shown_card(DeskOf(world), number, user="U0ANA", locale="en-US")
    return " ".join(message.text for message in reply.messages)


def test_what_is_older_than_a_minute_is_looked_at_again(world) -> None:
    reservation = world.bought(NOW - timedelta(days=1), NOW + timedelta(days=5), state="active")
    world.run_until(NOW + timedelta(hours=7, minutes=30))
    calls = world.holdings.calls
    said = status(world, reservation.id)
    assert "I am looking again" in said
    world.settle()
    assert world.holdings.calls == calls + 1


def test_what_is_fresh_is_not_looked_at_again_in_the_next_minute_either(world) -> None:
    reservation = world.bought(NOW - timedelta(days=1), NOW + timedelta(days=5), state="active")
    world.run_until(NOW + timedelta(hours=7, minutes=30, seconds=30))
    status(world, reservation.id)
    world.settle()
    world.clock.set(world.clock.now() + timedelta(seconds=40))
    assert "looking again" not in status(world, reservation.id)


def test_two_people_who_ask_within_a_minute_cost_one_look(world) -> None:
    reservation = world.bought(NOW - timedelta(days=1), NOW + timedelta(days=5), state="active")
    world.run_until(NOW + timedelta(hours=7, minutes=30))
    calls = world.holdings.calls
    for _ in range(3):
        status(world, reservation.id)
    world.settle()
    assert world.holdings.calls == calls + 1


def test_what_has_ended_is_not_read_again(world) -> None:
    reservation = world.bought(NOW - timedelta(days=3), NOW + timedelta(hours=1), state="active")
    world.holdings.shown[f"cr-{reservation.id}"] = {"state": "expired"}
    world.run_until(NOW + timedelta(hours=9))
    calls = world.holdings.calls
    assert "looking again" not in status(world, reservation.id)
    world.settle()
    assert world.holdings.calls == calls
