"""A block whose machines AWS is taking is no free capacity, to anybody."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from bot.catalog import packaged
from bot.domain.market import Kind, Market, Owned
from bot.domain.request import Request
from bot.engine import decide
from tests.services.money.stage import configuration

END = datetime(2027, 3, 13, 11, 30, tzinfo=UTC)


def owned() -> Owned:
    return Owned(
        ref="cr-1",
        kind=Kind.CAPACITY_BLOCK,
        account="research",
        region="us-east-1",
        zone="us-east-1b",
        zone_id="use1-az4",
        instance_type="p5.48xlarge",
        target_resources=(),
        total_count=2,
        available_count=2,
        start=END - timedelta(days=2),
        end=END,
        owner="U0ANA",
    )


@pytest.mark.parametrize("hours", [None, Decimal("0.2"), Decimal(1), Decimal(24)])
@pytest.mark.parametrize("minutes", [25, 29, 30])
def test_after_its_last_usable_minute_a_block_is_not_offered(hours, minutes) -> None:
    now = END - timedelta(minutes=minutes)
    decision = decide(
        Request(instance_type="p5.48xlarge", instance_count=1, duration_hours=hours),
        Market(as_of=now, owned=(owned(),)),
        configuration().rules,
        now=now,
        zone="UTC",
        catalog=packaged(),
        requester="U0BEA",
    )
    assert [option for option in decision.options if option.kind is Kind.OWNED] == []
