from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from bot.services.reservations.reminding import BEFORE_LAST_MINUTE, moment_of
from bot.services.words.quiet import is_quiet, said_at

DAYS = tuple(
    datetime(2027, month, day, tzinfo=UTC) for month, day in ((3, 14), (3, 28), (7, 1), (11, 7))
)
ZONES = ("Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Auckland")


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("day", DAYS)
@pytest.mark.parametrize(
    ("hour", "minute", "waits"),
    [(21, 59, False), (22, 0, True), (23, 30, True), (0, 0, True), (6, 59, True), (7, 0, False)],
)
def test_the_clock_on_the_wall_decides_what_is_night(zone, day, hour, minute, waits) -> None:
    local = day.replace(hour=hour, minute=minute, tzinfo=ZoneInfo(zone))
    moment = local.astimezone(UTC)
    said = said_at(moment, zone)
    assert is_quiet(moment, zone) is waits
    if waits:
        there = said.astimezone(ZoneInfo(zone))
        assert (there.hour, there.minute) == (7, 0)
        assert timedelta(0) < said - moment <= timedelta(hours=10)
    else:
        assert said == moment


def test_a_zone_that_nobody_knows_is_taken_for_utc() -> None:
    moment = datetime(2027, 3, 10, 3, tzinfo=UTC)
    assert said_at(moment, "Mars/Olympus") == moment.replace(hour=7)


@pytest.mark.parametrize("zone", ZONES)
def test_a_reminder_that_waits_never_meets_the_next_one_nor_the_end(zone) -> None:
    for hours in range(24 * 9):
        about = datetime(2027, 3, 20, tzinfo=UTC) + timedelta(hours=hours)
        moments = [moment_of(about, lead, BEFORE_LAST_MINUTE, zone) for lead in BEFORE_LAST_MINUTE]
        assert moments == sorted(set(moments))
        assert moments[-1] < about
        for lead, moment in zip(BEFORE_LAST_MINUTE, moments, strict=True):
            assert moment >= about - lead
            assert lead >= timedelta(hours=24) or moment == about - lead
