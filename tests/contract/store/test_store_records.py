"""Reservations, decisions, proposals and approvals, over every store."""

import pytest

from bot.domain.errors import BugError, ConflictError, StateError, UnknownRecordError
from bot.domain.lifecycle import LIVE_RESERVATIONS, ProposalState, ReservationState
from bot.ports import Store
from tests.contract.store.samples import (
    approval,
    at,
    decision,
    proposal,
    proposed,
    reservation,
)

QUOTED = ReservationState.QUOTED


def test_a_new_reservation_gets_the_next_id_and_revision_one(store: Store) -> None:
    with store.transaction() as tx:
        stored = [tx.reservations.add(reservation()) for _ in range(2)]
    assert [(one.id, one.revision) for one in stored] == [(1, 1), (2, 1)]


def test_a_reservation_comes_back_equal(store: Store) -> None:
    with store.transaction() as tx:
        stored = tx.reservations.add(reservation())
    with store.reading() as tx:
        assert tx.reservations.get(stored.id) == stored
    assert stored == reservation(id=stored.id, revision=1)


def test_a_stored_reservation_cannot_be_added_again(store: Store) -> None:
    with store.transaction() as tx:
        stored = tx.reservations.add(reservation())
        with pytest.raises(BugError):
            tx.reservations.add(stored)


def test_an_unknown_reservation_is_said_to_be_unknown(store: Store) -> None:
    with store.transaction() as tx:
        with pytest.raises(UnknownRecordError, match="gpu-7"):
            tx.reservations.get(7)
        with pytest.raises(UnknownRecordError, match="gpu-7"):
            tx.reservations.save(reservation(id=7, revision=1))


def test_saving_raises_the_revision(store: Store) -> None:
    with store.transaction() as tx:
        first = tx.reservations.add(reservation())
        second = tx.reservations.save(first.model_copy(update={"state": QUOTED}))
    with store.reading() as tx:
        assert tx.reservations.get(first.id) == second
    assert second.revision == 2


def test_a_stale_writer_loses(store: Store) -> None:
    with store.transaction() as tx:
        first = tx.reservations.add(reservation())
        tx.reservations.save(first.model_copy(update={"note": "one"}))
    with store.transaction() as tx, pytest.raises(ConflictError):
        tx.reservations.save(first.model_copy(update={"note": "two"}))
    with store.reading() as tx:
        assert tx.reservations.get(first.id).note == "one"


def test_a_stale_writer_hears_of_the_conflict_and_not_of_the_step(store: Store) -> None:
    with store.transaction() as tx:
        first = tx.reservations.add(reservation())
        tx.reservations.save(first.model_copy(update={"state": ReservationState.CANCELLED}))
        with pytest.raises(ConflictError):
            tx.reservations.save(first.model_copy(update={"state": QUOTED}))


def test_a_step_that_is_not_in_the_table_is_refused(store: Store) -> None:
    with store.transaction() as tx:
        first = tx.reservations.add(reservation())
        with pytest.raises(StateError):
            tx.reservations.save(first.model_copy(update={"state": ReservationState.ACTIVE}))
        assert tx.reservations.get(first.id) == first


def _fill(store: Store) -> None:
    cancelled = ReservationState.CANCELLED
    with store.transaction() as tx:
        for number in range(1, 13):
            stored = tx.reservations.add(
                reservation(
                    requester=f"U{number % 3}",
                    owner=f"U{number % 4}",
                    team=[None, "vision", "speech"][number % 3],
                )
            )
            if number % 2:
                tx.reservations.save(stored.model_copy(update={"state": cancelled}))


def _ids(store: Store, **terms: object) -> list[int]:
    with store.reading() as tx:
        return [one.id for one in tx.reservations.listing(**terms)]  # type: ignore[arg-type]  # terms vary by test


def test_a_listing_shows_the_newest_first(store: Store) -> None:
    _fill(store)
    assert _ids(store) == list(range(12, 0, -1))
    assert _ids(store, newest_first=False) == list(range(1, 13))


def test_a_listing_pages_without_a_gap_or_a_repeat(store: Store) -> None:
    _fill(store)
    assert _ids(store, limit=5) == [12, 11, 10, 9, 8]
    assert _ids(store, limit=5, before_id=8) == [7, 6, 5, 4, 3]
    assert _ids(store, limit=5, before_id=3) == [2, 1]
    assert _ids(store, limit=5, before_id=5, newest_first=False) == [6, 7, 8, 9, 10]


def test_a_listing_by_requester_also_finds_what_one_owns(store: Store) -> None:
    _fill(store)
    assert _ids(store, requester="U1") == [13 - n for n in (3, 4, 6, 8, 9, 12)]
    assert _ids(store, requester="U3") == [11, 7, 3]
    assert _ids(store, requester="U1", limit=2, before_id=9) == [7, 5]


def test_a_listing_filters_by_state_and_team(store: Store) -> None:
    _fill(store)
    assert _ids(store, states=LIVE_RESERVATIONS) == [12, 10, 8, 6, 4, 2]
    assert _ids(store, team="vision") == [10, 7, 4, 1]
    assert _ids(store, team="vision", states=LIVE_RESERVATIONS, limit=1) == [10]
    assert _ids(store, requester="U1", team="vision", states={ReservationState.CANCELLED}) == [
        7,
        1,
    ]
    assert _ids(store, states=()) == []


def test_the_same_line_of_the_same_person_is_found_since_a_moment(store: Store) -> None:
    with store.transaction() as tx:
        tx.reservations.add(reservation(created_at=at(0)))
        newest = tx.reservations.add(reservation(created_at=at(1)))
        tx.reservations.add(reservation(created_at=at(2), line="other"))
        tx.reservations.add(reservation(created_at=at(2), requester="U2"))

    def found(minutes: float, who: str = "U1") -> object:
        with store.reading() as tx:
            return tx.reservations.same_line(
                requester=who, line=reservation().line, since=at(minutes)
            )

    assert found(-5) == newest
    assert found(1) == newest
    assert found(1.001) is None
    assert found(0, "U3") is None


def test_a_decision_comes_back_exactly_with_its_evidence(store: Store) -> None:
    with store.transaction() as tx:
        stored = tx.reservations.add(reservation())
        tx.decisions.add(decision(stored.id))
        tx.decisions.add(decision(stored.id, version=2))
    with store.reading() as tx:
        assert tx.decisions.latest(stored.id) == decision(stored.id, version=2)
        assert tx.decisions.latest(99) is None


def test_a_decision_is_shown_without_its_evidence(store: Store) -> None:
    with store.transaction() as tx:
        stored = tx.reservations.add(reservation())
        assert tx.decisions.shown(stored.id) is None
        for minutes in (1, 2):
            tx.decisions.add(decision(stored.id, decided_at=at(minutes)))
        shown = tx.decisions.shown(stored.id)
    assert shown is not None
    assert (shown.decided_at, shown.decision) == (at(2), decision(stored.id).decision)


def test_a_decision_belongs_to_a_reservation(store: Store) -> None:
    with store.transaction() as tx, pytest.raises(UnknownRecordError):
        tx.decisions.add(decision(1))


def test_a_reservation_has_one_open_proposal(store: Store) -> None:
    with store.transaction() as tx:
        reservation_id, first = proposed(tx)
        with pytest.raises(ConflictError):
            tx.proposals.add(proposal(reservation_id))
        tx.proposals.move(tx.proposals.get(first), ProposalState.SUPERSEDED)
        second = tx.proposals.add(proposal(reservation_id))
    with store.reading() as tx:
        assert tx.proposals.current(reservation_id) == second
        assert tx.proposals.current(99) is None


def test_a_proposal_is_settled_once(store: Store) -> None:
    with store.transaction() as tx:
        _, proposal_id = proposed(tx)
        opened = tx.proposals.get(proposal_id)
        moved = tx.proposals.move(opened, ProposalState.APPROVED, note="by policy")
    assert (moved.state, moved.note) == (ProposalState.APPROVED, "by policy")
    with store.transaction() as tx:
        with pytest.raises(ConflictError):
            tx.proposals.move(opened, ProposalState.DENIED)
        assert tx.proposals.get(proposal_id) == moved


def test_a_proposal_is_never_opened_again(store: Store) -> None:
    with store.transaction() as tx:
        _, proposal_id = proposed(tx)
        with pytest.raises(StateError):
            tx.proposals.move(tx.proposals.get(proposal_id), ProposalState.OPEN)


def test_an_unknown_proposal_is_said_to_be_unknown(store: Store) -> None:
    with store.transaction() as tx:
        with pytest.raises(UnknownRecordError):
            tx.proposals.get(5)
        with pytest.raises(UnknownRecordError):
            tx.proposals.give(approval(5))
        with pytest.raises(UnknownRecordError):
            tx.proposals.add(proposal(5))


def test_a_person_answers_a_proposal_once(store: Store) -> None:
    with store.transaction() as tx:
        _, proposal_id = proposed(tx)
        tx.proposals.give(approval(proposal_id, approver="U9"))
        tx.proposals.give(approval(proposal_id, approver="U8", verdict="deny", reason="dear"))
        with pytest.raises(ConflictError):
            tx.proposals.give(approval(proposal_id, verdict="deny"))
    with store.reading() as tx:
        given = tx.proposals.given(proposal_id)
    assert given == (
        approval(proposal_id, approver="U9"),
        approval(proposal_id, approver="U8", verdict="deny", reason="dear"),
    )
