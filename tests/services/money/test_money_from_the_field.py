"""Faults of money and approval from the field, with the values that are right."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from bot.catalog import packaged
from bot.domain.errors import UnknownRecordError, UserError
from bot.domain.lifecycle import ReservationState
from bot.domain.market import Kind, Market, Segment
from bot.domain.request import Request, Target
from bot.engine.asking import block_searches
from bot.services.words.views import Views
from handlers.cards.approval import approval_card
from tests.fakes.aws import Mood
from tests.fakes.clock import NOW
from tests.services.money.stage import (
    APP1,
    REQ,
    START,
    World,
    asap,
    block,
    configuration,
    rate,
    request,
)
from tests.unit.language.said import said

S = ReservationState


@pytest.fixture
def world() -> World:
    return World()


def views(world) -> Views:
    return Views(
        store=world.store,
        clock=world.clock,
        verifying=world.approving.verifying,
        configuration=world.configuration,
    )


def test_after_four_hours_of_silence_it_is_expired_without_buttons_and_its_money_free(world):
    proposal = world.proposed()
    world.run(timedelta(hours=4) - timedelta(seconds=1))
    assert world.state(proposal.reservation_id) is S.PENDING_APPROVAL
    world.run(timedelta(seconds=1))
    assert world.state(proposal.reservation_id) is S.EXPIRED
    assert world.money("held", "committed") == 0
    card = str(approval_card(views(world).proposal(proposal.id)).blocks)
    assert "gpu.approve" not in card
    assert "gpu.deny" not in card
    world.run(timedelta(days=1))
    told = [text for key, text in world.said().items() if "expired" in key]
    assert len(told) == 1
    assert REQ in told[0]
    with pytest.raises(UserError, match="expired"):
        world.approving.approve(proposal.id, by=APP1)
    assert world.aws.calls == []


def test_a_day_from_now_that_is_approved_five_hours_later_is_still_a_whole_day():
    rules = configuration().approval
    patient = tuple(tier.model_copy(update={"expires": timedelta(hours=8)}) for tier in rules.tiers)
    world = World(
        market=Market(as_of=NOW, hourly=(rate(),)),
        configuration=configuration(approval=rules.model_copy(update={"tiers": patient})),
    )
    world.aws.state = "pending"
    world.clock.set(datetime(2027, 3, 10, 10, tzinfo=UTC) + timedelta(days=1))
    proposal = world.proposed(asap())
    world.clock.advance(timedelta(hours=5))
    world.approving.approve(proposal.id, by=APP1)
    world.work(kinds={"buy"})
    (segment,) = world.aws.calls[0].leg.segments
    approved = datetime(2027, 3, 11, 15, tzinfo=UTC)
    assert (segment.start, segment.end) == (approved, approved + timedelta(hours=24))
    assert world.aws.calls[0].fee == 2 * 24 * Decimal("55.04")


def test_a_plan_that_meets_a_used_up_quota_is_blocked_and_nothing_else_happens():
    offer = block(
        "tpo-1",
        kind=Kind.TRAINING_PLAN,
        instance_type="ml.p5.48xlarge",
        target_resources=(Target.TRAINING_JOB,),
        segments=(Segment(start=START, end=START + timedelta(days=3), zone="us-east-1b"),),
    )
    world = World(market=Market(as_of=NOW, offerings=(offer,)))
    world.aws.moods = [Mood.QUOTA]
    wanted = request(target=Target.TRAINING_JOB)
    proposal = world.bought(wanted)
    number = proposal.reservation_id
    assert world.state(number) is S.BLOCKED
    [told] = [text for text in world.said().values() if text.startswith(REQ)]
    assert "Blocked: quota." in told
    assert "the limit is that of ml.p5.48xlarge" in told.lower()
    assert "then search again" in told
    assert world.aws.searches == []
    assert world.money("held", "committed") == 0
    with world.store.transaction() as tx:
        assert tx.dues.withdraw(f"gpu-{number}", kinds={"remind", "follow"}) == 0
    world.quoting.again(number, by=REQ)
    world.work()
    second = world.approving.propose(number, by=REQ)
    world.approving.approve(second.id, by=APP1)
    world.work()
    assert len(world.aws.sold) == 1


def test_a_click_on_what_this_database_does_not_know_buys_nothing(world):
    for answer in (
        lambda: world.approving.approve(999, by=APP1),
        lambda: world.approving.deny(999, by=APP1, reason="no"),
    ):
        with pytest.raises(UnknownRecordError):
            answer()
    world.work()
    assert world.aws.calls == []


def _from_noon(day: str) -> Request:
    text = f'p5.48xlarge x1 start="{day} 12:00 America/New_York" 2d'
    return said(text, zone="UTC").request


@pytest.mark.parametrize("day", ["2027-03-13", "2027-11-06"])
def test_two_days_across_a_clock_change_are_paid_as_48_hours(day):
    world = World(market=Market(as_of=NOW, hourly=(rate(),)))
    quoted = world.quoted(_from_noon(day).model_copy(update={"latest_start": None}))
    option = quoted.option or views(world).card(quoted.id).decision.options[0]
    assert option.total_usd == 48 * Decimal("55.04")
    (segment,) = option.segments
    assert segment.end - segment.start == timedelta(hours=48)


def test_blocks_for_two_days_across_a_clock_change_are_whole_days_that_hold_48_hours():
    searches = block_searches(_from_noon("2027-03-13"), now=NOW, catalog=packaged(), answered={})
    assert searches
    assert all(one.hours >= 48 and one.hours % 24 == 0 for one in searches)
