"""Without capacity a launch goes elsewhere, then waits for quieter hours, inside its approval."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from bot.domain.errors import IndeterminateError, NotAllowedError, UserError
from bot.domain.lifecycle import PurchaseState, ReservationState
from bot.domain.market import Kind, Market
from bot.domain.using import Found, Leftover, LeftoverKind
from bot.policy.configuration import Account
from bot.services.commitments.walking import places_of
from bot.services.purchases.quiet_hours import is_quiet, next_quiet
from tests.fakes.aws import Mood
from tests.fakes.clock import NOW
from tests.services.money.stage import (
    APP1,
    OTHER,
    REQ,
    World,
    asap,
    block,
    configuration,
    parsed,
    rate,
)

S, P = ReservationState, PurchaseState
REGIONS = ("us-east-1", "us-east-2", "us-west-2")


def spread(*, prices=(50, 51, 52), subnets=None, **update) -> World:
    account = Account(
        name="research", account_id="111122223333", regions=REGIONS, subnets=subnets or {}
    )
    rows = tuple(
        rate(
            region=region,
            ref=f"od:{region}",
            usd_per_hour=Decimal(price),
        )
        for region, price in zip(REGIONS, prices, strict=True)
    )
    return World(
        configuration=configuration(accounts=(account,), **update),
        market=Market(as_of=NOW, hourly=rows),
    )


def tried(world, reservation_id=1):
    return [(row.leg.region, row.leg.zone, row.state) for row in world.purchases(reservation_id)]


def test_without_capacity_the_next_region_in_the_decided_order_is_tried():
    world = spread()
    proposal = world.approved(asap())
    world.aws.moods = [Mood.FULL]
    world.work()
    assert tried(world)[0] == ("us-east-1", None, P.REFUSED)
    # The other regions cost more than was approved, so that nothing is bought there.
    assert len(tried(world)) == 1
    assert world.state(proposal.reservation_id) is S.QUOTED


def test_a_region_at_no_more_than_the_approved_price_is_launched_in():
    world = spread(prices=(50, 50, 50))
    world.approved(asap())
    world.aws.moods = [Mood.FULL, Mood.FULL]
    world.work()
    assert [region for region, _, _ in tried(world)] == list(REGIONS)
    assert [state for _, _, state in tried(world)] == [P.REFUSED, P.REFUSED, P.CONFIRMED]
    assert len({call.id for call in world.aws.calls}) == 3
    assert [call.leg.region for call in world.aws.calls] == list(REGIONS)
    assert world.money("committed") == Decimal(2400)
    assert world.money("held") == Decimal(0)


@pytest.mark.parametrize(
    "change",
    [
        {"instance_count": 1},
        {"instance_type": "p4d.24xlarge"},
        {"kind": Kind.SPOT},
        {"account": "serving"},
    ],
)
def test_only_the_very_same_machines_are_launched_elsewhere(change):
    world = spread(prices=(50, 50, 50))
    proposal = world.proposed(asap())
    with world.store.reading() as tx:
        record = tx.decisions.latest(1)
    options = tuple(
        option if option.region == "us-east-1" else option.model_copy(update=change)
        for option in record.decision.options
    )
    other = record.model_copy(
        update={"decision": record.decision.model_copy(update={"options": options})}
    )
    places = places_of(proposal.legs[0], proposal, other, world.configuration)
    assert {leg.region for leg in places.legs} == {"us-east-1"}


def test_zones_with_a_subnet_come_before_other_regions():
    world = spread(
        prices=(50, 50, 50), subnets={"us-east-1b": "subnet-b", "us-east-1a": "subnet-a"}
    )
    world.approved(asap())
    world.aws.moods = [Mood.FULL, Mood.FULL, Mood.FULL]
    world.work()
    assert [(region, zone) for region, zone, _ in tried(world)] == [
        ("us-east-1", None),
        ("us-east-1", "us-east-1a"),
        ("us-east-1", "us-east-1b"),
        ("us-east-2", None),
    ]


@pytest.mark.parametrize(
    "mood", [Mood.LOSE_ANSWER, Mood.LOSE_REQUEST, Mood.EMPTY_ANSWER, Mood.FAIL_AFTER]
)
def test_doubt_never_leads_to_another_place(mood):
    world = spread(prices=(50, 50, 50))
    proposal = world.approved(asap())
    world.aws.moods = [mood]
    world.work(kinds={"buy"})
    world.purchasing.buy(proposal.reservation_id)
    assert len(world.aws.calls) == 1


def test_a_quota_does_not_lead_elsewhere():
    world = spread(prices=(50, 50, 50))
    proposal = world.approved(asap())
    world.aws.moods = [Mood.QUOTA]
    world.work()
    assert len(world.aws.calls) == 1
    assert world.state(proposal.reservation_id) is S.BLOCKED


def test_a_crash_between_two_places_neither_repeats_nor_forgets():
    world = spread(prices=(50, 50, 50))
    proposal = world.approved(asap())
    world.aws.moods = [Mood.FULL]
    world.purchasing.buy(proposal.reservation_id)
    world.restart()
    world.work()
    assert [state for _, _, state in tried(world)] == [P.REFUSED, P.CONFIRMED]


def refused_everywhere(**how) -> World:
    world = spread(prices=(50, 50, 50), **how)
    world.approved(asap())
    world.aws.moods = [Mood.FULL] * 3
    world.work()
    return world


def test_refused_everywhere_frees_the_money_and_offers_to_go_on_trying():
    world = refused_everywhere()
    assert world.state(1) is S.QUOTED
    assert world.money("held", "committed") == Decimal(0)
    assert "quieter hours until" in world.said()["note:gpu-1:retry-1"]


def test_the_standing_retry_waits_as_approved_for_a_quiet_hour_and_buys_once():
    world = refused_everywhere()
    world.retrying.begin(1, by=REQ)
    assert world.state(1) is S.APPROVED
    assert world.money("held") == Decimal(2400)
    world.work()
    assert len(world.aws.calls) == 3
    world.run(timedelta(hours=24))
    assert len(world.aws.calls) == 4
    bought = world.aws.sold[0].at
    assert is_quiet("us-east-1", bought)
    assert world.state(1) in (S.PAYMENT_PENDING, S.ACTIVE, S.SCHEDULED)


def test_the_standing_retry_ends_at_its_time_and_frees_the_money():
    world = refused_everywhere()
    world.retrying.begin(1, by=REQ)
    world.aws.moods = [Mood.FULL] * 1000
    world.run(timedelta(hours=30))
    assert world.aws.sold == []
    assert world.state(1) in (S.EXPIRED, S.QUOTED)
    assert world.money("held", "committed") == Decimal(0)
    last = max(row.intended_at for row in world.purchases(1))
    assert last < NOW + timedelta(hours=25)
    rounds = {row.intended_at for row in world.purchases(1)}
    assert 5 < len(rounds) < 20
    assert {region for region, _, _ in tried(world)[3:]} == set(REGIONS)
    assert sum("retry-" in key for key in world.said()) == 1


def test_a_standing_retry_can_be_cancelled_while_it_waits():
    world = refused_everywhere()
    world.retrying.begin(1, by=REQ)
    world.asking.cancel(1, by=REQ)
    world.run(timedelta(hours=24))
    assert len(world.aws.calls) == 3
    assert world.money("held", "committed") == Decimal(0)


def test_agreeing_twice_to_a_standing_retry_changes_nothing():
    world = refused_everywhere()
    world.retrying.begin(1, by=REQ)
    world.retrying.begin(1, by=REQ)
    assert world.money("held") == Decimal(2400)


def test_only_those_concerned_have_it_tried_again():
    world = refused_everywhere()
    with pytest.raises(NotAllowedError):
        world.retrying.begin(1, by=OTHER)


def test_an_approval_that_was_replaced_is_not_tried_again():
    world = refused_everywhere()
    world.aws.market = Market(as_of=NOW, offerings=(block(),))
    world.asking.change(1, parsed(), by=REQ)
    world.work()
    world.proposing.propose(1, by=REQ)
    with pytest.raises(UserError):
        world.retrying.begin(1, by=REQ)
    world.run(timedelta(hours=3))
    assert len(world.aws.calls) == 3


def test_a_standing_retry_needs_the_budget_like_any_purchase():
    world = refused_everywhere(daily_ceiling_usd=Decimal(2400))
    world.aws.market = Market(as_of=NOW, offerings=(block(upfront_fee=Decimal(2400)),))
    other = world.quoted()
    world.approving.approve(world.proposing.propose(other.id, by=REQ).id, by=APP1)
    with pytest.raises(UserError):
        world.retrying.begin(1, by=REQ)
    assert world.money("held") == Decimal(2400)


def test_a_fixed_start_is_not_tried_after_it_has_passed():
    world = spread(prices=(50, 50, 50))
    start = NOW + timedelta(hours=1)
    world.approved(asap(earliest_start=start, latest_start=start))
    world.aws.moods = [Mood.FULL] * 3
    world.clock.set(start)
    world.work()
    assert len(world.aws.calls) == 3
    assert "note:gpu-1:retry-1" not in world.said()


@pytest.mark.parametrize(
    ("region", "hour", "quiet"),
    [
        ("us-east-1", 15, False),
        ("us-east-1", 2, True),
        ("ap-northeast-1", 15, True),
        ("eu-north-1", 15, False),
    ],
)
def test_quiet_hours_are_the_nights_of_the_region(region, hour, quiet):
    assert is_quiet(region, datetime(2027, 3, 10, hour, tzinfo=UTC)) is quiet
    assert next_quiet(region, NOW).minute == 0


def test_weekends_are_quiet_all_day():
    assert is_quiet("us-east-1", datetime(2027, 3, 13, 16, tzinfo=UTC))


# --- the agreed end ------------------------------------------------------------------------------


def running(**how) -> World:
    world = spread(**how)
    world.aws.state = "running"
    world.approved(asap())
    world.work()
    return world


def test_a_launch_that_runs_past_its_agreed_end_pages_who_approved_it():
    world = running()
    world.run(timedelta(hours=23))
    assert not [key for key in world.said() if "overstay" in key]
    world.run(timedelta(hours=2))
    pages = {key: text for key, text in world.said().items() if "overstay" in key}
    assert len(pages) == 2
    assert any(text.startswith(f"{APP1} ") for text in pages.values())
    assert all("$2,400.00 is used up" in text and "$100.00" in text for text in pages.values())


def test_a_launch_that_ended_pages_nobody():
    world = running()
    world.aws.show(world.aws.sold[0].receipt.id, state="terminated")
    world.run(timedelta(hours=26))
    assert not [key for key in world.said() if "overstay" in key]


def leftovers(world, purchase="gpubot"):
    receipt = world.aws.sold[0].receipt
    mine, other = receipt.purchase_id, "somebody-else"
    common = {"account": "research", "region": "us-east-1", "state": "running"}
    return Found(
        items=(
            Leftover(kind=LeftoverKind.INSTANCE, id="i-1", purchase=mine, **common),
            Leftover(kind=LeftoverKind.INSTANCE, id="i-2", purchase=other, **common),
            Leftover(kind=LeftoverKind.VOLUME, id="vol-1", purchase=mine, **common),
        ),
        not_read=(),
    )


def test_at_the_agreed_end_only_this_purchases_machines_are_ended_and_only_if_ruled():
    base = configuration()
    for stop in (False, True):
        limits = base.limits.model_copy(update={"stop_at_end": stop})
        world = running(limits=limits)
        world.aws.left = leftovers(world)
        world.run(timedelta(hours=25))
        assert {one.id for one in world.aws.removed} == ({"i-1"} if stop else set())


def test_ending_that_fails_is_said_and_tried_again():
    base = configuration()
    world = running(limits=base.limits.model_copy(update={"stop_at_end": True}))
    world.aws.left = leftovers(world)
    world.aws.remove_error = IndeterminateError("Timeout", "no answer")
    world.run(timedelta(hours=24, minutes=12))
    assert any("could not be ended" in text for text in world.said().values())
    assert len(world.aws.removed) >= 2


def test_capacity_that_aws_ends_itself_is_not_watched():
    world = World()
    world.bought()
    world.run(timedelta(days=9))
    assert not [key for key in world.said() if "overstay" in key]
    assert Kind.CAPACITY_BLOCK is world.purchases(1)[0].leg.kind
