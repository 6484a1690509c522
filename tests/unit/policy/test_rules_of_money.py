"""The administrator's rules as pure functions."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.records import BudgetEntry, Person
from bot.domain.values import dollars
from bot.policy.ceilings import (
    counted,
    daily_overrun,
    day_of,
    month_of,
    team_overrun,
)
from bot.policy.configuration import (
    Account,
    ApprovalRules,
    BreakGlass,
    Channels,
    Configuration,
    Team,
    Tier,
)
from bot.policy.explaining import explain
from bot.policy.permitting import Obstacle, Standing, may_approve, may_ask, may_deny, teams_of
from bot.policy.tiers import everyone, nudge_times, tier_for

NOW = datetime(2027, 3, 10, 15, 0, tzinfo=UTC)
CONFIGURATION = Configuration(
    accounts=(Account(name="research", account_id="111122223333", regions=("us-east-1",)),),
    channels=Channels(requests="C0GPU", approvals="C0APPROVE", digest="C0GPU"),
    administrators=("U0ADMIN",),
    daily_ceiling_usd=Decimal("3315.30"),
    teams=(Team(name="vision", members=("U0REQ",), monthly_budget_usd=Decimal("3315.30")),),
    approval=ApprovalRules(
        tiers=(
            Tier(up_to_usd=Decimal(500), auto=True),
            Tier(up_to_usd=Decimal(10000), approvers=("U0APP",), quiet=("U0QUIET",)),
        ),
        break_glass=BreakGlass(people=("U0ADMIN",), up_to_usd=Decimal(2000)),
    ),
)


def _person(user: str = "U0APP", **update: object) -> Standing:
    base = Person(id=user, zone="UTC", locale="en-US", active=True, external=False, read_at=NOW)
    return Standing(user=user, person=base.model_copy(update=update))


def _entry(amount: str, state: str = "held", team: str = "vision") -> BudgetEntry:
    return BudgetEntry(
        purchase_key=f"gpu-1/{amount}",
        reservation_id=1,
        team=team,
        amount=Decimal(amount),
        state=state,  # type: ignore[arg-type]
        held_at=NOW,
    )


@pytest.mark.parametrize(
    ("total", "limit"),
    [("0", "500"), ("500", "500"), ("500.01", "10000"), ("10000", "10000"), ("10000.01", None)],
)
def test_the_first_tier_that_holds_a_total_is_its_tier(total, limit):
    tier = tier_for(Decimal(total), CONFIGURATION)
    assert (tier.up_to_usd if tier else None) == (Decimal(limit) if limit else None)


def test_quiet_approvers_may_approve_but_come_last():
    assert everyone(CONFIGURATION.approval.tiers[1]) == ("U0APP", "U0QUIET")


@pytest.mark.parametrize(
    ("standing", "obstacle"),
    [
        (_person(), None),
        (Standing(user="U0APP", person=None), Obstacle.UNVERIFIED),
        (_person().model_copy(update={"user": "U0OTHER"}), Obstacle.UNVERIFIED),
        (_person(active=False), Obstacle.INACTIVE),
        (_person(bot=True), Obstacle.INACTIVE),
        (_person(external=True), Obstacle.EXTERNAL),
        (_person("U0OTHER"), Obstacle.NOT_NAMED),
        (_person("U0REQ"), Obstacle.OWN),
        (_person("U0OWNER"), Obstacle.OWN),
        (_person("U0TWICE"), Obstacle.TWICE),
    ],
)
def test_each_reason_not_to_approve_is_named(standing, obstacle):
    approvers = ("U0APP", "U0REQ", "U0OWNER", "U0TWICE")
    found = may_approve(
        standing, approvers=approvers, requester="U0REQ", owner="U0OWNER", given_by=("U0TWICE",)
    )
    assert found is obstacle


def test_a_group_member_counts_as_named():
    standing = _person("U0OTHER").model_copy(update={"groups": ("S0GROUP",)})
    assert may_deny(standing, approvers=("S0GROUP",)) is None
    assert may_deny(standing, approvers=("S0OTHERS",)) is Obstacle.NOT_NAMED


def test_anyone_fit_may_ask_unless_the_file_names_who():
    assert may_ask(_person("U0X"), CONFIGURATION) is None
    assert may_ask(_person("U0X", active=False), CONFIGURATION) is Obstacle.INACTIVE


def test_teams_are_those_one_is_a_member_of():
    assert [team.name for team in teams_of(_person("U0REQ"), CONFIGURATION)] == ["vision"]
    assert teams_of(_person("U0X"), CONFIGURATION) == ()


def test_three_fees_sum_to_the_cent_and_freed_money_does_not_count():
    entries = [_entry("1105.10") for _ in range(3)]
    assert counted(entries) == Decimal("3315.30")
    assert counted([*entries, _entry("5.00", "freed")]) == Decimal("3315.30")


@pytest.mark.parametrize(("more", "fits"), [("1105.10", True), ("1105.11", False)])
def test_budget_and_ceiling_hold_to_the_cent(more, fits):
    spent = counted([_entry("1105.10"), _entry("1105.10", "committed")])
    by_team = team_overrun(
        Decimal(more), team="vision", this_month=spent, configuration=CONFIGURATION
    )
    by_day = daily_overrun(Decimal(more), today=spent, configuration=CONFIGURATION)
    assert (by_team is None, by_day is None) == (fits, fits)


def test_an_overrun_says_what_is_left():
    over = daily_overrun(Decimal(4000), today=Decimal(3000), configuration=CONFIGURATION)
    assert "$315.30 is left" in over.text


def test_no_team_has_no_budget_of_its_own():
    assert (
        team_overrun(Decimal(10**9), team=None, this_month=Decimal(0), configuration=CONFIGURATION)
        is None
    )


@given(st.timedeltas(timedelta(0), timedelta(days=9000)))
def test_a_moment_lies_in_its_own_day_and_month(later):
    moment = NOW + later
    for start, end in (day_of(moment), month_of(moment)):
        assert start <= moment < end
        assert (start.hour, start.minute, end.hour) == (0, 0, 0)
    assert month_of(moment)[1].day == 1


@given(
    st.lists(st.decimals(0, 10**6, places=2), max_size=8),
    st.decimals(0, 10**6, places=2),
)
def test_what_a_budget_lets_through_never_exceeds_it(amounts, more):
    entries = [_entry("0").model_copy(update={"amount": amount}) for amount in amounts]
    over = daily_overrun(more, today=counted(entries), configuration=CONFIGURATION)
    assert (over is None) == (sum(amounts) + more <= Decimal("3315.30"))


def test_reminders_double_their_pauses_and_end_before_the_expiry():
    times = nudge_times(NOW, NOW + timedelta(hours=4), timedelta(hours=1))
    assert [moment - NOW for moment in times] == [timedelta(hours=1), timedelta(hours=2)]


def test_no_pause_means_no_reminder():
    assert nudge_times(NOW, NOW + timedelta(hours=4), timedelta(0)) == ()


def test_money_reads_with_groups_and_two_decimals():
    assert dollars(Decimal("6877.4")) == "$6,877.40"
    assert dollars(Decimal("0.105")) == "$0.11"
    assert dollars(Decimal("-1234.5")) == "-$1,234.50"


@pytest.mark.parametrize(
    ("total", "words"),
    [
        ("100", "the policy approves at once"),
        ("501", "one of U0APP, U0QUIET must agree within 4 h"),
        ("10001", "is refused"),
    ],
)
def test_the_policy_explains_what_a_total_needs(total, words):
    said = explain(Decimal(total), CONFIGURATION, requester="U0APP", team="vision")
    assert words in said[0]
    assert any("UTC day" in sentence for sentence in said)
    assert any("vision may commit $3,315.30" in sentence for sentence in said)


def test_the_policy_explains_self_approval_and_acting_alone():
    said = " ".join(explain(Decimal(501), CONFIGURATION, requester="U0APP"))
    assert "can't approve what they ask for" in said
    assert "may act alone" in said
    assert "may act alone" not in " ".join(explain(Decimal(2001), CONFIGURATION))
