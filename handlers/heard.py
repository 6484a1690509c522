"""An understood line, a pressed button and a sent form, as every room of verbs takes them."""

import re
from dataclasses import dataclass
from typing import Final

from bot.domain.errors import UserError
from bot.domain.records import Delivery, Person
from bot.domain.request import Parsed
from handlers.deliveries import Action, Command, Submission
from handlers.forms import FormContext
from handlers.ids import ButtonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One line, understood: who said it, where, and as which inbox row it was kept.

    `changes` is the reservation whose request the line replaces, when it came from that form.
    """

    delivery: int
    command: Command
    person: Person
    parsed: Parsed
    again: bool = False
    changes: int | None = None

    @property
    def user(self) -> str:
        """Who said it."""
        return self.command.user

    @property
    def locale(self) -> str:
        """The language to answer in."""
        return self.person.locale


@dataclass(frozen=True, slots=True, kw_only=True)
class Pressed:
    """One press: by whom, where, and what the button carried. `delivery` is its own row."""

    delivery: int
    action: Action
    person: Person
    value: ButtonValue

    @property
    def user(self) -> str:
        """Who pressed."""
        return self.action.user

    @property
    def locale(self) -> str:
        """The language to answer in."""
        return self.person.locale


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """One sent form, as it was kept in the inbox."""

    delivery: Delivery
    form: Submission
    person: Person
    context: FormContext


def outdated() -> UserError:
    """Return the refusal of a button that carries what no button of today carries."""
    return UserError("That button is from an older version of me.", hint="list", code="outdated")


def number_in(argument: str | None) -> int:
    """Return the number that a button carries. Raises UserError when it is none."""
    number = plain_number(argument or "")
    if number is None:
        raise outdated()
    return number


def plain_number(digits: str) -> int | None:
    """Return the number that at most twelve ASCII digits write; None for anything else."""
    return int(digits) if _NUMBER.fullmatch(digits) else None


_NUMBER: Final = re.compile(r"[0-9]{1,12}")
