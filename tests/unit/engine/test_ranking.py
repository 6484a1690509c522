"""The order of the options, rule by rule."""

from datetime import timedelta
from decimal import Decimal

import pytest

from bot.domain.decision import Certainty
from bot.domain.market import Kind, Offering
from bot.domain.request import Target
from bot.domain.rules import Rules
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
    order,
    owned,
    plan,
    spot,
    warned,
    window,
)

SOON = NOW + timedelta(hours=2)
ON_DEMAND_TOTAL = 2 * 24 * 50


def test_owned_capacity_comes_first() -> None:
    assert order(decided(on_the_15th(), block(fee="0.01"), owned())) == ["cr-a", "cb-a"]


def test_the_full_count_comes_before_fewer_machines() -> None:
    request = asks(instance_count=4, minimum_count=2, earliest_start=at(11), latest_start=at(12))
    decision = decided(
        request,
        owned(available_count=3, start=at(10)),
        block(count=4, fee="9000.00", opens=at(11, 11, 30)),
        odcr(usd="500"),
    )
    assert order(decision) == ["cb-a", "odcr", "cr-a"]
    assert "fewer_machines_than_asked" in warned(decision, "cr-a")


@pytest.mark.parametrize(
    ("kind", "premium"),
    [("capacity_block", "0.15"), ("training_plan", "0.15"), ("spot", "0.10"), ("low", "0.50")],
)
def test_commitment_must_pay_for_itself(kind: str, premium: str) -> None:
    target = Target.TRAINING_JOB if kind == "training_plan" else Target.EC2
    ml = {"instance_type": f"ml.{P5}"} if kind == "training_plan" else {}
    edge = Decimal(ON_DEMAND_TOTAL) / (1 + Decimal(premium))
    for total, wins in ((edge * Decimal("0.9999"), True), (edge * Decimal("1.0001"), False)):
        fee, rate = str(total.quantize(Decimal("0.0001"))), str(total / 48)
        row = {
            "capacity_block": lambda fee=fee: block("x", fee=fee, opens=SOON),
            "training_plan": lambda fee=fee: plan("x", fee=fee, opens=SOON),
            "spot": lambda rate=rate: spot("x", usd=rate, score=4),
            "low": lambda rate=rate: spot("x", usd=rate, score=3),
        }[kind]()
        request = asks(target=target, interruptible=True)
        decision = decided(request, row, on_demand(**ml))
        assert order(decision) == (["x", "od"] if wins else ["od", "x"])


def test_spot_without_a_score_carries_the_high_premium() -> None:
    decision = decided(asks(interruptible=True), spot(usd="40", score=None), on_demand())
    assert order(decision) == ["od", "spot"]


def test_premiums_are_the_configurations() -> None:
    rules = Rules().model_copy(
        update={"premium": Rules().premium.model_copy(update={"on_demand": Decimal("0.5")})}
    )
    assert order(decided(asks(), on_demand(), odcr(), rules=rules)) == ["odcr", "od"]
    dear = Rules().premium.model_copy(update={"odcr": Decimal("-0.5")})
    assert order(decided(asks(), on_demand(), odcr(), rules=Rules(premium=dear)))[0] == "odcr"


def test_no_premium_counts_when_certainty_is_required() -> None:
    request = asks(latest_end=at(20))
    rows = [block(fee="2399.00", opens=SOON), owned("cr-b", start=at(11, 11, 30))]
    assert order(decided(request, *rows, odcr())) == ["cr-b", "cb-a", "odcr"]
    cheap = decided(request, block(fee="9999.00", opens=SOON), odcr(usd="1"))
    assert order(cheap) == ["cb-a", "odcr"]


def test_certainty_classes_rank_before_cost_only_when_certainty_is_required() -> None:
    flexible = decided(asks(), block(fee="9999.00", opens=SOON), odcr(usd="1"))
    assert order(flexible) == ["odcr", "cb-a"]


def test_unguaranteed_on_demand_ranks_before_spot_whatever_the_class() -> None:
    request = on_the_15th(interruptible=True)
    doubtful = on_demand(last_refused_at=NOW - timedelta(hours=20))
    decision = decided(request, doubtful, spot(usd="1", score=9))
    assert order(decision) == ["od", "spot"]
    assert option(decision, "od").certainty is Certainty.UNCERTAIN
    assert option(decision, "spot").certainty is Certainty.LIKELY


def test_a_shorter_window_is_scaled_up_to_the_asked_hours() -> None:
    short = block("cb-22", hours=22, opens=at(15, 13, 30), fee="1850.00")
    full = block("cb-24", fee="2000.00")
    assert order(decided(on_the_15th(), short, full)) == ["cb-24", "cb-22"]
    cheaper = short.model_copy(update={"upfront_fee": Decimal("1833.00")})
    assert order(decided(on_the_15th(), cheaper, full)) == ["cb-22", "cb-24"]


def test_what_is_left_from_the_begin_scales_a_window_that_began_before() -> None:
    early = block("cb-early", opens=at(14, 2), hours=44, fee="1900.00")
    full = block("cb-full", fee="2000.00")
    assert order(decided(on_the_15th(), early, full)) == ["cb-full", "cb-early"]


def test_asap_work_does_not_wait_for_more_than_a_day() -> None:
    exact = block("cb-24", opens=NOW + timedelta(hours=24), fee="1.00")
    later = block("cb-25", opens=NOW + timedelta(hours=24, minutes=1), fee="1.00")
    mine = owned(start=NOW + timedelta(hours=25), end=at(20, 11, 30))
    decision = decided(asks(), exact, later, mine, on_demand())
    assert order(decision) == ["cb-24", "od", "cr-a", "cb-25"]
    assert "starts_later" in warned(decision, "cb-25")
    assert "starts_later" in warned(decision, "cr-a")
    assert "starts_later" not in warned(decision, "cb-24")


def test_a_stated_start_has_seven_days_of_patience() -> None:
    request = asks(earliest_start=at(14))
    exact = block("cb-7", opens=at(21), fee="1.00")
    later = block("cb-8", opens=at(21, 0, 1), fee="1.00")
    decision = decided(request, exact, later, on_demand())
    assert order(decision) == ["cb-7", "od", "cb-8"]
    assert "starts_later" in warned(decision, "cb-8")


def test_a_deadline_has_its_own_patience() -> None:
    decision = decided(asks(latest_end=at(30)), block(opens=at(20, 11, 30)))
    assert "starts_later" not in warned(decision, "cb-a")


def test_more_machines_of_a_smaller_type_rank_as_if_they_cost_a_tenth_more() -> None:
    request = asks(instance_type=None, instance_count=None, accelerator="H100", accelerator_count=8)
    for rate, first in (("6.22", "small"), ("6.23", "od")):
        small = on_demand("small", usd=rate, instance_type="p5.4xlarge")
        assert order(decided(request, small, on_demand(usd="54.80")))[0] == first


def test_more_machines_count_no_premium_for_a_named_type() -> None:
    rows = [block("cb-3", count=3, fee="3000.00"), block("cb-4", count=4, fee="2900.00")]
    assert order(decided(on_the_15th(), *rows)) == ["cb-4", "cb-3"]


TIES = [
    ("earlier begin", block("z", opens=at(15, 11)), block("a", opens=at(15, 12))),
    ("account", block("z", account="a"), block("a", account="b")),
    ("region", block("z", region="a"), block("a", region="b")),
    ("zone", block("z", zone="a"), block("a", zone="b")),
    ("refs", block("a"), block("b")),
]


@pytest.mark.parametrize(("first", "second"), [tie[1:] for tie in TIES], ids=[t[0] for t in TIES])
def test_ties_break_to_one_order(first: Offering, second: Offering) -> None:
    decision = decided(on_the_15th(), second, first)
    assert order(decision) == [first.ref, second.ref]


def test_fewer_machines_break_a_tie() -> None:
    request = asks(instance_type=None, instance_count=None, accelerator="H100", accelerator_count=8)
    rules = Rules(more_machines_premium=Decimal(0))
    rows = [on_demand("a", usd="1", instance_type="p5.4xlarge"), on_demand("z", usd="8")]
    assert order(decided(request, *rows, rules=rules)) == ["z", "a"]


def test_the_lesser_commitment_breaks_a_tie() -> None:
    rules = Rules(premium=Rules().premium.model_copy(update={"spot": Decimal(0)}))
    rows = [odcr("a", usd="9"), spot("b", usd="9"), on_demand("z", usd="9")]
    assert order(decided(asks(interruptible=True), *rows, rules=rules)) == ["z", "b", "a"]


@pytest.mark.parametrize(
    ("score", "certainty"),
    [
        (10, "likely"),
        (7, "likely"),
        (6, "uncertain"),
        (4, "uncertain"),
        (3, "unknown"),
        (None, "unknown"),
    ],
)
def test_a_spot_score_is_its_certainty(score: int | None, certainty: str) -> None:
    decision = decided(asks(interruptible=True), spot(score=score))
    assert option(decision, "spot").certainty == certainty


def test_every_kind_has_its_certainty() -> None:
    rows = [
        owned(),
        block(),
        odcr(),
        on_demand("od", last_refused_at=NOW - timedelta(hours=24)),
        on_demand("od-2", last_refused_at=NOW - timedelta(hours=24, seconds=1)),
    ]
    decision = decided(asks(), *rows)
    assert {"+".join(found.refs): found.certainty.value for found in decision.options} == {
        "cr-a": "held",
        "cb-a": "guaranteed",
        "odcr": "uncertain",
        "od": "uncertain",
        "od-2": "likely",
    }
    assert {found.kind for found in decision.options} >= {Kind.OWNED, Kind.ODCR}


def test_a_gap_does_not_count_as_reserved_time() -> None:
    parts = (window(at(11, 11, 30), 24), window(at(13, 11, 30), 24))
    request = asks(target=Target.TRAINING_JOB, duration_hours=Decimal(48))
    found = option(decided(request, plan(segments=parts, fee="4800.00")), "tpo-a")
    assert found.usd_per_instance_hour == Decimal(50)
