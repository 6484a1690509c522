"""Buttons around an approval open a form with one text, or go on trying."""

import json
from dataclasses import dataclass, field

import pytest

from handlers import ids
from handlers.cards.approval import approval_card
from handlers.ids import ButtonValue
from tests.handlers.office import card, proposal


@dataclass
class FakeCounsel:
    told: list = field(default_factory=list)

    def ask(self, proposal_id, *, by, text):
        self.told.append(("ask", proposal_id, by, text))

    def answer(self, proposal_id, number, *, by, text):
        self.told.append(("answer", proposal_id, number, by, text))

    def alone(self, proposal_id, *, by, reason):
        self.told.append(("alone", proposal_id, by, reason))

    def retry(self, proposal_id, *, by):
        self.told.append(("retry", proposal_id, by))


@pytest.fixture
def counsel(office):
    fake = FakeCounsel()
    object.__setattr__(office.desk, "counsel", fake)
    office.services.cards[42] = card(proposal=proposal())
    return fake


def test_the_approval_card_can_ask_while_it_is_open():
    blocks = json.dumps(approval_card(card(proposal=proposal())).blocks)
    assert ids.ASK in blocks


@pytest.mark.parametrize(
    "case",
    [
        (ids.ASK, ButtonValue(proposal=7), ids.ASK_VIEW, ("ask", 7, "U0BRUNO", "why?")),
        (
            ids.ANSWER,
            ButtonValue(argument="7|3"),
            ids.ANSWER_VIEW,
            ("answer", 7, 3, "U0BRUNO", "why?"),
        ),
        (ids.ALONE, ButtonValue(argument="7"), ids.ALONE_VIEW, ("alone", 7, "U0BRUNO", "why?")),
    ],
)
def test_the_form_takes_one_text_and_the_service_hears_it(office, counsel, case):
    button, value, view, heard = case
    office.press(button, value.text(), user="U0BRUNO")
    office.work()
    form = office.slack.views[-1]
    assert form["callback_id"] == view
    status, body = office.submit(
        view, {"words": " "}, context=form["private_metadata"], user="U0BRUNO"
    )
    assert (status, list(body["errors"])) == (200, ["words"])
    sent = office.submit(view, {"words": "why?"}, context=form["private_metadata"], user="U0BRUNO")
    assert sent == (200, None)
    office.work()
    assert counsel.told == [heard]


def test_going_on_trying_is_one_press(office, counsel):
    office.press(ids.RETRY, ButtonValue(argument="7").text(), user="U0ANA")
    office.work()
    assert counsel.told == [("retry", 7, "U0ANA")]


@pytest.mark.parametrize("button", [ids.ASK, ids.ANSWER, ids.ALONE, ids.RETRY])
def test_a_button_that_carries_nothing_is_told_so(office, counsel, button):
    office.press(button, ButtonValue(argument="x").text(), user="U0ANA")
    office.work()
    assert counsel.told == []
    assert "older version" in office.said()
