"""Local calendar to instants: days, clock changes, and dates that exist."""

from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache

YEARS_AHEAD = 2
_FEBRUARY_29_RETURNS = 8
_FIRST_YEAR, _LAST_YEAR = 1970, 2999
"""Far from the ends of the calendar, where arithmetic overflows."""


@lru_cache(maxsize=4096)
def day_start(day: date, zone: tzinfo) -> datetime:
    """Return the first local minute of the day, in UTC; midnight where a change does not eat it."""
    naive = datetime.combine(day, time())
    first = naive.replace(tzinfo=zone).astimezone(UTC)
    back = first.astimezone(zone).replace(tzinfo=None)
    if back == naive:
        return first
    # Midnight is skipped: the offset before the change puts it at, or just after, the change.
    while (first - timedelta(minutes=1)).astimezone(zone).date() == day:
        first -= timedelta(minutes=1)
    return first


def day_end(day: date, zone: tzinfo) -> datetime:
    """Return the next local midnight, in UTC."""
    return day_start(day + timedelta(days=1), zone)


@lru_cache(maxsize=1024)
def instants(local: datetime, zone: tzinfo) -> tuple[tuple[datetime, ...], bool]:
    """Return the instants, in UTC, that a naive local time may mean, and whether it exists once.

    A skipped time gives what it would be before and after the change; a doubled one both.
    """
    first = local.replace(tzinfo=zone, fold=0).astimezone(UTC)
    second = local.replace(tzinfo=zone, fold=1).astimezone(UTC)
    if first == second:
        return (first,), True
    return tuple(sorted((first, second))), False


def existing(year: int, month: int, day: int) -> date | None:
    """Return the date, or None when there is no such date (nobody asks for the year 9999)."""
    if not _FIRST_YEAR <= year <= _LAST_YEAR:
        return None
    try:
        return date(year, month, day)
    except ValueError:
        return None


def next_occurrence(month: int, day: int, today: date) -> date | None:
    """Return the first such date from today on; None when no year has it."""
    for year in range(today.year, today.year + _FEBRUARY_29_RETURNS + 1):
        found = existing(year, month, day)
        if found is not None and found >= today:
            return found
    return None


@lru_cache(maxsize=64)
def horizon(now: datetime) -> datetime:
    """Return the last instant that may be asked for: two years ahead."""
    try:
        return now.replace(year=now.year + YEARS_AHEAD)
    except ValueError:
        return now.replace(year=now.year + YEARS_AHEAD, day=28)
