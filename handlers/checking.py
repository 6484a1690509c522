"""What the doctor asks Slack: the token, the scopes it has, and the channels it must reach."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from slack_sdk.errors import SlackApiError, SlackClientError

from handlers.web import SLACK_API, reading_client

if TYPE_CHECKING:
    from slack_sdk import WebClient

SCOPES: Final = (
    "commands",
    "chat:write",
    "users:read",
    "usergroups:read",
    "channels:history",
    "groups:history",
    "im:history",
    "im:write",
)
"""What manifest.yml asks for; a test holds the two together."""

Finding = dict[str, str]


def check_slack(
    *, token: str, api_url: str = SLACK_API, channels: Sequence[str] = ()
) -> Sequence[Finding]:
    """Return findings about token, scopes and channels; `result` is ok, note, refused or unknown.

    auth.test answers the scopes in the header x-oauth-scopes (docs.slack.dev, auth.test); a
    Slack that sends no such header is noted.
    """
    client: WebClient = reading_client(token, base_url=api_url)
    try:
        answer = client.auth_test()
    except SlackApiError as error:
        return (_finding("slack token", "refused", f"Slack says {error.response['error']}"),)
    except (SlackClientError, OSError) as error:
        return (_finding("slack token", "unknown", f"no answer ({type(error).__name__})"),)
    headers = {name.lower(): value for name, value in answer.headers.items()}
    who = f"{answer.get('user')} in {answer.get('team')}"
    return (
        _finding("slack token", "ok", who),
        _scopes(headers.get("x-oauth-scopes")),
        *(_channel(client, channel) for channel in dict.fromkeys(channels)),
    )


def _channel(client: "WebClient", channel: str) -> Finding:
    """Return whether the bot is in a channel: Slack shows the history of no other."""
    name = f"slack channel {channel}"
    try:
        client.conversations_history(channel=channel, limit=1)
    except SlackApiError as error:
        return _finding(name, "refused", f"Slack says {error.response['error']}")
    except (SlackClientError, OSError) as error:
        return _finding(name, "unknown", f"no answer ({type(error).__name__})")
    return _finding(name, "ok", "the bot is in it")


def _scopes(said: str | None) -> Finding:
    if said is None:
        return _finding("slack scopes", "note", "Slack did not say which scopes there are")
    missing = [scope for scope in SCOPES if scope not in {part.strip() for part in said.split(",")}]
    if missing:
        return _finding(
            "slack scopes",
            "refused",
            f"missing {', '.join(missing)}: add them and reinstall the app",
        )
    return _finding("slack scopes", "ok", "all that manifest.yml asks for")


def _finding(name: str, result: str, detail: str) -> Finding:
    return {"name": name, "result": result, "detail": detail}
