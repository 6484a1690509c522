"""The decision engine: pure, total and ordered; no clock, no network, no logging."""

from bot.engine.deciding import decide, near_misses
from bot.engine.digest import digest
from bot.engine.lines import line_of

__all__ = ["decide", "digest", "line_of", "near_misses"]
