"""`/control/ready` and `/control/bot`: the bot's process."""

import asyncio
from typing import Protocol

from aiohttp import web

from sandbox.bot_process import BotProcess, Health
from sandbox.slack.transport import Transport

# How long a start is waited for, in wall time; it goes on after that.
START_SECONDS = 20.0


class Reporting(Protocol):
    """Something that asks the bot how it is."""

    async def report(self) -> Health | None:
        """Its own report, or None when it gives none."""


class BotControl:
    """Handlers of the bot's process."""

    def __init__(self, process: BotProcess, reporting: Reporting, transport: Transport) -> None:
        self._process = process
        self._reporting = reporting
        self._transport = transport

    def add_to(self, app: web.Application) -> None:
        """Register the addresses."""
        app.router.add_get("/control/ready", self.ready)
        app.router.add_get("/control/bot", self.show)
        app.router.add_post("/control/bot/kill", self.kill)
        app.router.add_post("/control/bot/start", self.start)

    async def ready(self, request: web.Request) -> web.Response:  # noqa: ARG002 - aiohttp's shape
        """200 once the bot answers commands, else 503 with why not."""
        why = await self._why_not()
        if why is None:
            return web.json_response({"ready": True})
        log = self._process.log_tail()
        return web.json_response({"ready": False, "why": why, "log": log}, status=503)

    async def show(self, request: web.Request) -> web.Response:  # noqa: ARG002 - aiohttp's shape
        """Pid, uptime, restarts."""
        return web.json_response(self._process.status())

    async def kill(self, request: web.Request) -> web.Response:  # noqa: ARG002 - aiohttp's shape
        """SIGKILL."""
        killed = await asyncio.to_thread(self._process.kill)
        return web.json_response(self._process.status() | {"killed": killed})

    async def start(self, request: web.Request) -> web.Response:  # noqa: ARG002 - aiohttp's shape
        """Start again on the same database; answered once the bot is ready, or has ended."""
        await asyncio.to_thread(self._process.start)
        limit = asyncio.get_running_loop().time() + START_SECONDS
        why = await self._why_not()
        while why is not None and self._process.running:
            if asyncio.get_running_loop().time() > limit:
                break
            await asyncio.sleep(0.05)
            why = await self._why_not()
        return web.json_response(self._process.status() | {"ready": why is None})

    async def _why_not(self) -> str | None:
        if not self._process.running:
            return "the bot is not running"
        health = await self._reporting.report()
        if health is None:
            return "the bot does not answer at /healthz yet"
        if health.status != "ok":
            return f"the bot says {health.status}"
        if not self._transport.connected or (health.mode == "socket" and not health.connected):
            return "the bot has no connection to Slack yet"
        return None
