"""Days as people say them: dates, weekdays, today, and those that must be asked."""

import re
from datetime import date, timedelta
from typing import NamedTuple

from bot.language.calendars import existing, next_occurrence
from bot.language.quantities import means_something
from bot.language.refusals import RefusalError
from bot.language.scene import Scene

_ISO = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?:t(.+))?")
_SLASH = re.compile(r"(\d{1,4})/(\d{1,2})(?:/(\d{1,4}))?")
_DAY = re.compile(r"(\d{1,2})(st|nd|rd|th|º|o|ª)?")
_YEAR = re.compile(r"\d{4}")
_DAY_WORDS = frozenset(("vague", "today", "next", "weekday", "month"))
_WEEK = 7
_FRIDAY, _SATURDAY = 4, 5
_LAST_DAY = 31
_TWO_DIGITS = 2


class Day(NamedTuple):
    """A day: the dates it may mean. `ask` asks even when one is left.

    `month_day` is set when the year was not said, `of_month` when not even the month was.
    """

    dates: tuple[date, ...]
    ask: bool = False
    month_day: tuple[int, int] | None = None
    of_month: int | None = None
    today: bool = False
    clock: str = ""


def day_at(scene: Scene, at: int, *, led: bool = False) -> tuple[int, Day] | None:
    """Return the day at this token; `led`: a preposition stands before, so a bare 15 counts.

    Raises:
        RefusalError: no such date, or a two-digit year.
    """
    tokens = scene.tokens
    if tokens.key(at)[:1].isdigit():
        return _numeric(scene, at, led=led)
    found = _worded(scene, at)
    article = None if found else tokens.phrase("article", at)
    if article is None:
        return found
    if tokens.key(article[0])[:1].isdigit():
        return _numeric(scene, article[0], led=True)
    return _worded(scene, article[0])


def _worded(scene: Scene, at: int) -> tuple[int, Day] | None:
    tokens, today = scene.tokens, scene.today
    begins = tokens.starts[at] if at < tokens.count else None
    if not begins or _DAY_WORDS.isdisjoint(begins):
        return None
    if vague := tokens.phrase("vague", at):
        return vague[0], Day(_vague(str(vague[1]), today), ask=True)
    if near := tokens.phrase("today", at):
        away = int(near[1])
        return near[0], Day((today + timedelta(days=away),), today=away == 0)
    following = tokens.phrase("next", at)
    weekday = tokens.phrase("weekday", following[0] if following else at)
    if weekday:
        return weekday[0], _weekday(int(weekday[1]), today, following=following is not None)
    month = tokens.phrase("month", at)
    number = _DAY.fullmatch(tokens.key(month[0])) if month else None
    if month and number and not (tokens.apart(month[0]) and month[0] < tokens.count):
        return _with_year(scene, (at, month[0] + 1), int(month[1]), int(number[1]))
    return None


def _weekday(wanted: int, today: date, *, following: bool) -> Day:
    away = (wanted - today.weekday()) % _WEEK
    if away:
        return Day((today + timedelta(days=away),))
    if following:
        return Day((today + timedelta(days=_WEEK),))
    return Day((today, today + timedelta(days=_WEEK)), ask=True)


def _vague(what: str, today: date) -> tuple[date, ...]:
    """Return the days that a vague phrase may mean, as choices only."""
    monday = today + timedelta(days=_WEEK - today.weekday())
    saturday = today + timedelta(days=(_SATURDAY - today.weekday()) % _WEEK)
    if what == "night":
        return (today, today + timedelta(days=1))
    if what == "week":
        return tuple(monday + timedelta(days=away) for away in range(_FRIDAY + 1))
    if what == "weekend":
        return (saturday, saturday + timedelta(days=1))
    if what == "second_day":
        return (today + timedelta(days=2), today + timedelta(days=1))
    first = (today.replace(day=1) + timedelta(days=32)).replace(day=1)
    return (first - timedelta(days=1), first)


def _numeric(scene: Scene, at: int, *, led: bool) -> tuple[int, Day] | None:
    tokens = scene.tokens
    key = tokens.key(at)
    if "-" in key and (iso := _ISO.fullmatch(key)):
        found = existing(int(iso[1]), int(iso[2]), int(iso[3]))
        if found is None:
            raise _no_such(scene, (at, at + 1))
        return at + 1, Day((found,), clock=iso[4] or "")
    if "/" in key and (slash := _SLASH.fullmatch(key)):
        return at + 1, _slashed(scene, at, slash)
    number = _DAY.fullmatch(key)
    if not number:
        return None
    month = tokens.phrase("month", tokens.after("of", at + 1))
    if month and not tokens.apart(at + 1):
        return _with_year(scene, (at, month[0]), int(month[1]), int(number[1]))
    alone = bool(number[2]) or (led and not means_something(scene, at + 1))
    day = int(number[1])
    if not alone or not 1 <= day <= _LAST_DAY:
        return None
    dates = _days_of_month(day, scene.today)
    return at + 1, Day(dates, ask=True, of_month=day)


def _days_of_month(day: int, today: date) -> tuple[date, ...]:
    """Return the next two such days of a month, as choices."""
    found: list[date] = []
    year, month = today.year, today.month
    while len(found) < _TWO_DIGITS:
        candidate = existing(year, month, day)
        if candidate is not None and candidate >= today:
            found.append(candidate)
        year, month = (year + 1, 1) if month == 12 else (year, month + 1)  # noqa: PLR2004 - December
    return tuple(found)


def day_of_month(scene: Scene, number: int, month: int) -> Day:
    """Return the coming such day of a month. Raises RefusalError when no year has it."""
    coming = next_occurrence(month, number, scene.today)
    if coming is None:
        raise RefusalError("no_such_date", mend=(), said=f"{number}/{month}")
    return Day((coming,), month_day=(month, number))


def _with_year(scene: Scene, span: tuple[int, int], month: int, day: int) -> tuple[int, Day]:
    """Return the day of a month, with the year when one follows."""
    tokens = scene.tokens
    end = span[1]
    year_at = tokens.after("of", end)
    if _YEAR.fullmatch(tokens.key(year_at)) and not means_something(scene, year_at + 1):
        found = existing(int(tokens.key(year_at)), month, day)
        if found is None:
            raise _no_such(scene, (span[0], year_at + 1))
        return year_at + 1, Day((found,))
    coming = next_occurrence(month, day, scene.today)
    if coming is None:
        raise _no_such(scene, span)
    return end, Day((coming,), month_day=(month, day))


def _slashed(scene: Scene, at: int, found: re.Match[str]) -> Day:
    first, second, year = found[1], found[2], found[3]
    span = (at, at + 1)
    if len(first) == 4:  # noqa: PLR2004 - a year
        day = existing(int(first), int(second), int(year)) if year else None
        if day is None:
            raise _no_such(scene, span)
        return Day((day,), ask=scene.language == "en")
    if len(first) > _TWO_DIGITS:
        raise _no_such(scene, span)
    if year and len(year) != 4:  # noqa: PLR2004 - a year
        full = f"{first}/{second}/20{year[-2:]}"
        raise RefusalError("two_digit_year", tokens=span, mend=(full,), said=found[0])
    pairs = [(int(second), int(first))]
    if not scene.day_first:
        pairs.append((int(first), int(second)))
    dates = []
    for month, number in pairs:
        day = (
            existing(int(year), month, number)
            if year
            else next_occurrence(month, number, scene.today)
        )
        if day is not None and day not in dates:
            dates.append(day)
    if not dates:
        raise _no_such(scene, span)
    month_day = None if year or len(dates) > 1 else (dates[0].month, dates[0].day)
    return Day(tuple(dates), ask=not scene.day_first, month_day=month_day)


def _no_such(scene: Scene, span: tuple[int, int]) -> RefusalError:
    return RefusalError(
        "no_such_date", tokens=span, mend=("tomorrow",), said=scene.tokens.said(*span)
    )
