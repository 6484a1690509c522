"""When, as phrases: starts, deadlines, ranges, and words that bind them."""

from typing import NamedTuple

from bot.language.days import day_of_month
from bot.language.moments import Moment, moment_at, relative_at
from bot.language.scene import Found, Scene, one
from bot.language.words import Meaning
from bot.language.zones import zone_at

_LEADERS = frozenset(
    ("asap", "guaranteed", "in", "between", "vague", "after", "before", "by", "until")
)
"""Roles of the words that begin a phrase of their own; all others can only begin a start."""


class Span(NamedTuple):
    """Two moments: between them (`inside`), or exactly from the first to the second."""

    first: Moment
    second: Moment
    inside: bool


def when(scene: Scene, at: int) -> Found | None:  # noqa: PLR0911 - one return for each form
    """Recognise every phrase that says when."""
    tokens = scene.tokens
    begins = tokens.starts[at]
    if _LEADERS.isdisjoint(begins):
        return _start(scene, at)
    if "asap" in begins and (soon := tokens.phrase("asap", at)):
        return one("asap", value=True, start=at, end=soon[0])
    if "guaranteed" in begins and (bound := tokens.phrase("guaranteed", at)):
        return one("guaranteed", value=True, start=at, end=bound[0])
    if "in" in begins and (relative := relative_at(scene, at)):
        later = tokens.phrase("later", relative[0])
        field, end = ("after", later[0]) if later else ("start", relative[0])
        return one(field, relative[1], at, end)
    if "between" in begins and (between := _between(scene, at)):
        return between
    if tokens.phrase("vague", at):
        return _start(scene, at)
    for field in ("after", "before", "by", "until"):
        if field in begins and (lead := tokens.phrase(field, at)):
            timed = tokens.after("until_time", at) == lead[0]
            led = timed or field != "until" or scene.language == "en"
            moment = moment_at(scene, lead[0], led=led)
            if moment:
                return one(field, moment[1], at, moment[0])
    return _start(scene, at)


def _between(scene: Scene, at: int) -> Found | None:
    tokens = scene.tokens
    lead = tokens.phrase("between", at)
    first = moment_at(scene, lead[0], led=True) if lead else None
    middle = tokens.phrase("and", first[0]) if first else None
    second = moment_at(scene, middle[0], led=True) if middle else None
    if first is None or second is None:
        return None
    span = _joined(scene, first[1], second[1], inside=True)
    return one("span", span, at, second[0])


def _start(scene: Scene, at: int) -> Found | None:
    """Recognise `from Mar 15`, `Mar 15 9am`, `Mar 15 or later`, `from … to …`, `at 9am`, a zone."""
    tokens = scene.tokens
    lead = tokens.phrase("start", at)
    begin = lead[0] if lead else at
    led = lead is not None
    if lead and (soon := tokens.phrase("asap", begin)):
        return one("asap", value=True, start=at, end=soon[0])
    found = moment_at(scene, begin, led=led) or _at_day(scene, at)
    if found is None:
        zone = zone_at(scene, at)
        return one("zone", zone[1], at, zone[0]) if zone else None
    end, moment = found
    begins = tokens.starts[end] if end < tokens.count else {}
    if "later" in begins and (later := tokens.phrase("later", end)):
        return one("after", moment, at, later[0])
    if "to" in begins and (to := tokens.phrase("to", end)) and not _is_deadline(scene, lead, end):
        timed = tokens.phrase("at", end) is not None
        second = moment_at(scene, to[0], led=timed or (led and _names_day(scene, moment)))
        if second:
            span = _joined(scene, moment, second[1], inside=False)
            return one("span", span, at, second[0])
    if moment.day is None:
        return one("clock", moment, at, end)
    return one("start", moment, at, end)


def _is_deadline(scene: Scene, lead: tuple[int, Meaning] | None, at: int) -> bool:
    """Return whether `até` or `hasta` here says a deadline of its own, not the end of a range.

    Without a duration the two become a range all the same.
    """
    tokens = scene.tokens
    ranged = lead is not None and lead[1] == "from" and not tokens.apart(at)
    return tokens.phrase("until", at) is not None and not ranged


def _at_day(scene: Scene, at: int) -> tuple[int, Moment] | None:
    """Return the moment of `at Mar 15 9am`; a day alone is nothing to be "at"."""
    lead = scene.tokens.phrase("at", at)
    found = moment_at(scene, lead[0], led=False) if lead else None
    return found if found and found[1].clock and found[1].day else None


def _names_day(scene: Scene, moment: Moment) -> bool:
    """Return whether a bare number may be the second day: only English has no money word there."""
    return moment.day is not None and (scene.language == "en" or moment.day.of_month is not None)


def _joined(scene: Scene, first: Moment, second: Moment, *, inside: bool) -> Span:
    """Return both moments, each lending the other what only one of them said."""
    if first.day and first.day.of_month and second.day and second.day.month_day:
        month, _ = second.day.month_day
        first = first._replace(day=day_of_month(scene, first.day.of_month, month))
    elif first.day and first.day.of_month and second.day and not second.day.ask:
        dates = second.day.dates[0]
        try:
            day = dates.replace(day=first.day.of_month)
        except ValueError:
            return Span(first, second, inside)
        first = first._replace(day=second.day._replace(dates=(day,)))
    if first.zone is None and second.zone is not None:
        first = first._replace(zone=second.zone)
    return Span(first, second, inside)
