"""Rows of a market with plain defaults, and one call that decides on them."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from bot.catalog import packaged
from bot.domain.decision import Decision, Option
from bot.domain.market import HourlyRate, Kind, Market, NotRead, Offering, Owned, Quota, Segment
from bot.domain.request import Request, Target
from bot.domain.rules import Rules
from bot.engine import decide

NOW = datetime(2027, 3, 10, 15, tzinfo=UTC)
P5 = "p5.48xlarge"
NEXT_OPENING = datetime(2027, 3, 15, 11, 30, tzinfo=UTC)
Row = Offering | HourlyRate | Owned


def at(day: int, hour: int = 0, minute: int = 0, *, month: int = 3) -> datetime:
    return datetime(2027, month, day, hour, minute, tzinfo=UTC)


def window(opens: datetime, hours: float, zone: str | None = "us-east-1b") -> Segment:
    return Segment(start=opens, end=opens + timedelta(hours=hours), zone=zone)


def block(
    ref: str = "cb-a",
    *,
    count: int = 2,
    opens: datetime = NEXT_OPENING,
    hours: float = 24,
    fee: str | None = "2000.00",
    **changes: Any,
) -> Offering:
    values: dict[str, Any] = {
        "ref": ref,
        "kind": Kind.CAPACITY_BLOCK,
        "account": "research",
        "region": "us-east-1",
        "zone": "us-east-1b",
        "zone_id": "use1-az2",
        "zone_type": "availability-zone",
        "opted_in": True,
        "instance_type": P5,
        "instance_count": count,
        "ultraserver_type": None,
        "ultraserver_count": None,
        "target_resources": (),
        "segments": (window(opens, hours),),
        "upfront_fee": None if fee is None else Decimal(fee),
        "currency": "USD",
    }
    return Offering(**{**values, **changes})


def plan(
    ref: str = "tpo-a", *, targets: Sequence[Target] = (Target.TRAINING_JOB,), **changes: Any
) -> Offering:
    values: dict[str, Any] = {
        "kind": Kind.TRAINING_PLAN,
        "instance_type": f"ml.{P5}",
        "target_resources": tuple(target.value for target in targets),
    }
    return block(ref, **{**values, **changes})


def hourly(kind: Kind, ref: str, usd: str | None, **changes: Any) -> HourlyRate:
    values: dict[str, Any] = {
        "ref": ref,
        "kind": kind,
        "account": "research",
        "region": "us-east-1",
        "zone": None,
        "zone_id": None,
        "zone_type": None,
        "opted_in": True,
        "instance_type": P5,
        "usd_per_hour": None if usd is None else Decimal(usd),
        "source": "price-list",
        "as_of": NOW - timedelta(hours=1),
        "last_refused_at": None,
        "placement_score": None,
    }
    return HourlyRate(**{**values, **changes})


def on_demand(ref: str = "od", usd: str | None = "50", **changes: Any) -> HourlyRate:
    return hourly(Kind.ON_DEMAND, ref, usd, **changes)


def odcr(ref: str = "odcr", usd: str | None = "50", **changes: Any) -> HourlyRate:
    return hourly(Kind.ODCR, ref, usd, **changes)


def spot(
    ref: str = "spot", usd: str | None = "20", score: int | None = 9, **changes: Any
) -> HourlyRate:
    return hourly(Kind.SPOT, ref, usd, placement_score=score, **changes)


def owned(ref: str = "cr-a", **changes: Any) -> Owned:
    values: dict[str, Any] = {
        "ref": ref,
        "kind": Kind.CAPACITY_BLOCK,
        "account": "research",
        "region": "us-east-1",
        "zone": "us-east-1b",
        "zone_id": "use1-az2",
        "instance_type": P5,
        "target_resources": (),
        "total_count": 4,
        "available_count": 4,
        "start": at(14, 11, 30),
        "end": at(17, 11, 30),
        "owner": "U0LIN",
    }
    return Owned(**{**values, **changes})


def quota(limit: int | None, used: int | None = 0, **changes: Any) -> Quota:
    values: dict[str, Any] = {
        "account": "research",
        "region": "us-east-1",
        "name": "Running P instances",
        "code": "L-417A185B",
        "kinds": (Kind.ON_DEMAND, Kind.ODCR, Kind.SPOT, Kind.CAPACITY_BLOCK),
        "types": ("p*",),
        "unit": "vcpus",
        "limit": limit,
        "used": used,
    }
    return Quota(**{**values, **changes})


def unread(why: str = "throttled", **changes: Any) -> NotRead:
    values = {"account": "research", "region": "us-west-2", "market": "capacity_block"}
    return NotRead(**{**values, "why": why, **changes})


def asks(**changes: Any) -> Request:
    """Two p5.48xlarge for a day, as soon as possible."""
    values: dict[str, Any] = {
        "instance_type": P5,
        "instance_count": 2,
        "duration_hours": Decimal(24),
    }
    return Request(**{**values, **changes})


def on_the_15th(**changes: Any) -> Request:
    """The same on a named day, so that certainty is required."""
    return asks(**{"earliest_start": at(15), "latest_start": at(16), **changes})


def fixed(start: datetime, hours: int, **changes: Any) -> Request:
    """From that instant for so many hours, usable, as a from-to window means it."""
    return asks(
        **{
            "earliest_start": start,
            "latest_start": start,
            "latest_end": start + timedelta(hours=hours),
            "duration_hours": Decimal(hours),
            "strict": True,
            **changes,
        }
    )


def market_of(*rows: Row | Quota | NotRead, as_of: datetime = NOW) -> Market:
    return Market(
        as_of=as_of,
        offerings=tuple(row for row in rows if isinstance(row, Offering)),
        hourly=tuple(row for row in rows if isinstance(row, HourlyRate)),
        owned=tuple(row for row in rows if isinstance(row, Owned)),
        quotas=tuple(row for row in rows if isinstance(row, Quota)),
        not_read=tuple(row for row in rows if isinstance(row, NotRead)),
    )


def decided(
    request: Request,
    *rows: Row | Quota | NotRead,
    rules: Rules | None = None,
    now: datetime = NOW,
    zone: str = "UTC",
    as_of: datetime = NOW,
    requester: str | None = None,
) -> Decision:
    return decide(
        request,
        market_of(*rows, as_of=as_of),
        rules or Rules(),
        now=now,
        zone=zone,
        catalog=packaged(),
        requester=requester,
    )


def order(decision: Decision) -> list[str]:
    return ["+".join(option.refs) for option in decision.options]


def rejects(decision: Decision) -> dict[str, str]:
    return {row.refs[0]: row.reason.code for row in decision.rejected}


def option(decision: Decision, ref: str) -> Option:
    return next(found for found in decision.options if "+".join(found.refs) == ref)


def warned(decision: Decision, ref: str) -> set[str]:
    return {note.code for note in option(decision, ref).warnings}


def advised(decision: Decision) -> set[str]:
    return {note.code for note in decision.advice}


def advice_text(decision: Decision, code: str) -> str:
    return next(note.text for note in decision.advice if note.code == code)
