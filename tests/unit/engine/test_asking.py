"""The fewest searches for the same best answer."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.catalog import packaged
from bot.domain.market import Kind, Offering, Segment
from bot.domain.request import Request, Target
from bot.engine.asking import MOST_CALLS, Search, block_searches, plan_searches
from tests.fakes.clock import NOW

CATALOG = packaged()


def asking(**update: Any) -> Request:
    values: dict[str, Any] = {
        "instance_type": "p5.48xlarge",
        "instance_count": 2,
        "duration_hours": Decimal(72),
    }
    return Request(**{**values, **update})


def first(request: Request) -> tuple[Search, ...]:
    return block_searches(request, now=NOW, catalog=CATALOG)


def at(day: int, hour: int, minute: int = 0) -> datetime:
    return datetime(2027, 3, day, hour, minute, tzinfo=UTC)


def offer(search: Search, *, start: datetime | None = None, **update: Any) -> Offering:
    begin = start or at(15, 11, 30)
    end = begin + timedelta(hours=search.hours)
    values: dict[str, Any] = {
        "ref": "cb-1", "kind": Kind.CAPACITY_BLOCK, "account": "research", "region": "us-east-1",
        "zone": "us-east-1b", "zone_id": None, "zone_type": None, "opted_in": True,
        "instance_type": search.instance_type, "instance_count": search.count,
        "ultraserver_type": None, "ultraserver_count": None, "target_resources": (),
        "segments": (Segment(start=begin, end=end),),
        "upfront_fee": Decimal(6000), "currency": "USD",
    }  # fmt: skip
    return Offering(**{**values, **update})


def play(request: Request, sell: Any) -> list[Search]:
    answered: dict[Search, tuple[Offering, ...]] = {}
    while todo := block_searches(request, now=NOW, catalog=CATALOG, answered=answered):
        for search in todo:
            answered[search] = tuple(sell(search))
    return list(answered)


def test_one_call_when_the_coarse_search_answers():
    (search,) = play(asking(), lambda search: [offer(search, start=at(11, 11, 30))])
    assert (search.count, search.hours) == (2, 72)
    assert search.start_after <= NOW


@pytest.mark.parametrize(
    ("hours", "searched"),
    [(1, 24), (23, 24), (24, 24), (25, 48), (336, 336), (337, 504), (360, 504)],
)
def test_lengths_are_those_on_sale(hours, searched):
    assert [search.hours for search in first(asking(duration_hours=Decimal(hours)))] == [searched]


def test_usable_hours_need_the_half_hour_at_the_end_too():
    assert first(asking(duration_hours=Decimal(24), strict=True))[0].hours == 48


def test_a_working_day_that_crosses_the_end_of_blocks_needs_two_days():
    fixed = at(15, 8)
    (search,) = first(asking(duration_hours=Decimal(8), earliest_start=fixed, latest_start=fixed))
    assert (search.hours, search.start_after) == (48, at(14, 11, 30))
    assert search.end_before == at(16, 11, 30)


def test_a_fixed_start_after_the_hour_is_asked_short_and_whole():
    fixed = at(15, 13)
    found = first(asking(duration_hours=Decimal(24), earliest_start=fixed, latest_start=fixed))
    assert [search.hours for search in found] == [24, 48]


def test_a_start_at_the_hour_needs_no_longer_block():
    fixed = at(15, 11, 30)
    (search,) = first(asking(earliest_start=fixed, latest_start=fixed))
    assert (search.hours, search.start_after) == (72, fixed)


def test_each_type_of_an_accelerator_is_asked_at_its_own_count():
    request = Request(accelerator="H100", accelerator_count=16, duration_hours=Decimal(24))
    found = {search.instance_type: search.count for search in first(request)}
    assert found == {"p5.48xlarge": 2, "p5.4xlarge": 16}


def test_the_near_days_are_asked_only_when_all_that_was_shown_is_far():
    far = play(asking(), lambda search: [offer(search, start=at(28, 11, 30))])
    assert len(far) == 2
    assert far[1].end_before < far[0].end_before


def test_no_machine_at_all_ends_the_search_of_smaller_counts():
    searched = play(asking(instance_count=16), lambda _: [])
    assert [search.count for search in searched] == [16, 1]


def test_parts_of_a_join_are_asked_largest_first_until_they_make_the_count():
    def sell(search: Search) -> list[Offering]:
        if search.count > 4:
            return []
        return [offer(search, ref=f"cb-{search.count}-{n}") for n in range(6)]

    searched = play(asking(instance_count=16), sell)
    assert [search.count for search in searched] == [16, 1, 8, 4]


def test_a_training_job_is_never_joined():
    request = asking(target=Target.TRAINING_JOB, instance_count=8)
    (search,) = plan_searches(request, now=NOW, catalog=CATALOG)
    assert (search.instance_type, search.target) == ("ml.p5.48xlarge", "training-job")
    assert plan_searches(request, now=NOW, catalog=CATALOG, answered={search: ()}) == ()


def test_plans_are_asked_in_powers_of_two():
    request = asking(target=Target.TRAINING_JOB, instance_count=3)
    assert [s.count for s in plan_searches(request, now=NOW, catalog=CATALOG)] == [4]


def test_an_offer_above_the_budget_does_not_end_the_search():
    dear = play(
        asking(max_total_usd=Decimal(100)), lambda search: [offer(search, start=at(11, 11, 30))]
    )
    assert len(dear) > 1


def test_nothing_is_asked_for_the_other_branch_or_beyond_the_horizon():
    assert first(asking(target=Target.ENDPOINT)) == ()
    assert plan_searches(asking(), now=NOW, catalog=CATALOG) == ()
    assert first(asking(earliest_start=NOW + timedelta(days=57))) == ()
    assert first(asking(instance_type="g6.xlarge")) == ()


def test_an_ultraserver_is_asked_in_whole_ones():
    (search,) = first(
        Request(
            ultraserver_type="u-p6e-gb200x72",
            accelerator="GB200",
            accelerator_count=144,
            duration_hours=Decimal(24),
        )
    )
    assert (search.instance_type, search.count, search.ultraserver) == ("u-p6e-gb200x72", 2, True)


@given(
    count=st.integers(1, 96),
    hours=st.integers(1, 4000),
    ahead=st.integers(0, 60 * 24),
    fixed=st.booleans(),
    minimum=st.integers(1, 8),
    stock=st.integers(0, 64),
)
def test_any_request_ends_within_the_calls_of_a_region(  # noqa: PLR0917  # drawn by name
    count, hours, ahead, fixed, minimum, stock
):
    start = NOW + timedelta(hours=ahead)
    request = asking(
        instance_count=count,
        duration_hours=Decimal(hours),
        earliest_start=start,
        latest_start=start if fixed else None,
        minimum_count=min(minimum, count),
    )
    searched = play(request, lambda s: [offer(s, start=s.start_after)] if s.count <= stock else [])
    assert len(searched) <= MOST_CALLS
    for search in searched:
        assert search.hours % 24 == 0
        assert search.hours <= 14 * 24 or search.hours % (7 * 24) == 0
        assert 1 <= search.count <= 64
        assert search.start_after + timedelta(hours=search.hours) <= search.end_before + timedelta(
            hours=24
        )
