"""When what AWS sells now is still what was approved: start, drift and hours."""

from datetime import timedelta
from decimal import Decimal

import pytest

from bot.domain.market import Kind, Segment
from bot.domain.records import Leg, LegPurpose
from bot.services.commitments.requoting import Fit, Lost, Misfit, fresh, hourly
from tests.fakes.clock import NOW
from tests.services.money.stage import FEE, START, asap, block, configuration, request

CONFIGURATION = configuration()
INSTANT = NOW + timedelta(minutes=30)


def leg(**update: object) -> Leg:
    row = block()
    base = Leg(
        number=1,
        purpose=LegPurpose.INITIAL,
        kind=row.kind,
        ref=row.ref,
        account=row.account,
        region=row.region,
        zone=row.zone,
        instance_type=row.instance_type,
        instance_count=row.instance_count,
        segments=row.segments,
        platform="Linux/UNIX",
        fee=FEE,
    )
    return base.model_copy(update=update)


def _look(the_leg, offers, wanted, now=NOW, taken=()):
    return fresh(the_leg, offers, request=wanted, configuration=CONFIGURATION, now=now, taken=taken)


@pytest.mark.parametrize(("minutes", "fits"), [(0, True), (1, True), (60, True), (61, False)])
def test_an_instant_block_may_start_a_little_later(minutes, fits):
    end = INSTANT + timedelta(hours=50)
    old = (Segment(start=INSTANT, end=end, zone="us-east-1b"),)
    new = (Segment(start=INSTANT + timedelta(minutes=minutes), end=end, zone="us-east-1b"),)
    found = _look(leg(segments=old), [block("cb-2", segments=new)], asap())
    assert isinstance(found, Fit) == fits


def test_a_later_start_never_eats_into_the_asked_hours():
    end = INSTANT + timedelta(hours=24)
    old = (Segment(start=INSTANT, end=end, zone="us-east-1b"),)
    new = (Segment(start=INSTANT + timedelta(minutes=5), end=end, zone="us-east-1b"),)
    assert isinstance(_look(leg(segments=old), [block(segments=old)], asap()), Fit)
    assert isinstance(_look(leg(segments=old), [block(segments=new)], asap()), Misfit)


def test_usable_hours_count_when_the_request_is_strict():
    end = INSTANT + timedelta(hours=25)
    old = (Segment(start=INSTANT, end=end, zone="us-east-1b"),)
    new = (Segment(start=INSTANT + timedelta(minutes=40), end=end, zone="us-east-1b"),)
    offers = [block(segments=new)]
    assert isinstance(_look(leg(segments=old), offers, asap()), Fit)
    assert isinstance(_look(leg(segments=old), offers, asap(strict=True)), Misfit)


def test_a_fixed_start_stays_inside():
    end = START + timedelta(days=3)
    old = (Segment(start=START - timedelta(minutes=50), end=end, zone="us-east-1b"),)
    wanted = request(earliest_start=START, latest_start=START, duration_hours=Decimal(72))
    inside = (Segment(start=START, end=end, zone="us-east-1b"),)
    outside = (Segment(start=START + timedelta(minutes=1), end=end, zone="us-east-1b"),)
    assert isinstance(_look(leg(segments=old), [block(segments=inside)], wanted), Fit)
    assert isinstance(_look(leg(segments=old), [block(segments=outside)], wanted), Misfit)


def test_a_start_too_near_for_the_payment_is_not_bought():
    margin = CONFIGURATION.decision.payment_margin
    assert isinstance(_look(leg(), [block()], request(), now=START - margin), Fit)
    late = _look(leg(), [block()], request(), now=START - margin + timedelta(seconds=1))
    assert isinstance(late, Misfit)


def test_after_the_last_start_nothing_fits():
    wanted = request(latest_start=NOW)
    late = _look(leg(), [block()], wanted, now=NOW + timedelta(seconds=1))
    assert isinstance(late, Misfit)
    assert late.lost is Lost.PAST


def test_its_own_id_is_preferred_then_the_cheapest():
    cheap = block("cb-2", upfront_fee=FEE - 1)
    assert _look(leg(), [cheap, block()], request()).ref == "cb-1"
    assert _look(leg(ref="gone"), [block(), cheap], request()).ref == "cb-2"


def test_an_id_of_another_leg_is_not_taken():
    assert isinstance(_look(leg(), [block()], request(), taken=("cb-1",)), Misfit)


def test_a_plan_for_another_target_is_not_the_same():
    plan = leg(kind=Kind.TRAINING_PLAN, target="training-job")
    row = block(kind=Kind.TRAINING_PLAN, target_resources=("hyperpod-cluster",))
    assert isinstance(_look(plan, [row], request()), Misfit)


def test_a_second_segment_is_part_of_the_offer():
    extra = Segment(
        start=START + timedelta(days=4), end=START + timedelta(days=5), zone="us-east-1b"
    )
    two = (*block().segments, extra)
    moved = (*block().segments, extra.model_copy(update={"start": START + timedelta(days=4.5)}))
    assert isinstance(_look(leg(segments=two), [block(segments=two)], request()), Fit)
    assert isinstance(_look(leg(segments=two), [block(segments=moved)], request()), Misfit)
    assert isinstance(_look(leg(), [block(segments=two)], request()), Misfit)


def _hourly_leg(start=NOW, kind=Kind.ON_DEMAND) -> Leg:
    segment = Segment(start=start, end=start + timedelta(hours=24))
    return leg(kind=kind, segments=(segment,))


def test_an_hourly_window_moves_as_a_whole():
    later = NOW + timedelta(minutes=5)
    found = hourly(_hourly_leg(), request=asap(), now=later)
    assert found.segments[0].start == later
    assert found.segments[0].end - later == timedelta(hours=24)
    assert found.fee == FEE


def test_an_hourly_window_that_no_longer_meets_the_deadline_is_refused():
    wanted = asap(latest_end=NOW + timedelta(hours=24))
    assert isinstance(hourly(_hourly_leg(), request=wanted, now=NOW), Fit)
    late = hourly(_hourly_leg(), request=wanted, now=NOW + timedelta(seconds=1))
    assert isinstance(late, Misfit)


@pytest.mark.parametrize(
    ("kind", "minutes", "fits"),
    [
        (Kind.ON_DEMAND, 10, True),
        (Kind.ON_DEMAND, 11, False),
        (Kind.ODCR, 1, False),
    ],
)
def test_a_fixed_start_waits_ten_minutes_for_a_launch_only(kind, minutes, fits):
    wanted = asap(earliest_start=NOW, latest_start=NOW)
    found = hourly(_hourly_leg(kind=kind), request=wanted, now=NOW + timedelta(minutes=minutes))
    assert isinstance(found, Fit) == fits
