"""How the engine's sentences write instants, durations and money, in UTC and plain English."""

from datetime import UTC, datetime, timedelta, tzinfo
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.domain.decision import Note
from bot.domain.values import plain_text, rate_text

MICROSECOND = timedelta(microseconds=1)
MICROSECONDS_AN_HOUR = 3_600_000_000


@lru_cache(maxsize=8192)
def note(code: str, text: str) -> Note:
    """Return the note; equal ones are one object, since large markets repeat them."""
    return Note(code=code, text=text)


def zone_of(name: str) -> tzinfo:
    """Return the IANA zone; an unknown name is read as UTC, as the language reads it."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return UTC


def hours(length: timedelta) -> Decimal:
    """Return the length in hours, exact when it divides evenly."""
    return Decimal(length // MICROSECOND) / MICROSECONDS_AN_HOUR


@lru_cache(maxsize=1024)
def exact_hours(length: timedelta) -> Fraction:
    """Return the length in hours, exact; a market repeats few lengths."""
    return Fraction(length // MICROSECOND, MICROSECONDS_AN_HOUR)


def moment(instant: datetime) -> str:
    """Return the instant to the minute: "2027-03-18 11:00 UTC"."""
    return f"{instant.isoformat(' ', 'minutes')[:16]} UTC"


def day(instant: datetime) -> str:
    """Return the UTC day of the instant: "2027-03-18"."""
    return f"{instant:%Y-%m-%d}"


@lru_cache(maxsize=1024)
def span(length: timedelta) -> str:
    """Return the length in hours: "71.5 h"; a market repeats few lengths."""
    return f"{rate_text(hours(length))} h"


def rate(amount: Decimal) -> str:
    """Return an hourly price with at most four decimals: "$34.608"."""
    return f"${rate_text(amount)}"


def percent(share: Fraction) -> str:
    """Return a share to the nearest tenth of a percent: "86.8 %"."""
    tenths = round(share * 1000)
    return f"{plain_text(Decimal(tenths) / 10)} %"


def machines(count: int, name: str) -> str:
    """Return a count with its type: "2 p5.48xlarge"."""
    return f"{count} {name}"
