"""Extending through the real adapters, over HTTP, against a simulated AWS."""

from datetime import timedelta
from decimal import Decimal

import pytest

from bot.aws import AwsBuyer, AwsHoldings, AwsMarket, AwsTagger, Clients
from bot.catalog import packaged
from bot.domain.lifecycle import ReservationState
from bot.domain.market import Kind
from bot.domain.request import Target
from sandbox.aws import SimulatedAws
from tests.services.after.extend_world import ExtendWorld
from tests.services.money.stage import APP1, OTHER, REQ, configuration, request


class RealAws:
    """The three ports as the product has them; the simulation moves on with every call."""

    def __init__(self, world: ExtendWorld, simulated: SimulatedAws, kind: Kind) -> None:
        accounts = world.configuration.accounts
        self.simulated = simulated
        self.clients = Clients(accounts)
        shared = {"clock": world.clock, "clients": self.clients}
        self.market = AwsMarket(
            accounts, **shared, catalog=packaged(), refusals=dict, kinds=(kind,)
        )
        self.buyer = AwsBuyer(accounts, **shared)
        self.holdings = AwsHoldings(accounts, **shared)

    def __getattr__(self, name):
        self.simulated.settle()
        for port in (self.market, self.buyer, self.holdings):
            if hasattr(port, name):
                return getattr(port, name)
        raise AttributeError(name)


class SimulatedWorld(ExtendWorld):
    kind = Kind.CAPACITY_BLOCK

    def replace_aws(self) -> None:
        if not isinstance(self.aws, RealAws):
            self.simulated = SimulatedAws(now=self.clock.now, seed=7)
            self.environment("AWS_ENDPOINT_URL", self.simulated.start())
            self.aws = RealAws(self, self.simulated, self.kind)
            self.tagger = AwsTagger(self.aws.clients)


@pytest.fixture(params=[Kind.CAPACITY_BLOCK, Kind.TRAINING_PLAN])
def world(request, monkeypatch):
    for name, value in (
        ("AWS_ACCESS_KEY_ID", "testing"),
        ("AWS_SECRET_ACCESS_KEY", "testing"),
        ("AWS_EC2_METADATA_DISABLED", "true"),
        ("AWS_CONFIG_FILE", "/nonexistent"),
    ):
        monkeypatch.setenv(name, value)
    SimulatedWorld.environment = staticmethod(monkeypatch.setenv)
    SimulatedWorld.kind = request.param
    world = SimulatedWorld(configuration=configuration(kinds=(request.param,)))
    yield world
    world.simulated.stop()
    world.store.close()
    assert world.simulated.failures == []


def bought(world) -> int:
    target = Target.TRAINING_JOB if world.kind is Kind.TRAINING_PLAN else None
    proposal = world.approved(request(target=target))
    world.purchasing.buy(proposal.reservation_id)
    world.run(timedelta(hours=12))
    assert world.state(proposal.reservation_id) is ReservationState.SCHEDULED
    return proposal.reservation_id


def test_a_day_more_is_priced_bought_once_and_shown_when_aws_has_it(world) -> None:
    number = bought(world)
    before = world.receipt_of(number).segments[-1].end
    world.after.extend(number, hours=Decimal(24), by=REQ)
    with world.store.reading() as tx:
        proposal = tx.proposals.current(number + 1)
    assert proposal.ceiling > 0
    world.approving.approve(proposal.id, by=APP1)
    world.run(timedelta(minutes=1))
    assert world.receipt_of(number).segments[-1].end == before
    world.run(timedelta(hours=13))
    assert world.receipt_of(number).segments[-1].end == before + timedelta(days=1)
    assert world.state(number + 1) is ReservationState.ENDED
    assert world.state(number) is ReservationState.SCHEDULED
    operation = (
        "PurchaseCapacityBlockExtension"
        if world.kind is Kind.CAPACITY_BLOCK
        else "ExtendTrainingPlan"
    )
    assert len(world.simulated.calls(operation)) == (
        2 if world.kind is Kind.CAPACITY_BLOCK else 1
    ), "one rehearsal by DryRun for a block, and one purchase"


def test_the_tags_at_aws_name_the_new_owner(world) -> None:
    number = bought(world)
    world.after.hand(number, to=OTHER, by=REQ)
    world.after.accept(number, by=OTHER)
    world.run(timedelta(minutes=1))
    operation = "CreateTags" if world.kind is Kind.CAPACITY_BLOCK else "AddTags"
    assert len(world.simulated.calls(operation)) == 1
    owned = world.aws.market.read(
        request(target=Target.TRAINING_JOB if world.kind is Kind.TRAINING_PLAN else None)
    ).owned
    assert [row.owner for row in owned] == [OTHER]
