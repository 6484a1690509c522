"""Asking and approving: whose word counts, for how long, and for what."""

from datetime import timedelta
from decimal import Decimal

import pytest

from bot.domain.errors import NotAllowedError, UserError
from bot.domain.lifecycle import ProposalState, ReservationState
from bot.domain.market import Market
from bot.domain.records import Switch
from bot.policy.configuration import Team, Tier
from tests.fakes.clock import NOW
from tests.services.money.stage import (
    ADMIN,
    APP1,
    APP2,
    FEE,
    OTHER,
    OTHER_REQ,
    REQ,
    START,
    World,
    asap,
    asker,
    block,
    configuration,
    owned,
    parsed,
    rate,
    request,
)

S = ReservationState


@pytest.fixture(params=["memory", "sqlite"])
def world(request, tmp_path) -> World:
    url = "memory://" if request.param == "memory" else f"sqlite:///{tmp_path}/gpubot.db"
    world = World(url=url)
    yield world
    world.store.close()


def _with(**update: object) -> World:
    return World(configuration=configuration(**update))


def _tiers(*tiers: Tier) -> World:
    base = configuration()
    return World(
        configuration=configuration(approval=base.approval.model_copy(update={"tiers": tiers}))
    )


# --- filing ------------------------------------------------------------------------------------


def test_a_request_is_filed_and_quoted_with_its_evidence(world):
    reservation = world.quoted()
    assert reservation.state is S.QUOTED
    assert reservation.team == "vision"
    record, again, today = world.quoting.replay(reservation.id)
    assert record.decision == again == today
    assert record.decision.pick.refs == ("cb-1",)


def test_the_same_line_within_two_minutes_files_nothing(world):
    first = world.asking.file(parsed(), by=asker()).reservation
    world.clock.advance(timedelta(minutes=2))
    assert world.asking.file(parsed(), by=asker()).same_as == first.id
    assert world.asking.file(parsed(), by=asker(OTHER)).reservation is not None
    assert world.asking.file(parsed(), by=asker(), again=True).reservation.id > first.id
    world.clock.advance(timedelta(minutes=2, seconds=1))
    assert world.asking.file(parsed(), by=asker()).reservation is not None


@pytest.mark.parametrize("trouble", ["inactive", "external", "bots"])
def test_people_who_may_decide_nothing_file_nothing(world, trouble):
    getattr(world.people, trouble).add(REQ)
    with pytest.raises(NotAllowedError):
        world.asking.file(parsed(), by=asker())


def test_who_may_ask_is_a_list_of_people_and_groups():
    base = configuration()
    world = World(
        configuration=configuration(
            approval=base.approval.model_copy(update={"requesters": (REQ, "S0ASK")})
        )
    )
    world.people.groups["S0ASK"] = {OTHER_REQ}
    world.asking.file(parsed(), by=asker(REQ))
    world.asking.file(parsed(), by=asker(OTHER_REQ))
    with pytest.raises(NotAllowedError):
        world.asking.file(parsed(), by=asker(OTHER))


def test_who_is_in_two_teams_says_which_one_pays():
    world = _with(
        teams=(Team(name="vision", members=(REQ,)), Team(name="speech", members=("S0SPEECH",)))
    )
    world.people.groups["S0SPEECH"] = {REQ}
    with pytest.raises(UserError, match="vision or speech"):
        world.asking.file(parsed(), by=asker())
    filed = world.asking.file(parsed(request(team="speech")), by=asker())
    assert filed.reservation.team == "speech"


def test_another_team_does_not_pay(world):
    with pytest.raises(NotAllowedError):
        world.asking.file(parsed(request(team="vision")), by=asker(OTHER))


def test_only_whom_it_concerns_may_cancel_and_money_is_free_again(world):
    proposal = world.approved()
    with pytest.raises(NotAllowedError):
        world.asking.cancel(proposal.reservation_id, by=OTHER)
    assert world.money("held") == FEE
    world.asking.cancel(proposal.reservation_id, by=REQ)
    assert world.state(proposal.reservation_id) is S.CANCELLED
    assert world.money("held") == 0
    world.work()
    assert world.aws.calls == []


def test_what_is_bought_is_not_cancelled(world):
    proposal = world.bought()
    with pytest.raises(UserError):
        world.asking.cancel(proposal.reservation_id, by=REQ)


def test_a_changed_request_takes_the_old_cards_power(world):
    proposal = world.proposed()
    world.asking.change(proposal.reservation_id, parsed(request(instance_count=1)), by=REQ)
    with pytest.raises(UserError, match="out of date"):
        world.approving.approve(proposal.id, by=APP1)
    assert world.reservation(proposal.reservation_id).version == 2
    world.work()
    assert world.aws.calls == []


def test_an_approved_request_is_not_changed(world):
    proposal = world.approved()
    with pytest.raises(UserError):
        world.asking.change(proposal.reservation_id, parsed(), by=REQ)


# --- proposing ---------------------------------------------------------------------------------


def test_a_proposal_carries_ceiling_legs_and_a_time_limit(world):
    proposal = world.proposed()
    assert proposal.ceiling == FEE
    assert [leg.fee for leg in proposal.legs] == [FEE]
    assert proposal.legs[0].platform == "Linux/UNIX"
    assert proposal.expires_at == NOW + timedelta(hours=4)
    assert world.state(proposal.reservation_id) is S.PENDING_APPROVAL


def test_a_proposal_never_outlives_the_last_moment_to_pay(world):
    world.clock.set(START - timedelta(hours=1))
    proposal = world.proposed()
    assert proposal.expires_at == START - timedelta(minutes=10)


def test_asking_twice_gives_the_same_proposal(world):
    proposal = world.proposed()
    assert world.approving.propose(proposal.reservation_id, by=REQ) == proposal


def test_strangers_do_not_propose(world):
    reservation = world.quoted()
    with pytest.raises(NotAllowedError):
        world.approving.propose(reservation.id, by=OTHER)


def test_what_the_rehearsal_finds_stops_the_proposal(world):
    reservation = world.quoted()
    world.aws.obstacles = ("The buyer's role may not buy.",)
    with pytest.raises(UserError, match="may not buy"):
        world.approving.propose(reservation.id, by=REQ)
    assert world.state(reservation.id) is S.QUOTED


def test_a_total_above_the_last_tier_is_refused():
    world = _tiers(Tier(up_to_usd=FEE - Decimal("0.01"), approvers=(APP1,)))
    reservation = world.quoted()
    with pytest.raises(UserError, match="more than anybody"):
        world.approving.propose(reservation.id, by=REQ)


def test_the_first_tier_that_holds_the_total_decides_and_the_cent_counts():
    world = _tiers(
        Tier(up_to_usd=FEE, approvers=(APP1,)),
        Tier(up_to_usd=FEE * 2, approvers=(APP2,)),
    )
    assert world.proposed().approvers == (APP1,)


def test_an_automatic_tier_approves_at_once_in_the_policys_name():
    world = _tiers(Tier(up_to_usd=Decimal(10000), auto=True))
    proposal = world.proposed()
    assert proposal.state is ProposalState.APPROVED
    world.work()
    assert len(world.aws.sold) == 1
    with world.store.reading() as tx:
        actors = {row.actor for row in tx.audit.of(proposal.reservation_id)}
    assert "policy" in actors


def test_a_stop_forbids_proposing_and_approving(world):
    proposal = world.proposed()
    second = world.quoted()
    world.switching.set(Switch.OFF, by=ADMIN)
    with pytest.raises(UserError, match="stopped"):
        world.approving.propose(second.id, by=REQ)
    with pytest.raises(UserError, match="stopped"):
        world.approving.approve(proposal.id, by=APP1)


def test_only_administrators_turn_the_switch(world):
    with pytest.raises(NotAllowedError):
        world.switching.set(Switch.ON, by=OTHER)
    world.people.inactive.add(ADMIN)
    with pytest.raises(NotAllowedError):
        world.switching.set(Switch.ON, by=ADMIN)


# --- whose word counts ---------------------------------------------------------------------------


def _changed_nothing(world, proposal) -> None:
    with world.store.reading() as tx:
        assert tx.proposals.given(proposal.id) == ()
        assert tx.proposals.get(proposal.id).state is ProposalState.OPEN
    assert world.money("held") == 0


@pytest.mark.parametrize("who", [OTHER, REQ, ADMIN])
def test_only_named_people_who_are_not_the_requester_approve(world, who):
    proposal = world.proposed()
    with pytest.raises(NotAllowedError):
        world.approving.approve(proposal.id, by=who)
    _changed_nothing(world, proposal)


def test_the_owner_does_not_approve_what_they_will_own(world):
    proposal = world.proposed(request(owner=APP1))
    with pytest.raises(NotAllowedError, match="will own it"):
        world.approving.approve(proposal.id, by=APP1)
    world.approving.approve(proposal.id, by=APP2)


@pytest.mark.parametrize("trouble", ["inactive", "external", "bots"])
def test_approvers_are_active_members_at_the_moment_they_approve(world, trouble):
    proposal = world.proposed()
    getattr(world.people, trouble).add(APP1)
    with pytest.raises(NotAllowedError):
        world.approving.approve(proposal.id, by=APP1)
    _changed_nothing(world, proposal)


def test_who_cannot_be_verified_now_may_try_again(world):
    proposal = world.proposed()
    world.people.down = True
    with pytest.raises(NotAllowedError, match="try again"):
        world.approving.approve(proposal.id, by=APP1)
    _changed_nothing(world, proposal)
    world.people.down = False
    world.approving.approve(proposal.id, by=APP1)


def test_membership_older_than_a_minute_is_read_again(world):
    proposal = world.proposed()
    world.people.asked.clear()
    world.approving.approve(proposal.id, by=APP1)
    assert (APP1, timedelta(seconds=60)) in world.people.asked


def test_a_user_group_approves_through_its_present_members():
    world = _tiers(Tier(up_to_usd=Decimal(10000), approvers=("S0APPROVERS",)))
    proposal = world.proposed()
    with pytest.raises(NotAllowedError):
        world.approving.approve(proposal.id, by=APP1)
    world.people.groups["S0APPROVERS"] = {APP1}
    assert world.approving.approve(proposal.id, by=APP1).state is ProposalState.APPROVED


def _two() -> World:
    return _tiers(Tier(up_to_usd=Decimal(10000), approvers=(APP1, APP2), needed=2))


def test_two_needed_means_two_different_people():
    world = _two()
    proposal = world.proposed()
    world.approving.approve(proposal.id, by=APP1)
    with pytest.raises(NotAllowedError, match="already"):
        world.approving.approve(proposal.id, by=APP1)
    assert world.money("held") == 0
    done = world.approving.approve(proposal.id, by=APP2)
    assert done.state is ProposalState.APPROVED
    assert world.money("held") == FEE


def test_the_word_of_somebody_who_left_meanwhile_no_longer_counts():
    world = _two()
    proposal = world.proposed()
    world.approving.approve(proposal.id, by=APP1)
    world.people.inactive.add(APP1)
    assert world.approving.approve(proposal.id, by=APP2).state is ProposalState.OPEN
    assert world.money("held") == 0


def test_who_was_taken_out_of_the_file_meanwhile_does_not_approve():
    world = _two()
    proposal = world.proposed()
    approval = world.configuration.approval.model_copy(
        update={"tiers": (Tier(up_to_usd=Decimal(10000), approvers=(APP2,)),)}
    )
    world.configuration = world.configuration.model_copy(update={"approval": approval})
    world.restart()
    with pytest.raises(NotAllowedError):
        world.approving.approve(proposal.id, by=APP1)


def test_the_second_of_two_approvers_hears_who_was_first(world):
    proposal = world.proposed()
    world.approving.approve(proposal.id, by=APP1)
    with pytest.raises(UserError, match=f"already approved by @{APP1}"):
        world.approving.approve(proposal.id, by=APP2)
    with pytest.raises(UserError, match="already approved by you"):
        world.approving.approve(proposal.id, by=APP1)
    assert world.money("held") == FEE


def test_each_click_changes_its_own_request_only():
    offers = tuple(block(f"cb-{n}") for n in range(1, 5))
    world = World(
        market=Market(as_of=NOW, offerings=offers),
        configuration=configuration(daily_ceiling_usd=None, teams=()),
    )
    first, second = world.proposed(), world.proposed()
    world.approving.approve(second.id, by=APP1)
    assert world.state(first.reservation_id) is S.PENDING_APPROVAL
    world.approving.deny(first.id, by=APP1, reason="not this week")
    assert world.state(second.reservation_id) is S.APPROVED
    assert world.state(first.reservation_id) is S.DECLINED


def test_a_denial_reaches_the_requester_with_its_reason_once(world):
    proposal = world.proposed()
    world.approving.deny(proposal.id, by=APP1, reason="use the owned block")
    with pytest.raises(UserError, match="already denied"):
        world.approving.approve(proposal.id, by=APP2)
    said = [words for words in world.said().values() if "use the owned block" in words]
    assert len(said) == 1
    assert REQ in said[0]
    line = world.reservation(proposal.reservation_id).line
    assert line
    assert f"change and send: /gpu {line}" in said[0]


def test_a_superseded_card_has_no_power(world):
    offers = (block("cb-1"), block("cb-2", upfront_fee=FEE + 1))
    world.aws.market = Market(as_of=NOW, offerings=offers)
    first = world.proposed()
    second = world.approving.propose(first.reservation_id, by=REQ, rank=2)
    with pytest.raises(UserError, match="out of date"):
        world.approving.approve(first.id, by=APP1)
    assert world.approving.approve(second.id, by=APP1).ceiling == FEE + 1


@pytest.mark.parametrize("change", [{"version": 2}, {"state": S.QUOTED}])
def test_a_card_that_the_reservation_moved_on_from_has_no_power_though_it_is_open(world, change):
    proposal = world.proposed()
    with world.store.transaction() as tx:
        stored = tx.reservations.get(proposal.reservation_id)
        tx.reservations.save(stored.model_copy(update=change))
    with pytest.raises(UserError, match="out of date"):
        world.approving.approve(proposal.id, by=APP1)
    assert world.money("held", "committed") == 0
    world.work(kinds={"buy"})
    assert world.aws.calls == []


# --- time --------------------------------------------------------------------------------------


def test_a_click_at_the_very_end_of_the_time_is_too_late(world):
    proposal = world.proposed()
    world.clock.set(proposal.expires_at)
    with pytest.raises(UserError, match="expired"):
        world.approving.approve(proposal.id, by=APP1)
    _changed_nothing(world, proposal)


def test_an_unanswered_proposal_expires_once_and_the_requester_is_told(world):
    proposal = world.proposed()
    world.run(timedelta(hours=5))
    assert world.state(proposal.reservation_id) is S.EXPIRED
    world.approving.expire(proposal.id)
    said = [key for key in world.said() if "expired" in key]
    assert said == [f"note:gpu-{proposal.reservation_id}:expired-{proposal.id}"]
    with pytest.raises(UserError, match="expired"):
        world.approving.approve(proposal.id, by=APP1)


def test_each_click_moves_its_own_request_in_whatever_order_they_come(world):
    one, two = world.proposed(), world.proposed()
    world.approving.approve(two.id, by=APP1)
    assert world.state(one.reservation_id) is S.PENDING_APPROVAL
    world.approving.deny(one.id, by=APP1, reason="not now")
    assert world.state(two.reservation_id) is S.APPROVED
    three, four = world.proposed(), world.proposed()
    for proposal in (four, three):
        world.approving.approve(proposal.id, by=APP1)
    states = [world.state(each.reservation_id) for each in (one, two, three, four)]
    assert states == [S.DECLINED, S.APPROVED, S.APPROVED, S.APPROVED]
    assert world.money("held") == 3 * FEE


def test_an_approval_that_could_not_be_bought_in_time_gives_its_money_back(world):
    proposal = world.approved()
    world.switching.set(Switch.OFF, by=ADMIN)
    world.run(timedelta(hours=5))
    assert world.state(proposal.reservation_id) is S.EXPIRED
    assert world.money("held", "committed") == 0


def test_the_expiry_alone_gives_approved_money_back(world):
    proposal = world.approved()
    assert world.approving.expire(proposal.id) == "not yet"
    world.clock.set(proposal.expires_at)
    world.approving.expire(proposal.id)
    assert world.state(proposal.reservation_id) is S.EXPIRED
    assert world.money("held") == 0


def test_reminders_come_once_each_with_growing_pauses_across_a_restart(world):
    proposal = world.proposed()
    world.run(timedelta(minutes=40))
    world.restart()
    world.approving.nudge(proposal.id)
    world.run(timedelta(hours=3))
    nudges = [key for key in world.said() if "nudge" in key]
    assert nudges == [
        f"note:gpu-{proposal.reservation_id}:{proposal.id}-nudge-{n}" for n in range(1, 5)
    ]


def test_a_fixed_start_that_has_passed_is_refused_with_an_offer_to_search_again():
    world = World(market=Market(as_of=NOW, hourly=(rate(),)))
    start = NOW + timedelta(hours=2)
    wanted = asap(earliest_start=start, latest_start=start)
    proposal = world.proposed(wanted)
    world.clock.advance(timedelta(hours=3))
    with pytest.raises(UserError, match="search again"):
        world.approving.approve(proposal.id, by=APP1)


def test_an_expired_request_may_be_searched_again(world):
    proposal = world.proposed()
    world.run(timedelta(hours=5))
    world.quoting.again(proposal.reservation_id, by=REQ)
    world.work()
    assert world.state(proposal.reservation_id) is S.QUOTED
    second = world.approving.propose(proposal.reservation_id, by=REQ)
    assert second.id != proposal.id


# --- money -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("cap", "fits"), [("3315.30", True), ("3315.29", False)])
def test_the_ceiling_of_the_day_holds_to_the_cent(cap, fits):
    offers = tuple(
        block(f"cb-{n}", instance_count=1, upfront_fee=Decimal("1105.10")) for n in (1, 2, 3)
    )
    world = World(
        market=Market(as_of=NOW, offerings=offers),
        configuration=configuration(daily_ceiling_usd=Decimal(cap)),
    )
    wanted = asap(instance_count=3, duration_hours=Decimal(72))
    if not fits:
        with pytest.raises(UserError, match="ceiling"):
            world.proposed(wanted)
        return
    world.bought(wanted)
    assert world.money("committed") == Decimal("3315.30")


def _several(**update: object) -> World:
    offers = tuple(block(f"cb-{n}") for n in range(1, 9))
    return World(market=Market(as_of=NOW, offerings=offers), configuration=configuration(**update))


def test_proposals_that_fit_alone_but_not_together_stop_at_the_teams_budget():
    world = _several(
        daily_ceiling_usd=None,
        teams=(Team(name="vision", members=(REQ,), monthly_budget_usd=FEE * 2),),
    )
    proposals = [world.proposed() for _ in range(3)]
    for proposal in proposals[:2]:
        world.approving.approve(proposal.id, by=APP1)
    with pytest.raises(UserError, match="vision's budget"):
        world.approving.approve(proposals[2].id, by=APP1)
    _given_nothing(world, proposals[2].id)
    assert world.money("held") == FEE * 2


def _given_nothing(world, proposal_id) -> None:
    with world.store.reading() as tx:
        assert tx.proposals.given(proposal_id) == ()


def test_the_daily_ceiling_is_over_all_teams_and_free_the_next_day():
    world = _several(
        daily_ceiling_usd=FEE,
        teams=(Team(name="vision", members=(REQ,)), Team(name="speech", members=(OTHER_REQ,))),
    )
    world.bought()
    with pytest.raises(UserError, match="ceiling for today"):
        world.proposed(user=OTHER_REQ)
    world.clock.advance(timedelta(days=1))
    assert world.proposed(user=OTHER_REQ).state is ProposalState.OPEN


def test_an_emergency_lets_a_named_person_act_alone_with_a_posted_reason(world):
    proposal = world.proposed(user=ADMIN)
    with pytest.raises(UserError):
        world.approving.break_glass(proposal.id, by=ADMIN, reason=" ")
    with pytest.raises(NotAllowedError):
        world.approving.break_glass(proposal.id, by=APP1, reason="fire")
    world.approving.break_glass(proposal.id, by=ADMIN, reason="the cluster is down")
    world.work()
    assert len(world.aws.sold) == 1
    assert any("the cluster is down" in words for words in world.said().values())


def test_acting_alone_ends_at_its_own_limit():
    base = configuration()
    alone = base.approval.break_glass.model_copy(update={"up_to_usd": FEE - 1})
    world = _with(approval=base.approval.model_copy(update={"break_glass": alone}))
    proposal = world.proposed()
    with pytest.raises(NotAllowedError):
        world.approving.break_glass(proposal.id, by=ADMIN, reason="fire")


# --- what is owned already -----------------------------------------------------------------------


def _lending(**update: object) -> World:
    return World(market=Market(as_of=NOW, offerings=(block(),), owned=(owned(**update),)))


def test_owned_machines_are_lent_with_their_holders_consent_and_nothing_is_bought():
    world = _lending()
    proposal = world.proposed()
    assert (proposal.approvers, proposal.ceiling) == (("U0HOLDER",), Decimal(0))
    assert f"tell:U0HOLDER:lend-{proposal.id}" in world.said()
    with pytest.raises(NotAllowedError):
        world.approving.approve(proposal.id, by=APP1)
    world.approving.approve(proposal.id, by="U0HOLDER")
    world.work()
    assert world.aws.calls == []
    assert world.state(proposal.reservation_id) is S.SCHEDULED
    assert any("U0HOLDER" in words for words in world.said().values())


def test_a_loan_begins_and_ends_with_its_hours():
    world = _lending()
    proposal = world.proposed()
    world.approving.approve(proposal.id, by="U0HOLDER")
    world.work()
    world.clock.set(START.replace(hour=0, minute=0))
    world.work()
    assert world.state(proposal.reservation_id) is S.ACTIVE
    world.run(timedelta(hours=72))
    assert world.state(proposal.reservation_id) is S.ENDED
    with world.store.reading() as tx:
        assert tx.loans.held("cr-owned", start=START, end=START + timedelta(hours=1)) == 0


def test_owned_machines_are_not_promised_twice():
    world = _lending(available_count=3)
    first, second = world.proposed(), world.proposed()
    for proposal in (first, second):
        world.approving.approve(proposal.id, by="U0HOLDER")
    world.purchasing.buy(first.reservation_id)
    world.purchasing.buy(second.reservation_id)
    assert world.state(first.reservation_id) is S.SCHEDULED
    assert world.state(second.reservation_id) is S.QUOTED


def test_ones_own_machines_need_nobodys_consent():
    world = _lending(owner=REQ)
    assert world.proposed().state is ProposalState.APPROVED


def test_what_the_rehearsal_finds_stands_on_the_card_and_goes_with_the_next_try(world):
    reservation = world.quoted()
    world.aws.obstacles = ("There is no subnet in us-east-1b.",)
    with pytest.raises(UserError, match="no subnet"):
        world.approving.propose(reservation.id, by=REQ)
    assert "no subnet" in world.reservation(reservation.id).note
    world.aws.obstacles = ()
    world.approving.propose(reservation.id, by=REQ)
    assert world.reservation(reservation.id).note == ""
