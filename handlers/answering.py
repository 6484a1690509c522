"""Speaks to one person about what they just did: forms, private messages, each at most once.

A private message goes by the delivery's own response_url, which works in every conversation,
else as an ephemeral, else as a direct message. It is never repeated after doubt: an ephemeral
can't be looked up. slack_sdk's webhook client does not raise on a refusal (slack_sdk 3.48).
"""

import threading
from dataclasses import dataclass, field
from http.client import HTTPException

from slack_sdk import WebClient
from slack_sdk.errors import SlackClientError
from slack_sdk.webhook import WebhookClient
from structlog.typing import FilteringBoundLogger

from bot.domain.errors import DeliveryDoubtError, DeliveryError
from handlers.deliveries import Action, Command, Late, Opened, Submission
from handlers.forms import FormContext
from handlers.reply import Message, Reply
from handlers.web import call

ANSWER_TIMEOUT_SECONDS = 10
MOST_ANSWERS = 4
"""A response_url takes five messages (docs.slack.dev, "Handling user interaction")."""
TAKEN = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a person is to be answered. The two capabilities stay out of `repr`."""

    user: str
    channel: str | None
    thread: str | None = None
    answer_at: str | None = field(default=None, repr=False)
    trigger: str | None = field(default=None, repr=False)


def place_of(item: Command | Action | Submission | Opened | Late) -> Place:
    """Return where the sender of a delivery is to be answered."""
    match item:
        case Command():
            return Place(
                user=item.user,
                channel=item.channel,
                answer_at=item.answer_at,
                trigger=item.trigger,
            )
        case Action():
            return Place(
                user=item.user,
                channel=item.channel,
                thread=item.thread,
                answer_at=item.answer_at,
                trigger=item.trigger,
            )
        case Submission():
            context = FormContext.model_validate_json(item.context or "{}")
            return Place(user=item.user, channel=context.channel)
        case Opened():
            return Place(user=item.user, channel=None)
        case Late():
            return place_of(item.what)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering:
    """Sends replies."""

    posting: WebClient
    log: FilteringBoundLogger

    def give(self, place: Place, reply: Reply) -> None:
        """Send the whole reply; what Slack does not take is logged, never repeated."""
        messages = reply.messages
        if reply.form is not None and not self._open(place, reply.form.view):
            messages = (reply.form.instead, *messages)
        for number, message in enumerate(messages):
            try:
                self._tell(
                    place,
                    message,
                    by_address=number < MOST_ANSWERS,
                    replaces=reply.replaces and number == 0,
                )
            except DeliveryDoubtError as doubt:
                self.log.warning("private answer in doubt", user=place.user, why=doubt.code)
            except DeliveryError as error:
                self.log.warning("private answer not given", user=place.user, why=error.code)

    def soon(self, place: Place, message: Message) -> None:
        """Send one message from a thread of its own, for callers that may not wait."""
        reply = Reply(messages=(message,))
        threading.Thread(target=self.give, args=(place, reply), daemon=True).start()

    def _open(self, place: Place, view: object) -> bool:
        """Return whether the form is open. A trigger lives 3 seconds and works once."""
        if not place.trigger:
            return False
        try:
            call(self.posting.views_open, trigger_id=place.trigger, view=view)
        except DeliveryError as error:
            self.log.info("form not opened", user=place.user, why=error.code)
            return False
        return True

    def _tell(self, place: Place, message: Message, *, by_address: bool, replaces: bool) -> None:
        address = place.answer_at if by_address else None
        if address and self._answered(address, message, replaces=replaces):
            return
        content = {"text": message.text, "blocks": list(message.blocks) or None}
        if place.channel is not None:
            try:
                call(
                    self.posting.chat_postEphemeral,
                    channel=place.channel,
                    user=place.user,
                    thread_ts=place.thread,
                    **content,
                )
            except DeliveryDoubtError:
                raise
            except DeliveryError as error:
                self.log.info("ephemeral refused", channel=place.channel, why=error.code)
            else:
                return
        call(self.posting.chat_postMessage, channel=place.user, unfurl_links=False, **content)

    def _answered(self, address: str, message: Message, *, replaces: bool) -> bool:
        """Return whether the response_url took it; False when it is dead."""
        hook = WebhookClient(address, timeout=ANSWER_TIMEOUT_SECONDS, retry_handlers=[])
        try:
            answer = hook.send(
                text=message.text,
                blocks=list(message.blocks) or None,
                response_type="ephemeral",
                replace_original=replaces,
            )
        except (SlackClientError, OSError, HTTPException, ValueError) as error:
            raise DeliveryDoubtError("no_answer") from error
        return bool(answer.status_code == TAKEN)
