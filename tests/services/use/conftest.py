from collections.abc import Callable, Iterator

import pytest

from sandbox.aws import SimulatedAws, Supply
from tests.fakes.clock import NOW, FakeClock
from tests.services.use.use_world import UseWorld


@pytest.fixture
def world_with(monkeypatch) -> Iterator[Callable[..., UseWorld]]:
    """Worlds with a supply of their own."""
    for name, value in {
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": "/nonexistent",
    }.items():
        monkeypatch.setenv(name, value)
    opened: list[UseWorld] = []

    def build(**supply) -> UseWorld:
        clock = FakeClock(NOW)
        aws = SimulatedAws(now=clock.now, seed=7, supply=Supply.from_dict(supply))
        monkeypatch.setenv("AWS_ENDPOINT_URL", aws.start())
        opened.append(UseWorld(aws=aws, clock=clock))
        return opened[-1]

    yield build
    for world in opened:
        world.aws.stop()
        world.store.close()
        assert world.aws.failures == []


@pytest.fixture
def world(world_with) -> UseWorld:
    return world_with()
