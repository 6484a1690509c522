"""A simulated Slack and a simulated AWS in this process, and the lives of the bot among them."""

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from aiohttp import web

from sandbox.aws import SimulatedAws, Supply
from sandbox.clock import WorldClock
from sandbox.scenario import Scenario
from sandbox.slack.acting import Acting
from sandbox.slack.api import WebApi
from sandbox.slack.people import TEAM_ID
from sandbox.slack.routes import SlackRoutes
from sandbox.slack.scopes import granted_by
from sandbox.slack.tickets import Triggers
from sandbox.slack.transport import Ack, Delivery, SocketTransport
from sandbox.slack.workspace import Workspace
from tests.system.kills.points import ROOT

CONFIG = Path(__file__).with_name("config.yaml")
START = datetime(2027, 3, 10, 15, tzinfo=UTC)
SEED = 11
KILLED = -9
SUPPLY = {
    "payment_seconds": [90, 90],
    "blocks": [
        {
            "region": "us-east-1",
            "zone": "us-east-1a",
            "instance_type": "p5.48xlarge",
            "available_from": "2027-03-17T11:30:00Z",
            "available_until": "2027-03-31T11:30:00Z",
            "instance_count": 4,
            "usd_per_instance_hour": "40",
        }
    ],
}


class DeadError(RuntimeError):
    """The bot has been killed."""


class Zygote:
    """The process that forks lives; each life is a process of its own."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.system.kills.zygote"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")},
            text=True,
        )
        if self.line() != "ready":
            raise RuntimeError("the zygote did not get ready")

    def line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def order(self, orders: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(orders) + "\n")
        self._process.stdin.flush()

    def close(self) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        self._process.wait(20)


class Life:
    """The near end of one life."""

    def __init__(self, zygote: Zygote, clock: WorldClock, orders: dict[str, Any]) -> None:
        self._zygote = zygote
        self._clock = clock
        self.passed: list[str] = []
        with socket.create_server(("127.0.0.1", 0)) as server:
            server.settimeout(60)
            address = list(server.getsockname())
            zygote.order(orders | {"address": address, "clock": self._time()})
            self._line, _ = server.accept()
        self._line.settimeout(120)
        self._stream = self._line.makefile("rw")

    def ask(self, do: str, **more: Any) -> dict[str, Any]:
        """The answer to one order.

        Raises:
            DeadError: the process was killed before it answered.
        """
        try:
            self._stream.write(json.dumps({"do": do, "clock": self._time()} | more) + "\n")
            self._stream.flush()
            text = self._stream.readline()
        except ConnectionError:
            text = ""
        if not text:
            status = int(self._zygote.line())
            self._line.close()
            if status != KILLED:
                raise AssertionError(f"the bot ended by itself, with status {status}")
            raise DeadError
        answer = json.loads(text)
        self.passed = answer["passed"]
        return answer

    def end(self) -> None:
        with contextlib.suppress(ConnectionError):
            self._stream.write(json.dumps({"do": "end", "clock": self._time()}) + "\n")
            self._stream.flush()
        self._zygote.line()
        with contextlib.suppress(ConnectionError):
            self._stream.close()
        self._line.close()

    def _time(self) -> str:
        return self._clock.now().isoformat()


@dataclass
class Wire:
    """Deliveries to the life that is on; see sandbox.slack.transport.Transport."""

    life: Life | None = None
    connected: bool = True

    async def deliver(self, delivery: Delivery) -> Ack:
        assert self.life is not None
        try:
            answer = await asyncio.to_thread(self.life.ask, "deliver", body=delivery.payload)
        except DeadError:
            return Ack(milliseconds=0, status="timeout", error="operation_timeout")
        body = json.loads(answer["body"]) if answer["body"] else None
        assert answer["status"] == 200, answer
        return Ack(milliseconds=0, status="ok", body=body)


@dataclass
class Town:
    """The world of one journey; `fatal` is the point at which its first life ends."""

    zygote: Zygote
    folder: Path
    fatal: str | None
    loop: asyncio.AbstractEventLoop
    clock: WorldClock
    workspace: Workspace
    aws: SimulatedAws
    acting: Acting
    wire: Wire
    environment: dict[str, str]
    deaths: int = 0
    calls: list[Any] = field(default_factory=list)

    @property
    def database(self) -> Path:
        return self.folder / "gpubot.sqlite"

    @property
    def life(self) -> Life:
        assert self.wire.life is not None
        return self.wire.life

    def be_born(self) -> None:
        self.wire.life = Life(
            self.zygote,
            self.clock,
            {
                "environment": self.environment,
                "config": str(CONFIG),
                "database": f"sqlite:///{self.database}",
                "log": str(self.folder / "bot.log"),
                "fatal": None if self.deaths else self.fatal,
            },
        )

    def be_born_again(self) -> None:
        """Start the bot again on what the last life left."""
        self.deaths += 1
        self.pass_a_second()
        self.be_born()

    def pass_a_second(self) -> None:
        """Let an act or a start take a second; the clock stands still otherwise."""
        self.clock.move_to(self.clock.now() + timedelta(seconds=1))

    def in_slack(self, act: Coroutine[Any, Any, Any]) -> Any:
        """What a person's act came to."""
        return asyncio.run_coroutine_threadsafe(act, self.loop).result(120)


@contextlib.contextmanager
def town(zygote: Zygote, folder: Path, *, fatal: str | None = None) -> Iterator[Town]:
    """A fresh world with the bot alive in it; all ended at the end.

    No clock of this machine has a part in it, so that a slow machine tells the same story.
    """
    clock = WorldClock(START, monotonic=lambda: 0.0)
    workspace = Workspace(
        people=Scenario().everybody(), now=clock.now, scopes=granted_by(ROOT / "manifest.yml")
    )
    workspace.triggers = Triggers(monotonic=lambda: 0.0)
    aws = SimulatedAws(now=clock.now, seed=SEED, supply=Supply.from_dict(SUPPLY))
    api = WebApi(workspace, lambda: "ws://127.0.0.1:9")
    wire, stopping = Wire(), asyncio.Event()
    endpoint = aws.start()
    with serving(SlackRoutes(workspace, api, SocketTransport(), stopping)) as (loop, address):
        acting = Acting(workspace, wire, lambda key: f"{address}/respond/{key}")
        environment = {
            "SLACK_BOT_TOKEN": workspace.credentials.bot_token,
            "SLACK_API_URL": f"{address}/api/",
            "SLACK_WORKSPACE": TEAM_ID,
            "AWS_ENDPOINT_URL": endpoint,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_ACCESS_KEY_ID": "AKIASANDBOXSANDBOX00",
            "AWS_SECRET_ACCESS_KEY": "sandbox",
        }
        made = Town(
            zygote, folder, fatal, loop, clock, workspace, aws, acting, wire, environment,
            calls=api.calls,
        )  # fmt: skip
        try:
            made.be_born()
            yield made
        finally:
            if made.wire.life is not None:
                made.wire.life.end()
            aws.stop()
    assert aws.failures == []


@contextlib.contextmanager
def serving(routes: SlackRoutes) -> Iterator[tuple[asyncio.AbstractEventLoop, str]]:
    """An event loop in a thread that serves Slack's addresses."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    app = web.Application()
    routes.add_to(app)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)

    async def start() -> int:
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        return int(runner.addresses[0][1])

    try:
        port = asyncio.run_coroutine_threadsafe(start(), loop).result(20)
        yield loop, f"http://127.0.0.1:{port}"
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(20)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(20)
        loop.close()
