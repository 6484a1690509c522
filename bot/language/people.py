"""Who for and where to: owners, channels, and the reason that a text ends with."""

import re

from bot.language.normalise import without_encoding
from bot.language.refusals import RefusalError
from bot.language.scene import Found, Part, Scene, one
from bot.language.tokens import Kind

LONGEST_REASON = 500
_USER = re.compile(r"[UW][A-Z0-9]{2,}")
_CHANNEL = re.compile(r"[CGD][A-Z0-9]{2,}")
"""Slack's own ids; after a key they may stand bare."""


def owner(scene: Scene, at: int, *, keyed: bool = False) -> Found | None:
    """Recognise `for @dana`; a group cannot own and is asked."""
    tokens = scene.tokens
    lead = tokens.phrase("mention_for", at)
    who = lead[0] if lead else at
    if (lead is None and not keyed) or who >= tokens.count:
        return None
    item = tokens.items[who]
    if item.kind is Kind.USER or (keyed and _USER.fullmatch(item.text)):
        return one("owner", item.text, at, who + 1)
    if item.kind is Kind.GROUP:
        return who + 1, (Part("owner", (), at, who + 1, unsure=True),)
    return None


def channel(scene: Scene, at: int, *, keyed: bool = False) -> Found | None:
    """Recognise `in #channel`."""
    tokens = scene.tokens
    lead = tokens.phrase("channel_in", at)
    where = lead[0] if lead else at
    if (lead is None and not keyed) or where >= tokens.count:
        return None
    item = tokens.items[where]
    if item.kind is Kind.CHANNEL or (keyed and _CHANNEL.fullmatch(item.text)):
        return one("channel", item.text, at, where + 1)
    return None


def reason(scene: Scene, at: int, *, keyed: bool = False) -> Found | None:
    """Recognise `because "…"`, and one unquoted word after a key.

    Raises:
        RefusalError: longer than a reason may be.
    """
    tokens = scene.tokens
    lead = tokens.phrase("because", at) or tokens.phrase("purpose", at)
    text = at if keyed else lead[0] if lead else None
    if text is None or text >= tokens.count:
        return None
    item = tokens.items[text]
    if item.kind is Kind.STRING and not item.text.strip():
        return text + 1, (Part("reason", (), at, text + 1, unsure=True),)
    if item.kind is Kind.STRING:
        return one("reason", reason_text(item.text, (at, text + 1)), at, text + 1)
    if keyed and item.kind is Kind.WORD:
        said = tokens.said(text, text + 1)
        return one("reason", reason_text(said, (at, text + 1)), at, text + 1)
    return None


def purpose(scene: Scene, at: int, holds_part: bool) -> Found | None:  # noqa: FBT001 - one caller
    """Recognise a last `for fine-tuning llama`, which runs to the end and is nothing else."""
    tokens = scene.tokens
    lead = tokens.phrase("purpose", at)
    if lead is None or lead[0] >= tokens.count or holds_part:
        return None
    first = tokens.items[lead[0]]
    if first.kind is not Kind.WORD or not first.text[0].isalpha():
        return None
    if any(item.kind is not Kind.WORD or item.text[0] == "@" for item in tokens.items[at:]):
        return None
    end = tokens.count
    for last in range(lead[0] + 1, tokens.count):
        if _only(scene, "noise" if tokens.apart(last) else "courtesy", last):
            end = last
            break
    said = tokens.said(lead[0], end)
    return one("reason", reason_text(said, (at, tokens.count)), at, tokens.count)


def _only(scene: Scene, role: str, at: int) -> bool:
    """Return whether words of this role are all that follows."""
    while found := scene.tokens.phrase(role, at):
        at = found[0]
    return at == scene.tokens.count


def reason_text(raw: str, span: tuple[int, int]) -> str:
    """Return the reason as the person typed it. Raises RefusalError when it is too long."""
    text = without_encoding(raw)
    if len(text) > LONGEST_REASON:
        raise RefusalError("reason_long", tokens=span, limit=LONGEST_REASON, length=len(text))
    return text
