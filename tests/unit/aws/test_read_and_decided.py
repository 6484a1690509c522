"""What is read from AWS, decided on: quotas in vCPUs, newest spot prices, the price in use."""

import itertools
import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from bot.aws.market import AwsMarket
from bot.catalog import packaged
from bot.domain.decision import Decision
from bot.domain.market import Kind
from bot.domain.request import Request
from bot.domain.rules import Rules
from bot.engine import decide
from tests.fakes.clock import NOW, FakeClock
from tests.unit.aws.canned import RESEARCH, CannedClients, said

P5 = "p5.48xlarge"
LIMITS = {
    "L-417A185B": ("Running On-Demand P instances", 192.0),
    "L-7212CCBC": ("All P4, P3 and P2 Spot Instance Requests", 0.0),
    "L-C4BD4855": ("All P5 Spot Instance Requests", 384.0),
}
ZONES = {
    "AvailabilityZones": [
        {"ZoneName": f"us-east-1{letter}", "ZoneId": f"use1-az{place}"}
        for place, letter in enumerate("ab", start=1)
    ]
}


def limit(**asked: Any) -> dict[str, Any]:
    name, value = LIMITS[asked["QuotaCode"]]
    return {"Quota": {"QuotaName": name, "Value": value}}


def product(usd: str, status: str = "Used") -> str:
    attributes = {"instanceType": P5, "regionCode": "us-east-1", "capacitystatus": status}
    price = {"t": {"priceDimensions": {"d": {"pricePerUnit": {"USD": usd}}}}}
    return json.dumps({"product": {"attributes": attributes}, "terms": {"OnDemand": price}})


def change(zone: str, price: str, day: int, hour: int) -> dict[str, Any]:
    return {
        "AvailabilityZone": f"us-east-{zone}",
        "InstanceType": P5,
        "SpotPrice": price,
        "Timestamp": datetime(2027, 3, day, hour, tzinfo=UTC),
    }


def decided(count: int, *, hours: int = 24, **answers: Any) -> Decision:
    """The decision on so many p5.48xlarge, spot welcome, from what AWS answers."""
    known: dict[str, Any] = {
        "get_service_quota": limit,
        "get_products": {"PriceList": [product("55.0400000000")]},
        "describe_spot_price_history": {"SpotPriceHistory": [change("1a", "30.00", 10, 12)]},
        "describe_availability_zones": ZONES,
    }
    market = AwsMarket(
        (RESEARCH,),
        clock=FakeClock(),
        catalog=packaged(),
        refusals=dict,
        clients=CannedClients(**{**known, **answers}),
        kinds=(Kind.ON_DEMAND, Kind.SPOT),
    )
    request = Request(
        instance_type=P5, instance_count=count, duration_hours=Decimal(hours), interruptible=True
    )
    return decide(request, market.read(request), Rules(), now=NOW, zone="UTC", catalog=packaged())


def kinds(decision: Decision) -> set[Kind]:
    return {option.kind for option in decision.options}


def why(decision: Decision, kind: Kind) -> tuple[str, str]:
    (row,) = (row for row in decision.rejected if row.kind is kind)
    return row.reason.code, row.reason.text


def warned(decision: Decision, kind: Kind) -> set[str]:
    (option,) = (option for option in decision.options if option.kind is kind)
    return {note.code for note in option.warnings}


def test_one_machine_of_192_vcpus_fits_a_limit_of_192():
    assert kinds(decided(1)) == {Kind.ON_DEMAND, Kind.SPOT}


def test_two_machines_need_384_of_192_and_spot_has_its_own_limit():
    decision = decided(2)
    assert kinds(decision) == {Kind.SPOT}
    code, text = why(decision, Kind.ON_DEMAND)
    assert code == "quota"
    assert "needs 384 vcpus" in text
    assert "the limit is 192" in text


def test_a_machine_that_runs_already_uses_the_limit_up():
    running = {"Reservations": [{"Instances": [{"InstanceType": P5}]}]}
    decision = decided(1, describe_instances=running)
    assert kinds(decision) == {Kind.SPOT}
    assert "192 are in use" in why(decision, Kind.ON_DEMAND)[1]


def test_a_limit_that_was_never_set_is_aws_own_default():
    default = {"Quota": {"QuotaName": "Running On-Demand P instances", "Value": 0.0}}
    decision = decided(
        1,
        get_service_quota=said("NoSuchResourceException"),
        get_aws_default_service_quota=default,
    )
    assert why(decision, Kind.ON_DEMAND)[0] == "quota"


@pytest.mark.parametrize(
    "answers",
    [
        {
            "get_service_quota": said("NoSuchResourceException"),
            "get_aws_default_service_quota": said("NoSuchResourceException"),
        },
        {"get_service_quota": {"Quota": {"QuotaName": "Running On-Demand P instances"}}},
        {"get_service_quota": said("AccessDeniedException")},
        {"describe_instances": said("UnauthorizedOperation")},
    ],
)
def test_a_limit_or_a_use_that_nobody_knows_is_said_to_be_unknown(answers: dict[str, Any]):
    decision = decided(1, **answers)
    assert "quota_unknown" in warned(decision, Kind.ON_DEMAND)


def test_a_known_limit_is_said_nothing_about():
    assert "quota_unknown" not in warned(decided(1), Kind.ON_DEMAND)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_two_machines_for_72_hours_cost_what_the_product_in_use_says(order: tuple[int, ...]):
    three = (
        product("55.0400000000"),
        product("55.0400000000", "UnusedCapacityReservation"),
        product("0.0000000000", "AllocatedCapacityReservation"),
    )
    decision = decided(
        2,
        hours=72,
        get_products={"PriceList": [three[place] for place in order]},
        get_service_quota={"Quota": {"QuotaName": "Running On-Demand P instances", "Value": 9999}},
        describe_spot_price_history={},
    )
    (option,) = decision.options
    assert (option.kind, option.total_usd) == (Kind.ON_DEMAND, Decimal("7925.76"))


def test_the_cheapest_zone_is_found_by_its_newest_price():
    history = [
        {
            "SpotPriceHistory": [change("1a", "12.10", 8, 0), change("1b", "15.75", 10, 14)],
            "NextToken": "more",
        },
        {"SpotPriceHistory": [change("1a", "18.90", 10, 13)]},
    ]
    spot = [
        o for o in decided(1, describe_spot_price_history=history).options if o.kind is Kind.SPOT
    ]
    assert [(o.zone, o.usd_per_instance_hour) for o in spot] == [
        ("us-east-1b", Decimal("15.75")),
        ("us-east-1a", Decimal("18.90")),
    ]


def test_an_empty_price_history_is_no_price_and_no_option():
    decision = decided(1, describe_spot_price_history={"SpotPriceHistory": []})
    assert why(decision, Kind.SPOT) == ("price_unknown", "AWS gave no price for it.")


def test_a_refusal_of_scores_is_no_score_of_zero_and_no_lack_of_capacity():
    decision = decided(1, get_spot_placement_scores=said("MaxConfigLimitExceeded"))
    assert [(gap.market, gap.why) for gap in decision.not_read] == [
        ("spot placement score", "throttled")
    ]
    (option,) = (option for option in decision.options if option.kind is Kind.SPOT)
    (low,) = (note.text for note in option.warnings if note.code == "score_low")
    assert low == "No spot placement score is known."
