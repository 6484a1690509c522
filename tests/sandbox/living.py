"""A simulated world that lives in a thread, and a small client for its port."""

import asyncio
import contextlib
import json
import sys
import threading
import time
import urllib.error
import urllib.request
from datetime import datetime
from pathlib import Path

from sandbox.scenario import Scenario
from sandbox.world import Settings, World, running

STANDIN = Path(__file__).resolve().parent / "standin_bot.py"
OWN_CONFIG = Path(__file__).resolve().parents[2] / "sandbox" / "config.yaml"


class SmallAws:
    """The least AWS: remembers orders, and has a timetable that tests fill."""

    def __init__(self, *, now, seed, supply, kill_bot):
        self.now = now
        self.kill_bot = kill_bot
        self.seed = seed
        self.supply = supply
        self.orders = []
        self.waiting: list[datetime] = []
        self.settled: list[tuple[datetime, datetime]] = []

    def start(self):
        return "http://127.0.0.1:9"

    def stop(self):
        self.orders.append("stopped")

    def add_fault(self, fault):
        if "operation" not in fault:
            raise ValueError("a fault needs an operation")
        self.orders.append(fault)

    def event(self, event):
        if event.get("event") == "kill":
            self.kill_bot()
        self.orders.append(event)

    def calls(self, operation):
        return [{"operation": operation}] if operation else []

    def sold(self):
        return []

    def queues(self):
        return [{"name": "gpubot-events", "waiting": 0}]

    def next_event(self):
        return min(self.waiting, default=None)

    def settle(self):
        for moment in [m for m in self.waiting if m <= self.now()]:
            self.settled.append((moment, self.now()))
            self.waiting.remove(moment)


class Living:
    """A running world and its port."""

    def __init__(self, world: World):
        self.world = world
        self.address = world.address

    def call(self, path, body=None, *, headers=None):
        """Status and JSON of one request; POST when there is a body."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(  # noqa: S310 - loopback
            self.address + path,
            data=data,
            headers={"Content-Type": "application/json"} | (headers or {}),
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310 - loopback
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.loads(error.read())

    def status(self, path, body):
        """The status alone, for addresses that answer no JSON."""
        request = urllib.request.Request(  # noqa: S310 - loopback
            self.address + path, data=json.dumps(body).encode()
        )
        try:
            with urllib.request.urlopen(request) as answer:  # noqa: S310 - loopback
                return answer.status
        except urllib.error.HTTPError as error:
            with error:
                return error.code

    def get(self, path):
        status, body = self.call(path)
        assert status == 200, body
        return body

    def post(self, path, **body):
        status, answer = self.call(path, body)
        assert status == 200, answer
        return answer

    def api(self, method, **arguments):
        """One Web API call with the bot's token."""
        token = self.world.workspace.credentials.bot_token
        return self.call(f"/api/{method}", arguments, headers={"Authorization": f"Bearer {token}"})[
            1
        ]

    def command(self, text, user="U0ANA", channel="C0GPU", **more):
        return self.post("/control/slack/command", user=user, channel=channel, text=text, **more)

    def messages(self, channel="C0GPU", user=None):
        who = f"&user={user}" if user else ""
        return self.get(f"/control/slack/messages?channel={channel}{who}")

    def until(self, look, seconds=8.0):
        """The first true value of `look()`; waits for the other process's own progress."""
        pause = threading.Event()
        limit = time.monotonic() + seconds
        while not (found := look()):
            assert time.monotonic() < limit, "it did not happen in time"
            pause.wait(0.02)
        return found

    def message(self, text, **where):
        """The message with this text, as soon as it is there."""
        return self.until(
            lambda: next((m for m in self.messages(**where) if text in m["text"]), None)
        )


@contextlib.contextmanager
def living(data: Path, *, mode="socket", command=None, scenario=None):
    """A world with the stand-in bot, in a thread of its own, ready for commands."""
    settings = Settings(
        data=data,
        mode=mode,
        config=OWN_CONFIG,
        scenario=scenario or Scenario(),
        sign_in=lambda endpoint, config: {"AWS_ACCESS_KEY_ID": "key"},
        command=command or (sys.executable, str(STANDIN)),
    )
    up, stop = threading.Event(), None
    holder = {}

    async def live():
        nonlocal stop
        stop = asyncio.Event()
        holder["loop"] = asyncio.get_running_loop()
        async with running(settings, SmallAws) as world:
            holder["world"] = world
            up.set()
            await stop.wait()

    def run():
        try:
            asyncio.run(live())
        finally:
            up.set()

    thread = threading.Thread(target=run)
    thread.start()
    up.wait(20)
    try:
        world = Living(holder["world"])
        if command is None:
            world.until(lambda: world.call("/control/ready")[0] == 200, seconds=15)
        yield world
    finally:
        holder["loop"].call_soon_threadsafe(stop.set)
        thread.join(20)
