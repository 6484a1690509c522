from datetime import UTC, datetime, timedelta

from bot.domain.lifecycle import ReservationState
from bot.domain.records import BudgetEntry

START = datetime(2027, 3, 12, 11, 30, tzinfo=UTC)
END = datetime(2027, 3, 14, 11, 30, tzinfo=UTC)


def state_of(world, reservation) -> ReservationState:
    with world.store.reading() as tx:
        return tx.reservations.get(reservation.id).state


def test_ready_is_said_once_and_only_when_aws_says_active(world) -> None:
    reservation = world.bought(START, END)
    world.run_until(START + timedelta(minutes=3))
    assert world.saying("is ready") == []
    world.run_until(START + timedelta(minutes=4))
    world.holdings.shown[f"cr-{reservation.id}"] = {"state": "active"}
    world.run_until(START + timedelta(minutes=5))
    [said] = world.saying("is ready")
    assert f"cr-{reservation.id}" in said
    assert "us-east-1b" in said
    assert "2 x p5.48xlarge" in said
    assert "2027-03-14T11:00Z" in said
    assert state_of(world, reservation) is ReservationState.ACTIVE
    world.run_until(START + timedelta(hours=5))
    assert len(world.saying("is ready")) == 1


def test_a_block_that_stays_scheduled_is_warned_of_exactly_once(world) -> None:
    world.bought(START, END)
    world.run_until(START + timedelta(minutes=14))
    assert world.saying("Not active yet") == []
    world.run_until(START + timedelta(minutes=16))
    assert len(world.saying("Not active yet")) == 1
    world.run_until(START + timedelta(hours=2))
    assert len(world.saying("Not active yet")) == 1
    assert world.saying("is ready") == []


def test_a_payment_that_fails_frees_the_money_and_withdraws_the_reminders(world) -> None:
    reservation = world.bought(START, END, state="payment-pending")
    world.holdings.shown[f"cr-{reservation.id}"] = {"state": "payment-failed"}
    world.run_until(world.clock.now() + timedelta(hours=1))
    assert state_of(world, reservation) is ReservationState.FAILED
    [said] = world.saying("payment-failed")
    assert "U0ANA" in said
    assert "U0BRUNO" in said
    with world.store.reading() as tx:
        [entry] = tx.budget.entries()
    assert isinstance(entry, BudgetEntry)
    assert entry.state == "freed"
    world.run_until(END)
    assert world.saying("starts") == []
    assert world.saying("save your work") == []


def test_payment_pending_becomes_scheduled_only_by_aws_word(world) -> None:
    reservation = world.bought(START, END, state="payment-pending")
    world.run_until(world.clock.now() + timedelta(minutes=30))
    assert state_of(world, reservation) is ReservationState.PAYMENT_PENDING
    world.holdings.shown[f"cr-{reservation.id}"] = {"state": "scheduled"}
    world.run_until(world.clock.now() + timedelta(minutes=30))
    assert state_of(world, reservation) is ReservationState.SCHEDULED
    assert len(world.saying("Paid: AWS shows")) == 1


def test_one_id_that_aws_does_not_know_never_breaks_the_others(world) -> None:
    first, second, third = (world.bought(START, END) for _ in range(3))
    world.holdings.lost.add(f"cr-{second.id}")
    for other in (first, third):
        world.holdings.shown[f"cr-{other.id}"] = {"state": "active"}
    world.run_until(START + timedelta(minutes=10))
    assert len(world.saying("no longer known to AWS")) == 1
    assert len(world.saying("is ready")) == 2
    asked = world.holdings.asked.count(f"cr-{second.id}")
    world.run_until(START + timedelta(minutes=31))
    assert "digest:2027-03-12" in world.messenger.said
    with world.store.reading() as tx:
        shown = [tx.receipts.of(one.id)[0] for one in (first, second, third)]
    assert [one.gone for one in shown] == [False, True, False]
    assert [one.state for one in shown] == ["active", "scheduled", "active"]
    world.run_until(START + timedelta(hours=12))
    assert world.holdings.asked.count(f"cr-{second.id}") == asked


def test_a_state_that_nobody_knows_changes_nothing_and_is_kept_raw(world) -> None:
    reservation = world.bought(START, END)
    world.holdings.shown[f"cr-{reservation.id}"] = {"state": "levitating"}
    world.run_until(START + timedelta(minutes=20))
    assert state_of(world, reservation) is ReservationState.SCHEDULED
    with world.store.reading() as tx:
        assert tx.receipts.get(f"cr-{reservation.id}").state == "levitating"


def test_the_end_is_said_once_and_nothing_is_followed_after_it(world) -> None:
    reservation = world.bought(START, END)
    world.holdings.shown[f"cr-{reservation.id}"] = {"state": "active"}
    world.run_until(END - timedelta(minutes=1))
    world.holdings.shown[f"cr-{reservation.id}"] = {"state": "expired"}
    world.run_until(END + timedelta(minutes=30))
    assert state_of(world, reservation) is ReservationState.ENDED
    assert len(world.saying("has ended")) == 1
    asked = len(world.holdings.asked)
    world.run_until(END + timedelta(days=3))
    assert len(world.holdings.asked) == asked


def test_a_look_that_comes_within_its_own_second_is_not_lost(world) -> None:
    reservation = world.bought(START, END, state="payment-pending")
    world.holdings.shown[f"cr-{reservation.id}"] = {"state": "scheduled"}
    world.settle()
    world.clock.set(world.clock.now() + timedelta(minutes=1, milliseconds=43))
    world.settle()
    assert state_of(world, reservation) is ReservationState.SCHEDULED
