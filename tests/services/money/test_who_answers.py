"""Delegates, quiet approvers, escalation, and acting alone: whose word counts, and who is asked."""

from datetime import timedelta
from decimal import Decimal

import pytest

from bot.domain.errors import NotAllowedError
from bot.domain.lifecycle import ProposalState
from bot.policy.configuration import ApprovalRules, BreakGlass, Delegate, Tier
from tests.fakes.clock import NOW
from tests.services.money.stage import (
    ADMIN,
    APP1,
    APP2,
    OTHER,
    REQ,
    World,
    configuration,
    request,
)

EVA, BOSS = "U0EVA", "U0BOSS"
HOUR = timedelta(hours=1)


def ruled(*, delegates=(), alone=False, **tier) -> World:
    shape = {"up_to_usd": Decimal(100000), "approvers": (APP1, APP2), **tier}
    approval = ApprovalRules(
        tiers=(Tier(**shape),),
        delegates=delegates,
        break_glass=BreakGlass(people=(ADMIN,), up_to_usd=Decimal(20000)) if alone else None,
    )
    return World(configuration=configuration(approval=approval))


def asked(world) -> str:
    return world.said()["note:gpu-1:1-asked"]


# --- delegates ----------------------------------------------------------------------------------


def test_a_delegate_agrees_in_an_approvers_place():
    world = ruled(delegates=(Delegate(of=APP1, to=EVA),))
    assert world.approving.approve(world.proposed().id, by=EVA).state is ProposalState.APPROVED
    world.work(kinds={"buy"})
    assert len(world.aws.sold) == 1
    assert world.purchases(1)[0].approvers == (EVA,)


def test_an_approver_and_their_delegate_are_one_voice():
    for order in ((APP1, EVA), (EVA, APP1)):
        world = ruled(delegates=(Delegate(of=APP1, to=EVA),), needed=2)
        proposal = world.proposed()
        world.approving.approve(proposal.id, by=order[0])
        with pytest.raises(NotAllowedError):
            world.approving.approve(proposal.id, by=order[1])
        assert world.approving.approve(proposal.id, by=APP2).state is ProposalState.APPROVED
        world.work(kinds={"buy"})
        assert len(world.aws.sold) == 1


def test_two_delegates_of_one_approver_are_one_voice():
    world = ruled(delegates=(Delegate(of=APP1, to=EVA), Delegate(of=APP1, to=OTHER)), needed=2)
    proposal = world.proposed()
    world.approving.approve(proposal.id, by=EVA)
    with pytest.raises(NotAllowedError):
        world.approving.approve(proposal.id, by=OTHER)


def test_nobody_stands_in_for_whoever_asked_or_will_own_it():
    delegates = (Delegate(of=REQ, to=EVA), Delegate(of=APP2, to=OTHER))
    world = ruled(delegates=delegates, approvers=(APP1, APP2, REQ))
    first = world.proposed()
    with pytest.raises(NotAllowedError):
        world.approving.approve(first.id, by=EVA)
    second = world.proposed(request(owner=APP2))
    with pytest.raises(NotAllowedError):
        world.approving.approve(second.id, by=OTHER)


def test_a_delegate_never_approves_their_own_request():
    world = ruled(delegates=(Delegate(of=APP1, to=REQ),))
    with pytest.raises(NotAllowedError):
        world.approving.approve(world.proposed().id, by=REQ)


@pytest.mark.parametrize(
    ("since", "until", "counts"),
    [
        (None, None, True),
        (NOW, NOW + HOUR, True),
        (NOW + HOUR, None, False),
        (None, NOW, False),
    ],
)
def test_a_delegation_holds_from_its_start_until_its_end(since, until, counts):
    world = ruled(delegates=(Delegate(of=APP1, to=EVA, since=since, until=until),))
    proposal = world.proposed()
    if counts:
        world.approving.approve(proposal.id, by=EVA)
    else:
        with pytest.raises(NotAllowedError):
            world.approving.approve(proposal.id, by=EVA)


def test_a_delegation_that_ended_meanwhile_no_longer_counts_for_the_next_approval():
    world = ruled(delegates=(Delegate(of=APP1, to=EVA, until=NOW + HOUR),), needed=2)
    proposal = world.proposed()
    world.approving.approve(proposal.id, by=EVA)
    world.clock.advance(HOUR)
    assert world.approving.approve(proposal.id, by=APP2).state is ProposalState.OPEN


def test_nobody_is_their_own_delegate():
    with pytest.raises(ValueError, match="stands in for themselves"):
        Delegate(of=APP1, to=APP1)


# --- whom it reaches ----------------------------------------------------------------------------


def test_approvers_are_asked_at_once_and_quiet_ones_are_never_pinged():
    world = ruled(quiet=(EVA,), expires=timedelta(hours=8))
    proposal = world.proposed()
    world.run(timedelta(hours=7))
    pings = [text for key, text in world.said().items() if key.startswith("note:gpu-1:1-")]
    assert asked(world).startswith(f"{APP1} {APP2} ")
    assert len(pings) > 2
    assert not any(EVA in text for text in pings)
    assert world.approving.approve(proposal.id, by=EVA).state is ProposalState.APPROVED


def test_four_hours_of_silence_bring_four_reminders_each_twice_as_late_as_the_last():
    world = ruled()
    proposal = world.proposed()
    heard: dict[str, timedelta] = {}
    while world.clock.now() < proposal.expires_at - timedelta(minutes=5):
        world.run(timedelta(minutes=5))
        for key in world.said():
            if "-nudge-" in key:
                heard.setdefault(key, world.clock.now() - proposal.asked_at)
    assert list(heard.values()) == [timedelta(minutes=m) for m in (15, 30, 60, 120)]
    words = [world.said()[key] for key in heard]
    assert len(set(words)) == len(words)


def test_silence_is_escalated_at_the_last_reminder_and_then_those_may_agree():
    world = ruled(escalate_to=(BOSS,), remind_after=HOUR)
    proposal = world.proposed()
    world.run(timedelta(minutes=30))
    with pytest.raises(NotAllowedError):
        world.approving.approve(proposal.id, by=BOSS)
    assert not any(BOSS in text for text in world.said().values())
    world.run(timedelta(hours=3))
    assert any(BOSS in text for key, text in world.said().items() if "nudge" in key)
    assert world.approving.approve(proposal.id, by=BOSS).state is ProposalState.APPROVED
    world.work(kinds={"buy"})
    assert len(world.aws.sold) == 1


def test_without_reminders_silence_is_escalated_half_way():
    world = ruled(escalate_to=(BOSS,), remind_after=timedelta(0))
    world.proposed()
    world.run(timedelta(hours=1, minutes=55))
    assert not any(BOSS in text for text in world.said().values())
    world.run(timedelta(minutes=10))
    assert any(BOSS in text for text in world.said().values())


@pytest.mark.parametrize("how", ["inactive", "external"])
def test_when_too_few_are_left_it_is_escalated_at_once(how):
    world = ruled(escalate_to=(BOSS,), needed=2)
    getattr(world.people, how).add(APP2)
    proposal = world.proposed()
    world.work()
    assert BOSS in asked(world)
    assert "Too few of those who may approve" in world.said()["note:gpu-1:stuck-1"]
    world.approving.approve(proposal.id, by=APP1)
    assert world.approving.approve(proposal.id, by=BOSS).state is ProposalState.APPROVED


def test_with_nobody_to_turn_to_an_administrator_hears_it():
    world = ruled()
    world.people.inactive |= {APP1, APP2}
    world.proposed()
    world.work()
    assert ADMIN in world.said()["note:gpu-1:stuck-1"]


def test_an_approver_who_leaves_while_it_waits_is_noticed_at_the_next_reminder():
    world = ruled(escalate_to=(BOSS,), remind_after=HOUR, expires=timedelta(hours=8))
    world.proposed()
    world.work()
    world.people.inactive |= {APP1, APP2}
    world.run(timedelta(hours=1, minutes=5))
    assert "note:gpu-1:stuck-1" in world.said()


def test_slack_being_away_is_no_proof_that_nobody_is_left():
    world = ruled(escalate_to=(BOSS,), approvers=("S0BOSSES",))
    proposal = world.proposed()
    world.people.down = True
    world.work()
    assert BOSS not in asked(world)
    world.people.down = False
    world.people.groups["S0BOSSES"] = {REQ}
    world.approving.nudge(proposal.id)
    assert "note:gpu-1:stuck-1" in world.said()


def test_a_group_with_enough_people_is_enough():
    world = ruled(escalate_to=(BOSS,), approvers=("S0BOSSES",), needed=2)
    world.people.groups["S0BOSSES"] = {REQ, APP1, APP2}
    world.proposed()
    world.work()
    assert "note:gpu-1:stuck-1" not in world.said()


# --- alone --------------------------------------------------------------------------------------


def test_who_may_act_alone_is_told_how_in_private_when_they_try_to_approve():
    world = ruled(alone=True)
    proposal = world.proposed()
    for _ in range(2):
        with pytest.raises(NotAllowedError):
            world.approving.approve(proposal.id, by=ADMIN)
    offers = [key for key in world.said() if key == f"tell:{ADMIN}:alone-1"]
    assert len(offers) == 1
    with pytest.raises(NotAllowedError):
        world.approving.approve(proposal.id, by=OTHER)
    assert f"tell:{OTHER}:alone-1" not in world.said()


def test_acting_alone_is_not_offered_above_its_limit_or_to_the_deactivated():
    world = ruled(alone=True, needed=2)
    world.aws.change("cb-1", upfront_fee=Decimal("20000.01"))
    with pytest.raises(NotAllowedError):
        world.approving.approve(world.proposed().id, by=ADMIN)
    assert not [key for key in world.said() if "alone" in key]
    world = ruled(alone=True)
    proposal = world.proposed()
    world.people.inactive.add(ADMIN)
    with pytest.raises(NotAllowedError):
        world.approving.approve(proposal.id, by=ADMIN)
    assert not [key for key in world.said() if "alone" in key]


def test_silence_offers_those_who_may_act_alone_to_do_so():
    world = ruled(alone=True, remind_after=HOUR)
    proposal = world.proposed()
    world.run(timedelta(hours=3, minutes=50))
    assert f"tell:{ADMIN}:alone-1" in world.said()
    world.approving.break_glass(proposal.id, by=ADMIN, reason="the demo is at noon")
    world.work(kinds={"buy"})
    assert len(world.aws.sold) == 1
    assert "the demo is at noon" in world.said()["note:gpu-1:1-break-glass"]
