"""Our record of a clean-up: what was left, whose it is, and how far its removal is."""

from enum import StrEnum

from bot.domain.base import Model
from bot.domain.market import NotRead
from bot.domain.using import Leftover
from bot.domain.values import Instant


class Maker(StrEnum):
    """Who made a thing: the bot, people with its launch kit, or nobody that its tags name."""

    BOT = "bot"
    KIT = "kit"
    UNKNOWN = "unknown"


class ItemStage(StrEnum):
    """How far the removal of one thing is."""

    FOUND = "found"
    ASKED = "asked"
    REMOVING = "removing"
    GONE = "gone"


class CleanItem(Model):
    """One thing. `asked_by` is who wants it removed, `agreed_by` who approved that."""

    leftover: Leftover
    maker: Maker
    stage: ItemStage
    asked_by: str | None = None
    agreed_by: str | None = None
    detail: str = ""
    gone_at: Instant | None = None


class CleanUp(Model):
    """A reservation's clean-up. `looks` counts looks since somebody last asked for something."""

    reservation_id: int
    items: tuple[CleanItem, ...] = ()
    not_read: tuple[NotRead, ...] = ()
    seen_at: Instant
    looks: int = 0

    @property
    def open(self) -> tuple[CleanItem, ...]:
        """Return what is not gone."""
        return tuple(item for item in self.items if item.stage is not ItemStage.GONE)

    @property
    def proved(self) -> bool:
        """Return whether AWS shows nothing left, in all of its books."""
        return not self.open and not self.not_read
