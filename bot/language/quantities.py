"""Whole numbers and number words, and what may follow a number to give it a meaning."""

import re

from bot.language.refusals import RefusalError
from bot.language.scene import Scene
from bot.language.tokens import Tokens

MOST_MACHINES = 256
_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)*")
_LONGEST = 12
_FOLLOWERS = frozenset(
    ("machine", "gpu", "unit", "month", "thousand", "dollar", "half", "per_hour", "use")
)


def number_at(tokens: Tokens, at: int) -> str | None:
    """Return the digits of a plain number or number word at this token."""
    key = tokens.key(at)
    if not key:
        return None
    if key[0].isdigit() or (key[0] == "-" and len(key) > 1):
        return key if _NUMBER.fullmatch(key) else None
    found = tokens.phrase("number", at)
    return str(found[1]) if found else None


def whole(text: str, span: tuple[int, int], *, joined_to: str = "") -> int:
    """Return a count of at least one; `joined_to` is the word it is written to (16xH100).

    Raises:
        RefusalError: zero, negative, a fraction, or longer than any count is.
    """
    mend = (f"1x{joined_to}",) if joined_to else ("1", "x1")
    if not text.isdigit():
        raise RefusalError("count_whole", tokens=span, mend=mend, said=text[:20])
    if len(text) > _LONGEST:
        raise RefusalError("too_many", tokens=span, mend=mend, limit=MOST_MACHINES)
    number = int(text)
    if number < 1:
        raise RefusalError("count_zero", tokens=span, mend=mend)
    return number


def means_something(scene: Scene, at: int) -> bool:
    """Return whether the token gives a number before it another meaning than itself."""
    tokens = scene.tokens
    key = tokens.key(at)
    if not key or tokens.apart(at):
        return False
    if key in {"x", "%"} or key in scene.names.types or key in scene.names.families:
        return True
    if key.replace("-", "") in scene.names.accelerators or key.startswith("ml."):
        return True
    begins = tokens.starts[at]
    if not begins:
        return False
    if any(tokens.phrase(role, at) for role in _FOLLOWERS.intersection(begins)):
        return True
    return bool(tokens.phrase("month", tokens.after("of", at)))
