"""The tokens of a normalised text: words, quoted strings, mentions and keys, with places."""

import re
from enum import Enum
from typing import NamedTuple

from bot.language.normalise import Normal
from bot.language.refusals import RefusalError
from bot.language.words import LEXICON, Meaning, Phrases, fold

KEYS = {
    "type": "type",
    "count": "count",
    "gpus": "gpus",
    "for": "for",
    "start": "start",
    "latest-start": "latest-start",
    "after": "after",
    "by": "by",
    "until": "until",
    "max": "max",
    "hourly": "hourly",
    "region": "region",
    "target": "target",
    "spot": "spot",
    "use": "use",
    "owner": "owner",
    "team": "team",
    "channel": "channel",
    "platform": "platform",
    "reason": "reason",
    "motivo": "reason",
    "budget": "max",
    "minimum": "minimum",
    "strict": "strict",
}
_VERBATIM = frozenset({"reason", "team", "platform", "channel", "owner"})
_LETTER = r"[^\s,;\"\ue000-\uf8ff]"
_PIECE = re.compile(
    rf" ?([\s,;]*)(?:((?!'){_LETTER}+(?:(?<=\d),(?=\d){_LETTER}+)*)|([\"'\ue000-\uf8ff])|$)"
)
"""What separates, and a word, or a quote or markup; a comma between digits belongs to its word."""
_MARKS = frozenset(",;\n\r")
"""Separators that keep two parts apart; a space does not."""
_DASHES = "-\u2014"
_KEY = re.compile(r"([-\u2014]{0,2})([^\W\d_][\w-]*?)(\s*=\s*(?!=)|(?=[\s,;]|$))")
_NOTHING: dict[str, Phrases] = {}


def _on_the(role: str, size: int) -> bool:
    """Return whether a phrase with `no` is Portuguese for "on the"; elsewhere it says "not"."""
    return role == "target" or (role in {"start", "region_in", "channel_in"} and size == 1)


def _without_on_the() -> dict[str, dict[str, Phrases]]:
    """Return the phrases by first word, `no` without what it means in Portuguese only."""
    roles = LEXICON.starts["no"].items()
    no = {
        role: tuple(entry for entry in entries if not _on_the(role, len(entry[0])))
        for role, entries in roles
    }
    return {**LEXICON.starts, "no": no}


_ELSEWHERE = _without_on_the()


class Kind(Enum):
    """What a token is."""

    WORD = "word"
    STRING = "string"
    KEY = "key"
    USER = "user"
    GROUP = "group"
    CHANNEL = "channel"
    CODE = "code"


class Token(NamedTuple):
    """One token. `key` is folded text (a KEY's canonical name); start and end are normalised.

    `apart` is true when a comma, semicolon or line end stands before it.
    """

    kind: Kind
    text: str
    key: str
    start: int
    end: int
    apart: bool


_new = tuple.__new__
"""Makes a token without NamedTuple's own call, which takes half of the time of reading a word."""


class Tokens:
    """The tokens of one text and what may be asked about them."""

    __slots__ = ("_keyed", "count", "items", "keys", "language", "normal", "starts")

    def __init__(self, normal: Normal, language: str) -> None:
        """Read the whole text. Raises RefusalError when a quote is not closed."""
        self.normal = normal
        self.language = language
        self.items: list[Token] = []
        self.keys: list[str] = []
        text = normal.text.rstrip()
        end = len(text) - 1 if text.endswith(".") and not text.endswith("..") else len(text)
        self._keyed = "=" in text
        self._read(0, end)
        self.count = len(self.items)
        starts = LEXICON.starts if language == "pt" else _ELSEWHERE
        self.starts = [starts.get(key, _NOTHING) for key in self.keys]

    def _read(self, position: int, end: int) -> None:
        """Read a stretch; begins anew behind a key, a quoted string or markup."""
        apart = False
        items, keys, keyed = self.items, self.keys, self._keyed
        while position < end:
            for found in _PIECE.finditer(self.normal.text, position, end):
                gap, word, other = found.groups()
                if gap:
                    apart = apart or not _MARKS.isdisjoint(gap)
                if word is None:
                    position = end
                    if other:
                        position, apart = self._no_word(found.start(3), end, apart=apart)
                    break
                start, stop = found.span(2)
                if keyed or word[0] in _DASHES:
                    key_end = self._key(start, end, apart=apart)
                    if key_end:
                        position, apart = key_end, False
                        break
                if word.isascii():
                    folded = word.lower()
                else:
                    word = word.replace("\u2014", "-")
                    folded = fold(word)
                items.append(_new(Token, (Kind.WORD, word, folded, start, stop, apart)))
                keys.append(folded)
                apart = False

    def _key(self, start: int, end: int, *, apart: bool) -> int:
        """Read a key and return where it ends; 0 when none begins here."""
        key = _KEY.match(self.normal.text, start, end)
        name = KEYS.get(fold(key[2])) if key and (key[1] or key[3]) else None
        if key is None or name is None:
            return 0
        self._add(Token(Kind.KEY, key[0], name, start, key.end(), apart))
        return key.end()

    def _no_word(self, position: int, end: int, *, apart: bool) -> tuple[int, bool]:
        """Read a quoted string or markup."""
        text = self.normal.text
        if text[position] in "\"'":
            return self._string(position, end, apart=apart)
        mark = self.normal.markup_at(position)
        kind = Kind(mark.kind) if mark else Kind.CODE
        named = mark.id if mark else text[position]
        self._add(Token(kind, named, "", position, position + 1, apart))
        return position + 1, False

    def _add(self, token: Token) -> None:
        """Keep a token that is no word; it has no key that a phrase could begin with."""
        self.items.append(token)
        self.keys.append("")

    def _string(self, position: int, end: int, *, apart: bool) -> tuple[int, bool]:
        text, quote = self.normal.text, self.normal.text[position]
        close = text.find(quote, position + 1, end)
        if quote == "'":
            while close != -1 and close + 1 < end and text[close + 1] not in " \t\n,;":
                close = text.find(quote, close + 1, end)
        if close == -1:
            raise RefusalError(
                "open_quote",
                place=self.normal.span(position, end),
                lines=(self.normal.original + quote,),
            )
        owner = self.items[-1] if self.items else None
        if owner is not None and owner.kind is Kind.KEY and owner.key not in _VERBATIM:
            self._read(position + 1, close)
            return close + 1, True
        raw = slice(self.normal.places[position + 1], self.normal.places[close])
        self._add(Token(Kind.STRING, self.normal.original[raw], "", position, close + 1, apart))
        return close + 1, False

    def phrase(self, role: str, at: int) -> tuple[int, Meaning] | None:
        """Return where the role's longest phrase at this token ends, and what it means."""
        if at >= self.count:
            return None
        entries = self.starts[at].get(role)
        if entries is None:
            return None
        for words, meaning in entries:
            size = len(words)
            if size == 1 or tuple(self.keys[at : at + size]) == words:
                return at + size, meaning
        return None

    def after(self, role: str, at: int) -> int:
        """Return where the role's phrase at this token ends, or the token itself."""
        found = self.phrase(role, at)
        return found[0] if found else at

    def key(self, at: int) -> str:
        """Return the folded word at this token, or nothing."""
        return self.keys[at] if at < self.count else ""

    def apart(self, at: int) -> bool:
        """Return whether a separator stands before this token, or the text ends there."""
        return at >= self.count or self.items[at].apart

    def said(self, start: int, end: int) -> str:
        """Return the original text of a span of tokens."""
        end = min(end, self.count)
        if end <= start:
            return ""
        first, last = self.place(start, end)
        return self.normal.original[first:last]

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Return the span in the original text that a span of tokens came from."""
        return self.normal.span(self.items[start].start, self.items[end - 1].end)
