"""What an end's reminder says of extensions that are allowed ahead, or asked for already."""

from datetime import timedelta
from decimal import Decimal

import pytest

from bot.services.reservations.permissions import PROLONG_BEFORE
from tests.services.after.after_world import stores
from tests.services.after.extend_world import END, ExtendWorld
from tests.services.money.stage import APP1, REQ

LAST = END - timedelta(minutes=30)


@pytest.fixture(params=["memory", "sqlite"])
def world(request, tmp_path):
    world = ExtendWorld(url=stores(tmp_path)[request.param])
    yield world
    world.store.close()


def until(world, moment) -> None:
    world.run(moment - world.clock.now())


def test_what_is_left_of_the_allowed_sum_is_told_in_a_whole_sentence(world) -> None:
    number = world.block_held()
    world.after.permit(number, up_to_usd=Decimal(5000), by=APP1)
    until(world, LAST - PROLONG_BEFORE - timedelta(hours=12))
    said = world.saying("Unless you press Let it end")
    whole = ", for at most $5,000.00, which is left of the $5,000.00 that U0APP1 allowed."
    assert said
    assert all(whole in one for one in said)


def test_while_more_time_is_asked_for_no_second_extension_is_offered(world) -> None:
    number = world.block_held()
    until(world, LAST - timedelta(hours=25))
    world.after.extend(number, hours=Decimal(24), by=REQ)
    until(world, LAST - timedelta(hours=23))
    [said] = world.saying("More time is asked for as")
    assert "save your work in time" in said
    assert "An extension can be bought until" not in said
    assert "gpu.extend" not in world.presses("More time is asked for as")
