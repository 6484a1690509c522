"""How we call Slack's Web API: clients without surprises, and errors in our own words.

slack_sdk repeats a request by default when the connection drops, which can post a message
twice (slack_sdk 3.48, ConnectionErrorRetryHandler). What posts never repeats by itself.
"""

import re
from collections.abc import Callable, Mapping
from http.client import HTTPException
from typing import Any

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.http_retry.builtin_handlers import ConnectionErrorRetryHandler

from bot.domain.errors import DeliveryDoubtError, DeliveryError

SLACK_API = "https://slack.com/api/"
POST_TIMEOUT_SECONDS = 20
READ_TIMEOUT_SECONDS = 10
UNSAID_SECONDS = 30
TOO_MANY = 429
SERVER_TROUBLE = 500

_SECONDS = re.compile(r"[0-9]{1,9}")

DOUBTFUL = frozenset({"fatal_error", "internal_error", "request_timeout", "service_unavailable"})
"""Errors after which "some aspect of the operation" may have happened (docs.slack.dev)."""


def posting_client(token: str, *, base_url: str = SLACK_API) -> WebClient:
    """Return a client for everything that can be seen: never repeats a request by itself."""
    return WebClient(
        token=token,
        base_url=_with_slash(base_url),
        timeout=POST_TIMEOUT_SECONDS,
        retry_handlers=[],
    )


def reading_client(token: str | None, *, base_url: str = SLACK_API) -> WebClient:
    """Return a client for reads, which may be repeated once when the connection drops."""
    return WebClient(
        token=token,
        base_url=_with_slash(base_url),
        timeout=READ_TIMEOUT_SECONDS,
        retry_handlers=[ConnectionErrorRetryHandler(max_retry_count=1)],
    )


def call(method: Callable[..., Any], **arguments: object) -> Mapping[str, Any]:
    """Return what a Web API method answers.

    Raises:
        DeliveryError: Slack said no; `retry_after_seconds` is set when it asked to wait.
        DeliveryDoubtError: there is no clear answer; it may have happened.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    try:
        answer = method(**given)
    except SlackApiError as error:
        raise _refusal(error) from error
    except (SlackClientError, OSError, HTTPException, ValueError) as error:
        raise DeliveryDoubtError("no_answer") from error
    data = answer.data
    return data if isinstance(data, dict) else {}


def _refusal(error: SlackApiError) -> DeliveryError:
    response = error.response
    status, headers, data = _parts(response)
    code = str(data.get("error") or "no_answer")
    if status == TOO_MANY or code in ("ratelimited", "rate_limited"):
        return DeliveryError("ratelimited", retry_after_seconds=_seconds(headers))
    if status >= SERVER_TROUBLE or code in DOUBTFUL or not data:
        return DeliveryDoubtError(code)
    return DeliveryError(code)


def _parts(response: object) -> tuple[int, Mapping[str, str], Mapping[str, object]]:
    """Return status, headers and JSON; slack_sdk gives a plain dict when it was no JSON."""
    if isinstance(response, dict):
        return int(response.get("status", 0)), dict(response.get("headers") or {}), {}
    status = int(getattr(response, "status_code", 0))
    headers = dict(getattr(response, "headers", {}) or {})
    data = getattr(response, "data", {})
    return status, headers, data if isinstance(data, dict) else {}


def _seconds(headers: Mapping[str, str]) -> int:
    lowered = {name.lower(): value for name, value in headers.items()}
    given = lowered.get("retry-after", "")
    return int(given) if _SECONDS.fullmatch(given) else UNSAID_SECONDS


def _with_slash(base_url: str) -> str:
    return base_url if base_url.endswith("/") else f"{base_url}/"
