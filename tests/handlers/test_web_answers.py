"""Whatever Slack answers, it is a refusal, a doubt or an answer; nothing else comes out."""

from typing import Any

import pytest
from slack_sdk.errors import SlackApiError

from bot.domain.errors import DeliveryDoubtError, DeliveryError
from handlers.web import UNSAID_SECONDS, call


class Answer:
    def __init__(self, data: Any, status: int = 200, **headers: str) -> None:
        self.data = data
        self.status_code = status
        self.headers = headers


def refusing(data: Any, status: int = 200, **headers: str) -> Any:
    def method(**_given: object) -> Any:
        raise SlackApiError("no", Answer(data, status, **headers))

    return method


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("7", 7),
        ("", UNSAID_SECONDS),
        ("²", UNSAID_SECONDS),
        ("1.5", UNSAID_SECONDS),
        ("-1", UNSAID_SECONDS),
        ("9" * 5000, UNSAID_SECONDS),
    ],
)
def test_a_wait_that_is_no_number_is_the_usual_one(said, seconds):
    headers = {"Retry-After": said}
    with pytest.raises(DeliveryError) as refused:
        call(refusing({"ok": False, "error": "ratelimited"}, 429, **headers))
    assert refused.value.retry_after_seconds == seconds


@pytest.mark.parametrize("data", [{}, [], "<html>", None, b"\x00", {"ok": False}])
def test_an_answer_that_says_nothing_is_a_doubt_and_never_a_refusal_by_name(data):
    with pytest.raises(DeliveryError) as refused:
        call(refusing(data, 502))
    assert isinstance(refused.value, DeliveryDoubtError)


@pytest.mark.parametrize("data", [[], "ok", None])
def test_an_answer_that_is_no_object_has_no_members(data):
    assert call(lambda **_: Answer(data)) == {}
