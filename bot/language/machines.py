"""What is wanted: machine types, families, accelerators, and how many of them."""

import re
from typing import NamedTuple

from bot.language.names import squash
from bot.language.quantities import number_at, whole
from bot.language.refusals import RefusalError
from bot.language.scene import Found, Part, Scene, one

_JOINED = re.compile(r"(-?\d+(?:[.,]\d+)*)x(.*)", re.DOTALL)
_TIMES = re.compile(r"x(-?\d+(?:[.,]\d+)*)?")
_MOST_WORDS = 3


class Thing(NamedTuple):
    """Something that can be counted: kind is type, accelerator, gpu or machine."""

    kind: str
    readings: tuple[object, ...]
    end: int
    ml: bool = False


def _named(scene: Scene, name: str, span: tuple[int, int]) -> Thing | None:
    """Return the type or family that a folded word names."""
    names, end = scene.names, span[1]
    if name in names.types:
        return Thing("type", (names.types[name],), end)
    if name in names.families:
        return Thing("type", names.families[name], end)
    if name.startswith("ml.") and (name[3:] in names.types or name[3:] in names.families):
        inner = names.families.get(name[3:]) or (names.types[name[3:]],)
        with_ml = tuple(kind for kind in inner if names.kind(kind).ml_name)
        if not with_ml:
            raise RefusalError("no_ml", tokens=span, mend=(name[3:], ""), type=inner[0])
        return Thing("type", with_ml, end, ml=True)
    return None


def thing_at(scene: Scene, at: int, word: str | None = None) -> Thing | None:
    """Return what the token at this place names; `word` replaces the token's own text."""
    tokens = scene.tokens
    first = tokens.key(at) if word is None else word
    if not first:
        return None
    if named := _named(scene, first, (at, at + 1)):
        return named._replace(end=tokens.after("machine", at + 1))
    for size in range(_MOST_WORDS, 0, -1):
        if at + size <= tokens.count:
            name = squash("".join([first, *tokens.keys[at + 1 : at + size]]))
            readings = scene.names.accelerators.get(name, ())
            spaced = name.endswith("gb") or any(" " in str(found) for found in readings)
            if readings and (size == 1 or spaced):
                end = tokens.after("gpu", at + size)
                return Thing("accelerator", readings, end)
    return None


def _times_after(scene: Scene, at: int) -> tuple[int, int] | None:
    """Return where `x2` or `x 2` ends, and its number."""
    tokens = scene.tokens
    key = tokens.key(at)
    found = _TIMES.fullmatch(key) if key.startswith("x") else None
    if not found:
        return None
    if found[1]:
        return at + 1, whole(found[1], (at, at + 1))
    number = number_at(tokens, at + 1)
    if number is None:
        raise RefusalError("count_whole", tokens=(at, at + 1), mend=("x1",), said="x")
    return at + 2, whole(number, (at, at + 2))


def machines(scene: Scene, at: int) -> Found | None:  # noqa: PLR0911 - one return for each form
    """Recognise `2 p5.48xlarge`, `16xH100`, `8 gpus p5.4xlarge`, `p5.48xlarge x2` and the like."""
    tokens = scene.tokens
    if least := _at_least(scene, at):
        return least
    key = tokens.key(at)
    joined = _JOINED.fullmatch(key) if key and (key[0].isdigit() or key[0] == "-") else None
    if joined:
        return _counted(scene, at, joined[1], at + 1, joined[2])
    number = number_at(tokens, at)
    if number is not None and not tokens.phrase("unit", at + 1):
        after = at + 2 if tokens.key(at + 1) == "x" else at + 1
        found = _counted(scene, at, number, after, "")
        if found or after == at + 1:
            return found
    article = tokens.phrase("one", at)
    if article and (single := _named(scene, tokens.key(article[0]), (at, article[0] + 1))):
        return single.end, (Part("count", (1,), at, at + 1), *_parts(single, at, single.end))
    thing = thing_at(scene, at)
    if thing is None:
        times = _times_after(scene, at)
        return one("count", times[1], at, times[0]) if times else None
    parts = _parts(thing, at, thing.end)
    times = _times_after(scene, thing.end)
    if times:
        field = "gpus" if thing.kind == "accelerator" else "count"
        return times[0], (*parts, Part(field, (times[1],), thing.end, times[0]))
    return thing.end, parts


def _parts(thing: Thing, start: int, end: int) -> tuple[Part, ...]:
    part = Part(thing.kind, thing.readings, start, end)
    return (part, Part("ml", (True,), start, end)) if thing.ml else (part,)


def _counted(scene: Scene, start: int, digits: str, at: int, rest: str) -> Found | None:
    """Recognise what a number at `start` counts, from token `at` on (or joined to it)."""
    tokens = scene.tokens
    counter, noun = "count", at if rest else tokens.after("of", at)
    if not rest:
        if machine := tokens.phrase("machine", at):
            counter, noun = "machines", tokens.after("of", machine[0])
        elif gpu := tokens.phrase("gpu", at):
            counter, noun = "gpus", tokens.after("of", gpu[0])
    thing = thing_at(scene, at - 1, rest) if rest else thing_at(scene, noun)
    if thing is None and (rest or counter == "count"):
        if rest == "" and at == start + 1 and tokens.key(start).endswith("x"):
            whole(digits, (start, at))
        return None
    if thing is None:
        bare = tokens.phrase("machine", at) or tokens.phrase("gpu", at)
        end = bare[0] if bare else at
        return one(counter, whole(digits, (start, at)), start, end)
    if thing.kind == "accelerator" and counter == "count":
        counter = "gpus"
    number = whole(digits, (start, at), joined_to=rest)
    return thing.end, (Part(counter, (number,), start, noun), *_parts(thing, start, thing.end))


def _at_least(scene: Scene, at: int) -> Found | None:
    """Recognise `at least 6 of 8 p5.48xlarge`."""
    tokens = scene.tokens
    strict = tokens.phrase("strict", at)
    least = number_at(tokens, strict[0]) if strict else None
    if strict is None or least is None:
        return None
    after = tokens.after("of", strict[0] + 1)
    total = number_at(tokens, after)
    if after == strict[0] + 1 or total is None:
        return None
    found = machines(scene, after)
    if not found or not any(part.field in {"count", "machines"} for part in found[1]):
        raise RefusalError("minimum_machines", tokens=(at, after + 1), mend=(total,))
    minimum = Part("minimum", (whole(least, (at, after)),), at, after)
    return found[0], (minimum, *found[1])
