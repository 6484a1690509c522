"""Purchases, receipts, money and loans, over every store."""

from decimal import Decimal

import pytest

from bot.domain.errors import BugError, ConflictError, StateError, UnknownRecordError
from bot.domain.lifecycle import LIVE_PURCHASES, PURCHASE_STEPS, ProposalState, PurchaseState
from bot.domain.records import Purchase
from bot.ports import Store, Transaction
from tests.contract.store.samples import (
    at,
    leg,
    money,
    proposal,
    proposed,
    purchase,
    receipt,
    reservation,
)

WAYS = {
    PurchaseState.INTENDED: (),
    PurchaseState.SUBMITTED: (PurchaseState.SUBMITTED,),
    PurchaseState.CONFIRMED: (PurchaseState.SUBMITTED, PurchaseState.CONFIRMED),
    PurchaseState.REFUSED: (PurchaseState.SUBMITTED, PurchaseState.REFUSED),
    PurchaseState.INDETERMINATE: (PurchaseState.SUBMITTED, PurchaseState.INDETERMINATE),
    PurchaseState.WITHDRAWN: (PurchaseState.WITHDRAWN,),
    PurchaseState.SHADOWED: (PurchaseState.SHADOWED,),
}


def _in(tx: Transaction, state: PurchaseState, stored: Purchase) -> Purchase:
    tx.purchases.add(stored)
    for step in WAYS[state]:
        stored = tx.purchases.move(stored, step, at=at(1))
    return stored


@pytest.mark.parametrize("state", PurchaseState)
def test_a_leg_has_one_live_purchase(store: Store, state: PurchaseState) -> None:
    with store.transaction() as tx:
        ids = proposed(tx)
        _in(tx, state, purchase(*ids))
        second = purchase(*ids, id="gpubot-2", attempt=2)
        if state in LIVE_PURCHASES:
            with pytest.raises(ConflictError):
                tx.purchases.add(second)
        else:
            tx.purchases.add(second)
            assert tx.purchases.get("gpubot-2") == second


def test_another_leg_or_another_reservation_is_bought_beside_it(store: Store) -> None:
    with store.transaction() as tx:
        first, second = proposed(tx), proposed(tx)
        tx.purchases.add(purchase(*first))
        tx.purchases.add(purchase(*first, id="gpubot-2", leg=leg(number=2)))
        tx.purchases.add(purchase(*second, id="gpubot-3"))
        assert [one.id for one in tx.purchases.of(first[0])] == ["gpubot-1", "gpubot-2"]


def test_a_new_proposal_does_not_free_a_leg(store: Store) -> None:
    with store.transaction() as tx:
        reservation_id, first = proposed(tx)
        tx.purchases.add(purchase(reservation_id, first))
        tx.proposals.move(tx.proposals.get(first), ProposalState.SUPERSEDED)
        second = tx.proposals.add(proposal(reservation_id)).id
        with pytest.raises(ConflictError):
            tx.purchases.add(purchase(reservation_id, second, id="gpubot-2"))


@pytest.mark.parametrize("after", PurchaseState)
@pytest.mark.parametrize("before", PurchaseState)
def test_a_purchase_takes_only_the_steps_of_the_table(
    store: Store, before: PurchaseState, after: PurchaseState
) -> None:
    with store.transaction() as tx:
        stored = _in(tx, before, purchase(*proposed(tx)))
        if after in PURCHASE_STEPS[before]:
            assert tx.purchases.move(stored, after, at=at(2)).state is after
        else:
            with pytest.raises(StateError):
                tx.purchases.move(stored, after, at=at(2))
            assert tx.purchases.get(stored.id) == stored


def test_a_purchase_starts_as_intended(store: Store) -> None:
    with store.transaction() as tx, pytest.raises(BugError):
        tx.purchases.add(purchase(*proposed(tx), state=PurchaseState.SUBMITTED))


def test_a_stale_mover_loses(store: Store) -> None:
    with store.transaction() as tx:
        intended = purchase(*proposed(tx))
        tx.purchases.add(intended)
        tx.purchases.move(intended, PurchaseState.SUBMITTED, at=at(1))
        with pytest.raises(ConflictError):
            tx.purchases.move(intended, PurchaseState.SUBMITTED, at=at(2))
        assert tx.purchases.get(intended.id).submitted_at == at(1)


def test_a_move_sets_its_times_and_what_was_bought(store: Store) -> None:
    with store.transaction() as tx:
        intended = purchase(*proposed(tx))
        tx.purchases.add(intended)
        submitted = tx.purchases.move(
            intended, PurchaseState.SUBMITTED, at=at(1), offering_ref="cb-2", fee="1661.10"
        )
        doubtful = tx.purchases.move(
            submitted, PurchaseState.INDETERMINATE, at=at(2), outcome="timeout"
        )
        tx.purchases.move(doubtful, PurchaseState.CONFIRMED, at=at(3))
    assert submitted == intended.model_copy(
        update={
            "state": PurchaseState.SUBMITTED,
            "submitted_at": at(1),
            "offering_ref": "cb-2",
            "fee": Decimal("1661.10"),
        }
    )
    assert (doubtful.settled_at, doubtful.outcome) == (None, "timeout")
    with store.reading() as tx:
        assert tx.purchases.get(intended.id) == doubtful.model_copy(
            update={"state": PurchaseState.CONFIRMED, "settled_at": at(3)}
        )


def test_a_purchase_belongs_to_a_reservation_and_a_proposal(store: Store) -> None:
    with store.transaction() as tx:
        reservation_id, proposal_id = proposed(tx)
        with pytest.raises(UnknownRecordError):
            tx.purchases.add(purchase(reservation_id, 99))
        with pytest.raises(UnknownRecordError):
            tx.purchases.add(purchase(99, proposal_id))
        with pytest.raises(UnknownRecordError):
            tx.purchases.get("gpubot-1")


def test_purchases_are_found_by_state_and_age(store: Store) -> None:
    with store.transaction() as tx:
        ids = proposed(tx)
        for number, minutes in ((1, 3), (2, 1), (3, 2)):
            tx.purchases.add(
                purchase(
                    *ids,
                    id=f"gpubot-{number}",
                    leg=leg(number=number),
                    intended_at=at(minutes),
                )
            )
        tx.purchases.move(tx.purchases.get("gpubot-3"), PurchaseState.SUBMITTED, at=at(4))
    live = [PurchaseState.INTENDED, PurchaseState.SUBMITTED]
    with store.reading() as tx:
        assert [one.id[-1] for one in tx.purchases.in_state(live)] == ["2", "3", "1"]
        assert [one.id[-1] for one in tx.purchases.in_state(live[:1])] == ["2", "1"]
        assert [one.id[-1] for one in tx.purchases.recent()] == ["1", "3", "2"]
        assert [one.id[-1] for one in tx.purchases.recent(limit=1)] == ["1"]
        assert tx.purchases.in_state([]) == ()


def test_attempts_of_a_leg_are_listed_in_order(store: Store) -> None:
    with store.transaction() as tx:
        ids = proposed(tx)
        for attempt in (1, 2, 3):
            _in(
                tx,
                PurchaseState.REFUSED,
                purchase(*ids, id=f"p-{9 - attempt}", attempt=attempt),
            )
        tx.purchases.add(purchase(*ids, id="p-0", leg=leg(number=2)))
        assert [one.id for one in tx.purchases.of(ids[0])] == ["p-8", "p-7", "p-6", "p-0"]


def test_a_receipt_is_added_once(store: Store) -> None:
    with store.transaction() as tx:
        ids = proposed(tx)
        first = tx.receipts.add(receipt(ids[0]))
        again = tx.receipts.add(receipt(ids[0], state="active"))
    assert first == again == receipt(ids[0], revision=1)


def test_a_stale_look_at_a_receipt_loses(store: Store) -> None:
    with store.transaction() as tx:
        first = tx.receipts.add(receipt(proposed(tx)[0]))
        second = tx.receipts.save(first.model_copy(update={"state": "active"}))
        with pytest.raises(ConflictError):
            tx.receipts.save(first.model_copy(update={"gone": True}))
        assert tx.receipts.get(first.id) == second
    assert (second.revision, second.state) == (2, "active")


def test_a_receipt_stays_with_its_reservation(store: Store) -> None:
    with store.transaction() as tx:
        stored = tx.receipts.add(receipt(proposed(tx)[0]))
        other = proposed(tx)[0]
        with pytest.raises(BugError):
            tx.receipts.save(stored.model_copy(update={"reservation_id": other}))


def test_an_unknown_receipt_is_said_to_be_unknown(store: Store) -> None:
    with store.transaction() as tx:
        with pytest.raises(UnknownRecordError):
            tx.receipts.get("cr-1")
        with pytest.raises(UnknownRecordError):
            tx.receipts.save(receipt(1, revision=1))
        with pytest.raises(UnknownRecordError):
            tx.receipts.add(receipt(1))


def test_receipts_are_listed_in_the_order_they_came(store: Store) -> None:
    with store.transaction() as tx:
        reservation_id, _ = proposed(tx)
        for name in ("z", "a", "m"):
            tx.receipts.add(receipt(reservation_id, id=name))
        assert [one.id for one in tx.receipts.of(reservation_id)] == ["z", "a", "m"]
        assert tx.receipts.of(99) == ()


def test_money_comes_back_to_the_digit(store: Store) -> None:
    amounts = ["0.10", "1661.184", "1105.60", "2000000.00", "0.000001"]
    with store.transaction() as tx:
        reservation_id, _ = proposed(tx)
        for number, amount in enumerate(amounts):
            tx.budget.hold(money(reservation_id, purchase_key=str(number), amount=Decimal(amount)))
    with store.reading() as tx:
        entries = tx.budget.entries()
    assert [str(entry.amount) for entry in entries] == amounts
    assert sum(entry.amount for entry in entries) == Decimal("2002766.884001")


def test_what_is_spent_is_held_or_committed_of_that_team_and_time_and_not_set_apart(
    store: Store,
) -> None:
    with store.transaction() as tx:
        reservation_id, _ = proposed(tx)
        for number, change in enumerate(
            ({}, {"held_at": at(1)}, {"team": "audio"}, {"held_at": at(5)}, {"held_at": at(-1)}, {})
        ):
            key = {"purchase_key": str(number), "amount": Decimal(f"{10**number}.001")}
            tx.budget.hold(money(reservation_id, **{**key, **change}))
        tx.budget.settle("0", amount="2.005")
        tx.budget.free("5")
    with store.reading() as tx:
        times = {"since": at(0), "until": at(5)}
        assert tx.budget.spent(**times) == Decimal("112.007")
        assert tx.budget.spent(**times, team="vision") == Decimal("12.006")
        assert tx.budget.spent(**times, apart=("0", "2")) == Decimal("10.001")
        assert tx.budget.spent(since=at(6), until=at(7)) == 0


def test_money_is_held_once_until_it_is_freed(store: Store) -> None:
    with store.transaction() as tx:
        reservation_id, _ = proposed(tx)
        tx.budget.hold(money(reservation_id))
        with pytest.raises(ConflictError):
            tx.budget.hold(money(reservation_id))
        tx.budget.free("gpu-1/1")
        tx.budget.free("gpu-1/1")
        tx.budget.hold(money(reservation_id, amount=Decimal("7.50"), held_at=at(5)))
        assert tx.budget.entries() == (
            money(reservation_id, amount=Decimal("7.50"), held_at=at(5)),
        )


def test_settling_commits_the_exact_amount_once(store: Store) -> None:
    with store.transaction() as tx:
        reservation_id, _ = proposed(tx)
        tx.budget.hold(money(reservation_id))
        tx.budget.settle("gpu-1/1", amount="1660.00")
        tx.budget.settle("gpu-1/1", amount="1660.00")
        settled = money(reservation_id, state="committed", amount=Decimal("1660.00"))
        assert tx.budget.entries() == (settled,)
        with pytest.raises(StateError):
            tx.budget.settle("gpu-1/1", amount="1659.99")
        with pytest.raises(ConflictError):
            tx.budget.hold(money(reservation_id))
        tx.budget.free("gpu-1/1")
        with pytest.raises(StateError):
            tx.budget.settle("gpu-1/1", amount="1660.00")
        assert tx.budget.entries() == (settled.model_copy(update={"state": "freed"}),)


def test_money_that_is_not_held_cannot_be_settled(store: Store) -> None:
    with store.transaction() as tx:
        with pytest.raises(UnknownRecordError):
            tx.budget.settle("gpu-1/1", amount="1.00")
        with pytest.raises(UnknownRecordError):
            tx.budget.hold(money(99))
        with pytest.raises(BugError):
            tx.budget.hold(money(99, state="committed"))
        tx.budget.free("gpu-1/1")
        assert tx.budget.entries() == ()


def test_entries_are_chosen_by_team_time_and_reservation(store: Store) -> None:
    with store.transaction() as tx:
        first, second = proposed(tx)[0], proposed(tx)[0]
        for key, team, minutes, owner in (
            ("a", "vision", 0, first),
            ("b", "speech", 1, first),
            ("c", None, 2, second),
            ("d", "vision", 2, second),
        ):
            tx.budget.hold(money(owner, purchase_key=key, team=team, held_at=at(minutes)))

    def keys(**terms: object) -> str:
        with store.reading() as tx:
            return "".join(one.purchase_key for one in tx.budget.entries(**terms))  # type: ignore[arg-type]  # terms vary

    assert keys() == "abcd"
    assert keys(team="vision") == "ad"
    assert keys(since=at(1)) == "bcd"
    assert keys(until=at(2)) == "ab"
    assert keys(team="vision", since=at(0), until=at(1)) == "a"
    assert keys(reservation_id=second) == "cd"


def test_overlapping_loans_never_exceed_what_is_free(store: Store) -> None:
    with store.transaction() as tx:
        one, two = (tx.reservations.add(reservation()).id for _ in range(2))
        tx.loans.hold(reservation_id=one, ref="cr-1", count=3, start=at(0), end=at(60), free=4)
        with pytest.raises(ConflictError):
            tx.loans.hold(reservation_id=two, ref="cr-1", count=2, start=at(59), end=at(90), free=4)
        tx.loans.hold(reservation_id=two, ref="cr-1", count=1, start=at(59), end=at(90), free=4)
        tx.loans.hold(reservation_id=two, ref="cr-2", count=4, start=at(0), end=at(60), free=4)
        assert tx.loans.held("cr-1", start=at(0), end=at(90)) == 4
        assert tx.loans.held("cr-1", start=at(60), end=at(90)) == 1
        assert tx.loans.held("cr-1", start=at(90), end=at(99)) == 0


def test_loans_that_follow_each_other_share_machines(store: Store) -> None:
    with store.transaction() as tx:
        one = tx.reservations.add(reservation()).id
        for hour in range(3):
            tx.loans.hold(
                reservation_id=one,
                ref="cr-1",
                count=4,
                start=at(60 * hour),
                end=at(60 * hour + 60),
                free=4,
            )
        assert tx.loans.held("cr-1", start=at(0), end=at(180)) == 4


def test_released_loans_can_be_promised_again(store: Store) -> None:
    with store.transaction() as tx:
        one, two = (tx.reservations.add(reservation()).id for _ in range(2))
        terms = {"ref": "cr-1", "count": 4, "start": at(0), "end": at(60), "free": 4}
        tx.loans.hold(reservation_id=one, **terms)  # type: ignore[arg-type]  # one set of terms
        tx.loans.release(one)
        tx.loans.release(one)
        tx.loans.hold(reservation_id=two, **terms)  # type: ignore[arg-type]  # one set of terms
        assert tx.loans.held("cr-1", start=at(0), end=at(60)) == 4


@pytest.mark.parametrize(("count", "minutes"), [(0, 60), (-1, 60), (1, 0)])
def test_no_machines_or_no_time_is_no_loan(store: Store, count: int, minutes: int) -> None:
    with store.transaction() as tx, pytest.raises(BugError):
        tx.loans.hold(
            reservation_id=1, ref="cr-1", count=count, start=at(0), end=at(minutes), free=4
        )
