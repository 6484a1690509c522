"""Says things in Slack: the Messenger port over the Web API.

Every post carries its key as metadata, so that a post whose answer was lost is found again
(docs.slack.dev, "Message metadata"): chat.postMessage has no idempotency key. A digest that
needs several messages posts its key with the last one, so that the key means: all of it is there.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from slack_sdk import WebClient

from bot.domain.errors import BugError, DeliveryError
from bot.domain.records import MessageRef
from bot.domain.saying import Announcement
from bot.services.digests.homes import Homes
from bot.services.words.views import Views
from handlers import ids
from handlers.cards.approval import approval_card
from handlers.cards.decision import decision_card
from handlers.cards.home import home_view
from handlers.cards.notes import note_messages
from handlers.rendering import Names
from handlers.reply import Message
from handlers.web import call

PAGE = 200
MOST_PAGES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackMessenger:
    """See bot.ports.Messenger. Cards are drawn from the records at the moment they are sent."""

    posting: WebClient
    reading: WebClient
    views: Views
    homes: Homes
    names: Names

    def post(self, key: str, announcement: Announcement, *, under: MessageRef | None) -> MessageRef:
        """See bot.ports.Messenger."""
        if announcement.kind == "home":
            return self._publish(announcement)
        messages = self._draw(announcement)
        where = under.channel if under is not None else _channel(announcement)
        thread = under.ts if under is not None else None
        if len(messages) > 1:
            self._post_first_parts(key, messages, where=where, thread=thread)
        return self._post(key, messages[-1], where=where, thread=thread)

    def find(
        self, key: str, announcement: Announcement, *, under: MessageRef | None, since: datetime
    ) -> MessageRef | None:
        """See bot.ports.Messenger."""
        if announcement.kind == "home":
            return None
        where = under.channel if under is not None else self._room(announcement)
        thread = under.ts if under is not None else None
        for message in self._messages(where, thread=thread, oldest=f"{since.timestamp():.6f}"):
            if _key_of(message) == key:
                return MessageRef(channel=where, ts=str(message["ts"]))
        return None

    def update(self, key: str, at: MessageRef, announcement: Announcement) -> None:
        """See bot.ports.Messenger."""
        if announcement.kind == "home":
            self._publish(announcement)
            return
        message = self._draw(announcement)[-1]
        call(
            self.posting.chat_update,
            channel=at.channel,
            ts=at.ts,
            text=message.text,
            blocks=list(message.blocks),
            metadata=_metadata(key),
        )

    def whisper(self, announcement: Announcement) -> None:
        """See bot.ports.Messenger."""
        to = announcement.to
        if to.user is None:
            raise BugError("a whisper needs the person it is for")
        for message in self._draw(announcement):
            if to.channel is None:
                self._post("whisper", message, where=to.user, thread=None)
                continue
            call(
                self.posting.chat_postEphemeral,
                channel=to.channel,
                user=to.user,
                text=message.text,
                blocks=list(message.blocks),
            )

    def _draw(self, announcement: Announcement) -> tuple[Message, ...]:
        match announcement.kind:
            case "card":
                view = self.views.card(_known(announcement.reservation_id))
                return (decision_card(view, self.names),)
            case "approval":
                view = self.views.proposal(_known(announcement.proposal_id))
                return (approval_card(view, self.names),)
            case _:
                return note_messages(announcement, self.names)

    def _post(self, key: str, message: Message, *, where: str, thread: str | None) -> MessageRef:
        answer = call(
            self.posting.chat_postMessage,
            channel=where,
            thread_ts=thread,
            text=message.text,
            blocks=list(message.blocks) or None,
            metadata=_metadata(key),
            unfurl_links=False,
            unfurl_media=False,
        )
        return MessageRef(channel=str(answer["channel"]), ts=str(answer["ts"]))

    def _post_first_parts(
        self, key: str, messages: tuple[Message, ...], *, where: str, thread: str | None
    ) -> None:
        """Post all but the last part, leaving out those that an earlier attempt posted."""
        there: set[str | None] = set()
        if where.startswith(("C", "G", "D")):
            there = {_key_of(found) for found in self._messages(where, thread=thread, pages=1)}
        for number, message in enumerate(messages[:-1], start=1):
            part = f"{key}#{number}"
            if part not in there:
                self._post(part, message, where=where, thread=thread)

    def _publish(self, announcement: Announcement) -> MessageRef:
        user = announcement.to.user
        if user is None:
            raise BugError("a Home tab needs the person it is for")
        view = home_view(self.homes.home(user), self.names)
        answer = call(self.posting.views_publish, user_id=user, view=view)
        return MessageRef(channel=user, ts=str((answer.get("view") or {}).get("id", "")))

    def _room(self, announcement: Announcement) -> str:
        """Return the channel id; a person's direct messages have one of their own."""
        to = announcement.to
        if to.channel is not None:
            return to.channel
        answer = call(self.reading.conversations_open, users=to.user)
        return str(answer["channel"]["id"])

    def _messages(
        self,
        where: str,
        *,
        thread: str | None,
        oldest: str | None = None,
        pages: int = MOST_PAGES,
    ) -> Iterator[Mapping[str, Any]]:
        cursor: str | None = None
        for _ in range(pages):
            given = {
                "channel": where,
                "oldest": oldest,
                "inclusive": True,
                "include_all_metadata": True,
                "limit": PAGE,
                "cursor": cursor,
            }
            if thread is not None:
                answer = call(self.reading.conversations_replies, ts=thread, **given)
            else:
                answer = call(self.reading.conversations_history, **given)
            yield from answer.get("messages") or ()
            cursor = (answer.get("response_metadata") or {}).get("next_cursor") or None
            if cursor is None:
                return
        if pages == MOST_PAGES:
            raise DeliveryError("too_many_messages_to_search")


def _metadata(key: str) -> dict[str, object]:
    """Return what makes a message findable. Every app in the workspace can read it."""
    return {"event_type": ids.EVENT_TYPE, "event_payload": {"key": key}}


def _key_of(message: Mapping[str, Any]) -> str | None:
    metadata = message.get("metadata") or {}
    if metadata.get("event_type") != ids.EVENT_TYPE:
        return None
    key = (metadata.get("event_payload") or {}).get("key")
    return key if isinstance(key, str) else None


def _channel(announcement: Announcement) -> str:
    where = announcement.to.channel or announcement.to.user
    if where is None:
        raise BugError("a message needs somewhere to go")
    return where


def _known(record_id: int | None) -> int:
    if record_id is None:
        raise BugError("a card needs the record it is drawn from")
    return record_id
