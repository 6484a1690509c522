"""A press changes what its ids say, by whoever may, and nothing else."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from bot.domain.errors import UserError
from handlers import ids
from handlers.forms import FormContext
from handlers.ids import ButtonValue
from tests.handlers.office import card, proposal


def press(office, action_id, value, **changes):
    office.press(action_id, value.text(), **changes)
    office.work()


def request_value(office, **changes):
    office.services.cards[42] = card(**changes)
    return ButtonValue(reservation=42, rank=1, seen=("d1" * 32)[:12])


def test_asking_for_approval_is_for_the_option_that_was_shown(office):
    press(office, ids.REQUEST, request_value(office))
    assert office.services.told == [("propose", 42, "U0ANA", 1)]


def test_asking_from_a_card_that_has_changed_since_asks_nothing(office):
    stale = request_value(office).model_copy(update={"seen": "0" * 12})
    press(office, ids.REQUEST, stale)
    assert office.services.told == []
    assert "has changed since" in office.said()


def test_two_approvers_at_once_are_two_calls_and_the_second_hears_the_first(office):
    office.services.refuse["approve"] = []
    value = ButtonValue(proposal=7).text()
    with ThreadPoolExecutor(2) as pool:
        users = ("U0BRUNO", "U0CARLA")
        answers = list(pool.map(lambda user: office.press(ids.APPROVE, value, user=user), users))
    assert answers == [(200, "")] * 2
    office.services.refuse["approve"] = [UserError("Already approved by U0BRUNO.")]
    office.work()
    assert len(office.services.told) == 2
    assert "Already approved by U0BRUNO" in office.said()
    assert "reference" not in office.said()


def test_an_approval_by_somebody_who_may_not_is_a_private_word(office):
    press(office, ids.APPROVE, ButtonValue(proposal=7), user="U0ANA")
    assert "You may not approve this" in office.said()
    assert office.slack.messages == {}


def test_an_external_presser_in_a_shared_channel_changes_nothing(office):
    press(office, ids.APPROVE, ButtonValue(proposal=7), user="U0EVE", home="T0PARTNER")
    assert office.services.told == []
    assert "Only members of this workspace" in office.said()


def test_each_press_changes_only_its_own_proposal(office):
    press(office, ids.APPROVE, ButtonValue(proposal=22), user="U0BRUNO")
    press(office, ids.APPROVE, ButtonValue(proposal=24), user="U0BRUNO")
    press(office, ids.APPROVE, ButtonValue(proposal=23), user="U0BRUNO")
    assert [told[1] for told in office.services.told] == [22, 24, 23]


def test_deny_asks_for_a_reason_and_the_form_carries_it(office):
    office.services.cards[42] = card(proposal=proposal())
    press(office, ids.DENY, ButtonValue(proposal=7), user="U0BRUNO")
    view = office.slack.views[-1]
    assert view["callback_id"] == ids.DENY_VIEW
    status, body = office.submit(
        ids.DENY_VIEW, {"denial": "  "}, context=view["private_metadata"], user="U0BRUNO"
    )
    assert (status, body["response_action"]) == (200, "errors")
    assert list(body["errors"]) == ["denial"]
    assert office.submit(
        ids.DENY_VIEW, {"denial": "too dear"}, context=view["private_metadata"], user="U0BRUNO"
    ) == (200, None)
    office.work()
    assert office.services.told == [("deny", 7, "U0BRUNO", "too dear")]


def test_an_emoji_that_was_cut_in_two_does_not_lose_the_denial(office):
    office.services.cards[42] = card(proposal=proposal())
    press(office, ids.DENY, ButtonValue(proposal=7), user="U0BRUNO")
    context = office.slack.views[-1]["private_metadata"]
    sent = office.submit(
        ids.DENY_VIEW, {"denial": "too dear \ud83d"}, context=context, user="U0BRUNO"
    )
    assert sent == (200, None)
    office.work()
    assert office.services.told == [("deny", 7, "U0BRUNO", "too dear \N{REPLACEMENT CHARACTER}")]


def test_a_denial_form_that_does_not_open_leaves_a_line_to_send(office):
    office.slack.faults["views.open"] = ["expired_trigger_id"]
    office.services.cards[42] = card(proposal=proposal())
    press(office, ids.DENY, ButtonValue(proposal=7), user="U0BRUNO")
    assert "deny gpu-42" in office.said()


def test_another_option_is_put_on_the_card(office):
    press(office, ids.ANOTHER, ButtonValue(reservation=42, rank=2))
    assert office.services.told == [("show", 42, 2, "U0ANA")]


def test_change_opens_the_form_filled_and_replaces_the_request(office):
    office.services.cards[42] = card()
    press(office, ids.CHANGE, ButtonValue(reservation=42))
    view = office.slack.views[-1]
    typed = {b["block_id"]: b["element"].get("initial_value") for b in view["blocks"]}
    assert typed["what"] == "2 p5.48xlarge"
    assert typed["length"] == "72h"
    assert typed["reason"] == "eval run"
    office.submit(
        ids.REQUEST_VIEW,
        {"what": "3 p5.48xlarge", "length": "72h"},
        context=view["private_metadata"],
    )
    office.work()
    assert office.services.told == [("change", 42, "reserve 3 p5.48xlarge for 72h", "U0ANA")]


def test_search_again_is_one_call(office):
    press(office, ids.SEARCH, ButtonValue(reservation=42))
    assert office.services.told == [("again", 42, "U0ANA")]


def test_cancel_is_one_call(office):
    press(office, ids.CANCEL, ButtonValue(reservation=42))
    assert office.services.told == [("cancel", 42, "U0ANA")]


def test_a_form_with_a_fault_is_answered_under_the_field_and_leaves_no_row(office):
    status, body = office.submit(ids.REQUEST_VIEW, {"what": "0 p5.48xlarge", "length": "1 day"})
    assert status == 200
    assert body == {
        "response_action": "errors",
        "errors": {"what": "A count of 0 reserves nothing."},
    }
    with office.store.reading() as tx:
        assert tx.inbox.waiting() == 0


def test_a_form_in_order_is_filed_in_the_channel_it_was_opened_in(office):
    context = FormContext(channel="C0GPU", zone="Europe/Berlin", locale="en-US")
    values = {"what": "2 p5.48xlarge", "length": "3 days", "budget": "$15k", "reason": 'say "hi"'}
    answer = office.submit(ids.REQUEST_VIEW, values, context=context.model_dump_json())
    assert answer == (200, None)
    office.submit(ids.REQUEST_VIEW, values, context=context.model_dump_json())
    office.work()
    assert office.services.told == [
        (
            "file",
            "reserve 2 p5.48xlarge for 3 days under $15k reason='say \"hi\"'",
            "U0ANA",
            False,
        )
    ]
    assert office.slack.last("chat.postEphemeral")["channel"] == "C0GPU"


def test_a_question_from_a_form_is_asked_with_buttons(office):
    context = FormContext(channel="C0GPU", zone="Europe/Berlin", locale="en-US")
    values = {"what": "2 p5.48xlarge", "length": "3 days", "when": "from friday"}
    office.submit(ids.REQUEST_VIEW, values, context=context.model_dump_json())
    office.work()
    assert "Which Friday?" in office.said()
    office.press(ids.CHOICE, office.value(ids.CHOICE))
    office.work()
    assert office.services.told[0][0] == "file"


@pytest.mark.parametrize("value", ["", "{}x", "gpu-42", '{"price": 1}'])
def test_a_value_that_is_none_of_ours_is_refused(office, value):
    office.press(ids.APPROVE, value, user="U0BRUNO")
    office.work()
    assert office.services.told == []
    assert "older version" in office.said()


def test_a_name_that_only_contains_a_known_one_is_not_it(office):
    office.press("gpu.disapprove", ButtonValue(proposal=7).text(), user="U0BRUNO")
    office.work()
    assert office.services.told == []


def test_a_button_that_no_room_knows_is_from_an_older_version(office):
    press(office, "gpu.teleport", ButtonValue(reservation=42))
    assert "older version" in office.said()


def test_a_button_carries_ids_and_nothing_that_decides():
    assert set(ButtonValue.model_fields).isdisjoint({"amount", "fee", "price", "user", "approver"})
    wide = ButtonValue(
        reservation=10**9, proposal=10**9, rank=999, seen="0" * 12, argument="x" * 200
    )
    assert len(wide.text()) <= ids.MOST_VALUE


def test_a_thread_is_answered_in_the_thread(office):
    office.slack.dead_addresses = True
    office.services.refuse["cancel"] = [UserError("No.")]
    container = {"message_ts": "1.2", "thread_ts": "1.1", "channel_id": "C0GPU"}
    press(office, ids.CANCEL, ButtonValue(reservation=42), container=container)
    assert office.slack.last("chat.postEphemeral")["thread_ts"] == "1.1"


@pytest.mark.parametrize("number", [-1, 10**12, 10**30, int("9" * 4000)])
def test_a_number_that_no_record_can_have_is_of_no_button_of_ours(office, number):
    office.press(ids.APPROVE, f'{{"proposal": {number}}}')
    office.work()
    assert "older version" in office.said()
    assert office.services.told == []
