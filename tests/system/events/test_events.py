"""With a queue the bot hears within seconds, without one its own looks tell; never both."""

import urllib.request
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import boto3
import pytest

from sandbox.telling import ANA, Conversation, Said
from tests.system.chaos.world import Place, place

pytestmark = pytest.mark.system
CONFIG = Path(__file__).with_name("config.yaml")
QUEUE = {"account": "111122223333", "region": "us-east-1"}
POOL = {"region": "us-east-1", "instance_type": "g6.12xlarge", "instance_count": 8}
URL = "https://sqs.us-east-1.amazonaws.com/111122223333/gpubot-events"
SECONDS = timedelta(seconds=30)
"""Far less than the pace of the bot's own looks at spot machines."""


class Town:
    """A world in which Ana holds two spot machines."""

    def __init__(self, where: Place) -> None:
        self.surface = where.surface
        self.world = where.world
        self.talk = Conversation(where.surface, lambda _: None)

    def buy(self) -> list[str]:
        """Have two spot machines bought; return their ids."""
        text = "reserve 2 g6.12xlarge spot for 8h now"
        self.surface.post("/control/slack/command", user=ANA, channel="C0GPU", text=text)
        card = self.talk.wait_for(
            "the card",
            lambda: next((m for m in self.talk.messages() if m.has("gpu.request")), None),
        )
        self.surface.post(
            "/control/slack/click",
            user=ANA,
            channel="C0GPU",
            ts=card.ts,
            action_id="gpu.request",
        )
        self.talk.wait_for("the sale", lambda: self.surface.get("/control/aws/sold") or None)
        self.surface.post("/control/clock", advance="2m")
        ec2 = self.client("ec2")
        rows = ec2.describe_instances()["Reservations"]
        ec2.close()
        return [one["InstanceId"] for row in rows for one in row["Instances"]]

    def client(self, service: str) -> Any:
        assert self.world.bot is not None
        mine = self.world.bot.environment
        session = boto3.Session(mine["AWS_ACCESS_KEY_ID"], mine["AWS_SECRET_ACCESS_KEY"])
        url = mine["AWS_ENDPOINT_URL"]
        return session.client(service, region_name="us-east-1", endpoint_url=url)

    def event(self, **order: Any) -> None:
        self.surface.post("/control/aws/event", **order)

    def said(self, part: str) -> list[Said]:
        return [one for one in self.talk.messages() if part in one.text and not one.deleted]

    def heard(self, part: str) -> Said:
        return self.talk.wait_for(part, lambda: next(iter(self.said(part)), None))

    def metrics(self) -> str:
        assert self.world.bot is not None
        address = f"http://127.0.0.1:{self.world.bot.environment['PORT']}/metrics"
        with urllib.request.urlopen(address, timeout=10) as answer:
            return answer.read().decode()

    def pass_by(self, length: str) -> None:
        self.surface.post("/control/clock", advance=length)


@pytest.fixture
def town_with(tmp_path) -> Iterator[Any]:
    opened = []

    def build(*queues: dict[str, Any]) -> Town:
        supply = {"spot_pools": [POOL], "event_queues": list(queues)}
        made = place(tmp_path, 7, config=CONFIG, supply=supply)
        where = made.__enter__()
        opened.append(made)
        return Town(where)

    yield build
    for one in opened:
        one.__exit__(None, None, None)


def test_an_interruption_is_heard_within_seconds_and_told_once(town_with) -> None:
    town = town_with(QUEUE)
    machine, _ = town.buy()
    begun = town.surface.now()
    town.event(event="spot-interruption", instance=machine)
    told = town.heard("Spot interruption")
    assert told.at - begun < SECONDS
    assert machine in told.text
    town.pass_by("10m")
    assert len(town.said("Spot interruption")) == 1
    counted = 'gpubot_events_total{kind="interruption",outcome="hastened"} 1.0'
    assert counted in town.metrics().splitlines()


def test_without_a_queue_the_looks_of_the_bot_tell_it_in_time(town_with) -> None:
    town = town_with()
    machine, _ = town.buy()
    begun = town.surface.now()
    town.event(event="spot-interruption", instance=machine)
    town.pass_by("110s")
    (told,) = town.said("Spot interruption")
    assert told.at - begun < timedelta(minutes=2)
    town.pass_by("10m")
    assert len(town.said("Spot interruption")) == 1


def test_a_rebalance_recommendation_reaches_the_owner(town_with) -> None:
    town = town_with(QUEUE)
    machine, _ = town.buy()
    town.event(event="spot-rebalance", instance=machine)
    assert machine in town.heard("Spot machine at risk").text


def test_forged_and_broken_messages_do_no_harm_and_poison_ends_in_the_dead_letters(
    town_with,
) -> None:
    town = town_with({**QUEUE, "visibility_seconds": 1, "max_receives": 3})
    machine, _ = town.buy()
    sqs = town.client("sqs")
    forged = (
        '{"detail-type": "EC2 Spot Instance Interruption Warning", "id": "forged",'
        f' "account": "111122223333", "detail": {{"instance-id": "{machine}"}}}}'
    )
    for body in ("poison", forged, forged):
        sqs.send_message(QueueUrl=URL, MessageBody=body)
    sqs.close()

    def dead() -> bool | None:
        (queue,) = town.surface.get("/control/aws/queues")
        return (queue["waiting"] == 0 and queue["dead"] == ["poison"]) or None

    town.talk.wait_for("the dead letter", dead)
    town.pass_by("3m")
    assert town.said("Spot interruption") == []
