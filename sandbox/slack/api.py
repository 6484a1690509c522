"""The Web API: which methods there are, who may call them, and Slack's form of an answer."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sandbox.slack import api_chat, api_people, api_views
from sandbox.slack.errors import SlackError
from sandbox.slack.faults import SOCKET_METHODS
from sandbox.slack.people import Channel
from sandbox.slack.scopes import MissingScopeError, check_scope
from sandbox.slack.workspace import Workspace

Json = dict[str, Any]
Method = Callable[[Workspace, Json], Json]

# Arguments that travel as JSON text inside a form.
STRUCTURED = ("blocks", "view", "metadata", "attachments")

METHODS: dict[str, Method] = {
    **api_chat.METHODS,
    **api_people.METHODS,
    **api_views.METHODS,
}


def check_method(method: str) -> None:
    """Refuse a method that a fault could never meet.

    Raises:
        ValueError: the Web API has no such method, nor is it the socket.
    """
    known = sorted({*METHODS, *SOCKET_METHODS})
    if method not in known:
        raise ValueError(f"there is no method {method!r}; methods: {', '.join(known)}")


@dataclass(slots=True)
class Call:
    """One call as it was made, for those who want to count."""

    at: str
    method: str
    arguments: Json
    outcome: str


@dataclass(slots=True)
class WebApi:
    """Slack's Web API over one workspace; `connect_url` gives a fresh Socket Mode address."""

    workspace: Workspace
    connect_url: Callable[[], str]
    calls: list[Call] = field(default_factory=list)

    def call(self, method: str, token: str | None, arguments: Json) -> Json:
        """Slack's answer, good or bad."""
        try:
            self._authorise(method, token)
            check_scope(self.workspace.scopes, method, self._place(arguments))
            answer: Json = {"ok": True}
            answer |= self._run(method, _decoded(arguments))
        except SlackError as refusal:
            answer = {"ok": False, "error": refusal.code}
            if refusal.messages:
                answer["response_metadata"] = {"messages": list(refusal.messages)}
            if isinstance(refusal, MissingScopeError):
                answer |= {"needed": refusal.needed, "provided": refusal.provided}
        self.record(method, arguments, str(answer.get("error", "ok")))
        return answer

    def record(self, method: str, arguments: Json, outcome: str) -> None:
        """Keep the call in the list of calls."""
        at = self.workspace.now().isoformat().replace("+00:00", "Z")
        self.calls.append(Call(at, method, arguments, outcome))

    def _authorise(self, method: str, token: str | None) -> None:
        known = self.workspace.credentials
        if token is None:
            raise SlackError("not_authed")
        if token not in (known.bot_token, known.app_token):
            raise SlackError("invalid_auth")
        if (method == "apps.connections.open") != (token == known.app_token):
            raise SlackError("not_allowed_token_type")

    def _place(self, arguments: Json) -> Channel | None:
        given = arguments.get("channel")
        return self.workspace.channels.get(given) if isinstance(given, str) else None

    def _run(self, method: str, arguments: Json) -> Json:
        if method == "apps.connections.open":
            return {"url": self.connect_url()}
        if method not in METHODS:
            raise SlackError("unknown_method")
        return METHODS[method](self.workspace, arguments)


def _decoded(arguments: Json) -> Json:
    decoded = dict(arguments)
    for name in STRUCTURED:
        if isinstance(decoded.get(name), str):
            try:
                decoded[name] = json.loads(decoded[name])
            except ValueError as error:
                code = "invalid_blocks_format" if name == "blocks" else "invalid_arguments"
                raise SlackError(code, f"[ERROR] {name} is not JSON") from error
    return decoded
