"""The journeys that are killed at every point, and how people act in them.

A person whose act was not acknowledged does it again, as Slack tells them that it failed; nobody
does anything else about a kill.
"""

import contextlib
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from sandbox.clock import ClockError
from tests.system.kills.town import DeadError, Town

ANA, BRUNO = "U0ANA", "U0BRUNO"
REQUESTS, APPROVALS = "C0GPU", "C0APPROVE"
ASK = "reserve 2 p5.48xlarge for 3 days from Mar 17"
LONG_ENOUGH = timedelta(minutes=50)
"""Longer than doubt lasts: AWS's books are then known not to hold the purchase."""
MOST_JUMPS = 200


class Journey:
    """A town in which people act and time passes."""

    def __init__(self, place: Town) -> None:
        self.town = place

    def act(self, do: Callable[[], Any]) -> None:
        """Act, once more when it was not acknowledged; then let the bot work it off."""
        self.town.pass_a_second()
        ack = self.town.in_slack(do())
        if ack.status != "ok":
            self.town.be_born_again()
            ack = self.town.in_slack(do())
        assert ack.status == "ok", ack
        self.work()

    def work(self) -> datetime | None:
        """Let the bot do all that can be done now; when its next work falls due."""
        try:
            said = self.town.life.ask("work")
        except DeadError:
            self.town.be_born_again()
            said = self.town.life.ask("work")
        return datetime.fromisoformat(said["next"]) if said["next"] else None

    def command(self, user: str, text: str) -> None:
        self.act(lambda: self.town.acting.command(user, REQUESTS, text, 1))

    def press(self, user: str, channel: str, action_id: str) -> None:
        """Press the newest button of that name that the channel shows."""

        def do() -> Any:
            return self.town.acting.click(user, channel, self.shown(channel, action_id), action_id)

        assert self.shown(channel, action_id), f"{channel} shows no {action_id}"
        self.act(do)

    def shown(self, channel: str, action_id: str) -> str | None:
        for message in reversed(self.town.workspace.messages.kept(channel)):
            if any(
                element.get("action_id") == action_id
                for block in message.blocks
                for element in block.get("elements", ())
            ):
                return message.ts
        return None

    def jump(self, to: datetime) -> None:
        """Move the clock there at once."""
        with contextlib.suppress(ClockError):  # it is that late already
            self.town.clock.move_to(to)
        self.town.aws.settle()
        self.work()

    def live_through(self, length: timedelta) -> None:
        """Let time pass, from one thing that falls due to the next."""
        until = self.town.clock.now() + length
        for _ in range(MOST_JUMPS):
            due = self.work()
            times = [
                at for at in (due, self.town.aws.next_event()) if at is not None and at < until
            ]
            if not times:
                self.jump(until)
                return
            self.jump(min(times))
        raise AssertionError("time does not pass: something falls due again and again")


def bought(journey: Journey) -> None:
    """Ask, approve, buy, pay, and hear of it in a digest and a reminder."""
    journey.command(ANA, ASK)
    journey.press(ANA, REQUESTS, "gpu.request")
    journey.press(BRUNO, APPROVALS, "gpu.approve")
    journey.live_through(LONG_ENOUGH)
    journey.jump(datetime.fromisoformat("2027-03-11T12:01:00Z"))
    journey.jump(datetime.fromisoformat("2027-03-16T11:32:00Z"))


def denied(journey: Journey) -> None:
    """Ask, and be refused with a reason."""
    journey.command(ANA, ASK)
    journey.press(ANA, REQUESTS, "gpu.request")
    journey.press(BRUNO, APPROVALS, "gpu.deny")
    if journey.town.workspace.views.modal(BRUNO) is None:  # its right was used up by the killed
        journey.press(BRUNO, APPROVALS, "gpu.deny")
    assert journey.town.workspace.views.modal(BRUNO) is not None

    async def submit() -> Any:
        ack, errors = await journey.town.acting.submit(BRUNO, {"denial": {"value": "too dear"}}, 1)
        assert errors == {}
        return ack

    journey.act(submit)
    journey.jump(journey.town.clock.now() + timedelta(minutes=20))


def expired(journey: Journey) -> None:
    """Ask, and get no answer until the approval has run out."""
    journey.command(ANA, ASK)
    journey.press(ANA, REQUESTS, "gpu.request")
    journey.jump(journey.town.clock.now() + timedelta(minutes=16))
    journey.jump(journey.town.clock.now() + timedelta(hours=4))
    journey.live_through(timedelta(minutes=30))


JOURNEYS = {"bought": bought, "denied": denied, "expired": expired}
