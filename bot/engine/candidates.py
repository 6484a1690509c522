"""One shape for every market row, so that each rule is written once."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import NamedTuple

from bot.domain.market import HourlyRate, Kind, Market, Offering, Owned, Segment
from bot.engine.terms import Terms, bare

PREPAID = frozenset({Kind.CAPACITY_BLOCK, Kind.TRAINING_PLAN})
_LAST_DAY = datetime.max.replace(tzinfo=UTC)
HOURLY = frozenset({Kind.ON_DEMAND, Kind.SPOT, Kind.ODCR})


Window = tuple[tuple[datetime, datetime], ...]
"""The bare instants of the segments, in order; equal windows are identical segments."""


class Candidate(NamedTuple):
    """A market row, or a join of rows, in the terms of one request.

    `asked` is the count asked of this type, None when the type is not asked for. `holds` is
    compared with it: machines, or whole UltraServers. `machines` is what is taken and paid.
    `price` is the whole fee when prepaid, dollars an instance-hour when hourly, 0 when owned.
    `origin` is the row's own kind: what an owned row was bought as. A tuple, because markets
    have thousands of rows.
    """

    kind: Kind
    origin: Kind
    refs: tuple[str, ...]
    account: str
    region: str
    zone: str | None
    zone_type: str | None
    opted_in: bool
    instance_type: str
    asked: int | None
    holds: int
    machines: int
    ultraserver: bool
    targets: tuple[str, ...]
    segments: tuple[Segment, ...]
    window: Window
    price: Decimal | None
    currency: str | None
    as_of: datetime
    refused_at: datetime | None = None
    score: int | None = None
    owner: str | None = None

    @property
    def prepaid(self) -> bool:
        """Whether taking it pays the whole fee at once."""
        return self.kind in PREPAID

    @property
    def hourly(self) -> bool:
        """Whether it is billed by the hour."""
        return self.kind in HOURLY

    @property
    def join_key(self) -> tuple[object, ...]:
        """What offerings must share to be joined."""
        return (self.kind, self.account, self.region, self.zone, self.instance_type, self.window)


def candidates(market: Market, terms: Terms) -> Iterator[Candidate]:
    """Yield one candidate for every row of offerings, hourly and owned."""
    for offering in market.offerings:
        yield _from_offering(offering, market.as_of, terms)
    for rate in market.hourly:
        yield _from_rate(rate, terms)
    for owned in market.owned:
        yield _from_owned(owned, market.as_of, terms)


def joined(legs: Sequence[Candidate]) -> Candidate:
    """Return the legs as one purchase of their summed counts and fees, refs in order."""
    first = legs[0]
    return Candidate(
        kind=first.kind,
        origin=first.origin,
        refs=tuple(sorted(ref for leg in legs for ref in leg.refs)),
        account=first.account,
        region=first.region,
        zone=first.zone,
        zone_type=first.zone_type,
        opted_in=first.opted_in,
        instance_type=first.instance_type,
        asked=first.asked,
        holds=sum(leg.holds for leg in legs),
        machines=sum(leg.machines for leg in legs),
        ultraserver=any(leg.ultraserver for leg in legs),
        targets=first.targets,
        segments=first.segments,
        window=first.window,
        price=sum((leg.price or Decimal(0) for leg in legs), Decimal(0)),
        currency=first.currency,
        as_of=first.as_of,
    )


def begin_of(start: datetime | None, terms: Terms) -> datetime:
    """Return the latest of the window's start, the stated earliest start, and now."""
    moments = (start, terms.request.earliest_start, terms.now)
    return max(instant for instant in moments if instant is not None)


def _from_offering(row: Offering, as_of: datetime, terms: Terms) -> Candidate:
    name = bare(row.instance_type)
    server = bare(row.ultraserver_type) if row.ultraserver_type else None
    whole_servers = terms.ultraserver is not None and terms.ultraserver in (server, name)
    segments = row.segments
    if len(segments) > 1:
        segments = tuple(sorted(segments, key=lambda part: (part.start, part.end)))
    return Candidate(
        kind=row.kind,
        origin=row.kind,
        refs=(row.ref,),
        account=row.account,
        region=row.region,
        zone=row.zone,
        zone_type=row.zone_type,
        opted_in=row.opted_in,
        instance_type=row.instance_type,
        asked=terms.counts.get(terms.ultraserver if whole_servers and terms.ultraserver else name),
        holds=_servers(row, terms) if whole_servers else row.instance_count,
        machines=row.instance_count,
        ultraserver=server is not None or name.startswith("u-"),
        targets=row.target_resources,
        segments=segments,
        window=_window(segments),
        price=row.upfront_fee,
        currency=row.currency,
        as_of=as_of,
    )


def _window(segments: tuple[Segment, ...]) -> Window:
    return tuple((segment.start, segment.end) for segment in segments)


def _servers(row: Offering, terms: Terms) -> int:
    """Return how many whole UltraServers are on sale, by their machines when AWS gave no count."""
    if row.ultraserver_count is not None:
        return row.ultraserver_count
    whole = terms.catalog.types.get(terms.ultraserver or "")
    inner = terms.catalog.types.get(bare(row.instance_type))
    if whole is None or inner is None:
        return row.instance_count
    return int(row.instance_count * inner.accelerators // whole.accelerators)


def _from_rate(row: HourlyRate, terms: Terms) -> Candidate:
    begin = begin_of(None, terms)
    end = begin + terms.asked
    asked = terms.counts.get(bare(row.instance_type))
    return Candidate(
        kind=row.kind,
        origin=row.kind,
        refs=(row.ref,),
        account=row.account,
        region=row.region,
        zone=row.zone,
        zone_type=row.zone_type,
        opted_in=row.opted_in,
        instance_type=row.instance_type,
        asked=asked,
        holds=asked or 0,
        machines=asked or 0,
        ultraserver=False,
        targets=(),
        segments=(Segment(start=begin, end=end, zone=row.zone),),
        window=((begin, end),),
        price=row.usd_per_hour,
        currency="USD",
        as_of=row.as_of,
        refused_at=row.last_refused_at,
        score=row.placement_score,
    )


def _from_owned(row: Owned, as_of: datetime, terms: Terms) -> Candidate:
    name = bare(row.instance_type)
    asked = terms.counts.get(name)
    taken = row.available_count if asked is None else min(asked, row.available_count)
    known = terms.catalog.types.get(name)
    segments = _owned_segments(row, terms)
    return Candidate(
        kind=Kind.OWNED,
        origin=row.kind,
        refs=(row.ref,),
        account=row.account,
        region=row.region,
        zone=row.zone,
        zone_type=None,
        opted_in=True,
        instance_type=row.instance_type,
        asked=asked,
        holds=taken,
        machines=taken,
        ultraserver=name.startswith("u-") or (known is not None and known.ultraserver is not None),
        targets=row.target_resources,
        segments=segments,
        window=_window(segments),
        price=Decimal(0),
        currency="USD",
        as_of=as_of,
        owner=row.owner,
    )


def _owned_segments(row: Owned, terms: Terms) -> tuple[Segment, ...]:
    """Return the owned window; an ODCR without an end is as long as the request needs it.

    Blocks and plans always end, so that one without an end has a window that nobody knows.
    """
    if row.end is not None:
        return (Segment(start=row.start, end=row.end, zone=row.zone),)
    if row.kind in PREPAID:
        return ()
    begin = begin_of(row.start, terms)
    if begin > _LAST_DAY - terms.asked:
        return ()
    return (Segment(start=begin, end=begin + terms.asked, zone=row.zone),)
