"""What several parts of one reservation mean together."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from bot.domain.lifecycle import PurchaseState, ReservationState
from bot.domain.market import Kind, Segment
from bot.domain.records import Purchase, Receipt
from bot.services.reservations.looking import state_from

START = datetime(2027, 3, 12, 11, 30, tzinfo=UTC)
END = datetime(2027, 3, 14, 11, 30, tzinfo=UTC)
_S = ReservationState


def part(state: str, *, gone: bool = False) -> Receipt:
    return Receipt(
        id="cr-1",
        purchase_id="p1",
        reservation_id=1,
        kind=Kind.CAPACITY_BLOCK,
        account="research",
        region="us-east-1",
        zone="us-east-1b",
        instance_type="p5.48xlarge",
        instance_count=2,
        target=None,
        segments=(Segment(start=START, end=END),),
        state=state,
        checked_at=START,
        gone=gone,
    )


@pytest.mark.parametrize(
    ("parts", "before", "wanted"),
    [
        ([part("active"), part("payment-failed")], _S.SCHEDULED, _S.ACTIVE),
        ([part("payment-pending"), part("scheduled")], _S.PAYMENT_PENDING, _S.PAYMENT_PENDING),
        ([part("expired"), part("expired")], _S.ACTIVE, _S.ENDED),
        ([part("expired"), part("payment-failed")], _S.ACTIVE, _S.ENDED),
        ([part("active", gone=True), part("payment-failed")], _S.ACTIVE, _S.ENDED),
        ([part("payment-failed"), part("failed")], _S.SCHEDULED, _S.FAILED),
        ([part("payment-pending", gone=True)], _S.PAYMENT_PENDING, _S.FAILED),
        ([part("active", gone=True)], _S.ACTIVE, _S.ENDED),
        ([part("a-word-of-tomorrow"), part("expired")], _S.ACTIVE, None),
        ([], _S.SCHEDULED, None),
    ],
)
def test_parts_fail_together_only_when_none_of_them_ran(parts, before, wanted) -> None:
    assert state_from(parts, before=before, now=START - timedelta(hours=1)) is wanted


def test_what_aws_forgot_after_its_start_may_have_run_and_has_ended() -> None:
    parts = [part("payment-pending", gone=True)]
    assert state_from(parts, before=_S.PAYMENT_PENDING, now=START) is _S.ENDED


def second_part(world, reservation, state: str) -> None:
    """Put another leg of the same reservation in the books."""
    with world.store.transaction() as tx:
        [first] = tx.receipts.of(reservation.id)
        bought = tx.purchases.get(first.purchase_id)
        again = Purchase.model_validate(
            bought.model_dump()
            | {
                "id": "p-second",
                "leg": bought.leg.model_copy(update={"number": 2}),
                "state": PurchaseState.INTENDED,
                "fee": Decimal("500.00"),
                "submitted_at": None,
                "settled_at": None,
            }
        )
        tx.purchases.add(again)
        sent = tx.purchases.move(again, PurchaseState.SUBMITTED, at=world.clock.now())
        tx.purchases.move(sent, PurchaseState.CONFIRMED, at=world.clock.now())
        own = {"id": "cr-second", "purchase_id": "p-second", "revision": 0, "state": state}
        tx.receipts.add(first.model_copy(update=own))


def test_a_join_of_which_a_part_failed_ends_with_its_report_and_is_cleaned_up(world) -> None:
    reservation = world.bought(START, END)
    second_part(world, reservation, "scheduled")
    shown = world.holdings.shown
    shown["cr-second"] = {"state": "payment-failed"}
    world.run_until(START + timedelta(minutes=5))
    [said] = world.saying("payment-failed")
    assert "the other parts are looked at apart" in said
    assert "reminders are withdrawn" not in said
    shown[f"cr-{reservation.id}"] = {"state": "active", "total_count": 2, "available_count": 0}
    world.run_until(END)
    shown[f"cr-{reservation.id}"] = {"state": "expired"}
    world.run_until(END + timedelta(hours=1))
    [ended] = world.saying("has ended")
    assert "$1,105.10 paid" in ended
    assert "of 95.0 machine-hours" in ended
    with world.store.reading() as tx:
        assert tx.reservations.get(reservation.id).state is ReservationState.ENDED


def test_what_aws_forgets_before_it_is_paid_has_failed_and_is_looked_at_no_more(world) -> None:
    reservation = world.bought(START, END, state="payment-pending")
    world.holdings.lost.add(f"cr-{reservation.id}")
    world.run_until(world.clock.now() + timedelta(minutes=10))
    with world.store.reading() as tx:
        assert tx.reservations.get(reservation.id).state is ReservationState.FAILED
    assert len(world.saying("no longer known")) == 1
    looks = len(world.holdings.asked)
    world.run_until(END)
    assert len(world.holdings.asked) == looks
    assert world.saying("save your work") == []


def test_of_what_aws_forgot_at_the_start_it_is_not_said_that_i_keep_looking(world) -> None:
    reservation = world.bought(START, END)
    world.run_until(START - timedelta(minutes=20))
    world.clock.set(START + timedelta(hours=3))
    world.holdings.lost.add(f"cr-{reservation.id}")
    world.settle()
    assert len(world.saying("no longer known")) == 1
    assert world.saying("Not active yet") == []


def test_what_was_paid_ran_and_ended_while_nobody_looked_has_ended(world) -> None:
    reservation = world.bought(START, END, state="payment-pending")
    world.clock.set(END + timedelta(hours=1))
    world.holdings.shown[f"cr-{reservation.id}"] = {"state": "expired"}
    world.settle()
    with world.store.reading() as tx:
        assert tx.reservations.get(reservation.id).state is _S.ENDED
    assert len(world.saying("has ended")) == 1
    assert world.saying("Paid: AWS shows") == []
    assert [line for line in world.log.lines if "step failed" in line] == []
