"""A sandbox in this process with the real bot beside it, and a hold on everything in it."""

import asyncio
import contextlib
import json
import resource
import sqlite3
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

from sandbox.aws import SimulatedAws
from sandbox.bot_process import COMMAND, REPOSITORY, free_port
from sandbox.identity import sign_in
from sandbox.scenario import Scenario
from sandbox.telling import DemoError, Surface
from sandbox.world import Settings, World, running

CONFIG = Path(__file__).with_name("config.yaml")
LONGEST_WAIT_SECONDS = 60.0
PAUSE_SECONDS = 0.05
AT_REST, ORPHANED = "at rest", "waits for a call of a bot that was killed"
CALL_IS_OVER = timedelta(minutes=4)
"""Longer than twice the time that one purchase may take (bot.services.purchases.reconciling)."""
WINDOWS = [
    {
        "region": region,
        "zone": f"{region}{letter}",
        "instance_type": "p5.48xlarge",
        "available_from": "2027-03-11T11:30:00Z",
        "available_until": "2027-07-30T11:30:00Z",
        "instance_count": 40,
        "usd_per_instance_hour": price,
    }
    for region, letter, price in (
        ("us-east-1", "a", "31"),
        ("us-east-1", "b", "34"),
        ("us-west-2", "a", "36"),
    )
]


class StuckError(RuntimeError):
    """The bot does not come to rest."""


@dataclass
class Place:
    """One world with one database; a second bot may live on it for a while."""

    world: World
    surface: Surface
    folder: Path
    second: subprocess.Popen[bytes] | None = None
    clicks: dict[int, set[str]] = field(default_factory=dict)

    @property
    def database(self) -> Path:
        return self.folder / "gpubot.sqlite"

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Rows of the bot's own database."""
        with contextlib.closing(sqlite3.connect(self.database, timeout=20)) as database:
            return database.execute(sql).fetchall()

    def keep_alive(self) -> None:
        """Start the bot again when it is down, as its supervisor would."""
        if self.world.bot is not None and not self.world.bot.running:
            with contextlib.suppress(DemoError):
                self.surface.post("/control/bot/start")

    def start_second(self) -> None:
        """Have a second bot on the same database, of the same app."""
        assert self.world.bot is not None
        environment = self.world.bot.environment | {"PORT": str(free_port())}
        log = (self.folder / "second.log").open("ab")
        with log:
            self.second = subprocess.Popen(
                COMMAND, cwd=REPOSITORY, env=environment, stdout=log, stderr=log
            )
        port = environment["PORT"]
        self.until(lambda: asked(port), "the second bot to get ready")

    def end_second(self) -> None:
        if self.second is not None:
            self.second.kill()
            self.second.wait()
            self.second = None

    def fill_disk(self, pid: int, seconds: float) -> None:
        """Have every write of a process fail that would make a file longer than it is.

        A limit on the size of files ends a write as a full disk does: in its middle.
        """
        log = Path(f"{self.database}-wal")
        size = log.stat().st_size if log.exists() else 0
        with contextlib.suppress(ProcessLookupError):
            _, most = resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
            time.sleep(seconds)
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (most, most))

    def rest(self) -> None:
        """Wait until nothing that can be done now is undone.

        A call whose bot was killed while another lived on is known to be over by time alone.
        """
        if self.until(self._at_rest, "the bot to come to rest") == ORPHANED:
            self.world.clock.move_to(self.world.clock.now() + CALL_IS_OVER)
            self.until(self._at_rest, "the bot to see that a call is over")

    def _at_rest(self) -> str | None:
        assert self.world.bot is not None
        health = asked(str(self.world.bot.port))
        if health is None:
            return None
        purchases = health["backlog"].pop("purchases")
        if any(health["backlog"].values()):
            return None
        return ORPHANED if purchases else AT_REST

    def until(self, look: Any, what: str, seconds: float = LONGEST_WAIT_SECONDS) -> Any:
        """The first true value of `look()`; the bot is kept alive meanwhile.

        Raises:
            StuckError: it does not come in time.
        """
        limit = time.monotonic() + seconds
        while not (found := look()):
            self.keep_alive()
            if time.monotonic() > limit:
                raise StuckError(f"waited in vain for {what}")
            time.sleep(PAUSE_SECONDS)
        return found


def asked(port: str) -> dict[str, Any] | None:
    """A bot's own report, or None when it gives none."""
    try:
        with build_opener(ProxyHandler({})).open(
            f"http://127.0.0.1:{port}/healthz", timeout=2
        ) as answer:
            report: dict[str, Any] = json.load(answer)
            return report
    except (URLError, OSError, ValueError):
        return None


@contextlib.contextmanager
def place(
    folder: Path, seed: int, *, config: Path = CONFIG, supply: dict[str, Any] | None = None
) -> Iterator[Place]:
    """A world that runs in a thread; the bot is ready for commands."""
    sells = {"payment_seconds": (60, 900), "blocks": WINDOWS, **(supply or {})}
    settings = Settings(
        data=folder,
        seed=seed,
        config=config,
        scenario=Scenario.model_validate({"supply": sells}),
        sign_in=sign_in,
    )
    up, holder = threading.Event(), dict[str, Any]()

    async def live() -> None:
        stop = asyncio.Event()
        holder.update(loop=asyncio.get_running_loop(), stop=stop)
        async with running(settings, SimulatedAws) as world:
            holder["world"] = world
            up.set()
            await stop.wait()

    def run() -> None:
        try:
            asyncio.run(live())
        finally:
            up.set()

    thread = threading.Thread(target=run)
    thread.start()
    up.wait(60)
    world: World = holder["world"]
    made = Place(world=world, surface=Surface(world.address), folder=folder)
    try:
        made.until(made.surface.ready, "the bot to get ready")
        yield made
    finally:
        made.end_second()
        holder["loop"].call_soon_threadsafe(holder["stop"].set)
        thread.join(60)
