from datetime import UTC, datetime, timedelta

from bot.domain.market import Kind, Segment
from bot.domain.records import Receipt
from bot.services.reservations.looking import next_look, on_minute

START = datetime(2027, 3, 12, 11, 30, tzinfo=UTC)
END = datetime(2027, 3, 14, 11, 30, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)


def receipt(state: str = "active", **update) -> Receipt:
    base = Receipt(
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
    )
    return base.model_copy(update=update)


def looks(world) -> int:
    return world.holdings.calls


def test_what_falls_due_in_the_same_minute_is_one_look_per_account_and_region(world) -> None:
    for _ in range(30):
        world.bought(START, END)
    world.run_until(START - 2 * HOUR)
    before, asked = looks(world), len(world.holdings.asked)
    world.run_until(START + 30 * timedelta(seconds=1))
    assert looks(world) - before == 2
    assert len(world.holdings.asked) - asked == 60


def test_all_that_an_outage_left_behind_is_one_look(world) -> None:
    for hours in range(20):
        world.bought(START + hours * HOUR, END + hours * HOUR)
    world.settle()
    before = looks(world)
    world.clock.set(START + timedelta(days=1, hours=5))
    world.start()
    world.settle()
    assert looks(world) - before == 1


def test_accounts_and_regions_are_looked_at_apart(world) -> None:
    world.bought(START, END, region="us-east-1")
    world.bought(START, END, region="us-west-2")
    world.run_until(world.clock.now() + 2 * MINUTE)
    assert looks(world) == 2


def test_one_whose_books_can_not_be_read_is_looked_at_again_and_keeps_its_state(world) -> None:
    reservation = world.bought(START, END)
    world.holdings.shown[f"cr-{reservation.id}"] = {"last_error": "unreachable: timeout"}
    world.run_until(START + HOUR)
    asked = len(world.holdings.asked)
    world.run_until(START + 2 * HOUR)
    assert len(world.holdings.asked) > asked
    with world.store.reading() as tx:
        assert tx.reservations.get(reservation.id).state == "scheduled"


def test_a_fortnight_of_a_block_takes_few_looks(world) -> None:
    end = START + timedelta(days=14)
    reservation = world.bought(START, end)
    world.holdings.shown[f"cr-{reservation.id}"] = {"state": "active"}
    world.run_until(end)
    assert looks(world) < 380


def test_the_next_look_is_always_a_later_whole_minute() -> None:
    for state in ("payment-pending", "scheduled", "active", "levitating"):
        for minutes in range(-4000, 4000, 7):
            now = START + timedelta(minutes=minutes, seconds=minutes % 60, microseconds=5)
            at = next_look([receipt(state)], now)
            assert at is not None
            assert at > now
            assert (at.second, at.microsecond) == (0, 0)


def test_a_look_that_is_wanted_at_once_is_in_the_next_minute() -> None:
    """This minute's batch may be over already, and its row never comes back."""
    for now in (START, START + timedelta(seconds=30)):
        assert on_minute(now, now) == START + MINUTE


def test_a_start_an_end_and_a_last_minute_are_never_overslept() -> None:
    for state, moment in (
        ("scheduled", START),
        ("active", END - timedelta(minutes=30)),
        ("active", END),
    ):
        now = START - timedelta(days=3)
        seen = set()
        while now < END + HOUR:
            word = state if now >= START else "scheduled"
            at = next_look([receipt(word)], now)
            assert at is not None
            seen.add(at)
            now = at
        assert moment in seen


def test_what_is_over_is_looked_at_no_more() -> None:
    for state in ("expired", "cancelled", "payment-failed", "terminated"):
        assert next_look([receipt(state)], START) is None
    assert next_look([receipt(gone=True)], START) is None


def test_a_payment_that_takes_long_is_looked_at_less_often_until_the_start_is_near() -> None:
    pending = receipt("payment-pending")
    fresh = START - timedelta(days=1)
    assert next_look([pending], fresh, bought_at=fresh) == fresh + 2 * MINUTE
    assert next_look([pending], fresh + HOUR, bought_at=fresh) == fresh + HOUR + 10 * MINUTE
    near = START - 20 * MINUTE
    assert next_look([pending], near, bought_at=fresh) == near + 2 * MINUTE


def test_a_look_at_the_very_second_with_a_fraction_is_not_lost(world) -> None:
    reservation = world.bought(START, END)
    world.holdings.shown[f"cr-{reservation.id}"] = {"state": "active"}
    world.run_until(START - HOUR)
    for _ in range(300):
        with world.store.reading() as tx:
            ahead = tx.dues.next_at()
        world.clock.set(max(ahead, world.clock.now()).replace(microsecond=300_869))
        world.settle()
        if world.saying("is ready"):
            break
    assert world.saying("is ready")


def test_one_that_can_not_be_settled_holds_up_no_other(world) -> None:
    reservations = [world.bought(START, END) for _ in range(5)]
    world.run_until(START - HOUR)
    for reservation in reservations:
        world.holdings.shown[f"cr-{reservation.id}"] = {"state": "active"}
    world.holdings.shown[f"cr-{reservations[2].id}"] = {"state": "active", "segments": None}
    world.run_until(START + 5 * MINUTE)
    assert len(world.saying("is ready")) == 4
    assert any("step failed" in line for line in world.log.lines)
    world.holdings.shown[f"cr-{reservations[2].id}"] = {"state": "active"}
    world.run_until(START + HOUR)
    assert len(world.saying("is ready")) == 5
