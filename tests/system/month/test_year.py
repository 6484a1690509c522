"""The simulated year of the benches, a few days of it: it runs, and people get what they ask."""

from benchmarks import year
from benchmarks.year import DAY, FIRST, Year, wishes
from bot.domain.lifecycle import ReservationState

DAYS = 2
COUNT = 16


def test_twice_the_work_is_every_wish_and_a_twin_of_it() -> None:
    once, twice = (wishes(COUNT, DAYS, twice=word) for word in (False, True))
    assert len(twice) == 2 * len(once)
    for fate in {wish.fate for wish in twice}:
        counts = [sum(wish.fate == fate for wish in asked) for asked in (once, twice)]
        assert counts[1] == 2 * counts[0]
    assert all(FIRST <= wish.at < FIRST + DAYS * DAY for wish in twice)


def test_the_product_serves_a_few_days_of_it(tmp_path) -> None:
    world = Year(tmp_path / "year.sqlite", wishes(COUNT, DAYS, twice=False))
    world.run_until(FIRST + (DAYS + 20) * DAY)
    with world.store.reading() as tx:
        states = [one.state for one in tx.reservations.listing(limit=1000)]
    world.store.close()
    assert len(states) >= COUNT
    assert states.count(ReservationState.ENDED) > COUNT / 2
    assert set(states) <= {
        ReservationState.ENDED,
        ReservationState.CANCELLED,
        ReservationState.DECLINED,
        ReservationState.EXPIRED,
        ReservationState.QUOTED,
    }
    assert world.land.looks > DAYS * 20


def test_its_marks_are_those_that_were_promised() -> None:
    assert (year.TIME_MARK, year.MEMORY_MARK) == ("≤ 2.0", "≤ 1.05")
    assert (year.REQUESTS, year.PEOPLE) == (5_000, 60)
