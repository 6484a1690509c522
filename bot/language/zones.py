"""Zones that a text names: IANA names, offsets, places, and abbreviations that must be asked."""

import re
from datetime import UTC, timedelta, timezone, tzinfo
from functools import cache
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from bot.language.scene import Scene

_OFFSET = re.compile(r"(?:utc|gmt)?([+-])(\d{2}):?(\d{2})")
_OFFSET_BEGINS = frozenset("+-ug")
_LETTERS = re.compile(r"[A-Z]{2,5}")
_LAST_HOUR, _LAST_MINUTE = 14, 59
PLACES = {
    "pt": "America/Los_Angeles",
    "mt": "America/Denver",
    "ct": "America/Chicago",
    "et": "America/New_York",
    "cet": "Europe/Brussels",
}
"""Abbreviations that name a place: the date decides the offset."""
_SEASONAL = {
    "pst": (-8, "America/Los_Angeles"),
    "pdt": (-7, "America/Los_Angeles"),
    "mst": (-7, "America/Denver"),
    "mdt": (-6, "America/Denver"),
    "est": (-5, "America/New_York"),
    "edt": (-4, "America/New_York"),
    "cest": (2, "Europe/Brussels"),
}
"""Abbreviations with one offset, asked when the place is on another one on that date."""
_SEVERAL = {
    "ist": ("Asia/Kolkata", "Asia/Jerusalem", "Europe/Dublin"),
    "cst": ("America/Chicago", "Asia/Shanghai", "America/Havana"),
    "bst": ("Europe/London", "Asia/Dhaka"),
    "ast": ("America/Halifax", "Asia/Riyadh"),
}
_ONE_GUESS = {
    "cdt": "America/Chicago",
    "jst": "Asia/Tokyo",
    "kst": "Asia/Seoul",
    "brt": "America/Sao_Paulo",
    "art": "America/Argentina/Buenos_Aires",
    "clt": "America/Santiago",
    "cot": "America/Bogota",
    "pet": "America/Lima",
    "sgt": "Asia/Singapore",
    "hkt": "Asia/Hong_Kong",
    "msk": "Europe/Moscow",
    "eet": "Europe/Athens",
    "eest": "Europe/Athens",
    "wet": "Europe/Lisbon",
    "west": "Europe/Lisbon",
    "aest": "Australia/Sydney",
    "aedt": "Australia/Sydney",
    "nzst": "Pacific/Auckland",
    "nzdt": "Pacific/Auckland",
    "akst": "America/Anchorage",
    "hst": "Pacific/Honolulu",
    "sast": "Africa/Johannesburg",
    "pkt": "Asia/Karachi",
}
_UTC_NAMES = frozenset({"utc", "gmt", "z"})


class Zone(NamedTuple):
    """A named zone: what may be meant, the place to compare a season with, and whether to ask."""

    name: str
    options: tuple[tzinfo, ...]
    place: tzinfo | None = None
    ask: bool = False


def zone_named(name: str) -> tzinfo | None:
    """Return the zone with this IANA name, or None."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


@cache
def _by_folded_name() -> dict[str, str]:
    return {name.lower(): name for name in available_timezones() if "/" in name}


def offset(word: str) -> tzinfo | None:
    """Return the fixed offset of +02:00, -0330 or UTC+02:00; None when it is none."""
    found = _OFFSET.fullmatch(word)
    if not found:
        return None
    hours, minutes = int(found[2]), int(found[3])
    if hours > _LAST_HOUR or minutes > _LAST_MINUTE:
        return None
    away = timedelta(hours=hours, minutes=minutes)
    if not away:
        return UTC
    return timezone(-away if found[1] == "-" else away)


def sure(word: str) -> Zone | None:
    """Return the zone of a folded word that leaves no question by itself."""
    if word in _UTC_NAMES:
        return Zone("UTC", (UTC,))
    if word in PLACES:
        return Zone(word.upper(), (ZoneInfo(PLACES[word]),))
    if "/" in word and word in _by_folded_name():
        name = _by_folded_name()[word]
        return Zone(name, (ZoneInfo(name),))
    fixed = offset(word) if word[:1] in _OFFSET_BEGINS else None
    return Zone(zone_label(fixed), (fixed,)) if fixed is not None else None


def zone_at(scene: Scene, at: int, *, after_time: bool = False) -> tuple[int, Zone] | None:  # noqa: PLR0911 - one return for each form
    """Return the zone at this token; letters nobody can know count only right after a time."""
    tokens = scene.tokens
    word = tokens.key(at)
    if not word:
        return None
    if after_time and word in {"in", "em", "en"}:
        inner = sure(tokens.key(at + 1))
        return (at + 2, inner) if inner and "/" in inner.name else None
    if found := sure(word):
        return at + 1, found
    if word in _SEASONAL:
        hours, place = _SEASONAL[word]
        fixed = timezone(timedelta(hours=hours), word.upper())
        return at + 1, Zone(word.upper(), (fixed,), ZoneInfo(place))
    if word in _SEVERAL:
        places = tuple(ZoneInfo(name) for name in _SEVERAL[word])
        return at + 1, Zone(word.upper(), places, ask=True)
    if not after_time:
        return None
    if word in _ONE_GUESS:
        guesses = (ZoneInfo(_ONE_GUESS[word]), scene.zone, UTC)
        return at + 1, Zone(word.upper(), guesses, ask=True)
    text = tokens.items[at].text
    if _LETTERS.fullmatch(text) and text != tokens.normal.original.strip() and _unknown(scene, at):
        return at + 1, Zone(text, (scene.zone, UTC), ask=True)
    return None


def _unknown(scene: Scene, at: int) -> bool:
    """Return whether capital letters mean nothing else, in a text that is not all capitals."""
    if scene.tokens.normal.text.isupper():
        return False
    known = (
        "noise start at after by before between and to in asap cap dollar lasting strict target "
        "spot because anywhere month weekday today unit machine gpu per_hour later half"
    )
    return not any(scene.tokens.phrase(role, at) for role in known.split())


def zone_label(zone: tzinfo) -> str:
    """Return the name that a person may type back: an IANA name, UTC or an offset."""
    if isinstance(zone, ZoneInfo):
        return str(zone)
    if zone is UTC:
        return "UTC"
    away = zone.utcoffset(None) or timedelta()
    minutes = int(away.total_seconds()) // 60
    sign = "-" if minutes < 0 else "+"
    return f"{sign}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"
