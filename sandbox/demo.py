"""`python -m sandbox.demo`: one journey, played over HTTP and told as a conversation.

Everything goes through the control surface, as a stranger's script would; after each step the
simulated AWS's own books are asked whether the step is really there.
"""

import json
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from sandbox.bot_process import free_port

Json = dict[str, Any]
T = TypeVar("T")

SEED = 7
ANA, BRUNO, CARLA = "U0ANA", "U0BRUNO", "U0CARLA"
REQUESTS, APPROVALS = "C0GPU", "C0APPROVE"
PLACES = {
    REQUESTS: "#gpu",
    APPROVALS: "#gpu-approvals",
    "D0ANA": "to ana",
    "D0BRUNO": "to bruno",
    "D0CARLA": "to carla",
}
NAMES = {ANA: "ana", BRUNO: "bruno", CARLA: "carla", "U0GPUBOT": "gpubot"}
MACHINES, COUNT = "p5.48xlarge", 2
# sandbox/config.yaml: the digest comes at 09:00 in São Paulo, which is 12:00 UTC all year.
DIGEST_HOUR_UTC = 12
# AWS takes a Capacity Block's machines back 30 minutes before its end (EC2 User Guide).
TAIL = timedelta(minutes=30)
READY_SECONDS = 40.0
STEP_SECONDS = 20.0


class DemoError(RuntimeError):
    """A step of the journey is not there; the message says which and what was seen."""


@dataclass(frozen=True, slots=True)
class Surface:
    """The control surface of a running sandbox."""

    address: str

    def get(self, path: str) -> Any:
        """The JSON at a path.

        Raises:
            DemoError: the sandbox refuses.
        """
        return self._send(urllib.request.Request(self.address + path))  # noqa: S310 - loopback

    def post(self, path: str, **body: Any) -> Any:
        """The JSON that a call answers.

        Raises:
            DemoError: the sandbox refuses.
        """
        request = urllib.request.Request(  # noqa: S310 - loopback
            self.address + path,
            data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        return self._send(request)

    def now(self) -> datetime:
        """What time it is in the world."""
        return read_time(self.get("/control/clock")["now"])

    def ready(self) -> bool:
        """Whether the bot answers commands."""
        try:
            self.get("/control/ready")
        except (DemoError, OSError):
            return False
        return True

    def _send(self, request: urllib.request.Request) -> Any:
        # Loopback only: a proxy of this machine has no part in it.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=600) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                said = error.read().decode(errors="replace")
            raise DemoError(f"{request.selector} was refused: {said}") from error


def read_time(text: str) -> datetime:
    """An ISO 8601 time with Z."""
    return datetime.fromisoformat(text)


@dataclass(slots=True)
class Conversation:
    """What people and the bot say, printed once, with the world's clock beside it."""

    surface: Surface
    write: Callable[[str], object]
    seen: dict[tuple[str, str], str] = field(default_factory=dict)

    def person(self, user: str, place: str, text: str) -> None:
        """Print what a person does."""
        self._line(self.surface.now(), place, NAMES[user], text)

    def world(self, text: str) -> None:
        """Print what happens in the world."""
        self._line(self.surface.now(), "", "*", text)

    def catch_up(self) -> list["Said"]:
        """Print what the bot has said since the last time; those messages."""
        new, lines = [], []
        for said in self.messages():
            before = self.seen.get((said.channel, said.ts))
            if before == said.text or said.deleted:
                continue
            self.seen[said.channel, said.ts] = said.text
            if before is None:
                new.append(said)
                lines.append((said.at, said, said.text))
            else:
                fresh = [line for line in said.text.splitlines() if line not in before]
                lines.append((self.surface.now(), said, "\n".join(["(changes)", *fresh[:4]])))
        for at, said, text in sorted(lines, key=lambda line: line[0]):
            self._line(at, PLACES[said.channel], NAMES.get(said.user, "slack"), text)
        return new

    def messages(self) -> Iterator["Said"]:
        """Every message that the journey's people can see."""
        for channel in PLACES:
            person = next((u for u in NAMES if channel == "D" + u[1:]), ANA)
            path = f"/control/slack/messages?channel={channel}&user={person}"
            for message in self.surface.get(path):
                yield Said(channel, message)

    def wait_for(self, what: str, look: Callable[[], T | None]) -> T:
        """The first answer of `look` that is not None.

        Raises:
            DemoError: there is none in time.
        """
        limit = time.monotonic() + STEP_SECONDS
        while True:
            found = look()
            self.catch_up()
            if found is not None:
                return found
            if time.monotonic() > limit:
                raise DemoError(f"{what} did not come within {STEP_SECONDS:.0f} seconds")
            time.sleep(0.1)

    def _line(self, at: datetime, place: str, name: str, text: str) -> None:
        first, *others = text.splitlines() or [""]
        self.write(f"{at:%a %d %b %H:%M}Z  {place:<14} {name:>7}  {first}\n")
        for other in others:
            self.write(f"{'':<17}  {'':<14} {'':>7}  {other}\n")


class Said:
    """One message of the bot, or of Slack itself."""

    def __init__(self, channel: str, message: Json) -> None:
        self.channel = channel
        self.ts: str = message["ts"]
        self.user: str = message["user"]
        self.deleted: bool = message["deleted"]
        self.blocks: list[Json] = message["blocks"]
        lines = [*words_of(self.blocks)] or [plain(message["text"])]
        labels = [f"[{one['text']['text']}]" for one in self.buttons()]
        self.text = "\n".join([*lines, *([" ".join(labels)] if labels else [])])
        self.at = datetime.fromtimestamp(int(self.ts.split(".")[0]), tz=UTC)

    def buttons(self) -> list[Json]:
        """The buttons of the message."""
        held = [*self.blocks, *(e for b in self.blocks for e in b.get("elements", []))]
        held += [b["accessory"] for b in self.blocks if "accessory" in b]
        return [one for one in held if one.get("type") == "button"]

    def has(self, action_id: str) -> bool:
        """Whether it can be pressed."""
        return any(one.get("action_id") == action_id for one in self.buttons())


def words_of(blocks: list[Json]) -> Iterator[str]:
    """The lines of text in the blocks, as a person reads them."""
    for block in blocks:
        parts = [block.get("text"), *block.get("fields", []), *block.get("elements", [])]
        for part in parts:
            if isinstance(part, dict) and part.get("type") in {"mrkdwn", "plain_text"}:
                yield from plain(part["text"]).splitlines()


def plain(text: str) -> str:
    """Mrkdwn without its marks: dates by their fallback, links by their label."""
    text = re.sub(r"<@(\w+)(?:\|[^>]*)?>", lambda m: "@" + NAMES.get(m[1], m[1]), text)
    text = re.sub(r"<[^<>|]*\|([^<>]*)>", r"\1", text)
    text = re.sub(r"<([^<>]*)>", r"\1", text)
    text = re.sub(r"(?<!\w)[*_~`]|[*_~`](?!\w)", "", text)
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


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
            f"{sale['zone']}, ${sale['fee']}, {sale['state']}"
        )
        return sale

    def paid(self, sale_id: str) -> None:
        """The payment goes through; the bot says scheduled only then."""
        self.go(self.surface.now() + timedelta(hours=1), "an hour for the payment")
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
        self.surface.post("/control/clock", set=to.isoformat())
        self.talk.catch_up()
        self.talk.world(f"the clock is at {why}")

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
        except (DemoError, urllib.error.URLError) as error:
            sys.stderr.write(f"the demo stopped: {error}\n{tail(Path(folder) / 'bot.log')}")
            return 1
        finally:
            sandbox.terminate()
            sandbox.wait()
    sys.stdout.write(f"\nthe whole journey took {time.monotonic() - begun:.0f} seconds\n")
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
