"""On-demand prices: the Price List, else the packaged catalog's, dated; and ODCR rows.

For each type the Price List has three products that differ in capacity status, one at zero, and
more for Capacity Blocks that hold only the OS fee. The right one is `Used` and `OnDemand`.
"""

import csv
import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from typing import Final

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from bot.aws import wire
from bot.aws.calls import pages, understood
from bot.aws.clients import Clients
from bot.aws.rate import Shared
from bot.catalog import DATA
from bot.domain.base import Model
from bot.domain.errors import MarketError
from bot.domain.values import Instant, Usd
from bot.ports import Clock

_KEEP: Final = timedelta(hours=12)
LINUX: Final = "Linux/UNIX"

_SYSTEMS: Final = {
    LINUX: ("Linux", "NA"),
    "Red Hat Enterprise Linux": ("RHEL", "NA"),
    "RHEL with HA": ("Red Hat Enterprise Linux with HA", "NA"),
    "SUSE Linux": ("SUSE", "NA"),
    "Ubuntu Pro": ("Ubuntu Pro", "NA"),
    "Windows": ("Windows", "NA"),
}
"""Price List `operatingSystem` and `preInstalledSw` by EC2 platform."""

_COMPONENTS: Final = {
    "training-job": ("training",),
    "hyperpod-cluster": ("cluster", "hyperpod"),
    "endpoint": ("hosting", "inference"),
    "studio-apps": ("studio", "notebook"),
}
"""Words of the Price List's `component` by what the machines are used for."""


class Price(Model):
    """A price per instance-hour with where and when it was read; None: AWS names no one price."""

    usd_per_hour: Usd | None
    source: str
    as_of: Instant


class _Row(wire.Row):
    """A row of the Price List, which begins its members' names in lower case."""

    model_config = ConfigDict(alias_generator=to_camel)


class _Attributes(_Row):
    """`product`."""

    attributes: Mapping[str, object] = {}


class _PerUnit(wire.Row):
    """`pricePerUnit`."""

    usd: wire.Fee = Field(default=None, alias="USD")


class _Dimension(_Row):
    """One of `priceDimensions`."""

    price_per_unit: _PerUnit = _PerUnit()


class _Term(_Row):
    """One way of paying."""

    price_dimensions: Mapping[str, _Dimension] = {}


class _Terms(wire.Row):
    """`terms`, by the way of paying."""

    on_demand: Mapping[str, _Term] = {}


class Product(_Row):
    """One text of `PriceList`."""

    product: _Attributes = _Attributes()
    terms: _Terms = _Terms()


class OnDemandPrices:
    """Reads prices and remembers them for twelve hours."""

    def __init__(self, clients: Clients, *, clock: Clock) -> None:
        self._clients = clients
        self._clock = clock
        self._kept: Shared[Price | None] = Shared(clock=clock, keep=_KEEP)

    def ec2(self, account: str, region: str, instance_type: str, platform: str) -> Price | None:
        """Return the price of an EC2 machine; None when AWS lists none. Raises MarketError."""
        key = ("ec2", region, instance_type, platform)
        return self._kept.get(key, lambda: self._ec2(account, region, instance_type, platform))

    def sagemaker(self, account: str, region: str, ml_type: str, target: str) -> Price | None:
        """Return the price of a SageMaker machine for that target. Raises MarketError."""
        key = ("sagemaker", region, ml_type, target)
        return self._kept.get(key, lambda: self._sagemaker(account, region, ml_type, target))

    def _ec2(self, account: str, region: str, instance_type: str, platform: str) -> Price | None:
        system, software = _SYSTEMS.get(platform, (platform, "NA"))
        wanted = {
            "instanceType": instance_type,
            "regionCode": region,
            "operatingSystem": system,
            "preInstalledSw": software,
            "tenancy": "Shared",
            "capacitystatus": "Used",
            "marketoption": "OnDemand",
        }
        products = self._products(account, region, "AmazonEC2", wanted)
        return self._price([item for item in products if _has(item, wanted)])

    def _sagemaker(self, account: str, region: str, ml_type: str, target: str) -> Price | None:
        wanted = {"instanceName": ml_type, "regionCode": region}
        words = _COMPONENTS.get(target, ())
        return self._price(
            [
                item
                for item in self._products(account, region, "AmazonSageMaker", wanted)
                if any(word in _attribute(item, "component").lower() for word in words)
                and "spot" not in _attribute(item, "usagetype").lower()
            ]
        )

    def _products(
        self, account: str, region: str, service: str, wanted: Mapping[str, str]
    ) -> "list[Product]":
        filters = [
            {"Type": "TERM_MATCH", "Field": field, "Value": value}
            for field, value in wanted.items()
        ]
        client = self._clients.pricing(account, region)
        found: list[Product] = []
        for page in pages(
            client, "get_products", ServiceCode=service, Filters=filters, MaxResults=100
        ):
            for text in page.get("PriceList", ()):
                try:
                    product = json.loads(text)
                except (TypeError, ValueError, RecursionError) as error:
                    raise MarketError("unknown", "unreadable price list") from error
                found.append(understood(Product, product))
        return found

    def _price(self, products: Iterable[Product]) -> Price | None:
        """Return the one price above zero; none at all: not sold; several: no price to name."""
        amounts = {amount for item in products for amount in _hourly(item) if amount > 0}
        if not amounts:
            return None
        only = amounts.pop() if len(amounts) == 1 else None
        return Price(usd_per_hour=only, source="price-list", as_of=self._clock.now())


def catalog_price(region: str, instance_type: str) -> Price | None:
    """Return the packaged catalog's on-demand price, with its own date; Linux only."""
    return catalog_prices().get((region, instance_type))


@cache
def catalog_prices() -> dict[tuple[str, str], Price]:
    """Return the packaged on-demand prices by Region and type; none when the file is away."""
    path = DATA / "prices.csv"
    if not path.exists():
        return {}
    found: dict[tuple[str, str], Price] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["option"] != "on_demand" or row["status"] != "current" or row["zone"]:
                continue
            found[row["region"], row["instance_type"]] = Price(
                usd_per_hour=Decimal(row["usd_per_instance_hour"]),
                source=f"catalog {row['source']}",
                as_of=datetime.fromisoformat(row["as_of"]).replace(tzinfo=UTC),
            )
    return found


def _has(item: Product, wanted: Mapping[str, str]) -> bool:
    """Return whether the product says what was filtered for; a missing attribute passes.

    The capacity status must be there: without it a product at zero could be taken.
    """
    if _attribute(item, "capacitystatus") != "Used":
        return False
    return all(_attribute(item, field) in {"", value} for field, value in wanted.items())


def _attribute(item: Product, name: str) -> str:
    return str(item.product.attributes.get(name, ""))


def _hourly(item: Product) -> Iterable[Decimal]:
    for term in item.terms.on_demand.values():
        for dimension in term.price_dimensions.values():
            if dimension.price_per_unit.usd is not None:
                yield dimension.price_per_unit.usd.normalize() + 0
