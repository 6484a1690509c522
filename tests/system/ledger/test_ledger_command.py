"""`gpubot ledger` on a real file, beside a simulated AWS over HTTP."""

import json
from datetime import timedelta

import boto3
import pytest
from botocore.config import Config

from bot.cli import status_of
from sandbox.aws import SimulatedAws, Supply
from tests.fakes.aws import Mood
from tests.fakes.clock import NOW
from tests.services.money.stage import World

CONFIG = """
accounts:
  - {name: research, account_id: "111122223333", regions: [us-east-1]}
channels: {requests: C0GPU, approvals: C0APPROVE, digest: C0GPU}
administrators: [U0DIEGO]
approval:
  tiers:
    - {up_to_usd: "10000", approvers: [U0BRUNO]}
"""


@pytest.fixture
def aws(monkeypatch):
    for name, value in {
        "AWS_ACCESS_KEY_ID": "A" * 20,
        "AWS_SECRET_ACCESS_KEY": "s",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": "/nonexistent",
    }.items():
        monkeypatch.setenv(name, value)
    supply = Supply.from_dict({"visibility_seconds": 0})
    simulated = SimulatedAws(now=lambda: NOW + timedelta(hours=1), seed=7, supply=supply)
    monkeypatch.setenv("AWS_ENDPOINT_URL", simulated.start())
    yield simulated
    simulated.stop()
    assert simulated.failures == []


@pytest.fixture
def place(tmp_path, monkeypatch):
    url = f"sqlite:///{tmp_path}/gpubot.db"
    monkeypatch.setenv("GPUBOT_DATABASE", url)
    monkeypatch.delenv("GPUBOT_CONFIG", raising=False)
    file = tmp_path / "gpubot.yaml"
    file.write_text(CONFIG)
    return url, str(file)


def asked(capsys, *words):
    status = status_of(["ledger", *words, "--json"])
    return status, json.loads(capsys.readouterr().out)


def test_purchases_that_vanished_and_those_of_others_are_both_reported(aws, place, capsys):
    url, file = place
    world = World(url=url)
    world.bought()
    world.store.close()
    assert asked(capsys, "verify") == (0, {"ok": True, "aws": False, "faults": []})
    ec2 = boto3.client(
        "ec2", region_name="us-east-1", config=Config(retries={"total_max_attempts": 1})
    )
    offer = ec2.describe_capacity_block_offerings(
        InstanceType="p5.48xlarge", InstanceCount=2, CapacityDurationHours=72
    )["CapacityBlockOfferings"][0]
    other = ec2.purchase_capacity_block(
        CapacityBlockOfferingId=offer["CapacityBlockOfferingId"], InstancePlatform="Linux/UNIX"
    )["CapacityReservation"]["CapacityReservationId"]
    ec2.close()
    status, answer = asked(capsys, "verify", "--config", file)
    faults = " ".join(answer["faults"])
    assert (status, answer["ok"], answer["aws"]) == (2, False, True)
    assert "gpu-1: cr-00001" in faults
    assert "vanished" in faults
    assert f"{other} of 2 x p5.48xlarge was not bought by this bot" in faults
    assert len(answer["faults"]) == 2


def test_an_administrator_settles_what_needs_review(aws, place, capsys):
    url, file = place
    world = World(url=url)
    world.approved()
    world.aws.moods = [Mood.LOSE_REQUEST]
    world.run(timedelta(minutes=45))
    name = world.purchases(1)[0].id
    world.store.close()
    assert status_of(["ledger", "settle", name, "--config", file]) == 64
    assert "--not-bought" in capsys.readouterr().err
    how = ("--not-bought", "--config", file)
    assert status_of(["ledger", "settle", name, *how]) == 2
    status, _ = asked(capsys, "settle", name, *how, "--reason", "support case 17")
    assert status == 0
    _, answer = asked(capsys, "list")
    assert answer["purchases"][0]["state"] == "refused"
    assert "support case 17" in answer["purchases"][0]["outcome"]
    assert status_of(["ledger", "settle", name, *how, "--reason", "again"]) == 2
