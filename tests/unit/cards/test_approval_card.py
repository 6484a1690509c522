"""What somebody with twenty seconds must see before they agree, and nothing twice."""

import json
from datetime import timedelta
from decimal import Decimal

from bot.domain.decision import Note
from bot.domain.lifecycle import ProposalState
from handlers.cards.approval import approval_card
from handlers.rendering import moment
from tests.handlers.office import NOW, card, option, proposal, request, reservation

NOTES = (
    Note(code="not_cancellable", text="It cannot be refunded."),
    Note(code="early_termination", text="The last useful minute is 2027-03-18 11:00 UTC."),
    Note(code="ends_1130_utc", text="The window ends at 2027-03-18 11:30 UTC."),
    Note(code="starts_later", text="It starts after 2027-03-15 09:00 UTC."),
)


def said(**changes) -> str:
    asked = proposal(option=option(warnings=NOTES), ceiling=Decimal("6877.44"))
    return json.dumps(list(approval_card(card(proposal=asked, **changes)).blocks))


def test_approvers_read_every_time_once_and_in_their_own_zone():
    text = said()
    assert "refunded" in text
    assert "last useful minute" not in text
    assert "The window ends" not in text
    assert "It starts after <!date^" in text
    assert "2027-03-15 09:00 UTC" not in text


def test_approvers_see_from_when_the_price_is():
    read = NOW - timedelta(minutes=40)
    assert f"Prices as of {moment(read)}" in said(decided_at=read)
    later = NOW + timedelta(minutes=5)
    assert f"Prices as of {moment(NOW)}" in said(decided_at=later)
    assert f"Prices as of {moment(NOW)}" in said(decided_at=None)


def test_an_answered_question_shows_no_age_of_prices():
    closed = proposal(state=ProposalState.DENIED)
    assert "Prices as of" not in json.dumps(list(approval_card(card(proposal=closed)).blocks))


def test_a_reason_that_nobody_can_see_is_no_reason():
    unseen = reservation(request=request(reason="\u2060\u061c"))
    blocks = json.dumps(list(approval_card(card(proposal=proposal(), reservation=unseen)).blocks))
    assert "No reason was given" in blocks


def test_what_nobody_was_asked_about_says_so():
    auto = proposal(state=ProposalState.APPROVED, auto=True)
    said_of = json.dumps(list(approval_card(card(proposal=auto)).blocks))
    assert "Nobody was asked: the rules, or a permission given ahead, allow it." in said_of
    asked = proposal(state=ProposalState.APPROVED)
    assert "Nobody was asked" not in json.dumps(list(approval_card(card(proposal=asked)).blocks))
