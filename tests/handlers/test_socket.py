"""Socket Mode: envelopes are acknowledged, repeated ones are known, and a cut heals by itself."""

import threading

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.interval_runner import IntervalRunner

from bot.domain.errors import DeliveryError
from bot.domain.saying import Announcement, Audience, Section
from handlers import SlackMessenger, Socket
from handlers.rendering import unnamed
from handlers.socket import app_id_of
from tests.handlers.office import WORKSPACE

PAYLOAD = {
    "command": "/gpu",
    "text": "cancel gpu-42 for payload tests",
    "user_id": "U0ANA",
    "team_id": WORKSPACE,
    "channel_id": "C0GPU",
    "api_app_id": "A0GPUBOT",
    "trigger_id": "1.1.socket",
}


@pytest.fixture
def socket(office):
    socket = Socket(
        office.app,
        app_token="xapp-1-A0GPUBOT-1-aa",
        workspace=WORKSPACE,
        base_url=office.slack.api,
        wall=office.wall,
    )
    office.slack.arrived.clear()
    socket.connect()
    assert office.slack.wait_for_socket()
    yield socket
    socket.close()
    assert not socket.connected()


@pytest.fixture
def quick_socket(office, socket, monkeypatch):
    """The same, looking after its connection many times a second."""
    monkeypatch.setattr("handlers.socket.PING_SECONDS", 0.01)
    monitor = socket.client.current_app_monitor
    monitor.shutdown()
    again = IntervalRunner(monitor.target, 0.05).start()
    socket.client.current_app_monitor = again
    return socket


def test_an_envelope_twice_is_acknowledged_twice_and_carried_out_once(office, socket):
    assert socket.connected()
    for number in range(2):
        ack = office.slack.envelope("slash_commands", PAYLOAD, envelope_id="e1")
        assert ack.result(5) == {"envelope_id": "e1"}, number
    office.work()
    assert office.services.told == [("cancel", 42, "U0ANA")]


def test_a_form_is_answered_in_its_envelope(office, socket):
    view = {
        "id": "V1",
        "type": "modal",
        "hash": "h",
        "callback_id": "gpu.deny.view",
        "private_metadata": "{}",
        "state": {"values": {"denial": {"value": {"type": "plain_text_input", "value": ""}}}},
        "app_installed_team_id": WORKSPACE,
    }
    payload = {
        "type": "view_submission",
        "user": {"id": "U0ANA", "team_id": WORKSPACE},
        "team": {"id": WORKSPACE},
        "view": view,
    }
    ack = office.slack.envelope("interactive", payload, envelope_id="e2").result(5)
    assert ack["payload"]["response_action"] == "errors"


def test_another_apps_envelope_is_told_so(office, socket):
    payload = PAYLOAD | {"api_app_id": "A0OTHER"}
    ack = office.slack.envelope("slash_commands", payload, envelope_id="e3").result(5)
    assert "only serve" in ack["payload"]["text"]
    office.work()
    assert office.services.told == []


def test_waiting_in_the_clients_queue_counts_as_lateness(office, socket):
    begun, go = threading.Event(), threading.Event()
    original = socket.client.run_message_listeners

    def slow(message, raw_message):
        begun.set()
        go.wait(5)
        original(message, raw_message)

    socket.client.run_message_listeners = slow
    ack = office.slack.envelope("slash_commands", PAYLOAD, envelope_id="e4")
    assert begun.wait(5)
    office.wall.at += 3
    go.set()
    ack.result(5)
    office.work()
    assert office.services.told == []
    assert "Do you still want this?" in str(office.slack.calls[-1].arguments)


def test_a_cut_is_reported_and_heals_while_messages_still_go_out(office, socket):
    office.slack.refuse_sockets = True
    office.slack.cut()
    gone = threading.Event()
    for _ in range(200):
        if not socket.connected():
            gone.set()
            break
        gone.wait(0.02)
    assert gone.is_set()
    messenger = SlackMessenger(
        posting=office.posting,
        reading=office.reading,
        views=office.services,
        homes=office.services,
        names=unnamed,
    )
    reminder = Section(sentences=(("It starts in an hour.",),))
    note = Announcement(kind="note", to=Audience(channel="C0GPU"), sections=(reminder,))
    assert messenger.post("note:during the cut", note, under=None).channel == "C0GPU"
    assert "in an hour" in office.slack.last("chat.postMessage")["text"]
    assert not socket.connected()
    office.slack.refuse_sockets = False
    assert office.slack.wait_for_socket(30)
    ack = office.slack.envelope("slash_commands", PAYLOAD, envelope_id="e5")
    assert ack.result(5) == {"envelope_id": "e5"}
    assert socket.connected()


@pytest.mark.parametrize("moment", ["before the acknowledgement", "after it", "while replacing"])
def test_cut_again_and_again_nothing_is_lost_and_nothing_done_twice(
    office, quick_socket, moment
) -> None:
    wanted = []
    for number in range(1, 5):
        name = f"cut-{number}"
        payload = PAYLOAD | {"text": f"cancel gpu-{number} for payload tests", "trigger_id": name}
        ack = office.slack.envelope("slash_commands", payload, envelope_id=name)
        if moment == "after it":
            ack.result(5)
        if moment == "while replacing":
            office.slack.refresh()
        office.slack.cut()
        assert office.slack.wait_for_socket(30)
        # What was not acknowledged comes again, and sometimes what was comes too.
        again = office.slack.envelope("slash_commands", payload, envelope_id=name)
        assert again.result(10) == {"envelope_id": name}
        wanted.append(("cancel", number, "U0ANA"))
    office.work()
    assert sorted(office.services.told) == wanted
    assert quick_socket.connected()


def test_a_connection_that_slack_wants_replaced_is_replaced_without_a_gap(
    office, quick_socket
) -> None:
    office.slack.refresh()
    assert office.slack.wait_for_socket(30)
    ack = office.slack.envelope("slash_commands", PAYLOAD, envelope_id="e6")
    assert ack.result(10) == {"envelope_id": "e6"}
    office.work()
    assert office.services.told == [("cancel", 42, "U0ANA")]
    assert quick_socket.connected()


@pytest.mark.parametrize(
    ("answers", "pauses"),
    [
        (["internal_error"] * 5, [5, 10, 20, 20, 20]),
        (["429", "internal_error"], [7, 10]),
    ],
)
def test_after_a_cut_the_tries_grow_apart_and_wait_as_slack_asks(office, answers, pauses) -> None:
    now = 0.0
    socket = Socket(
        office.app,
        app_token="xapp-1-A0GPUBOT-1-aa",
        workspace=WORKSPACE,
        base_url=office.slack.api,
        wall=office.wall,
        monotonic=lambda: now,
    )
    socket.connect()
    office.slack.cut()
    socket.client.current_app_monitor.shutdown()
    socket.client.disconnect()
    office.slack.faults["apps.connections.open"] = list(answers)
    for number, pause in enumerate(pauses, start=2):
        with pytest.raises(SlackApiError):
            socket.client.connect_to_new_endpoint()
        now += pause - 0.1
        socket.client.connect_to_new_endpoint()
        assert office.slack.count("apps.connections.open") == number
        now += 0.2
    socket.client.connect_to_new_endpoint()
    assert socket.connected()
    socket.close()


def test_a_slack_that_does_not_let_us_in_is_an_error(office):
    office.slack.refuse_sockets = True
    socket = Socket(
        office.app,
        app_token="xapp-1-A0GPUBOT-1-aa",
        workspace=WORKSPACE,
        base_url=office.slack.api,
    )
    with pytest.raises(DeliveryError):
        socket.connect()
    socket.close()


@pytest.mark.parametrize(
    ("token", "wanted"), [("xapp-1-A012-99-ff", "A012"), ("xapp-1-ff", None), ("x", None)]
)
def test_an_app_token_tells_the_app(token, wanted):
    assert app_id_of(token) == wanted
