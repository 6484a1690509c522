"""A whole month at once, held to an almanac that was worked out without the product."""

from datetime import UTC, datetime, timedelta

import pytest

from bot.domain.lifecycle import ReservationState
from bot.domain.market import Kind
from storage import open_store
from tests.fakes.clock import FakeClock
from tests.services.after.after_world import AfterWorld
from tests.system.month.almanac import Almanac, Entry, digest_days
from tests.system.month.plot import DAY, FIRST, HOUR, LAST, MINUTE, Case, Ear, Sky, Window, cases


def window(day: int, hour: float, hours: float) -> Window:
    start = datetime(2027, 3, day, tzinfo=UTC) + timedelta(hours=hour)
    return Window(start, start + timedelta(hours=hours))


DOWN = (window(5, 11.0, 2.0), window(12, 20.0, 17.0), window(20, 3.0, 60.0))
"""The bot is not running: over a start, over a night, over a weekend."""
DARK = (window(8, 10.0, 3.0), window(16, 9.0, 6.0))
"""AWS can't be read."""
AWAY = (window(10, 11.5, 2.0), window(18, 6.0, 1.0))
"""Slack takes nothing."""
RESTARTS = tuple(FIRST + DAY * day + HOUR * hour for day, hour in ((2, 9), (13, 11.5), (27, 1)))


class Month:
    """One run of the plot."""

    def __init__(self, url: str, count: int, seed: int) -> None:
        self.cases = cases(count, seed, DOWN)
        self.world = AfterWorld(store=open_store(url), clock=FakeClock(FIRST))
        self.sky = Sky(self.world.clock, self.cases, DARK)
        self.ear = Ear(self.world.clock, AWAY)
        self.world.holdings = self.sky
        self.world.messenger = self.ear
        self.world.start()
        self.numbers: dict[str, int] = {}

    def run(self) -> None:
        moments = sorted(
            [(case.bought, 1, case) for case in self.cases]
            + [(one.start, 2, one) for one in DOWN]
            + [(moment, 3, None) for moment in RESTARTS],
            key=lambda row: row[:2],
        )
        for moment, _, what in moments:
            if moment > self.world.clock.now():
                self.world.run_until(moment - MINUTE if isinstance(what, Window) else moment)
            if isinstance(what, Case):
                self.buy(what)
            elif isinstance(what, Window):
                self.world.clock.set(what.end)
                self.world.start()
            else:
                self.world.start()
        self.world.run_until(LAST + 25 * DAY)

    def buy(self, case: Case) -> None:
        reservation = self.world.bought(
            case.segments[0].start,
            case.segments[0].end,
            state=case.state(case.bought).replace("active", "scheduled"),
            receipt_id=case.id,
            region=case.region,
            kind=case.kind,
            segments=case.segments,
            zone=case.zone,
            target=case.target,
            instance_type=case.instance_type,
            ultraserver_type=case.ultraserver_type,
        )
        self.numbers[case.id] = reservation.id

    def heard(self, case: Case) -> dict[str, datetime]:
        """What was heard of one reservation, under keys without its number."""
        name = f"gpu-{self.numbers[case.id]}"
        return {
            key.replace(f"{name}:", "gpu-N:"): at
            for key, at in self.ear.when.items()
            if key.startswith(f"note:{name}:") or f":{case.id}:" in key
        }


def watched(key: str) -> str | None:
    """Return the almanac's key of a message, None for what the almanac leaves out."""
    if ":idle:" in key:
        return key.rpartition(":idle:")[0] + ":idle:" + key.rpartition(":idle:")[2].split(":")[0]
    return key if ":remind:" in key or ":ready:" in key else None


def faults(month: Month, almanac: Almanac, case: Case) -> list[str]:
    entries: list[Entry] = list(almanac.entries(case))
    found: list[str] = []
    heard = [(watched(key), at) for key, at in month.heard(case).items()]
    for key, at in heard:
        if key is None:
            continue
        # What must be heard is taken before what merely may be.
        fits = [e for e in entries if e.key == key and e.since <= at <= e.until]
        fits.sort(key=lambda entry: not entry.must)
        if not fits:
            near = [(str(e.since), str(e.until)) for e in entries if e.key == key]
            found.append(f"{case.id}: {key} at {at} is in no place of the almanac {near}")
            continue
        entries.remove(fits[0])
    found += [
        f"{case.id}: {entry.key} is missing, {entry.since} to {entry.until}"
        for entry in entries
        if entry.must
    ]
    return found


@pytest.fixture(scope="module")
def month():
    month = Month("memory://", 200, seed=20_270_301)
    month.run()
    yield month
    month.world.store.close()


ALMANAC = Almanac(DOWN, DARK, AWAY)


def test_all_that_should_be_heard_is_heard_in_time_and_nothing_else(month) -> None:
    found = [fault for case in month.cases for fault in faults(month, ALMANAC, case)]
    assert not found, "\n".join([f"{len(found)} faults", *found[:40]])
    total = sum(entry.must for case in month.cases for entry in ALMANAC.entries(case))
    assert total > 600


def test_nothing_is_said_twice(month) -> None:
    assert month.ear.posts == len(month.ear.when)


def test_every_reservation_ends_in_the_state_that_aws_says(month) -> None:
    with month.world.store.reading() as tx:
        for case in month.cases:
            state = tx.reservations.get(month.numbers[case.id]).state
            wanted = ReservationState.FAILED if case.fails else ReservationState.ENDED
            assert state is wanted, case


def test_nothing_is_said_of_what_is_over(month) -> None:
    for case in month.cases:
        settled = ALMANAC.readable(case.over()) + 7 * HOUR
        for key, at in month.heard(case).items():
            words = key.partition(":gpu-N:")[2]
            if words.startswith(("ended", "gone", "failed")):
                continue
            assert at <= ALMANAC.heard(settled), (case, key, at)


def test_every_end_is_said_once(month) -> None:
    for case in month.cases:
        ends = [key for key in month.heard(case) if key == "note:gpu-N:ended"]
        assert len(ends) == (0 if case.fails else 1)


def test_there_is_one_digest_a_day_and_none_for_days_slept_through(month) -> None:
    heard = {key: at for key, at in month.ear.when.items() if key.startswith("digest:")}
    busy = min(case.bought for case in month.cases)
    planned = digest_days(ALMANAC, FIRST, LAST, "America/Sao_Paulo")
    wanted = {key: at for key, at in planned.items() if at > busy}
    said = {key: at for key, at in heard.items() if at < LAST}
    assert set(said) == set(wanted)
    for key, at in said.items():
        assert wanted[key] <= at <= ALMANAC.heard(wanted[key]) + MINUTE


def test_looks_stay_few(month) -> None:
    """Fewer than one in three minutes for 200 reservations in four regions over seven weeks."""
    assert month.sky.calls < 24_000
    assert {case.kind for case in month.cases} == {
        Kind.CAPACITY_BLOCK,
        Kind.TRAINING_PLAN,
        Kind.ODCR,
    }
