"""Times of day as people say them."""

import re
from typing import NamedTuple

from bot.language.quantities import means_something
from bot.language.refusals import RefusalError
from bot.language.scene import Scene
from bot.language.tokens import Tokens
from bot.language.zones import Zone, sure, zone_at

_HALF_DAY = re.compile(r"(\d{1,2})(?::(\d{2}))?(am|pm)")
_COLON = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2})(\.\d{1,6})?)?(z|[+-]\d{2}:?\d{2}|utc|gmt)?")
_HOURS = re.compile(r"(\d{1,2})h(\d{2})?(?:s|rs)?")
_HALF_HOURS = re.compile(r"(\d{1,2})(?::(\d{2}))?")
_BARE = re.compile(r"\d{1,2}")
_PLAIN_HALF = {"a.m": "am", "a.m.": "am", "p.m": "pm", "p.m.": "pm", "am": "am", "pm": "pm"}
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}")
_NOON = 12
_PARTS = {
    "dawn": range(7),
    "morning": range(1, 12),
    "afternoon": range(12, 21),
    "night": range(17, 24),
}
"""The hours of each part of the day; 12 at night is asked, as nobody knows of which day."""
_PARTED = re.compile(r"(\d{1,2})(?:h|:(?=\d))?(\d{2})?(?:h|hs|hrs)?")
_LAST_HOUR, _LAST_MINUTE = 23, 59


class Clock(NamedTuple):
    """A time of day: what it may mean in seconds after midnight, its zone, and whether to ask."""

    seconds: tuple[float, ...]
    zone: Zone | None = None
    ask: bool = False


def clock_at(scene: Scene, at: int, *, after_day: bool, led: bool) -> tuple[int, Clock] | None:  # noqa: PLR0911 - one return for each form
    """Return the time at this token; `led`: at, às or a las stands right before.

    Raises:
        RefusalError: a time that no clock shows (13pm, 24:00).
    """
    tokens = scene.tokens
    key = tokens.key(at)
    if not key or not key[0].isdigit():
        named = tokens.phrase("clock", at)
        return _zoned(scene, named[0], Clock((int(named[1]) * 60,))) if named else None
    if (part := tokens.phrase("part", at + 1)) and (said := _PARTED.fullmatch(key)):
        if tokens.apart(at + 1):
            return None
        return _zoned(scene, part[0], _in_part(scene, said, str(part[1]), (at, part[0])))
    if key[-1] == "m" and (half := _HALF_DAY.fullmatch(key)):
        seconds = _half_day(half[1], half[2], half[3], (at, at + 1))
        return _zoned(scene, at + 1, Clock((seconds,)))
    following = tokens.phrase("half", at + 1)
    if following and not tokens.apart(at + 1) and (plain := _HALF_HOURS.fullmatch(key)):
        seconds = _half_day(plain[1], plain[2], str(following[1]), (at, following[0]))
        return _zoned(scene, following[0], Clock((seconds,)))
    if ":" in key and (colon := _COLON.fullmatch(key)):
        seconds = _seconds(int(colon[1]), int(colon[2]), (at, at + 1))
        clock = Clock((seconds + int(colon[3] or 0) + float(colon[4] or 0),))
        if colon[5]:
            return at + 1, clock._replace(zone=_attached(scene, at, colon[5]))
        return _zoned(scene, at + 1, clock)
    if "h" in key and (hours := _HOURS.fullmatch(key)):
        if hours[2] is None and not led and (not after_day or int(hours[1]) > _LAST_HOUR + 1):
            return None
        return _zoned(
            scene, at + 1, Clock((_seconds(int(hours[1]), int(hours[2] or 0), (at, at + 1)),))
        )
    return _bare(scene, at, after_day=after_day, led=led)


def follows(tokens: Tokens, at: int, *roles: str) -> bool:
    """Return whether a phrase of one or two words of these roles ends right before this token."""
    return any(
        tokens.after(role, at - size) == at for role in roles for size in (1, 2) if size <= at
    )


def _bare(scene: Scene, at: int, *, after_day: bool, led: bool) -> tuple[int, Clock] | None:
    """Return `at 9` or `tomorrow 9`: asked, unless the language's own words settle it."""
    tokens = scene.tokens
    key = tokens.key(at)
    if not _BARE.fullmatch(key) or not (after_day or led):
        return None
    if not led and tokens.apart(at):
        return None
    zoned = zone_at(scene, at + 1, after_time=False)
    if not zoned and means_something(scene, at + 1):
        return None
    hour = int(key)
    if led and follows(tokens, at, "at24", "until_time"):
        return _zoned(scene, at + 1, Clock((_seconds(hour, 0, (at, at + 1)),)))
    first = _seconds(hour, 0, (at, at + 1))
    both = (first, first + _NOON * 3600) if 0 < hour < _NOON else (first,)
    if hour == _NOON:
        both = (first, 0)
    return _zoned(scene, at + 1, Clock(both, ask=True))


def _attached(scene: Scene, at: int, written: str) -> Zone:
    """Return the zone that is written to a time: 9:00-05:00.

    A later hour may be an end and is asked, but not after 2027-03-15, which is how offsets go.

    Raises:
        RefusalError: no such offset, as in 9:00-17:00.
    """
    key = scene.tokens.key(at)
    begin = key.removesuffix(written)
    zone = sure(written)
    if zone is None:
        mend = (f"{begin} to {written[1:]}", begin)
        said = scene.tokens.said(at, at + 1)
        raise RefusalError("leftover", tokens=(at, at + 1), mend=mend, said=said)
    dated = at > 0 and _DATE.fullmatch(scene.tokens.key(at - 1))
    if written[0] == "-" and begin.zfill(5) < written[1:] and not dated:
        return Zone(zone.name, (*zone.options, scene.zone), ask=True)
    return zone


def _in_part(scene: Scene, said: re.Match[str], part: str, span: tuple[int, int]) -> Clock:
    """Return 9 in the evening as 21:00; asked where the words leave two times, or none.

    Raises:
        RefusalError: a time of 24 hours in another part of the day.
    """
    hour, minute = int(said[1]), int(said[2] or 0)
    first = _seconds(hour, minute, span)
    both = (hour, (hour + _NOON) % 24) if 0 < hour <= _NOON else (hour,)
    fitting = [number for number in both if number in _PARTS[part]]
    if not fitting and len(both) == 1:
        mended = f"{hour}:{minute:02d}"
        raise RefusalError(
            "no_such_time", tokens=span, mend=(mended,), said=scene.tokens.said(*span)
        )
    if len(fitting) == 1:
        return Clock((_seconds(fitting[0], minute, span),))
    return Clock((first, _seconds(both[-1], minute, span)), ask=True)


def _zoned(scene: Scene, at: int, clock: Clock) -> tuple[int, Clock]:
    zone = zone_at(scene, at, after_time=True)
    return (zone[0], clock._replace(zone=zone[1])) if zone else (at, clock)


def _half_day(hour: str, minute: str | None, half: str, span: tuple[int, int]) -> int:
    number = int(hour)
    if not 1 <= number <= _NOON:
        mended = f"{number % _NOON or _NOON}pm"
        said = f"{hour}:{minute}{half}" if minute else f"{hour}{half}"
        raise RefusalError("no_such_time", tokens=span, mend=(mended,), said=said)
    number = number % _NOON + (_NOON if half == "pm" else 0)
    return _seconds(number, int(minute or 0), span)


def _seconds(hour: int, minute: int, span: tuple[int, int]) -> int:
    if hour > _LAST_HOUR or minute > _LAST_MINUTE:
        said = f"{hour}:{minute:02d}"
        raise RefusalError("no_such_time", tokens=span, mend=("23:00",), said=said)
    return (hour * 60 + minute) * 60
