"""Capacity Blocks on sale: EC2 DescribeCapacityBlockOfferings, paced, shared and converted."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from bot.aws import wire
from bot.aws.calls import pages, understood
from bot.aws.clients import Clients
from bot.aws.errors import not_sold_here
from bot.aws.quotas import Quotas
from bot.aws.rate import Shared, Tokens
from bot.aws.zones import ZoneFacts, Zones, facts_of
from bot.domain.errors import MarketError
from bot.domain.market import Kind, Offering, Segment
from bot.domain.records import Leg, LegPurpose
from bot.engine.asking import Search
from bot.ports import Clock

_KEEP: Final = timedelta(seconds=60)
_NOT_SOLD_FOR: Final = timedelta(hours=6)
_DAY_HOURS: Final = 24
_MOMENT: Final = timedelta(minutes=1)
"""AWS refuses a start that has passed while the request travels."""
REQUOTE_PATIENCE_SECONDS: Final = 15.0
"""Two tokens refill in 14 seconds."""


class CapacityBlocks:
    """Reads offerings of Capacity Blocks."""

    def __init__(
        self, clients: Clients, *, clock: Clock, tokens: Tokens, zones: Zones, quotas: Quotas
    ) -> None:
        self._clients = clients
        self._clock = clock
        self._tokens = tokens
        self._zones = zones
        self._quotas = quotas
        self._kept: Shared[tuple[Offering, ...]] = Shared(clock=clock, keep=_KEEP)
        self._not_sold: dict[tuple[str, str, str], datetime] = {}

    def search(
        self, search: Search, *, account: str, region: str, patience_seconds: float
    ) -> tuple[Offering, ...]:
        """Return what AWS offers for one search; answers are shared for a minute.

        A type that is not sold in the Region gives nothing, once asked. Raises MarketError.
        """
        key = (account, region, search.instance_type)
        since = self._not_sold.get(key)
        if since is not None and abs(self._clock.now() - since) < _NOT_SOLD_FOR:
            return ()
        try:
            return self._kept.get(
                (account, region, search),
                lambda: self._ask(search, account, region, patience_seconds, spare=False),
            )
        except MarketError as error:
            if not not_sold_here(error):
                raise
            self._not_sold[key] = self._clock.now()
            return ()

    def requote(self, leg: Leg) -> tuple[Offering, ...]:
        """Return what is sold now for the leg's type, count and window; see bot.ports.

        The window is asked for as it is, then, if it does not come back, one day shorter: AWS
        answers a length with blocks that are a little shorter and a little longer.
        """
        if leg.purpose is LegPurpose.EXTENSION:
            return self._extensions(leg)
        start = max(leg.segments[0].start, self._clock.now())
        end = leg.segments[-1].end
        days = -(-(end - start) // timedelta(days=1))
        found: tuple[Offering, ...] = ()
        for length in dict.fromkeys((days, max(days - 1, 1))):
            search = Search(
                instance_type=leg.ultraserver_type or leg.instance_type,
                count=leg.ultraserver_count or leg.instance_count,
                hours=_on_sale(length) * _DAY_HOURS,
                start_after=start,
                end_before=end + timedelta(minutes=1),
                ultraserver=leg.ultraserver_type is not None,
            )
            found = (
                *found,
                *self._ask(search, leg.account, leg.region, REQUOTE_PATIENCE_SECONDS, spare=True),
            )
            if any(offering.segments == leg.segments for offering in found):
                break
        unique = {offering.ref: offering for offering in found}
        return tuple(o for o in unique.values() if o.instance_count == leg.instance_count)

    def _ask(
        self, search: Search, account: str, region: str, patience_seconds: float, *, spare: bool
    ) -> tuple[Offering, ...]:
        """Return every page's offerings: the first may be empty. Each page takes a token."""
        key = (account, region)

        def take() -> None:
            if not self._tokens.take(key, patience_seconds=patience_seconds, spare=spare):
                raise MarketError("throttled", "our own share of the calls is used up")

        try:
            return tuple(self._offered(search, account, region, take))
        except MarketError as error:
            if error.detail != "CapacityBlockDescribeLimitExceeded":
                raise
            if self._quotas.block_limit(account, region, search.instance_type) == 0:
                raise MarketError("quota", error.detail) from error
            self._tokens.empty(key)
            raise

    def _offered(
        self, search: Search, account: str, region: str, take: Callable[[], None]
    ) -> Iterator[Offering]:
        what: dict[str, Any] = (
            {"UltraserverType": search.instance_type, "UltraserverCount": search.count}
            if search.ultraserver
            else {"InstanceType": search.instance_type, "InstanceCount": search.count}
        )
        rows: list[wire.BlockOffering] = []
        for page in pages(
            self._clients.reading("ec2", account, region),
            "describe_capacity_block_offerings",
            before_each=take,
            CapacityDurationHours=search.hours,
            StartDateRange=max(search.start_after, self._clock.now() + _MOMENT),
            EndDateRange=search.end_before,
            AllAvailabilityZones=True,
            MaxResults=100,
            **what,
        ):
            rows += understood(wire.BlockOfferings, page).capacity_block_offerings
        zones = self._zones.known(account, region)
        yield from _offerings(rows, account=account, region=region, zones=zones)

    def _extensions(self, leg: Leg) -> tuple[Offering, ...]:
        if leg.extends is None:
            return ()
        client = self._clients.reading("ec2", leg.account, leg.region)
        length = leg.segments[-1].end - leg.segments[0].start
        days = _on_sale(max(-(-length // timedelta(days=1)), 1))
        zones = self._zones.known(leg.account, leg.region)
        found: list[Offering] = []
        for page in pages(
            client,
            "describe_capacity_block_extension_offerings",
            CapacityReservationId=leg.extends.partition("#")[0],
            CapacityBlockExtensionDurationHours=days * _DAY_HOURS,
            MaxResults=100,
        ):
            rows = understood(wire.BlockExtensionOfferings, page)
            for row in rows.capacity_block_extension_offerings:
                found += _extension(row, leg, zones)
        return tuple(found)


def _on_sale(days: int) -> int:
    """Return the length on sale for that many days: whole weeks beyond 14."""
    return days if days <= 14 else -(-days // 7) * 7  # noqa: PLR2004  # the EC2 User Guide's own


def _offerings(
    rows: Iterable[wire.BlockOffering],
    *,
    account: str,
    region: str,
    zones: dict[str, ZoneFacts],
) -> Iterable[Offering]:
    for row in rows:
        parts = _segments(row)
        if row.capacity_block_offering_id is None or not parts:
            continue
        first = row.capacity_block_offering_segments[:1]
        zone_name = row.availability_zone or parts[0].zone
        zone_type = row.zone_type or (first[0].zone_type if first else None)
        known = facts_of(zones, zone_name, zone_type=zone_type)
        every = [facts_of(zones, part.zone, zone_type=zone_type) for part in parts if part.zone]
        yield Offering(
            ref=row.capacity_block_offering_id,
            kind=Kind.CAPACITY_BLOCK,
            account=account,
            region=region,
            zone=zone_name,
            zone_id=known.id or (first[0].availability_zone_id if first else None),
            zone_type=zone_type or known.type,
            opted_in=known.opted_in and all(zone.opted_in for zone in every),
            instance_type=row.instance_type or (first[0].instance_type if first else None) or "",
            instance_count=row.instance_count or (first[0].instance_count if first else None) or 0,
            ultraserver_type=row.ultraserver_type or None,
            ultraserver_count=row.ultraserver_count or None,
            target_resources=(),
            segments=parts,
            upfront_fee=row.upfront_fee,
            currency=row.currency_code,
        )


def _segments(row: wire.BlockOffering) -> tuple[Segment, ...]:
    parts: Sequence[wire.BlockSegment | wire.BlockOffering] = (
        row.capacity_block_offering_segments or (row,)
    )
    found = [
        Segment(start=part.start_date, end=part.end_date, zone=part.availability_zone)
        for part in parts
        if part.start_date is not None
        and part.end_date is not None
        and part.start_date < part.end_date
    ]
    if len(found) != len(parts):
        return ()
    return tuple(sorted(found, key=lambda part: part.start))


def _extension(
    row: wire.BlockExtensionOffering, leg: Leg, zones: dict[str, ZoneFacts]
) -> list[Offering]:
    start, end = row.capacity_block_extension_start_date, row.capacity_block_extension_end_date
    if row.capacity_block_extension_offering_id is None or start is None or end is None:
        return []
    known = facts_of(zones, row.availability_zone, zone_type=row.zone_type)
    return [
        Offering(
            ref=row.capacity_block_extension_offering_id,
            kind=Kind.CAPACITY_BLOCK,
            account=leg.account,
            region=leg.region,
            zone=row.availability_zone,
            zone_id=row.availability_zone_id or known.id,
            zone_type=row.zone_type or known.type,
            opted_in=True,
            instance_type=row.instance_type or leg.instance_type,
            instance_count=row.instance_count or leg.instance_count,
            ultraserver_type=leg.ultraserver_type,
            ultraserver_count=leg.ultraserver_count,
            target_resources=(),
            segments=(Segment(start=start, end=end, zone=row.availability_zone),),
            upfront_fee=row.upfront_fee,
            currency=row.currency_code,
        )
    ]
