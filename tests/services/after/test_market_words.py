"""What the market is said to show is what somebody could have."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from bot.catalog import packaged
from bot.domain.market import Kind, Market, Offering, Segment
from bot.services.digests.market_words import market_section
from tests.fakes.clock import NOW

START = NOW + timedelta(days=1)


def offering(**changes: Any) -> Offering:
    values: dict[str, Any] = {
        "ref": "cb-1",
        "kind": Kind.CAPACITY_BLOCK,
        "account": "research",
        "region": "us-east-1",
        "opted_in": True,
        "instance_type": "p5.48xlarge",
        "instance_count": 1,
        "segments": (Segment(start=START, end=START + timedelta(days=1)),),
        "upfront_fee": Decimal("1146.24"),
        "currency": "USD",
    }
    return Offering(**{**values, **changes})


def said(*offerings: Offering) -> str:
    market = Market(as_of=NOW, offerings=offerings)
    section = market_section("p5.48xlarge", market, packaged(), hours=24)
    return " ".join(str(phrase) for sentence in section.sentences for phrase in sentence)


@pytest.mark.parametrize(
    "odd",
    [
        {"instance_count": 0},
        {"instance_count": -2},
        {"segments": ()},
        {"segments": (Segment(start=START, end=START),)},
        {"segments": (Segment(start=START, end=START - timedelta(hours=1)),)},
        {"upfront_fee": Decimal(0)},
        {"upfront_fee": Decimal(-5)},
    ],
)
def test_no_machines_no_time_and_no_price_are_no_offer(odd):
    assert "No price and no offer was shown." in said(offering(**odd))
    assert "1 on sale for about 24 h" in said(offering(), offering(ref="cb-2", **odd))
