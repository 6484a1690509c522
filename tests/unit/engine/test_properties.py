"""What holds for every request and market."""

import random
from collections import Counter
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

from bot.catalog import packaged
from bot.domain.decision import Certainty, Decision, Option
from bot.domain.market import Kind, Market, Segment
from bot.domain.request import Request
from bot.domain.rules import Rules
from bot.engine import decide, digest
from tests.unit.engine.markets import NOW, asks, block, market_of, on_demand, quota, unread
from tests.unit.engine.strategies import situations

Situation = tuple[Request, Market]
CLASSES = list(Certainty)
BALANCED = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def decided(situation: Situation, *, now: datetime = NOW) -> Decision:
    request, market = situation
    return decide(request, market, Rules(), now=now, zone="UTC", catalog=packaged())


def refs_of(market: Market) -> list[str]:
    return [row.ref for row in (*market.offerings, *market.hourly, *market.owned)]


@BALANCED
@given(situations())
def test_every_row_stands_in_exactly_one_option_or_rejection(situation: Situation) -> None:
    decision = decided(situation)
    told = [ref for found in decision.options for ref in found.refs]
    told += [ref for row in decision.rejected for ref in row.refs]
    assert Counter(told) == Counter(refs_of(situation[1]))


@BALANCED
@given(situations(), st.integers())
def test_no_order_of_rows_changes_a_byte(situation: Situation, seed: int) -> None:
    request, market = situation
    dice = random.Random(seed)  # noqa: S311 - a repeatable shuffle, no secret
    shuffled = market.model_copy(
        update={
            name: tuple(dice.sample(rows, len(rows)))
            for name in ("offerings", "hourly", "owned", "quotas", "not_read")
            for rows in [getattr(market, name)]
        }
    )
    again = decided((request, shuffled))
    assert again.model_dump_json() == decided(situation).model_dump_json()


def beats(rival: Option, pick: Option) -> bool:
    """Whether the rival is at least as good on every count, and better on cost."""
    begins = rival.segments[0].start <= pick.segments[0].start
    lasts = rival.usable_hours >= pick.usable_hours and rival.usable_end >= pick.usable_end
    sure = CLASSES.index(rival.certainty) <= CLASSES.index(pick.certainty)
    freer = rival.cancellable >= pick.cancellable and KINDS[rival.kind] <= KINDS[pick.kind]
    counts = rival.instance_count == pick.instance_count
    same = rival.instance_type == pick.instance_type and len(rival.refs) <= len(pick.refs)
    return (
        begins and lasts and sure and freer and counts and same and rival.total_usd < pick.total_usd
    )


KINDS = {kind: place for place, kind in enumerate(Kind)}


@BALANCED
@given(situations())
def test_nothing_beats_the_recommendation_on_every_count(situation: Situation) -> None:
    decision = decided(situation)
    if decision.pick is not None:
        low = {note.code for note in decision.pick.warnings}
        rivals = [found for found in decision.options[1:] if beats(found, decision.pick)]
        assert not [
            rival
            for rival in rivals
            if "score_low" in low or "score_low" not in {note.code for note in rival.warnings}
        ]


@BALANCED
@given(situations())
def test_a_recommendation_exists_exactly_when_an_option_does(situation: Situation) -> None:
    decision = decided(situation)
    assert [found.rank for found in decision.options] == list(range(1, len(decision.options) + 1))
    assert (decision.recommended == 1) is bool(decision.options)
    assert decision.options or decision.advice


@BALANCED
@given(situations())
def test_no_option_breaks_a_limit_of_the_request(situation: Situation) -> None:
    request, _ = situation
    for found in decided(situation).options:
        begin = max(NOW, request.earliest_start or NOW, found.segments[0].start)
        if request.max_total_usd is not None:
            assert found.total_usd <= request.max_total_usd
        if request.latest_start is not None:
            assert begin <= request.latest_start
        if found.kind in (Kind.CAPACITY_BLOCK, Kind.TRAINING_PLAN):
            assert found.segments[0].start >= NOW + timedelta(minutes=10)
        if found.kind is Kind.SPOT:
            assert request.interruptible


@BALANCED
@given(situations())
def test_money_is_exact_everywhere(situation: Situation) -> None:
    def walk(value: Any) -> None:
        assert not isinstance(value, float)
        if isinstance(value, dict):
            for part in value.values():
                walk(part)
        elif isinstance(value, (list, tuple)):
            for part in value:
                walk(part)

    decision = decided(situation)
    walk(decision.model_dump())
    for found in decision.options:
        if found.paid == "hourly":
            assert found.total_usd == round(found.total_usd, 2)


@BALANCED
@given(situations())
def test_a_join_is_exact(situation: Situation) -> None:
    request, market = situation
    rows = {row.ref: row for row in market.offerings}
    for found in decided(situation).options:
        if len(found.refs) > 1:
            legs = [rows[ref] for ref in found.refs]
            assert sum(leg.instance_count for leg in legs) == found.instance_count
            assert sum((leg.upfront_fee or Decimal(0) for leg in legs), Decimal(0)) == (
                found.total_usd
            )
            assert request.instance_count in (None, found.instance_count)


def test_the_strategies_reach_what_the_properties_speak_of() -> None:
    """Each of these raises when no such situation is ever drawn."""
    small = settings(max_examples=1000, database=None, deadline=None, phases=[Phase.generate])
    wanted = [
        lambda found: len(found.options) > 2,
        lambda found: not found.options,
        lambda found: any(len(option.refs) > 1 for option in found.options),
        lambda found: any(option.kind is Kind.OWNED for option in found.options),
    ]
    for reached in wanted:
        find(situations(), lambda drawn, reached=reached: reached(decided(drawn)), settings=small)


def test_the_zone_of_the_clock_changes_nothing() -> None:
    situation = (asks(), market_of(block(), on_demand()))
    berlin = NOW.astimezone(timezone(timedelta(hours=1)))
    assert decided(situation, now=berlin).model_dump_json() == decided(situation).model_dump_json()


def test_the_digest_holds_everything_that_the_decision_was_made_from() -> None:
    request, market, rules = asks(), market_of(block(), on_demand(), quota(1), unread()), Rules()
    base = digest(request, market, rules, now=NOW, zone="UTC")
    assert base == decide(request, market, rules, now=NOW, zone="UTC", catalog=packaged()).digest
    assert len(base) == 64
    others = [
        digest(asks(instance_count=3), market, rules, now=NOW, zone="UTC"),
        digest(request, market, rules, now=NOW + timedelta(seconds=1), zone="UTC"),
        digest(request, market, rules, now=NOW, zone="Europe/Berlin"),
        digest(request, market, Rules(large_request_instances=9), now=NOW, zone="UTC"),
        digest(request, market_of(block(), on_demand(), quota(1)), rules, now=NOW, zone="UTC"),
        digest(request, market_of(block(), unread(), quota(1)), rules, now=NOW, zone="UTC"),
        digest(request, market_of(block(), on_demand(), unread()), rules, now=NOW, zone="UTC"),
        digest(request, market_of(on_demand(), quota(1), unread()), rules, now=NOW, zone="UTC"),
    ]
    assert len({base, *others}) == len(others) + 1


def test_a_segment_prints_its_zone() -> None:
    found = decided((asks(), market_of(block()))).options[0]
    assert isinstance(found.segments[0], Segment)
    assert found.segments[0].zone == "us-east-1b"
