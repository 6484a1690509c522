"""A stored decision holds all that it was made of: made again, it is the same to the byte."""

from datetime import timedelta
from decimal import Decimal

from bot.catalog import packaged
from bot.domain.market import Market
from bot.engine.deciding import decide
from tests.fakes.clock import NOW
from tests.services.money.stage import FEE, OTHER, REQ, World, asap, block, configuration, owned


def test_a_decision_on_what_somebody_else_holds_is_made_again_from_its_record():
    held = owned(owner=OTHER, start=NOW - timedelta(days=1), end=NOW + timedelta(days=9))
    world = World(market=Market(as_of=NOW, offerings=(block(),), owned=(held,)))
    number = world.quoted(asap()).id
    with world.store.reading() as tx:
        record = tx.decisions.latest(number)
    assert record is not None
    assert record.requester == REQ
    again = decide(
        record.request,
        record.market,
        record.rules,
        now=record.decided_at,
        zone=record.zone,
        catalog=packaged(),
        requester=record.requester,
    )
    assert again.model_dump_json() == record.decision.model_dump_json()
    assert "owner_must_agree" in {note.code for one in again.options for note in one.warnings}


def test_at_one_price_the_account_that_the_team_uses_is_taken_and_made_again():
    base = configuration()
    home = base.accounts[0].model_copy(update={"name": "vision-prod", "account_id": "4" * 12})
    team = base.teams[0].model_copy(update={"account": "vision-prod"})
    elsewhere, at_home = block("cb-0"), block("cb-9", account="vision-prod")
    world = World(
        configuration=base.model_copy(
            update={"accounts": (*base.accounts, home), "teams": (team,)}
        ),
        market=Market(as_of=NOW, offerings=(elsewhere, at_home)),
    )
    number = world.quoted(asap()).id
    with world.store.reading() as tx:
        record = tx.decisions.latest(number)
    assert record is not None
    assert record.decision.options[0].account == "vision-prod"
    assert "vision" not in record.decision.options[1].account
    stored, again, today = world.quoting.replay(number)
    assert again == today == stored.decision


def test_a_lower_price_wins_over_the_teams_own_account():
    base = configuration()
    home = base.accounts[0].model_copy(update={"name": "vision-prod", "account_id": "4" * 12})
    team = base.teams[0].model_copy(update={"account": "vision-prod"})
    dear = block("cb-9", account="vision-prod", upfront_fee=FEE + Decimal("0.01"))
    world = World(
        configuration=base.model_copy(
            update={"accounts": (*base.accounts, home), "teams": (team,)}
        ),
        market=Market(as_of=NOW, offerings=(dear, block("cb-0"))),
    )
    number = world.quoted(asap()).id
    with world.store.reading() as tx:
        record = tx.decisions.latest(number)
    assert record is not None
    assert record.decision.options[0].account == "research"
