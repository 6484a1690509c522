"""Settling doubt by AWS's own books. Never buys; not found is no proof."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.base import Model
from bot.domain.errors import ConflictError, MarketError
from bot.domain.lifecycle import PurchaseState
from bot.domain.records import Purchase, Receipt
from bot.domain.values import Instant
from bot.policy.configuration import Configuration
from bot.ports import Bell, Buyer, Clock, Store
from bot.services.purchases.money_log import SILENT, MoneyLog, purchase_line
from bot.services.purchases.settling import DOUBTFUL, Settling, reconcile_due

LOOKS = tuple(
    timedelta(seconds=seconds)
    for seconds in (15, 30, 60, 120, 300, 600, 900, 1200, 1500, 1800, 1860)
)
"""When to look, counted from the moment of doubt: fast at first, for that is when tags appear."""

THEN_EVERY = timedelta(hours=1)
LONGEST_PAUSE = timedelta(minutes=10)
"""Between two good reads no more than this counts as readable: longer, the bot was away."""

IN_DOUBT = "in doubt"

UNREADABLE = timedelta(minutes=1)
"""Books that could not be read are tried again this soon, on the next whole minute."""


class Reading(Model):
    """How long AWS's books have been readable without showing a purchase, since the first look."""

    since: Instant
    seconds: int = 0
    last: Instant | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciling:
    """Looks for purchases whose outcome is unknown."""

    store: Store
    clock: Clock
    buyer: Buyer
    settling: Settling
    configuration: Configuration
    bell: Bell
    spending_timeout: timedelta = timedelta(seconds=90)
    log: MoneyLog = SILENT

    def reconcile(self, purchase_id: str) -> str:
        """Look once into AWS's books for a purchase in doubt; return what was found.

        Found: confirmed. Not found: it stays in doubt, and after long enough of readable books
        a person is asked to look, while looking goes on. Money is never freed here.
        """
        with self.store.reading() as tx:
            purchase = tx.purchases.get(purchase_id)
        if purchase.state not in DOUBTFUL:
            return f"settled: {purchase.state}"
        if purchase.state is PurchaseState.SUBMITTED:
            sent = purchase.submitted_at or purchase.intended_at
            if self.clock.now() < sent + 2 * self.spending_timeout:
                with self.store.transaction() as tx:
                    tx.dues.plan(reconcile_due(purchase, sent + 2 * self.spending_timeout))
                return "its call may still be under way"
        try:
            receipts: Sequence[Receipt] | None = self.buyer.find(purchase)
        except MarketError:
            receipts = None
        if receipts:
            outcome = self.accept(purchase_id, tuple(receipts))
        else:
            outcome = self._unseen(purchase_id, readable=receipts is not None)
        self.bell.ring()
        return outcome

    def accept(self, purchase_id: str, receipts: Sequence[Receipt]) -> str:
        """Take over what AWS shows, whoever settled the row meanwhile; return the outcome.

        A confirmed row is an equal outcome. Without receipts the stored state stands.
        """
        now = self.clock.now()
        with self.store.transaction() as tx:
            purchase = tx.purchases.get(purchase_id)
            if purchase.state not in DOUBTFUL or not receipts:
                return str(purchase.state)
            self.settling.confirm(tx, purchase, receipts, now=now)
        self._tell(purchase_id)
        self.bell.ring()
        return "confirmed"

    def orphaned(self, purchase: Purchase) -> str:
        """Put a submitted row whose caller is gone in doubt; return the outcome."""
        try:
            with self.store.transaction() as tx:
                self.settling.doubt(
                    tx, purchase, "its caller ended before the answer", now=self.clock.now()
                )
        except ConflictError:
            return "settled by another worker"
        self._tell(purchase.id)
        self.bell.ring()
        return IN_DOUBT

    def _tell(self, purchase_id: str) -> None:
        with self.store.reading() as tx:
            purchase_line(self.log, tx.purchases.get(purchase_id))

    def sweep(self) -> int:
        """Have every old submitted or doubtful row looked up; return how many had been left alone.

        A look that is planned already counts as nothing done, so that a caller may rest.
        """
        now = self.clock.now()
        with self.store.reading() as tx:
            rows = tx.purchases.in_state(DOUBTFUL)
        return sum(self._attend(row, now) for row in rows)

    def _attend(self, row: Purchase, now: datetime) -> bool:
        """Return whether there was something to do for the row."""
        sent = row.submitted_at or row.intended_at
        if row.state is PurchaseState.SUBMITTED:
            orphan = now >= sent + 2 * self.spending_timeout
            return orphan and self.orphaned(row) == IN_DOUBT
        with self.store.transaction() as tx:
            stored = tx.facts.get(f"books:{row.id}")
            since = Reading.model_validate_json(stored).since if stored else sent
            return tx.dues.plan(reconcile_due(row, _next_look(since, now)))

    def _unseen(self, purchase_id: str, *, readable: bool) -> str:
        now = self.clock.now()
        name = f"books:{purchase_id}"
        with self.store.transaction() as tx:
            purchase = tx.purchases.get(purchase_id)
            if purchase.state not in DOUBTFUL:
                return f"settled: {purchase.state}"
            if purchase.state is PurchaseState.SUBMITTED:
                self.settling.doubt(tx, purchase, "its caller ended before the answer", now=now)
                return "in doubt"
            stored = tx.facts.get(name)
            before = Reading.model_validate_json(stored) if stored else Reading(since=now)
            after = _longer(before, now) if readable else before.model_copy(update={"last": None})
            tx.facts.put(name, after.model_dump_json(), at=now)
            at = _next_look(after.since, now) if readable else _whole_minute(now)
            tx.dues.plan(reconcile_due(purchase, at))
            if timedelta(seconds=after.seconds) >= self.configuration.limits.review_after:
                self.settling.review(tx, purchase, now=now)
        return "not seen" if readable else "books not readable"


def _next_look(since: datetime, now: datetime) -> datetime:
    """Return the next slot: they are fixed, so that two workers plan the same look once."""
    for wait in LOOKS:
        if since + wait > now:
            return since + wait
    number = (now - since - LOOKS[-1]) // THEN_EVERY + 1
    return since + LOOKS[-1] + number * THEN_EVERY


def _whole_minute(now: datetime) -> datetime:
    return now.replace(second=0, microsecond=0) + UNREADABLE


def _longer(before: Reading, now: datetime) -> Reading:
    if before.last is None:
        return before.model_copy(update={"last": now})
    gained = min(max(now - before.last, timedelta(0)), LONGEST_PAUSE)
    seconds = before.seconds + gained // timedelta(seconds=1)
    return before.model_copy(update={"seconds": seconds, "last": now})
