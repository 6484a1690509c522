"""Before the approval, both cards say in one line how the team's own account gets at it."""

import json

import pytest

from bot.domain.lifecycle import ReservationState as State
from bot.domain.sharing import Elsewhere, Hindrance, Way
from bot.services.words.views import option_key
from handlers.cards.approval import approval_card
from handlers.cards.decision import decision_card, plan_card
from tests.handlers.office import card, decision, option, proposal, reservation

STAYS = [
    (Hindrance.ULTRASERVER, "Bought in `payer`", "shares no UltraServers"),
    (Hindrance.TRAINING_PLAN, "Bought in `payer`", "training plan stays"),
    (Hindrance.LAUNCHED, "Launched in `payer`", "machines run in the account"),
    (Hindrance.HELD, "Held in `payer`", "used where it is held"),
    (Hindrance.NOT_NAMED, "Bought in `payer`", "shares_with"),
    (Hindrance.OTHER_ORGANIZATION, "Bought in `payer`", "inside one organization"),
]


def passage(way: Way, hindrance: Hindrance | None = None) -> dict[str, Elsewhere]:
    found = Elsewhere(
        buyer="payer", user="vision-prod", way=way, hindrance=hindrance, zone_id="use1-az4"
    )
    return {option_key(option()): found}


def cards(**changes):
    """The living card as it is shown, and the approvers' card."""
    asked = reservation(state=State.PENDING_APPROVAL, option=option())
    before = card(**changes)
    proposed = card(reservation=asked, proposal=proposal(), **changes)
    return [
        json.dumps(list(made.blocks), ensure_ascii=False)
        for made in (decision_card(before), decision_card(proposed), approval_card(proposed))
    ]


def test_what_will_be_shared_says_from_where_and_in_which_zone_it_is_launched() -> None:
    line = (
        "Bought in `payer`, shared with `vision-prod` (AWS RAM) once scheduled; launch from there"
        " in use1-az4"
    )
    assert all(line in said for said in cards(elsewhere=passage(Way.SHARED)))


@pytest.mark.parametrize(("hindrance", "where", "why"), STAYS)
def test_what_aws_does_not_share_is_said_with_what_to_do_instead(hindrance, where, why) -> None:
    for said in cards(elsewhere=passage(Way.STAYS, hindrance)):
        assert f"⚠ {where}, *can't be used from `vision-prod`*" in said
        assert why in said
        assert "take an option of `vision-prod`" in said


def test_an_organization_that_nobody_named_promises_nothing() -> None:
    unsure = passage(Way.UNSURE, Hindrance.ORGANIZATION_UNKNOWN)
    for said in cards(elsewhere=unsure):
        assert "is tried once it is scheduled" in said
        assert "which the administrator's file does not say" in said


def test_what_is_used_where_it_is_bought_needs_no_line() -> None:
    assert not any("vision-prod" in said for said in cards())
    other = {"payer|cb-9": passage(Way.SHARED)[option_key(option())]}
    assert not any("vision-prod" in said for said in cards(elsewhere=other))


def test_after_the_purchase_the_card_promises_no_more() -> None:
    bought = reservation(state=State.SCHEDULED, option=option())
    said = decision_card(card(reservation=bought, elsewhere=passage(Way.SHARED)))
    assert "vision-prod" not in json.dumps(list(said.blocks))


def test_a_plan_that_belongs_to_nobody_says_nothing_of_accounts() -> None:
    said = plan_card(decision(option()), "reserve 2x p5.48xlarge for 72h")
    assert "vision-prod" not in json.dumps(list(said.blocks))
