"""Units of work: all or nothing, one view, one writer at a time, over every store."""

import threading
from collections.abc import Callable
from datetime import timedelta

import pytest

from bot.domain.errors import BugError, ConflictError, GpuBotError
from bot.domain.lifecycle import PurchaseState, ReservationState
from bot.ports import Store, Transaction
from tests.contract.store.samples import (
    at,
    delivery,
    due,
    entry,
    money,
    proposed,
    purchase,
    receipt,
    reservation,
    saying,
)

LEASE = timedelta(minutes=5)


class StopError(Exception):
    """The fault that a test injects."""


def _one_of_each(tx: Transaction) -> None:
    ids = proposed(tx)
    tx.purchases.add(purchase(*ids))
    tx.receipts.add(receipt(ids[0]))
    tx.budget.hold(money(ids[0]))
    tx.loans.hold(reservation_id=ids[0], ref="r", count=1, start=at(0), end=at(1), free=1)
    tx.dues.plan(due())
    tx.outbox.put("n", saying(), at=at(0))
    tx.audit.append(entry())
    tx.facts.put("f", "v", at=at(0))


def _everything(tx: Transaction) -> list[object]:
    return [
        tx.reservations.listing(),
        tx.proposals.current(1),
        tx.purchases.recent(),
        tx.receipts.of(1),
        tx.budget.entries(),
        tx.loans.held("r", start=at(0), end=at(1)) or (),
        tx.dues.next_at(),
        tx.outbox.next_at(),
        tx.audit.of(1),
        dict(tx.facts.starting_with("")),
    ]


def test_a_unit_that_fails_leaves_nothing(store: Store) -> None:
    with pytest.raises(StopError), store.transaction() as tx:
        _one_of_each(tx)
        assert all(_everything(tx))
        raise StopError
    with store.reading() as tx:
        assert not any(_everything(tx))
        assert tx.audit.verify() == ()


def test_a_unit_that_ends_well_is_seen_by_the_next(store: Store) -> None:
    with store.transaction() as tx:
        _one_of_each(tx)
    with store.reading() as tx:
        assert all(_everything(tx))


def test_a_refused_write_inside_a_unit_leaves_the_others_standing(store: Store) -> None:
    with store.transaction() as tx:
        ids = proposed(tx)
        tx.purchases.add(purchase(*ids))
        with pytest.raises(ConflictError):
            tx.purchases.add(purchase(*ids, id="gpubot-2"))
        tx.facts.put("f", "v", at=at(0))
    with store.reading() as tx:
        assert [one.id for one in tx.purchases.recent()] == ["gpubot-1"]
        assert tx.facts.get("f") == "v"


WRITES: dict[str, Callable[[Transaction], object]] = {
    "reservations.add": lambda tx: tx.reservations.add(reservation()),
    "reservations.save": lambda tx: tx.reservations.save(reservation(id=9)),
    "purchases.add": lambda tx: tx.purchases.add(purchase(1, 1)),
    "purchases.move": lambda tx: tx.purchases.move(
        purchase(1, 1), PurchaseState.SUBMITTED, at=at(0)
    ),
    "receipts.add": lambda tx: tx.receipts.add(receipt(1)),
    "receipts.save": lambda tx: tx.receipts.save(receipt(1)),
    "budget.hold": lambda tx: tx.budget.hold(money(1)),
    "budget.settle": lambda tx: tx.budget.settle("k", amount="1.00"),
    "budget.free": lambda tx: tx.budget.free("k"),
    "loans.release": lambda tx: tx.loans.release(1),
    "dues.plan": lambda tx: tx.dues.plan(due()),
    "dues.move": lambda tx: tx.dues.move("k", at(0)),
    "dues.claim": lambda tx: tx.dues.claim(now=at(0), lease=LEASE, limit=1),
    "dues.done": lambda tx: tx.dues.done("k", at=at(0)),
    "dues.put_back": lambda tx: tx.dues.put_back("k", not_before=at(0)),
    "dues.withdraw": lambda tx: tx.dues.withdraw("s"),
    "outbox.put": lambda tx: tx.outbox.put("k", saying(), at=at(0)),
    "outbox.redraw": lambda tx: tx.outbox.redraw("k", saying(), at=at(0)),
    "outbox.claim": lambda tx: tx.outbox.claim(now=at(0), lease=LEASE, limit=1),
    "outbox.sent": lambda tx: tx.outbox.sent("k", at=at(0), ref=None),
    "outbox.drop": lambda tx: tx.outbox.drop("k", at=at(0), error=""),
    "inbox.claim": lambda tx: tx.inbox.claim(now=at(0), lease=LEASE, limit=1),
    "inbox.done": lambda tx: tx.inbox.done(1, outcome=""),
    "inbox.confirm": lambda tx: tx.inbox.confirm(1),
    "audit.append": lambda tx: tx.audit.append(entry()),
    "facts.put": lambda tx: tx.facts.put("k", "v", at=at(0)),
    "facts.drop": lambda tx: tx.facts.drop("k"),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_reading_unit_never_writes(store: Store, write: Callable[[Transaction], object]) -> None:
    with store.reading() as tx, pytest.raises(BugError):
        write(tx)


def test_a_reading_unit_keeps_the_view_it_began_with(store: Store) -> None:
    with store.reading() as before:
        with store.transaction() as tx:
            tx.facts.put("f", "v", at=at(0))
        assert before.facts.get("f") is None
    with store.reading() as after:
        assert after.facts.get("f") == "v"


def test_what_is_not_committed_is_not_seen(store: Store) -> None:
    with store.transaction() as tx:
        tx.facts.put("f", "v", at=at(0))
        with store.reading() as other:
            assert other.facts.get("f") is None


def test_a_unit_inside_a_unit_is_a_bug_and_not_a_wait(store: Store) -> None:
    with store.transaction(), pytest.raises(BugError), store.transaction():
        pass
    with store.transaction() as tx:
        tx.facts.put("f", "v", at=at(0))


def test_a_unit_that_has_ended_is_not_used(store: Store) -> None:
    with store.transaction() as ended:
        pass
    with pytest.raises(BugError):
        ended.facts.get("f")
    with store.transaction(), pytest.raises(BugError):
        ended.facts.put("f", "v", at=at(0))


def test_a_closed_store_is_not_used(store: Store) -> None:
    store.close()
    with pytest.raises(BugError), store.transaction():
        pass
    with pytest.raises(BugError), store.reading():
        pass
    with pytest.raises(BugError):
        store.record(delivery(), patience=LEASE)


def _race(*runs: Callable[[], object]) -> list[object]:
    """Run all at once; return what each returned, or the error that it raised."""
    barrier = threading.Barrier(len(runs))
    results: list[object] = [None] * len(runs)

    def runner(number: int) -> None:
        barrier.wait()
        try:
            results[number] = runs[number]()
        except GpuBotError as error:
            results[number] = error

    threads = [threading.Thread(target=runner, args=(number,)) for number in range(len(runs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


@pytest.mark.parametrize("round_", range(10))
def test_of_two_writers_with_the_same_view_one_wins(store: Store, round_: int) -> None:
    with store.transaction() as tx:
        first = tx.reservations.add(reservation())

    def save(note: str) -> object:
        with store.transaction() as tx:
            return tx.reservations.save(
                first.model_copy(update={"note": note, "state": ReservationState.QUOTED})
            )

    results = _race(lambda: save("a"), lambda: save("b"))
    assert sum(isinstance(one, ConflictError) for one in results) == 1
    with store.reading() as tx:
        assert tx.reservations.get(first.id) in results


@pytest.mark.parametrize("round_", range(10))
def test_of_two_buyers_of_one_leg_one_wins(store: Store, round_: int) -> None:
    with store.transaction() as tx:
        ids = proposed(tx)

    def buy(name: str) -> None:
        with store.transaction() as tx:
            tx.purchases.add(purchase(*ids, id=name))

    results = _race(lambda: buy("a"), lambda: buy("b"))
    assert sum(isinstance(one, ConflictError) for one in results) == 1


def test_threads_that_claim_at_once_share_the_work(store: Store) -> None:
    with store.transaction() as tx:
        for number in range(40):
            tx.dues.plan(due(f"due-{number}"))

    def claim() -> list[str]:
        keys: list[str] = []
        for _ in range(5):
            with store.transaction() as tx:
                keys += [one.key for one in tx.dues.claim(now=at(0), lease=LEASE, limit=2)]
        return keys

    results = _race(*[claim] * 4)
    claimed = [key for keys in results for key in keys]  # type: ignore[attr-defined]  # no error here
    assert sorted(claimed) == sorted(f"due-{number}" for number in range(40))


def test_deliveries_recorded_at_once_are_all_kept_once(store: Store) -> None:
    def record(number: int) -> Callable[[], bool]:
        return lambda: store.record(delivery(f"t-{number % 8}"), patience=LEASE)

    results = _race(*(record(number) for number in range(16)))
    assert sorted(map(bool, results)) == [False] * 8 + [True] * 8
    with store.reading() as tx:
        assert tx.inbox.waiting() == 8
