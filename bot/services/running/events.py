"""Events of AWS only make the bot look sooner: what is true is always read from AWS itself.

So an event that is forged, old, doubled or out of order costs one look and changes nothing, and
without any event the looks come at their own pace. A message is deleted after the commit of what
it brought about; one that can't be read is left for the queue's dead letters.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.errors import MarketError, UnknownRecordError
from bot.domain.market import Kind
from bot.domain.records import Due, gpu_id
from bot.domain.using import QueuedEvent
from bot.domain.values import utc_text
from bot.policy.configuration import Account
from bot.ports import Bell, Clock, EventQueue, Store, Transaction
from bot.services.reservations import sequels
from bot.services.reservations.envelopes import EnvelopeError, Signal, What, recognise
from bot.services.reservations.following import Following
from bot.services.running import endpoints
from bot.services.running.endpoint_stages import record_of
from bot.services.words.delivering import Log

GIVE_UP = 20
"""A message received so often has no dead-letter queue to go to: it is dropped, with a line."""
UNREADABLE, OTHER = "unreadable", "other"
"""What a message is about that is no event, or none that we know."""
REST = timedelta(seconds=30)
"""A queue that can't be read is not asked again before."""


@dataclass(kw_only=True)
class Hearing:
    """Works off one queue of events. `heard` is told what each message is about and its outcome."""

    queue: EventQueue
    store: Store
    clock: Clock
    following: Following
    accounts: Sequence[Account]
    bell: Bell
    log: Log
    heard: Callable[[str, str], object] = "{} {}".format
    rests_until: datetime | None = None

    def step(self) -> int:
        """Take what waits; return how many messages were worked off."""
        if self.rests_until is not None and self.clock.now() < self.rests_until:
            return 0
        try:
            messages = self.queue.receive()
        except MarketError as error:
            self.rests_until = self.clock.now() + REST
            self.log.warning("queue of events can't be read", error=f"{error.why}: {error.detail}")
            return 0
        return sum(self._take(message) for message in messages)

    def _take(self, message: QueuedEvent) -> int:
        try:
            signal = recognise(message.body)
        except EnvelopeError as error:
            return self._poison(message, str(error))
        try:
            outcome = "none of ours" if signal is None else self._act(signal, message)
        except Exception as error:  # noqa: BLE001 — the boundary of a message; it comes again
            self.heard(_kind(signal), "failed")
            self.log.warning("event stays", id=signal and signal.id, error=repr(error))
            return self._given_up(message, _kind(signal), repr(error))
        self.heard(_kind(signal), outcome)
        self._delete(message)
        return 1

    def _act(self, signal: Signal, message: QueuedEvent) -> str:
        now = self.clock.now()
        place = (self._account(signal, message), signal.region or message.region)
        with self.store.transaction() as tx:
            fresh = self._hasten(tx, signal, place, now)
        if fresh:
            self.bell.ring()
        return "unknown" if fresh is None else "hastened" if fresh else "heard before"

    def _account(self, signal: Signal, message: QueuedEvent) -> str:
        known = (one.name for one in self.accounts if one.account_id == signal.account)
        return next(known, message.account)

    def _hasten(
        self, tx: Transaction, signal: Signal, place: tuple[str, str], now: datetime
    ) -> bool | None:
        """Have looked at what the event names; False: it has been, None: it is not ours."""
        if signal.what is What.HELD:
            done = [self._held(tx, name, signal, now) for name in signal.names]
        elif signal.what is What.ENDPOINT:
            done = [self._endpoint(tx, name, signal, now) for name in signal.names]
        else:
            done = [self._machines(tx, signal, place, now)]
        known = [one for one in done if one is not None]
        return any(known) if known else None

    def _held(self, tx: Transaction, name: str, signal: Signal, now: datetime) -> bool | None:
        try:
            receipt = tx.receipts.get(name)
        except UnknownRecordError:
            return None
        return self.following.hasten(tx, receipt, why=f"event:{signal.id}", now=now)

    def _endpoint(self, tx: Transaction, name: str, signal: Signal, now: datetime) -> bool | None:
        number = int(name.split("-")[2])
        record = record_of(tx, number)
        if record is None or record.order.name != name:
            return None
        subject = gpu_id(number)
        key = f"{endpoints.STEP}:{subject}:event:{signal.id}"
        due = Due(key=key, kind=endpoints.STEP, subject=subject, at=now, argument=str(number))
        tx.dues.withdraw(subject, kinds=(endpoints.STEP,))
        return tx.dues.plan(due)

    def _machines(
        self, tx: Transaction, signal: Signal, place: tuple[str, str], now: datetime
    ) -> bool | None:
        """An event names a machine, the books what it was launched by: look at all that may be it.

        Machines come and go in an account all day, so those looks are ten minutes apart.
        """
        receipts = self.following.followed(tx, *place)
        if not receipts:
            return None
        spot = {one.reservation_id for one in receipts if one.kind is Kind.SPOT}
        if signal.what is What.MACHINE:
            slot = now.replace(minute=now.minute // 10 * 10, second=0, microsecond=0)
            why = f"machines:{utc_text(slot)}"
            looks = [self.following.hasten(tx, one, why=why, now=now) for one in receipts]
        elif spot:
            looks = [
                tx.dues.plan(sequels.signal_due(number, signal.what, machine, signal.id, at=now))
                for number in sorted(spot)
                for machine in signal.names
            ]
        else:
            return None
        return any(looks)

    def _poison(self, message: QueuedEvent, why: str) -> int:
        self.heard(UNREADABLE, "failed")
        self.log.warning("event can't be read", why=why, receives=message.receives)
        return self._given_up(message, UNREADABLE, why)

    def _given_up(self, message: QueuedEvent, kind: str, why: str) -> int:
        """Drop what no number of attempts gets through; return how many messages that was."""
        if message.receives < GIVE_UP:
            return 0
        self.heard(kind, "dropped")
        self.log.warning("event dropped: the queue has no dead-letter queue", why=why)
        self._delete(message)
        return 1

    def _delete(self, message: QueuedEvent) -> None:
        """Take it off; one that stays for now comes again and is heard before."""
        try:
            self.queue.delete(message)
        except MarketError as error:
            self.log.warning("event stays in its queue", error=f"{error.why}: {error.detail}")


def _kind(signal: Signal | None) -> str:
    return OTHER if signal is None else signal.what
