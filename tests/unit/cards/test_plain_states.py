"""What became of a question is said in plain words, and never more than is true."""

import json
from decimal import Decimal

import pytest

from bot.domain.lifecycle import ProposalState, PurchaseState
from bot.domain.lifecycle import ReservationState as State
from bot.domain.market import Kind
from bot.domain.records import Purchase
from handlers import ids
from handlers.cards.approval import approval_card
from handlers.cards.decision import decision_card
from handlers.cards.lists import line
from tests.handlers.block_kit import elements
from tests.handlers.office import card, decision, option, proposal, reservation
from tests.unit.cards.test_bought import leg, purchase, receipt


def said(message) -> str:
    return json.dumps([*message.blocks, message.text], ensure_ascii=False)


def buttons(message) -> list[str]:
    return [e["action_id"] for block in message.blocks for e in elements(block)]


def approved(state, rows: tuple[Purchase, ...] = (), **changes) -> str:
    agreed = proposal(
        state=ProposalState.APPROVED, legs=(leg(1, 1, "3438.72"), leg(2, 1, "3438.72"))
    )
    view = card(
        reservation=reservation(state=state, option=agreed.option),
        proposal=agreed,
        purchases=rows,
        **changes,
    )
    return said(approval_card(view))


def test_a_card_where_nothing_fits_is_headed_so_and_says_what_can_be_done():
    view = card(decision=decision())
    message = decision_card(view)
    assert "*Nothing fits now, nothing was bought*" in said(message)
    assert "Press Change" in said(message)
    assert ids.CHANGE in buttons(message)
    assert "nothing fits now" in line(view)
    for words in (said(message), line(view)):
        assert "ask for approval" not in words


def test_approval_is_not_offered_for_more_than_anybody_may_approve():
    view = card(approvable_up_to=Decimal("6877.43"))
    message = decision_card(view)
    assert ids.REQUEST not in buttons(message)
    assert "Above what anybody here may approve" in said(message)
    assert "Nobody here may approve more than $6,877.43" in said(message)
    assert "waiting for you" not in said(message).lower()
    assert ids.REQUEST in buttons(decision_card(card(approvable_up_to=Decimal("6877.44"))))


@pytest.mark.parametrize(
    ("note", "words"),
    [
        ("withdrawn by @U0ANA", "No longer asked: withdrawn by Ana."),
        ("the request was changed", "No longer asked: the request was changed."),
        ("", "No longer asked: a newer question replaced it."),
    ],
)
def test_approvers_read_why_a_question_is_no_longer_asked(note, words):
    view = card(proposal=proposal(state=ProposalState.SUPERSEDED, note=note))
    message = approval_card(view, {"U0ANA": "Ana"}.get)
    assert words in said(message)
    assert "superseded" not in said(message)
    assert words[1:] in message.text


@pytest.mark.parametrize("state", [s for s in ProposalState if s is not ProposalState.OPEN])
def test_no_settled_question_is_told_as_a_state_of_the_machine(state):
    text = approval_card(card(proposal=proposal(state=state))).text
    assert f" is {state}" not in text
    assert text.startswith("gpu-42")
    assert text.count("$6,877.44") == 1


@pytest.mark.parametrize("state", ProposalState)
def test_only_an_open_question_shows_what_else_could_be_done(state):
    message = approval_card(card(proposal=proposal(state=state)))
    for words in ("Next best", "Budget left after it", "It cannot be cancelled."):
        assert (words in said(message)) is (state is ProposalState.OPEN)


def test_an_approval_that_brought_nothing_says_so_and_why():
    for state in (State.QUOTED, State.BLOCKED, State.EXPIRED, State.PENDING_APPROVAL):
        words = approved(state, not_bought="It costs more now than what was approved.")
        assert "*Approved up to $6,877.44, but nothing was bought*" in words
        assert "It costs more now than what was approved." in words


def test_an_approval_under_way_promises_nothing_and_denies_nothing():
    for state in (State.APPROVED, State.PURCHASING):
        words = approved(state)
        assert "*Approved up to $6,877.44*" in words
        assert "nothing was bought" not in words


def test_a_purchase_in_doubt_is_not_called_nothing():
    rows = (purchase(1, 1, "3438.72", PurchaseState.INDETERMINATE),)
    words = approved(State.NEEDS_REVIEW, rows, not_bought="It was stopped.")
    assert "nothing was bought" not in words
    assert "It was stopped." not in words


def test_an_approval_of_which_a_part_was_bought_says_how_much_and_why():
    rows = (
        purchase(1, 1, "3438.72"),
        purchase(2, 1, "3438.72", PurchaseState.WITHDRAWN),
    )
    words = approved(State.SCHEDULED, rows, receipts=(receipt(1, 1),), not_bought="It is gone.")
    assert "but only a part was bought, for $3,438.72" in words
    assert "It is gone." in words


def test_what_was_bought_whole_has_no_reason_against_it():
    rows = (purchase(1, 1, "3438.72"), purchase(2, 1, "3438.72"))
    words = approved(State.SCHEDULED, rows, receipts=(receipt(1, 1),), not_bought="It is gone.")
    assert "*Approved up to $6,877.44, bought for $6,877.44*" in words
    assert "It is gone." not in words


def test_a_rehearsal_and_a_loan_are_called_what_they_are():
    assert "rehearsed only: nothing was bought" in approved(State.SHADOWED)
    lent = proposal(state=ProposalState.APPROVED, option=option(kind=Kind.OWNED))
    view = card(
        reservation=reservation(state=State.QUOTED), proposal=lent, not_bought="Too few are free."
    )
    assert "but nothing was lent" in said(approval_card(view))


def test_a_settled_card_is_dated_by_its_own_time():
    words = said(approval_card(card(proposal=proposal(state=ProposalState.EXPIRED))))
    assert "*Expired* <!date^" in words
