"""Spot: the newest price over all pages; scores in company, and not asked again in vain."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from bot.aws.market import AwsMarket
from bot.catalog import packaged
from bot.domain.market import Kind, Market
from bot.domain.request import Request
from tests.fakes.clock import FakeClock
from tests.unit.aws.canned import RESEARCH, CannedClients, said

ZONES = {
    "AvailabilityZones": [
        {"ZoneName": "us-east-1a", "ZoneId": "use1-az2", "ZoneType": "availability-zone"},
        {"ZoneName": "us-east-1b", "ZoneId": "use1-az4", "ZoneType": "availability-zone"},
    ]
}


def change(zone: str, price: str, day: int, hour: int) -> dict[str, Any]:
    return {
        "AvailabilityZone": f"us-east-{zone}",
        "InstanceType": "p5.48xlarge",
        "SpotPrice": price,
        "Timestamp": datetime(2027, 3, day, hour, tzinfo=UTC),
    }


def reader(clients: CannedClients, clock: FakeClock | None = None) -> AwsMarket:
    return AwsMarket(
        (RESEARCH,),
        clock=clock or FakeClock(),
        catalog=packaged(),
        refusals=dict,
        clients=clients,
        kinds=(Kind.SPOT,),
    )


def read(market: AwsMarket, *, interruptible: bool | None = True) -> Market:
    return market.read(
        Request(
            instance_type="p5.48xlarge",
            instance_count=2,
            duration_hours=Decimal(24),
            interruptible=interruptible,
        )
    )


def test_the_newest_change_of_each_zone_over_all_pages_is_its_price():
    pages = [
        {
            "SpotPriceHistory": [change("1a", "12.10", 8, 0), change("1b", "15.75", 10, 14)],
            "NextToken": "more",
        },
        {"SpotPriceHistory": [change("1a", "18.90", 10, 13)], "NextToken": ""},
    ]
    clients = CannedClients(describe_spot_price_history=pages, describe_availability_zones=ZONES)
    rows = {rate.zone: rate.usd_per_hour for rate in read(reader(clients)).hourly}
    assert rows == {"us-east-1a": Decimal("18.90"), "us-east-1b": Decimal("15.75")}


def test_an_empty_history_is_an_unknown_price_never_zero():
    rows = read(reader(CannedClients())).hourly
    assert [(rate.zone, rate.usd_per_hour) for rate in rows] == [(None, None)]


def test_scores_are_asked_for_three_types_and_the_source_says_which():
    clients = CannedClients(
        describe_availability_zones=ZONES,
        describe_spot_price_history={"SpotPriceHistory": [change("1a", "12.10", 8, 0)]},
        get_spot_placement_scores={
            "SpotPlacementScores": [
                {"Region": "us-east-1", "AvailabilityZoneId": "use1-az2", "Score": 3}
            ]
        },
    )
    (row,) = read(reader(clients)).hourly
    (asked,) = clients.asked("get_spot_placement_scores")
    assert len(set(asked["InstanceTypes"])) == 3
    assert (row.placement_score, row.source.count(",")) == (3, 2)


def test_scores_are_not_asked_for_when_spot_is_not_allowed():
    clients = CannedClients()
    read(reader(clients), interruptible=None)
    assert clients.asked("get_spot_placement_scores") == []


def test_the_limit_of_scores_is_said_and_not_tried_again_for_an_hour():
    clock = FakeClock()
    clients = CannedClients(
        describe_spot_price_history={"SpotPriceHistory": [change("1a", "12.10", 8, 0)]},
        get_spot_placement_scores=said("MaxConfigLimitExceeded"),
    )
    market = reader(clients, clock)
    for _ in range(11):
        seen = read(market)
        (gap,) = (each for each in seen.not_read if "score" in each.market)
        assert (gap.why, gap.detail) == ("throttled", "MaxConfigLimitExceeded")
        assert [(row.usd_per_hour, row.placement_score) for row in seen.hourly] == [
            (Decimal("12.10"), None)
        ]
        clock.advance(timedelta(minutes=5))
    assert len(clients.asked("get_spot_placement_scores")) == 1
    clock.advance(timedelta(hours=1))
    read(market)
    assert len(clients.asked("get_spot_placement_scores")) == 2
