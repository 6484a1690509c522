"""Deciding on a market of 5,000 offerings, against only reading and sorting the same market.

`python -m benchmarks.decide` prints the median ratio of interleaved pairs; the mark is 8. In
the first market 70 % are blocks and one row in fifty fits. In the second, where more than three
quarters fit, 80 % are blocks: a plan never fits work on EC2.
"""

import json
import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from bot.catalog import packaged
from bot.domain.market import Market, Offering
from bot.domain.request import Request
from bot.domain.rules import Rules
from bot.engine import decide

MARK = 8.0
PAIRS = 7
OFFERINGS = 5_000
NOW = datetime(2027, 3, 10, 15, tzinfo=UTC)
FIRST_DAY = datetime(2027, 3, 11, 11, 30, tzinfo=UTC)
COUNTS = (1, 2, 8, 16, 32, 64)
REQUEST = Request(
    instance_type="p5.48xlarge",
    instance_count=4,
    duration_hours=Decimal(48),
    interruptible=True,
)


def market_json(*, block_percent: int, fit_percent: int) -> str:
    """A market of blocks and plans, a quarter of the rows with two segments."""
    rows = [
        _offering(place, block=place % 100 < block_percent, fits=place % 100 < fit_percent)
        for place in range(OFFERINGS)
    ]
    return json.dumps({"as_of": "2027-03-10T15:00:00Z", "offerings": rows})


def rows() -> list[tuple[str, float, str]]:
    """Name, median ratio and mark of each market."""
    few = market_json(block_percent=70, fit_percent=2)
    many = market_json(block_percent=80, fit_percent=78)
    return [
        ("decide on 5,000 offerings, 2 % fit", ratio(few, least=0.02), f"≤ {MARK:g}"),
        ("decide on 5,000 offerings, 78 % fit", ratio(many, least=0.75), f"≤ {MARK:g}"),
    ]


def ratio(text: str, *, least: float) -> float:
    """The median of decide's time over that of parsing and sorting, in interleaved pairs."""
    market = Market.model_validate_json(text)
    decision = _decide(market)
    assert len(decision.options) >= OFFERINGS * least
    _read(text)
    pairs = [
        (_seconds(lambda: _decide(market)), _seconds(lambda: _read(text))) for _ in range(PAIRS)
    ]
    return statistics.median(ours / theirs for ours, theirs in pairs)


def _decide(market: Market):
    return decide(REQUEST, market, Rules(), now=NOW, zone="UTC", catalog=packaged())


def _read(text: str) -> list[Offering]:
    offerings = Market.model_validate_json(text).offerings
    return sorted(offerings, key=lambda offering: offering.upfront_fee or Decimal(0))


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _offering(place: int, *, block: bool, fits: bool) -> dict[str, object]:
    opens = FIRST_DAY + timedelta(days=place % 40)
    two = place % 4 == 0
    segments = [_segment(opens, 1 if two else 2)]
    if two:
        segments.append(_segment(opens + timedelta(days=3), 1))
    return {
        "ref": f"cb-{place:017x}" if block else f"tpo-{place:x}",
        "kind": "capacity_block" if block else "training_plan",
        "account": "research",
        "region": "us-east-1",
        "zone": f"us-east-1{'abcdef'[place % 6]}",
        "zone_id": f"use1-az{place % 6 + 1}",
        "zone_type": "availability-zone",
        "opted_in": True,
        "instance_type": "p5.48xlarge" if block else "ml.p5.48xlarge",
        "instance_count": 4 if fits else COUNTS[place % len(COUNTS)],
        "ultraserver_type": None,
        "ultraserver_count": None,
        "target_resources": [] if block else ["training-job"],
        "segments": segments,
        "upfront_fee": str(Decimal(6000) + place % 997),
        "currency": "USD",
    }


def _segment(opens: datetime, days: int) -> dict[str, str]:
    closes = opens + timedelta(days=days)
    return {"start": f"{opens:%Y-%m-%dT%H:%M:%SZ}", "end": f"{closes:%Y-%m-%dT%H:%M:%SZ}"}


if __name__ == "__main__":
    for name, measured, mark in rows():
        print(f"{name}: {measured:.2f} (mark {mark})")
