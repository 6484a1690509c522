"""A copy of a card shows what a team has left to those who are in it, and to nobody else."""

import json

import pytest

from bot.services.words.views import Views
from handlers.cards.decision import decision_card
from tests.services.money.stage import ADMIN, APP1, OTHER, REQ, World


@pytest.mark.parametrize(
    ("reader", "sees"), [(REQ, True), (ADMIN, True), (OTHER, False), (APP1, False)]
)
def test_what_a_team_has_left_is_shown_to_its_own(reader, sees):
    world = World()
    reservation = world.quoted()
    views = Views(
        store=world.store,
        clock=world.clock,
        verifying=world.approving.verifying,
        configuration=world.configuration,
    )
    assert views.card(reservation.id).budget_left is not None
    view = views.copy(reservation.id, reader=reader)
    assert (view.budget_left is not None) is sees
    text = json.dumps(list(decision_card(view, live=False).blocks))
    assert ("Budget left" in text) is sees
