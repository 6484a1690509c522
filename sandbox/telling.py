"""Talking to a sandbox over its control surface, and telling what happens as a conversation."""

import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

Json = dict[str, Any]
T = TypeVar("T")

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
STEP_SECONDS = 20.0
MOST_FRESH = 8


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
    told: set[str] = field(default_factory=set)

    def person(self, user: str, place: str, text: str) -> None:
        """Print what a person does."""
        self._line(self.surface.now(), place, NAMES[user], text)

    def world(self, text: str) -> None:
        """Print what happens in the world."""
        self._line(self.surface.now(), "", "*", text)

    def catch_up(self) -> None:
        """Print what the bot has said since the last time; of a change, only what is new."""
        lines = []
        for said in self.messages():
            before = self.seen.get((said.channel, said.ts))
            if before == said.text or said.deleted:
                continue
            self.seen[said.channel, said.ts] = said.text
            if before is None:
                lines.append((said.at, said, said.text))
            elif fresh := self._fresh(before, said.text):
                lines.append((self.surface.now(), said, "\n".join(["(changes)", *fresh])))
        for at, said, text in sorted(lines, key=lambda line: line[0]):
            self._line(at, PLACES[said.channel], NAMES.get(said.user, "slack"), text)

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

    @staticmethod
    def _fresh(before: str, after: str) -> list[str]:
        """The lines of a changed message that it did not have."""
        return [line for line in after.splitlines() if line not in before][:MOST_FRESH]

    def _line(self, at: datetime, place: str, name: str, text: str) -> None:
        first, *others = text.splitlines() or [""]
        self.write(f"{at:%a %d %b %H:%M}Z  {place:<14} {name:>7}  {first}\n")
        rest = "\n".join(others)
        if rest in self.told:
            return
        self.told.add(rest)
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
    text = re.sub(r"(\d\d:\d\d UTC) \(\1\)", r"\1", text)  # a fallback is UTC already
    text = re.sub(r"(?<!\w)[*_~`]|[*_~`](?!\w)", "", text)
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
