"""The three AWS ports against a simulated AWS over real HTTP."""

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal

import pytest

from bot.aws import AwsBuyer, AwsHoldings, AwsMarket, Clients
from bot.catalog import packaged
from bot.domain.errors import IndeterminateError
from bot.domain.market import Kind
from bot.domain.records import Purchase
from bot.domain.request import Request, Target
from sandbox.aws import SimulatedAws
from tests.fakes.clock import NOW, FakeClock
from tests.unit.aws.canned import RESEARCH, leg_of, purchase_of

CLOCK = FakeClock()


@pytest.fixture
def aws(monkeypatch) -> Iterator[SimulatedAws]:
    CLOCK.set(NOW)
    simulated = SimulatedAws(now=CLOCK.now, seed=7)
    monkeypatch.setenv("AWS_ENDPOINT_URL", simulated.start())
    yield simulated
    simulated.stop()
    assert simulated.failures == []


def offered(clients: Clients, kind: Kind) -> tuple[AwsMarket, Purchase]:
    market = AwsMarket(
        (RESEARCH,), clock=CLOCK, catalog=packaged(), refusals=dict, clients=clients, kinds=(kind,)
    )
    target = Target.TRAINING_JOB if kind is Kind.TRAINING_PLAN else None
    seen = market.read(
        Request(
            instance_type="p5.48xlarge",
            instance_count=2,
            duration_hours=Decimal(72),
            target=target,
        )
    )
    row = next(o for o in seen.offerings if o.opted_in and len(o.segments) == 1)
    leg = leg_of(kind, ref=row.ref, zone=row.zone, segments=row.segments, fee=row.upfront_fee)
    return market, purchase_of(leg=leg)


@pytest.mark.parametrize(
    ("kind", "operation"),
    [
        (Kind.CAPACITY_BLOCK, "PurchaseCapacityBlock"),
        (Kind.TRAINING_PLAN, "CreateTrainingPlan"),
    ],
)
def test_a_sale_whose_answer_was_lost_is_found_once_and_looked_after(aws, kind, operation):
    clients = Clients((RESEARCH,))
    market, purchase = offered(clients, kind)
    assert purchase.leg.ref in {row.ref for row in market.requote(purchase.leg)}
    buyer = AwsBuyer((RESEARCH,), clock=CLOCK, clients=clients)
    aws.add_fault({"operation": operation, "fault": "lost-answer"})
    with pytest.raises(IndeterminateError):
        buyer.buy(purchase)
    CLOCK.advance(timedelta(minutes=1))
    aws.settle()
    (receipt,) = buyer.find(purchase)
    assert len(aws.calls(operation)) == len(aws.sold()) == 1
    CLOCK.advance(timedelta(hours=1))
    aws.settle()
    seen = AwsHoldings((RESEARCH,), clock=CLOCK, clients=clients).look([receipt])
    assert seen[receipt.id].state in {"scheduled", "active"}
    assert seen[receipt.id].total_count == 2
