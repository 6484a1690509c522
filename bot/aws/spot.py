"""Spot: the newest price of each zone, and placement scores.

The price history is a list of changes in no promised order, over pages; the newest entry of a
zone is its price. A score of fewer than three types is always low (EC2 GetSpotPlacementScores),
so others are asked with it and the source says so.
"""

import threading
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Final

from bot.aws import wire
from bot.aws.calls import pages, understood
from bot.aws.clients import Clients
from bot.aws.rate import Shared
from bot.aws.zones import ZoneFacts, facts_of
from bot.catalog import Catalog
from bot.domain.errors import MarketError
from bot.domain.market import HourlyRate, Kind
from bot.ports import Clock

if TYPE_CHECKING:
    from decimal import Decimal

_KEEP: Final = timedelta(minutes=5)
_KEEP_SCORES: Final = timedelta(minutes=30)
_LIMIT_REMEMBERED: Final = timedelta(hours=1)
_FEWEST_TYPES: Final = 3
_MOST_REGIONS: Final = 10

Scores = Mapping[str, int]
"""Score by zone id."""


class Spot:
    """Reads spot prices and scores."""

    def __init__(self, clients: Clients, *, clock: Clock, catalog: Catalog) -> None:
        self._clients = clients
        self._clock = clock
        self._catalog = catalog
        self._lock = threading.Lock()
        self._limited: dict[str, datetime] = {}
        self._prices: Shared[tuple[wire.SpotPrice, ...]] = Shared(clock=clock, keep=_KEEP)
        self._scores: Shared[Scores] = Shared(clock=clock, keep=_KEEP_SCORES)

    def rates(
        self,
        *,
        account: str,
        region: str,
        types: Sequence[str],
        zones: dict[str, ZoneFacts],
        scores: Mapping[str, tuple[Scores, str]],
        refused: Mapping[str, datetime],
    ) -> list[HourlyRate]:
        """Return a row for each type and zone that has a price, one without price if none has.

        Raises MarketError.
        """
        newest = self._newest(account, region, tuple(types))
        rows: list[HourlyRate] = []
        for name in types:
            zone_scores, source = scores.get(name, ({}, ""))
            here: list[tuple[str | None, Decimal | None]] = [
                (zone, row.spot_price) for (zone, kind), row in newest.items() if kind == name
            ]
            for zone, price in here or [(None, None)]:
                known = facts_of(zones, zone) if zone else None
                ref = f"spot/{account}/{zone or region}/{name}"
                rows.append(
                    HourlyRate(
                        ref=ref,
                        kind=Kind.SPOT,
                        account=account,
                        region=region,
                        zone=zone,
                        zone_id=known.id if known else None,
                        zone_type=known.type if known else None,
                        opted_in=known.opted_in if known else True,
                        instance_type=name,
                        usd_per_hour=price,
                        source="spot-price-history" + source,
                        as_of=self._clock.now(),
                        last_refused_at=refused.get(ref),
                        placement_score=zone_scores.get((known.id if known else None) or ""),
                    )
                )
        return rows

    def scores(
        self, *, account: str, regions: Sequence[str], instance_type: str, count: int
    ) -> tuple[Scores, str]:
        """Return scores by zone id over the Regions, and what they are scores of.

        Raises MarketError; after MaxConfigLimitExceeded AWS is not asked again for an hour.
        """
        with self._lock:
            since = self._limited.get(account)
        if since is not None and self._clock.now() - since < _LIMIT_REMEMBERED:
            raise MarketError("throttled", "MaxConfigLimitExceeded")
        types = self._with_company(instance_type)
        found: dict[str, int] = {}
        for start in range(0, len(regions), _MOST_REGIONS):
            some = tuple(sorted(regions[start : start + _MOST_REGIONS]))
            key = (account, some, types, count)
            found.update(self._scores.get(key, partial(self._ask, account, some, types, count)))
        return found, f"; score of {', '.join(types)} together"

    def _ask(
        self, account: str, regions: tuple[str, ...], types: tuple[str, ...], count: int
    ) -> Scores:
        client = self._clients.reading("ec2", account, regions[0])
        found: dict[str, int] = {}
        try:
            for page in pages(
                client,
                "get_spot_placement_scores",
                InstanceTypes=list(types),
                TargetCapacity=count,
                TargetCapacityUnitType="units",
                SingleAvailabilityZone=True,
                RegionNames=list(regions),
                MaxResults=1000,
            ):
                for row in understood(wire.SpotScores, page).spot_placement_scores:
                    if row.availability_zone_id and row.score is not None:
                        found[row.availability_zone_id] = row.score
        except MarketError as error:
            if error.detail == "MaxConfigLimitExceeded":
                with self._lock:
                    self._limited[account] = self._clock.now()
            raise
        return found

    def _newest(
        self, account: str, region: str, types: tuple[str, ...]
    ) -> dict[tuple[str, str], wire.SpotPrice]:
        rows = self._prices.get(
            (account, region, types), lambda: self._history(account, region, types)
        )
        newest: dict[tuple[str, str], wire.SpotPrice] = {}
        for row in rows:
            if not row.availability_zone or not row.instance_type or row.timestamp is None:
                continue
            key = (row.availability_zone, row.instance_type)
            held = newest.get(key)
            if held is None or held.timestamp is None or held.timestamp < row.timestamp:
                newest[key] = row
        return dict(sorted(newest.items()))

    def _history(
        self, account: str, region: str, types: tuple[str, ...]
    ) -> tuple[wire.SpotPrice, ...]:
        client = self._clients.reading("ec2", account, region)
        found: list[wire.SpotPrice] = []
        for page in pages(
            client,
            "describe_spot_price_history",
            InstanceTypes=list(types),
            ProductDescriptions=["Linux/UNIX"],
            StartTime=self._clock.now(),
            MaxResults=1000,
        ):
            found += understood(wire.SpotPrices, page).spot_price_history
        return tuple(found)

    def _with_company(self, instance_type: str) -> tuple[str, ...]:
        """Return the type with its nearest relatives, three in all.

        Near: the same accelerator, then the same number of accelerators with as much memory.
        """
        own = self._catalog.types.get(instance_type)
        if own is None:
            return (instance_type,)
        others = sorted(
            (kind for kind in self._catalog.types.values() if kind.spot and kind.name != own.name),
            key=lambda kind: (
                kind.accelerator != own.accelerator,
                abs(kind.accelerators - own.accelerators),
                abs(kind.memory_gib - own.memory_gib),
                kind.name,
            ),
        )
        return (own.name, *(kind.name for kind in others[: _FEWEST_TYPES - 1]))
