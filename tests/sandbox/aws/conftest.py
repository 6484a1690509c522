"""One simulated AWS a test, a clock that the test moves, and real boto3 clients."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cached_property

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from sandbox.aws import SimulatedAws, Supply

START = datetime(2027, 3, 10, 15, 0, tzinfo=UTC)
SESSION = boto3.Session(aws_access_key_id="A" * 20, aws_secret_access_key="s")
ONE_TRY = {"total_max_attempts": 1}


class Sandbox:
    """The simulated AWS with its clock and clients."""

    def __init__(self, supply: Supply | None = None, seed: int = 1) -> None:
        self.time = START
        self.killed = 0
        self.aws = SimulatedAws(
            now=lambda: self.time, seed=seed, supply=supply, kill_bot=self._kill
        )
        self.url = self.aws.start()
        self.may_fail = False
        self._clients = []

    def _kill(self) -> None:
        self.killed += 1

    def advance(self, **length: float) -> None:
        self.time += timedelta(**length)

    def move_to(self, *moment: int) -> None:
        self.time = datetime(*moment, tzinfo=UTC)

    def client(self, service, region="us-east-1", *, retries=None, timeout=10, session=SESSION):
        config = Config(
            retries=retries or ONE_TRY, read_timeout=timeout, ignore_configured_endpoint_urls=True
        )
        client = session.client(service, region_name=region, endpoint_url=self.url, config=config)
        self._clients.append(client)
        return client

    @cached_property
    def ec2(self):
        return self.client("ec2")

    @cached_property
    def sagemaker(self):
        return self.client("sagemaker")

    def close(self) -> None:
        for client in self._clients:
            client.close()
        self.aws.stop()


@pytest.fixture
def sandbox_with() -> Iterator[Callable[..., Sandbox]]:
    opened = []

    def build(seed: int = 1, **supply) -> Sandbox:
        opened.append(Sandbox(Supply.from_dict(supply), seed))
        return opened[-1]

    yield build
    for one in opened:
        one.close()
        assert one.aws.failures == [] or one.may_fail


@pytest.fixture
def sandbox(sandbox_with) -> Sandbox:
    return sandbox_with()


@pytest.fixture
def refused() -> Callable[..., str]:
    """The code with which a call is refused."""

    def run(call, **params) -> str:
        with pytest.raises(ClientError) as caught:
            call(**params)
        return caught.value.response["Error"]["Code"]

    return run


@pytest.fixture
def search() -> Callable[..., list]:
    """Offerings for 2 p5.48xlarge for 3 days, unless said otherwise."""

    def run(client, **params) -> list:
        asked = {"InstanceType": "p5.48xlarge", "InstanceCount": 2, "CapacityDurationHours": 72}
        return client.describe_capacity_block_offerings(**{**asked, **params})[
            "CapacityBlockOfferings"
        ]

    return run


@pytest.fixture
def buy(search) -> Callable[..., dict]:
    """A bought block: the first that starts at 11:30, unless another offer is given."""

    def run(client, offer=None, tags=None, **params) -> dict:
        offer = offer or next(
            one for one in search(client, **params) if not one["CapacityBlockDurationMinutes"]
        )
        specification = [
            {
                "ResourceType": "capacity-reservation",
                "Tags": [{"Key": key, "Value": value} for key, value in (tags or {}).items()],
            }
        ]
        return client.purchase_capacity_block(
            CapacityBlockOfferingId=offer["CapacityBlockOfferingId"],
            InstancePlatform="Linux/UNIX",
            **({"TagSpecifications": specification} if tags else {}),
        )["CapacityReservation"]

    return run
