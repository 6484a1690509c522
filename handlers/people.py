"""Who somebody is, by Slack's own word, remembered in the store for as long as a caller allows.

Fields: docs.slack.dev, "User object", read in January 2026. Any of them may be missing.
`tz_offset` changes silently with daylight saving and is never used; `tz` is.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

from slack_sdk import WebClient

from bot.domain.base import Model
from bot.domain.errors import DeliveryError
from bot.domain.records import Person
from bot.domain.values import Instant
from bot.ports import Clock, Store
from handlers.rendering import one_line
from handlers.web import call

UNKNOWN_ZONE = "UTC"
UNKNOWN_LOCALE = "en-US"


class Known(Model):
    """What is remembered of a person, with the name to call them by."""

    person: Person
    name: str


class KnownGroup(Model):
    """Who was in a user group, and when that was read."""

    members: tuple[str, ...]
    read_at: Instant


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackPeople:
    """See bot.ports.People. `workspace` is the one that the bot is installed in."""

    client: WebClient
    store: Store
    clock: Clock
    workspace: str

    def person(self, user_id: str, *, max_age: timedelta) -> Person:
        """See bot.ports.People."""
        known = self._remembered(user_id)
        if known is not None and self.clock.now() - known.person.read_at <= max_age:
            return known.person
        answer = call(self.client.users_info, user=user_id, include_locale=True)
        fresh = self._known(user_id, answer.get("user") or {})
        with self.store.transaction() as tx:
            tx.facts.put(_person_fact(user_id), fresh.model_dump_json(), at=fresh.person.read_at)
        return fresh.person

    def members(self, group_id: str, *, max_age: timedelta) -> Collection[str]:
        """See bot.ports.People. Deactivated members are the caller's to drop, by `person`."""
        fact = f"group:{group_id}"
        with self.store.reading() as tx:
            text = tx.facts.get(fact)
        now = self.clock.now()
        if text is not None:
            known = KnownGroup.model_validate_json(text)
            if now - known.read_at <= max_age:
                return known.members
        answer = call(self.client.usergroups_users_list, usergroup=group_id)
        fresh = KnownGroup(members=tuple(answer.get("users") or ()), read_at=now)
        with self.store.transaction() as tx:
            tx.facts.put(fact, fresh.model_dump_json(), at=now)
        return fresh.members

    def name(self, user_id: str) -> str:
        """Return the name to call somebody by without waking them; their id when unknown."""
        known = self._remembered(user_id)
        return known.name if known is not None else f"@{user_id}"

    def _remembered(self, user_id: str) -> Known | None:
        with self.store.reading() as tx:
            text = tx.facts.get(_person_fact(user_id))
        return Known.model_validate_json(text) if text is not None else None

    def _known(self, user_id: str, user: dict[str, Any]) -> Known:
        if not user:
            raise DeliveryError("user_not_found")
        profile = user.get("profile") or {}
        names = (profile.get("display_name"), user.get("real_name"), profile.get("real_name"))
        person = Person(
            id=user_id,
            zone=_zone(user.get("tz")),
            locale=str(user.get("locale") or UNKNOWN_LOCALE),
            active=not user.get("deleted", False),
            external=self._external(user),
            bot=bool(user.get("is_bot")) or user_id == "USLACKBOT",
            read_at=self.clock.now(),
        )
        seen = (one_line(name) for name in names if isinstance(name, str))
        return Known(person=person, name=next(filter(None, seen), f"@{user_id}"))

    def _external(self, user: dict[str, Any]) -> bool:
        """Return whether they belong elsewhere; Slack has no single field that says so.

        Members of an Enterprise organisation carry the workspaces they are in.
        """
        if user.get("is_stranger"):
            return True
        theirs = {user.get("team_id"), *((user.get("enterprise_user") or {}).get("teams") or ())}
        return self.workspace not in theirs


def _person_fact(user_id: str) -> str:
    return f"person:{user_id}"


def _zone(name: object) -> str:
    """Return an IANA zone that this machine knows, else UTC."""
    if not isinstance(name, str) or not name:
        return UNKNOWN_ZONE
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return UNKNOWN_ZONE
    return name
