"""Says what is in the outbox: once, late rather than never.

Slack has no idempotency key. A row is committed as "in doubt" before it leaves; a post whose
outcome is unknown is looked up by the key in its metadata before it is repeated. Whispers
(ephemerals) can't be looked up and go at most once. Drawing a message anew is harmless.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from bot.domain.errors import BusyError, DeliveryDoubtError, DeliveryError, UnknownRecordError
from bot.domain.records import MessageRef
from bot.ports import Clock, Messenger, Outgoing, Store, Transaction

LEASE = timedelta(minutes=2)
"""Longer than any one call to Slack (30 s) with room; a dead holder's rows are free at once."""

BATCH = 10
SETTLE_WITHIN = timedelta(seconds=1)
"""Messages that left one after the other are marked as sent together, but not much later."""

BACK_OFF = (5, 15, 60, 300, 900)
"""Seconds before the next attempt: Slack's outages last minutes, its rate windows one."""

LONGEST_WAIT = 3600
"""Seconds; nobody who asks for more than an hour means it."""

GIVE_UP_AFTER = 40
GIVE_UP_AGE = timedelta(hours=9)
"""So often and so long is it tried; a person then finds the row in the log instead. Attempts
alone say little: Slack itself may ask for one every minute, through an outage of an hour."""

HOPELESS = frozenset(
    {
        "channel_not_found",
        "is_archived",
        "user_not_found",
        "invalid_blocks",
        "msg_too_long",
        "cannot_dm_bot",
        "user_disabled",
        "user_not_in_channel",
        "restricted_action",
        "no_permission",
    }
)
"""Slack's words for messages that no repetition will deliver (docs.slack.dev, chat.postMessage)."""

GONE = frozenset({"message_not_found", "cant_update_message", "edit_window_closed"})
"""The living message can't be drawn any more: it is posted anew."""


class Log(Protocol):
    """Where an operator reads what could not be said."""

    def warning(self, event: str, **facts: object) -> object:
        """Write one line."""


@dataclass(frozen=True, slots=True)
class _Places:
    """Where a message is, and the card above it, as far as they were posted.

    Nothing moves them while the message is out: no other of its lane leaves meanwhile.
    """

    own: MessageRef | None
    thread: MessageRef | None


@dataclass(frozen=True, slots=True)
class _Sent:
    """A message that Slack took."""

    key: str
    at: datetime
    ref: MessageRef | None


def _places(tx: Transaction, outgoing: Outgoing) -> _Places:
    thread = outgoing.announcement.thread
    return _Places(tx.outbox.where(outgoing.key), tx.outbox.where(thread) if thread else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivering:
    """Works off the outbox."""

    store: Store
    clock: Clock
    messenger: Messenger
    log: Log

    def step(self) -> int:
        """Send what may leave now; return how many rows were worked on."""
        with self.store.transaction() as tx:
            batch = [
                (outgoing, _places(tx, outgoing))
                for outgoing in tx.outbox.claim(now=self.clock.now(), lease=LEASE, limit=BATCH)
            ]
        unsettled: list[_Sent] = []
        try:
            for outgoing, places in batch:
                sent = self._send(outgoing, places)
                if sent is not None:
                    unsettled.append(sent)
                if unsettled and self.clock.now() - unsettled[0].at >= SETTLE_WITHIN:
                    self._settle(unsettled)
        finally:
            self._settle(unsettled)
        return len(batch)

    def _settle(self, unsettled: list[_Sent]) -> None:
        """Write down what was sent, and empty the list. Lost, they would be looked for."""
        if not unsettled:
            return
        with self.store.transaction() as tx:
            for one in unsettled:
                tx.outbox.sent(one.key, at=one.at, ref=one.ref)
        unsettled.clear()

    def _send(self, outgoing: Outgoing, places: _Places) -> _Sent | None:
        """Say it; return what is to be written down, unless it was written down already."""
        try:
            ref = self._say(outgoing, places)
        except DeliveryDoubtError as doubt:
            if outgoing.announcement.kind == "whisper":
                self._drop(outgoing, f"in doubt, not repeated: {doubt.code}")
            else:
                self._later(outgoing, doubt, in_doubt=True)
        except DeliveryError as refusal:
            if refusal.code in HOPELESS or outgoing.announcement.kind == "whisper":
                self._drop(outgoing, refusal.code)
            else:
                self._later(outgoing, refusal, in_doubt=outgoing.in_doubt)
        except UnknownRecordError as missing:
            self._drop(outgoing, str(missing))
        except BusyError:
            raise
        except Exception as error:  # noqa: BLE001 — the boundary of a message, as in Duties
            self._failed(outgoing, error)
        else:
            return _Sent(outgoing.key, self.clock.now(), ref)
        return None

    def _failed(self, outgoing: Outgoing, error: Exception) -> None:
        """Put aside what can't be drawn, or what Slack answered unreadably: others go on."""
        why = f"failed: {type(error).__name__}"
        self.log.warning("message failed", key=outgoing.key, error=repr(error))
        if outgoing.announcement.kind == "whisper":
            self._drop(outgoing, why)
        else:
            self._later(outgoing, DeliveryDoubtError(why), in_doubt=True)

    def _say(self, outgoing: Outgoing, places: _Places) -> MessageRef | None:
        announcement = outgoing.announcement
        if announcement.kind == "whisper":
            if outgoing.in_doubt:
                raise DeliveryDoubtError("an earlier attempt may have arrived")
            self.messenger.whisper(announcement)
            return None
        known, under = places.own, places.thread
        if known is None and outgoing.in_doubt:
            known = self.messenger.find(
                outgoing.key, announcement, under=under, since=self._since(outgoing.created_at)
            )
            if known is not None and announcement.kind in ("note", "digest"):
                return known
        if known is not None:
            try:
                self.messenger.update(outgoing.key, known, announcement)
            except DeliveryError as refusal:
                if refusal.code not in GONE:
                    raise
            else:
                return known
        return self.messenger.post(outgoing.key, announcement, under=under)

    def _since(self, created_at: datetime) -> datetime:
        return created_at - timedelta(minutes=1)

    def _later(self, outgoing: Outgoing, error: DeliveryError, *, in_doubt: bool) -> None:
        old = self.clock.now() - outgoing.created_at >= GIVE_UP_AGE
        if old and outgoing.attempt >= GIVE_UP_AFTER:
            self._drop(outgoing, error.code)
            return
        wait = BACK_OFF[min(outgoing.attempt, len(BACK_OFF)) - 1]
        if error.retry_after_seconds is not None:
            wait = min(max(1, error.retry_after_seconds), LONGEST_WAIT)
        now = self.clock.now()
        with self.store.transaction() as tx:
            tx.outbox.put_back(
                outgoing.key,
                not_before=now + timedelta(seconds=wait),
                in_doubt=in_doubt,
                error=error.code,
            )

    def _drop(self, outgoing: Outgoing, why: str) -> None:
        self.log.warning("message given up", key=outgoing.key, why=why)
        with self.store.transaction() as tx:
            tx.outbox.drop(outgoing.key, at=self.clock.now(), error=why)
