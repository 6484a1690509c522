"""A stored decision holds all that it was made of: made again, it is the same to the byte."""

from datetime import timedelta

from bot.catalog import packaged
from bot.domain.market import Market
from bot.engine.deciding import decide
from tests.fakes.clock import NOW
from tests.services.money.stage import OTHER, REQ, World, asap, block, owned


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
