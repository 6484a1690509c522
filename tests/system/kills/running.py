"""Plays journeys, undisturbed or killed at one point, each in a town of its own."""

import os
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.system.kills.books import Books, books_of
from tests.system.kills.journeys import JOURNEYS, Journey
from tests.system.kills.town import Zygote, town
from tests.system.kills.verdicts import differences

MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108 - a folder of ours in it
"""Where files are kept if it is there: a killed process leaves what it wrote, on disk or not."""


@dataclass(frozen=True)
class Reference:
    """An undisturbed journey: what it left, and the points it passed."""

    books: Books
    points: tuple[str, ...]


@cache
def zygote() -> Zygote:
    """This process's zygote; it ends with us, when its orders end."""
    return Zygote()


@cache
def reference(name: str) -> Reference:
    with (
        tempfile.TemporaryDirectory(prefix="gpubot-kills-", dir=MEMORY) as folder,
        town(zygote(), Path(folder)) as place,
    ):
        JOURNEYS[name](Journey(place))
        return Reference(books=books_of(place), points=tuple(place.life.passed))


def killed_at(name: str, point: str) -> list[str]:
    """What is wrong after the bot was killed at that point and started again."""
    undisturbed = reference(name).books
    with (
        tempfile.TemporaryDirectory(prefix="gpubot-kills-", dir=MEMORY) as folder,
        town(zygote(), Path(folder), fatal=point) as place,
    ):
        try:
            JOURNEYS[name](Journey(place))
        except AssertionError as stuck:
            return [f"the journey stopped: {stuck}", *log_of(Path(folder))]
        if place.deaths != 1:
            return [f"the bot died {place.deaths} times"]
        wrong = differences(point, books_of(place), undisturbed)
        return wrong + log_of(Path(folder)) if wrong else []


def log_of(folder: Path) -> list[str]:
    log = folder / "bot.log"
    return [f"  log: {line}" for line in log.read_text().splitlines()[-8:]] if log.exists() else []
