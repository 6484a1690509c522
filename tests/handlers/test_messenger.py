"""What is posted can be found again, is drawn from the records, and is never posted on doubt."""

import json
from datetime import timedelta
from decimal import Decimal

import pytest

from bot.domain.errors import BugError, DeliveryDoubtError, DeliveryError
from bot.domain.lifecycle import ProposalState, ReservationState
from bot.domain.records import MessageRef
from bot.domain.saying import Announcement, Audience, Mention, Moment, Press, Section, Strong
from handlers import SlackMessenger
from handlers.rendering import unnamed
from tests.handlers.block_kit import texts
from tests.handlers.office import NOW, card, decision, option, proposal, reservation

CARD = Announcement(kind="card", to=Audience(channel="C0GPU"), reservation_id=42)
NOTE = Announcement(
    kind="note",
    to=Audience(channel="C0GPU"),
    reservation_id=42,
    thread="card:gpu-42",
    sections=(
        Section(
            title="Ends soon",
            sentences=(
                (Mention(id="U0ANA"), " it ends ", Moment(at=NOW), ", ", Strong(text="soon")),
            ),
        ),
    ),
    presses=(
        Press(action="gpu.extend", label="Extend", argument="42", style="primary"),
        Press(action="gpu.cleanup", label="Clean up", argument="42", confirm="All of it?"),
    ),
)
SINCE = NOW - timedelta(minutes=1)


@pytest.fixture
def messenger(office):
    office.services.cards[42] = card(proposal=proposal())
    return SlackMessenger(
        posting=office.posting,
        reading=office.reading,
        views=office.services,
        homes=office.services,
        names=unnamed,
    )


def test_a_post_carries_its_key_and_unfurls_nothing(messenger, slack):
    ref = messenger.post("card:gpu-42", CARD, under=None)
    sent = slack.last("chat.postMessage")
    assert sent["metadata"] == {
        "event_type": "gpubot_message",
        "event_payload": {"key": "card:gpu-42"},
    }
    assert (sent["unfurl_links"], sent["unfurl_media"]) in ((False, False), ("0", "0"))
    assert ref.channel == "C0GPU"
    assert isinstance(ref.ts, str)


def test_a_note_goes_under_its_card(messenger, slack):
    messenger.post("note:gpu-42:end", NOTE, under=MessageRef(channel="C0GPU", ts="1.5"))
    assert slack.last("chat.postMessage")["thread_ts"] == "1.5"


def test_a_direct_message_is_known_by_its_own_channel(messenger, slack):
    to_ana = NOTE.model_copy(update={"to": Audience(user="U0ANA")})
    assert messenger.post("note:x", to_ana, under=None).channel == "D0ANA"
    assert messenger.find("note:x", to_ana, under=None, since=SINCE) is not None


@pytest.mark.parametrize("fault", ["drop", "500", "fatal_error", "internal_error"])
def test_a_post_without_a_clear_answer_is_in_doubt_and_sent_once(messenger, slack, fault):
    slack.faults["chat.postMessage"] = [fault]
    with pytest.raises(DeliveryDoubtError):
        messenger.post("card:gpu-42", CARD, under=None)
    assert slack.count("chat.postMessage") == 1


def test_what_arrived_in_doubt_is_found_by_its_key(messenger, slack):
    slack.faults["chat.postMessage"] = ["drop"]
    with pytest.raises(DeliveryDoubtError):
        messenger.post("card:gpu-42", CARD, under=None)
    found = messenger.find("card:gpu-42", CARD, under=None, since=SINCE)
    assert found == MessageRef(channel="C0GPU", ts=slack.messages["C0GPU"][0]["ts"])
    assert messenger.find("card:gpu-43", CARD, under=None, since=SINCE) is None


def test_a_note_in_doubt_is_looked_for_in_its_thread(messenger, slack):
    under = MessageRef(channel="C0GPU", ts="1900000000.000001")
    messenger.post("note:a", NOTE, under=under)
    assert messenger.find("note:a", NOTE, under=under, since=SINCE) is not None
    assert slack.count("conversations.replies") == 1


def test_a_rate_limit_is_a_refusal_with_its_wait(messenger, slack):
    slack.faults["chat.postMessage"] = ["429"]
    with pytest.raises(DeliveryError) as caught:
        messenger.post("card:gpu-42", CARD, under=None)
    assert not isinstance(caught.value, DeliveryDoubtError)
    assert caught.value.retry_after_seconds == 7
    assert slack.count("chat.postMessage") == 1


@pytest.mark.parametrize("code", ["channel_not_found", "not_in_channel", "msg_too_long"])
def test_a_refusal_keeps_slacks_own_word(messenger, slack, code):
    slack.faults["chat.postMessage"] = [code]
    with pytest.raises(DeliveryError) as caught:
        messenger.post("card:gpu-42", CARD, under=None)
    assert caught.value.code == code
    assert not isinstance(caught.value, DeliveryDoubtError)


def test_an_update_sends_text_and_blocks_and_keeps_the_key(messenger, slack):
    ref = messenger.post("card:gpu-42", CARD, under=None)
    messenger.update("card:gpu-42", ref, CARD)
    sent = slack.last("chat.update")
    assert sent["text"]
    assert sent["blocks"]
    assert sent["metadata"]["event_payload"]["key"] == "card:gpu-42"
    assert messenger.find("card:gpu-42", CARD, under=None, since=SINCE) == ref


def test_a_card_is_drawn_as_the_record_is_at_that_moment(messenger, office, slack):
    ref = messenger.post("card:gpu-42", CARD, under=None)
    office.services.cards[42] = card(reservation=reservation(state=ReservationState.CANCELLED))
    messenger.update("card:gpu-42", ref, CARD)
    assert "gpu.request" not in json.dumps(slack.last("chat.update")["blocks"])


def test_an_approval_is_drawn_from_its_proposal(messenger, slack):
    messenger.post(
        "approval:7",
        Announcement(kind="approval", to=Audience(channel="C0APPROVE"), proposal_id=7),
        under=None,
    )
    blocks = json.dumps(slack.last("chat.postMessage")["blocks"])
    assert "Approve up to *$6,877.44* until" in blocks
    assert "gpu.approve" in blocks


def test_a_whisper_is_seen_by_one_person(messenger, slack):
    to = Audience(channel="C0GPU", user="U0ANA")
    messenger.whisper(NOTE.model_copy(update={"kind": "whisper", "to": to}))
    assert slack.last("chat.postEphemeral")["user"] == "U0ANA"
    with pytest.raises(BugError):
        messenger.whisper(NOTE)


def test_a_home_tab_lists_what_is_theirs(messenger, slack):
    home = Announcement(kind="home", to=Audience(user="U0ANA"))
    ref = messenger.post("home:U0ANA", home, under=None)
    messenger.update("home:U0ANA", ref, home)
    assert slack.count("views.publish") == 2
    assert "gpu-42" in json.dumps(slack.views[-1])


def digest(lines):
    sentence = ("x" * 400,)
    return Announcement(
        kind="digest",
        to=Audience(channel="C0GPU"),
        sections=(Section(title="Today", sentences=tuple(sentence for _ in range(lines))),),
    )


def test_a_long_digest_is_several_messages_and_its_key_comes_last(messenger, slack):
    messenger.post("digest:2027-03-10", digest(80), under=None)
    keys = [m["metadata"]["event_payload"]["key"] for m in slack.messages["C0GPU"]]
    assert len(keys) > 2
    assert keys[-1] == "digest:2027-03-10"
    assert len(set(keys)) == len(keys)


def test_a_long_digest_that_broke_off_goes_on_where_it_broke(messenger, slack):
    messenger.post("digest:a", digest(80), under=None)
    whole = len(slack.messages["C0GPU"])
    slack.messages["C0GPU"].pop()
    assert messenger.find("digest:a", digest(80), under=None, since=SINCE) is None
    messenger.post("digest:a", digest(80), under=None)
    assert len(slack.messages["C0GPU"]) == whole


def test_buttons_of_a_note_carry_the_reservation(messenger, slack):
    messenger.post("note:b", NOTE, under=None)
    buttons = [
        element
        for block in slack.last("chat.postMessage")["blocks"]
        for element in block.get("elements", [])
    ]
    assert [button["action_id"] for button in buttons] == ["gpu.extend", "gpu.cleanup"]
    assert json.loads(buttons[0]["value"]) == {"reservation": 42, "argument": "42"}


def test_user_text_in_every_kind_of_message_is_never_live(messenger, office, slack):
    evil = "<!channel> now *urgent* <https://x.test|click> @here `x` _y_"
    office.services.cards[42] = card(
        reservation=reservation(
            request=reservation().request.model_copy(update={"reason": evil}), note=evil
        ),
        proposal=proposal(note=evil, state=ProposalState.OPEN),
    )
    messenger.post("card:gpu-42", CARD, under=None)
    messenger.post(
        "approval:7",
        Announcement(kind="approval", to=Audience(channel="C0APPROVE"), proposal_id=7),
        under=None,
    )
    words = (Section(title=evil, sentences=((evil, Strong(text=evil)),)),)
    messenger.post("note:c", NOTE.model_copy(update={"sections": words}), under=None)
    for message in [m for room in slack.messages.values() for m in room]:
        for text in _mrkdwn(message):
            for live in ("<!channel>", "<!here>", "<https://x.test", "*urgent*", "`x`", "_y_"):
                assert live not in text
        assert "&lt;!channel&gt;" in json.dumps(message)


def _mrkdwn(message):
    yield message["text"]
    for text in texts(message["blocks"]):
        if text["type"] == "mrkdwn":
            yield text["text"]


def test_money_in_a_card_is_exact(messenger, office, slack):
    office.services.cards[42] = card(decision=decision(option(total_usd=Decimal("3315.30"))))
    messenger.post("card:gpu-42", CARD, under=None)
    assert "$3,315.30" in json.dumps(slack.last("chat.postMessage"))
