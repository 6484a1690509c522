"""Which windows are long enough: tails, tolerance, strictness, begin, types and counts."""

from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from bot.domain.market import Kind
from bot.domain.request import Target
from bot.domain.rules import Rules
from tests.unit.engine.markets import (
    NOW,
    P5,
    asks,
    at,
    block,
    decided,
    fixed,
    odcr,
    on_demand,
    on_the_15th,
    option,
    order,
    owned,
    plan,
    rejects,
    spot,
    warned,
    window,
)

ULTRA = {"ultraserver_type": "u-p6e-gb200x72", "ultraserver_count": 1}


def test_a_block_is_usable_until_half_an_hour_before_its_end() -> None:
    found = option(decided(on_the_15th(), block()), "cb-a")
    assert found.usable_end == at(16, 11)
    assert found.usable_hours == Decimal("23.5")


@pytest.mark.parametrize("named", [None, "u-p6e-gb200x72"])
def test_an_ultraserver_is_usable_until_an_hour_before_its_end(named: str | None) -> None:
    request = on_the_15th(instance_type=named, ultraserver_type="u-p6e-gb200x72", instance_count=1)
    row = block(count=18, instance_type="p6e-gb200.36xlarge", **ULTRA)
    found = option(decided(request, row), "cb-a")
    assert found.usable_end == at(16, 10, 30)
    assert found.instance_count == 18


def test_ultraservers_are_counted_whole() -> None:
    request = on_the_15th(
        instance_type="u-p6e-gb200x72", ultraserver_type="u-p6e-gb200x72", instance_count=2
    )
    one = block(count=18, instance_type="p6e-gb200.36xlarge", **ULTRA)
    assert rejects(decided(request, one)) == {"cb-a": "too_few_instances"}
    other = one.model_copy(update={"ultraserver_type": "u-p6e-gb200x36"})
    assert rejects(decided(request, other)) == {"cb-a": "wrong_type"}


@pytest.mark.parametrize(("named", "machines"), [("p6e-gb200.36xlarge", 36), ("u-p6e-gb200x72", 2)])
def test_ultraservers_without_a_count_are_counted_by_their_machines(
    named: str, machines: int
) -> None:
    request = on_the_15th(
        instance_type="u-p6e-gb200x72", ultraserver_type="u-p6e-gb200x72", instance_count=2
    )
    row = block(count=machines, instance_type=named, ultraserver_type="u-p6e-gb200x72")
    found = option(decided(request, row), "cb-a")
    assert found.instance_count == machines
    assert not {"fewer_machines_than_asked", "more_machines_than_asked"} & {
        note.code for note in found.warnings
    }
    short = row.model_copy(update={"instance_count": machines - 1})
    assert rejects(decided(request, short)) == {"cb-a": "too_few_instances"}


@pytest.mark.parametrize(
    ("target", "minutes"),
    [
        (Target.TRAINING_JOB, 30),
        (Target.STUDIO, 30),
        (Target.ENDPOINT, 30),
        (Target.HYPERPOD, 60),
    ],
)
def test_a_plan_loses_the_tail_of_its_target(target: Target, minutes: int) -> None:
    decision = decided(on_the_15th(target=target), plan(targets=(target,)))
    end = at(16, 11, 30) - timedelta(minutes=minutes)
    assert option(decision, "tpo-a").usable_end == end


def test_a_plan_of_ultraservers_loses_an_hour_whatever_its_target() -> None:
    request = on_the_15th(target=Target.TRAINING_JOB)
    assert option(decided(request, plan(**ULTRA)), "tpo-a").usable_end == at(16, 10, 30)


@pytest.mark.parametrize("name", ["p6e-gb200.36xlarge", "trn2u.48xlarge", "u-of-tomorrow"])
def test_an_owned_ultraserver_is_useful_until_an_hour_before_its_end(name: str) -> None:
    mine = owned(instance_type=name, start=at(9, 11, 30), end=at(11, 11, 30))
    request = asks(instance_type=name, instance_count=1, duration_hours=Decimal(2))
    assert option(decided(request, mine), "cr-a").usable_end == at(11, 10, 30)


def test_each_part_loses_its_own_tail() -> None:
    parts = (window(at(15, 11, 30), 24), window(at(17, 11, 30), 24))
    request = on_the_15th(target=Target.HYPERPOD, duration_hours=Decimal(48))
    found = option(decided(request, plan(targets=(Target.HYPERPOD,), segments=parts)), "tpo-a")
    assert found.usable_hours == Decimal(46)
    assert found.usable_end == at(18, 10, 30)


def test_the_parts_of_a_row_may_come_in_any_order() -> None:
    parts = (window(at(17, 11, 30), 24), window(at(15, 11, 30), 24))
    request = on_the_15th(target=Target.TRAINING_JOB, duration_hours=Decimal(48))
    found = option(decided(request, plan(segments=parts)), "tpo-a")
    assert found.segments[0].start == at(15, 11, 30)


def test_hourly_kinds_lose_nothing() -> None:
    decision = decided(asks(interruptible=True), on_demand(), odcr(), spot())
    for found in decision.options:
        assert found.usable_end == NOW + timedelta(hours=24)
        assert found.usable_hours == Decimal(24)


def test_hourly_kinds_begin_at_the_stated_start_or_now() -> None:
    stated = option(decided(asks(earliest_start=at(11, 9)), on_demand()), "od")
    assert stated.segments[0].start == at(11, 9)
    past = option(decided(asks(earliest_start=at(10, 9)), on_demand()), "od")
    assert past.segments[0].start == NOW


def test_an_owned_block_is_not_offered_in_its_last_half_hour() -> None:
    mine = owned(end=at(10, 15, 25), start=at(9, 11, 30))
    assert rejects(decided(asks(duration_hours=Decimal(1)), mine)) == {"cr-a": "too_short"}


def test_an_owned_odcr_without_an_end_is_as_long_as_asked() -> None:
    mine = owned(kind=Kind.ODCR, start=at(1), end=None)
    found = option(decided(asks(duration_hours=Decimal(100)), mine), "cr-a")
    assert found.usable_end == NOW + timedelta(hours=100)
    assert found.cancellable


@pytest.mark.parametrize("kind", [Kind.CAPACITY_BLOCK, Kind.TRAINING_PLAN])
def test_an_owned_block_or_plan_whose_end_is_not_known_is_no_option(kind: Kind) -> None:
    plan_of = {"instance_type": f"ml.{P5}", "target_resources": ("training-job",)}
    changes: dict[str, object] = plan_of if kind is Kind.TRAINING_PLAN else {}
    target = Target.TRAINING_JOB if kind is Kind.TRAINING_PLAN else None
    mine = owned(kind=kind, start=at(1), end=None, **changes)
    decision = decided(asks(target=target), mine)
    assert rejects(decision) == {"cr-a": "too_short"}
    assert decision.rejected[0].reason.text == "AWS gave no times for it."


def test_an_owned_odcr_loses_no_tail() -> None:
    mine = owned(kind=Kind.ODCR, start=at(1), end=NOW + timedelta(hours=10))
    assert order(decided(asks(duration_hours=Decimal(10)), mine)) == ["cr-a"]


@pytest.mark.parametrize(
    ("days", "reserved", "fits"),
    [
        (1, "21.6", True),
        (1, "21.59", False),
        (5, "108", True),
        (5, "107.9", False),
        (10, "228", True),
        (10, "227.9", False),
    ],
)
def test_whole_days_may_be_a_tenth_and_twelve_hours_short(
    days: int, reserved: str, *, fits: bool
) -> None:
    request = on_the_15th(duration_hours=Decimal(24 * days))
    decision = decided(request, block(opens=at(15, 13), hours=float(reserved)))
    assert order(decision) == (["cb-a"] if fits else [])
    if fits:
        assert "shorter_than_asked" in warned(decision, "cb-a")


def test_the_tolerance_is_the_configurations() -> None:
    rules = Rules(short_tolerance=Decimal("0.5"), short_limit=timedelta(hours=3))
    assert order(decided(on_the_15th(), block(hours=21), rules=rules)) == ["cb-a"]
    assert order(decided(on_the_15th(), block(hours=20.9), rules=rules)) == []


def test_whole_days_are_measured_against_reserved_hours() -> None:
    assert warned(decided(on_the_15th(), block(hours=24)), "cb-a").isdisjoint(
        {"shorter_than_asked", "longer_than_asked"}
    )


def test_at_least_is_measured_against_usable_hours() -> None:
    request = on_the_15th(strict=True)
    decision = decided(request, block("cb-a", hours=24.4), block("cb-b", hours=24.5))
    assert order(decision) == ["cb-b"]
    assert rejects(decision) == {"cb-a": "too_short"}


def test_hours_that_are_no_whole_days_are_usable_hours_without_tolerance() -> None:
    request = on_the_15th(duration_hours=Decimal(10))
    decision = decided(request, block("cb-a", hours=10.4), block("cb-b", hours=10.5))
    assert order(decision) == ["cb-b"]


def test_more_hours_in_the_whole_window_are_longer_than_asked() -> None:
    decision = decided(on_the_15th(), block(opens=at(14, 12), hours=34))
    assert {"longer_than_asked", "shorter_than_asked"} <= warned(decision, "cb-a")


def test_a_european_working_day_needs_two_days_of_block() -> None:
    decision = decided(
        fixed(at(16, 8), 8),
        block("cb-before", opens=at(15, 11, 30), hours=24),
        block("cb-after", opens=at(16, 11, 30), hours=24),
        block("cb-two", opens=at(15, 11, 30), hours=48),
    )
    assert order(decision) == ["cb-two"]
    assert rejects(decision) == {
        "cb-before": "starts_too_early",
        "cb-after": "starts_too_late",
    }


def test_a_third_of_an_hour_reads_back_from_four_decimals() -> None:
    start = at(16, 12)
    request = fixed(start, 8, duration_hours=Decimal("1.6667")).model_copy(
        update={"latest_end": start + timedelta(minutes=100)}
    )
    assert order(decided(request, block(opens=at(16, 11, 30)))) == ["cb-a"]


def test_each_type_that_carries_the_accelerator_has_its_own_count() -> None:
    request = asks(instance_type=None, instance_count=None, accelerator="H100")
    nine = request.model_copy(update={"accelerator_count": 9})
    decision = decided(nine, on_demand(), on_demand("small", instance_type="p5.4xlarge"))
    assert option(decision, "od").instance_count == 2
    assert option(decision, "small").instance_count == 9
    assert rejects(decided(nine, on_demand(instance_type="p5en.48xlarge"))) == {"od": "wrong_type"}


def test_a_named_type_with_accelerators_holds_them() -> None:
    request = asks(instance_count=None, accelerator="H100", accelerator_count=12)
    assert option(decided(request, on_demand()), "od").instance_count == 2


def test_rates_are_per_accelerator_of_the_catalog() -> None:
    found = option(decided(asks(), on_demand(usd="40")), "od")
    assert found.usd_per_accelerator_hour == Decimal(5)
    fraction = asks(instance_type="g6f.xlarge")
    half = decided(fraction, on_demand(usd="1", instance_type="g6f.xlarge"))
    assert option(half, "od").usd_per_accelerator_hour == Decimal(8)


def test_a_type_that_no_catalog_knows_still_has_an_answer() -> None:
    request = asks(instance_type="p9.48xlarge")
    decision = decided(request, on_demand(instance_type="p9.48xlarge"))
    assert order(decision) == ["od"]
    assert P5 not in decision.options[0].instance_type


def test_owned_machines_are_taken_up_to_the_asked_count() -> None:
    assert option(decided(on_the_15th(), owned()), "cr-a").instance_count == 2


def test_a_tolerance_of_everything_still_needs_some_time() -> None:
    rules = Rules(short_tolerance=Decimal(1), short_limit=timedelta(days=9))
    gone = block(opens=at(14), hours=24)
    assert rejects(decided(on_the_15th(), gone, rules=rules)) == {"cb-a": "starts_too_early"}


@pytest.mark.parametrize("hours", ["0", "999999999999999"])
def test_any_duration_has_an_answer(hours: str) -> None:
    decision = decided(asks(duration_hours=Decimal(hours)), on_demand(), block())
    assert order(decision)[0] == "od"


def test_no_duration_takes_any_window() -> None:
    assert order(decided(asks(duration_hours=None), block(hours=2))) == ["cb-a"]


def test_a_zone_that_does_not_exist_is_read_as_utc() -> None:
    decision = decided(on_the_15th(), block(opens=at(16)), zone="Mars/Olympus")
    assert rejects(decision) == {"cb-a": "starts_too_late"}


@pytest.mark.parametrize("earliest", [None, at(15, 11, 30), at(14, 11, 30)])
def test_a_latest_start_at_1130_utc_is_itself_a_start(earliest: datetime | None) -> None:
    request = asks(earliest_start=earliest, latest_start=at(16, 11, 30))
    assert order(decided(request, block(opens=at(16, 11, 30)))) == ["cb-a"]
    late = block(opens=at(16, 11, 30) + timedelta(minutes=1))
    assert rejects(decided(request, late)) == {"cb-a": "starts_too_late"}


def test_no_plan_serves_work_on_ec2() -> None:
    row = plan(target_resources=("ec2",))
    assert rejects(decided(asks(), row)) == {"tpo-a": "wrong_target"}
