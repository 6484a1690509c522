"""Totals, rates, ratios and their rounding."""

import json
from datetime import timedelta
from decimal import Decimal

import pytest

from bot.domain.request import Target
from tests.unit.engine.markets import (
    NOW,
    P5,
    asks,
    at,
    block,
    decided,
    odcr,
    on_demand,
    on_the_15th,
    option,
    owned,
    plan,
    rejects,
    spot,
    warned,
    window,
)


def test_a_prepaid_total_is_the_fee_as_it_was_given() -> None:
    found = option(decided(on_the_15th(), block(fee="1661.184")), "cb-a")
    assert found.total_usd == Decimal("1661.184")
    assert (found.paid, found.cancellable) == ("upfront", False)


def test_a_prepaid_rate_spreads_the_fee_over_the_reserved_hours() -> None:
    found = option(decided(on_the_15th(), block(fee="1661.184", hours=48)), "cb-a")
    assert found.usd_per_instance_hour == Decimal("17.304")


def test_a_rate_is_rounded_once_from_its_exact_value() -> None:
    row = block(fee="21680.58", opens=at(11, 11, 30), hours=0)
    third = window(at(11, 11, 30), 0).model_copy(
        update={"end": at(11, 11, 30) + timedelta(hours=251, minutes=40)}
    )
    found = option(decided(asks(), row.model_copy(update={"segments": (third,)})), "cb-a")
    assert found.usd_per_accelerator_hour == Decimal("5.3843")  # 5.38425 exactly


def test_a_rate_that_is_exactly_the_cap_is_within_it() -> None:
    part = window(at(11, 11, 30), 0).model_copy(
        update={"end": at(11, 11, 30) + timedelta(hours=251, minutes=20)}
    )
    row = block(fee="24007.36").model_copy(update={"segments": (part,)})
    capped = decided(asks(max_hourly_usd=Decimal("47.76")), row)
    assert option(capped, "cb-a").usd_per_instance_hour == Decimal("47.76")
    dearer = row.model_copy(update={"upfront_fee": Decimal("24007.37")})
    assert rejects(decided(asks(max_hourly_usd=Decimal("47.76")), dearer)) == {
        "cb-a": "over_hourly_cap"
    }


def test_a_half_cent_of_a_third_rounds_up() -> None:
    request = asks(instance_count=1, duration_hours=Decimal(1), utilization=Decimal("0.3333"))
    assert option(decided(request, on_demand(usd="0.015")), "od").total_usd == Decimal("0.01")


def test_on_demand_costs_the_asked_hours_times_the_share_that_runs() -> None:
    found = option(decided(asks(utilization=Decimal("0.6")), on_demand(usd="10")), "od")
    assert found.total_usd == Decimal(288)
    assert found.usd_per_instance_hour == Decimal(10)
    assert (found.paid, found.cancellable) == ("hourly", True)


def test_spot_costs_the_asked_hours_times_the_share_that_runs() -> None:
    request = asks(utilization=Decimal("0.5"), interruptible=True)
    assert option(decided(request, spot(usd="10")), "spot").total_usd == Decimal(240)


def test_an_odcr_bills_from_now_used_or_not() -> None:
    request = asks(earliest_start=NOW + timedelta(hours=6), utilization=Decimal("0.5"))
    assert option(decided(request, odcr(usd="10")), "odcr").total_usd == Decimal(600)


def test_owned_capacity_costs_nothing() -> None:
    found = option(decided(on_the_15th(), owned(), on_demand()), "cr-a")
    assert (found.total_usd, found.usd_per_instance_hour) == (0, 0)
    assert (found.versus_on_demand, found.break_even_utilization) == (None, None)
    assert found.paid == "already"


def test_hourly_totals_are_rounded_half_up_to_the_cent() -> None:
    request = asks(instance_count=1, duration_hours=Decimal(1))
    assert option(decided(request, on_demand(usd="1.005")), "od").total_usd == Decimal("1.01")
    assert option(decided(request, on_demand(usd="1.0049")), "od").total_usd == Decimal("1.00")


@pytest.mark.parametrize("printed", ["0.3333", "0.3333333333333333333333333333"])
def test_eight_hours_a_day_are_an_exact_third_of_the_money(printed: str) -> None:
    request = asks(instance_count=1, utilization=Decimal(printed))
    found = option(decided(request, on_demand(usd="100")), "od")
    assert found.total_usd == Decimal("800.00")


def test_ratios_are_over_the_on_demand_rate_of_the_same_place_and_type() -> None:
    rows = [
        block(fee="1920.00"),
        on_demand("od", usd="50"),
        on_demand("od-2", usd="10", region="us-east-2"),
        on_demand("od-3", usd="10", account="other"),
        on_demand("od-4", usd="10", instance_type=f"ml.{P5}"),
    ]
    found = option(decided(asks(), *rows), "cb-a")
    assert found.versus_on_demand == Decimal("0.8")
    assert found.break_even_utilization == Decimal("0.8")


def test_hourly_kinds_have_a_ratio_but_no_break_even() -> None:
    decision = decided(
        asks(interruptible=True), on_demand(usd="50"), odcr(usd="60"), spot(usd="20")
    )
    ratios = {found.refs[0]: found.versus_on_demand for found in decision.options}
    assert ratios == {"od": 1, "odcr": Decimal("1.2"), "spot": Decimal("0.4")}
    assert {found.break_even_utilization for found in decision.options} == {None}


def test_without_an_on_demand_price_there_is_no_ratio() -> None:
    decision = decided(on_the_15th(), block(), on_demand(usd=None))
    found = option(decision, "cb-a")
    assert (found.versus_on_demand, found.break_even_utilization) == (None, None)


@pytest.mark.parametrize(
    ("hours", "utilization", "warns"),
    [(24, None, False), (24, "0.8", False), (24, "0.79", True), (48, None, True)],
)
def test_the_true_share_of_running_time_is_held_against_break_even(
    hours: int, utilization: str | None, *, warns: bool
) -> None:
    share = None if utilization is None else Decimal(utilization)
    row = block(fee=str(Decimal(80) * hours), hours=hours)
    decision = decided(asks(utilization=share), row, on_demand(usd="50"))
    assert ("below_break_even" in warned(decision, "cb-a")) is warns


def test_rates_are_printed_half_up_to_four_decimals() -> None:
    decision = decided(asks(instance_count=3), block(count=3, fee="1000.00"))
    printed = json.loads(decision.options[0].model_dump_json())
    assert printed["usd_per_instance_hour"] == "13.8889"
    assert printed["usd_per_accelerator_hour"] == "1.7361"


def test_a_plan_is_compared_with_the_sagemaker_price() -> None:
    request = on_the_15th(target=Target.TRAINING_JOB)
    ml = on_demand(usd="50", instance_type=f"ml.{P5}")
    found = option(decided(request, plan(fee="1200.00"), ml), "tpo-a")
    assert found.versus_on_demand == Decimal("0.5")
    assert found.segments[0].start == at(15, 11, 30)


def test_a_rate_of_any_size_is_printed_to_the_fourth_place() -> None:
    row = block(fee="12345678901234567890123456789.12", count=1)
    found = option(decided(asks(instance_count=1), row), "cb-a")
    printed = found.model_dump(mode="json")
    assert printed["total_usd"] == "12345678901234567890123456789.12"
    assert printed["usd_per_instance_hour"] == "514403287551440328755144032.88"


def test_a_third_of_an_hour_is_exact_before_its_half_cent_is_rounded() -> None:
    request = asks(instance_count=1, duration_hours=Decimal("0.3333"))
    found = option(decided(request, on_demand(usd="0.015")), "od")
    assert found.total_usd == Decimal("0.01")
