"""Modals and Home tabs: one stack of modals and one Home tab for each person."""

import copy
import itertools
from dataclasses import dataclass, field
from typing import Any

from sandbox.slack.blocks import check_view, with_ids
from sandbox.slack.elements import initial_values
from sandbox.slack.errors import SlackError
from sandbox.slack.people import APP_ID, BOT_ID, TEAM_ID

Json = dict[str, Any]

# docs.slack.dev, "Modals": at most three views at a time.
MOST_MODALS = 3


@dataclass(slots=True)
class View:
    """One view: what the app sent, and what Slack and the person have added to it."""

    id: str
    user: str
    body: Json
    hash: str
    root_id: str
    previous_id: str | None
    values: Json = field(default_factory=dict)

    @property
    def blocks(self) -> list[Json]:
        """The blocks with all ids filled in."""
        blocks: list[Json] = self.body["blocks"]
        return blocks

    def shown(self) -> Json:
        """The view object of Slack's answers and payloads."""
        body = self.body
        return copy.deepcopy(
            {
                "id": self.id,
                "team_id": TEAM_ID,
                "type": body["type"],
                "blocks": body["blocks"],
                "private_metadata": body.get("private_metadata", ""),
                "callback_id": body.get("callback_id", ""),
                "state": {"values": self.values},
                "hash": self.hash,
                "title": body.get("title"),
                "clear_on_close": body.get("clear_on_close", False),
                "notify_on_close": body.get("notify_on_close", False),
                "close": body.get("close"),
                "submit": body.get("submit"),
                "previous_view_id": self.previous_id,
                "root_view_id": self.root_id,
                "app_id": APP_ID,
                "external_id": body.get("external_id", ""),
                "app_installed_team_id": TEAM_ID,
                "bot_id": BOT_ID,
            }
        )


class Views:
    """All open views."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._modals: dict[str, list[View]] = {}
        self._homes: dict[str, View] = {}

    def modal(self, user: str) -> View | None:
        """The modal on top for this person."""
        stack = self._modals.get(user)
        return stack[-1] if stack else None

    def home(self, user: str) -> View | None:
        """The person's Home tab once it was published."""
        return self._homes.get(user)

    def open(self, user: str, body: Json) -> View:
        """A new stack with this one modal.

        Raises:
            SlackError: when Slack would refuse the view.
        """
        view = self._modal(user, body, previous=None)
        self._modals[user] = [view]
        return view

    def push(self, user: str, body: Json) -> View:
        """The modal, on top of the person's stack.

        Raises:
            SlackError: no modal is open, three are, or Slack would refuse the view.
        """
        stack = self._modals.get(user, [])
        if not stack:
            raise SlackError("not_found")
        if len(stack) >= MOST_MODALS:
            raise SlackError("push_limit_reached")
        view = self._modal(user, body, previous=stack[-1])
        stack.append(view)
        return view

    def update(
        self, view_id: str | None, external_id: str | None, body: Json, hash_: str | None
    ) -> View:
        """The view, changed in place.

        Raises:
            SlackError: `not_found`, `hash_conflict`, or Slack would refuse the view.
        """
        view = self._find(view_id, external_id)
        if hash_ and hash_ != view.hash:
            raise SlackError("hash_conflict")
        check_view(body, "modal")
        self._refuse_taken_id(body, but=view)
        self._replace(view, body)
        return view

    def publish(self, user: str, body: Json, hash_: str | None) -> View:
        """The person's Home tab with these blocks.

        Raises:
            SlackError: `hash_conflict`, or Slack would refuse the view.
        """
        current = self._homes.get(user)
        if hash_ and (current is None or hash_ != current.hash):
            raise SlackError("hash_conflict")
        check_view(body, "home")
        if current is None:
            current = self._new(user, body, previous=None)
            self._homes[user] = current
        else:
            self._replace(current, body)
        return current

    def close_top(self, user: str) -> None:
        """Take the top modal away."""
        stack = self._modals.get(user)
        if stack:
            stack.pop()

    def close_all(self, user: str) -> None:
        """Take the whole stack away."""
        self._modals.pop(user, None)

    def _modal(self, user: str, body: Json, previous: View | None) -> View:
        check_view(body, "modal")
        self._refuse_taken_id(body, but=None)
        return self._new(user, body, previous)

    def _new(self, user: str, body: Json, previous: View | None) -> View:
        view_id = f"V0{next(self._numbers):06d}"
        view = View(
            id=view_id,
            user=user,
            body=body,
            hash="",
            root_id=view_id if previous is None else previous.root_id,
            previous_id=None if previous is None else previous.id,
        )
        self._replace(view, body)
        return view

    def _replace(self, view: View, body: Json) -> None:
        """Put new content in; typed input stays where block and action ids are unchanged."""
        number = next(self._numbers)
        view.body = {**body, "blocks": with_ids(body["blocks"], f"b{number}.")}
        view.hash = f"{number}.{number * 2654435761 % 2**32:08x}"
        typed = view.values
        view.values = initial_values(view.blocks)
        for block_id, entries in view.values.items():
            for action_id, entry in entries.items():
                kept = typed.get(block_id, {}).get(action_id)
                if kept is not None and kept["type"] == entry["type"]:
                    entries[action_id] = kept

    def _all(self) -> list[View]:
        stacked = [view for stack in self._modals.values() for view in stack]
        return [*stacked, *self._homes.values()]

    def _find(self, view_id: str | None, external_id: str | None) -> View:
        for view in self._all():
            if view_id is not None and view.id == view_id:
                return view
            if external_id and view.body.get("external_id") == external_id:
                return view
        raise SlackError("not_found")

    def _refuse_taken_id(self, body: Json, but: View | None) -> None:
        wanted = body.get("external_id")
        if wanted and any(
            v is not but and v.body.get("external_id") == wanted for v in self._all()
        ):
            raise SlackError("duplicate_external_id")
