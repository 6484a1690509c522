"""Every line is answered: carried out, asked about, or refused with one that works."""

import json
from datetime import timedelta

import pytest

from bot.domain.errors import ConflictError, DeliveryError, StateError, UserError
from bot.domain.lifecycle import ReservationState
from bot.domain.records import Delivery, Switch
from handlers import Worker
from handlers.cards.wording import STATES
from handlers.commands import KNOWN
from storage.sqlite import SqliteStore
from tests.handlers.office import Office, card, proposal, request, reservation


def say(office, text, **changes):
    office.command(text, **changes)
    office.work()


def test_a_filed_request_is_said_back_with_its_number(office):
    say(office, "reserve 2 p5.48xlarge for 72h")
    assert "gpu-12" in office.said()
    assert "You said: reserve 2 p5.48xlarge for 72h" in office.said()


def test_the_line_is_read_in_the_zone_and_language_of_its_sender(office):
    say(office, "reserve 2 p5.48xlarge for 72h", user="U0LIN")
    assert office.language.asked[-1][1:] == (office.clock.now(), "America/Sao_Paulo", "pt-BR")


def test_the_same_line_again_is_pointed_out_and_can_be_filed_all_the_same(office):
    for _ in range(2):
        say(office, "reserve 2 p5.48xlarge for 72h")
    assert "same line as gpu-12" in office.said()
    assert len(office.services.filed) == 1
    value = office.value("gpu.choice")
    office.press("gpu.choice", value)
    office.work()
    assert len(office.services.filed) == 2
    assert office.services.told[-1][-1] is True


def test_filing_all_the_same_twice_from_one_press_files_once(office):
    for _ in range(2):
        say(office, "reserve 2 p5.48xlarge for 72h")
    office.press("gpu.choice", office.value("gpu.choice"))
    with office.store.transaction() as tx:
        delivery = tx.inbox.claim(now=office.clock.now(), lease=_hour(), limit=1)[0]
    for _ in range(2):
        office.worker._work(delivery)  # noqa: SLF001 - as after a crash between call and mark
    assert [told[-1] for told in office.services.told] == [False, False, True, False]


def _hour():
    return timedelta(hours=1)


def test_a_question_goes_on_from_its_button_with_nothing_typed_again(office):
    say(office, "reserve 2 p5.48xlarge for 72h from friday")
    assert office.services.told == []
    assert "Which Friday?" in office.said()
    office.clock.at += _hour() * 5
    office.press("gpu.choice", office.value("gpu.choice", 1))
    office.work()
    line = office.services.told[0][1]
    assert line.endswith("earliest_start=2027-03-19T00:00:00Z")
    assert office.language.asked[-1][1] == office.clock.now() - _hour() * 5


def test_a_question_that_was_answered_is_replaced_and_its_old_buttons_do_nothing(office):
    say(office, "reserve 2 p5.48xlarge for 72h from friday")
    first, second = office.value("gpu.choice", 0), office.value("gpu.choice", 1)
    office.press("gpu.choice", first)
    office.work()
    assert office.slack.private[-1]["replace_original"] is True
    office.clock.at += _hour()
    office.press("gpu.choice", second)
    office.work()
    assert len(office.services.told) == 1
    assert "settled already" in office.said()


def test_filing_all_the_same_by_a_double_press_files_once_more_only(office):
    for _ in range(2):
        say(office, "reserve 2 p5.48xlarge for 72h")
    value = office.value("gpu.choice")
    for _ in range(2):
        office.press("gpu.choice", value)
    office.work()
    assert len(office.services.filed) == 2


def test_only_the_sender_may_choose(office):
    say(office, "reserve 2 p5.48xlarge for 72h from friday")
    office.press("gpu.choice", office.value("gpu.choice"), user="U0LIN")
    office.work()
    assert office.services.told == []
    assert "Only the person who sent that line" in office.said()


def test_a_refusal_marks_the_words_and_gives_a_line_and_the_form(office):
    say(office, "reserve 0 p5.48xlarge for 1 day")
    assert "*0*" in office.said()
    assert "/gpu reserve 1 p5.48xlarge for 1 day" in office.said()
    office.press("gpu.form", office.value("gpu.form"))
    office.work()
    assert office.slack.views[-1]["callback_id"] == "gpu.request.view"
    assert "2 p5.48xlarge" in json.dumps(office.slack.views[-1])


def test_marked_words_are_shown_as_they_were_typed(office):
    say(office, "reserve 0 p5.48xlarge &lt;!channel&gt;")
    assert "*0*" in office.said()
    assert "&lt;!channel&gt;" in office.said()
    assert "&amp;lt;" not in office.said()


@pytest.mark.parametrize("text", ["", "reserve"])
def test_the_command_alone_opens_the_form(office, text):
    say(office, text)
    view = office.slack.views[-1]
    assert [block["block_id"] for block in view["blocks"]][:3] == ["what", "length", "when"]
    assert office.slack.private == []
    assert json.loads(view["private_metadata"])["zone"] == "Europe/Berlin"


@pytest.mark.parametrize("error", ["expired_trigger_id", "exchanged_trigger_id", "500", "drop"])
def test_a_form_that_no_longer_opens_becomes_a_private_message(office, error):
    office.slack.faults["views.open"] = [error]
    say(office, "")
    assert "did not let the form open" in office.said()
    office.press("gpu.form", office.value("gpu.form"))
    office.work()
    assert office.slack.count("views.open") == 2


def test_a_plan_is_shown_and_nothing_is_filed(office):
    say(office, "plan 2 p5.48xlarge for 72h")
    assert office.services.told == [("plan", "Europe/Berlin", "U0ANA")]
    assert "$6,877.44" in office.said()
    assert "gpu.request" not in office.said()


def test_a_plan_says_from_when_its_prices_are_and_the_line_that_requests_it(office):
    say(office, "plan 2 p5.48xlarge for 72h")
    assert "Prices as of <!date^" in office.said()
    assert "Request it: `/gpu reserve 2 p5.48xlarge for 72h`" in office.said()


def test_status_of_one_is_its_card_without_buttons(office):
    office.services.cards[42] = card()
    say(office, "status gpu-42")
    assert "$6,877.44" in office.said()
    assert '"actions"' not in office.said()


def test_status_alone_says_whether_buying_is_on(office):
    say(office, "status")
    everything = json.dumps(office.slack.private)
    assert "Buying is on." in everything


def test_an_unknown_number_is_said_kindly(office):
    say(office, "status gpu-999")
    assert "I know nothing by that number." in office.said()


def test_all_eighty_of_a_long_list_are_shown_within_the_limits(office):
    for number in range(1, 81):
        reason = "r" * (5_000 if number == 7 else 200)
        office.services.cards[number] = card(
            reservation=reservation(number, request=request(reason=reason))
        )
    say(office, "list all")
    everything = json.dumps(office.slack.private)
    assert all(f"*gpu-{number}*" in everything for number in range(1, 81))
    assert len(office.slack.private) <= 5
    assert "r" * 121 not in everything


def test_a_longer_list_goes_on_behind_a_button(office):
    for number in range(1, 101):
        office.services.cards[number] = card(reservation=reservation(number))
    say(office, "list all")
    office.press("gpu.older", office.value("gpu.older"))
    office.work()
    everything = json.dumps(office.slack.private)
    assert all(f"*gpu-{number}*" in everything for number in range(1, 101))


def test_approve_and_deny_name_the_reservation(office):
    office.services.cards[42] = card(proposal=proposal())
    say(office, "approve gpu-42", user="U0BRUNO")
    say(office, "deny gpu-42 too dear", user="U0CARLA")
    assert office.services.told == [
        ("approve", 7, "U0BRUNO"),
        ("deny", 7, "U0CARLA", "too dear"),
    ]


def test_stop_and_resume_turn_the_switch_to_off_and_to_the_files_setting(office):
    say(office, "stop", user="U0DIEGO")
    say(office, "resume", user="U0DIEGO")
    assert office.services.told == [
        ("set", Switch.OFF, "U0DIEGO"),
        ("set", Switch.SHADOW, "U0DIEGO"),
    ]


def test_cancel_is_one_call(office):
    say(office, "cancel gpu-42")
    assert office.services.told == [("cancel", 42, "U0ANA")]


def test_help_is_in_the_readers_language(office):
    say(office, "help", user="U0LIN")
    assert "Help in pt-BR" in office.said()


@pytest.mark.parametrize("user", ["U0EVE", "U0GONE", "U0NOBODY"])
def test_strangers_and_the_deactivated_are_refused_before_any_service(office, user):
    say(office, "cancel gpu-42", user=user)
    assert office.services.told == []
    assert office.slack.private


def test_a_conflict_is_looked_at_once_more(office):
    office.services.refuse["cancel"] = [ConflictError("another writer")]
    say(office, "cancel gpu-42")
    assert len(office.services.told) == 2
    assert "is cancelled" in office.said()


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (UserError("It is over.", hint="status gpu-42"), "/gpu status gpu-42"),
        (StateError("a reservation that is ended cannot become cancelled"), "any more"),
        (RuntimeError("secret detail"), "reference d1"),
        (DeliveryError("ratelimited"), "reference d1"),
    ],
)
def test_every_failure_is_a_sentence_and_never_a_trace(office, error, words):
    office.services.refuse["cancel"] = [error]
    say(office, "cancel gpu-42")
    assert words in office.said()
    assert "secret detail" not in office.said()
    assert "Error" not in office.said()


def test_user_text_is_never_live_in_any_answer(office):
    evil = "<!channel> now *urgent* <https://x.test|click> @here"
    for text in (f"frobnicate {evil}", f"reserve 0 {evil}", f"reserve 1 p5 {evil}"):
        say(office, text.replace("&", "&amp;"))
    everything = json.dumps(office.slack.private, ensure_ascii=False)
    assert "<!channel>" not in everything
    assert "<https://x.test" not in everything
    assert "*urgent*" not in everything


def test_a_dead_answer_address_becomes_an_ephemeral_and_then_a_direct_message(office):
    office.slack.dead_addresses = True
    say(office, "cancel gpu-42")
    assert office.slack.last("chat.postEphemeral")["user"] == "U0ANA"
    office.slack.faults["chat.postEphemeral"] = ["not_in_channel"]
    say(office, "cancel gpu-42")
    assert office.slack.last("chat.postMessage")["channel"] == "U0ANA"


def test_an_ephemeral_in_doubt_is_not_repeated(office):
    office.slack.dead_addresses = True
    office.slack.faults["chat.postEphemeral"] = ["drop"]
    say(office, "cancel gpu-42")
    assert (office.slack.count("chat.postEphemeral"), office.slack.count("chat.postMessage")) == (
        1,
        0,
    )


def test_an_answer_never_comes_twice_when_work_is_repeated(office):
    office.command("cancel gpu-42")
    office.work()
    told = len(office.slack.private)
    office.clock.at += _hour()
    office.work()
    assert len(office.slack.private) == told


def test_a_line_claimed_by_a_process_that_died_is_carried_out_by_the_next(slack, tmp_path):
    first = Office(slack, database=tmp_path / "inbox.db")
    first.command("cancel gpu-42")
    with first.store.transaction() as tx:
        tx.inbox.claim(now=first.clock.now(), lease=_hour(), limit=1)
    first.store.close()
    first.clock.at += _hour() * 2
    again = SqliteStore(tmp_path / "inbox.db", holder="next")
    desk = type(first.desk)(
        **{name: getattr(first.desk, name) for name in first.desk.__slots__} | {"store": again}
    )
    people = type(first.people)(
        client=first.reading, store=again, clock=first.clock, workspace="T0GPU"
    )
    desk = type(desk)(**{name: getattr(desk, name) for name in desk.__slots__} | {"people": people})
    assert Worker(desk=desk, answering=first.answering, log=first.log).step() == 1
    assert first.services.told == [("cancel", 42, "U0ANA")]
    again.close()


def test_a_kept_row_that_can_not_be_read_is_not_tried_for_ever(office):
    row = Delivery(key="k", kind="command", body="{}", received_at=office.clock.now())
    office.store.record(row, patience=timedelta(seconds=1))
    office.work()
    office.clock.at += _hour()
    assert office.worker.step() == 0


def test_every_known_verb_is_a_verb_of_the_language():
    assert set(KNOWN) <= {
        "reserve",
        "plan",
        "watch",
        "status",
        "list",
        "extend",
        "cancel",
        "release",
        "handover",
        "approve",
        "deny",
        "launch",
        "endpoint",
        "health",
        "market",
        "calendar",
        "budget",
        "digest",
        "settings",
        "stop",
        "resume",
        "help",
    }


def test_a_request_in_a_state_is_worded():
    assert set(STATES) == set(ReservationState)
