"""Which warnings stand beside which option, and the numbers they say."""

from datetime import timedelta
from decimal import Decimal

import pytest

from bot.domain.decision import Decision
from bot.domain.market import Kind
from bot.domain.request import Target
from tests.unit.engine.markets import (
    NOW,
    P5,
    Row,
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
    quota,
    spot,
    warned,
    window,
)

PREPAID = {"not_cancellable", "early_termination", "payment_pending_first"}


def text(decision: Decision, ref: str, code: str) -> str:
    return next(note.text for note in option(decision, ref).warnings if note.code == code)


def test_a_prepaid_offering_says_that_it_is_final_and_paid_first() -> None:
    decision = decided(on_the_15th(), block(), quota(10_000))
    assert warned(decision, "cb-a") == {*PREPAID, "ends_1130_utc"}


def test_a_plan_says_that_its_target_is_final() -> None:
    decision = decided(on_the_15th(target=Target.TRAINING_JOB), plan())
    assert warned(decision, "tpo-a") == {
        *PREPAID,
        "ends_1130_utc",
        "target_is_final",
        "quota_unknown",
    }


def test_the_true_last_minute_is_said_with_date_and_zone() -> None:
    decision = decided(on_the_15th(), block())
    assert "2027-03-16 11:00 UTC" in text(decision, "cb-a", "early_termination")


def test_only_an_end_at_1130_utc_is_said_to_be_one() -> None:
    decision = decided(on_the_15th(), block(opens=at(15, 9)))
    assert "ends_1130_utc" not in warned(decision, "cb-a")


def test_hourly_kinds_say_nothing_that_holds_for_prepaid_only() -> None:
    decision = decided(asks(interruptible=True), on_demand(), odcr(), spot(), quota(10_000))
    assert {found.refs[0]: found.warnings for found in decision.options} == {
        "od": (),
        "odcr": (),
        "spot": (),
    }


def test_owned_capacity_needs_neither_payment_nor_quota() -> None:
    decision = decided(on_the_15th(), owned())
    assert warned(decision, "cr-a").isdisjoint({"payment_pending_first", "quota_unknown"})
    assert "early_termination" in warned(decision, "cr-a")


def test_an_owned_odcr_ends_when_it_is_released() -> None:
    decision = decided(asks(), owned(kind=Kind.ODCR, start=at(1), end=None))
    assert warned(decision, "cr-a") == set()


def test_somebody_elses_capacity_is_requested_not_taken() -> None:
    other = decided(on_the_15th(), owned(owner="U0LIN"), requester="U0ANA")
    assert "owner_must_agree" in warned(other, "cr-a")
    assert "U0LIN" in text(other, "cr-a", "owner_must_agree")
    own = decided(on_the_15th(), owned(owner="U0ANA"), requester="U0ANA")
    assert "owner_must_agree" not in warned(own, "cr-a")
    nobodys = decided(on_the_15th(), owned(owner=None), requester="U0ANA")
    assert "owner_must_agree" not in warned(nobodys, "cr-a")


def test_from_the_command_line_any_owner_passes() -> None:
    assert "owner_must_agree" not in warned(decided(on_the_15th(), owned()), "cr-a")


@pytest.mark.parametrize(
    ("limits", "unknown"),
    [
        ([], True),
        ([quota(None, used=None)], True),
        ([quota(10_000, used=None)], True),
        ([quota(10_000)], False),
        ([quota(None, used=None), quota(10_000, name="Another")], False),
        ([quota(10_000, types=("g*",))], True),
    ],
)
def test_without_a_known_quota_the_answer_is_neither_yes_nor_no(
    limits: list[object], *, unknown: bool
) -> None:
    decision = decided(asks(), on_demand(), *limits)  # type: ignore[arg-type] - quotas
    assert ("quota_unknown" in warned(decision, "od")) is unknown


def test_a_limit_that_is_too_small_refuses_though_its_use_is_unknown() -> None:
    decision = decided(asks(), on_demand(), quota(10, used=None))
    assert decision.rejected[0].reason.code == "quota"


def test_a_price_older_than_a_day_is_stale() -> None:
    fresh = on_demand("od-24", as_of=NOW - timedelta(hours=24))
    stale = on_demand("od-25", as_of=NOW - timedelta(hours=24, seconds=1))
    decision = decided(asks(), fresh, stale)
    assert "price_stale" not in warned(decision, "od-24")
    assert "price_stale" in warned(decision, "od-25")


def test_an_offering_is_as_old_as_the_market() -> None:
    decision = decided(on_the_15th(), block(), owned(), as_of=NOW - timedelta(hours=24, seconds=1))
    assert "price_stale" in warned(decision, "cb-a")
    assert "price_stale" not in warned(decision, "cr-a")


def test_a_refusal_between_six_hours_and_a_day_is_said() -> None:
    rows = [
        on_demand("od-7", last_refused_at=NOW - timedelta(hours=7)),
        on_demand("od-24", last_refused_at=NOW - timedelta(hours=24)),
        on_demand("od-25", last_refused_at=NOW - timedelta(hours=24, seconds=1)),
    ]
    decision = decided(asks(), *rows)
    assert "refused_before" in warned(decision, "od-7")
    assert "refused_before" in warned(decision, "od-24")
    assert "refused_before" not in warned(decision, "od-25")


def test_a_local_zone_is_said() -> None:
    decision = decided(on_the_15th(), block(zone_type="local-zone", zone="us-east-1-atl-2a"))
    assert "us-east-1-atl-2a" in text(decision, "cb-a", "local_zone")
    assert "local_zone" not in warned(decided(on_the_15th(), block()), "cb-a")


@pytest.mark.parametrize(("score", "low"), [(4, False), (3, True), (None, True)])
def test_a_low_or_missing_score_is_said(score: int | None, *, low: bool) -> None:
    decision = decided(asks(interruptible=True), spot(score=score))
    assert ("score_low" in warned(decision, "spot")) is low


def test_a_pause_is_said_with_its_times() -> None:
    parts = (window(at(15, 11, 30), 24), window(at(17, 11, 30), 24))
    request = on_the_15th(target=Target.TRAINING_JOB, duration_hours=Decimal(48))
    decision = decided(request, plan(segments=parts))
    said = text(decision, "tpo-a", "gap_between_segments")
    assert "2027-03-16 11:30 UTC to 2027-03-17 11:30 UTC" in said


def test_every_sentence_is_one_plain_line_with_an_end() -> None:
    rows = [
        owned(),
        block("cb-3", count=3, fee="1.00", hours=22),
        on_demand(),
        odcr(),
        spot(score=None),
    ]
    request = asks(interruptible=True, instance_count=2)
    decision = decided(request, *rows, requester="U0ANA", as_of=NOW - timedelta(days=2))
    notes = [note for found in decision.options for note in (*found.reasons, *found.warnings)]
    notes += [row.reason for row in decision.rejected] + list(decision.advice)
    assert notes
    for note in notes:
        assert not note.text[0].islower()
        assert note.text.endswith(".")
        assert "\n" not in note.text


LOCAL = {"zone_type": "local-zone"}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (owned("a", owner="U0ANA"), owned("b", owner="U0LIN")),
        (spot("a", score=2), spot("b", score=None)),
        (on_demand("a"), on_demand("b", last_refused_at=NOW - timedelta(hours=9))),
        (on_demand("a"), on_demand("b", as_of=NOW - timedelta(hours=30))),
        (
            block("a", zone="us-east-1-atl-2a", **LOCAL),
            block("b", zone="us-east-1-dfw-2a", **LOCAL),
        ),
        (block("a", zone=None), block("b", zone=None, **LOCAL)),
        (block("a"), block("b", account="vision")),
        (block("a"), block("b", region="us-west-2")),
        (block("a"), block("b", count=1)),
        (block("a"), block("b", hours=48)),
        (block("a"), block("b", fee="2401.00")),
        (on_demand("a"), odcr("b", as_of=NOW - timedelta(hours=30))),
        (owned("a"), owned("b", kind=Kind.ODCR)),
    ],
)
def test_options_that_differ_in_little_keep_their_own_warnings(first: Row, second: Row) -> None:
    request = asks(interruptible=True, minimum_count=1)
    known = (quota(10_000), on_demand("price", usd="50", zone="us-east-1d"))
    both = decided(request, first, second, *known, requester="U0ANA")
    for row in (first, second):
        alone = decided(request, row, *known, requester="U0ANA")
        assert option(both, row.ref).warnings == option(alone, row.ref).warnings


@pytest.mark.parametrize(
    ("accelerator", "asked", "instance_type", "said"),
    [
        ("H100", 12, P5, "It is 16 GPUs on 2 machines; 12 were asked."),
        ("H100", 3, P5, "It is 8 GPUs on 1 machine; 3 were asked."),
        ("H100", 16, P5, None),
        ("H100", 12, "p5.4xlarge", None),
        ("Trainium2", 20, "trn2.48xlarge", "It is 32 GPUs on 2 machines; 20 were asked."),
    ],
)
def test_whole_machines_that_hold_more_gpus_than_asked_say_how_many(
    accelerator: str, asked: int, instance_type: str, said: str | None
) -> None:
    request = asks(instance_type=None, instance_count=None, accelerator=accelerator)
    request = request.model_copy(update={"accelerator_count": asked})
    decision = decided(request, on_demand(instance_type=instance_type))
    if said is None:
        assert "whole_machines" not in warned(decision, "od")
    else:
        assert text(decision, "od", "whole_machines") == said


def test_a_number_of_machines_is_no_number_of_gpus() -> None:
    assert "whole_machines" not in warned(decided(asks(), on_demand()), "od")
