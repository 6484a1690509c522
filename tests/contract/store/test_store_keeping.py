"""What is forgotten and what stays, and what operators are shown, over every store."""

from datetime import timedelta
from decimal import Decimal

import pytest

from bot.domain.figures import Backlog
from bot.domain.lifecycle import ProposalState, PurchaseState, ReservationState
from bot.ports import Store
from tests.contract.store.samples import (
    approval,
    at,
    delivery,
    due,
    money,
    proposed,
    purchase,
    reservation,
    saying,
)

ENDED = ReservationState.ENDED
LEASE = timedelta(minutes=1)


def _reservation(store: Store, state: ReservationState) -> int:
    with store.transaction() as tx:
        return tx.reservations.add(reservation(state=state)).id


def test_a_delivery_is_found_by_its_key(store: Store) -> None:
    store.record(delivery("a"), patience=LEASE)
    store.record(delivery("b", late=True), patience=LEASE)
    with store.reading() as tx:
        found = tx.inbox.find("b")
        assert found is not None
        assert (found.id, found.key, found.late) == (2, "b", True)
        assert tx.inbox.find("c") is None


def test_deliveries_that_were_worked_on_long_ago_are_forgotten(store: Store) -> None:
    for number, key in enumerate(("old", "older", "new", "waiting", "late")):
        moment = at(60) if key == "new" else at(number)
        store.record(delivery(key, received_at=moment, late=key == "late"), patience=LEASE)
    with store.transaction() as tx:
        for number in (1, 2, 3):
            tx.inbox.done(number, outcome="done")
        assert tx.inbox.prune(before=at(10), limit=9) == 2
        kept = [key for key in ("old", "older", "new", "waiting", "late") if tx.inbox.find(key)]
    assert kept == ["new", "waiting", "late"]


def test_a_key_that_was_kept_is_known_and_one_that_was_forgotten_is_new(store: Store) -> None:
    for key in ("old", "new"):
        store.record(delivery(key, received_at=at(60 * (key == "new"))), patience=LEASE)
    with store.transaction() as tx:
        tx.inbox.done(1, outcome="done")
        tx.inbox.done(2, outcome="done")
        tx.inbox.prune(before=at(10), limit=9)
    assert not store.record(delivery("new"), patience=LEASE)
    assert store.record(delivery("old"), patience=LEASE)


def test_no_more_is_forgotten_at_once_than_asked(store: Store) -> None:
    with store.transaction() as tx:
        for number in range(5):
            tx.dues.plan(due(str(number), subject="digest"))
            tx.dues.done(str(number), at=at(1))
        assert [tx.dues.prune(before=at(10), limit=2) for _ in range(4)] == [2, 2, 1, 0]


@pytest.mark.parametrize("state", list(ReservationState))
def test_what_fell_due_is_forgotten_once_its_reservation_is_over(
    store: Store, state: ReservationState
) -> None:
    number = _reservation(store, state)
    over = state in {"ended", "declined", "expired", "cancelled", "failed", "shadowed"}
    with store.transaction() as tx:
        tx.dues.plan(due("a", subject=f"gpu-{number}"))
        tx.dues.done("a", at=at(1))
        assert tx.dues.prune(before=at(10), limit=9) == int(over)
        assert tx.dues.plan(due("a", subject=f"gpu-{number}")) == over


def test_open_and_young_due_rows_stay(store: Store) -> None:
    number = _reservation(store, ENDED)
    with store.transaction() as tx:
        tx.dues.plan(due("open", subject=f"gpu-{number}"))
        tx.dues.plan(due("young", subject=f"gpu-{number}", at=at(10)))
        tx.dues.done("young", at=at(10))
        assert tx.dues.prune(before=at(10), limit=9) == 0
        assert tx.dues.withdraw(f"gpu-{number}") == 1
        assert tx.dues.prune(before=at(10), limit=9) == 1


def test_messages_said_once_are_forgotten_when_their_reservation_is_over(store: Store) -> None:
    over, live = _reservation(store, ENDED), _reservation(store, ReservationState.ACTIVE)
    said = {
        "note": saying(reservation_id=over),
        "card": saying(kind="card", reservation_id=over),
        "live": saying(reservation_id=live),
        "untied": saying(),
        "home": saying(kind="home"),
        "waiting": saying(reservation_id=over),
        "last": saying(reservation_id=over),
    }
    with store.transaction() as tx:
        for key, announcement in said.items():
            tx.outbox.put(key, announcement, at=at(0))
        for key in said:
            if key != "waiting":
                tx.outbox.sent(key, at=at(20 if key == "last" else 1), ref=None)
        assert tx.outbox.prune(before=at(10), untied_before=at(0), limit=9) == 1
        assert tx.outbox.put("note", saying(), at=at(30))
        assert not tx.outbox.put("untied", saying(), at=at(30))
        assert tx.outbox.prune(before=at(10), untied_before=at(2), limit=9) == 1
        assert tx.outbox.put("untied", saying(), at=at(30))
        for key in ("card", "live", "home", "waiting", "last"):
            assert not tx.outbox.put(key, saying(), at=at(30))


def test_messages_go_on_in_order_after_all_but_the_last_were_forgotten(store: Store) -> None:
    number = _reservation(store, ENDED)
    with store.transaction() as tx:
        for key in ("a", "b"):
            tx.outbox.put(key, saying(reservation_id=number), at=at(0))
            tx.outbox.sent(key, at=at(1), ref=None)
        tx.outbox.prune(before=at(10), untied_before=at(10), limit=9)
        for key in ("c", "d"):
            tx.outbox.put(key, saying(reservation_id=number), at=at(20))
        claimed = tx.outbox.claim(now=at(30), lease=LEASE, limit=9)
    assert [one.key for one in claimed] == ["c", "d"]


def test_figures_count_records_by_state(store: Store) -> None:
    with store.transaction() as tx:
        first, proposal_id = proposed(tx)
        tx.reservations.add(reservation(state=ENDED))
        tx.proposals.give(approval(proposal_id))
        tx.proposals.give(approval(proposal_id, approver="U3"))
        tx.proposals.give(approval(proposal_id, approver="U4", verdict="deny"))
        tx.proposals.move(tx.proposals.get(proposal_id), ProposalState.APPROVED)
        bought = purchase(first, proposal_id)
        tx.purchases.add(bought)
        tx.purchases.move(bought, PurchaseState.SUBMITTED, at=at(1))
        figures = tx.counts.figures(now=at(0), since=at(0), until=at(1))
    assert figures.reservations == {ReservationState.REQUESTED: 1}
    assert figures.proposals == {ProposalState.APPROVED: 1}
    assert figures.verdicts == {"approve": 2, "deny": 1}
    assert figures.purchases == {PurchaseState.SUBMITTED: 1}


def test_figures_sum_all_money_held_and_what_was_committed_in_that_time(store: Store) -> None:
    with store.transaction() as tx:
        number, _ = proposed(tx)
        for place, (team, moment, state) in enumerate(
            (
                ("vision", 0, "held"),
                ("vision", -900, "held"),
                (None, 0, "held"),
                ("vision", 0, "committed"),
                ("vision", -900, "committed"),
                ("vision", 5, "committed"),
                ("vision", 0, "freed"),
            )
        ):
            key = str(place)
            amount = Decimal(f"{10**place}.001")
            tx.budget.hold(
                money(number, purchase_key=key, team=team, held_at=at(moment), amount=amount)
            )
            if state == "committed":
                tx.budget.settle(key, amount=str(amount))
            if state == "freed":
                tx.budget.free(key)
    with store.reading() as tx:
        figures = tx.counts.figures(now=at(0), since=at(0), until=at(5))
    assert figures.held == {"vision": Decimal("11.002"), "": Decimal("100.001")}
    assert figures.committed == {"vision": Decimal("1000.001")}


def test_figures_show_what_waits_and_since_when(store: Store) -> None:
    nothing = Backlog(count=0)
    with store.reading() as tx:
        empty = tx.counts.figures(now=at(9), since=at(0), until=at(1))
    assert (empty.inbox, empty.outbox, empty.due) == (nothing, nothing, nothing)
    for number, late in ((3, False), (4, False), (1, True)):
        store.record(delivery(str(number), received_at=at(number), late=late), patience=LEASE)
    with store.transaction() as tx:
        for number in (5, 6, 20):
            tx.outbox.put(str(number), saying(), at=at(number))
            tx.dues.plan(due(str(number), at=at(number)))
        figures = tx.counts.figures(now=at(9), since=at(0), until=at(1))
    assert figures.inbox == Backlog(count=2, oldest=at(3))
    assert figures.outbox == Backlog(count=2, oldest=at(5))
    assert figures.due == Backlog(count=2, oldest=at(5))
