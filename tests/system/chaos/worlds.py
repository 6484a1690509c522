"""Worlds with several runs each: one after the other on one database, so that money adds up."""

import random
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.system.chaos.invariants import broken
from tests.system.chaos.mischief import draw
from tests.system.chaos.run import Run
from tests.system.chaos.world import place


@dataclass
class Told:
    """What the runs of one world came to."""

    lines: list[str] = field(default_factory=list)
    ends: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    runs: int = 0
    sold: int = 0


def play(seed: int, runs: int, until: float) -> Told:
    """Play the runs of one world, none after the wall time `until`."""
    told = Told()
    with tempfile.TemporaryDirectory(prefix="gpubot-chaos-") as folder:
        try:
            with place(Path(folder), seed) as here:
                known: set[str] = set()
                for number in range(runs):
                    if time.time() > until:
                        break
                    name, begun = f"{seed}.{number}", time.monotonic()
                    rng = random.Random(name)  # noqa: S311 - a draw that can be repeated
                    mischief = draw(rng)
                    end = Run(here, number, rng, mischief).play()
                    told.runs += 1
                    told.ends[end] += 1
                    took = time.monotonic() - begun
                    told.lines.append(f"{name} {took:4.1f}s {end}: {mischief.said()}")
                    fresh = [one for one in broken(here) if one not in known]
                    known |= set(fresh)
                    told.wrong += [f"{name} {one} ({mischief.said()})" for one in fresh]
                told.sold = len(here.surface.get("/control/aws/sold"))
        except Exception:  # noqa: BLE001 - a world that falls over is a finding like any other
            log = Path(folder) / "bot.log"
            tail = log.read_text(errors="replace")[-3000:] if log.exists() else ""
            told.wrong.append(f"{seed}.{told.runs} {traceback.format_exc()}\n{tail}")
    return told
