"""What is said back to one person: text for notifications and screen readers, and blocks."""

from collections.abc import Mapping
from dataclasses import dataclass

Block = dict[str, object]
"""One Block Kit block as Slack takes it."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message. `text` is what notifications and screen readers read: never empty."""

    text: str
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True, slots=True)
class Form:
    """A modal to open; `instead` is said when Slack no longer lets it open."""

    view: Mapping[str, object]
    instead: Message


@dataclass(frozen=True, slots=True)
class Reply:
    """What one delivery is answered with, in order: a form, messages, or nothing at all.

    With `replaces` the first message stands in place of the one whose button was pressed, so
    that it can't be pressed again.
    """

    messages: tuple[Message, ...] = ()
    form: Form | None = None
    replaces: bool = False


NOTHING = Reply()
"""The records speak for themselves: the living card is drawn anew."""
