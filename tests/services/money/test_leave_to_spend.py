"""The last guard judges by the records alone, whatever wrote them."""

import pytest

from bot.domain.lifecycle import ProposalState, ReservationState
from bot.domain.records import Approval
from bot.services.commitments.spending import Leave, Stop, leave
from tests.services.money.stage import APP1, World


@pytest.mark.parametrize(
    ("agreed", "moved", "version", "may"),
    [
        (True, True, 1, True),
        (True, False, 1, False),
        (False, True, 1, False),
        (True, True, 2, False),
    ],
)
def test_only_an_agreed_and_approved_proposal_for_this_very_version_is_leave(
    agreed, moved, version, may
):
    world = World()
    proposal = world.proposed()
    now = world.clock.now()
    with world.store.transaction() as tx:
        reservation = tx.reservations.get(proposal.reservation_id)
        change = {"state": ReservationState.APPROVED, "version": version}
        tx.reservations.save(reservation.model_copy(update=change))
        if agreed:
            tx.proposals.give(
                Approval(
                    proposal_id=proposal.id,
                    approver=APP1,
                    verdict="approve",
                    at=now,
                    fee=proposal.ceiling,
                )
            )
        if moved:
            tx.proposals.move(proposal, ProposalState.APPROVED)
        found = leave(tx, proposal.reservation_id, configuration=world.configuration, now=now)
    assert isinstance(found, Leave) == may
    assert may or found is Stop.NOT_APPROVED
