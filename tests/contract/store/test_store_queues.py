"""What falls due, what is to be said and what came in, over every store."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from bot.domain.errors import UnknownRecordError
from bot.domain.records import MessageRef
from bot.ports import Outgoing, Store
from tests.contract.store.samples import NOW, at, delivery, due, saying

LEASE = timedelta(minutes=5)
CARD = MessageRef(channel="C1", ts="1700000000.000100")


def _dues(store: Store, minutes: float, limit: int = 10) -> list[str]:
    with store.transaction() as tx:
        return [one.key for one in tx.dues.claim(now=at(minutes), lease=LEASE, limit=limit)]


def test_a_due_is_planned_once_even_after_it_is_done(store: Store) -> None:
    with store.transaction() as tx:
        assert tx.dues.plan(due())
        assert not tx.dues.plan(due(at=at(5)))
        tx.dues.done("due-1", at=at(1))
        assert not tx.dues.plan(due())
    assert _dues(store, 60) == []


def test_a_due_comes_back_as_it_was_planned(store: Store) -> None:
    planned = due(argument="x", stale_after=at(60), at=at(0.001))
    with store.transaction() as tx:
        tx.dues.plan(planned)
        assert tx.dues.claim(now=at(0), lease=LEASE, limit=1) == ()
        assert tx.dues.claim(now=at(0.001), lease=LEASE, limit=1) == (planned,)


def test_dues_are_claimed_oldest_first_up_to_the_limit(store: Store) -> None:
    with store.transaction() as tx:
        for key, minutes in (("c", 3), ("a", 1), ("b", 2), ("d", 9), ("a2", 1)):
            tx.dues.plan(due(key, at=at(minutes)))
    assert _dues(store, 5, limit=3) == ["a", "a2", "b"]
    assert _dues(store, 5) == ["c"]
    assert _dues(store, 5) == []


def test_a_claimed_due_is_free_again_when_its_lease_has_passed(store: Store) -> None:
    with store.transaction() as tx:
        tx.dues.plan(due())
    assert _dues(store, 0) == ["due-1"]
    assert _dues(store, 4.999) == []
    assert _dues(store, 5) == ["due-1"]


def test_a_moved_due_falls_due_at_its_new_time(store: Store) -> None:
    with store.transaction() as tx:
        tx.dues.plan(due())
        tx.dues.move("due-1", at(30))
        tx.dues.move("unknown", at(30))
        assert tx.dues.next_at() == at(30)
    assert _dues(store, 29) == []
    assert _dues(store, 30) == ["due-1"]
    with store.transaction() as tx:
        tx.dues.done("due-1", at=at(30))
        tx.dues.move("due-1", at(31))
    assert _dues(store, 60) == []


def test_a_due_that_is_moved_while_claimed_comes_again(store: Store) -> None:
    with store.transaction() as tx:
        tx.dues.plan(due())
    assert _dues(store, 0) == ["due-1"]
    with store.transaction() as tx:
        tx.dues.move("due-1", at(1))
    assert _dues(store, 1) == ["due-1"]


def test_a_due_that_is_put_back_keeps_its_own_time(store: Store) -> None:
    with store.transaction() as tx:
        tx.dues.plan(due())
        tx.dues.claim(now=at(0), lease=LEASE, limit=1)
        tx.dues.put_back("due-1", not_before=at(2))
        assert tx.dues.next_at() == at(2)
        assert tx.dues.claim(now=at(1.9), lease=LEASE, limit=1) == ()
        assert tx.dues.claim(now=at(2), lease=LEASE, limit=1) == (due(),)
        tx.dues.done("due-1", at=at(2))
        tx.dues.put_back("due-1", not_before=at(3))
        assert tx.dues.claim(now=at(60), lease=LEASE, limit=1) == ()


def test_withdrawn_dues_never_come(store: Store) -> None:
    with store.transaction() as tx:
        tx.dues.plan(due("a", subject="gpu-1", kind="remind"))
        tx.dues.plan(due("b", subject="gpu-1", kind="sweep"))
        tx.dues.plan(due("c", subject="gpu-2", kind="remind"))
        tx.dues.plan(due("d", subject="gpu-1", kind="remind"))
        tx.dues.done("d", at=at(0))
        assert tx.dues.withdraw("gpu-1", kinds=["remind"]) == 1
        assert tx.dues.withdraw("gpu-1", kinds=[]) == 0
        assert not tx.dues.plan(due("a"))
    assert _dues(store, 1) == ["b", "c"]
    with store.transaction() as tx:
        assert tx.dues.withdraw("gpu-1") == 1
        tx.dues.done("b", at=at(1))
    assert _dues(store, 60) == ["c"]


def test_what_is_not_done_is_counted_and_its_time_told(store: Store) -> None:
    with store.transaction() as tx:
        assert tx.dues.next_at() is None
        tx.dues.plan(due("a", at=at(1)))
        tx.dues.plan(due("b", at=at(2)))
        tx.dues.claim(now=at(1), lease=LEASE, limit=1)
        assert tx.dues.next_at() == at(1)
        assert [tx.dues.waiting(now=at(minutes)) for minutes in (0, 1, 2)] == [0, 1, 2]
        tx.dues.done("a", at=at(1))
        assert tx.dues.next_at() == at(2)
        assert tx.dues.waiting(now=at(2)) == 1


def _leave(store: Store, minutes: float = 0, limit: int = 10) -> Sequence[Outgoing]:
    with store.transaction() as tx:
        return tx.outbox.claim(now=at(minutes), lease=LEASE, limit=limit)


def _keys(store: Store, minutes: float = 0, limit: int = 10) -> list[str]:
    return [one.key for one in _leave(store, minutes, limit)]


def test_a_message_is_queued_once_and_comes_back_equal(store: Store) -> None:
    with store.transaction() as tx:
        assert tx.outbox.put("n", saying("first"), at=at(0))
        assert not tx.outbox.put("n", saying("second"), at=at(1))
    (message,) = _leave(store)
    assert message.announcement == saying("first")
    assert (message.attempt, message.in_doubt, message.created_at) == (1, False, at(0))
    with store.transaction() as tx:
        tx.outbox.sent("n", at=at(0), ref=CARD)
        assert not tx.outbox.put("n", saying(), at=at(2))
    assert _keys(store, 60) == []


def test_a_message_may_be_put_in_for_later(store: Store) -> None:
    with store.transaction() as tx:
        tx.outbox.put("n", saying(), at=at(0), not_before=at(10))
        assert tx.outbox.next_at() == at(10)
        assert [tx.outbox.waiting(now=at(minutes)) for minutes in (9, 10)] == [0, 1]
    assert _keys(store, 9.999) == []
    assert _keys(store, 10) == ["n"]


def test_a_lane_lets_one_message_out_at_a_time_and_in_order(store: Store) -> None:
    with store.transaction() as tx:
        tx.outbox.put("card", saying(), at=at(0))
        tx.outbox.put("n1", saying(thread="card"), at=at(0))
        tx.outbox.put("n2", saying(thread="card"), at=at(0))
        tx.outbox.put("other", saying(), at=at(0))
    assert _keys(store) == ["card", "other"]
    assert _keys(store) == []
    for key in ("card", "n1"):
        with store.transaction() as tx:
            tx.outbox.sent(key, at=at(0), ref=CARD)
        assert _keys(store) == ["n1" if key == "card" else "n2"]


def test_a_message_that_failed_holds_up_its_lane_only(store: Store) -> None:
    with store.transaction() as tx:
        for key, thread in (("n1", "card"), ("n2", "card"), ("m", "other")):
            tx.outbox.put(key, saying(thread=thread), at=at(0))
    assert _keys(store, limit=1) == ["n1"]
    with store.transaction() as tx:
        tx.outbox.put_back("n1", not_before=at(9), in_doubt=False, error="ratelimited")
    assert _keys(store, 1) == ["m"]
    with store.transaction() as tx:
        tx.outbox.sent("m", at=at(1), ref=CARD)
    assert _keys(store, 9) == ["n1"]


def test_what_stands_behind_a_message_for_later_is_no_backlog(store: Store) -> None:
    with store.transaction() as tx:
        for key, thread in (("n1", "card"), ("n2", "card"), ("m", "other")):
            tx.outbox.put(key, saying(thread=thread), at=at(0))
        tx.outbox.put("late", saying(), at=at(0), not_before=at(60))
        tx.outbox.put("note", saying(thread="late"), at=at(0))
    assert _keys(store, limit=1) == ["n1"]
    with store.transaction() as tx:
        assert tx.outbox.waiting(now=at(0)) == 3
        tx.outbox.put_back("n1", not_before=at(9), in_doubt=False, error="ratelimited")
        assert [tx.outbox.waiting(now=at(minutes)) for minutes in (0, 9, 60)] == [1, 3, 5]


def test_a_message_for_later_does_not_hold_up_its_lane(store: Store) -> None:
    with store.transaction() as tx:
        tx.outbox.put("later", saying(thread="card"), at=at(0), not_before=at(60))
        tx.outbox.put("now", saying(thread="card"), at=at(0))
        assert tx.outbox.next_at() == at(0)
    assert _keys(store) == ["now"]


def test_a_message_that_falls_due_waits_while_its_lane_is_out(store: Store) -> None:
    with store.transaction() as tx:
        tx.outbox.put("later", saying(thread="card"), at=at(0), not_before=at(2))
        tx.outbox.put("now", saying(thread="card"), at=at(0))
    assert _keys(store, 1) == ["now"]
    assert _keys(store, 2) == []
    with store.transaction() as tx:
        assert tx.outbox.next_at() == at(6)
        tx.outbox.sent("now", at=at(2), ref=CARD)
    assert _keys(store, 2) == ["later"]


def test_a_note_waits_for_its_card_whenever_that_may_leave(store: Store) -> None:
    with store.transaction() as tx:
        tx.outbox.put("card", saying(), at=at(0), not_before=at(60))
        tx.outbox.put("note", saying(thread="card"), at=at(0))
        assert tx.outbox.next_at() == at(60)
    assert _keys(store, 1) == []
    assert _keys(store, 60) == ["card"]


def test_a_note_leaves_when_its_card_was_given_up(store: Store) -> None:
    with store.transaction() as tx:
        tx.outbox.put("card", saying(), at=at(0))
        tx.outbox.put("note", saying(thread="card"), at=at(0))
        tx.outbox.claim(now=at(0), lease=LEASE, limit=1)
        tx.outbox.drop("card", at=at(0), error="channel_not_found")
        assert tx.outbox.where("card") is None
    assert _keys(store, 1) == ["note"]


def test_a_message_is_in_doubt_from_the_moment_it_may_leave(store: Store) -> None:
    with store.transaction() as tx:
        tx.outbox.put("n", saying(), at=at(0))
    assert [(one.attempt, one.in_doubt) for one in _leave(store, 0)] == [(1, False)]
    assert _leave(store, 4) == ()
    assert [(one.attempt, one.in_doubt) for one in _leave(store, 5)] == [(2, True)]
    with store.transaction() as tx:
        tx.outbox.put_back("n", not_before=at(6), in_doubt=False, error="not_in_channel")
        assert tx.outbox.next_at() == at(6)
    assert [(one.attempt, one.in_doubt) for one in _leave(store, 6)] == [(3, False)]
    with store.transaction() as tx:
        tx.outbox.put_back("n", not_before=at(7), in_doubt=True, error="timeout")
    assert [(one.attempt, one.in_doubt) for one in _leave(store, 7)] == [(4, True)]


def test_what_is_out_may_leave_again_when_its_lease_ends(store: Store) -> None:
    with store.transaction() as tx:
        assert tx.outbox.next_at() is None
        tx.outbox.put("card", saying(), at=at(0))
        tx.outbox.put("note", saying(thread="card"), at=at(0))
        tx.outbox.claim(now=at(0), lease=LEASE, limit=1)
        assert tx.outbox.next_at() == at(5)
        assert tx.outbox.waiting(now=at(0)) == 2


def test_waiting_redraws_merge_into_the_newest(store: Store) -> None:
    with store.transaction() as tx:
        for words in ("one", "two", "three"):
            tx.outbox.redraw("card", saying(words), at=at(0))
    messages = _leave(store)
    assert [one.announcement for one in messages] == [saying("three")]


def test_a_redraw_keeps_the_place_of_the_first_post(store: Store) -> None:
    with store.transaction() as tx:
        tx.outbox.redraw("card", saying("one"), at=at(0))
        tx.outbox.claim(now=at(0), lease=LEASE, limit=1)
        tx.outbox.sent("card", at=at(0), ref=CARD)
        tx.outbox.redraw("card", saying("two"), at=at(1))
        assert tx.outbox.where("card") == CARD
    (message,) = _leave(store, 1)
    assert (message.attempt, message.in_doubt) == (1, False)
    assert message.announcement == saying("two")
    with store.transaction() as tx:
        tx.outbox.sent("card", at=at(1), ref=None)
        assert tx.outbox.where("card") == CARD
    assert _keys(store, 60) == []


def test_a_redraw_that_comes_while_it_is_out_is_drawn_afterwards(store: Store) -> None:
    with store.transaction() as tx:
        tx.outbox.redraw("card", saying("one"), at=at(0))
    _leave(store)
    with store.transaction() as tx:
        tx.outbox.redraw("card", saying("two"), at=at(1))
    assert _keys(store, 1) == []
    with store.transaction() as tx:
        tx.outbox.sent("card", at=at(1), ref=CARD)
    (message,) = _leave(store, 1)
    assert (message.announcement, message.in_doubt) == (saying("two"), False)
    with store.transaction() as tx:
        tx.outbox.sent("card", at=at(1), ref=CARD)
    assert _keys(store, 60) == []


def test_a_redraw_after_a_post_in_doubt_is_still_in_doubt(store: Store) -> None:
    with store.transaction() as tx:
        tx.outbox.redraw("card", saying("one"), at=at(0))
        tx.outbox.claim(now=at(0), lease=LEASE, limit=1)
        tx.outbox.drop("card", at=at(1), error="timeout")
        tx.outbox.redraw("card", saying("two"), at=at(2))
    (message,) = _leave(store, 2)
    assert (message.in_doubt, message.created_at) == (True, at(0))


def test_a_redraw_that_came_meanwhile_survives_a_drop(store: Store) -> None:
    with store.transaction() as tx:
        tx.outbox.redraw("card", saying("one"), at=at(0))
        tx.outbox.claim(now=at(0), lease=LEASE, limit=1)
        tx.outbox.redraw("card", saying("two"), at=at(1))
        tx.outbox.drop("card", at=at(1), error="invalid_blocks")
    assert [one.announcement for one in _leave(store, 1)] == [saying("two")]


def test_a_dropped_message_stays_dropped(store: Store) -> None:
    with store.transaction() as tx:
        tx.outbox.put("n", saying(), at=at(0))
        tx.outbox.drop("n", at=at(1), error="channel_not_found")
        tx.outbox.put_back("n", not_before=at(1), in_doubt=False, error="late")
        assert not tx.outbox.put("n", saying(), at=at(2))
        assert tx.outbox.where("n") is None
        assert tx.outbox.next_at() is None
    assert _keys(store, 60) == []


def test_settling_an_unknown_message_changes_nothing(store: Store) -> None:
    with store.transaction() as tx:
        tx.outbox.sent("n", at=at(0), ref=CARD)
        tx.outbox.drop("n", at=at(0), error="x")
        tx.outbox.put_back("n", not_before=at(0), in_doubt=True, error="x")
        assert tx.outbox.where("n") is None
        assert tx.outbox.put("n", saying(), at=at(0))


def test_deliveries_are_worked_on_oldest_first_and_once(store: Store) -> None:
    for number in range(3):
        assert store.record(delivery(f"t-{number}"), patience=LEASE)
    with store.transaction() as tx:
        assert tx.inbox.waiting() == 3
        first = tx.inbox.claim(now=NOW, lease=LEASE, limit=2)
        rest = tx.inbox.claim(now=NOW, lease=LEASE, limit=2)
        assert [one.key for one in (*first, *rest)] == ["t-0", "t-1", "t-2"]
        assert first[0] == delivery("t-0", id=1) == tx.inbox.get(1)
        tx.inbox.done(1, outcome="answered")
        assert tx.inbox.waiting() == 2
        assert [one.id for one in tx.inbox.claim(now=at(5), lease=LEASE, limit=9)] == [2, 3]


def test_a_delivery_is_recorded_once_even_after_it_is_done(store: Store) -> None:
    assert store.record(delivery(), patience=LEASE)
    assert not store.record(delivery(body="{}"), patience=LEASE)
    with store.transaction() as tx:
        tx.inbox.done(1, outcome="answered")
    assert not store.record(delivery(), patience=LEASE)
    with store.reading() as tx:
        assert tx.inbox.get(1) == delivery(id=1)
        assert tx.inbox.waiting() == 0


def test_a_repeated_delivery_uses_up_no_number(store: Store) -> None:
    for key in ("a", "a", "b"):
        store.record(delivery(key), patience=LEASE)
    with store.reading() as tx:
        assert tx.inbox.get(2) == delivery("b", id=2)


def test_a_late_delivery_waits_for_its_confirmation(store: Store) -> None:
    store.record(delivery(late=True), patience=LEASE)
    with store.transaction() as tx:
        assert tx.inbox.waiting() == 0
        assert tx.inbox.claim(now=at(60), lease=LEASE, limit=9) == ()
        assert tx.inbox.confirm(1)
        assert not tx.inbox.confirm(1)
        assert tx.inbox.claim(now=NOW, lease=LEASE, limit=9) == (delivery(id=1),)


def test_a_punctual_or_settled_delivery_is_not_confirmed(store: Store) -> None:
    store.record(delivery("a"), patience=LEASE)
    store.record(delivery("b", late=True), patience=LEASE)
    with store.transaction() as tx:
        tx.inbox.done(2, outcome="too old")
        assert [tx.inbox.confirm(number) for number in (1, 2, 3)] == [False, False, False]


def test_an_unknown_delivery_is_said_to_be_unknown(store: Store) -> None:
    with store.reading() as tx, pytest.raises(UnknownRecordError):
        tx.inbox.get(1)
