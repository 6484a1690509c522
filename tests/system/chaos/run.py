"""One run: somebody asks for capacity, people press buttons, and things go wrong meanwhile."""

import contextlib
import json
import random
import threading
import time
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

from sandbox.telling import APPROVALS, BRUNO, CARLA, REQUESTS, DemoError
from tests.system.chaos.mischief import Mischief
from tests.system.chaos.world import Place, StuckError

ADMINISTRATOR = "U0DIEGO"
REQUESTERS = ("U0ANA", "U0LIN")
FIRST_DAY, APART = date(2027, 3, 14), timedelta(days=4)
PATIENCE_SECONDS = 45.0
FULL_SECONDS = 1.5
TIRED_SECONDS = 8.0
"""After so long somebody who sees no answer types or presses again."""


class Run:
    """One reservation from the first word to its end."""

    def __init__(self, place: Place, number: int, rng: random.Random, mischief: Mischief) -> None:
        self.place = place
        self.number = number
        self.surface = place.surface
        self.rng = rng
        self.mischief = mischief
        self.requester = rng.choice(REQUESTERS)

    def play(self) -> str:
        """Play it, and say how far it came."""
        self._prepare()
        reservation = self._ask()
        if reservation is None:
            return "not filed"
        proposal = self._propose(reservation)
        if proposal is None:
            return self._end(reservation)
        self._before_approval(proposal)
        self._approve(proposal)
        return self._end(reservation)

    def _prepare(self) -> None:
        for operation, fault in self.mischief.reading:
            self.surface.post("/control/aws/fault", operation=operation, fault=fault)
        for method, fault, times in self.mischief.slack:
            self.surface.post("/control/slack/fault", method=method, fault=fault, times=times)
        if self.mischief.second_bot:
            self.place.start_second()

    def _ask(self) -> int | None:
        day = FIRST_DAY + self.number * APART  # what was bought before is no help to anybody
        text = (
            f"reserve {self.rng.choice((1, 1, 2, 2, 4))} p5.48xlarge"
            f" for {self.rng.choice((1, 2, 3))} days from {day:%b} {day.day}"
        )
        known = {row[0] for row in self.place.rows("select id from reservation")}

        def filed() -> int | None:
            rows = self.place.rows("select max(id) from reservation")
            return rows[0][0] if rows and rows[0][0] not in known else None

        for _ in range(3):
            self._act(
                lambda: self.surface.post(
                    "/control/slack/command",
                    user=self.requester,
                    channel=REQUESTS,
                    text=text,
                    deliver=self.mischief.deliveries,
                )
            )
            with contextlib.suppress(StuckError):
                found: int = self.place.until(filed, "the request to be filed", TIRED_SECONDS)
                return found
        return None

    def _propose(self, reservation: int) -> int | None:
        """Ask for approval; the proposal's number, or None when there is nothing to approve."""
        limit = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < limit:
            found = self.place.rows(
                f"select max(id) from proposal where reservation_id = {reservation}"  # noqa: S608 - a number
            )
            if found[0][0] is not None:
                return int(found[0][0])
            card = self._find(REQUESTS, "gpu.request", f"card:gpu-{reservation}")
            if card is None and self._settled(reservation):
                return None
            if card is not None:
                self._press(self.requester, REQUESTS, card, "gpu.request")
                with contextlib.suppress(StuckError):
                    self.place.rest()
            time.sleep(0.1)
        return None

    def _settled(self, reservation: int) -> bool:
        states = self.place.rows(f"select state from reservation where id = {reservation}")  # noqa: S608 - a number
        self.place.keep_alive()
        return states[0][0] not in ("requested", "quoted", "pending_approval")

    def _before_approval(self, proposal: int) -> None:
        if self.mischief.buying is not None:
            self.surface.post(
                "/control/aws/fault",
                operation="PurchaseCapacityBlock",
                fault=self.mischief.buying,
            )
        if self.mischief.event is not None:
            self._let_happen(self.mischief.event, proposal)
        if self.mischief.stop in ("before", "after expiry"):
            self._command(ADMINISTRATOR, "stop")
        if self.mischief.late:
            self._jump("9h")
        if self.mischief.socket_cut:
            self.surface.post("/control/slack/fault", method="socket", fault="disconnect")

    def _let_happen(self, event: str, proposal: int) -> None:
        body = self.place.rows(f"select body from proposal where id = {proposal}")[0][0]  # noqa: S608 - a number
        leg = json.loads(body)["legs"][0]
        orders = {
            "price-up": {"event": "price", "offering": leg["ref"], "usd_per_instance_hour": "55"},
            "price-down": {"event": "price", "offering": leg["ref"], "usd_per_instance_hour": "20"},
            "sold-out": {"event": "sold-out", "offering": leg["ref"]},
            "payment-failed": {"event": "payment-failed"},
        }
        with contextlib.suppress(DemoError):
            self.surface.post("/control/aws/event", **orders[event])

    def _approve(self, proposal: int) -> None:
        threads = [
            threading.Thread(target=self._later, args=(after, self._kill))
            for after in self.mischief.kills_after
        ]
        if self.mischief.full_disk:
            threads.append(threading.Thread(target=self._later, args=(0.1, self._fill_disk)))
        if self.mischief.jump is not None:
            threads.append(threading.Thread(target=self._later, args=(0.3, self._jump_at_once)))
        if self.mischief.stop == "at once":
            threads.append(
                threading.Thread(
                    target=self._later, args=(0.2, lambda: self._command(ADMINISTRATOR, "stop"))
                )
            )
        who = [BRUNO, CARLA, *((self.mischief.intruder,) if self.mischief.intruder else ())]
        self.rng.shuffle(who)
        if self.mischief.crowd:
            threads += [
                threading.Thread(target=self._agree, args=(user, proposal)) for user in [*who, *who]
            ]
        for thread in threads:
            thread.start()
        if self.mischief.deny:
            self._deny(proposal)
        for user in who:
            self._agree(user, proposal)
        for thread in threads:
            thread.join()

    def _agree(self, user: str, proposal: int) -> None:
        """Press until it is heard, as somebody does who sees that nothing happens."""
        for _ in range(2):
            card = self._find(APPROVALS, "gpu.approve", f"approval:{proposal}")
            if card is None:
                return
            self.place.clicks.setdefault(proposal, set()).add(user)
            if self._press(user, APPROVALS, card, "gpu.approve"):
                return
            self.place.keep_alive()

    def _deny(self, proposal: int) -> None:
        card = self._find(APPROVALS, "gpu.deny", f"approval:{proposal}")
        if card is None or not self._press(BRUNO, APPROVALS, card, "gpu.deny"):
            return
        with contextlib.suppress(StuckError):
            self.place.until(
                lambda: self.surface.get(f"/control/slack/view?user={BRUNO}"), "the form", 3
            )
            self._act(
                lambda: self.surface.post(
                    "/control/slack/submit", user=BRUNO, values={"denial": {"value": "no"}}
                )
            )

    def _end(self, reservation: int) -> str:
        """Put things right again, let time pass, and say what became of the reservation."""
        self.place.keep_alive()
        with contextlib.suppress(StuckError):
            self.place.rest()
        self.place.end_second()
        if self.mischief.stop == "after expiry":
            self._jump("9h")
        if self.mischief.stop is not None:
            self._command(ADMINISTRATOR, "resume")
        self._jump("50m")
        self._jump(f"{self.rng.choice((1, 1, 6, 20))}h")
        self.place.rest()
        states = self.place.rows(f"select state from reservation where id = {reservation}")  # noqa: S608 - a number
        return str(states[0][0])

    def _jump(self, length: str) -> None:
        for _ in range(3):
            with contextlib.suppress(StuckError):
                self.place.rest()
            self.surface.post("/control/clock", advance=length)
            if self.place.world.bot is not None and self.place.world.bot.running:
                return
            length = "1m"

    def _fill_disk(self) -> None:
        """Let the bot's files grow no more for a while, then make room again."""
        with contextlib.suppress(DemoError):
            pid = self.surface.get("/control/bot")["pid"]
            if pid is not None:
                self.place.fill_disk(int(pid), FULL_SECONDS)

    def _jump_at_once(self) -> None:
        with contextlib.suppress(DemoError):
            self.surface.post("/control/clock", advance=self.mischief.jump)

    def _command(self, user: str, text: str) -> None:
        for _ in range(3):
            ack = self._act(
                lambda: self.surface.post(
                    "/control/slack/command", user=user, channel=REQUESTS, text=text
                )
            )
            if ack:
                return
            self.place.keep_alive()

    def _press(self, user: str, channel: str, ts: str, action_id: str) -> bool:
        return self._act(
            lambda: self.surface.post(
                "/control/slack/click",
                user=user,
                channel=channel,
                ts=ts,
                action_id=action_id,
                deliver=self.mischief.deliveries,
                stale=True,
            )
        )

    def _act(self, do: Callable[[], Any]) -> bool:
        """Do it; whether it was acknowledged."""
        try:
            return bool(do()["status"] == "ok")
        except DemoError:
            return False

    def _find(self, channel: str, action_id: str, key: str) -> str | None:
        """The message with that key, while it shows that button."""
        for message in self.surface.get(f"/control/slack/messages?channel={channel}"):
            named = ((message["metadata"] or {}).get("event_payload") or {}).get("key")
            if (
                named == key
                and not message["deleted"]
                and action_id in json.dumps(message["blocks"])
            ):
                return str(message["ts"])
        return None

    def _kill(self) -> None:
        self.surface.post("/control/bot/kill")

    @staticmethod
    def _later(seconds: float, do: Callable[[], None]) -> None:
        time.sleep(seconds)
        do()
