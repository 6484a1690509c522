"""The join: exact against exhaustive search, in bounded time, and how a decision uses it."""

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain.market import Kind, Offering
from bot.domain.request import Target
from bot.engine.joins import Leg, best_join, joinable
from tests.unit.engine.markets import (
    NOW,
    advised,
    asks,
    at,
    block,
    decided,
    on_the_15th,
    option,
    order,
    plan,
    quota,
    rejects,
    warned,
)


def exhaustive(legs: Sequence[Leg], count: int) -> list[tuple[Leg, ...]]:
    """Every subset of legs that sums to the count."""
    return [
        subset
        for size in range(1, len(legs) + 1)
        for subset in combinations(legs, size)
        if sum(leg.count for leg in subset) == count
    ]


def policy(subset: Sequence[Leg]) -> tuple[int, Decimal, list[str]]:
    return len(subset), sum((leg.fee for leg in subset), Decimal(0)), sorted(x.ref for x in subset)


@st.composite
def offered(draw: st.DrawFn) -> tuple[list[Leg], int]:
    """Up to nine legs with few distinct fees, so that ties are common, and a reachable count."""
    counts = draw(st.lists(st.integers(1, 6), min_size=1, max_size=9))
    refs = draw(st.permutations([f"cb-{place}" for place in range(len(counts))]))
    fees = [Decimal(draw(st.sampled_from((1, 2, 3)))) * count for count in counts]
    legs = [
        Leg(fee=fee, ref=ref, count=count)
        for fee, ref, count in zip(fees, refs, counts, strict=True)
    ]
    taken = draw(st.integers(1, len(legs)))
    reachable = sum(leg.count for leg in legs[:taken])
    return legs, draw(st.sampled_from((reachable, reachable + 1)))


@settings(max_examples=200, deadline=None)
@given(offered())
def test_the_join_equals_exhaustive_search(offers: tuple[list[Leg], int]) -> None:
    legs, count = offers
    found = best_join(legs, count)
    every = exhaustive(legs, count)
    if not every:
        assert found is None
    else:
        assert found is not None
        assert policy(found) == min(policy(subset) for subset in every)


@settings(max_examples=100, deadline=None)
@given(offered())
def test_what_is_part_of_some_join_equals_exhaustive_search(offers: tuple[list[Leg], int]) -> None:
    legs, count = offers
    in_some = {leg.count for subset in exhaustive(legs, count) for leg in subset}
    assert joinable(Counter(leg.count for leg in legs), count) == in_some


@pytest.mark.parametrize(
    ("counts", "wanted"),
    [((1, 2, 4, 8, 16, 32, 64), 255), (range(2, 256, 2), 255), (range(1, 256), 256), ((1,), 256)],
)
def test_the_work_is_bounded_on_thousands_of_offerings(counts: Sequence[int], wanted: int) -> None:
    legs = [
        Leg(fee=Decimal(count), ref=f"cb-{place}", count=count, place=place)
        for place, count in enumerate(list(counts) * (3000 // len(counts)))
    ]
    found = best_join(legs, wanted)
    assert (found is None) is (wanted % 2 == 1 and 1 not in counts)


def test_greed_would_take_the_largest_first_and_need_more() -> None:
    legs = [
        Leg(Decimal(1), f"cb-{count}{place}", count)
        for count, place in ((4, 0), (3, 0), (3, 1), (1, 0), (1, 1))
    ]
    found = best_join(legs, 6)
    assert found is not None
    assert [leg.ref for leg in found] == ["cb-30", "cb-31"]


def halves(*fees: str, **changes: object) -> list[Offering]:
    return [
        block(f"cb-{'abcdef'[place]}", count=1, fee=fee, **changes)
        for place, fee in enumerate(fees)
    ]


def test_a_join_is_one_option_with_its_legs_and_their_sum() -> None:
    decision = decided(on_the_15th(), *halves("1000.00", "900.50"))
    joined = option(decision, "cb-a+cb-b")
    assert (joined.instance_count, joined.total_usd) == (2, Decimal("1900.50"))
    assert "joined" in warned(decision, "cb-a+cb-b")


def test_an_offering_in_no_chosen_join_is_joined_elsewhere() -> None:
    decision = decided(on_the_15th(), *halves("3.00", "1.00", "2.00"))
    assert order(decision) == ["cb-b+cb-c"]
    assert rejects(decision) == {"cb-a": "joined_elsewhere"}


def test_a_smaller_offering_that_is_in_no_possible_join_is_too_few() -> None:
    request = on_the_15th(instance_count=8)
    rows = [block("cb-a", count=4), block("cb-b", count=4), block("cb-c", count=3)]
    assert rejects(decided(request, *rows)) == {"cb-c": "too_few_instances"}


def test_a_single_offering_that_fits_needs_no_join() -> None:
    decision = decided(on_the_15th(), block("cb-x"), *halves("1.00", "1.00"))
    assert order(decision) == ["cb-x"]
    assert set(rejects(decision).values()) == {"too_few_instances"}


def test_a_single_offering_elsewhere_leaves_a_join_its_place() -> None:
    elsewhere = block("cb-x", zone="us-east-1c")
    decision = decided(on_the_15th(), elsewhere, *halves("1.00", "1.00"))
    assert order(decision) == ["cb-a+cb-b", "cb-x"]


@pytest.mark.parametrize(
    "changes",
    [
        {"account": "other"},
        {"region": "us-east-2"},
        {"zone": "us-east-1c"},
        {"opens": at(15, 12, 30)},
        {"hours": 48},
    ],
)
def test_only_identical_places_and_windows_are_joined(changes: dict[str, object]) -> None:
    rows = [block("cb-a", count=1), block("cb-b", count=1, **changes)]
    assert rejects(decided(on_the_15th(), *rows)) == {
        "cb-a": "too_few_instances",
        "cb-b": "too_few_instances",
    }


@pytest.mark.parametrize(
    ("target", "joins"),
    [
        (Target.HYPERPOD, True),
        (Target.TRAINING_JOB, False),
        (Target.ENDPOINT, False),
        (Target.STUDIO, False),
    ],
)
def test_a_job_or_an_endpoint_takes_one_plan(target: Target, *, joins: bool) -> None:
    rows = [plan(ref, count=1, targets=(target,)) for ref in ("tpo-a", "tpo-b")]
    decision = decided(on_the_15th(target=target), *rows)
    assert order(decision) == (["tpo-a+tpo-b"] if joins else [])


def test_a_join_over_the_budget_leaves_each_for_itself() -> None:
    decision = decided(on_the_15th(max_total_usd=Decimal(100)), *halves("60.00", "50.00"))
    assert set(rejects(decision).values()) == {"too_few_instances"}


def test_a_join_needs_quota_as_a_whole() -> None:
    decision = decided(on_the_15th(), *halves("60.00", "50.00"), quota(192))
    assert set(rejects(decision).values()) == {"too_few_instances"}
    assert "watch" in advised(decision)


def test_a_cap_is_held_against_the_whole_join() -> None:
    request = on_the_15th(max_hourly_usd=Decimal(2))
    assert order(decided(request, *halves("60.00", "36.00"))) == ["cb-a+cb-b"]
    assert order(decided(request, *halves("60.00", "36.01"))) == []


def test_each_window_has_its_own_join() -> None:
    later = [block(ref, count=1, opens=at(15, 12, 30), hours=23) for ref in ("cb-x", "cb-y")]
    decision = decided(on_the_15th(), *halves("1.00", "1.00"), *later)
    assert set(order(decision)) == {"cb-a+cb-b", "cb-x+cb-y"}


def test_fewer_purchases_win_a_tie() -> None:
    rows = [*halves("1000.00", "1000.00"), block("cb-x", zone="us-east-1a")]
    assert order(decided(on_the_15th(), *rows)) == ["cb-x", "cb-a+cb-b"]


def test_an_offering_with_a_fault_is_no_leg() -> None:
    rows = [*halves("1.00"), block("cb-z", count=1, currency="CNY")]
    assert rejects(decided(on_the_15th(), *rows)) == {
        "cb-a": "too_few_instances",
        "cb-z": "currency",
    }


def test_a_join_starts_no_sooner_than_a_single_offering_may() -> None:
    rows = halves("1.00", "1.00", opens=NOW + timedelta(minutes=1))
    assert set(rejects(decided(asks(), *rows)).values()) == {"too_few_instances"}


def test_joins_are_of_one_kind() -> None:
    request = on_the_15th(target=Target.HYPERPOD)
    rows = [
        plan("tpo-a", count=1, targets=(Target.HYPERPOD,)),
        block("cb-b", count=1),
    ]
    assert rejects(decided(request, *rows))["tpo-a"] == "too_few_instances"
    assert Kind.TRAINING_PLAN.value == "training_plan"


@pytest.mark.parametrize(("cap", "fits"), [("3315.30", True), ("3315.29", False)])
def test_three_fees_of_1105_10_are_3315_30_to_the_cent(cap: str, fits: bool) -> None:  # noqa: FBT001 - drawn by name
    legs = [block(f"cb-{place}", count=1, fee="1105.10") for place in range(3)]
    request = on_the_15th(instance_count=3, max_total_usd=Decimal(cap))
    options = decided(request, *legs).options
    assert [found.total_usd for found in options] == ([Decimal("3315.30")] if fits else [])
