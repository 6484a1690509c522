"""Purchases, receipts, money and loans in SQLite. See bot.ports for each rule."""

from collections.abc import Collection, Sequence
from datetime import datetime
from decimal import Decimal

from bot.domain.errors import (
    BugError,
    ConflictError,
    StateError,
    UnknownRecordError,
)
from bot.domain.lifecycle import PurchaseState, check_purchase_step
from bot.domain.records import BudgetEntry, Purchase, Receipt
from storage.bodies import body_of, time_of, time_text
from storage.moving import moved
from storage.overlap import most_at_once
from storage.session import Row, Session, Value, marks, number, text


class SqlitePurchases:
    """See bot.ports.Purchases."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, purchase: Purchase) -> None:
        """See bot.ports. Raises BugError unless it is intended."""
        write = self._session.writing()
        if purchase.state is not PurchaseState.INTENDED:
            raise BugError(f"a purchase starts as intended, not {purchase.state}")
        write(
            "insert into purchase (id, reservation_id, proposal_id, leg, attempt, state,"
            " intended_at, body) values (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                purchase.id,
                purchase.reservation_id,
                purchase.proposal_id,
                purchase.leg.number,
                purchase.attempt,
                purchase.state,
                time_text(purchase.intended_at),
                body_of(purchase),
            ),
        )

    def get(self, purchase_id: str) -> Purchase:
        """See bot.ports."""
        row = self._session.row("select body from purchase where id = ?", (purchase_id,))
        if row is None:
            raise UnknownRecordError(f"there is no purchase {purchase_id}")
        return _purchase(row)

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
        write = self._session.writing()
        stored = self.get(purchase.id)
        if stored.state is not purchase.state:
            raise ConflictError(f"purchase {purchase.id} is {stored.state} already")
        check_purchase_step(stored.state, to)
        after = moved(stored, to, at=at, outcome=outcome, offering_ref=offering_ref, fee=fee)
        cursor = write(
            "update purchase set state = ?, body = ? where id = ? and state = ?",
            (to, body_of(after), purchase.id, stored.state),
        )
        if cursor.rowcount != 1:
            raise ConflictError(f"purchase {purchase.id} was changed meanwhile")
        return after

    def of(self, reservation_id: int) -> Sequence[Purchase]:
        """See bot.ports."""
        return self._all(
            "select body from purchase where reservation_id = ?"
            " order by leg, attempt, intended_at, id",
            [reservation_id],
        )

    def in_state(self, states: Collection[PurchaseState]) -> Sequence[Purchase]:
        """See bot.ports."""
        return self._all(
            f"select body from purchase where state in ({marks(len(states))})"  # noqa: S608 - placeholders only
            " order by intended_at, id",
            list(states),
        )

    def recent(self, *, limit: int = 100) -> Sequence[Purchase]:
        """See bot.ports."""
        return self._all(
            "select body from purchase order by intended_at desc, id desc limit ?", [limit]
        )

    def _all(self, sql: str, values: Sequence[Value]) -> Sequence[Purchase]:
        return tuple(_purchase(row) for row in self._session.rows(sql, values))


def _purchase(row: Row) -> Purchase:
    return Purchase.model_validate_json(text(row[0]))


class SqliteReceipts:
    """See bot.ports.Receipts."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, receipt: Receipt) -> Receipt:
        """See bot.ports. Raises UnknownRecordError without its reservation."""
        write = self._session.writing()
        first = receipt.model_copy(update={"revision": 1})
        write(
            "insert into receipt (id, revision, reservation_id, body) values (?, 1, ?, ?)"
            " on conflict (id) do nothing",
            (first.id, first.reservation_id, body_of(first)),
        )
        return self.get(receipt.id)

    def get(self, receipt_id: str) -> Receipt:
        """See bot.ports."""
        row = self._session.row("select body from receipt where id = ?", (receipt_id,))
        if row is None:
            raise UnknownRecordError(f"there is no receipt {receipt_id}")
        return _receipt(row)

    def save(self, receipt: Receipt) -> Receipt:
        """See bot.ports. Raises UnknownRecordError for one that was never added.

        Raises BugError when it would go to another reservation.
        """
        following = receipt.model_copy(update={"revision": receipt.revision + 1})
        cursor = self._session.writing()(
            "update receipt set revision = ?, body = ?"
            " where id = ? and revision = ? and reservation_id = ?",
            (
                following.revision,
                body_of(following),
                receipt.id,
                receipt.revision,
                receipt.reservation_id,
            ),
        )
        if cursor.rowcount != 1:
            # Only now is it worth reading why: every look saves every receipt.
            if self.get(receipt.id).reservation_id != receipt.reservation_id:
                raise BugError(f"receipt {receipt.id} belongs to another reservation")
            raise ConflictError(f"receipt {receipt.id} was changed meanwhile")
        return following

    def of(self, reservation_id: int) -> Sequence[Receipt]:
        """See bot.ports. In the order they were added."""
        rows = self._session.rows(
            "select body from receipt where reservation_id = ? order by number", (reservation_id,)
        )
        return tuple(_receipt(row) for row in rows)


def _receipt(row: Row) -> Receipt:
    return Receipt.model_validate_json(text(row[0]))


class SqliteBudget:
    """See bot.ports.Budget."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def hold(self, entry: BudgetEntry) -> None:
        """See bot.ports. Raises BugError unless it is held."""
        write = self._session.writing()
        if entry.state != "held":
            raise BugError(f"money is held first, not {entry.state}")
        cursor = write(
            "insert into budget (purchase_key, reservation_id, team, amount, state, held_at)"
            " values (?, ?, ?, ?, 'held', ?) on conflict (purchase_key) do update set"
            " reservation_id = excluded.reservation_id, team = excluded.team,"
            " amount = excluded.amount, state = 'held', held_at = excluded.held_at"
            " where state = 'freed'",
            (
                entry.purchase_key,
                entry.reservation_id,
                entry.team,
                str(entry.amount),
                time_text(entry.held_at),
            ),
        )
        if cursor.rowcount != 1:
            raise ConflictError(f"money for {entry.purchase_key} is held already")

    def settle(self, purchase_key: str, *, amount: str) -> None:
        """See bot.ports. Repeating it with the same amount is harmless.

        Raises UnknownRecordError without an entry, StateError when it was freed or settled
        with another amount.
        """
        write = self._session.writing()
        row = self._session.row(f"{_ENTRY} where purchase_key = ?", (purchase_key,))
        if row is None:
            raise UnknownRecordError(f"no money is held for {purchase_key}")
        stored = _entry(row)
        after = BudgetEntry.model_validate(
            {**dict(stored), "amount": Decimal(amount), "state": "committed"}
        )
        if stored.state == "held":
            write(
                "update budget set state = 'committed', amount = ?"
                " where purchase_key = ? and state = 'held'",
                (str(after.amount), purchase_key),
            )
        elif after != stored:
            raise StateError(f"money for {purchase_key} is {stored.state}: {stored.amount}")

    def free(self, purchase_key: str) -> None:
        """See bot.ports. An unknown key holds no money, so there is nothing to give back."""
        self._session.writing()(
            "update budget set state = 'freed' where purchase_key = ?", (purchase_key,)
        )

    def entries(
        self,
        *,
        team: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        reservation_id: int | None = None,
    ) -> Sequence[BudgetEntry]:
        """See bot.ports."""
        terms: list[str] = []
        values: list[Value] = []
        for term, value in (
            ("reservation_id = ?", reservation_id),
            ("team = ?", team),
            ("held_at >= ?", None if since is None else time_text(since)),
            ("held_at < ?", None if until is None else time_text(until)),
        ):
            if value is not None:
                terms.append(term)
                values.append(value)
        where = f" where {' and '.join(terms)}" if terms else ""
        rows = self._session.rows(f"{_ENTRY}{where} order by held_at, purchase_key", values)
        return tuple(_entry(row) for row in rows)

    def spent(
        self,
        *,
        since: datetime,
        until: datetime,
        team: str | None = None,
        apart: Collection[str] = (),
    ) -> Decimal:
        """See bot.ports. Only the amounts are read: every approval asks for it under the lock."""
        values: list[Value] = [time_text(since), time_text(until)]
        whose = ""
        if team is not None:
            whose = " and team = ?"
            values.append(team)
        rows = self._session.rows(
            "select amount from budget where held_at >= ? and held_at < ? and state <> 'freed'"  # noqa: S608 - placeholders only
            f"{whose} and purchase_key not in ({marks(len(apart))})",
            (*values, *apart),
        )
        return sum((Decimal(text(amount)) for (amount,) in rows), Decimal(0))


_ENTRY = "select purchase_key, reservation_id, team, amount, state, held_at from budget"


def _entry(row: Row) -> BudgetEntry:
    key, reservation_id, team, amount, state, held_at = row
    return BudgetEntry.model_validate(
        {
            "purchase_key": key,
            "reservation_id": reservation_id,
            "team": team,
            "amount": Decimal(text(amount)),
            "state": state,
            "held_at": time_of(text(held_at)),
        }
    )


class SqliteLoans:
    """See bot.ports.Loans."""

    def __init__(self, session: Session) -> None:
        self._session = session

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
        write = self._session.writing()
        if count <= 0 or start >= end:
            raise BugError(f"{count} machines from {start} to {end} cannot be held")
        held = self.held(ref, start=start, end=end)
        if held + count > free:
            raise ConflictError(f"{ref}: {held} of {free} machines are promised already")
        write(
            "insert into loan (reservation_id, ref, count, start_at, end_at)"
            " values (?, ?, ?, ?, ?)",
            (reservation_id, ref, count, time_text(start), time_text(end)),
        )

    def release(self, reservation_id: int) -> None:
        """See bot.ports."""
        self._session.writing()("delete from loan where reservation_id = ?", (reservation_id,))

    def held(self, ref: str, *, start: datetime, end: datetime) -> int:
        """See bot.ports."""
        rows = self._session.rows(
            "select start_at, end_at, count from loan"
            " where ref = ? and end_at > ? and start_at < ?",
            (ref, time_text(start), time_text(end)),
        )
        holds = (
            (time_of(text(begins)), time_of(text(ends)), number(count))
            for begins, ends, count in rows
        )
        return most_at_once(holds, start=start, end=end)
