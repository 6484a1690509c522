"""People's acts reach the real slack_bolt over both transports, and its answers come back."""

import pytest


def test_a_command_is_acknowledged_and_its_card_appears(world):
    ack = world.command("first card")
    assert (ack["status"], ack["ack_body"]) == ("ok", None)
    assert ack["ack_ms"] < 3000
    card = world.message("first card")
    assert card["blocks"][1]["elements"][0]["action_id"] == "gpu.request"


def test_a_text_with_the_word_payload_arrives_in_socket_mode_and_is_lost_by_bolt_over_http(world):
    """Bolt 1.30 drops such form bodies; the double sends them as Slack does."""
    ack = world.command("for payload tests")
    if world.world.settings.mode == "socket":
        assert ack["status"] == "ok"
    else:
        assert ack["status"] == "error"


def test_an_answer_in_the_acknowledgement_is_shown_to_the_person_only(world):
    ack = world.command("hello", user="U0LIN")
    assert ack["ack_body"]["text"] == "hello yourself"
    shown = world.message("hello yourself", user="U0LIN")
    assert shown["only_for"] == "U0LIN"
    assert all(m["text"] != "hello yourself" for m in world.messages(user="U0ANA"))


def test_a_late_acknowledgement_is_a_timeout(world):
    ack = world.command("slow")
    assert ack["status"] == "timeout"
    assert ack["error"] == "operation_timeout"
    assert 2900 < ack["ack_ms"] < 3500
    assert "operation_timeout" in world.messages(user="U0ANA")[-1]["text"]


def test_a_click_carries_the_clicker_and_updates_without_blocks_lose_their_buttons(world):
    world.command("press me")
    card = world.message("press me")
    ack = world.post(
        "/control/slack/click",
        user="U0EVE",
        channel="C0GPU",
        ts=card["ts"],
        action_id="gpu.request",
    )
    assert ack["status"] == "ok"
    changed = world.message("asked by T0PARTNER")
    assert (changed["ts"], changed["blocks"], changed["edited"]) == (card["ts"], [], True)


def test_a_button_that_is_gone_can_only_be_pressed_on_a_stale_screen(world):
    world.command("going")
    card = world.message("going")
    press = {"user": "U0ANA", "channel": "C0GPU", "ts": card["ts"], "action_id": "gpu.request"}
    world.post("/control/slack/click", **press)
    world.until(lambda: not next(m for m in world.messages() if m["ts"] == card["ts"])["blocks"])
    status, answer = world.call("/control/slack/click", press)
    assert status == 400
    assert "gpu.request" in answer["error"]
    assert world.post("/control/slack/click", **press, stale=True)["status"] == "ok"


def test_a_choice_of_a_select_arrives_as_the_chosen_option(world):
    world.command("choose")
    card = world.message("choose")
    where = {"user": "U0ANA", "channel": "C0GPU", "ts": card["ts"], "action_id": "gpu.choice"}
    world.post("/control/slack/click", **where, value="two")
    assert world.message("chose two")
    status, answer = world.call("/control/slack/click", where | {"value": "three"})
    assert status == 400
    assert "'one', 'two'" in answer["error"]


def test_an_ephemeral_card_is_pressed_by_its_person_only_and_replaced_by_response_url(world):
    world.command("whisper", user="U0LIN")
    card = world.message("only you", user="U0LIN")
    where = {"channel": "C0GPU", "ts": card["ts"], "action_id": "gpu.request"}
    assert world.call("/control/slack/click", where | {"user": "U0ANA"})[0] == 400
    world.post("/control/slack/click", **where, user="U0LIN")
    assert world.message("replaced", user="U0LIN")["ts"] == card["ts"]


def test_a_modal_shows_the_errors_it_was_answered_with_and_then_closes(world):
    world.command("form", user="U0BRUNO")
    world.until(lambda: world.get("/control/slack/view?user=U0BRUNO"))
    wrong = world.post("/control/slack/submit", user="U0BRUNO", values={"count": {"count": "x"}})
    assert wrong["errors"] == {"count": "a number, please"}
    empty = world.post("/control/slack/submit", user="U0BRUNO", values={"count": {"count": ""}})
    assert "required" in empty["errors"]["count"]
    right = world.post("/control/slack/submit", user="U0BRUNO", values={"count": {"count": "7"}})
    assert (right["errors"], right["view"]) == ({}, None)
    assert world.message("form says 7")


def test_a_closed_modal_tells_the_app(world):
    world.command("form", user="U0CARLA")
    world.until(lambda: world.get("/control/slack/view?user=U0CARLA"))
    world.post("/control/slack/close", user="U0CARLA")
    assert world.message("form closed")
    assert world.get("/control/slack/view?user=U0CARLA") is None


def test_the_home_tab_is_published_when_it_is_opened_and_its_buttons_work(world):
    view = world.get("/control/slack/view?user=U0ANA&home=1")
    assert view["blocks"][0]["text"]["text"] == "home of U0ANA"
    world.post("/control/slack/click", user="U0ANA", view=True, action_id="gpu.request")
    assert world.message("pressed at home", channel="D0ANA")


@pytest.mark.parametrize("how", ["deliver", "redeliver"])
def test_one_act_can_be_delivered_twice(world, how):
    text = f"twice by {how}"
    if how == "deliver":
        world.command(text, deliver=2)
    else:
        world.command(text)
        world.post("/control/slack/redeliver")
    world.until(lambda: sum(m["text"] == text for m in world.messages()) == 2)
