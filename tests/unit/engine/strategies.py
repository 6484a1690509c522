"""Requests with markets in which about half of the rows fit by construction."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from bot.domain.market import HourlyRate, Kind, Market, Offering, Owned, Quota, Segment
from bot.domain.request import Request, Target
from tests.unit.engine.markets import (
    NOW,
    P5,
    asks,
    at,
    block,
    fixed,
    hourly,
    market_of,
    on_the_15th,
    owned,
    plan,
    quota,
)

SMALL = "p5.4xlarge"
TYPES = st.sampled_from((P5, P5, P5, SMALL, "p5en.48xlarge"))
PLACES = st.sampled_from(("us-east-1a", "us-east-1b"))
ACCOUNTS = st.sampled_from(("research", "vision"))
REGIONS = st.sampled_from(("us-east-1", "us-east-1", "us-west-2"))
FEES = st.integers(100, 9_999).map(lambda cents: Decimal(cents * 37) / 100)
TARGETS = st.sampled_from((Target.EC2, Target.TRAINING_JOB, Target.HYPERPOD))


@st.composite
def requests(draw: st.DrawFn) -> Request:
    """Flexible, named-day, fixed and deadline requests; a type, or an accelerator."""
    words: dict[str, Any] = {
        "duration_hours": Decimal(draw(st.sampled_from((8, 24, 24, 48, 72)))),
        "interruptible": draw(st.sampled_from((None, True, True, False))),
        "target": draw(TARGETS),
        "minimum_count": draw(st.sampled_from((None, None, 1))),
        "instance_count": draw(st.sampled_from((1, 2, 4))),
        "max_total_usd": draw(st.sampled_from((None, None, Decimal(2500)))),
        "utilization": draw(st.sampled_from((None, Decimal("0.5")))),
    }
    if draw(st.booleans()):
        words |= {"instance_type": None, "instance_count": None, "minimum_count": None}
        words |= {"accelerator": "H100", "accelerator_count": draw(st.sampled_from((8, 16)))}
    shape = draw(st.sampled_from(("asap", "after", "day", "fixed", "deadline")))
    if shape == "day":
        return on_the_15th(**words)
    if shape == "fixed":
        words.pop("duration_hours")
        return fixed(at(15, 12), draw(st.sampled_from((8, 24))), **words)
    if shape == "after":
        return asks(earliest_start=at(14), **words)
    if shape == "deadline":
        return asks(latest_end=at(25), **words)
    return asks(**words)


@st.composite
def segments(draw: st.DrawFn, hours: Decimal) -> tuple[Segment, ...]:
    """A window that usually covers the asked hours around the 15th, sometimes in two parts."""
    opens = at(15, 11, 30) + timedelta(days=draw(st.sampled_from((-3, 0, 0, 0, 1, 40))))
    zone = draw(PLACES)
    length = timedelta(hours=int(hours) + draw(st.sampled_from((-10, -2, 1, 1, 24))))
    length = max(length, timedelta(hours=1))
    if draw(st.integers(0, 4)) == 0:
        half = length / 2
        resumes = opens + half + timedelta(hours=24)
        return (
            Segment(start=opens, end=opens + half, zone=zone),
            Segment(start=resumes, end=resumes + half, zone=zone),
        )
    return (Segment(start=opens, end=opens + length, zone=zone),)


@st.composite
def offerings(draw: st.DrawFn, place: int, request: Request) -> Offering:
    """A block or a plan with the asked count, a part of it, or more."""
    target = request.target or Target.EC2
    count = request.instance_count or 1
    values: dict[str, Any] = {
        "count": draw(st.sampled_from((count, count, max(count // 2, 1), count + 1))),
        "account": draw(ACCOUNTS),
        "region": draw(REGIONS),
        "zone": draw(PLACES),
        "segments": draw(segments(request.duration_hours or Decimal(24))),
        "opted_in": draw(st.integers(0, 9)) > 0,
    }
    fee = draw(st.one_of(FEES, FEES, st.none()))
    name = draw(TYPES)
    if target is Target.EC2 or draw(st.integers(0, 4)) == 0:
        row = block(f"cb-{place}", instance_type=name, **values)
    else:
        row = plan(f"tpo-{place}", targets=(target,), instance_type=f"ml.{name}", **values)
    return row.model_copy(update={"upfront_fee": fee})


@st.composite
def rates(draw: st.DrawFn, place: int, request: Request) -> HourlyRate:
    """An hourly price of the request's branch."""
    kind = draw(st.sampled_from((Kind.ON_DEMAND, Kind.ON_DEMAND, Kind.SPOT, Kind.ODCR)))
    prefix = "" if request.target in (None, Target.EC2) else "ml."
    return hourly(
        kind,
        f"{kind.value}-{place}",
        str(draw(FEES)),
        account=draw(ACCOUNTS),
        region=draw(REGIONS),
        instance_type=prefix + draw(TYPES),
        placement_score=draw(st.one_of(st.none(), st.integers(1, 10))),
        last_refused_at=draw(st.sampled_from((None, None, NOW, NOW - timedelta(hours=9)))),
    )


@st.composite
def holdings(draw: st.DrawFn, place: int, request: Request) -> Owned:
    """Owned capacity of the request's branch, sometimes without an end."""
    on_ec2 = request.target in (None, Target.EC2)
    kind = draw(st.sampled_from((Kind.CAPACITY_BLOCK, Kind.ODCR))) if on_ec2 else Kind.TRAINING_PLAN
    ends = at(15, 11, 30) + timedelta(hours=int(request.duration_hours or 24) + 24)
    return owned(
        f"cr-{place}",
        kind=kind,
        instance_type=("" if on_ec2 else "ml.") + draw(TYPES),
        target_resources=() if on_ec2 else (str(request.target),),
        available_count=draw(st.integers(0, 4)),
        start=draw(st.sampled_from((at(9, 11, 30), at(15, 11, 30)))),
        end=None if kind is Kind.ODCR and draw(st.booleans()) else ends,
        owner=draw(st.sampled_from((None, "U0ANA", "U0LIN"))),
    )


@st.composite
def quotas(draw: st.DrawFn) -> Quota:
    return quota(
        draw(st.sampled_from((None, 192, 384, 10_000))),
        name=draw(st.sampled_from(("One", "Two"))),
        types=(draw(st.sampled_from(("p5.*", "ml.p5*"))),),
        account=draw(ACCOUNTS),
    )


@st.composite
def parts(draw: st.DrawFn, request: Request) -> list[Offering]:
    """Offerings of one window that sum to the asked count, and some that may not."""
    count = request.instance_count or 2
    opens = at(15, 11, 30)
    window = Segment(
        start=opens, end=opens + timedelta(hours=int(request.duration_hours or 24) + 1)
    )
    sizes = [max(count // 2, 1), max(count - count // 2, 1), *draw(st.lists(st.integers(1, 3)))][:5]
    target = request.target or Target.EC2
    rows = [
        block(f"cb-part-{place}", count=size, segments=(window,))
        if target is Target.EC2
        else plan(f"tpo-part-{place}", count=size, segments=(window,), targets=(target,))
        for place, size in enumerate(sizes)
    ]
    return [row.model_copy(update={"upfront_fee": draw(FEES)}) for row in rows]


@st.composite
def situations(draw: st.DrawFn) -> tuple[Request, Market]:
    """A request and a market of up to fourteen rows with distinct refs."""
    request = draw(requests())
    rows: list[Offering | HourlyRate | Owned | Quota] = [
        *(draw(offerings(place, request)) for place in range(draw(st.integers(0, 7)))),
        *(draw(rates(place, request)) for place in range(draw(st.integers(0, 4)))),
        *(draw(holdings(place, request)) for place in range(draw(st.integers(0, 2)))),
        *draw(st.lists(quotas(), max_size=2)),
    ]
    if draw(st.booleans()):
        rows.extend(draw(parts(request)))
    return request, market_of(*rows)
