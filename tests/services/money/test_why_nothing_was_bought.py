"""Approvers can read what became of their approval, and why a question is no longer asked."""

from datetime import timedelta

import pytest

from bot.domain.errors import UserError
from bot.domain.lifecycle import ReservationState
from bot.domain.market import Kind, Market
from bot.domain.records import Switch
from bot.services.words.views import Views
from tests.fakes.clock import NOW
from tests.services.money.stage import (
    ADMIN,
    APP1,
    FEE,
    REQ,
    World,
    asap,
    block,
    parsed,
    rate,
    request,
)


def views(world) -> Views:
    return Views(
        store=world.store,
        clock=world.clock,
        verifying=world.approving.verifying,
        configuration=world.configuration,
    )


def test_what_is_gone_at_the_purchase_is_still_said_after_the_next_search():
    world = World()
    proposal = world.approved()
    world.aws.market = Market(as_of=NOW)
    world.purchasing.buy(proposal.reservation_id)
    world.work()
    assert world.state(proposal.reservation_id) is ReservationState.QUOTED
    said = views(world).proposal(proposal.id).not_bought
    assert said == "AWS no longer sells what was approved."


def test_an_approval_that_ran_out_says_so():
    world = World()
    proposal = world.approved()
    world.switching.set(Switch.OFF, by=ADMIN)
    world.run(timedelta(hours=5))
    said = views(world).proposal(proposal.id).not_bought
    assert said == "It could not be bought before the approval ran out."


def test_what_was_bought_has_no_such_reason():
    world = World()
    assert views(world).proposal(world.bought().id).not_bought == ""


def test_the_card_knows_above_which_sum_nobody_may_agree():
    world = World()
    last = world.configuration.approval.tiers[-1].up_to_usd
    assert views(world).card(world.quoted().id).approvable_up_to == last


def test_a_card_that_lost_its_power_says_why():
    world = World(
        market=Market(as_of=NOW, offerings=(block("cb-1"), block("cb-2", upfront_fee=FEE + 1)))
    )
    replaced = world.proposed()
    changed = world.approving.propose(replaced.reservation_id, by=REQ, rank=2)
    with pytest.raises(UserError, match="a newer question replaced it"):
        world.approving.approve(replaced.id, by=APP1)
    world.asking.change(changed.reservation_id, parsed(request(instance_count=1)), by=REQ)
    with pytest.raises(UserError, match="the request was changed"):
        world.approving.approve(changed.id, by=APP1)
    withdrawn = world.proposed()
    world.asking.cancel(withdrawn.reservation_id, by=REQ)
    with pytest.raises(UserError, match=f"withdrawn by @{REQ}"):
        world.approving.approve(withdrawn.id, by=APP1)


@pytest.mark.parametrize(
    ("market", "wanted", "sure"),
    [
        (Market(as_of=NOW, offerings=(block(),)), None, "shows it scheduled or active"),
        (Market(as_of=NOW, hourly=(rate(),)), asap(), "shows it active or running"),
    ],
)
def test_what_counts_as_yours_suits_the_kind(market, wanted, sure):
    world = World(market=market)
    proposal = world.bought(wanted)
    [said] = [text for text in world.said().values() if text.startswith((REQ, "Bought for"))][:1]
    hourly = proposal.option.kind is Kind.ON_DEMAND
    assert sure in said
    assert ("paid by the hour" in said) is hourly
