"""Where: regions by code or by the catalog's name."""

import re
from difflib import get_close_matches

from bot.language.refusals import RefusalError
from bot.language.scene import Found, Part, Scene, one

_CODE = re.compile(r"[a-z]{2}(?:-[a-z]+)+-\d[a-z0-9-]*")
_MOST_WORDS = 5


def region_at(scene: Scene, at: int) -> tuple[int, tuple[str, ...]] | None:
    """Return the codes that the words at this token may name, the longest name first.

    Raises:
        RefusalError: it looks like a code, and no such region is known.
    """
    tokens, regions = scene.tokens, scene.names.regions
    first = tokens.key(at)
    if not first:
        return None
    if "-" in first and first in regions:
        return at + 1, regions[first]
    if first not in scene.names.region_words and not _CODE.fullmatch(first):
        return None
    for size in range(min(_MOST_WORDS, tokens.count - at), 0, -1):
        words = " ".join(tokens.keys[at : at + size])
        codes = regions.get(words.replace("(", "").replace(")", "") if "(" in words else words)
        if codes:
            return at + size, codes
    if _CODE.fullmatch(first) and not tokens.phrase("target", at):
        near = get_close_matches(first, scene.names.catalog.regions, 1, 0.5)
        raise RefusalError("no_such_region", tokens=(at, at + 1), mend=(*near, ""), said=first)
    return None


def regions(scene: Scene, at: int) -> Found | None:
    """Recognise `in us-east-1, us-west-2`, `in Ohio`, `anywhere`."""
    tokens = scene.tokens
    if free := tokens.phrase("anywhere", at):
        return one("anywhere", value=True, start=at, end=free[0])
    lead = tokens.phrase("region_in", at)
    begin = lead[0] if lead else at
    begin = tokens.after("article", begin) if lead else begin
    found = region_at(scene, begin)
    if found is None:
        return None
    end, codes = found
    listed = [codes]
    while end < tokens.count:
        joined = tokens.phrase("or", end)
        if joined is None and not tokens.apart(end):
            break
        onward = joined[0] if joined else end
        onward = tokens.after("region_in", onward) if joined else onward
        more = region_at(scene, onward)
        if more is None:
            break
        end = more[0]
        listed.append(more[1])
    doubtful = next((codes for codes in listed if len(codes) > 1), None)
    if doubtful is not None:
        sure = tuple(codes[0] for codes in listed if len(codes) == 1)
        readings = tuple((*sure, code) for code in doubtful)
        return end, (Part("regions", readings, at, end, unsure=True),)
    return one("regions", tuple(dict.fromkeys(codes[0] for codes in listed)), at, end)
