"""Who somebody is right now, by Slack's own word; doubt stays doubt."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta

from bot.domain.errors import DeliveryError
from bot.policy.permitting import Standing, groups_among
from bot.ports import People

FRESH = timedelta(seconds=60)
"""Membership decides about money, so nothing older counts; a minute spares Slack's rate limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verifying:
    """Reads people and the groups they are in. Never called inside a transaction."""

    people: People

    def standing(self, user: str, members: Collection[str] = ()) -> Standing:
        """Return who the person is and which user groups among `members` they belong to.

        What Slack can't confirm now is left out: an unknown person is None, a group that can't
        be read counts as one they are not in.
        """
        try:
            person = self.people.person(user, max_age=FRESH)
        except DeliveryError:
            return Standing(user=user, person=None)
        return Standing(
            user=user,
            person=person,
            groups=tuple(group for group in groups_among(members) if self._in(group, user)),
        )

    def members(self, group: str) -> Collection[str] | None:
        """Return who is in a user group; None when Slack can't say now."""
        try:
            return self.people.members(group, max_age=FRESH)
        except DeliveryError:
            return None

    def _in(self, group: str, user: str) -> bool:
        found = self.members(group)
        return found is not None and user in found
