"""What is advised, and that every advised line is answered by the same market."""

from datetime import timedelta
from decimal import Decimal

import pytest

from bot.catalog import packaged
from bot.domain.decision import Certainty
from bot.domain.market import Kind
from bot.domain.request import Request, Target
from bot.domain.rules import Rules
from bot.engine import line_of, near_misses
from bot.language import parse
from tests.unit.engine.markets import (
    NOW,
    P5,
    Row,
    advice_text,
    advised,
    asks,
    at,
    block,
    decided,
    fixed,
    market_of,
    odcr,
    on_demand,
    on_the_15th,
    order,
    owned,
    plan,
    quota,
    rejects,
    spot,
    unread,
    window,
)


def test_nothing_that_fits_is_null_with_advice() -> None:
    decision = decided(on_the_15th())
    assert decision.recommended is None
    assert decision.pick is None
    assert advised(decision) == {"watch"}


def test_something_that_fits_needs_no_watch() -> None:
    decision = decided(on_the_15th(), block())
    assert decision.recommended == 1
    assert "watch" not in advised(decision)


def test_sixteen_machines_are_for_the_account_team() -> None:
    start = NOW + timedelta(weeks=3)
    large = asks(instance_count=16, earliest_start=start)
    decision = decided(large, on_demand())
    assert "account_team_three_weeks" in advised(decision)
    assert "Less than three weeks" not in advice_text(decision, "account_team_three_weeks")
    sooner = large.model_copy(update={"earliest_start": start - timedelta(seconds=1)})
    short = advice_text(decided(sooner, on_demand()), "account_team_three_weeks")
    assert "Less than three weeks" in short
    fifteen = decided(asks(instance_count=15), on_demand())
    assert "account_team_three_weeks" not in advised(fifteen)


def test_what_is_large_is_the_configurations() -> None:
    decision = decided(asks(), on_demand(), rules=Rules(large_request_instances=2))
    assert "account_team_three_weeks" in advised(decision)


def test_a_large_count_is_that_of_the_recommended_type() -> None:
    request = asks(
        instance_type=None, instance_count=None, accelerator="H100", accelerator_count=16
    )
    rows = [on_demand(), on_demand("small", usd="9", instance_type="p5.4xlarge")]
    assert "account_team_three_weeks" not in advised(decided(request, *rows))
    cheap = on_demand("small", usd="1", instance_type="p5.4xlarge")
    assert "account_team_three_weeks" in advised(decided(request, rows[0], cheap))


def test_a_start_beyond_the_horizon_says_when_it_becomes_bookable() -> None:
    start = at(20, month=5)
    decision = decided(asks(earliest_start=start), on_demand())
    assert "2027-03-25" in advice_text(decision, "wait_until_bookable")
    edge = decided(asks(earliest_start=NOW + timedelta(days=56)), on_demand())
    assert "wait_until_bookable" not in advised(edge)


def test_g6_on_sagemaker_is_for_the_account_team() -> None:
    g6 = asks(instance_type="g6.xlarge", target=Target.TRAINING_JOB)
    assert "account_team_g6" in advised(decided(g6))
    assert "account_team_g6" not in advised(decided(g6.model_copy(update={"target": None})))
    other = asks(instance_type="g5.xlarge", target=Target.TRAINING_JOB)
    assert "account_team_g6" not in advised(decided(other))


def test_spot_is_advised_when_silence_alone_keeps_it_from_winning() -> None:
    decision = decided(asks(), on_demand(), spot())
    assert "supplement_with_spot" in advised(decision)
    said_no = decided(asks(interruptible=False), on_demand(), spot())
    assert "supplement_with_spot" not in advised(said_no)


def test_spot_that_would_not_win_is_not_advised() -> None:
    dearer = decided(asks(), on_demand(usd="50"), spot(usd="46"))
    assert "supplement_with_spot" not in advised(dearer)
    sure = decided(on_the_15th(), block(), spot())
    assert "supplement_with_spot" not in advised(sure)


def test_a_split_block_that_would_win_is_no_reason_for_spot() -> None:
    parts = (window(at(11, 11, 30), 12), window(at(12, 11, 30), 12))
    decision = decided(asks(), on_demand(), spot(usd="49"), block(segments=parts, fee="9.00"))
    assert "supplement_with_spot" not in advised(decision)


def test_a_quota_in_the_way_is_asked_for_with_its_numbers() -> None:
    decision = decided(asks(), on_demand(), quota(192, used=96))
    said = advice_text(decision, "ask_quota")
    assert '"Running P instances"' in said
    assert "to 480 vcpus" in said
    assert "192 are held" in said


def test_a_quota_is_not_asked_for_while_something_fits() -> None:
    decision = decided(asks(), odcr(), on_demand(), quota(0, kinds=(Kind.ON_DEMAND,)))
    assert "ask_quota" not in advised(decision)


def test_a_market_unread_for_a_quota_is_a_quota_to_ask_for() -> None:
    decision = decided(asks(), unread("quota", detail="CapacityBlockDescribeLimitExceeded"))
    assert "CapacityBlockDescribeLimitExceeded" in advice_text(decision, "ask_quota")
    assert "ask_quota" not in advised(decided(asks(), unread("throttled")))


def test_what_could_not_be_read_stays_in_the_decision() -> None:
    rows = [unread(region="us-west-2"), unread(region="us-east-2")]
    assert [row.region for row in decided(asks(), *rows).not_read] == ["us-east-2", "us-west-2"]


def test_a_shorter_block_that_nearly_serves_a_fixed_start_is_advised_with_both_prices() -> None:
    decision = decided(
        fixed(at(16, 8), 8),
        block("cb-two", opens=at(15, 11, 30), hours=48, fee="4000.00"),
        block("cb-one", opens=at(16, 11, 30), hours=24, fee="2000.00"),
    )
    said = advice_text(decision, "try_other_time")
    assert "$2,000.00" in said
    assert "$4,000.00" in said


def test_a_dearer_or_flexible_one_is_no_other_time_to_try() -> None:
    two = block("cb-two", opens=at(15, 11, 30), hours=48, fee="2000.00")
    dear = block("cb-one", opens=at(16, 11, 30), hours=24, fee="2000.00")
    assert "try_other_time" not in advised(decided(fixed(at(16, 8), 8), two, dear))
    early = block("cb-one", opens=at(14, 11, 30), hours=20, fee="1.00")
    assert "try_other_time" not in advised(decided(on_the_15th(), block(), early))


def test_a_block_that_may_not_be_bought_is_no_other_time_to_try() -> None:
    decision = decided(
        fixed(at(16, 8), 8),
        block("cb-two", opens=at(15, 11, 30), hours=48, fee="4000.00"),
        block("cb-one", opens=at(16, 11, 30), hours=24, fee="2000.00", opted_in=False),
    )
    assert "try_other_time" not in advised(decision)


def test_fewer_machines_are_the_nearest_when_a_quota_holds_fewer() -> None:
    request = asks(instance_count=4)
    decision = decided(request, on_demand(), quota(2 * 192))
    assert "reserve 2 p5.48xlarge for 24h" in advice_text(decision, "split_request")


def test_fewer_machines_are_as_many_as_the_budget_pays() -> None:
    decision = decided(asks(instance_count=4, max_total_usd=Decimal(2500)), on_demand())
    said = advice_text(decision, "split_request")
    assert "would fit for $2,400.00: reserve 2 p5.48xlarge for 24h max $2500.00" in said


def test_fewer_machines_are_the_largest_count_on_sale() -> None:
    rows = [block("cb-5", count=5), block("cb-3", count=3, opens=at(15, 12, 30), hours=23)]
    decision = decided(on_the_15th(instance_count=8), *rows)
    assert "reserve 5 p5.48xlarge for 24h from 2027-03-15" in advice_text(decision, "split_request")


def test_the_nearest_other_day_is_advised_as_a_fixed_start() -> None:
    rows = [block("cb-20", opens=at(20, 11, 30)), block("cb-12", opens=at(12, 11, 30))]
    said = advice_text(decided(on_the_15th(), *rows), "try_other_time")
    assert "reserve 2 p5.48xlarge for 24h from 2027-03-12T11:30Z" in said


def test_a_longer_block_is_asked_for_when_the_hours_cross_1130_utc() -> None:
    decision = decided(fixed(at(16, 8), 8), block(opens=at(16, 11, 30)))
    said = [note.text for note in decision.advice if note.code == "try_other_time"]
    assert any("reserve 2 p5.48xlarge for 48h from 2027-03-15T11:30Z" in text for text in said)


def test_a_longer_block_has_to_be_usable_for_the_hours() -> None:
    hours = Decimal("23.75")
    request = fixed(at(16, 11, 30), 1, duration_hours=hours, latest_end=at(17, 11, 15))
    said = advice_text(decided(request, block(opens=at(16, 11, 30))), "try_other_time")
    assert said.startswith("A block of 2 days from 2027-03-16 11:30 UTC would cover it")


def test_a_longer_block_of_an_ultraserver_must_last_an_hour_more() -> None:
    hours = Decimal("23.25")
    request = fixed(
        at(16, 11, 30), 1, duration_hours=hours, latest_end=at(17, 10, 45),
        instance_type="p6e-gb200.36xlarge", instance_count=18,
    )  # fmt: skip
    row = block(
        opens=at(16, 11, 30), instance_type="p6e-gb200.36xlarge", count=18,
        ultraserver_type="u-p6e-gb200x72", ultraserver_count=1,
    )  # fmt: skip
    said = advice_text(decided(request, row), "try_other_time")
    assert said.startswith("A block of 2 days from 2027-03-16 11:30 UTC would cover it")


FAR = on_the_15th(earliest_start=at(15, month=6), latest_start=at(16, month=6))


@pytest.mark.parametrize(
    ("code", "asked", "row"),
    [
        ("too_few_instances", on_the_15th(), block(count=1, opens=at(17, 11, 30))),
        ("starts_too_late", on_the_15th(), block(opens=at(17, 11, 30))),
        ("starts_too_early", on_the_15th(), block(opens=at(14, 11, 30))),
        ("ends_too_late", asks(latest_end=at(14)), block()),
        ("not_guaranteed", FAR, on_demand()),
        (
            "over_budget",
            on_the_15th(earliest_start=at(11), latest_start=at(12), max_total_usd=Decimal(2400)),
            odcr(),
        ),
        ("hold_too_long", on_the_15th(), odcr()),
    ],
)
def test_another_time_is_advised_whatever_the_time_made_wrong(
    code: str, asked: Request, row: Row
) -> None:
    rows = [row]
    if code == "too_few_instances":
        rows.append(block("cb-b", count=1, opens=at(17, 11, 30)))
    decision = decided(asked, *rows)
    assert set(rejects(decision).values()) == {code}
    assert "try_other_time" in advised(decision)


def test_another_region_is_advised_by_its_code() -> None:
    request = on_the_15th(regions=("us-west-2",))
    said = advice_text(decided(request, block()), "try_other_region")
    assert said.endswith("reserve 2 p5.48xlarge for 24h from 2027-03-15 in us-east-1")


def test_another_type_is_advised_with_as_many_accelerators() -> None:
    rows = [
        block(count=4, instance_type="p4d.24xlarge"),
        block("cb-b", instance_type="p5e.48xlarge"),
    ]
    said = advice_text(decided(on_the_15th(), *rows), "try_other_type")
    assert "reserve 2 p5e.48xlarge" in said


def test_near_misses_stand_alone_as_well() -> None:
    notes = near_misses(
        on_the_15th(),
        market_of(block(opens=at(20, 11, 30))),
        Rules(),
        now=NOW,
        zone="UTC",
        catalog=packaged(),
    )
    assert [note.code for note in notes] == ["try_other_time"]


def test_what_no_relaxation_helps_is_not_advised() -> None:
    request = asks(max_total_usd=Decimal(1))
    assert advised(decided(request, on_demand(), block(count=1))) == {"watch"}


def test_a_line_says_every_part_of_the_request() -> None:
    request = on_the_15th(
        instance_count=8,
        minimum_count=6,
        latest_end=at(20),
        strict=True,
        interruptible=True,
        target=Target.HYPERPOD,
        platform="Linux/UNIX",
        regions=("us-east-1", "us-west-2"),
        max_total_usd=Decimal(15000),
        max_hourly_usd=Decimal("34.608"),
        utilization=Decimal("0.6"),
        owner="U0ANA",
        team="vision",
        channel="C0GPU",
        reason='the "eval" run',
    )
    assert line_of(request, zone="UTC") == (
        "reserve at least 6 of 8 p5.48xlarge for at least 24h from 2027-03-15"
        " by 2027-03-20T00:00Z max $15000.00 max $34.608/h in us-east-1, us-west-2 hyperpod"
        " spot ok at 60% use for <@U0ANA> team=vision in <#C0GPU> platform=Linux/UNIX"
        " reason=\"the 'eval' run\""
    )


@pytest.mark.parametrize(
    "asked",
    [
        asks(),
        on_the_15th(instance_count=8, minimum_count=6, strict=True, interruptible=True),
        fixed(at(16, 8), 8, target=Target.HYPERPOD, regions=("us-east-1", "us-west-2")),
        asks(earliest_start=at(15), max_total_usd=Decimal(15000), max_hourly_usd=Decimal("9.5")),
        asks(latest_end=at(20), owner="U0ANA", team="vision", reason="the eval run"),
        asks(target=Target.ENDPOINT, interruptible=False, utilization=Decimal("0.6")),
        asks(latest_start=at(11)),
        asks(latest_start=at(12, 9, 30)),
        asks(earliest_start=at(15), latest_start=at(15, 23)),
        asks(earliest_start=at(15, 6), latest_start=at(16, 6)),
        asks(earliest_start=at(27, 23), latest_start=at(28, 22)),
        asks(earliest_start=at(14, 5), latest_start=at(15, 4)),
        asks(earliest_start=at(15) + timedelta(seconds=20)),
    ],
)
@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/New_York", "Nowhere/Land"])
def test_a_line_parses_back_to_its_request(asked: Request, zone: str) -> None:
    line = line_of(asked, zone=zone)
    parsed = parse(line, now=NOW, zone=zone, locale="en-US", catalog=packaged())
    assert parsed.request == asked


def test_a_start_that_has_passed_is_not_sent_again() -> None:
    request = asks(earliest_start=NOW - timedelta(hours=1), instance_count=4)
    said = advice_text(decided(request, block(count=2, opens=at(11, 11, 30))), "split_request")
    assert said.endswith("reserve 2 p5.48xlarge for 24h")


def test_a_part_of_an_ultraserver_is_no_other_type_to_ask_for() -> None:
    row = block(instance_type="p6e-gb200.36xlarge", count=4)
    assert "try_other_type" not in advised(decided(asks(), row))


def test_a_line_says_every_kind_of_start() -> None:
    lines = {
        line_of(asks(), zone="UTC"): "reserve 2 p5.48xlarge for 24h",
        line_of(asks(latest_start=at(11)), zone="UTC"): (
            "reserve 2 p5.48xlarge for 24h latest-start=2027-03-11T00:00Z"
        ),
        line_of(asks(earliest_start=at(15)), zone="UTC"): (
            "reserve 2 p5.48xlarge for 24h after 2027-03-15T00:00Z"
        ),
        line_of(fixed(at(16, 8), 8), zone="UTC"): (
            "reserve 2 p5.48xlarge from 2027-03-16T08:00Z to 2027-03-16T16:00Z"
        ),
        line_of(asks(earliest_start=at(16, 8), latest_start=at(16, 8)), zone="UTC"): (
            "reserve 2 p5.48xlarge for 24h from 2027-03-16T08:00Z"
        ),
        line_of(
            asks(earliest_start=at(14, 23), latest_start=at(15, 23)), zone="Europe/Berlin"
        ): "reserve 2 p5.48xlarge for 24h from 2027-03-15",
        line_of(
            asks(
                instance_type=None,
                instance_count=None,
                accelerator="H100",
                accelerator_count=16,
                interruptible=False,
                duration_hours=Decimal("2.5"),
            ),
            zone="UTC",
        ): "reserve 16xH100 for 2h30m not interruptible",
    }
    for line, expected in lines.items():
        assert line == expected


def test_reasons_say_what_an_option_is_best_at() -> None:
    only = decided(on_the_15th(), block()).options[0]
    assert [note.code for note in only.reasons] == ["only_one_that_fits", "guaranteed_start"]
    rows = [owned(start=at(9, 11, 30)), on_demand(), block("cb-b", fee="99999.00")]
    decision = decided(asks(), *rows)
    reasons = {found.refs[0]: {note.code for note in found.reasons} for found in decision.options}
    assert {"already_paid", "cheapest"} <= reasons["cr-a"]
    assert {"least_commitment", "starts_soonest"} <= reasons["od"]
    assert reasons["cb-b"] == {"guaranteed_start"}
    assert decision.options[0].certainty is Certainty.HELD


def test_the_fewest_machines_are_a_reason_when_counts_differ() -> None:
    request = asks(instance_type=None, instance_count=None, accelerator="H100", accelerator_count=8)
    small = on_demand("small", usd="1", instance_type="p5.4xlarge")
    decision = decided(request, on_demand(), small)
    reasons = {found.refs[0]: {note.code for note in found.reasons} for found in decision.options}
    assert "fewest_machines" in reasons["od"]
    assert "fewest_machines" not in reasons["small"]


def test_a_plan_is_advised_by_the_line_of_its_target() -> None:
    request = on_the_15th(target=Target.TRAINING_JOB)
    decision = decided(request, plan(opens=at(18, 11, 30)))
    assert "training-job" in advice_text(decision, "try_other_time")
    assert order(decision) == []
    assert P5 in advice_text(decision, "try_other_time")
