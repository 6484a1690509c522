"""A number and its word agree, one of them too."""

from datetime import timedelta
from decimal import Decimal

import pytest

from bot.catalog import packaged
from bot.domain.market import HourlyRate, Kind, Market, Owned
from bot.domain.saying import Section
from bot.domain.values import how_many
from bot.services.digests.market_words import market_section
from bot.services.digests.money_sheet import Sheet, month_section
from tests.fakes.clock import NOW


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 machines"), (1, "1 machine"), (2, "2 machines"), (1200, "1,200 m")]
)
def test_the_word_is_as_its_number_wants_it(number, said):
    assert how_many(number, "machine").startswith(said)


def test_a_word_that_changes_more_than_its_end_is_given():
    assert how_many(1, "machine runs", "machines run") == "1 machine runs"
    assert how_many(3, "machine runs", "machines run") == "3 machines run"


def text(section: Section) -> str:
    phrases = [phrase for sentence in section.sentences for phrase in sentence]
    return "".join(
        one if isinstance(one, str) else str(getattr(one, "text", "")) for one in phrases
    )


@pytest.mark.parametrize(("lines", "said"), [(6, "1 other: "), (7, "2 others: ")])
def test_a_month_counts_what_it_does_not_name(lines, said):
    each = Decimal("1105.10")
    page = Sheet(
        team="vision",
        limit=None,
        held=Decimal(0),
        bought=each * lines,
        lines=tuple((number, Decimal(0), each) for number in range(1, lines + 1)),
    )
    assert said in text(month_section(page, NOW))


def rate(number: int) -> HourlyRate:
    return HourlyRate(
        ref=f"od-{number}",
        kind=Kind.ON_DEMAND,
        account="research",
        region="us-east-1",
        zone=None,
        zone_id=None,
        zone_type=None,
        opted_in=True,
        instance_type="p5.48xlarge",
        usd_per_hour=Decimal(50 + number),
        source="price list",
        as_of=NOW,
        last_refused_at=None,
        placement_score=None,
    )


def held(number: int) -> Owned:
    return Owned(
        ref=f"cr-{number}",
        kind=Kind.CAPACITY_BLOCK,
        account="research",
        region="us-east-1",
        zone="us-east-1b",
        zone_id="use1-az2",
        instance_type="p5.48xlarge",
        total_count=2,
        available_count=1,
        start=NOW,
        end=NOW + timedelta(days=1),
        target_resources=(),
        owner=None,
    )


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (1, ("1 dearer price.", "1 more reservation has free machines.")),
        (2, ("2 dearer prices.", "2 more reservations have free machines.")),
    ],
)
def test_a_market_counts_what_it_does_not_show(more, said):
    market = Market(
        as_of=NOW,
        hourly=tuple(rate(number) for number in range(3 + more)),
        owned=tuple(held(number) for number in range(4 + more)),
    )
    shown = text(market_section("p5.48xlarge", market, packaged(), hours=24))
    assert all(one in shown for one in said)
