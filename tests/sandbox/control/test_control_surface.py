"""The control surface: the bot's process, the AWS books, and words for wrong requests."""

import os

import pytest


def test_a_killed_bot_is_down_until_it_is_started_again(world):
    before = world.get("/control/bot")
    os.kill(before["pid"], 0)
    world.post("/control/bot/kill")
    down = world.get("/control/bot")
    assert (down["pid"], down["running"]) == (None, False)
    status, ready = world.call("/control/ready")
    assert (status, ready["ready"]) == (503, False)
    ack = world.command("into the void")
    assert (ack["status"], ack["error"]) == ("error", "dispatch_failed")
    assert world.post("/control/bot/start")["ready"] is True
    assert world.call("/control/ready")[0] == 200
    after = world.get("/control/bot")
    assert after["pid"] != before["pid"]
    assert after["restarts"] == before["restarts"] + 1
    assert world.call("/control/bot/start", {})[0] == 400


def test_a_cut_socket_is_opened_again_and_delivers(world):
    world.post("/control/slack/fault", method="socket", fault="disconnect")
    world.until(lambda: world.call("/control/ready")[0] == 503 or world.world.socket.connected)
    world.until(lambda: world.call("/control/ready")[0] == 200)
    assert world.command("after the cut")["status"] == "ok"


def test_orders_for_aws_reach_it_and_its_refusals_are_told(world):
    world.post("/control/aws/fault", operation="PurchaseCapacityBlock", fault="lost-answer")
    assert world.world.aws.orders[-1]["fault"] == "lost-answer"
    status, answer = world.call("/control/aws/fault", {"fault": "lost-answer"})
    assert (status, answer["error"]) == (400, "a fault needs an operation")
    assert world.get("/control/aws/calls?operation=X") == [{"operation": "X"}]
    assert world.get("/control/aws/sold") == []


def test_aws_can_kill_the_bot_at_a_moment_of_its_own(world):
    world.post("/control/aws/event", event="kill")
    assert world.get("/control/bot")["pid"] is None
    world.post("/control/bot/start")
    world.until(lambda: world.call("/control/ready")[0] == 200)


@pytest.mark.parametrize(
    ("path", "body", "word"),
    [
        ("/control/slack/command", {"user": "U0ANA", "channel": "C0GPU"}, "text: missing"),
        ("/control/slack/command", {"user": "U0X", "channel": "C0GPU", "text": ""}, "U0ANA"),
        ("/control/slack/command", {"user": "U0ANA", "channel": "C0", "text": ""}, "C0GPU"),
        ("/control/slack/click", {"user": "U0ANA", "action_id": "a"}, "view"),
        (
            "/control/slack/click",
            {"user": "U0ANA", "channel": "C0GPU", "ts": "1.0", "action_id": "a"},
            "no message",
        ),
        ("/control/slack/submit", {"user": "U0ANA", "values": {}}, "no open modal"),
        ("/control/slack/fault", {"method": "chat.update", "fault": "flood"}, "429:SECONDS"),
        ("/control/slack/fault", {"method": "m", "fault": "500", "time": 2}, "known: method"),
        ("/control/slack/fault", {"method": "chat.send", "fault": "500"}, "chat.postMessage"),
        ("/control/clock", {"advance": "1 fortnight"}, "36h"),
    ],
)
def test_a_wrong_request_is_answered_in_words(world, path, body, word):
    status, answer = world.call(path, body)
    assert status == 400
    assert word in answer["error"]


def test_an_unknown_address_is_told_as_json(world):
    status, answer = world.call("/control/moon")
    assert status == 404
    assert "/control/moon" in answer["error"]


def test_a_page_of_another_site_gets_nowhere(world):
    status, _ = world.call("/control/bot", headers={"Origin": "http://elsewhere.example"})
    assert status == 403
    status, _ = world.call("/control/bot", headers={"Host": "elsewhere.example"})
    assert status == 403


def test_the_bot_inherits_nothing_that_leads_out_of_the_world(world):
    environment = world.world.bot.environment
    assert environment["AWS_SHARED_CREDENTIALS_FILE"] == os.devnull
    assert not [name for name in environment if "proxy" in name.lower()]
    assert environment["SLACK_API_URL"].startswith("http://127.0.0.1:")


def test_the_page_is_served_with_a_policy_that_lets_nothing_in_from_outside(world):
    import urllib.request  # noqa: PLC0415

    with urllib.request.urlopen(world.address + "/") as answer:  # noqa: S310 - loopback
        assert answer.headers["Content-Type"].startswith("text/html")
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
