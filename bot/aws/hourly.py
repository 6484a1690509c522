"""What is paid by the hour in one place: on-demand, ODCRs at the same price, and spot."""

from collections.abc import Sequence
from concurrent.futures import Executor
from typing import Literal

from bot.aws.clients import Clients
from bot.aws.findings import Found, Place, Question
from bot.aws.on_demand import LINUX, OnDemandPrices, Price, catalog_price
from bot.aws.spot import Scores, Spot
from bot.aws.zones import Zones
from bot.catalog import Catalog
from bot.domain.errors import MarketError
from bot.domain.market import HourlyRate, Kind
from bot.engine.wanted import ml_name


class Hourly:
    """Reads rates and makes rows of them, with what is known of their odds."""

    def __init__(
        self,
        clients: Clients,
        prices: OnDemandPrices,
        spot: Spot,
        *,
        zones: Zones,
        catalog: Catalog,
    ) -> None:
        self._clients = clients
        self._prices = prices
        self._spot = spot
        self._zones = zones
        self._catalog = catalog

    def on_demand(self, place: Place, question: Question, calls: Executor) -> Found:
        """Return the price of each type as a row for on-demand and one for an ODCR."""
        found = Found()
        names = [item.instance_type for item in question.wanted if not item.ultraserver]
        kinds = _paid_alike(question)
        asked = {name: calls.submit(self._price, place, name, question) for name in names}
        for name, price in asked.items():
            try:
                answer = price.result()
            except MarketError as error:
                found.missed(place, "on_demand", error.why, error.detail)
                continue
            if answer is not None:
                full = name if question.on_ec2 else ml_name(name, self._catalog)
                found.hourly += [_row(kind, place, full, answer, question) for kind in kinds]
        return found

    def spot(self, place: Place, question: Question, regions: Sequence[str]) -> Found:
        """Return the newest price of each zone, with scores when the work may be interrupted.

        Scores are the account's for all of `regions`; a refusal of them is told once, by the first.
        """
        found = Found()
        items = [item for item in question.wanted if not item.ultraserver]
        if not items:
            return found
        scores: dict[str, tuple[Scores, str]] = {}

        def read_scores() -> None:
            for item in items:
                scores[item.instance_type] = self._spot.scores(
                    account=place.account,
                    regions=regions,
                    instance_type=item.instance_type,
                    count=item.count,
                )

        def read_rates() -> None:
            found.hourly += self._spot.rates(
                account=place.account,
                region=place.region,
                types=[item.instance_type for item in items],
                zones=self._zones.known(place.account, place.region),
                scores=scores,
                refused=question.refused,
            )

        if question.request.interruptible is True:
            told = found if place.region == regions[0] else Found()
            told.guard(place, "spot placement score", read_scores)
        found.guard(place, "spot", read_rates)
        return found

    def _price(self, place: Place, instance_type: str, question: Question) -> Price | None:
        """Return the live price, else the catalog's. Raises MarketError when there is neither."""
        where = (place.account, place.region)
        if not question.on_ec2:
            full = ml_name(instance_type, self._catalog)
            return self._prices.sagemaker(*where, full, question.target.value)
        platform = question.request.platform or self._clients.account(place.account).platform
        try:
            return self._prices.ec2(*where, instance_type, platform)
        except MarketError:
            packaged = catalog_price(place.region, instance_type) if platform == LINUX else None
            if packaged is None:
                raise
            return packaged


_Paid = Literal[Kind.ON_DEMAND, Kind.ODCR]


def _paid_alike(question: Question) -> list[_Paid]:
    """Return the kinds that cost the on-demand price; SageMaker has no ODCR."""
    kinds: tuple[_Paid, ...] = (Kind.ON_DEMAND, Kind.ODCR)
    return [kind for kind in (kinds if question.on_ec2 else kinds[:1]) if kind in question.kinds]


def _row(kind: _Paid, place: Place, name: str, price: Price, question: Question) -> HourlyRate:
    ref = f"{'od' if kind is Kind.ON_DEMAND else 'odcr'}/{place.account}/{place.region}/{name}"
    return HourlyRate(
        ref=ref,
        kind=kind,
        account=place.account,
        region=place.region,
        zone=None,
        zone_id=None,
        zone_type=None,
        opted_in=True,
        instance_type=name,
        usd_per_hour=price.usd_per_hour,
        source=price.source,
        as_of=price.as_of,
        last_refused_at=question.refused.get(ref),
        placement_score=None,
    )
