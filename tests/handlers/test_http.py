"""HTTP mode lets in what Slack signed for this app and workspace, and nothing else."""

import gc
import json
import logging
import socket
import urllib.request
from urllib.parse import urlencode

import pytest

from handlers import HttpServer
from tests.handlers.office import SECRET, TOKEN, Office


def form(**changes: str) -> str:
    return urlencode(
        {
            "command": "/gpu",
            "text": "list",
            "user_id": "U0ANA",
            "team_id": "T0GPU",
            "api_app_id": "A0GPUBOT",
            "channel_id": "C0GPU",
            "trigger_id": "1.1.a",
            **changes,
        }
    )


def rows(office: Office) -> int:
    with office.store.reading() as tx:
        return tx.inbox.waiting()


def test_a_signature_beyond_ascii_is_unauthorized(office):
    assert office.post(form(), signature="v0=é")[0] == 401


@pytest.mark.parametrize("stamp", ["", "soon", "-5", "1e9", "٣", "9" * 40])
def test_a_timestamp_that_is_no_number_is_unauthorized(office, stamp):
    office.command("help")
    before = rows(office)
    status, _ = office.call(
        "POST",
        "/slack/events",
        form().encode(),
        HTTP_X_SLACK_REQUEST_TIMESTAMP=stamp,
        HTTP_X_SLACK_SIGNATURE="v0=00",
    )
    assert (status, rows(office)) == (401, before)


def test_a_wrong_signature_is_unauthorized(office):
    assert office.post(form(), signature="v0=" + "0" * 64)[0] == 401
    assert rows(office) == 0


def test_a_signature_older_than_five_minutes_is_unauthorized(office):
    assert office.post(form(), sent=office.wall() - 301)[0] == 401
    assert office.post(form(), sent=office.wall() + 301)[0] == 401


def test_a_replayed_request_changes_nothing(office):
    assert office.post(form()) == office.post(form()) == (200, "")
    assert rows(office) == 1


def test_an_empty_secret_stops_the_start(slack):
    office = Office(slack)
    gateway = type(office.gateway)
    with pytest.raises(ValueError, match="signing_secret"):
        gateway(
            app=office.app,
            signing_secret=" ",
            workspace="T",
            app_id=None,
            health=lambda: (True, {}),
        )


@pytest.mark.parametrize("change", [{"api_app_id": "A0OTHER"}, {"team_id": "T0OTHER"}])
def test_another_app_or_workspace_is_told_so_and_leaves_no_row(office, change):
    status, body = office.post(form(**change))
    assert status == 200
    assert "only serve the workspace" in json.loads(body)["text"]
    assert rows(office) == 0


def test_a_certificate_check_and_a_url_check_are_answered(office):
    assert office.post("ssl_check=1&token=x") == (200, "")
    challenge = json.dumps({"type": "url_verification", "challenge": "c1"})
    status, body = office.post(challenge, kind="application/json")
    assert (status, json.loads(body)) == (200, {"challenge": "c1"})


def test_an_ssl_check_without_a_signature_is_no_way_in(office):
    status, _ = office.call("POST", "/slack/events", b"ssl_check=1&" + form().encode())
    assert (status, rows(office)) == (401, 0)


@pytest.mark.parametrize(
    "body", ["payload=%7Bnot", "", "payload=[]", "\xff", "payload=" + "[" * 100_000]
)
def test_a_body_that_is_no_delivery_is_a_bad_request(office, body):
    assert office.post(body)[0] == 400


@pytest.mark.parametrize("length", ["\xb2", "-1", "9" * 5000, "1e3"])
def test_a_length_that_is_none_is_refused_before_it_is_read(office, length):
    assert office.call("POST", "/slack/events", CONTENT_LENGTH=length)[0] == 413


def test_a_huge_body_is_refused_before_it_is_read(office):
    status, _ = office.call("POST", "/slack/events", CONTENT_LENGTH="2000000")
    assert status == 413


def test_health_and_metrics_are_served(office):
    assert office.call("GET", "/healthz") == (200, '{"ok": true}')
    status, text = office.call("GET", "/metrics")
    assert status == 200
    assert "gpubot_ack_seconds" in text
    assert office.call("GET", "/")[0] == 404


def test_an_unwell_bot_says_so_with_its_status(office):
    object.__setattr__(office.gateway, "health", lambda: (False, {"slack": "disconnected"}))
    assert office.call("GET", "/healthz") == (503, '{"slack": "disconnected"}')


def test_the_real_server_takes_a_signed_form(office):
    server = HttpServer(office.gateway, host="127.0.0.1", port=0)
    server.start()
    stamp = str(int(office.wall()))
    body = form()
    signature = office.gateway.verifier.generate_signature(timestamp=stamp, body=body)
    request = urllib.request.Request(
        f"http://127.0.0.1:{server.port}/slack/events",
        data=body.encode(),
        headers={"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": str(signature)},
    )
    with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310 - our own server
        assert answer.status == 200
    server.close()
    gc.collect()
    assert rows(office) == 1


def test_a_server_at_a_name_closes_its_sockets_while_it_waits_for_them(office):
    # localhost is two addresses on most machines; a socket closed under select ends the thread
    # with an error, which pytest makes a failure.
    for _ in range(20):
        server = HttpServer(office.gateway, host="localhost", port=free_port())
        server.start()
        health = f"http://localhost:{server.port}/healthz"
        with urllib.request.urlopen(health, timeout=10) as answer:
            assert answer.status == 200
        server.close()
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(("localhost", server.port), timeout=5)
    gc.collect()


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def test_no_secret_is_logged_even_when_everything_is(slack, caplog, capsys):
    caplog.set_level(logging.DEBUG)
    office = Office(slack)
    office.command("list", token="old-verification-token")
    office.post(form(trigger_id="7.7.capability"), signature="v0=" + "0" * 64)
    office.work()
    printed = caplog.text + "".join(capsys.readouterr())
    for secret in ("abc", "/respond/", "old-verification-token", SECRET, TOKEN, "capability"):
        assert secret not in printed


def test_slack_client_variables_do_not_switch_bolt_to_oauth(slack, monkeypatch, tmp_path):
    monkeypatch.setenv("SLACK_CLIENT_ID", "1.2")
    monkeypatch.setenv("SLACK_CLIENT_SECRET", "s")
    monkeypatch.chdir(tmp_path)
    office = Office(slack)
    assert office.command("list") == (200, "")
    assert rows(office) == 1
    assert slack.count("auth.test") == 0


def test_no_delivery_calls_slack_before_it_is_acknowledged(office, slack):
    office.command("reserve")
    office.press("gpu.approve", "{}")
    assert slack.calls == []
