"""What spot machines really cost, at the prices that moved after the approval."""

from datetime import timedelta
from decimal import Decimal

import pytest

from bot.domain.market import Kind
from bot.domain.using import SpotPrice
from bot.services.reservations.drifting import Drifting
from bot.services.reservations.sequels import SPOT_SPEND
from bot.services.words.pleading import Pleading
from tests.fakes.aws import FakeSpotPrices
from tests.fakes.bell import FakeBell
from tests.fakes.clock import NOW
from tests.services.after.after_world import stores, world_on

HOUR = timedelta(hours=1)
DAY = 24 * HOUR
DEARER = "has used up the approved"


@pytest.fixture(params=["memory", "sqlite"])
def world(request, tmp_path):
    world = world_on(stores(tmp_path)[request.param])
    world.prices = FakeSpotPrices([SpotPrice(at=NOW - DAY, usd_per_hour=Decimal(10))])
    world.duties.steps[SPOT_SPEND] = Drifting(
        store=world.store,
        clock=world.clock,
        prices=world.prices,
        telling=world.following.telling,
        pleading=Pleading(configuration=world.configuration),
        bell=FakeBell(),
    ).look
    yield world
    world.store.close()


def held(world, *, kind: Kind = Kind.SPOT):
    """Two machines for a day at $10 an hour each: $480 are approved."""
    reservation = world.bought(NOW, NOW + DAY, kind=kind, state="active", fee="480.00")
    shown = {"state": "running", "total_count": 2, "available_count": 2}
    world.holdings.shown[f"cr-{reservation.id}"] = shown
    return reservation


def dearer(world, after: timedelta, usd: str) -> None:
    world.prices.changes.append(SpotPrice(at=NOW + after, usd_per_hour=Decimal(usd)))


def pages(world) -> list[str]:
    return [key for key in world.messenger.said if "dearer-" in key]


def test_at_the_approved_price_nobody_is_paged(world):
    held(world)
    world.run_until(NOW + 2 * DAY)
    assert pages(world) == []


def test_past_the_approved_total_the_approver_is_paged_once_before_the_end(world):
    held(world)
    dearer(world, 4 * HOUR, "20")
    world.run_until(NOW + 13 * HOUR)
    assert pages(world) == []
    world.run_until(NOW + 14 * HOUR + timedelta(minutes=1))
    assert len(pages(world)) == 2
    [note, ask] = world.saying(DEARER)
    for said in (note, ask):
        assert "has used up the approved $480.00" in said
        assert "costs $40.00 an hour now" in said
        assert "it would come to about $880" in said
    assert "U0BRUNO" in note + ask
    world.run_until(NOW + 2 * DAY)
    assert len(pages(world)) == 2


def test_a_price_that_fell_first_buys_more_time(world):
    held(world)
    dearer(world, 2 * HOUR, "5")
    dearer(world, 12 * HOUR, "20")
    world.run_until(NOW + 20 * HOUR + timedelta(minutes=28))
    assert pages(world) == []
    world.run_until(NOW + 20 * HOUR + timedelta(minutes=32))
    assert len(pages(world)) == 2


def test_an_outage_of_the_price_history_is_made_up_for(world):
    held(world)
    dearer(world, 4 * HOUR, "20")
    world.prices.unreadable = True
    world.run_until(NOW + 16 * HOUR)
    assert pages(world) == []
    world.prices.unreadable = False
    world.run_until(NOW + 17 * HOUR)
    assert len(pages(world)) == 2


def test_machines_that_have_ended_cost_nothing_more(world):
    reservation = held(world)
    dearer(world, 4 * HOUR, "20")
    shown = {"state": "running", "total_count": 2, "available_count": 1, "unhealthy_count": 1}
    world.run_until(NOW + 3 * HOUR)
    world.holdings.shown[f"cr-{reservation.id}"] = shown
    world.run_until(NOW + DAY)
    assert pages(world) == []


def test_a_launch_that_is_over_is_not_followed_any_more(world):
    reservation = held(world)
    dearer(world, 4 * HOUR, "20")
    world.run_until(NOW + 3 * HOUR)
    world.holdings.shown[f"cr-{reservation.id}"] = {"state": "terminated"}
    world.run_until(NOW + 2 * DAY)
    assert pages(world) == []


def test_only_spot_has_a_price_that_moves(world):
    held(world, kind=Kind.ON_DEMAND)
    dearer(world, 4 * HOUR, "20")
    world.run_until(NOW + 2 * DAY)
    assert pages(world) == []


def test_a_price_that_aws_does_not_show_is_the_approved_one(world):
    held(world)
    world.prices.changes.clear()
    world.run_until(NOW + 2 * DAY)
    assert pages(world) == []
