"""Each reject code by its own rule, and the order in which they apply."""

from datetime import timedelta
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
    order,
    owned,
    plan,
    quota,
    rejects,
    spot,
    window,
)


def test_a_kind_that_the_configuration_leaves_out_is_disabled() -> None:
    decision = decided(asks(), block(), on_demand(), rules=Rules(kinds=(Kind.ON_DEMAND,)))
    assert rejects(decision) == {"cb-a": "kind_disabled"}


def test_owned_capacity_is_considered_whatever_kinds_may_be_bought() -> None:
    decision = decided(on_the_15th(), owned(), rules=Rules(kinds=(Kind.SPOT,)))
    assert order(decision) == ["cr-a"]


def test_a_region_that_the_request_does_not_name_is_not_allowed() -> None:
    decision = decided(asks(regions=("us-west-2", "us-east-2")), on_demand(), owned())
    assert set(rejects(decision).values()) == {"region_not_allowed"}


@pytest.mark.parametrize(
    "regions", [{"research": ("us-west-2",)}, {"other": ("us-east-1",)}], ids=["region", "account"]
)
def test_an_account_or_region_that_the_configuration_lacks_is_not_allowed(
    regions: dict[str, tuple[str, ...]],
) -> None:
    decision = decided(asks(), on_demand(), rules=Rules(regions=regions))
    assert rejects(decision) == {"od": "region_not_allowed"}


def test_a_region_that_the_configuration_names_for_the_account_is_allowed() -> None:
    rules = Rules(regions={"research": ("us-east-1",)})
    assert order(decided(asks(), on_demand(), rules=rules)) == ["od"]


def test_rows_of_the_other_branch_have_the_wrong_target() -> None:
    ml = f"ml.{P5}"
    for_ec2 = decided(asks(), plan(), on_demand("od-ml", instance_type=ml))
    assert rejects(for_ec2) == {"tpo-a": "wrong_target", "od-ml": "wrong_target"}
    for_jobs = decided(asks(target=Target.TRAINING_JOB), block(), on_demand(), odcr(), owned())
    assert set(rejects(for_jobs).values()) == {"wrong_target"}


def test_sagemaker_has_no_odcr() -> None:
    decision = decided(asks(target=Target.TRAINING_JOB), odcr(instance_type=f"ml.{P5}"))
    assert rejects(decision) == {"odcr": "wrong_target"}


def test_a_plan_serves_only_its_own_target() -> None:
    request = on_the_15th(target=Target.ENDPOINT)
    decision = decided(request, plan(), plan("tpo-b", targets=(Target.ENDPOINT,)))
    assert order(decision) == ["tpo-b"]
    assert rejects(decision) == {"tpo-a": "wrong_target"}


def test_an_owned_plan_serves_only_its_own_target() -> None:
    mine = owned(
        kind=Kind.TRAINING_PLAN, instance_type=f"ml.{P5}", target_resources=("hyperpod-cluster",)
    )
    assert order(decided(on_the_15th(target=Target.HYPERPOD), mine)) == ["cr-a"]
    job = decided(on_the_15th(target=Target.TRAINING_JOB), mine)
    assert rejects(job) == {"cr-a": "wrong_target"}


def test_sagemaker_spot_is_for_training_jobs_only() -> None:
    ml = spot(instance_type=f"ml.{P5}")
    job = decided(asks(target=Target.TRAINING_JOB, interruptible=True), ml)
    assert order(job) == ["spot"]
    for target in (Target.HYPERPOD, Target.ENDPOINT, Target.STUDIO):
        other = decided(asks(target=target, interruptible=True), ml)
        assert rejects(other) == {"spot": "wrong_target"}


def test_the_default_target_decides_the_branch_when_none_is_named() -> None:
    rules = Rules(default_target=Target.TRAINING_JOB)
    decision = decided(asks(), on_demand(), on_demand("ml", instance_type=f"ml.{P5}"), rules=rules)
    assert order(decision) == ["ml"]


def test_another_type_is_the_wrong_type() -> None:
    decision = decided(asks(), on_demand(instance_type="p5en.48xlarge"))
    assert rejects(decision) == {"od": "wrong_type"}


def test_a_zone_that_is_not_opted_in_is_rejected() -> None:
    assert rejects(decided(asks(), block(opted_in=False))) == {"cb-a": "zone_not_opted_in"}


def test_a_fee_in_another_currency_is_never_converted() -> None:
    assert rejects(decided(asks(), block(currency="CNY"))) == {"cb-a": "currency"}


def test_no_price_is_never_a_price_of_zero() -> None:
    decision = decided(
        asks(), block(fee=None), block("cb-b", fee="0"), on_demand(usd=None), odcr(usd="0")
    )
    assert order(decision) == []
    assert set(rejects(decision).values()) == {"price_unknown"}
    assert decided(asks(), block(fee=None, currency=None)).rejected[0].reason.code == (
        "price_unknown"
    )


def test_less_than_a_cent_is_no_price_either() -> None:
    decision = decided(asks(), block(fee="0.009"), on_demand(usd="0.00000001"))
    assert set(rejects(decision).values()) == {"price_unknown"}


def test_fewer_machines_than_asked_are_too_few() -> None:
    decision = decided(on_the_15th(), block(count=1), owned(available_count=1))
    assert set(rejects(decision).values()) == {"too_few_instances"}


def test_fewer_machines_fit_down_to_the_minimum() -> None:
    request = on_the_15th(instance_count=8, minimum_count=6)
    decision = decided(
        request,
        block("cb-6", count=6),
        block("cb-5", count=5, opens=at(15, 12, 30), hours=23),
        owned("cr-5", available_count=5),
    )
    assert order(decision) == ["cb-6"]
    assert set(rejects(decision).values()) == {"too_few_instances"}


def test_no_machine_left_is_too_few_even_for_a_minimum_of_one() -> None:
    decision = decided(on_the_15th(minimum_count=1), owned(available_count=0))
    assert rejects(decision) == {"cr-a": "too_few_instances"}


def test_more_machines_than_asked_are_too_many_while_another_of_the_kind_fits() -> None:
    decision = decided(on_the_15th(), block(), block("cb-3", count=3, fee="10.00"))
    assert order(decision) == ["cb-a"]
    assert rejects(decision) == {"cb-3": "too_many_instances"}


def test_a_larger_offering_stands_whole_when_nothing_else_of_its_kind_fits() -> None:
    decision = decided(on_the_15th(), block("cb-4", count=4), block("cb-5", count=5), odcr())
    assert "cb-4" in order(decision)
    assert rejects(decision)["cb-5"] == "too_many_instances"
    pick = next(found for found in decision.options if found.refs == ("cb-4",))
    assert (pick.instance_count, pick.total_usd) == (4, Decimal("2000.00"))
    assert "more_machines_than_asked" in {note.code for note in pick.warnings}


def test_a_larger_offering_with_another_fault_has_that_faults_code() -> None:
    request = on_the_15th(max_total_usd=Decimal(100))
    assert rejects(decided(request, block(count=3))) == {"cb-a": "over_budget"}


def test_a_join_keeps_larger_offerings_out() -> None:
    rows = [block("cb-a", count=1), block("cb-b", count=1), block("cb-c", count=3)]
    decision = decided(on_the_15th(), *rows)
    assert order(decision) == ["cb-a+cb-b"]
    assert rejects(decision) == {"cb-c": "too_many_instances"}


TWO_PARTS = (window(at(15, 11, 30), 24), window(at(17, 11, 30), 24))


def test_two_parts_are_for_work_that_can_pause() -> None:
    two = block(segments=TWO_PARTS)
    for words in ({}, {"interruptible": False}):
        refused = decided(on_the_15th(duration_hours=Decimal(48), **words), two)
        assert rejects(refused) == {"cb-a": "split_not_allowed"}
    fine = decided(on_the_15th(duration_hours=Decimal(48), interruptible=True), two)
    assert order(fine) == ["cb-a"]


@pytest.mark.parametrize(
    ("target", "fits"),
    [
        (Target.TRAINING_JOB, True),
        (Target.HYPERPOD, True),
        (Target.ENDPOINT, False),
        (Target.STUDIO, False),
    ],
)
def test_plans_of_two_parts_are_for_jobs_and_clusters(target: Target, *, fits: bool) -> None:
    request = on_the_15th(target=target, duration_hours=Decimal(48), interruptible=True)
    decision = decided(request, plan(targets=(target,), segments=TWO_PARTS))
    assert rejects(decision) == ({} if fits else {"tpo-a": "split_not_allowed"})


def test_a_prepaid_start_before_the_payment_can_finish_is_too_soon() -> None:
    soon = block("cb-9", opens=NOW + timedelta(minutes=9))
    exact = block("cb-10", opens=NOW + timedelta(minutes=10))
    decision = decided(asks(), soon, exact)
    assert order(decision) == ["cb-10"]
    assert rejects(decision) == {"cb-9": "starts_too_soon"}


def test_owned_capacity_needs_no_payment() -> None:
    assert order(decided(asks(), owned(start=at(9, 11, 30)))) == ["cr-a"]


def test_a_start_after_a_fixed_one_is_too_late() -> None:
    decision = decided(
        fixed(at(17, 12), 8),
        block("cb-a", opens=at(17, 12), hours=24),
        block("cb-b", opens=at(17, 12, 1), hours=24),
    )
    assert order(decision) == ["cb-a"]
    assert rejects(decision) == {"cb-b": "starts_too_late"}


def test_the_end_of_a_named_day_is_no_start_of_that_day() -> None:
    midnight = block(opens=at(16))
    assert rejects(decided(on_the_15th(), midnight)) == {"cb-a": "starts_too_late"}


def test_a_named_day_ends_where_the_person_lives() -> None:
    berlin = {"earliest_start": at(14, 10), "latest_start": at(15, 23)}
    request = asks(**berlin)
    there = decided(request, block(opens=at(15, 23)), zone="Europe/Berlin")
    assert rejects(there) == {"cb-a": "starts_too_late"}
    elsewhere = decided(request, block(opens=at(15, 23)), zone="America/Sao_Paulo")
    assert order(elsewhere) == ["cb-a"]


def test_today_alone_ends_at_midnight() -> None:
    request = asks(latest_start=at(11))
    decision = decided(request, block(opens=at(11)), block("cb-b", opens=at(10, 23)))
    assert order(decision) == ["cb-b"]
    assert rejects(decision) == {"cb-a": "starts_too_late"}


def test_too_little_left_after_a_stated_start_is_too_early() -> None:
    early = block(opens=at(14, 11, 30), hours=24)
    assert rejects(decided(on_the_15th(), early)) == {"cb-a": "starts_too_early"}
    short = block(opens=at(14, 11, 30), hours=20)
    assert rejects(decided(on_the_15th(), short)) == {"cb-a": "too_short"}


def test_too_little_left_with_no_start_stated_is_too_short() -> None:
    mine = owned(start=at(9, 20), end=at(10, 20))
    assert rejects(decided(asks(), mine)) == {"cr-a": "too_short"}


def test_a_window_that_began_before_is_fine_while_enough_remains() -> None:
    assert order(decided(on_the_15th(), block(opens=at(14, 11, 30), hours=48))) == ["cb-a"]


def test_use_that_would_end_after_the_deadline_is_too_late() -> None:
    rows = [
        block("cb-a", opens=at(14, 11, 30), hours=24),
        block("cb-b", opens=at(15, 11, 30), hours=24),
        odcr(),
    ]
    decision = decided(asks(latest_end=at(16)), *rows)
    assert order(decision) == ["cb-a", "odcr"]
    assert rejects(decision) == {"cb-b": "ends_too_late"}


def test_use_ends_with_the_last_useful_minute_at_the_latest() -> None:
    request = asks(latest_end=at(16, 11))
    assert order(decided(request, block(opens=at(15, 11, 30), hours=24))) == ["cb-a"]
    sooner = asks(latest_end=at(16, 10, 59))
    assert rejects(decided(sooner, block())) == {"cb-a": "ends_too_late"}


def test_a_pause_moves_the_end_of_use() -> None:
    two = plan(segments=TWO_PARTS)
    request = asks(target=Target.TRAINING_JOB, duration_hours=Decimal(48))
    fits = decided(request.model_copy(update={"latest_end": at(18, 11)}), two)
    assert order(fits) == ["tpo-a"]
    late = decided(request.model_copy(update={"latest_end": at(18, 10)}), two)
    assert rejects(late) == {"tpo-a": "ends_too_late"}


def test_on_demand_that_would_run_past_the_deadline_ends_too_late() -> None:
    assert rejects(decided(asks(latest_end=at(11, 14, 59)), on_demand())) == {"od": "ends_too_late"}


def test_a_row_without_times_is_too_short() -> None:
    assert rejects(decided(asks(), block(segments=()))) == {"cb-a": "too_short"}


@pytest.mark.parametrize("words", [None, False])
def test_spot_needs_a_word_that_allows_interruption(words: bool | None) -> None:  # noqa: FBT001 - a table column
    decision = decided(asks(interruptible=words), spot(), on_demand())
    assert rejects(decision) == {"spot": "interruptible"}


def test_on_demand_and_spot_are_not_guaranteed_when_certainty_is_required() -> None:
    for request in (on_the_15th(interruptible=True), asks(latest_end=at(20), interruptible=True)):
        decision = decided(request, block(), on_demand(), spot())
        assert order(decision) == ["cb-a"]
        assert rejects(decision) == {"od": "not_guaranteed", "spot": "not_guaranteed"}


@pytest.mark.parametrize("row", [owned(), block(), odcr()])
def test_any_surer_option_keeps_the_unguaranteed_out(row: object) -> None:
    request = asks(latest_end=at(20))
    assert rejects(decided(request, row, on_demand())) == {"od": "not_guaranteed"}  # type: ignore[arg-type] - one of the three row types


def test_the_unguaranteed_stay_when_nothing_surer_is_left() -> None:
    request = on_the_15th(interruptible=True)
    decision = decided(request, on_demand(last_refused_at=NOW - timedelta(hours=7)), spot(usd="1"))
    assert order(decision) == ["od", "spot"]
    assert all(
        "not_guaranteed" in {note.code for note in found.warnings} for found in decision.options
    )


def test_an_unguaranteed_row_with_another_fault_has_that_faults_code() -> None:
    request = on_the_15th(max_total_usd=Decimal(10))
    assert rejects(decided(request, on_demand())) == {"od": "over_budget"}
    surer = decided(request, on_demand(), owned())
    assert rejects(surer) == {"od": "not_guaranteed"}


def test_beyond_the_horizon_the_unguaranteed_stay_rejected() -> None:
    beyond = at(5, 15, month=5) + timedelta(seconds=1)
    request = asks(earliest_start=beyond, latest_start=beyond)
    decision = decided(request, on_demand())
    assert rejects(decision) == {"od": "not_guaranteed"}
    edge = asks(earliest_start=at(5, 15, month=5), latest_start=at(5, 15, month=5))
    assert order(decided(edge, on_demand())) == ["od"]


def test_a_refusal_counts_for_six_hours_and_for_that_row_only() -> None:
    recent = on_demand(last_refused_at=NOW - timedelta(hours=6))
    older = odcr(last_refused_at=NOW - timedelta(hours=6, seconds=1))
    decision = decided(asks(), recent, older)
    assert order(decision) == ["odcr"]
    assert rejects(decision) == {"od": "recently_refused"}


def test_a_quota_counts_vcpus_of_the_whole_count() -> None:
    assert rejects(decided(asks(), on_demand(), quota(383))) == {"od": "quota"}
    assert order(decided(asks(), on_demand(), quota(384))) == ["od"]
    assert rejects(decided(asks(), on_demand(), quota(384, used=1))) == {"od": "quota"}


def test_a_quota_of_instances_counts_machines() -> None:
    request = on_the_15th(target=Target.TRAINING_JOB)
    held = quota(1, kinds=(Kind.TRAINING_PLAN,), types=(f"ml.{P5}",), unit="instances")
    assert rejects(decided(request, plan(), held)) == {"tpo-a": "quota"}


@pytest.mark.parametrize(
    "other",
    [
        {"kinds": (Kind.SPOT,)},
        {"account": "other"},
        {"region": "us-west-2"},
        {"types": ("p4*",)},
    ],
)
def test_a_quota_of_something_else_says_nothing(other: dict[str, object]) -> None:
    assert order(decided(asks(), on_demand(), quota(0, **other))) == ["od"]


def test_a_quota_is_no_matter_for_owned_capacity() -> None:
    assert order(decided(on_the_15th(), owned(), quota(0))) == ["cr-a"]


def test_a_larger_offering_needs_quota_for_all_its_machines() -> None:
    assert rejects(decided(on_the_15th(), block(count=3), quota(2 * 192))) == {"cb-a": "quota"}


def test_a_rate_above_the_hourly_cap_is_rejected() -> None:
    request = asks(max_hourly_usd=Decimal("41.66"))
    decision = decided(request, block(fee="1999.68"), block("cb-b", fee="1999.69"), on_demand())
    assert order(decision) == ["cb-a"]
    assert rejects(decision) == {"cb-b": "over_hourly_cap", "od": "over_hourly_cap"}


def test_a_total_above_the_budget_is_rejected_to_the_cent() -> None:
    decision = decided(
        asks(max_total_usd=Decimal("2000.00")), block(), block("cb-b", fee="2000.01")
    )
    assert order(decision) == ["cb-a"]
    assert rejects(decision) == {"cb-b": "over_budget"}


def test_a_fee_is_said_as_it_was_given() -> None:
    decision = decided(asks(max_total_usd=Decimal(2000)), block(fee="2000.004"))
    assert "$2,000.004" in decision.rejected[0].reason.text


def test_an_odcr_is_not_held_for_more_than_a_day_before_its_use() -> None:
    day = asks(earliest_start=NOW + timedelta(hours=24))
    assert order(decided(day, odcr())) == ["odcr"]
    longer = asks(earliest_start=NOW + timedelta(hours=24, minutes=1))
    assert rejects(decided(longer, odcr())) == {"odcr": "hold_too_long"}


EVERY_FAULT = {
    "region_not_allowed": {"region": "eu-north-1"},
    "wrong_target": {"kind": Kind.TRAINING_PLAN},
    "wrong_type": {"instance_type": "p5en.48xlarge"},
    "zone_not_opted_in": {"opted_in": False},
    "currency": {"currency": "CNY"},
    "too_many_instances": {"instance_count": 8},
    "split_not_allowed": {"segments": (window(NOW, 1), window(at(16, 1), 1), window(at(18, 1), 1))},
    "starts_too_soon": {"segments": (window(NOW, 1),)},
    "too_short": {"segments": (window(at(15, 12), 1),)},
    "over_budget": {"upfront_fee": Decimal(9000)},
}


@pytest.mark.parametrize("code", EVERY_FAULT)
def test_the_first_fault_in_the_order_gives_the_code(code: str) -> None:
    codes = list(EVERY_FAULT)
    changes: dict[str, object] = {}
    for later in reversed(codes[codes.index(code) :]):
        changes |= EVERY_FAULT[later]
    request = on_the_15th(regions=("us-east-1",), max_total_usd=Decimal(5000))
    assert rejects(decided(request, block().model_copy(update=changes))) == {"cb-a": code}


def test_hourly_faults_apply_in_their_order() -> None:
    request = on_the_15th(max_hourly_usd=Decimal(1), max_total_usd=Decimal(1))
    row = spot(last_refused_at=NOW)
    held = quota(0)
    assert rejects(decided(request, row, held, block(fee="2.00")))["spot"] == "interruptible"
    allowed = request.model_copy(update={"interruptible": True})
    assert rejects(decided(allowed, row, held)) == {"spot": "recently_refused"}
    fresh = spot()
    assert rejects(decided(allowed, fresh, held)) == {"spot": "quota"}
    assert rejects(decided(allowed, fresh)) == {"spot": "over_hourly_cap"}
    capless = allowed.model_copy(update={"max_hourly_usd": None})
    assert rejects(decided(capless, fresh)) == {"spot": "over_budget"}


def test_the_budget_comes_before_the_long_hold() -> None:
    request = asks(earliest_start=at(20), max_total_usd=Decimal(1))
    assert rejects(decided(request, odcr())) == {"odcr": "over_budget"}


def test_a_late_end_comes_before_a_short_window() -> None:
    request = asks(latest_end=at(15, 12))
    short = block(opens=at(15, 11, 30), hours=6)
    assert rejects(decided(request, short)) == {"cb-a": "ends_too_late"}
