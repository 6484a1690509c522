"""Which scope each Web API method needs, and what the manifest grants.

Scopes: docs.slack.dev, method pages, read in 2026. Methods that are not listed need none.
"""

from pathlib import Path

import yaml

from sandbox.slack.errors import SlackError
from sandbox.slack.people import Channel

READ_BY_KIND = {"channel": "channels", "privategroup": "groups", "directmessage": "im"}
NEEDED = {
    "chat.postMessage": "chat:write",
    "chat.postEphemeral": "chat:write",
    "chat.update": "chat:write",
    "chat.delete": "chat:write",
    "users.info": "users:read",
    "users.list": "users:read",
    "usergroups.list": "usergroups:read",
    "usergroups.users.list": "usergroups:read",
    "conversations.list": "channels:read",
    "conversations.open": "im:write",
}
READING = {
    "conversations.info": "read",
    "conversations.members": "read",
    "conversations.history": "history",
    "conversations.replies": "history",
}


class MissingScopeError(SlackError):
    """`missing_scope`, with what would be needed and what is there."""

    def __init__(self, needed: str, granted: frozenset[str]) -> None:
        super().__init__("missing_scope")
        self.needed = needed
        self.provided = ",".join(sorted(granted))


def granted_by(manifest: Path) -> frozenset[str] | None:
    """The bot scopes of an app manifest, or None when there is no manifest."""
    if not manifest.is_file():
        return None
    values = yaml.safe_load(manifest.read_text("utf-8"))
    return frozenset(values["oauth_config"]["scopes"]["bot"])


def check_scope(granted: frozenset[str] | None, method: str, channel: Channel | None) -> None:
    """Return when the app may call the method; `granted` None allows everything.

    Raises:
        MissingScopeError: it may not.
    """
    needed = NEEDED.get(method)
    if method in READING and channel is not None:
        needed = f"{READ_BY_KIND[channel.kind]}:{READING[method]}"
    if granted is not None and needed is not None and needed not in granted:
        raise MissingScopeError(needed, granted)
