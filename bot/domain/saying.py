"""Text for people, before any chat markup: sentences of words, moments and names.

The rooms that decide say what is so; `handlers` turns moments into the reader's own zone and
escapes every word. A plain `str` in a sentence is always shown as it is, never as markup.
"""

from typing import Literal

from bot.domain.base import Model
from bot.domain.values import Instant


class Moment(Model):
    """An instant, shown in the reader's zone with UTC beside it."""

    kind: Literal["moment"] = "moment"
    at: Instant


class Mention(Model):
    """A person or user group to be named; `ping` False shows the name without a notification."""

    kind: Literal["mention"] = "mention"
    id: str
    ping: bool = True


class Strong(Model):
    """Words to be shown bold."""

    kind: Literal["strong"] = "strong"
    text: str


class Code(Model):
    """A line that can be sent, or an id."""

    kind: Literal["code"] = "code"
    text: str


Phrase = str | Moment | Mention | Strong | Code
Sentence = tuple[Phrase, ...]


class Section(Model):
    """A titled group of sentences; an empty title shows none.

    `listing` is text to copy, shown exactly, line breaks and all, after the sentences.
    """

    title: str = ""
    sentences: tuple[Sentence, ...] = ()
    listing: str = ""


class Press(Model):
    """A button: what it does and the ids it carries, nothing that is decided by its text.

    `action` is one of the names in `handlers/ids.py`; `argument` at most 200 characters.
    """

    action: str
    label: str
    argument: str = ""
    style: Literal["primary", "danger"] | None = None
    confirm: str | None = None


class Choice(Model):
    """One entry of a menu: what is shown, and what choosing it carries."""

    label: str
    argument: str


class Menu(Model):
    """A menu: choosing an entry is like pressing a button with that argument."""

    action: str
    label: str
    choices: tuple[Choice, ...]


class Audience(Model):
    """Who sees it: a channel, one person by direct message, or one person in a channel."""

    channel: str | None = None
    user: str | None = None


class Announcement(Model):
    """One thing to say, rendered at the moment it is sent.

    `card`, `approval` and `home` are drawn from the record they name, as it then is; the others
    carry their own sections. `thread` is the message key of the card they belong under.
    """

    kind: Literal["card", "approval", "note", "whisper", "digest", "home"]
    to: Audience
    reservation_id: int | None = None
    proposal_id: int | None = None
    thread: str | None = None
    sections: tuple[Section, ...] = ()
    presses: tuple[Press, ...] = ()
    menus: tuple[Menu, ...] = ()
