"""On-demand prices: the product in use, never one at zero."""

import itertools
import json
from decimal import Decimal
from typing import Any

import pytest

from bot.aws import on_demand
from bot.aws.market import AwsMarket
from bot.aws.on_demand import OnDemandPrices
from bot.catalog import packaged
from bot.domain.errors import MarketError
from bot.domain.market import Kind
from bot.domain.request import Request
from tests.fakes.clock import NOW, FakeClock
from tests.unit.aws.canned import RESEARCH, CannedClients, said


def product(status: str | None, usd: str, **attributes: str) -> str:
    known = {"instanceType": "p5.48xlarge", "regionCode": "us-east-1", "marketoption": "OnDemand"}
    if status is not None:
        known["capacitystatus"] = status
    return json.dumps(
        {
            "product": {"attributes": {**known, **attributes}},
            "terms": {
                "OnDemand": {"t": {"priceDimensions": {"d": {"pricePerUnit": {"USD": usd}}}}}
            },
        }
    )


THREE = (
    product("Used", "55.0400000000"),
    product("UnusedCapacityReservation", "55.0400000000"),
    product("AllocatedCapacityReservation", "0.0000000000"),
)


def ec2_price(clients: CannedClients) -> Any:
    prices = OnDemandPrices(clients, clock=FakeClock())
    return prices.ec2("research", "us-east-1", "p5.48xlarge", "Linux/UNIX")


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_the_product_in_use_gives_the_price_in_any_order(order):
    clients = CannedClients(get_products={"PriceList": [THREE[i] for i in order]})
    price = ec2_price(clients)
    assert price.usd_per_hour == Decimal("55.04")
    assert price.usd_per_hour * 2 * 72 == Decimal("7925.76")
    assert (price.source, price.as_of) == ("price-list", NOW)


def test_a_capacity_block_row_at_zero_is_never_a_price():
    block = product("Used", "0.0000000000", marketoption="CapacityBlock")
    assert ec2_price(CannedClients(get_products={"PriceList": [block]})) is None


def test_a_product_without_capacity_status_is_not_taken():
    assert ec2_price(CannedClients(get_products={"PriceList": [product(None, "1.00")]})) is None


def test_two_prices_at_once_are_no_price():
    both = [product("Used", "55.04"), product("Used", "60.00")]
    price = ec2_price(CannedClients(get_products={"PriceList": both}))
    assert price is not None
    assert price.usd_per_hour is None


def hourly(clients: CannedClients, **request: Any) -> Any:
    market = AwsMarket(
        (RESEARCH,),
        clock=FakeClock(),
        catalog=packaged(),
        refusals=lambda: {"od/research/us-east-1/p5.48xlarge": NOW},
        clients=clients,
        kinds=(Kind.ON_DEMAND, Kind.ODCR),
    )
    return market.read(
        Request(
            instance_type="p5.48xlarge", instance_count=1, duration_hours=Decimal(24), **request
        )
    )


def test_without_the_price_list_the_catalog_stands_in_with_its_own_date():
    read = hourly(CannedClients(get_products=said("InternalErrorException")))
    row = next(rate for rate in read.hourly if rate.kind is Kind.ON_DEMAND)
    assert row.source.startswith("catalog ")
    assert row.as_of < NOW
    assert row.usd_per_hour == Decimal("55.04")


def test_a_deleted_catalog_does_not_stop_the_live_price(monkeypatch, tmp_path):
    monkeypatch.setattr(on_demand, "DATA", tmp_path)
    on_demand.catalog_prices.cache_clear()
    try:
        live = hourly(CannedClients(get_products={"PriceList": list(THREE)}))
        dark = hourly(CannedClients(get_products=said("InternalErrorException", "no")))
    finally:
        on_demand.catalog_prices.cache_clear()
    assert {rate.usd_per_hour for rate in live.hourly} == {Decimal("55.04")}
    assert dark.hourly == ()
    assert [gap.market for gap in dark.not_read] == ["on_demand"]


def test_a_refusal_stands_on_the_row_that_was_refused_alone():
    read = hourly(CannedClients(get_products={"PriceList": list(THREE)}))
    refused = {rate.kind: rate.last_refused_at for rate in read.hourly}
    assert refused == {Kind.ON_DEMAND: NOW, Kind.ODCR: None}


def test_the_price_list_is_asked_where_it_is_served():
    clients = CannedClients(get_products={"PriceList": list(THREE)})
    OnDemandPrices(clients, clock=FakeClock()).ec2("research", "eu-north-1", "p5.48xlarge", "x")
    assert [where for _, where, _ in clients.calls] == [("pricing", "research", "eu-central-1")]


@pytest.mark.parametrize(
    "text",
    [
        "null",
        "[]",
        '{"product": []}',
        '{"product": {"attributes": null}}',
        '{"terms": {"OnDemand": []}}',
        "[" * 100_000,
        product("Used", "NaN"),
        product("Used", "Infinity"),
        product("Used", "a dollar"),
    ],
)
def test_a_price_list_that_no_one_can_read_is_unread_and_crashes_nothing(text):
    with pytest.raises(MarketError, match="unreadable"):
        ec2_price(CannedClients(get_products={"PriceList": [text]}))


def test_a_price_that_is_a_number_is_read_like_one_in_a_string():
    text = product("Used", "55.04").replace('"55.04"', "55.04")
    assert ec2_price(CannedClients(get_products={"PriceList": [text]})).usd_per_hour == Decimal(
        "55.04"
    )
