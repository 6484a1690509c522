"""What was worked off long ago is forgotten in small steps; what still guards a promise stays."""

from datetime import UTC, datetime, timedelta

import pytest

from bot.domain.errors import BusyError
from bot.domain.lifecycle import ReservationState
from bot.domain.records import Delivery, Due, Reservation
from bot.domain.request import Request
from bot.domain.saying import Announcement, Audience
from bot.ports import Store
from bot.services.pruning import BATCH, EVERY, KEEP, KEEP_UNTIED, Pruning
from storage import open_store
from tests.fakes.clock import FakeClock

NOW = datetime(2027, 3, 10, 15, tzinfo=UTC)


@pytest.fixture
def store() -> Store:
    return open_store("memory://")


def _worked_off(store: Store, count: int, at: datetime) -> None:
    for number in range(count):
        key = f"{at}:{number}"
        store.record(
            Delivery(key=key, kind="event", body="{}", received_at=at), patience=timedelta(1)
        )
    with store.transaction() as tx:
        for number in range(1, count + 1):
            tx.inbox.done(number, outcome="done")


def test_it_goes_on_batch_by_batch_until_nothing_old_is_left(store: Store) -> None:
    _worked_off(store, BATCH + 1, NOW - KEEP - timedelta(seconds=1))
    pruning = Pruning(store=store, clock=FakeClock(NOW))
    assert [pruning.step() for _ in range(3)] == [BATCH, 1, 0]


def test_what_is_not_thirty_days_old_stays(store: Store) -> None:
    _worked_off(store, 1, NOW - KEEP)
    clock = FakeClock(NOW)
    assert Pruning(store=store, clock=clock).step() == 0
    clock.advance(timedelta(seconds=1))
    assert Pruning(store=store, clock=clock).step() == 1


def test_it_rests_for_hours_when_nothing_is_left(store: Store) -> None:
    clock = FakeClock(NOW)
    pruning = Pruning(store=store, clock=clock)
    assert pruning.step() == 0
    _worked_off(store, 1, NOW - KEEP - EVERY)
    assert pruning.step() == 0
    clock.advance(EVERY)
    assert pruning.step() == 1


def test_a_busy_database_is_left_alone_until_the_next_time(store: Store) -> None:
    class Busy:
        def transaction(self) -> None:
            raise BusyError("locked")

    pruning = Pruning(store=Busy(), clock=FakeClock(NOW))  # type: ignore[arg-type]  # only this is asked
    assert pruning.step() == 0


def test_the_ledger_the_audit_and_living_cards_are_never_forgotten(store: Store) -> None:
    long_ago = NOW - 3 * KEEP_UNTIED
    with store.transaction() as tx:
        stored = tx.reservations.add(
            Reservation(
                state=ReservationState.ENDED, workspace="T", requester="U", owner="U", team=None,
                channel="C", request=Request(), line="x", zone="UTC", locale="en",
                created_at=long_ago, updated_at=long_ago,
            )
        )  # fmt: skip
        tx.dues.plan(Due(key="d", kind="quote", subject=f"gpu-{stored.id}", at=long_ago))
        tx.dues.done("d", at=long_ago)
        for kind in ("card", "approval", "home", "note"):
            tx.outbox.put(
                kind,
                Announcement(kind=kind, to=Audience(channel="C"), reservation_id=stored.id),  # type: ignore[arg-type]  # one of its kinds
                at=long_ago,
            )
            tx.outbox.sent(kind, at=long_ago, ref=None)
        tx.outbox.put("last", Announcement(kind="home", to=Audience(user="U")), at=NOW)
    pruning = Pruning(store=store, clock=FakeClock(NOW))
    assert [pruning.step(), pruning.step()] == [2, 0]
    with store.transaction() as tx:
        assert tx.reservations.get(stored.id) == stored
        kept = [
            kind
            for kind in ("card", "approval", "home", "note")
            if not tx.outbox.put(kind, Announcement(kind="note", to=Audience(channel="C")), at=NOW)
        ]
    assert kept == ["card", "approval", "home"]
