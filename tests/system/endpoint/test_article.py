"""The article's own AWS CLI commands beside the bot, on one plan, in the simulated AWS.

The AWS CLI lives in an environment of its own that the test makes: its botocore is not ours.
"""

import json
import os
import re
import subprocess
import sys
import venv
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.domain.cleanup import Maker
from bot.domain.market import Kind
from bot.domain.request import Target
from bot.domain.using import EndpointStage
from bot.services.endings.cleanup_records import record_of_cleanup
from bot.services.running.endpoint_stages import record_of
from sandbox.aws import SimulatedAws
from tests.fakes.clock import NOW, FakeClock
from tests.services.use.use_world import UseWorld

pytestmark = pytest.mark.system
COMMANDS = re.findall(
    r"```bash\n(.*?)\n```", (Path(__file__).parent / "commands.md").read_text(), re.DOTALL
)
DESCRIBE_PLAN, CONFIGURE, CREATE, DESCRIBE, DELETE, UNCONFIGURE = COMMANDS
PATIENCE_SECONDS = 300


@pytest.fixture(scope="module")
def aws_cli(tmp_path_factory) -> Path:
    """The folder of an `aws` command, freshly installed."""
    folder = tmp_path_factory.mktemp("aws-cli")
    venv.create(folder, with_pip=True)
    python = folder / "bin" / Path(sys.executable).name
    install = [python if python.exists() else folder / "bin/python", "-m", "pip", "install", "-q"]
    done = subprocess.run(
        [*install, "--disable-pip-version-check", "awscli"],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_SECONDS,
    )
    if done.returncode != 0:
        pytest.skip(f"the AWS CLI can't be installed here: {done.stderr.strip()[-300:]}")
    return folder / "bin"


@pytest.fixture
def world(monkeypatch) -> Iterator[UseWorld]:
    for name, value in {
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": "/nonexistent",
        "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    clock = FakeClock(NOW)
    aws = SimulatedAws(now=clock.now, seed=7)
    monkeypatch.setenv("AWS_ENDPOINT_URL", aws.start())
    world = UseWorld(aws=aws, clock=clock)
    yield world
    aws.stop()
    world.store.close()
    assert aws.failures == []


@pytest.fixture
def shell(aws_cli) -> Callable[[str], Any]:
    """Runs a command line as a person's shell would, and returns what it printed."""

    def run(line: str) -> Any:
        done = subprocess.run(
            ["/bin/bash", "-c", line],
            env={**os.environ, "PATH": f"{aws_cli}:{os.environ['PATH']}", "AWS_PAGER": ""},
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_SECONDS,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout) if done.stdout.strip() else None

    return run


def filled(command: str, words: dict[str, str]) -> str:
    """The article's command with its `your-…` words replaced, the longest first."""
    for word in sorted(words, key=len, reverse=True):
        command = command.replace(word, words[word])
    assert "your-" not in command
    return command


def test_the_article_and_the_bot_serve_from_one_plan(world, shell) -> None:
    number = world.buy(Kind.TRAINING_PLAN, Target.ENDPOINT, machine="trn1.32xlarge")
    plan = world.receipt(number)
    words = {
        "your-training-plan-name": plan.id.rpartition("/")[2],
        "your-training-plan-arn": plan.id,
        "your-region": "us-east-1",
        "your-endpoint-config-name": "article-configuration",
        "your-endpoint-name": "article-endpoint",
        "your-variant-name": "AllTraffic",
        "your-model-name": "llama",
    }
    world.client("sagemaker").create_model(
        ModelName="llama",
        PrimaryContainer={"Image": "111122223333.dkr.ecr.us-east-1.amazonaws.com/serve:1"},
        ExecutionRoleArn="arn:aws:iam::111122223333:role/serve",
    )
    assert shell(filled(DESCRIBE_PLAN, words))["Status"] == "Pending"
    world.run_until(plan.segments[0].start - timedelta(minutes=1))
    assert shell(filled(DESCRIBE_PLAN, words))["Status"] == "Scheduled"

    world.run_until(plan.segments[0].start + timedelta(minutes=5))
    shown = shell(filled(DESCRIBE_PLAN, words))
    assert (shown["Status"], shown["TargetResources"]) == ("Active", ["endpoint"])

    shell(filled(CONFIGURE, words))
    shell(filled(CREATE, words))
    assert shell(filled(DESCRIBE, words))["EndpointStatus"] == "Creating"
    world.uses.endpoints.create(number, model="llama", count=1, by="U0ANA")
    world.run(timedelta(minutes=10))
    shown = shell(filled(DESCRIBE, words))
    assert shown["EndpointStatus"] == "InService"
    held = shown["ProductionVariants"][0]["CapacityReservationConfig"]
    assert held["MlReservationArn"] == plan.id
    assert held["UsedByCurrentEndpoint"] == 1
    with world.store.reading() as tx:
        record = record_of(tx, number)
    assert record is not None
    assert record.stage is EndpointStage.IN_SERVICE
    ours = shell(filled(DESCRIBE, {**words, "your-endpoint-name": record.order.name}))
    assert ours["EndpointStatus"] == "InService"
    assert (
        ours["ProductionVariants"][0]["CapacityReservationConfig"]["CapacityReservationPreference"]
        == held["CapacityReservationPreference"]
    )

    world.uses.cleaning.look(number, by="U0ANA")
    with world.store.reading() as tx:
        cleanup = record_of_cleanup(tx, number)
    assert cleanup is not None
    makers = {item.leftover.id: item.maker for item in cleanup.open}
    assert makers["article-endpoint"] is Maker.UNKNOWN
    assert makers[record.order.name] is Maker.BOT

    shell(filled(DELETE, words))
    world.run(timedelta(minutes=5))
    shell(filled(UNCONFIGURE, words))
    world.uses.endpoints.delete(number, by="U0ANA")
    world.run(timedelta(minutes=10))
    world.uses.cleaning.look(number, by="U0ANA")
    with world.store.reading() as tx:
        cleanup = record_of_cleanup(tx, number)
    assert cleanup is not None
    assert cleanup.proved


def test_a_launch_kit_pasted_into_a_shell_starts_machines_in_the_block(world, shell) -> None:
    number = world.begun(Kind.CAPACITY_BLOCK)
    (handout,) = world.uses.kits.launch(number, name="cli")
    kit = handout.sections[0].listing
    subnets = world.client("ec2").describe_subnets()["Subnets"]
    zone = world.receipt(number).zone
    here = next((one["SubnetId"] for one in subnets if one["AvailabilityZone"] == zone), None)
    answer = shell(kit.replace(f"your-subnet-in-{zone}", str(here)))
    assert len(answer["Instances"]) == 2
    assert {one["CapacityReservationId"] for one in answer["Instances"]} == {
        world.receipt(number).id
    }
    tags = {tag["Key"]: tag["Value"] for tag in answer["Instances"][0]["Tags"]}
    assert tags["gpubot:reservation"] == f"gpu-{number}"
