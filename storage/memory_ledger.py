"""Purchases, receipts, money and loans over plain dicts. See bot.ports for each rule."""

from collections.abc import Collection, Sequence
from datetime import datetime
from decimal import Decimal

from bot.domain.errors import BugError, ConflictError, StateError, UnknownRecordError
from bot.domain.lifecycle import LIVE_PURCHASES, PurchaseState, check_purchase_step
from bot.domain.records import BudgetEntry, Purchase, Receipt
from storage.memory_books import Desk, Loan
from storage.moving import moved
from storage.overlap import most_at_once


class MemoryPurchases:
    """See bot.ports.Purchases."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def add(self, purchase: Purchase) -> None:
        """See bot.ports. Raises BugError unless it is intended."""
        books = self._desk.writing()
        if purchase.state is not PurchaseState.INTENDED:
            raise BugError(f"a purchase starts as intended, not {purchase.state}")
        leg = (purchase.reservation_id, purchase.leg.number)
        for other in books.purchases.values():
            live = other.state in LIVE_PURCHASES
            if other.id == purchase.id or (
                live and (other.reservation_id, other.leg.number) == leg
            ):
                raise ConflictError(f"purchase {other.id} stands for that leg already")
        self._desk.writing_for(purchase.reservation_id)
        if purchase.proposal_id not in books.proposals:
            raise UnknownRecordError(f"there is no proposal {purchase.proposal_id}")
        books.purchases[purchase.id] = purchase

    def get(self, purchase_id: str) -> Purchase:
        """See bot.ports."""
        stored = self._desk.reading().purchases.get(purchase_id)
        if stored is None:
            raise UnknownRecordError(f"there is no purchase {purchase_id}")
        return stored

    def move(
        self,
        purchase: Purchase,
        to: PurchaseState,
        *,
        at: datetime,
        outcome: str = "",
        offering_ref: str | None = None,
        fee: str | None = None,
    ) -> Purchase:
        """See bot.ports."""
        books = self._desk.writing()
        stored = self.get(purchase.id)
        if stored.state is not purchase.state:
            raise ConflictError(f"purchase {purchase.id} is {stored.state} already")
        check_purchase_step(stored.state, to)
        after = moved(stored, to, at=at, outcome=outcome, offering_ref=offering_ref, fee=fee)
        books.purchases[purchase.id] = after
        return after

    def of(self, reservation_id: int) -> Sequence[Purchase]:
        """See bot.ports."""
        found = [one for one in self._all() if one.reservation_id == reservation_id]
        found.sort(key=lambda one: (one.leg.number, one.attempt))
        return tuple(found)

    def in_state(self, states: Collection[PurchaseState]) -> Sequence[Purchase]:
        """See bot.ports."""
        return tuple(one for one in self._all() if one.state in states)

    def recent(self, *, limit: int = 100) -> Sequence[Purchase]:
        """See bot.ports."""
        return tuple(reversed(self._all()))[:limit]

    def _all(self) -> list[Purchase]:
        """Return all, oldest first."""
        purchases = self._desk.reading().purchases.values()
        return sorted(purchases, key=lambda one: (one.intended_at, one.id))


class MemoryReceipts:
    """See bot.ports.Receipts."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def add(self, receipt: Receipt) -> Receipt:
        """See bot.ports. Raises UnknownRecordError without its reservation."""
        books = self._desk.writing()
        if receipt.id not in books.receipts:
            self._desk.writing_for(receipt.reservation_id)
            books.receipts[receipt.id] = receipt.model_copy(update={"revision": 1})
        return books.receipts[receipt.id]

    def get(self, receipt_id: str) -> Receipt:
        """See bot.ports."""
        stored = self._desk.reading().receipts.get(receipt_id)
        if stored is None:
            raise UnknownRecordError(f"there is no receipt {receipt_id}")
        return stored

    def save(self, receipt: Receipt) -> Receipt:
        """See bot.ports. Raises UnknownRecordError for one that was never added.

        Raises BugError when it would go to another reservation.
        """
        books = self._desk.writing()
        stored = self.get(receipt.id)
        if stored.reservation_id != receipt.reservation_id:
            raise BugError(f"receipt {receipt.id} belongs to another reservation")
        if stored.revision != receipt.revision:
            raise ConflictError(f"receipt {receipt.id} was changed meanwhile")
        following = receipt.model_copy(update={"revision": receipt.revision + 1})
        books.receipts[receipt.id] = following
        return following

    def of(self, reservation_id: int) -> Sequence[Receipt]:
        """See bot.ports. In the order they were added."""
        receipts = self._desk.reading().receipts.values()
        return tuple(one for one in receipts if one.reservation_id == reservation_id)


class MemoryBudget:
    """See bot.ports.Budget."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def hold(self, entry: BudgetEntry) -> None:
        """See bot.ports. Raises BugError unless it is held."""
        books = self._desk.writing()
        if entry.state != "held":
            raise BugError(f"money is held first, not {entry.state}")
        stored = books.budget.get(entry.purchase_key)
        if stored is not None and stored.state != "freed":
            raise ConflictError(f"money for {entry.purchase_key} is held already")
        self._desk.writing_for(entry.reservation_id)
        books.budget[entry.purchase_key] = entry

    def settle(self, purchase_key: str, *, amount: str) -> None:
        """See bot.ports. Repeating it with the same amount is harmless.

        Raises UnknownRecordError without an entry, StateError when it was freed or settled
        with another amount.
        """
        books = self._desk.writing()
        stored = books.budget.get(purchase_key)
        if stored is None:
            raise UnknownRecordError(f"no money is held for {purchase_key}")
        after = BudgetEntry.model_validate(
            {**dict(stored), "amount": Decimal(amount), "state": "committed"}
        )
        if stored.state != "held" and after != stored:
            raise StateError(f"money for {purchase_key} is {stored.state}: {stored.amount}")
        books.budget[purchase_key] = after

    def free(self, purchase_key: str) -> None:
        """See bot.ports. An unknown key holds no money, so there is nothing to give back."""
        books = self._desk.writing()
        stored = books.budget.get(purchase_key)
        if stored is not None:
            books.budget[purchase_key] = stored.model_copy(update={"state": "freed"})

    def entries(
        self,
        *,
        team: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        reservation_id: int | None = None,
    ) -> Sequence[BudgetEntry]:
        """See bot.ports."""
        found = [
            entry
            for entry in self._desk.reading().budget.values()
            if (team is None or entry.team == team)
            and (since is None or entry.held_at >= since)
            and (until is None or entry.held_at < until)
            and (reservation_id is None or entry.reservation_id == reservation_id)
        ]
        return tuple(sorted(found, key=lambda entry: (entry.held_at, entry.purchase_key)))

    def spent(
        self,
        *,
        since: datetime,
        until: datetime,
        team: str | None = None,
        apart: Collection[str] = (),
    ) -> Decimal:
        """See bot.ports."""
        found = self.entries(team=team, since=since, until=until)
        return sum(
            (
                entry.amount
                for entry in found
                if entry.state != "freed" and entry.purchase_key not in apart
            ),
            Decimal(0),
        )


class MemoryLoans:
    """See bot.ports.Loans."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def hold(
        self,
        *,
        reservation_id: int,
        ref: str,
        count: int,
        start: datetime,
        end: datetime,
        free: int,
    ) -> None:
        """See bot.ports. Raises BugError for no machines or no time."""
        books = self._desk.writing()
        if count <= 0 or start >= end:
            raise BugError(f"{count} machines from {start} to {end} cannot be held")
        held = self.held(ref, start=start, end=end)
        if held + count > free:
            raise ConflictError(f"{ref}: {held} of {free} machines are promised already")
        self._desk.writing_for(reservation_id)
        books.loans[books.next_number("loan")] = Loan(reservation_id, ref, count, start, end)

    def release(self, reservation_id: int) -> None:
        """See bot.ports."""
        books = self._desk.writing()
        books.loans = {
            number: loan
            for number, loan in books.loans.items()
            if loan.reservation_id != reservation_id
        }

    def held(self, ref: str, *, start: datetime, end: datetime) -> int:
        """See bot.ports."""
        loans = self._desk.reading().loans.values()
        holds = ((one.start, one.end, one.count) for one in loans if one.ref == ref)
        return most_at_once(holds, start=start, end=end)
