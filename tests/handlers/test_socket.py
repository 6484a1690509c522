"""Socket Mode: envelopes are acknowledged, repeated ones are known, and a cut heals by itself."""

import threading

import pytest

from bot.domain.errors import DeliveryError
from handlers import Socket
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
    office.slack.refuse_sockets = False
    assert office.slack.wait_for_socket(30)
    ack = office.slack.envelope("slash_commands", PAYLOAD, envelope_id="e5")
    assert ack.result(5) == {"envelope_id": "e5"}
    assert socket.connected()


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
