"""What the database itself refuses, asked around the store."""

import sqlite3
from itertools import product

import pytest

from bot.domain.lifecycle import (
    LIVE_PURCHASES,
    PURCHASE_STEPS,
    ProposalState,
    PurchaseState,
    ReservationState,
)
from bot.ports import Store
from tests.contract.store.conftest import Open
from tests.contract.store.samples import at, entry, money, proposed, purchase


@pytest.fixture
def store(open_again: Open) -> Store:
    """Hold a store with one open proposal and one intended purchase."""
    opened = open_again()
    with opened.transaction() as tx:
        ids = proposed(tx)
        tx.purchases.add(purchase(*ids))
        tx.budget.hold(money(ids[0]))
        for number in range(4):
            tx.audit.append(entry(action=f"a{number}"))
    return opened


PURCHASE = (
    "insert into purchase (id, reservation_id, proposal_id, leg, attempt, state, intended_at,"
    " body) select ?, reservation_id, proposal_id, leg, 2, state, intended_at, body from purchase"
    " limit 1"
)


@pytest.mark.usefixtures("store")
def test_the_database_refuses_a_second_live_purchase_of_a_leg(
    beside: sqlite3.Connection,
) -> None:
    with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
        beside.execute(PURCHASE, ("gpubot-2",))


@pytest.mark.usefixtures("store")
def test_the_live_states_of_the_index_are_those_of_the_table(beside: sqlite3.Connection) -> None:
    (sql,) = beside.execute(
        "select sql from sqlite_schema where name = 'purchase_one_live'"
    ).fetchone()
    assert {state for state in PurchaseState if f"'{state}'" in sql} == LIVE_PURCHASES


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(("before", "after"), list(product(PurchaseState, PurchaseState)))
def test_the_database_knows_the_steps_of_a_purchase(
    beside: sqlite3.Connection, before: PurchaseState, after: PurchaseState
) -> None:
    beside.execute("begin")
    (step,) = beside.execute(
        "select sql from sqlite_schema where name = 'purchase_step'"
    ).fetchone()
    set_state = "update purchase set state = ?1, body = json_set(body, '$.state', ?1)"
    beside.execute("drop trigger purchase_step")
    beside.execute(set_state, (before,))
    beside.execute(step)
    if after in PURCHASE_STEPS[before]:
        assert beside.execute(set_state, (after,)).rowcount == 1
    else:
        with pytest.raises(sqlite3.IntegrityError, match="not in the table"):
            beside.execute(set_state, (after,))
    beside.execute("rollback")


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    "sql",
    [
        "delete from purchase",
        "update purchase set leg = 2",
        "update purchase set state = 'bought'",
        "update purchase set body = json_set(body, '$.state', 'confirmed')",
        "update reservation set state = 'lost'",
        "update reservation set body = json_set(body, '$.state', 'active')",
        "update reservation set revision = 'x'",
        "update budget set state = 'spent'",
        "insert into budget select * from budget",
        "update audit set actor = 'U2' where id = 2",
        "delete from audit where id = 4",
        (
            "insert into proposal (reservation_id, state, body)"
            " select reservation_id, state, body from proposal"
        ),
        (
            "insert into approval (proposal_id, approver, body)"
            " values (1, 'U9', '{}'), (1, 'U9', '{}')"
        ),
        (
            "insert into loan (reservation_id, ref, count, start_at, end_at)"
            " values (1, 'r', 0, 'a', 'b')"
        ),
        "insert into inbox (key, kind, body, received_at, late) values ('k', 'mail', '', '', 0)",
    ],
)
def test_the_database_refuses(beside: sqlite3.Connection, sql: str) -> None:
    with pytest.raises(sqlite3.IntegrityError):
        beside.execute(sql)


def test_every_state_of_the_code_is_known_to_the_database(
    store: Store, beside: sqlite3.Connection
) -> None:
    for table, states in (
        ("reservation", ReservationState),
        ("purchase", PurchaseState),
        ("proposal", ProposalState),
    ):
        (sql,) = beside.execute("select sql from sqlite_schema where name = ?", (table,)).fetchone()
        assert all(f"'{state}'" in sql for state in states), table


def _problems(store: Store) -> str:
    with store.reading() as tx:
        return " ".join(tx.audit.verify())


def _unguard(beside: sqlite3.Connection) -> None:
    beside.execute("drop trigger audit_unchanged")
    beside.execute("drop trigger audit_stays")


@pytest.mark.parametrize(
    "change",
    ["actor = 'U2'", "at = 'x'", "facts = '{}'", "facts = 'no'", "reservation_id = 2"],
)
def test_a_changed_audit_entry_is_found(
    store: Store, beside: sqlite3.Connection, change: str
) -> None:
    _unguard(beside)
    beside.execute(f"update audit set {change} where id = 2")  # noqa: S608 - a constant above
    assert _problems(store) == "Audit entry 2 was changed after it was written."


def test_a_removed_audit_entry_is_found(store: Store, beside: sqlite3.Connection) -> None:
    _unguard(beside)
    beside.execute("delete from audit where id = 2")
    assert _problems(store) == (
        "Audit entry 2 is missing. Audit entry 3 does not follow from the entry before it."
    )


def test_a_lost_end_of_the_audit_is_found(store: Store, beside: sqlite3.Connection) -> None:
    _unguard(beside)
    beside.execute("delete from audit where id > 2")
    assert _problems(store) == "Audit entry 3 is missing. Audit entry 4 is missing."


def test_a_forged_audit_entry_breaks_the_next_link(
    store: Store, beside: sqlite3.Connection
) -> None:
    _unguard(beside)
    beside.execute("update audit set hash = 'forged' where id = 2")
    problems = _problems(store)
    assert "entry 2 was changed" in problems
    assert "entry 3 does not follow" in problems


def test_times_in_the_file_sort_by_instant(store: Store, beside: sqlite3.Connection) -> None:
    moments = [at(0), at(0.00001), at(0.5), at(1), at(600000)]
    with store.transaction() as tx:
        for number, moment in enumerate(moments):
            tx.facts.put(str(number), "", at=moment)
    rows = beside.execute("select name from fact order by at").fetchall()
    assert [name for (name,) in rows] == ["0", "1", "2", "3", "4"]


def test_money_is_text_in_the_file(store: Store, beside: sqlite3.Connection) -> None:
    assert beside.execute("select typeof(amount), amount from budget").fetchone() == (
        "text",
        "1661.184",
    )


def test_every_table_is_strict(store: Store, beside: sqlite3.Connection) -> None:
    rows = beside.execute("select name, strict from pragma_table_list where schema = 'main'")
    loose = {name for name, strict in rows if not strict}
    assert loose == {"sqlite_schema", "sqlite_sequence", "_sqlite_migrations"}
