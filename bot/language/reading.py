"""From tokens to parts: which recogniser goes first, and what no rule understands."""

import re
from collections.abc import Callable
from difflib import get_close_matches
from functools import cache
from typing import NamedTuple

from bot.language import durations, keyed, machines, money, people, places, spans, terms
from bot.language.refusals import RefusalError
from bot.language.scene import Found, Part, Scene
from bot.language.tokens import Kind
from bot.language.words import LEXICON

_WHEN = (
    "asap guaranteed in between after before by until start at vague today next weekday "
    "month article clock"
)
_RECOGNISERS: tuple[tuple[Callable[[Scene, int], Found | None], frozenset[str], bool], ...] = tuple(
    (recogniser, frozenset(roles.split()), numbers)
    for recogniser, roles, numbers in (
        (terms.spot, "spot", False),
        (terms.target, "target", False),
        (people.reason, "because purpose", False),
        (people.owner, "mention_for", False),
        (people.channel, "channel_in", False),
        (money.money, "cap dollar", True),
        (terms.use, "running use_lead", True),
        (spans.when, _WHEN, True),
        (durations.duration, "lasting strict number one", True),
        (places.regions, "anywhere region_in", False),
        (machines.machines, "strict number one", True),
    )
)
"""In order of precedence, the more exact wording earlier; with the roles of the words that begin
it, and whether a number or sign may."""
_BY_NAME = (places.regions, machines.machines)
"""Recognisers of the catalog's own names, which are in no table of words."""
_COUNTED = re.compile(r"(\d+)x?([a-z].*)")
_MARKED = re.compile(r"[`*]")
"""Slack's marks for code and bold, which people paste along."""
_DASH = re.compile(r"\s[-\u2010-\u2015]\s")
_MOST_WORDS = 8
"""Looking for the nearest name is dear; the first few words tell a slip."""
_MEASURES = ("unit", "month", "weekday", "dollar")
"""Words of time and money: a purpose that holds one may be a part that was not understood."""


class Parts(NamedTuple):
    """What was understood, and the token spans that were not."""

    found: tuple[Part, ...]
    leftover: tuple[tuple[int, int], ...]


@cache
def _plan(word: str) -> tuple[Callable[[Scene, int], Found | None], ...]:
    """Return the recognisers that a part which begins with this word may belong to."""
    roles = LEXICON.starts[word].keys()
    return tuple(
        recogniser
        for recogniser, begins, _ in _RECOGNISERS
        if recogniser in _BY_NAME or not begins.isdisjoint(roles)
    )


_NUMERIC = tuple(recogniser for recogniser, _, numbers in _RECOGNISERS if numbers)
_LENGTHS = (terms.use, durations.duration)
_COUNTS = (machines.machines,)
_LENGTH_ENDS = frozenset("hdw")
_OTHER = (money.money, spans.when, *_BY_NAME)


def _likely(scene: Scene, at: int) -> tuple[Callable[[Scene, int], Found | None], ...]:
    """Return what two words most likely begin: a number and its unit, `for` or `in` and theirs.

    None of them is of any use to the recognisers that it passes over.
    """
    word, following = scene.tokens.keys[at], scene.tokens.key(at + 1)
    if not word[0].isdigit():
        begins = scene.tokens.starts[at]
        if "lasting" in begins and following[:1].isdigit():
            return (durations.duration,)
        return (places.regions,) if "region_in" in begins and "-" in following else ()
    if word[-1] in _LENGTH_ENDS:
        return _LENGTHS
    if "x" in word or following in scene.names.types:
        return _COUNTS
    begins = scene.tokens.starts[at + 1] if following else {}
    if "unit" in begins:
        return _LENGTHS
    return _COUNTS if "gpu" in begins or "machine" in begins else ()


def recognise(scene: Scene, at: int) -> Found | None:
    """Return the part that begins at this token."""
    tokens = scene.tokens
    word = tokens.keys[at]
    if not word:
        return keyed.keyed(scene, at)
    for recogniser in _likely(scene, at):
        if found := recogniser(scene, at):
            return found
    by_shape = _OTHER if word[0].isalpha() else _NUMERIC
    recognisers = _plan(word) if tokens.starts[at] else by_shape
    for recogniser in recognisers:
        found = recogniser(scene, at)
        if found:
            return found
    return None


def read(scene: Scene, at: int) -> Parts:
    """Return all parts from this token to the end. Raises RefusalError from a recogniser."""
    tokens = scene.tokens
    parts: list[Part] = []
    leftover: list[tuple[int, int]] = []
    purpose_tried = False
    while at < tokens.count:
        found = recognise(scene, at)
        if found is None and not purpose_tried and "purpose" in tokens.starts[at]:
            purpose_tried = True
            found = people.purpose(scene, at, _holds_part(scene, at))
        if found:
            at = found[0]
            parts.extend(found[1])
        elif noise := tokens.phrase("noise", at):
            at = noise[0]
        else:
            if leftover and leftover[-1][1] == at:
                leftover[-1] = (leftover[-1][0], at + 1)
            else:
                leftover.append((at, at + 1))
            at += 1
    return Parts(tuple(parts), tuple(leftover))


def _holds_part(scene: Scene, at: int) -> bool:
    """Return whether the words after `for` hold a part of their own: then they are no purpose."""
    tokens = scene.tokens
    try:
        return any(
            recognise(scene, later) or any(tokens.phrase(role, later) for role in _MEASURES)
            for later in range(at + 1, tokens.count)
        )
    except RefusalError:
        return True


def leftover_refusal(scene: Scene, leftover: tuple[tuple[int, int], ...]) -> RefusalError:
    """Return the refusal that names what no rule understood, with the nearest way to say it."""
    tokens = scene.tokens
    slip = next((found for span in leftover[:_MOST_WORDS] if (found := _slip(scene, span))), None)
    if slip:
        return slip
    first = leftover[0]
    said = ", ".join(tokens.said(*span) for span in leftover)
    original = tokens.normal.original
    lines = [original.rstrip(" .!?:"), _MARKED.sub("", original)]
    if tokens.keys[first[0]] == "-":
        lines.append(_DASH.sub(" to ", original))
    before, rest = tokens.said(0, first[0]), tokens.said(first[0] + 1, tokens.count)
    lead = tokens.phrase("purpose", first[0]) or tokens.phrase("because", first[0])
    if lead and rest[:1].isalpha():
        lines.append(f"{before} because {_in_quotes(rest)}")
    lines.append(f"{before} {_in_quotes(tokens.said(first[0], tokens.count))}")
    lines.append(_without(scene, leftover))
    return RefusalError("leftover", tokens=first, mend=(), said=_short(said), lines=tuple(lines))


def _in_quotes(text: str) -> str:
    plain = text.replace('"', "'")
    return f'"{plain}"'


def _without(scene: Scene, spans_: tuple[tuple[int, int], ...]) -> str:
    tokens = scene.tokens
    kept, position = [], 0
    for start, end in (*spans_, (tokens.count, tokens.count)):
        kept.append(tokens.said(position, start))
        position = end
    return " ".join(part for part in kept if part)


def _slip(scene: Scene, span: tuple[int, int]) -> RefusalError | None:
    """Return the refusal for a word that is nearly a machine type or an accelerator."""
    tokens, names = scene.tokens, scene.names
    for at in range(span[0], min(span[1], span[0] + _MOST_WORDS)):
        word = tokens.keys[at]
        counted = _COUNTED.fullmatch(word)
        count, rest = (counted[1], counted[2]) if counted else ("", word)
        plain = rest.removeprefix("ml.")
        typed = "." in plain and any(part in plain for part in ("l", "x", "m"))
        near = get_close_matches(plain, names.types, 1, 0.6 if typed else 0.8) if plain else []
        if not near and len(plain) > 2 and not plain.isdigit() and not plain.isalpha():  # noqa: PLR2004 - H1
            near = [
                names.accelerators[key][0]
                for key in get_close_matches(plain, names.accelerators, 1, 0.75)
            ]
        if near and tokens.items[at].kind is Kind.WORD:
            mended = f"{count}x {near[0]}" if count else near[0]
            span = (at, at + 1)
            said = _short(tokens.said(*span))
            return RefusalError("type_slip", tokens=span, mend=(mended,), said=said, near=near[0])
    return None


def _short(said: str) -> str:
    return said if len(said) <= 60 else f"{said[:57]}..."  # noqa: PLR2004 - one line of a message
