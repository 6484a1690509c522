"""The SpotPrices port: the adapter against the simulated history, and the fake."""

from datetime import timedelta
from decimal import Decimal

import pytest

from bot.aws import AwsSpotPrices, Clients
from bot.domain.errors import MarketError
from bot.domain.market import Kind
from bot.domain.using import SpotPrice
from sandbox.aws import SimulatedAws
from tests.fakes.aws import FakeSpotPrices
from tests.fakes.clock import NOW, FakeClock
from tests.unit.aws.canned import RESEARCH, CannedClients, receipt_of, said

RECEIPT = receipt_of("r-1", Kind.SPOT, zone="us-east-1a")


@pytest.fixture(params=["simulated", "faked"])
def prices(request, monkeypatch):
    if request.param == "faked":
        steps = [NOW - timedelta(hours=6 * number) for number in range(8, 0, -1)]
        yield FakeSpotPrices([SpotPrice(at=at, usd_per_hour=Decimal(20)) for at in steps])
        return
    aws = SimulatedAws(now=FakeClock().now, seed=1)
    monkeypatch.setenv("AWS_ENDPOINT_URL", aws.start())
    clients = Clients((RESEARCH,))
    yield AwsSpotPrices(clients)
    for client in clients._clients.values():  # noqa: SLF001 - leaves no socket open
        client.close()
    aws.stop()
    assert aws.failures == []


def test_the_price_that_held_at_the_moment_comes_first_and_then_every_change(prices):
    since = NOW - timedelta(hours=24)
    seen = prices.since(RECEIPT, since)
    assert [one.at for one in seen] == sorted(one.at for one in seen)
    assert seen[0].at <= since < seen[1].at
    assert len(seen) >= 4
    assert all(one.usd_per_hour > 0 for one in seen)


def row(hours: int, price: str | None, kind: str = "p5.48xlarge"):
    at = NOW + timedelta(hours=hours)
    return {"InstanceType": kind, "SpotPrice": price, "Timestamp": at}


def test_changes_in_any_order_over_pages_are_put_in_order():
    pages = [
        {"SpotPriceHistory": [row(2, "3"), row(0, "1")], "NextToken": "more"},
        {"SpotPriceHistory": [row(1, "2"), row(3, None), row(1, "9", "p4d.24xlarge")]},
    ]
    canned = CannedClients(describe_spot_price_history=pages)
    seen = AwsSpotPrices(canned).since(RECEIPT, NOW)
    assert [one.usd_per_hour for one in seen] == [1, 2, 3]
    first = canned.asked("describe_spot_price_history")[0]
    assert (first["AvailabilityZone"], first["StartTime"]) == ("us-east-1a", NOW)


def test_a_history_that_cannot_be_read_says_so():
    canned = CannedClients(describe_spot_price_history=said("RequestLimitExceeded"))
    with pytest.raises(MarketError, match="throttled"):
        AwsSpotPrices(canned).since(RECEIPT, NOW)
