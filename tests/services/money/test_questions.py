"""A question to the requester neither decides nor delays; its answer reaches whoever asked."""

import pytest

from bot.domain.errors import NotAllowedError, UserError
from bot.domain.lifecycle import ProposalState, ReservationState
from tests.services.money.stage import APP1, APP2, OTHER, REQ, World, parsed, request


@pytest.fixture
def world() -> World:
    return World()


def test_a_question_reaches_the_requester_and_the_answer_whoever_asked(world):
    proposal = world.proposed()
    world.questioning.ask(proposal.id, by=APP1, text="Would two machines do?")
    said = world.said()
    assert "Would two machines do?" in said["note:gpu-1:question-1-1"]
    assert said["note:gpu-1:question-1-1"].startswith(REQ)
    world.questioning.answer(proposal.id, 1, by=REQ, text="No, the model needs four.")
    answer = world.said()["note:gpu-1:1-answer-1"]
    assert answer.startswith(APP1)
    assert "the model needs four" in answer


def test_the_request_stays_alive_and_can_be_approved_without_an_answer(world):
    proposal = world.proposed()
    world.questioning.ask(proposal.id, by=APP1, text="Why?")
    assert world.state(proposal.reservation_id) is ReservationState.PENDING_APPROVAL
    assert world.approving.approve(proposal.id, by=APP1).state is ProposalState.APPROVED


def test_a_change_after_a_question_makes_the_old_card_powerless(world):
    proposal = world.proposed()
    world.questioning.ask(proposal.id, by=APP1, text="Would three days do?")
    world.asking.change(proposal.reservation_id, parsed(request(reason="three days")), by=REQ)
    with pytest.raises(UserError, match="out of date"):
        world.approving.approve(proposal.id, by=APP1)
    with pytest.raises(UserError, match="decided or replaced"):
        world.questioning.answer(proposal.id, 1, by=REQ, text="Yes.")


def test_only_those_who_may_decide_ask_and_only_those_concerned_answer(world):
    proposal = world.proposed()
    with pytest.raises(NotAllowedError):
        world.questioning.ask(proposal.id, by=OTHER, text="Why?")
    world.people.inactive.add(APP2)
    with pytest.raises(NotAllowedError):
        world.questioning.ask(proposal.id, by=APP2, text="Why?")
    world.questioning.ask(proposal.id, by=APP1, text="Why?")
    with pytest.raises(NotAllowedError):
        world.questioning.answer(proposal.id, 1, by=OTHER, text="Because.")


def test_the_same_question_twice_is_asked_once_and_answered_once(world):
    proposal = world.proposed()
    first = world.questioning.ask(proposal.id, by=APP1, text="Why?")
    assert world.questioning.ask(proposal.id, by=APP1, text=" Why? ").number == first.number
    assert world.questioning.ask(proposal.id, by=APP2, text="Why?").number == 2
    world.questioning.answer(proposal.id, 1, by=REQ, text="Because.")
    with pytest.raises(UserError, match="answered that already"):
        world.questioning.answer(proposal.id, 1, by=REQ, text="Because!")


def test_an_empty_question_is_refused(world):
    with pytest.raises(UserError):
        world.questioning.ask(world.proposed().id, by=APP1, text="  ")
