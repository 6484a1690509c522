"""Whole months at once, held to an almanac that was worked out without the product.

One in spring, over the memory store and an American digest; one in autumn, over a SQLite file
that every restart opens anew, and a European digest: both clock changes of both continents.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest

from bot.domain.lifecycle import ReservationState
from bot.domain.market import Kind
from bot.services.endings.cleanup_records import record_of_cleanup
from tests.services.after.after_world import plain
from tests.system.month.almanac import Almanac, Entry, digest_days, states_of
from tests.system.month.plot import DAY, HOUR, MINUTE, TAKER, Case, Month, Plot, Window
from tests.system.month.town import WAITERS, Town

STAMP = re.compile(r":\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
ENDPOINT = re.compile(r":endpoint-end:[a-z0-9-]+:")
STAMPED_BY_THE_HOUR = (":moved", ":held", ":for-all", ":unwell:", ":endpoint:", ":offered:")
"""Words whose key ends with the moment of saying, which no plot knows to the second."""


def month(first: datetime, zone: str) -> Month:
    """The same troubles in any month, some of them over a start, a night and a weekend."""

    def window(day: int, hour: float, hours: float) -> Window:
        start = first + DAY * (day - 1) + timedelta(hours=hour)
        return Window(start, start + timedelta(hours=hours))

    return Month(
        first=first,
        last=first + 31 * DAY,
        down=(window(5, 11.0, 2.0), window(12, 20.0, 17.0), window(20, 3.0, 60.0)),
        dark=(window(8, 10.0, 3.0), window(16, 9.0, 6.0)),
        away=(window(10, 11.5, 2.0), window(18, 6.0, 1.0)),
        restarts=tuple(first + DAY * day + HOUR * at for day, at in ((2, 9), (13, 11.5), (27, 1))),
        digest_zone=zone,
    )


SPRING = month(datetime(2027, 3, 1, tzinfo=UTC), "America/New_York")
AUTUMN = month(datetime(2027, 10, 11, tzinfo=UTC), "Europe/Berlin")
COUNT = 200
MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of one's own is made in it


@pytest.fixture(scope="module", params=["spring in memory", "autumn on disk"])
def town(request) -> Iterator[Town]:
    spring = request.param.startswith("spring")
    when = SPRING if spring else AUTUMN
    cases = Plot(when, Random(20_270_301)).cases(COUNT)  # noqa: S311 - the same in every run
    # Where there is one, a file in memory: a disk is slow to sync and has no part in the month.
    with TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as place:
        town = Town("memory://" if spring else f"sqlite:///{place}/month.sqlite", when, cases)
        town.run()
        yield town
        town.store.close()


def groups(town: Town) -> list[list[Case]]:
    found: dict[int, list[Case]] = {}
    for case in town.cases:
        found.setdefault(case.group, []).append(case)
    return list(found.values())


def heard(town: Town, cases: list[Case]) -> list[tuple[str, datetime]]:
    """All that was heard of one reservation, under keys without its number."""
    name = f"gpu-{town.numbers[cases[0].id]}"
    waiters = {f"gpu-{one}" for case in cases for one in town.waiters.get(case.id, ())}
    ids = {case.id for case in cases}
    found = []
    for key, at in town.ear.when.items():
        kind, _, rest = key.partition(":")
        whose = rest.partition(":")[0]
        mine = kind == "note" and whose == name
        offered = kind == "note" and whose in waiters and f":offered:{name}:" in key
        told = kind == "tell" and any(f":idle:{one}:" in key for one in ids)
        handed = kind == "tell" and f":handover:{name}:" in key
        if mine or told:
            found.append((neutral(key, name), at))
        elif offered:
            found.append(("note:gpu-W:offered:gpu-N", at))
        elif handed:
            assert whose == TAKER
            found.append(("tell:TAKER:handover:gpu-N", at))
    return found


def neutral(key: str, name: str) -> str:
    """Return the almanac's key for a message's."""
    key = key.replace(f"{name}:", "gpu-N:")
    key = ENDPOINT.sub(":endpoint-end:", key)
    if ":idle:" in key or any(word in key for word in STAMPED_BY_THE_HOUR):
        return STAMP.sub("", key)
    return key


def entries_of(almanac: Almanac, cases: list[Case]) -> list[Entry]:
    """All that may be heard of one reservation."""
    entries = [entry for case in cases for entry in almanac.entries(case)]
    return [*told_together(entries, cases), *almanac.ending(cases)]


def told_together(entries: list[Entry], cases: list[Case]) -> list[Entry]:
    """Parts of a join that stand idle at once are told once, under the first one's name."""
    if len(cases) == 1:
        return entries
    first = min(case.id for case in cases)
    named: list[Entry] = []
    sure: set[str] = set()
    for entry in sorted(entries, key=lambda one: (one.since, not one.must)):
        if ":idle:" not in entry.key:
            named.append(entry)
            continue
        key = f"{entry.key.rpartition(':')[0]}:{first}"
        named.append(replace(entry, key=key, must=entry.must and key not in sure))
        sure |= {key} if entry.must else set()
    return named


def faults(town: Town, almanac: Almanac, cases: list[Case]) -> list[str]:
    entries = entries_of(almanac, cases)
    found: list[str] = []
    name = "+".join(case.id for case in cases)
    for key, at in heard(town, cases):
        fits = [e for e in entries if e.key == key and e.since <= at <= e.until]
        # What must be heard is taken before what merely may be.
        fits.sort(key=lambda entry: not entry.must)
        if not fits:
            near = [(str(e.since), str(e.until)) for e in entries if e.key == key]
            found.append(f"{name}: {key} at {at} is in no place of the almanac {near}")
            continue
        entries.remove(fits[0])
    found += [
        f"{name}: {entry.key} is missing, {entry.since} to {entry.until}"
        for entry in entries
        if entry.must
    ]
    return found


def test_all_that_should_be_heard_is_heard_in_time_and_nothing_else(town) -> None:
    almanac = Almanac(town.month)
    found = [fault for cases in groups(town) for fault in faults(town, almanac, cases)]
    assert not found, "\n".join([f"{len(found)} faults", *found[:60]])
    total = sum(entry.must for cases in groups(town) for entry in entries_of(almanac, cases))
    assert total > 1_500


def test_the_plot_holds_every_kind_of_thing(town) -> None:
    cases = town.cases
    assert {case.kind for case in cases} == set(Kind) - {Kind.OWNED}
    happens = {
        "a join": any(len(one) > 1 for one in groups(town)),
        "a join that half fails": any(
            len(one) > 1 and any(case.fails for case in one) for one in groups(town)
        ),
        "an UltraServer": any(case.ultraserver_type for case in cases),
        "a failed payment": any(case.fails for case in cases),
        "one that fails hours later": any(
            case.fails and case.fails - case.bought > 10 * HOUR for case in cases
        ),
        "a moved start": any(case.moved for case in cases),
        "an end that AWS shows later": any(case.longer for case in cases),
        "an extension": any(case.prolonging and case.prolonging.paid for case in cases),
        "one that is not paid": any(case.prolonging and not case.prolonging.paid for case in cases),
        "a lost reservation": any(case.vanishes for case in cases),
        "an endpoint": any(case.serving and not case.serving.why for case in cases),
        "one that fails": any(case.serving and case.serving.why for case in cases),
        "a release": any(case.release and not case.release.waiting for case in cases),
        "a queue of two": any(case.release and case.release.waiting == 2 for case in cases),
        "a release that is taken": any(case.release and case.release.taken_after for case in cases),
        "a hand-over": any(case.handed for case in cases),
        "ill machines": any(case.ill for case in cases),
        "a spot interruption": any(case.taken for case in cases),
        "something left": any(case.left for case in cases),
        "a late start": any(case.lag > 15 * MINUTE for case in cases),
        "two parts with a gap": any(
            len(case.segments) == 2 and case.segments[0].end < case.segments[1].start
            for case in cases
        ),
    }
    missing = [what for what, there in happens.items() if not there]
    assert missing == []


def test_nothing_is_said_twice(town) -> None:
    assert town.ear.posts == len(town.ear.when)


def test_every_reservation_ends_in_the_state_that_aws_says(town) -> None:
    with town.store.reading() as tx:
        for cases in groups(town):
            state = tx.reservations.get(town.numbers[cases[0].id]).state
            failed = all(case.fails for case in cases)
            wanted = ReservationState.FAILED if failed else ReservationState.ENDED
            assert state is wanted, cases
        for case in town.cases:
            if case.prolonging is not None:
                state = tx.reservations.get(town.children[case.id]).state
                paid = case.prolonging.paid
                assert state is (ReservationState.ENDED if paid else ReservationState.FAILED)


def test_states_follow_one_another_as_awss_books_do(town) -> None:
    """Where nothing was broken; else some may be skipped, and none comes twice."""
    almanac = Almanac(town.month)
    checked = 0
    for cases in groups(town):
        if len(cases) > 1 or cases[0].vanishes is not None or cases[0].moved is not None:
            continue
        [case] = cases
        with town.store.reading() as tx:
            entries = tx.audit.of(town.numbers[case.id], limit=1000)
        found = [
            entry.action.removeprefix("reservation.") for entry in entries if entry.actor == "aws"
        ]
        found = [one for one in found if one in {"scheduled", "active", "ended", "failed"}]
        assert all(one != two for one, two in pairwise(found)), case
        if almanac.calm(case.bought, case.over() + HOUR):
            assert found == states_of(cases), case
            checked += 1
    assert checked > 40


def test_what_is_left_is_removed_once_and_proved_gone(town) -> None:
    for cases in groups(town):
        number = town.numbers[cases[0].id]
        if all(case.fails for case in cases):
            continue
        with town.store.reading() as tx:
            record = record_of_cleanup(tx, number)
            gone = [one for one in tx.audit.of(number, limit=1000) if one.action == "leftover.gone"]
        assert record is not None, cases
        assert record.proved, cases
        left = [case for case in cases if case.left and case.fails is None]
        assert len(gone) == len(left), cases
    removals = town.ports.leftovers.removals
    assert len(removals) >= 20
    assert town.ports.endpoints.made == {}
    assert town.ports.endpoints.configured_ == set()
    creates = town.ports.endpoints.creates
    assert len(creates) == len(set(creates)) == sum(case.serving is not None for case in town.cases)


def test_the_report_says_what_was_paid_and_used(town) -> None:
    almanac, checked = Almanac(town.month), 0
    for cases in groups(town):
        case = cases[0]
        odd = (case.fails, case.ill, case.moved, case.last_end, case.vanishes)
        if len(cases) > 1 or len(case.segments) > 1 or len(case.free) > 1 or any(odd):
            continue
        calm = almanac.calm(case.segments[0].start, case.over() + HOUR)
        if not calm or case.kind in (Kind.ON_DEMAND, Kind.SPOT):
            continue
        words = plain(town.ear.said[f"note:gpu-{town.numbers[case.id]}:ended"])
        share = int(re.search(r"Report: \$1,105\.10 paid, (\d+) % used", words).group(1))
        # A start that AWS shows some minutes late is time that nobody could use.
        assert share == 0 if case.free[0][1] else share >= 97, (case, words)
        checked += 1
    assert checked > 20


def test_nothing_is_said_of_what_is_over(town) -> None:
    almanac = Almanac(town.month)
    for cases in groups(town):
        settled = almanac.readable(max(case.over() for case in cases)) + 7 * HOUR
        for key, at in heard(town, cases):
            assert at <= almanac.heard(settled), (cases, key, at)


def test_tags_end_with_the_present_owner(town) -> None:
    for case in town.cases:
        given = case.handed or (case.release and case.release.taken_after)
        assert town.sky.tags.get(case.id) == (TAKER if given else None)
    assert WAITERS[0] == TAKER


def test_there_is_one_digest_a_day_and_none_for_days_slept_through(town) -> None:
    almanac, when = Almanac(town.month), town.month
    sent = {key: at for key, at in town.ear.when.items() if key.startswith("digest:")}
    busy = min(case.bought for case in town.cases)
    planned = digest_days(almanac, when.first, when.last, when.digest_zone)
    wanted = {key: at for key, at in planned.items() if at > busy}
    said = {key: at for key, at in sent.items() if at < when.last}
    assert set(said) == set(wanted)
    for key, at in said.items():
        assert wanted[key] <= at <= almanac.heard(wanted[key]) + MINUTE


def test_looks_stay_few(town) -> None:
    """Fewer than one in two minutes for 200 reservations in nine regions over eight weeks."""
    assert town.sky.calls < 40_000
