"""The text as the grammar reads it, with every character's place in the original.

Unicode NFKC; quotes, dashes and spaces made plain; invisible characters removed; Slack's
encoding undone once. Markup becomes one private-use character that points to its `Markup`.
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import NamedTuple

from bot.language.refusals import RefusalError

LONGEST = 3000
"""Slack cuts a slash command's text about here; nobody types more on purpose."""

_FIRST_PRIVATE, _LAST_PRIVATE = 0xE000, 0xF8FF
_INVISIBLE = frozenset("\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u00ad")
_DIRECTION = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_PLAIN = {
    **dict.fromkeys("“”„‟«»″〝〞", '"'),
    **dict.fromkeys("‘’‚‛′`´‹›", "'"),  # noqa: RUF001 - the look-alikes that are made plain
    **dict.fromkeys("‐‑‒–−﹣－⁃", "-"),  # noqa: RUF001 - the look-alikes that are made plain
    **dict.fromkeys("—―﹘⸺⸻", "\u2014"),  # noqa: RUF001 - the look-alikes that are made plain
    **dict.fromkeys("×✕✖⨯", "x"),  # noqa: RUF001 - the look-alikes that are made plain
    "≤": "<=",
}
_QUOTES = frozenset("\"'`") | {look for look, plain in _PLAIN.items() if plain in "\"'"}
"""What begins a reason: a mark behind one belongs to the reason, not to the quote."""
_MARKUP = re.compile(
    r"<(?:@(?P<user>[UW][A-Z0-9]+)|#(?P<channel>[CGD][A-Z0-9]+)|!subteam\^(?P<group>S[A-Z0-9]+)"
    r"|(?P<code>![^|<>\s]*)|(?P<link>(?:https?|mailto|ftp|tel|slack):[^|<>]*))"
    r"(?:\|(?P<label>[^<>]*))?>"
)
_SPECIAL = re.compile(r"[&`\u0080-\u00bf\u00d7\u00f7\u0100-\U0010ffff]")
"""What reads otherwise than it is written; the Latin letters with accents do not."""
_ENTITY = re.compile(r"&(amp|lt|gt);")
_CHARACTER = {"amp": "&", "lt": "<", "gt": ">"}


class Markup(NamedTuple):
    """One piece of Slack's markup: kind is user, channel, group or code."""

    kind: str
    id: str


@dataclass(frozen=True, slots=True)
class Normal:
    """A normalised text; `places[i]` is where character i stands in the original."""

    original: str
    text: str
    places: range | list[int]
    markup: tuple[Markup, ...]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the half-open span of the original that a normalised span came from."""
        return self.places[start], (self.places[end] if end > start else self.places[start])

    def markup_at(self, position: int) -> Markup | None:
        """Return the markup that the character at this position points to."""
        index = ord(self.text[position]) - _FIRST_PRIVATE
        return self.markup[index] if 0 <= index < len(self.markup) else None


def is_private(character: str) -> bool:
    """Return whether a normalised character stands for markup."""
    return _FIRST_PRIVATE <= ord(character) <= _LAST_PRIVATE


def without_encoding(text: str) -> str:
    """Return the text as the person typed it: Slack's own encoding undone once, no more."""
    if "<" in text:
        text = _MARKUP.sub(_label, text)
    return _ENTITY.sub(lambda found: _CHARACTER[found[1]], text) if "&" in text else text


def _label(found: re.Match[str]) -> str:
    label = found["label"]
    if found["user"]:
        return f"@{label or found['user']}"
    if found["channel"]:
        return f"#{label or found['channel']}"
    if found["group"]:
        return label or f"@{found['group']}"
    if found["link"]:
        return label or found["link"]
    return found[0]


def normalise(original: str) -> Normal:
    """Return the text as the grammar reads it.

    Raises:
        RefusalError: the text is too long, or holds direction overrides or foreign digits.
    """
    if len(original) > LONGEST:
        raise RefusalError("too_long", limit=LONGEST, length=len(original))
    if "<" not in original and not _SPECIAL.search(original):
        return Normal(original, original, range(len(original) + 1), ())
    letters: list[str] = []
    places: list[int] = []
    markup: list[Markup] = []
    position = 0
    for found in _MARKUP.finditer(original):
        _plain(original, position, found.start(), letters, places)
        kind = found.lastgroup if found["label"] is None else _kind(found)
        if kind == "link":
            inside = found.span("label") if found["label"] else found.span("link")
            first = len(places)
            _plain(original, *inside, letters, places)
            places[first : first + 1] = [found.start()]
        else:
            letters.append(chr(_FIRST_PRIVATE + len(markup)))
            places.append(found.start())
            markup.append(Markup(kind or "code", found[kind or "code"]))
        position = found.end()
    _plain(original, position, len(original), letters, places)
    places.append(len(original))
    return Normal(original, "".join(letters), places, tuple(markup))


def _kind(found: re.Match[str]) -> str:
    return next(kind for kind in ("user", "channel", "group", "code", "link") if found[kind])


def _plain(original: str, position: int, end: int, letters: list[str], places: list[int]) -> None:
    """Append the normalised characters of a stretch without markup."""
    while position < end:
        found = _SPECIAL.search(original, position, end)
        stop = found.start() if found else end
        marked = stop < end and stop > position and unicodedata.combining(original[stop])
        if marked and original[stop - 1] not in _QUOTES:
            stop -= 1  # a mark belongs to the plain letter before it
        if stop > position:
            letters.append(original[position:stop])
            places.extend(range(position, stop))
            position = stop
            continue
        start, letter = position, original[position]
        position += 1
        if letter == "&" and (entity := _ENTITY.match(original, start, end)):
            letter, position = _CHARACTER[entity[1]], entity.end()
        elif letter == "`":
            letter = "'"
        else:
            while (
                position < end
                and unicodedata.combining(original[position])
                and letter not in _QUOTES
            ):
                position += 1
            letter = _letters(original[start:position], start)
        letters.append(letter)
        places.extend([start] * len(letter))


def _letters(cluster: str, place: int) -> str:
    """Return what one non-ASCII character (with its marks) becomes."""
    first = cluster[0]
    if first in _INVISIBLE:
        return unicodedata.normalize("NFKC", cluster[1:])
    if first in _DIRECTION:
        raise RefusalError("direction", place=(place, place + 1))
    if first in _PLAIN:
        return _PLAIN[first] + cluster[1:]
    plain = ""
    for letter in unicodedata.normalize("NFKC", cluster):
        if is_private(letter):
            plain += "\ufffd"
        elif not letter.isascii() and letter.isdecimal():
            raise RefusalError("foreign_digit", place=(place, place + 1), said=letter)
        elif letter.isspace():
            plain += " "
        else:
            plain += _PLAIN.get(letter, letter)
    return plain
