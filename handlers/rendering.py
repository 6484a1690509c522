"""From words of the core to Slack's mrkdwn: escaped, in the reader's time, within the limits.

Rules: docs.slack.dev, "Formatting message text", read in January 2026. `&`, `<` and `>` are
escaped in that order; `*`, `_`, `~` and the backtick can't be escaped and are drawn alike.
Every mrkdwn object says `verbatim`, so that a bare @here or #channel stays what it is.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal

from bot.domain.saying import Code, Mention, Moment, Phrase, Sentence, Strong
from handlers.reply import Block

MOST_TEXT = 3_000
MOST_FIELD = 2_000
MOST_HEADER = 150
MOST_FIELDS = 10
MOST_CONTEXT = 10
MOST_LABEL = 75
ELLIPSIS = "…"

Names = Callable[[str], str]
"""Gives a person's name by user id, for naming somebody without waking them."""

_GRAVE = "\N{MODIFIER LETTER GRAVE ACCENT}"
_ALIKE = str.maketrans({"*": "\N{ASTERISK OPERATOR}", "`": _GRAVE, "~": "\N{TILDE OPERATOR}"})
_EDGE_UNDERSCORE = re.compile(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_OUR_PERSON = re.compile(r"(?<![\w;@.<])@([UWS][A-Z0-9]{4,})\b")
"""A person or group in our own sentences; what was typed as <@U…> is escaped and stays out."""
_UTC_MOMENT = re.compile(r"\b(\d{4}-[01]\d-[0-3]\d) ([0-2]\d:[0-5]\d) UTC\b")
"""A moment as bot.engine.words writes it."""
_LONG_HOURS = re.compile(r"\b(\d{1,6}\.\d{2,}) h\b")
_TOKEN = re.compile(r"<[^<>]*>|&(?:amp|lt|gt);|.", re.DOTALL)
_BREAKS = frozenset({"Cc", "Zl", "Zp"})
_UNSEEN = frozenset({"Cf", "Cs", "Co"})
"""Zero width, direction marks and overrides, tags; half characters; private use."""
_JOINERS = frozenset("\u200c\u200d")


def one_line(text: str) -> str:
    """Return the text without line breaks, and without what is not seen or turns what is.

    Joiners stay: several scripts can't be written without them.
    """
    if text.isascii() and text.isprintable():
        return " ".join(text.split())
    spaced = "".join(" " if unicodedata.category(c) in _BREAKS else c for c in text)
    seen = (c for c in spaced if unicodedata.category(c) not in _UNSEEN or c in _JOINERS)
    return " ".join("".join(seen).split())


def cut(text: str, most: int) -> str:
    """Return plain text of at most `most` characters, an ellipsis where it was cut."""
    return text if len(text) <= most else text[: most - 1].rstrip() + ELLIPSIS


def escape(text: str) -> str:
    """Return the text with Slack's three characters made harmless, `&` first."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def typed(text: str) -> str:
    """Return a slash command's text as it was typed: Slack's own encoding undone once."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def inert(text: str) -> str:
    """Return the text with every character that Slack would read as markup made harmless."""
    return escape(_EDGE_UNDERSCORE.sub("\N{MODIFIER LETTER LOW MACRON}", text.translate(_ALIKE)))


def shown(text: str) -> str:
    """Return words from outside as mrkdwn that shows exactly them: no markup, no ping."""
    return inert(one_line(text))


def dated(text: str) -> str:
    """Return a sentence of the core as mrkdwn: moments in the reader's zone, hours to a tenth."""

    def here(found: re.Match[str]) -> str:
        return moment(datetime.fromisoformat(f"{found[1]}T{found[2]}+00:00"))

    def tenth(found: re.Match[str]) -> str:
        return f"{Decimal(found[1]).quantize(Decimal('0.1'), rounding=ROUND_HALF_UP)} h"

    return _LONG_HOURS.sub(tenth, _UTC_MOMENT.sub(here, shown(text)))


def strong(text: str) -> str:
    """Return the words bold."""
    return f"*{shown(text)}*" if text.strip() else ""


def code(text: str) -> str:
    """Return a line that can be copied."""
    return f"`{escape(one_line(text).replace('`', _GRAVE))}`"


def utc_words(at: datetime) -> str:
    """Return a moment for readers without Slack's own clock: Mon 15 Mar 2027, 08:00 UTC."""
    return at.astimezone(UTC).strftime("%a %d %b %Y, %H:%M UTC")


def moment(at: datetime) -> str:
    """Return a moment in the reader's own zone, with UTC beside it."""
    seconds = int(at.timestamp())
    fallback = utc_words(at)
    there = at.astimezone(UTC).strftime("%H:%M UTC")
    return f"<!date^{seconds}^{{date_short_pretty}} at {{time}}|{fallback}> ({there})"


def unnamed(user_id: str) -> str:
    """Return what somebody is called when their name is not known."""
    return f"@{user_id}"


def mention(who: Mention, names: Names) -> str:
    """Return a ping, or only the name."""
    if not who.ping:
        return shown(names(who.id))
    return f"<!subteam^{who.id}>" if who.id.startswith("S") else f"<@{who.id}>"


def peopled(mrkdwn_text: str, names: Names | None = None) -> str:
    """Return escaped text of our own with every @U… in it as that person.

    With `names` it is the name, which wakes nobody. Without, it is a mention: only for messages
    that one person sees, where Slack notifies no other (docs.slack.dev, chat.postEphemeral).
    Never for words that a person typed.
    """

    def named(found: re.Match[str]) -> str:
        who = Mention(id=found[1], ping=names is None)
        return mention(who, names or unnamed)

    return _OUR_PERSON.sub(named, mrkdwn_text)


def mrkdwn(sentence: Sentence, names: Names = unnamed) -> str:
    """Return one sentence as mrkdwn."""
    return "".join(_phrase(phrase, names) for phrase in sentence)


def _phrase(phrase: Phrase, names: Names) -> str:
    match phrase:
        case str():
            kept = phrase.startswith((" ", "\n")), phrase.endswith((" ", "\n"))
            return " " * kept[0] + shown(phrase) + " " * (kept[1] and bool(phrase.strip()))
        case Moment():
            return moment(phrase.at)
        case Mention():
            return mention(phrase, names)
        case Strong():
            return strong(phrase.text)
        case Code():
            return code(phrase.text)


def plain(sentence: Sentence, names: Names = unnamed) -> str:
    """Return one sentence for the fallback text: escaped, times in UTC, nobody pinged twice."""
    said = []
    for phrase in sentence:
        match phrase:
            case str():
                said.append(inert(phrase))
            case Moment():
                said.append(utc_words(phrase.at))
            case Mention():
                said.append(mention(phrase, names))
            case Strong() | Code():
                said.append(inert(phrase.text))
    return one_line("".join(said))


def cut_mrkdwn(text: str, most: int) -> str:
    """Return mrkdwn of at most `most` characters, never cut inside an entity or a token."""
    if len(text) <= most:
        return text
    kept: list[str] = []
    size = 0
    for token in _TOKEN.findall(text):
        if size + len(token) > most - 1:
            break
        kept.append(token)
        size += len(token)
    return "".join(kept).rstrip() + ELLIPSIS


def words(text: str, *, most: int = MOST_TEXT) -> Block:
    """Return a mrkdwn text object that Slack does not parse any further."""
    return {"type": "mrkdwn", "text": cut_mrkdwn(text, most) or ELLIPSIS, "verbatim": True}


def label(text: str, *, most: int = MOST_LABEL) -> Block:
    """Return a plain text object."""
    return {"type": "plain_text", "text": cut(one_line(text), most) or ELLIPSIS, "emoji": False}


def section(text: str, *, accessory: Block | None = None) -> Block:
    """Return a paragraph, with a button beside it when one is given."""
    block: Block = {"type": "section", "text": words(text)}
    return block if accessory is None else {**block, "accessory": accessory}


def context(*texts: str) -> Block:
    """Return small print."""
    return {"type": "context", "elements": [words(text) for text in texts[:MOST_CONTEXT]]}


def header(text: str) -> Block:
    """Return a title."""
    return {"type": "header", "text": label(text, most=MOST_HEADER)}


def button(
    text: str,
    action_id: str,
    value: str,
    *,
    style: str | None = None,
    confirm: str | None = None,
) -> Block:
    """Return a button; `confirm` is asked before it counts."""
    block: Block = {
        "type": "button",
        "text": label(text),
        "action_id": action_id,
        "value": value,
    }
    if style is not None:
        block["style"] = style
    if confirm is not None:
        block["confirm"] = {
            "title": label("Are you sure?", most=100),
            "text": label(confirm, most=300),
            "confirm": label("Yes", most=30),
            "deny": label("No", most=30),
        }
    return block


def actions(buttons: Sequence[Block]) -> list[Block]:
    """Return rows of buttons; ids that repeat stand in rows of their own."""
    rows: list[list[Block]] = []
    for one in buttons:
        for row in rows:
            if len(row) < 5 and all(one["action_id"] != other["action_id"] for other in row):  # noqa: PLR2004 - five fit a phone's width
                row.append(one)
                break
        else:
            rows.append([one])
    return [{"type": "actions", "elements": list(row)} for row in rows]


def listing(text: str) -> Block:
    """Return text to copy, shown exactly as it is: in rich text nothing is markup."""
    shown_text: Block = {"type": "text", "text": text}
    lines: Block = {"type": "rich_text_preformatted", "elements": [shown_text]}
    return {"type": "rich_text", "elements": [lines]}


def actions_menu(text: str, action_id: str, options: Sequence[tuple[str, str]]) -> Block:
    """Return a menu in a row of its own; each option is its label and its value."""
    return {
        "type": "actions",
        "elements": [
            {
                "type": "static_select",
                "action_id": action_id,
                "placeholder": label(text, most=150),
                "options": [{"text": label(name), "value": value} for name, value in options],
            }
        ],
    }
