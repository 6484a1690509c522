"""The Web API fails as Slack fails, seen through the real slack_sdk."""

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from sandbox.slack.errors import SlackError
from sandbox.slack.tickets import Triggers

SECTION = {"type": "section", "text": {"type": "mrkdwn", "text": "hi"}}


@pytest.fixture(scope="module")
def client(slack):
    token = slack.world.workspace.credentials.bot_token
    return WebClient(token=token, base_url=f"{slack.address}/api/", timeout=5)


def refusal(call, **arguments):
    with pytest.raises(SlackApiError) as caught:
        call(**arguments)
    return caught.value.response["error"]


def button(action_id="a", text="Press", **more):
    label = {"type": "plain_text", "text": text}
    return {"type": "button", "text": label, "action_id": action_id, **more}


def modal(**more):
    return {
        "type": "modal",
        "title": {"type": "plain_text", "text": "Title"},
        "blocks": [SECTION],
        **more,
    }


def test_auth_test_names_the_bot(client):
    answer = client.auth_test()
    assert (answer["team_id"], answer["user_id"]) == ("T0GPU", "U0GPUBOT")


def test_a_method_beyond_the_scopes_of_the_manifest_is_refused(slack):
    workspace = slack.world.workspace
    granted, workspace.scopes = workspace.scopes, frozenset({"chat:write", "channels:history"})
    try:
        answer = slack.api("users.info", user="U0ANA")
        assert (answer["error"], answer["needed"]) == ("missing_scope", "users:read")
        assert slack.api("conversations.history", channel="C0GPU")["ok"]
        answer = slack.api("conversations.history", channel="D0ANA")
        assert answer["needed"] == "im:history"
    finally:
        workspace.scopes = granted


def test_the_tokens_have_the_forms_of_slack_and_name_the_app(slack):
    known = slack.world.workspace.credentials
    assert known.bot_token.startswith("xoxb-")
    assert known.app_token.split("-")[:3] == ["xapp", "1", "A0GPUBOT"]


def test_a_wrong_token_is_invalid_auth(slack):
    stranger = WebClient("xoxb-wrong", base_url=f"{slack.address}/api/")
    assert refusal(stranger.auth_test) == "invalid_auth"


def test_a_bot_token_opens_no_socket_and_an_app_token_does(slack, client):
    assert refusal(client.apps_connections_open, app_token=client.token) == (
        "not_allowed_token_type"
    )
    app_token = slack.world.workspace.credentials.app_token
    assert client.apps_connections_open(app_token=app_token)["url"].startswith("ws://127.0.0.1")


def test_an_unknown_method_is_refused(client):
    assert refusal(client.api_call, api_method="gpu.reserve") == "unknown_method"


@pytest.mark.parametrize(
    "blocks",
    [
        pytest.param([{"type": "section"}], id="a section without text"),
        pytest.param([{**SECTION, "text": {"type": "mrkdwn", "text": "x" * 3001}}], id="3001"),
        pytest.param([{**SECTION, "text": {"type": "mrkdwn", "text": ""}}], id="empty text"),
        pytest.param([{**SECTION, "colour": "red"}], id="an unknown property"),
        pytest.param([{"type": "sectoin"}], id="an unknown type"),
        pytest.param([{"type": "actions", "elements": []}], id="no elements"),
        pytest.param([{"type": "actions", "elements": [button(), button()]}], id="action_id twice"),
        pytest.param(
            [{**SECTION, "block_id": "b"}, {**SECTION, "block_id": "b"}], id="block_id twice"
        ),
        pytest.param([SECTION] * 51, id="51 blocks"),
        pytest.param(
            [{"type": "actions", "elements": [button(text="x" * 76)]}], id="a long button"
        ),
        pytest.param(
            [{"type": "actions", "elements": [button(value="x" * 2001)]}], id="a long value"
        ),
        pytest.param(
            [{"type": "header", "text": {"type": "plain_text", "text": "x" * 151}}], id="header"
        ),
        pytest.param(
            [
                {
                    "type": "section",
                    "fields": [{"type": "mrkdwn", "text": "x" * 2001}],
                }
            ],
            id="a long field",
        ),
        pytest.param(
            [{"type": "section", "fields": [{"type": "mrkdwn", "text": "x"}] * 11}],
            id="11 fields",
        ),
        pytest.param([{"type": "alert", "text": {"type": "mrkdwn", "text": "x"}}], id="modal only"),
        pytest.param([{"type": "markdown", "text": "x" * 7000}] * 2, id="markdown together"),
    ],
)
def test_blocks_that_slack_would_refuse_are_refused_whole(client, slack, blocks):
    before = len(slack.messages())
    assert refusal(client.chat_postMessage, channel="C0GPU", text="t", blocks=blocks) == (
        "invalid_blocks"
    )
    assert len(slack.messages()) == before


def test_a_message_gets_ids_for_its_blocks_and_keeps_its_metadata(client):
    metadata = {"event_type": "gpu_outbox", "event_payload": {"id": "7"}}
    posted = client.chat_postMessage(
        channel="C0GPU", text="with metadata", blocks=[SECTION], metadata=metadata
    )
    assert posted["message"]["blocks"][0]["block_id"]
    found = client.conversations_history(channel="C0GPU", include_all_metadata=True, limit=1)
    assert found["messages"][0]["metadata"] == metadata
    bare = client.conversations_history(channel="C0GPU", limit=1)
    assert "metadata" not in bare["messages"][0]
    client.chat_update(channel="C0GPU", ts=posted["ts"], text="changed")
    found = client.conversations_history(channel="C0GPU", include_all_metadata=True, limit=1)
    assert found["messages"][0]["metadata"] == metadata


def test_metadata_in_another_form_is_refused(client):
    wrong = {"event_type": "gpu", "payload": {}}
    assert refusal(client.chat_postMessage, channel="C0GPU", text="t", metadata=wrong) == (
        "invalid_metadata_format"
    )


def test_an_update_without_blocks_removes_them_and_without_text_keeps_it(client, slack):
    posted = client.chat_postMessage(channel="C0GPU", text="first", blocks=[SECTION])
    slack.api("chat.update", channel="C0GPU", ts=posted["ts"], blocks=[SECTION, SECTION])
    shown = slack.messages()[-1]
    assert (shown["text"], len(shown["blocks"]), shown["edited"]) == ("first", 2, True)
    client.chat_update(channel="C0GPU", ts=posted["ts"], text="second")
    shown = slack.messages()[-1]
    assert (shown["text"], shown["blocks"]) == ("second", [])


def test_an_update_takes_4000_characters_and_no_more(client):
    posted = client.chat_postMessage(channel="C0GPU", text="x" * 4001)
    where = {"channel": "C0GPU", "ts": posted["ts"]}
    assert refusal(client.chat_update, **where, text="x" * 4001) == "msg_too_long"
    assert client.chat_update(**where, text="x" * 4000)["ok"]


def test_a_message_without_anything_is_no_text(slack):
    assert slack.api("chat.postMessage", channel="C0GPU")["error"] == "no_text"


def test_an_unknown_channel_or_message_is_not_found(client):
    assert refusal(client.chat_postMessage, channel="C0NONE", text="t") == "channel_not_found"
    assert refusal(client.chat_update, channel="C0GPU", ts="1.000000", text="t") == (
        "message_not_found"
    )


def test_a_deleted_message_stays_visible_as_deleted_to_scripts_only(client, slack):
    posted = client.chat_postMessage(channel="C0GPU", text="to delete")
    client.chat_delete(channel="C0GPU", ts=posted["ts"])
    assert slack.messages()[-1]["deleted"] is True
    assert (
        client.conversations_history(channel="C0GPU", limit=1)["messages"][0]["ts"]
        != (posted["ts"])
    )
    assert refusal(client.chat_delete, channel="C0GPU", ts=posted["ts"]) == "message_not_found"


def test_an_ephemeral_is_seen_by_one_person_and_cannot_be_updated(client, slack):
    sent = client.chat_postEphemeral(channel="C0GPU", user="U0LIN", text="psst")
    assert all(m["text"] != "psst" for m in slack.messages(user="U0ANA"))
    assert slack.messages(user="U0LIN")[-1]["only_for"] == "U0LIN"
    where = {"channel": "C0GPU", "ts": sent["message_ts"]}
    assert refusal(client.chat_update, **where, text="t") == "message_not_found"
    assert refusal(client.chat_postEphemeral, channel="C0GPU", user="U0EVE", text="t") == (
        "user_not_in_channel"
    )


def test_a_reply_stays_in_its_thread(client):
    root = client.chat_postMessage(channel="C0APPROVE", text="root")["ts"]
    reply = client.chat_postMessage(channel="C0APPROVE", text="reply", thread_ts=root)
    again = client.chat_postMessage(channel="C0APPROVE", text="again", thread_ts=reply["ts"])
    thread = client.conversations_replies(channel="C0APPROVE", ts=root)["messages"]
    assert [m["text"] for m in thread] == ["root", "reply", "again"]
    assert again["message"]["thread_ts"] == root
    roots = client.conversations_history(channel="C0APPROVE")["messages"]
    assert [m["text"] for m in roots] == ["root"]
    assert refusal(
        client.chat_postMessage, channel="C0APPROVE", text="t", thread_ts="1.000001"
    ) == ("thread_not_found")


def test_history_pages_from_the_newest(client):
    for number in range(5):
        client.chat_postMessage(channel="D0DIEGO", text=f"n{number}")
    first = client.conversations_history(channel="D0DIEGO", limit=3)
    cursor = first["response_metadata"]["next_cursor"]
    second = client.conversations_history(channel="D0DIEGO", limit=3, cursor=cursor)
    texts = [m["text"] for m in [*first["messages"], *second["messages"]]]
    assert texts == ["n4", "n3", "n2", "n1", "n0"]


def test_a_person_is_addressed_by_user_id_and_answered_with_the_direct_channel(client):
    assert client.chat_postMessage(channel="U0ANA", text="t")["channel"] == "D0ANA"
    assert client.conversations_open(users="U0ANA")["channel"]["id"] == "D0ANA"
    assert refusal(client.conversations_open, users="U0GONE") == "user_disabled"
    assert refusal(client.chat_postMessage, channel="U0GONE", text="t") == "channel_not_found"


def test_users_info_tells_zone_locale_strangers_and_the_deactivated(client):
    ana = client.users_info(user="U0ANA", include_locale=True)["user"]
    assert (ana["tz"], ana["tz_offset"], ana["locale"]) == ("Europe/Berlin", 3600, "en-US")
    assert client.users_info(user="U0LIN", include_locale=True)["user"]["locale"] == "pt-BR"
    eve = client.users_info(user="U0EVE", include_locale=True)["user"]
    assert (eve["is_stranger"], eve["team_id"], "locale" in eve) == (True, "T0PARTNER", False)
    gone = client.users_info(user="U0GONE")["user"]
    assert (gone["deleted"], "tz" in gone) == (True, False)
    assert refusal(client.users_info, user="U0NOBODY") == "user_not_found"


def test_a_user_group_lists_its_members(client):
    listed = client.usergroups_users_list(usergroup="S0APPROVERS")["users"]
    assert listed == ["U0BRUNO", "U0CARLA"]
    assert refusal(client.usergroups_users_list, usergroup="S0NONE") == "no_such_subteam"


def test_a_shared_channel_says_so(client):
    assert client.conversations_info(channel="C0SHARED")["channel"]["is_ext_shared"]
    assert not client.conversations_info(channel="C0GPU")["channel"]["is_ext_shared"]


def test_a_trigger_id_opens_one_modal(client, slack):
    trigger = slack.world.workspace.triggers.issue("U0ANA")
    opened = client.views_open(trigger_id=trigger, view=modal())["view"]
    assert slack.get("/control/slack/view?user=U0ANA")["id"] == opened["id"]
    assert refusal(client.views_open, trigger_id=trigger, view=modal()) == ("exchanged_trigger_id")
    assert refusal(client.views_open, trigger_id="1.2.x", view=modal()) == "invalid_trigger_id"


def test_a_trigger_id_dies_after_three_seconds_of_wall_time():
    wall = [0.0]
    triggers = Triggers(monotonic=lambda: wall[0])
    quick, late = triggers.issue("U0ANA"), triggers.issue("U0ANA")
    wall[0] = 2.9
    assert triggers.exchange(quick) == "U0ANA"
    wall[0] = 3.1
    with pytest.raises(SlackError, match="expired_trigger_id"):
        triggers.exchange(late)


def test_a_stale_hash_is_a_conflict(client):
    view = {"type": "home", "blocks": [SECTION]}
    first = client.views_publish(user_id="U0CARLA", view=view)["view"]
    client.views_publish(user_id="U0CARLA", view=view, hash=first["hash"])
    assert refusal(client.views_publish, user_id="U0CARLA", view=view, hash=first["hash"]) == (
        "hash_conflict"
    )


def test_a_modal_stack_holds_three(client, slack):
    def trigger():
        return slack.world.workspace.triggers.issue("U0BRUNO")

    client.views_open(trigger_id=trigger(), view=modal())
    client.views_push(trigger_id=trigger(), view=modal())
    client.views_push(trigger_id=trigger(), view=modal())
    assert refusal(client.views_push, trigger_id=trigger(), view=modal()) == ("push_limit_reached")


@pytest.mark.parametrize(
    ("view", "code"),
    [
        (modal(title={"type": "plain_text", "text": "x" * 25}), "invalid_arguments"),
        (modal(private_metadata="x" * 3001), "invalid_arguments"),
        (modal(blocks=[]), "invalid_blocks"),
        (modal(type="home"), "invalid_arguments"),
        (
            modal(
                blocks=[
                    {
                        "type": "input",
                        "label": {"type": "plain_text", "text": "l"},
                        "element": {"type": "plain_text_input", "action_id": "a"},
                    }
                ]
            ),
            "invalid_arguments",
        ),
    ],
    ids=["title", "private_metadata", "no blocks", "type", "input without submit"],
)
def test_a_view_that_slack_would_refuse_is_refused(client, slack, view, code):
    trigger = slack.world.workspace.triggers.issue("U0ANA")
    assert refusal(client.views_open, trigger_id=trigger, view=view) == code


def test_an_injected_rate_limit_says_how_long_and_leaves_other_methods_alone(client, slack):
    slack.post("/control/slack/fault", method="chat.postMessage", fault="429:30")
    with pytest.raises(SlackApiError) as caught:
        client.chat_postMessage(channel="C0GPU", text="limited")
    assert caught.value.response.status_code == 429
    assert caught.value.response.headers["Retry-After"] == "30"
    assert client.chat_postMessage(channel="C0GPU", text="free again")["ok"]


def test_a_lost_answer_leaves_the_message_and_the_sdk_posts_it_twice(client, slack):
    """slack_sdk repeats once after a dropped connection: the trap the fault is for."""
    slack.post("/control/slack/fault", method="chat.postMessage", fault="disconnect")
    client.chat_postMessage(channel="C0APPROVE", text="lost answer")
    assert sum(m["text"] == "lost answer" for m in slack.messages("C0APPROVE")) == 2


def test_a_timeout_leaves_the_message_without_an_answer(slack, client):
    hasty = WebClient(token=client.token, base_url=client.base_url, timeout=1)
    slack.post("/control/slack/fault", method="chat.postMessage", fault="timeout")
    with pytest.raises(TimeoutError):
        hasty.chat_postMessage(channel="C0APPROVE", text="no answer")
    assert sum(m["text"] == "no answer" for m in slack.messages("C0APPROVE")) == 1


def test_a_500_has_done_nothing(slack, client):
    slack.post("/control/slack/fault", method="chat.postMessage", fault="500", times=1)
    with pytest.raises(SlackApiError):
        client.chat_postMessage(channel="C0APPROVE", text="never there")
    assert all(m["text"] != "never there" for m in slack.messages("C0APPROVE"))


def test_a_response_url_answers_five_times_in_thirty_minutes(slack):
    responses = slack.world.workspace.responses
    address = f"/respond/{responses.issue('C0GPU', 'U0ANA')}"

    def status(path):
        return slack.status(path, {"text": "answer"})

    assert [status(address) for _ in range(6)] == [200] * 5 + [404]
    late = f"/respond/{responses.issue('C0GPU', 'U0ANA')}"
    slack.post("/control/clock", advance="31m")
    assert status(late) == 404
