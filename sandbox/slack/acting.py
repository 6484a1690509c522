"""What simulated people do: type commands, press buttons, fill forms."""

import asyncio
import copy
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from sandbox.slack import payloads
from sandbox.slack.blocks import check_view
from sandbox.slack.elements import action_of, find_element, is_empty, state_of
from sandbox.slack.errors import ActError, SlackError
from sandbox.slack.messages import Message
from sandbox.slack.people import Channel, Person
from sandbox.slack.responding import answer_with
from sandbox.slack.tickets import ResponseAddress
from sandbox.slack.transport import Ack, Delivery, Transport
from sandbox.slack.views import View
from sandbox.slack.workspace import Workspace

Json = dict[str, Any]

# How long opening the Home tab waits for the app to publish it, in wall time.
HOME_SECONDS = 3.0


class Acting:
    """People acting on the workspace; each act is delivered to the bot over `transport`."""

    def __init__(
        self,
        workspace: Workspace,
        transport: Transport,
        response_url: Callable[[str], str],
    ) -> None:
        self._workspace = workspace
        self._transport = transport
        self._response_url = response_url
        self._last: Delivery | None = None

    async def command(self, user: str, channel_id: str, text: str, deliver: int) -> Ack:
        """Type `/gpu text`; what the bot answers at once is shown as Slack shows it.

        Raises:
            ActError: no such person or channel.
        """
        person, channel = self._person(user), self._channel(channel_id)
        key = self._workspace.responses.issue(channel.id, person.id)
        payload = payloads.command(self._workspace, person, channel, text, self._response_url(key))
        ack = await self._send(Delivery(kind="slash_commands", payload=payload), deliver)
        if ack.status == "ok" and ack.body:
            return self._show_answer(ack, channel, person)
        if ack.status != "ok":
            self._workspace.post(
                channel,
                text=f"/gpu failed with the error “{ack.error}”",
                blocks=[],
                only_for=person.id,
                user="USLACKBOT",
            )
        return ack

    def _show_answer(self, ack: Ack, channel: Channel, person: Person) -> Ack:
        address = ResponseAddress(
            channel=channel.id,
            user=person.id,
            issued=self._workspace.now(),
            thread_ts=None,
            original=None,
        )
        try:
            answer_with(self._workspace, address, ack.body or {})
        except SlackError as refusal:
            return replace(ack, status="error", error=refusal.code)
        return ack

    async def click(
        self,
        user: str,
        channel_id: str,
        ts: str,
        action_id: str,
        *,
        value: Any = None,
        stale: bool = False,
        deliver: int = 1,
    ) -> Ack:
        """Press a button or pick a choice of a message.

        `stale` looks at what the message used to show, as an old screen still does.

        Raises:
            ActError: no such message for this person, or no such element or choice.
        """
        person, channel = self._person(user), self._channel(channel_id)
        message = self._workspace.messages.find(channel.id, ts)
        if message is None or message.only_for not in (None, person.id):
            raise ActError(f"{user} sees no message {ts} in {channel_id}")
        block, element = self._element(message, action_id, value, stale=stale)
        action = action_of(block, element, value, self._workspace.messages.next_ts())
        key = self._workspace.responses.issue(channel.id, person.id, message)
        state = payloads.message_state(message)
        chosen = {k: v for k, v in action.items() if k.startswith(("selected", "value"))}
        if block["block_id"] in state and action_id in state[block["block_id"]]:
            state[block["block_id"]][action_id] |= chosen
        payload = payloads.message_action(
            self._workspace,
            person,
            channel,
            message,
            action=action,
            state=state,
            response_url=self._response_url(key),
        )
        return await self._send(Delivery(kind="interactive", payload=payload), deliver)

    async def click_view(
        self, user: str, action_id: str, *, value: Any = None, deliver: int = 1
    ) -> Ack:
        """Press a button or pick a choice of the person's modal, else of the Home tab.

        Raises:
            ActError: neither is open, or it has no such element or choice.
        """
        person = self._person(user)
        views = [self._workspace.views.modal(user), self._workspace.views.home(user)]
        for view in views:
            found = None if view is None else find_element(view.blocks, action_id, value)
            if view is not None and found is not None:
                block, element = found
                stamp = self._workspace.messages.next_ts()
                action = action_of(block, element, value, stamp)
                if action_id in view.values.get(block["block_id"], {}):
                    view.values[block["block_id"]][action_id] = state_of(element, value)
                payload = payloads.view_action(self._workspace, person, view, action)
                return await self._send(Delivery(kind="interactive", payload=payload), deliver)
        raise ActError(f"{user} has no modal or Home tab with {action_id}")

    async def submit(self, user: str, values: Json, deliver: int = 1) -> tuple[Ack, Json]:
        """Fill and submit the person's modal; the acknowledgement, and errors by block.

        Raises:
            ActError: no modal is open, or it has no such field or choice.
        """
        person = self._person(user)
        view = self._workspace.views.modal(user)
        if view is None:
            raise ActError(f"{user} has no open modal")
        if view.body.get("submit") is None:
            raise ActError(f"the modal of {user} has no submit button")
        fill(view, values)
        missing = unfilled(view)
        if missing:
            return Ack(milliseconds=0, status="ok"), missing
        payload = payloads.view_submission(self._workspace, person, view)
        ack = await self._send(Delivery(kind="interactive", payload=payload), deliver)
        if ack.status != "ok":
            return ack, {}
        try:
            return ack, self._after_submit(user, view, ack.body)
        except SlackError as refusal:
            return replace(ack, status="error", error=refusal.code), {}

    def _after_submit(self, user: str, view: View, body: Json | None) -> Json:
        """Do what the answer to a submission asks; the errors it shows, if any."""
        views = self._workspace.views
        action = (body or {}).get("response_action")
        if action is None:
            if views.modal(user) is view:
                views.close_top(user)
            return {}
        given = body or {}
        if action == "errors":
            return self._shown_errors(view, given.get("errors"))
        if action == "clear":
            views.close_all(user)
        elif action == "update":
            views.update(view.id, None, given.get("view") or {}, None)
        elif action == "push":
            check_view(given.get("view"), "modal")
            views.push(user, given["view"])
        else:
            raise SlackError("invalid_response_action")
        return {}

    @staticmethod
    def _shown_errors(view: View, errors: Any) -> Json:
        inputs = {block["block_id"] for block in view.blocks if block["type"] == "input"}
        if not isinstance(errors, dict) or not errors or set(errors) - inputs:
            raise SlackError("invalid_response_errors")
        return errors

    async def close(self, user: str) -> Ack:
        """Close the person's modal with its x.

        Raises:
            ActError: no modal is open.
        """
        person, view = self._person(user), self._workspace.views.modal(user)
        if view is None:
            raise ActError(f"{user} has no open modal")
        self._workspace.views.close_all(user)
        if not view.body.get("notify_on_close"):
            return Ack(milliseconds=0, status="ok")
        payload = payloads.view_closed(person, view, cleared=True)
        return await self._send(Delivery(kind="interactive", payload=payload), 1)

    async def open_home(self, user: str) -> View | None:
        """Open the Home tab and wait a little for the bot to publish it.

        Raises:
            ActError: no such person.
        """
        person = self._person(user)
        before = self._workspace.views.home(user)
        known = None if before is None else before.hash
        event = Delivery(kind="events_api", payload=payloads.home_opened(self._workspace, person))
        if not self._transport.connected or (await self._send(event, 1)).status != "ok":
            return before
        limit = asyncio.get_running_loop().time() + HOME_SECONDS
        while asyncio.get_running_loop().time() < limit:
            view = self._workspace.views.home(user)
            if view is not None and view.hash != known:
                return view
            await asyncio.sleep(0.02)
        return self._workspace.views.home(user)

    async def redeliver(self, times: int) -> Ack:
        """Send the last delivery again, unchanged, as a network that stutters does.

        Raises:
            ActError: nothing was delivered yet.
        """
        if self._last is None:
            raise ActError("nothing was delivered yet")
        return await self._repeat(self._last, first=1, last=times)

    async def _send(self, delivery: Delivery, times: int) -> Ack:
        self._last = replace(delivery, payload=copy.deepcopy(delivery.payload))
        return await self._repeat(self._last, first=0, last=times - 1)

    async def _repeat(self, delivery: Delivery, *, first: int, last: int) -> Ack:
        sends: list[Awaitable[Ack]] = [
            self._transport.deliver(replace(delivery, retry=number))
            for number in range(first, last + 1)
        ]
        return (await asyncio.gather(*sends))[0]

    def _person(self, user: str) -> Person:
        try:
            return self._workspace.person(user)
        except SlackError as error:
            known = ", ".join(self._workspace.people)
            raise ActError(f"there is no {user}; people: {known}") from error

    def _channel(self, channel_id: str) -> Channel:
        if channel_id not in self._workspace.channels:
            known = ", ".join(self._workspace.channels)
            raise ActError(f"there is no channel {channel_id}; channels: {known}")
        return self._workspace.channels[channel_id]

    @staticmethod
    def _element(message: Message, action_id: str, value: Any, *, stale: bool) -> tuple[Json, Json]:
        shown = [] if message.deleted else [message.blocks]
        screens = [*shown, *reversed(message.earlier_blocks)] if stale else shown
        if stale and message.deleted:
            screens = [message.blocks, *screens]
        for blocks in screens:
            found = find_element(blocks, action_id, value)
            if found is not None:
                return found
        raise ActError(f"message {message.ts} has no {action_id} with value {value!r}")


def fill(view: View, values: Json) -> None:
    """Put `values` (block id, action id, value) into the view's inputs.

    Raises:
        ActError: there is no such input, or it offers no such choice.
    """
    for block_id, entries in values.items():
        if not isinstance(entries, dict):
            raise ActError(f"values.{block_id} must be {{action_id: value}}")
        for action_id, value in entries.items():
            block = next((b for b in view.blocks if b["block_id"] == block_id), None)
            found = None if block is None else find_element([block], action_id, None)
            if found is None:
                raise ActError(f"the modal has no input {block_id}/{action_id}")
            view.values.setdefault(block_id, {})[action_id] = state_of(found[1], value)


def unfilled(view: View) -> Json:
    """Slack's own complaint for each required input that is empty."""
    missing = {}
    for block in view.blocks:
        if block["type"] != "input" or block.get("optional"):
            continue
        entry = view.values.get(block["block_id"], {}).get(block["element"]["action_id"])
        if entry is not None and is_empty(entry):
            missing[block["block_id"]] = "Please complete this required field."
    return missing
