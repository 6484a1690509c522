"""A fake Slack and everything around the handlers."""

from collections.abc import Iterator

import pytest
import structlog

from tests.handlers.fake_slack import FakeSlack
from tests.handlers.office import Office, staff


@pytest.fixture(scope="session", autouse=True)
def plain_log() -> Iterator[None]:
    """Log as plainly as in production: pretty traces take seconds."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.format_exc_info,
            structlog.processors.KeyValueRenderer(),
        ]
    )
    yield
    structlog.reset_defaults()


@pytest.fixture(scope="session")
def running_slack() -> Iterator[FakeSlack]:
    slack = FakeSlack()
    slack.start()
    yield slack
    slack.stop()


@pytest.fixture
def slack(running_slack: FakeSlack) -> Iterator[FakeSlack]:
    """Return the fake Slack, empty; every test also claims that all blocks were valid."""
    for kept in (running_slack.calls, running_slack.private, running_slack.views):
        kept.clear()
    running_slack.messages.clear()
    running_slack.faults.clear()
    running_slack.wrong.clear()
    running_slack.dead_addresses = False
    running_slack.refuse_sockets = False
    running_slack.people = staff()
    running_slack.groups = {"S0APPROVERS": ["U0BRUNO", "U0CARLA"]}
    yield running_slack
    assert running_slack.wrong == []


@pytest.fixture
def office(slack: FakeSlack) -> Iterator[Office]:
    office = Office(slack)
    yield office
    office.store.close()
