"""No screen walks a whole table: every query of the store goes through an index."""

import re
import sqlite3
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from bot.domain.lifecycle import LIVE_RESERVATIONS, PurchaseState, ReservationState
from bot.ports import Store, Transaction
from storage.session import Session
from storage.sqlite import SqliteTransaction
from tests.contract.store.conftest import Open
from tests.contract.store.samples import at, entry, proposed, reservation

LEASE = timedelta(minutes=1)
SCREENS: dict[str, Callable[[Transaction], object]] = {
    "one": lambda tx: tx.reservations.get(1),
    "all": lambda tx: tx.reservations.listing(),
    "next page": lambda tx: tx.reservations.listing(before_id=9),
    "oldest": lambda tx: tx.reservations.listing(newest_first=False),
    "live": lambda tx: tx.reservations.listing(states=LIVE_RESERVATIONS, limit=1000),
    "ended": lambda tx: tx.reservations.listing(states={ReservationState.ENDED}),
    "mine": lambda tx: tx.reservations.listing(requester="U1"),
    "mine live": lambda tx: tx.reservations.listing(requester="U1", states=LIVE_RESERVATIONS),
    "team": lambda tx: tx.reservations.listing(team="vision"),
    "team live": lambda tx: tx.reservations.listing(team="vision", states=LIVE_RESERVATIONS),
    "same line": lambda tx: tx.reservations.same_line(requester="U1", line="x", since=at(0)),
    "audit": lambda tx: tx.audit.of(1),
    "append": lambda tx: tx.audit.append(entry()),
    "decision": lambda tx: tx.decisions.latest(1),
    "proposal": lambda tx: (tx.proposals.current(1), tx.proposals.given(1)),
    "purchases": lambda tx: tx.purchases.of(1),
    "ledger": lambda tx: tx.purchases.in_state([PurchaseState.SUBMITTED]),
    "receipts": lambda tx: tx.receipts.of(1),
    "budget": lambda tx: tx.budget.entries(team="vision", since=at(0), until=at(1)),
    "budget day": lambda tx: tx.budget.entries(since=at(0), until=at(1)),
    "loans": lambda tx: tx.loans.held("r", start=at(0), end=at(1)),
    "dues": lambda tx: tx.dues.claim(now=at(0), lease=LEASE, limit=9),
    "next due": lambda tx: (tx.dues.next_at(), tx.dues.waiting(now=at(0))),
    "inbox": lambda tx: tx.inbox.claim(now=at(0), lease=LEASE, limit=9),
    "where": lambda tx: tx.outbox.where("card"),
    "by key": lambda tx: tx.inbox.find("k"),
    "forgetting": lambda tx: (
        tx.inbox.prune(before=at(0), limit=9),
        tx.dues.prune(before=at(0), limit=9),
        tx.outbox.prune(before=at(0), untied_before=at(0), limit=9),
    ),
    "spent": lambda tx: tx.budget.spent(since=at(0), until=at(1)),
    "figures": lambda tx: tx.counts.figures(now=at(0), since=at(0), until=at(1)),
    "facts": lambda tx: (tx.facts.get("a"), tx.facts.starting_with("a:")),
}

PARTIAL = (
    "due_held|inbox_held|inbox_waiting|due_open|outbox_waiting|reservation_live|budget_held"
    "|approval_denied"
)
COUNTED = "proposal_by_state|purchase_by_state|sqlite_autoindex_approval_1"
WALK = re.compile(
    r"SCAN (reservation|audit|decision|proposal|approval|purchase|receipt|budget|loan|inbox"
    rf"|due|outbox|fact)(?! USING (COVERING )?INDEX ({PARTIAL})\b)"
    rf"(?! USING COVERING INDEX ({COUNTED})\b)"
)
"""A walk of a table. Walking a partial index of open work is what those indexes are for, and
counting states reads nothing but their index."""


class Watching(Session):
    """A session that asks for the plan of each statement before it runs."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__(connection, writable=True, holder="h:1:a")
        self._watched = connection
        self.plans: list[str] = []

    def rows(self, sql: str, values: Any = ()) -> Any:
        self._note(sql, values)
        return super().rows(sql, values)

    def row(self, sql: str, values: Any = ()) -> Any:
        self._note(sql, values)
        return super().row(sql, values)

    def _write(self, sql: str, values: Any) -> sqlite3.Cursor:
        self._note(sql, values)
        return super()._write(sql, values)

    def _note(self, sql: str, values: Any) -> None:
        plan = self._watched.execute(f"explain query plan {sql}", values).fetchall()
        self.plans += [f"{step} in {sql}" for *_, step in plan]


@pytest.mark.parametrize("screen", SCREENS.values(), ids=SCREENS)
def test_no_screen_walks_a_table(
    screen: Callable[[Transaction], object], open_again: Open, beside: sqlite3.Connection
) -> None:
    with open_again().transaction() as tx:
        proposed(tx)
    session = Watching(beside)
    screen(SqliteTransaction(session))
    assert session.plans
    assert [plan for plan in session.plans if WALK.search(plan)] == []


LIVE = {
    "all": {},
    "oldest": {"newest_first": False},
    "mine": {"requester": "U1"},
    "mine of a team": {"requester": "U1", "team": "vision"},
    "team": {"team": "vision"},
}


@pytest.mark.parametrize("how", LIVE.values(), ids=LIVE)
def test_live_rows_cost_the_same_among_any_number_of_ended_ones(
    how: dict[str, Any], open_again: Open, beside: sqlite3.Connection
) -> None:
    store = open_again()
    with store.transaction() as tx:
        tx.reservations.add(reservation())
    steps: list[int] = []
    for ended in (1, 400):
        _add_ended(store, ended)
        steps.append(0)
        beside.set_progress_handler(lambda: _count(steps), 1)
        session = Session(beside, writable=False, holder="h:1:a")
        found = SqliteTransaction(session).reservations.listing(states=LIVE_RESERVATIONS, **how)
        beside.set_progress_handler(None, 1)
        assert len(found) == 1
    assert steps[0] * 1.5 > steps[1] > 0


def _count(steps: list[int]) -> None:
    steps[-1] += 1


def _add_ended(store: Store, count: int) -> None:
    with store.transaction() as tx:
        for _ in range(count):
            tx.reservations.add(reservation(state=ReservationState.ENDED))
