"""A whole simulated world: one clock, one Slack, one AWS, one bot, one port."""

import asyncio
import contextlib
import dataclasses
import logging
import os
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Protocol

import aiohttp
from aiohttp import web

from sandbox.aws.supply import Supply
from sandbox.bot_process import LEASHED, REPOSITORY, BotProcess, Health, free_port
from sandbox.clock import WorldClock
from sandbox.control.aws import AwsControl
from sandbox.control.bot import BotControl
from sandbox.control.errors import guard
from sandbox.control.journey import Journey
from sandbox.control.slack import SlackControl
from sandbox.control.time import TimeControl
from sandbox.page import add_page
from sandbox.scenario import AwsEvent, Scenario
from sandbox.slack.acting import Acting
from sandbox.slack.api import WebApi
from sandbox.slack.faults import parse_fault
from sandbox.slack.routes import SlackRoutes
from sandbox.slack.scopes import granted_by
from sandbox.slack.transport import HttpTransport, SocketTransport
from sandbox.slack.workspace import Workspace

_log = logging.getLogger(__name__)

Mode = Literal["socket", "http"]

# The app is installed with what its manifest asks for, and no more.
MANIFEST = REPOSITORY / "manifest.yml"
# Slack's request URL for commands, interactivity and events; Bolt's own default.
EVENTS_PATH = "/slack/events"
# Wall seconds between two looks at what has fallen due while nobody jumps.
TICK_SECONDS = 0.2


class Aws(Protocol):
    """The simulated AWS as the world needs it."""

    def start(self) -> str:
        """Serve, and give the endpoint's URL."""

    def stop(self) -> None:
        """Serve no longer."""

    def add_fault(self, fault: dict[str, Any]) -> None:
        """Let the next matching calls meet a fault."""

    def event(self, event: dict[str, Any]) -> None:
        """Let something happen now."""

    def calls(self, operation: str | None) -> list[dict[str, Any]]:
        """Every API call so far."""

    def sold(self) -> list[dict[str, Any]]:
        """All that was sold or runs."""

    def queues(self) -> list[dict[str, Any]]:
        """The queues of events, and what they gave up."""

    def next_event(self) -> datetime | None:
        """When something changes next by time alone."""

    def settle(self) -> None:
        """Do all that is due."""


class MakeAws(Protocol):
    """How a world makes its AWS."""

    def __call__(
        self,
        *,
        now: Callable[[], datetime],
        seed: int,
        supply: Supply,
        kill_bot: Callable[[], None],
    ) -> Aws:
        """The simulated AWS, not yet serving."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a world is made from."""

    data: Path
    port: int = 0
    seed: int = 1
    mode: Mode = "socket"
    config: Path
    scenario: Scenario = dataclasses.field(default_factory=Scenario)
    command: Sequence[str] = LEASHED
    sign_in: Callable[[str, Path], dict[str, str]]


class Timetable:
    """The scenario's events, each at its instant."""

    def __init__(
        self, events: Sequence[AwsEvent], *, now: Callable[[], datetime], aws: Aws
    ) -> None:
        self._waiting = sorted(events, key=lambda event: event.at)
        self._now = now
        self._aws = aws
        self._lock = threading.Lock()

    def next_event(self) -> datetime | None:
        """When the next event stands in the timetable."""
        with self._lock:
            return self._waiting[0].at if self._waiting else None

    def settle(self) -> None:
        """Let all events happen that are due; one that cannot happen is logged and passed."""
        with self._lock:
            while self._waiting and self._waiting[0].at <= self._now():
                event = self._waiting.pop(0)
                try:
                    self._aws.event(event.order())
                except (ValueError, LookupError) as error:
                    at, name = event.at, event.event
                    _log.warning("the scenario's event %s at %s: %s", name, at, error)


class LiveBot:
    """The bot as a jump sees it: the process, and its report over HTTP."""

    def __init__(self, process: BotProcess, session: aiohttp.ClientSession) -> None:
        self._process = process
        self._session = session

    @property
    def running(self) -> bool:
        """Whether its process is alive."""
        return self._process.running

    async def report(self) -> Health | None:
        """Its own report, or None when it gives none."""
        return await self._process.health(self._session)


class World:
    """Everything that runs; made by `running`."""

    def __init__(self, settings: Settings, make_aws: MakeAws) -> None:
        self.settings = settings
        self.clock = WorldClock(settings.scenario.clock)
        self.workspace = Workspace(
            people=settings.scenario.everybody(),
            now=self.clock.now,
            scopes=granted_by(MANIFEST),
        )
        self.aws = make_aws(
            now=self.clock.now,
            seed=settings.seed,
            supply=settings.scenario.whole_supply(),
            kill_bot=self.kill_bot,
        )
        self.timetable = Timetable(settings.scenario.events, now=self.clock.now, aws=self.aws)
        self.socket = SocketTransport()
        self.address = ""
        self.bot: BotProcess | None = None
        for fault in settings.scenario.faults.slack:
            self.workspace.faults.add(fault.method, parse_fault(fault.fault), fault.times)
        for order in settings.scenario.faults.aws:
            self.aws.add_fault(order)

    def kill_bot(self) -> None:
        """SIGKILL to the bot, from any thread."""
        if self.bot is not None:
            self.bot.kill()

    def environment(self, endpoint: str) -> dict[str, str]:
        """The bot's environment: contracts of the settings, nothing of the host's own."""
        known = self.workspace.credentials
        values = {
            "SLACK_BOT_TOKEN": known.bot_token,
            "SLACK_SIGNING_SECRET": known.signing_secret,
            "SLACK_API_URL": f"{self.address}/api/",
            "AWS_ENDPOINT_URL": endpoint,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "AWS_EC2_METADATA_DISABLED": "true",
            "GPUBOT_DATABASE": f"sqlite:///{self.settings.data / 'gpubot.sqlite'}",
            "GPUBOT_CONFIG": str(self.settings.config),
            "GPUBOT_CLOCK": f"{self.address}/clock",
            "PYTHONUNBUFFERED": "1",
        }
        values |= self.settings.sign_in(endpoint, self.settings.config)
        if self.settings.mode == "socket":
            values["SLACK_APP_TOKEN"] = known.app_token
        return values


@contextlib.asynccontextmanager
async def running(settings: Settings, make_aws: MakeAws) -> AsyncIterator[World]:
    """A world that serves on its port with the bot started; all stopped at the end."""
    world = World(settings, make_aws)
    stopping = asyncio.Event()
    app = web.Application(middlewares=[guard])
    # One connection pool for asking the bot how it is; kept apart from what people do.
    session = aiohttp.ClientSession()
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    endpoint = await asyncio.to_thread(world.aws.start)
    try:
        port = settings.port or free_port()
        world.address = f"http://127.0.0.1:{port}"
        world.bot = BotProcess(
            environment=await asyncio.to_thread(world.environment, endpoint),
            log=settings.data / "bot.log",
            command=settings.command,
        )
        _add_routes(app, world, world.bot, session, stopping)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        await asyncio.to_thread(world.bot.start)
        ticking = asyncio.create_task(_tick(world))
        try:
            yield world
        finally:
            ticking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await ticking
    finally:
        stopping.set()
        if world.bot is not None:
            await asyncio.to_thread(world.bot.stop)
        await world.socket.close()
        await runner.cleanup()
        await session.close()
        await asyncio.to_thread(world.aws.stop)


def _add_routes(
    app: web.Application,
    world: World,
    bot: BotProcess,
    session: aiohttp.ClientSession,
    stopping: asyncio.Event,
) -> None:
    workspace = world.workspace
    transport = (
        world.socket
        if world.settings.mode == "socket"
        else HttpTransport(
            url=f"http://127.0.0.1:{bot.port}{EVENTS_PATH}",
            signing_secret=workspace.credentials.signing_secret,
            alive=lambda: bot.running,
        )
    )
    socket_url = world.address.replace("http", "ws", 1) + "/socket?ticket="
    api = WebApi(workspace, lambda: socket_url + world.socket.ticket() + "&app_id=A0GPUBOT")
    acting = Acting(workspace, transport, lambda key: f"{world.address}/respond/{key}")
    live = LiveBot(bot, session)
    journey = Journey(world.clock, (world.timetable, world.aws), live)
    SlackRoutes(workspace, api, world.socket, stopping).add_to(app)
    SlackControl(workspace, acting, api, world.socket).add_to(app)
    TimeControl(world.clock, journey).add_to(app)
    AwsControl(world.aws).add_to(app)
    BotControl(bot, live, transport).add_to(app)
    add_page(app)


async def _tick(world: World) -> None:
    """Let what falls due at wall speed happen, too."""
    while True:
        await asyncio.to_thread(world.timetable.settle)
        await asyncio.to_thread(world.aws.settle)
        await asyncio.sleep(TICK_SECONDS)
