"""The decision on one request, exactly as contracts.md §2 prints it."""

from enum import StrEnum
from typing import Literal

from bot.domain.base import Model
from bot.domain.market import Kind, NotRead, Segment
from bot.domain.values import Hours, Instant, Rate, Usd


class Certainty(StrEnum):
    """How sure it is that the machines are there at the start."""

    HELD = "held"
    GUARANTEED = "guaranteed"
    LIKELY = "likely"
    UNCERTAIN = "uncertain"
    UNKNOWN = "unknown"


class Note(Model):
    """A reason, warning, reject or advice: a stable code and a sentence for people."""

    code: str
    text: str


class Option(Model):
    """One way to take the capacity. `refs` are the market rows; several are a join's legs."""

    rank: int
    kind: Kind
    refs: tuple[str, ...]
    account: str
    region: str
    zone: str | None
    instance_type: str
    instance_count: int
    segments: tuple[Segment, ...]
    usable_end: Instant
    usable_hours: Hours
    total_usd: Usd
    usd_per_instance_hour: Rate
    usd_per_accelerator_hour: Rate
    versus_on_demand: Rate | None
    break_even_utilization: Rate | None
    certainty: Certainty
    cancellable: bool
    paid: Literal["upfront", "hourly", "already"]
    reasons: tuple[Note, ...]
    warnings: tuple[Note, ...]


class Rejected(Model):
    """A market row that is no option, with the first reason that applies."""

    kind: Kind
    refs: tuple[str, ...]
    region: str
    instance_type: str
    reason: Note


class Decision(Model):
    """Every market row stands in exactly one option or one rejection."""

    recommended: int | None
    options: tuple[Option, ...]
    rejected: tuple[Rejected, ...]
    not_read: tuple[NotRead, ...]
    advice: tuple[Note, ...]
    digest: str

    @property
    def pick(self) -> Option | None:
        """The recommended option, or None when nothing fits."""
        return self.options[0] if self.recommended == 1 else None
