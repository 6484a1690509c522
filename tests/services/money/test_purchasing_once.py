"""Buying: once, at no more than what was agreed, and doubt counts as spent."""

from datetime import timedelta
from decimal import Decimal

import pytest

from bot.domain.errors import MarketError
from bot.domain.lifecycle import PurchaseState, ReservationState
from bot.domain.market import Kind, Market, Segment
from bot.domain.records import Switch
from bot.services.purchases.settling import state_of
from tests.fakes.aws import CrashError, Mood
from tests.fakes.clock import NOW
from tests.services.money.stage import (
    ADMIN,
    APP1,
    FEE,
    QUOTA,
    START,
    World,
    asap,
    block,
    rate,
)

S, P = ReservationState, PurchaseState


@pytest.fixture
def world() -> World:
    return World()


def test_an_approved_block_is_bought_once_and_its_money_committed(world):
    proposal = world.bought()
    world.purchasing.buy(proposal.reservation_id)
    assert [sale.fee for sale in world.aws.sold] == [FEE]
    assert world.money("committed") == FEE
    assert world.state(proposal.reservation_id) is S.PAYMENT_PENDING


def test_no_state_runs_ahead_of_awss_own_word(world):
    world.aws.state = "scheduled"
    assert world.state(world.bought().reservation_id) is S.SCHEDULED


@pytest.mark.parametrize(
    ("words", "state"),
    [
        ((), S.PAYMENT_PENDING),
        (("active", "running"), S.ACTIVE),
        (("active", "scheduled"), S.SCHEDULED),
        (("active", "payment-pending"), S.PAYMENT_PENDING),
        (("scheduled", "payment-failed"), S.PAYMENT_PENDING),
        (("a word of next year",), S.PAYMENT_PENDING),
    ],
)
def test_a_reservation_is_as_far_as_its_slowest_part(world, words, state):
    world.bought()
    receipt = world.aws.sold[0].receipt
    receipts = [receipt.model_copy(update={"state": word}) for word in words]
    assert state_of(receipts) is state


def test_nothing_is_bought_before_it_is_approved(world):
    proposal = world.proposed()
    world.purchasing.buy(proposal.reservation_id)
    assert world.aws.calls == []


def test_submitted_is_on_disk_before_the_call_leaves(world):
    seen = []
    world.aws.before_buy = lambda purchase: seen.append(
        world.purchases(purchase.reservation_id)[0].state
    )
    world.bought()
    assert seen == [P.SUBMITTED]


def test_an_offer_that_got_dearer_is_not_bought(world):
    proposal = world.approved()
    world.aws.change("cb-1", upfront_fee=FEE + Decimal("0.01"))
    world.purchasing.buy(proposal.reservation_id)
    assert world.aws.calls == []
    assert world.state(proposal.reservation_id) is S.QUOTED
    assert world.money("held", "committed") == 0
    said = " ".join(world.said().values())
    assert "$6,877.44" in said
    assert "$6,877.45" in said


def test_an_offer_that_got_cheaper_is_bought_at_its_present_fee(world):
    proposal = world.approved()
    world.aws.change("cb-1", upfront_fee=Decimal("6000.00"))
    world.purchasing.buy(proposal.reservation_id)
    assert world.purchases(proposal.reservation_id)[0].fee == Decimal("6000.00")
    assert world.money("committed") == Decimal("6000.00")


def test_the_same_offer_under_a_fresh_id_is_bought_under_that_id(world):
    proposal = world.approved()
    world.aws.change("cb-1", ref="cb-9")
    world.purchasing.buy(proposal.reservation_id)
    assert [sale.ref for sale in world.aws.sold] == ["cb-9"]


@pytest.mark.parametrize(
    "update",
    [
        {"instance_count": 3},
        {"instance_type": "p5e.48xlarge"},
        {"zone": "us-east-1a"},
        {"currency": "EUR"},
        {"upfront_fee": None},
        {"segments": (Segment(start=START, end=START + timedelta(days=4), zone="us-east-1b"),)},
        {
            "segments": (
                Segment(
                    start=START + timedelta(minutes=61),
                    end=START + timedelta(days=3),
                    zone="us-east-1b",
                ),
            )
        },
        {
            "segments": (
                Segment(
                    start=START - timedelta(hours=1),
                    end=START + timedelta(days=3),
                    zone="us-east-1b",
                ),
            )
        },
    ],
)
def test_anything_else_than_the_approved_offer_is_not_bought(world, update):
    proposal = world.approved()
    world.aws.change("cb-1", ref="cb-other", **update)
    world.purchasing.buy(proposal.reservation_id)
    assert world.aws.calls == []
    assert world.state(proposal.reservation_id) is S.QUOTED


def test_a_sold_out_offer_is_said_to_be_gone_and_searched_again(world):
    proposal = world.approved()
    world.work(kinds={"quote"})
    world.aws.withdraw("cb-1")
    world.purchasing.buy(proposal.reservation_id)
    assert any("no longer sells" in words for words in world.said().values())
    assert world.work(kinds={"quote"}) == 1
    with world.store.reading() as tx:
        assert tx.decisions.latest(proposal.reservation_id).decision.options == ()


def test_after_a_price_change_only_a_fresh_approval_goes_on(world):
    proposal = world.approved()
    world.aws.change("cb-1", upfront_fee=Decimal("7000.00"))
    world.work()
    world.purchasing.buy(proposal.reservation_id)
    assert world.aws.calls == []
    second = world.approving.propose(proposal.reservation_id, by="U0REQ")
    world.approving.approve(second.id, by=APP1)
    world.work()
    assert [sale.fee for sale in world.aws.sold] == [Decimal("7000.00")]


def test_a_market_that_cannot_be_read_buys_nothing_and_changes_nothing(world):
    proposal = world.approved()
    world.aws.unreadable = True
    with pytest.raises(MarketError):
        world.purchasing.buy(proposal.reservation_id)
    assert world.aws.calls == []
    assert world.state(proposal.reservation_id) is S.APPROVED


def test_nothing_is_bought_after_the_approval_ran_out(world):
    proposal = world.approved()
    world.clock.set(proposal.expires_at)
    world.purchasing.buy(proposal.reservation_id)
    assert world.aws.calls == []
    assert world.state(proposal.reservation_id) is S.EXPIRED
    assert world.money("held", "committed") == 0


def test_an_approval_that_runs_out_during_the_last_look_buys_nothing(world):
    proposal = world.approved()
    world.aws.on_requote = lambda leg: world.clock.set(proposal.expires_at)
    world.purchasing.buy(proposal.reservation_id)
    assert world.aws.calls == []


def test_nothing_is_bought_while_purchasing_is_stopped_and_it_goes_on_when_resumed(world):
    proposal = world.approved()
    world.switching.set(Switch.OFF, by=ADMIN)
    world.work()
    assert world.aws.calls == []
    assert any("stopped" in words for words in world.said().values())
    world.clock.advance(timedelta(minutes=5))
    world.switching.set(Switch.ON, by=ADMIN)
    world.work()
    assert len(world.aws.sold) == 1
    assert world.state(proposal.reservation_id) is S.PAYMENT_PENDING


def test_a_stop_during_the_last_look_buys_nothing(world):
    proposal = world.approved()
    world.aws.on_requote = lambda leg: world.switching.set(Switch.OFF, by=ADMIN)
    world.purchasing.buy(proposal.reservation_id)
    assert world.aws.calls == []


def test_a_cancellation_during_the_last_look_buys_nothing(world):
    proposal = world.approved()
    world.aws.on_requote = lambda leg: world.asking.cancel(proposal.reservation_id, by="U0REQ")
    world.purchasing.buy(proposal.reservation_id)
    assert world.aws.calls == []
    assert world.state(proposal.reservation_id) is S.CANCELLED


def test_shadow_does_everything_but_the_call(world):
    world.switching.set(Switch.SHADOW, by=ADMIN)
    proposal = world.approved()
    world.work()
    assert world.aws.calls == []
    assert world.state(proposal.reservation_id) is S.SHADOWED
    assert [row.state for row in world.purchases(proposal.reservation_id)] == [P.SHADOWED]
    assert world.money("held", "committed") == 0


def test_the_day_the_money_leaves_is_the_day_it_counts(world):
    world.clock.set(NOW.replace(hour=23, minute=30))
    proposal = world.approved()
    world.clock.advance(timedelta(hours=1))
    world.purchasing.buy(proposal.reservation_id)
    with world.store.reading() as tx:
        (entry,) = tx.budget.entries(reservation_id=proposal.reservation_id)
    assert entry.held_at.day == 11


def test_a_ceiling_lowered_after_the_approval_is_kept(world):
    proposal = world.approved()
    world.configuration = world.configuration.model_copy(
        update={"daily_ceiling_usd": FEE - Decimal("0.01")}
    )
    world.restart()
    world.purchasing.buy(proposal.reservation_id)
    assert world.aws.calls == []
    assert world.state(proposal.reservation_id) is S.QUOTED


# --- what AWS answers --------------------------------------------------------------------------


def test_a_plain_refusal_frees_the_money_and_leads_to_a_fresh_quote(world):
    world.aws.moods = [Mood.REFUSE]
    proposal = world.bought()
    assert world.purchases(proposal.reservation_id)[0].state is P.REFUSED
    assert world.state(proposal.reservation_id) is S.QUOTED
    assert world.money("held", "committed") == 0


def test_a_quota_refusal_blocks_names_the_limit_and_can_be_tried_again():
    world = World(market=Market(as_of=NOW, offerings=(block(),), quotas=(QUOTA,)))
    world.aws.moods = [Mood.QUOTA]
    proposal = world.bought()
    reservation_id = proposal.reservation_id
    assert world.state(reservation_id) is S.BLOCKED
    said = " ".join(world.said().values())
    assert "Concurrent P5 Capacity Blocks" in said
    assert "L-DA6814F2" in said
    assert world.money("held", "committed") == 0
    with world.store.reading() as tx:
        assert tx.receipts.of(reservation_id) == ()
    assert world.aws.searches == []
    world.quoting.again(reservation_id, by="U0REQ")
    world.work()
    second = world.approving.propose(reservation_id, by="U0REQ")
    world.approving.approve(second.id, by=APP1)
    world.work()
    assert len(world.aws.sold) == 1


@pytest.mark.parametrize(
    "mood", [Mood.LOSE_ANSWER, Mood.FAIL_AFTER, Mood.EMPTY_ANSWER, Mood.SLOW_SALE]
)
def test_a_sale_whose_answer_was_lost_is_found_and_never_repeated(world, mood):
    world.aws.moods = [mood]
    proposal = world.bought()
    assert world.purchases(proposal.reservation_id)[0].state is P.INDETERMINATE
    assert world.money("held") == FEE
    world.run(timedelta(minutes=20))
    assert world.state(proposal.reservation_id) is S.PAYMENT_PENDING
    assert len(world.aws.calls) == 1
    assert world.money("committed") == FEE


def test_not_found_is_no_proof_and_after_half_an_hour_a_person_is_asked(world):
    world.aws.moods = [Mood.LOSE_REQUEST]
    proposal = world.bought()
    world.run(timedelta(minutes=29))
    assert world.state(proposal.reservation_id) is S.PURCHASING
    world.run(timedelta(minutes=3))
    assert world.state(proposal.reservation_id) is S.NEEDS_REVIEW
    assert world.money("held") == FEE
    assert any(ADMIN in words for words in world.said().values())
    looks = len(world.aws.searches)
    world.run(timedelta(hours=3))
    assert len(world.aws.searches) == looks + 3
    assert world.money("held") == FEE


def test_giving_up_leaves_what_is_in_doubt_as_it_is(world):
    world.aws.moods = [Mood.LOSE_REQUEST]
    proposal = world.bought()
    with world.store.transaction() as tx:
        world.settling.give_up(
            tx, proposal.reservation_id, "Enough.", now=world.clock.now(), to=S.QUOTED
        )
    assert world.state(proposal.reservation_id) is S.PURCHASING
    assert world.money("held") == FEE


def test_time_in_which_the_books_were_unreadable_does_not_count(world):
    world.aws.moods = [Mood.LOSE_REQUEST]
    proposal = world.bought()
    world.aws.unreadable = True
    world.run(timedelta(hours=2))
    assert world.state(proposal.reservation_id) is S.PURCHASING
    world.aws.unreadable = False
    world.run(timedelta(hours=4))
    assert world.state(proposal.reservation_id) is S.NEEDS_REVIEW


def test_a_sale_that_shows_after_the_review_is_still_taken_over(world):
    world.aws.moods, world.aws.slow = [Mood.SLOW_SALE], timedelta(hours=2)
    proposal = world.bought()
    world.run(timedelta(hours=1))
    assert world.state(proposal.reservation_id) is S.NEEDS_REVIEW
    world.run(timedelta(hours=3))
    assert world.state(proposal.reservation_id) is S.PAYMENT_PENDING


@pytest.mark.parametrize("mood", [Mood.CRASH_BEFORE, Mood.CRASH_AFTER])
def test_a_crash_around_the_call_never_leads_to_a_second_call(world, mood):
    proposal = world.approved()
    world.aws.moods = [mood]
    with pytest.raises(CrashError):
        world.purchasing.buy(proposal.reservation_id)
    world.clock.advance(timedelta(seconds=1))
    world.restart()
    world.purchasing.buy(proposal.reservation_id)
    assert world.purchases(proposal.reservation_id)[0].state is P.INDETERMINATE
    world.run(timedelta(hours=1))
    assert len(world.aws.calls) == 1
    expected = S.PAYMENT_PENDING if mood is Mood.CRASH_AFTER else S.NEEDS_REVIEW
    assert world.state(proposal.reservation_id) is expected


def test_another_worker_leaves_a_live_call_alone(world):
    proposal = world.approved()
    world.clock.advance(timedelta(seconds=1))
    second = []
    world.aws.before_buy = lambda purchase: second.append(
        world.purchasing.buy(purchase.reservation_id)
    )
    world.purchasing.buy(proposal.reservation_id)
    assert len(world.aws.calls) == 1
    assert second[0].startswith("waits until")
    assert world.state(proposal.reservation_id) is S.PAYMENT_PENDING


def test_a_sweep_that_settles_first_is_an_equal_outcome(world):
    proposal = world.approved()

    def sweep(purchase):
        world.clock.advance(timedelta(minutes=5))
        world.reconciling.sweep()

    world.aws.before_buy = sweep
    world.purchasing.buy(proposal.reservation_id)
    assert world.purchases(proposal.reservation_id)[0].state is P.CONFIRMED
    assert world.money("committed") == FEE


def test_a_refusal_settles_a_row_that_a_sweep_put_in_doubt(world):
    proposal = world.approved()

    def sweep(purchase):
        world.clock.advance(timedelta(minutes=5))
        world.reconciling.sweep()

    world.aws.before_buy, world.aws.moods = sweep, [Mood.REFUSE]
    world.purchasing.buy(proposal.reservation_id)
    assert world.purchases(proposal.reservation_id)[0].state is P.REFUSED
    assert world.money("held", "committed") == 0


@pytest.mark.parametrize("commit", [1, 2])
@pytest.mark.parametrize("before", [True, False])
def test_a_crash_between_intending_and_submitting_ends_in_one_sale(world, commit, before):
    proposal = world.approved()
    world.store.countdown, world.store.before = commit, before
    with pytest.raises(CrashError):
        world.purchasing.buy(proposal.reservation_id)
    world.clock.advance(timedelta(seconds=1))
    world.restart()
    world.run(timedelta(minutes=10))
    assert len(world.aws.calls) <= 1
    lost = commit == 2 and not before
    assert len(world.aws.sold) == (0 if lost else 1)


# --- joins -------------------------------------------------------------------------------------


def _join() -> World:
    offers = tuple(
        block(f"cb-{n}", instance_count=1, upfront_fee=Decimal("1105.10")) for n in (1, 2, 3)
    )
    return World(market=Market(as_of=NOW, offerings=offers))


def test_a_join_is_bought_leg_by_leg_and_sums_to_the_cent():
    world = _join()
    proposal = world.bought(asap(instance_count=3, duration_hours=Decimal(72)))
    assert proposal.ceiling == Decimal("3315.30")
    assert [leg.fee for leg in proposal.legs] == [Decimal("1105.10")] * 3
    assert {sale.ref for sale in world.aws.sold} == {"cb-1", "cb-2", "cb-3"}
    assert world.money("committed") == Decimal("3315.30")
    assert world.state(proposal.reservation_id) is S.PAYMENT_PENDING


def test_the_largest_part_of_a_join_is_bought_first():
    offers = tuple(
        block(f"cb-{count}", instance_count=count, upfront_fee=count * Decimal("1105.10"))
        for count in (1, 2)
    )
    world = World(market=Market(as_of=NOW, offerings=offers))
    world.bought(asap(instance_count=3, duration_hours=Decimal(72)))
    assert [sale.ref for sale in world.aws.sold] == ["cb-2", "cb-1"]


def test_a_join_that_lost_a_part_before_the_first_is_paid_buys_nothing():
    world = _join()
    proposal = world.approved(asap(instance_count=3, duration_hours=Decimal(72)))
    world.aws.withdraw("cb-3")
    world.purchasing.buy(proposal.reservation_id)
    assert world.aws.calls == []


def test_a_later_part_that_fails_is_said_openly_and_not_repeated():
    world = _join()
    world.aws.moods = [Mood.SELL, Mood.REFUSE]
    proposal = world.bought(asap(instance_count=3, duration_hours=Decimal(72)))
    world.run(timedelta(hours=1))
    assert len(world.aws.calls) == 2
    assert world.money("held", "committed") == Decimal("1105.10")
    said = world.said()
    assert any("Only 1 of 3" in words for words in said.values())
    assert any(key.startswith(f"note:gpu-{proposal.reservation_id}:part") for key in said)
    assert world.state(proposal.reservation_id) is S.PAYMENT_PENDING


def test_a_join_goes_on_after_the_doubt_about_a_part_is_settled():
    world = _join()
    world.aws.moods = [Mood.LOSE_ANSWER]
    proposal = world.bought(asap(instance_count=3, duration_hours=Decimal(72)))
    assert len(world.aws.calls) == 1
    world.run(timedelta(minutes=10))
    assert len(world.aws.sold) == 3
    assert world.state(proposal.reservation_id) is S.PAYMENT_PENDING


# --- hourly kinds ------------------------------------------------------------------------------


def _hourly(kind: Kind = Kind.ON_DEMAND) -> World:
    world = World(market=Market(as_of=NOW, hourly=(rate(kind),)))
    world.aws.state = "pending"
    return world


def test_an_asap_window_is_worked_out_again_and_never_shortened():
    world = _hourly()
    proposal = world.proposed(asap())
    world.clock.advance(timedelta(hours=3))
    world.approving.approve(proposal.id, by=APP1)
    world.work(kinds={"buy"})
    (segment,) = world.aws.calls[0].leg.segments
    assert segment.start == world.clock.now()
    assert segment.end - segment.start == timedelta(hours=24)
    assert world.aws.calls[0].fee == Decimal("2641.92")


def test_on_demand_for_later_is_launched_at_its_start_and_not_before():
    world = _hourly()
    start = NOW + timedelta(hours=10)
    wanted = asap().model_copy(update={"earliest_start": start, "latest_start": start})
    proposal = world.proposed(wanted)
    world.approving.approve(proposal.id, by=APP1)
    world.run(timedelta(hours=9))
    assert world.aws.calls == []
    world.run(timedelta(hours=1))
    assert [sale.at for sale in world.aws.sold] == [start]


def test_resuming_does_not_launch_what_is_for_later():
    world = _hourly()
    start = NOW + timedelta(hours=10)
    proposal = world.proposed(asap(earliest_start=start, latest_start=start))
    world.approving.approve(proposal.id, by=APP1)
    world.switching.set(Switch.ON, by=ADMIN)
    world.work()
    assert world.aws.calls == []
