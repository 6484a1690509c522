"""`python -m sandbox.demo`: one journey, played over HTTP and told as a conversation.

Everything goes through the control surface, as a stranger's script would; after each step the
simulated AWS's own books are asked whether the step is really there.
"""

import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from sandbox.bot_process import free_port
from sandbox.telling import (
    ANA,
    APPROVALS,
    BRUNO,
    CARLA,
    PLACES,
    REQUESTS,
    Conversation,
    DemoError,
    Said,
    Surface,
    read_time,
)

Json = dict[str, Any]
SEED = 7
MACHINES, COUNT = "p5.48xlarge", 2
# sandbox/config.yaml: the digest comes at 09:00 in São Paulo, which is 12:00 UTC all year.
DIGEST_HOUR_UTC = 12
# AWS takes a Capacity Block's machines back 30 minutes before its end (EC2 User Guide).
TAIL = timedelta(minutes=30)
READY_SECONDS = 40.0


@dataclass(slots=True)
class Journey:
    """The steps, each checked against the simulated AWS's own books."""

    surface: Surface
    talk: Conversation

    def play(self) -> None:
        """Play all of it.

        Raises:
            DemoError: a step is not there.
        """
        self.ask()
        self.agree()
        sale = self.bought()
        start, end = read_time(sale["start"]), read_time(sale["end"])
        self.paid(sale["id"])
        self.reminded("the reminder 24 hours before the start", start - timedelta(hours=24), start)
        self.started(sale["id"], start)
        self.reminded("the reminder before the last minute", end - TAIL, end, ahead_hours=2)
        self.closed(end)
        self.digest(start, end)

    def ask(self) -> None:
        """Ana asks for capacity; a card comes; nothing is bought."""
        day = self.surface.now() + timedelta(days=7)
        text = f"reserve {COUNT} {MACHINES} for 3 days from {day:%b} {day.day}"
        self.talk.person(ANA, PLACES[REQUESTS], f"/gpu {text}")
        ack = self.surface.post("/control/slack/command", user=ANA, channel=REQUESTS, text=text)
        if ack["status"] != "ok":
            raise DemoError(f"the command was not acknowledged: {ack}")
        self.press("gpu.request", REQUESTS, ANA, "the card with its request button")
        self.expect_sold(0, "before anybody has approved")

    def agree(self) -> None:
        """Bruno approves, and Carla when the rules want two."""
        self.press("gpu.approve", APPROVALS, BRUNO, "the approval card")
        try:
            self.talk.wait_for("the purchase", self.some_sale)
        except DemoError:
            self.press("gpu.approve", APPROVALS, CARLA, "the purchase or a second approval card")

    def bought(self) -> Json:
        """The one sale in AWS's books, made by one call."""
        sale = self.talk.wait_for("the sale in AWS's books", self.some_sale)
        self.expect_sold(1, "after the approval")
        said = sale["instance_type"], sale["instance_count"]
        if said != (MACHINES, COUNT):
            raise DemoError(f"AWS sold {said}, asked for were {(MACHINES, COUNT)}")
        self.expect_one_purchase()
        self.talk.world(
            f"AWS's books: {sale['id']}, {sale['instance_count']} x {sale['instance_type']} in "
            f"{sale['zone']}, ${Decimal(sale['fee']):,.2f}, {sale['state']}"
        )
        return sale

    def paid(self, sale_id: str) -> None:
        """The payment goes through; the bot says scheduled only then."""
        self.go(self.surface.now() + timedelta(hours=1), "the payment")
        self.expect_state(sale_id, "scheduled")
        self.talk.wait_for("the word scheduled", lambda: self.said("scheduled"))

    def reminded(self, what: str, at: datetime, before: datetime, *, ahead_hours: int = 0) -> None:
        """A reminder came at `at`, or up to `ahead_hours` earlier."""
        self.go(at, what)
        early = at - timedelta(hours=ahead_hours)
        late = min(before, at + timedelta(minutes=10))
        self.expect_message(what, early, late)

    def started(self, sale_id: str, start: datetime) -> None:
        """The block is active, and somebody says so."""
        self.go(start + timedelta(minutes=15), "the start")
        self.expect_state(sale_id, "active")
        self.expect_message("the word that it is ready", start, start + timedelta(minutes=15))

    def closed(self, end: datetime) -> None:
        """The block is over; nothing else was bought on the way."""
        self.go(end + timedelta(minutes=15), "the end")
        self.expect_sold(1, "at the end")
        self.expect_one_purchase()

    def digest(self, start: datetime, end: datetime) -> None:
        """A digest came on one of the days."""
        for said in self.talk.messages():
            close = (said.at.hour, said.at.minute < 10) == (DIGEST_HOUR_UTC, True)
            if said.channel == REQUESTS and close and start.date() <= said.at.date() <= end.date():
                return
        raise DemoError(f"no digest came at {DIGEST_HOUR_UTC}:00 UTC in {PLACES[REQUESTS]}")

    def press(self, action_id: str, channel: str, user: str, what: str) -> None:
        """Wait for a message with that button, and press it."""

        def look() -> Said | None:
            shown = [m for m in self.talk.messages() if m.channel == channel and not m.deleted]
            return next((m for m in reversed(shown) if m.has(action_id)), None)

        card = self.talk.wait_for(what, look)
        label = next(b["text"]["text"] for b in card.buttons() if b["action_id"] == action_id)
        self.talk.person(user, PLACES[channel], f"presses [{label}]")
        ack = self.surface.post(
            "/control/slack/click", user=user, channel=channel, ts=card.ts, action_id=action_id
        )
        if ack["status"] != "ok":
            raise DemoError(f"pressing {action_id} was not acknowledged: {ack}")

    def go(self, to: datetime, why: str) -> None:
        """Move the clock, and tell what happened on the way."""
        self.talk.catch_up()
        self.talk.world(f"time passes until {to:%a %d %b %H:%M}Z: {why}")
        self.surface.post("/control/clock", set=to.isoformat())
        self.talk.catch_up()

    def some_sale(self) -> Json | None:
        """The first sale in AWS's books."""
        return next(iter(self.surface.get("/control/aws/sold")), None)

    def said(self, word: str) -> bool | None:
        """Whether any message holds the word."""
        found = any(word in message.text.lower() for message in self.talk.messages())
        return found or None

    def expect_sold(self, count: int, when: str) -> None:
        """AWS's books hold that many sales.

        Raises:
            DemoError: another number.
        """
        sold = self.surface.get("/control/aws/sold")
        if len(sold) != count:
            raise DemoError(f"AWS has {len(sold)} sales {when}, not {count}: {sold}")

    def expect_one_purchase(self) -> None:
        """Exactly one buying call went over the wire, dry runs aside.

        Raises:
            DemoError: none, or more.
        """
        calls = self.surface.get("/control/aws/calls?operation=PurchaseCapacityBlock")
        real = [call for call in calls if not call["params"].get("DryRun")]
        if len(real) != 1:
            raise DemoError(f"PurchaseCapacityBlock was called {len(real)} times, not once")

    def expect_state(self, sale_id: str, state: str) -> None:
        """The sale is in that state at AWS.

        Raises:
            DemoError: it is in another.
        """
        sold = self.surface.get("/control/aws/sold")
        found = next((sale["state"] for sale in sold if sale["id"] == sale_id), "missing")
        if found != state:
            raise DemoError(f"{sale_id} is {found} at AWS, not {state}")

    def expect_message(self, what: str, first: datetime, last: datetime) -> None:
        """The bot has said something between the two instants, the digest aside.

        Raises:
            DemoError: it has not.
        """
        for said in self.talk.messages():
            digest = said.channel == REQUESTS and (said.at.hour, said.at.minute) == (
                DIGEST_HOUR_UTC,
                0,
            )
            if first <= said.at <= last and not digest:
                return
        raise DemoError(f"{what} is missing between {first:%d %b %H:%M} and {last:%H:%M} UTC")


def main() -> int:
    """The exit status: 0 when the whole journey is there, 1 with a sentence when it is not."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="gpubot-demo-") as folder:
        port = free_port()
        options = ["--port", str(port), "--seed", str(SEED), "--data", folder]
        command = [sys.executable, "-m", "sandbox", *options]
        log = Path(folder) / "sandbox.log"
        with log.open("wb") as out:
            sandbox = subprocess.Popen(command, stdout=out, stderr=out)  # noqa: S603 - our own
        try:
            surface = Surface(f"http://127.0.0.1:{port}")
            wait_until_ready(surface, sandbox)
            Journey(surface, Conversation(surface, sys.stdout.write)).play()
            took = time.monotonic() - begun
            sys.stdout.write(f"\nthe whole journey took {took:.0f} seconds\n")
        except (DemoError, urllib.error.URLError) as error:
            sys.stderr.write(f"the demo stopped: {error}\n{tail(Path(folder) / 'bot.log')}")
            return 1
        finally:
            sandbox.terminate()
            sandbox.wait()
    return 0


def wait_until_ready(surface: Surface, sandbox: subprocess.Popen[bytes]) -> None:
    """Return when the bot answers commands.

    Raises:
        DemoError: the sandbox has ended, or the bot does not get ready.
    """
    limit = time.monotonic() + READY_SECONDS
    while not surface.ready():
        if sandbox.poll() is not None:
            raise DemoError("the sandbox has ended before it was ready")
        if down(surface):
            raise DemoError("the bot has ended before it was ready")
        if time.monotonic() > limit:
            raise DemoError(f"the bot was not ready within {READY_SECONDS:.0f} seconds")
        time.sleep(0.1)


def down(surface: Surface) -> bool:
    """Whether the bot was started and is not running any more."""
    try:
        status = surface.get("/control/bot")
    except (DemoError, OSError):
        return False
    return status["exit_status"] is not None


def tail(log: Path) -> str:
    """The last lines of the bot's log, for whoever has to find out why."""
    if not log.exists():
        return ""
    lines = log.read_text("utf-8", errors="replace").splitlines()[-8:]
    return "".join(f"  {line}\n" for line in lines)


if __name__ == "__main__":
    raise SystemExit(main())
