"""What every recogniser sees, and what it hands back."""

from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from typing import NamedTuple, TypeAlias

from bot.language.names import Names
from bot.language.tokens import Tokens


@dataclass(frozen=True, slots=True)
class Scene:
    """One text being read: its tokens, who reads it, where and when.

    `language` is en, pt or es; `zone` the person's; `today` the date there.
    """

    tokens: Tokens
    names: Names
    now: datetime
    zone: tzinfo
    today: date
    language: str

    @property
    def day_first(self) -> bool:
        """Return whether the locale writes 15/03 and 1.500,00."""
        return self.language != "en"


class Part(NamedTuple):
    """One understood part: its readings, the tokens it came from, and whether to ask anyway."""

    field: str
    readings: tuple[object, ...]
    start: int
    end: int
    unsure: bool = False


Found: TypeAlias = tuple[int, tuple[Part, ...]]
"""Where a recogniser stopped, and the parts it understood."""


def one(field: str, value: object, start: int, end: int, *, unsure: bool = False) -> Found:
    """Return a single part with a single reading."""
    return end, (Part(field, (value,), start, end, unsure),)
