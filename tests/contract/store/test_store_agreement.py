"""SQLite and memory give the same answers to any run of operations."""

import tempfile
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from bot.domain.errors import GpuBotError
from bot.domain.lifecycle import ProposalState, PurchaseState, ReservationState
from bot.domain.records import MessageRef
from bot.ports import Transaction
from storage import open_store
from tests.contract.store.samples import (
    approval,
    at,
    delivery,
    due,
    entry,
    leg,
    money,
    proposal,
    purchase,
    receipt,
    reservation,
    saying,
)

few = st.integers(1, 3)
minutes = st.integers(0, 12)
keys = st.sampled_from(["a", "b", "c", "d"])
LEASE = timedelta(minutes=3)


class Agreement(RuleBasedStateMachine):
    """Every rule runs on both stores and compares what came back, errors included."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self._stores = (
            open_store("memory://"),
            open_store(f"sqlite:///{Path(self._folder.name) / 'gpubot.db'}"),
        )

    def teardown(self) -> None:
        for store in self._stores:
            store.close()
        self._folder.cleanup()

    def both(self, work: Any, *, fail: bool = False) -> None:
        answers: list[object] = []
        for store in self._stores:
            try:
                with store.transaction() as tx:
                    answers.append(_plain(work(tx)))
                    _stop(fail=fail)
            except GpuBotError as error:
                answers.append(type(error))
            except StopError:
                pass
        assert answers[0] == answers[1]

    @rule(who=few, owner=few, team=st.sampled_from([None, "x", "y"]), fail=st.booleans())
    def file(self, *, who: int, owner: int, team: str | None, fail: bool) -> None:
        new = reservation(requester=f"U{who}", owner=f"U{owner}", team=team)
        self.both(lambda tx: tx.reservations.add(new), fail=fail)

    @rule(which=few, revision=few, state=st.sampled_from(ReservationState))
    def save(self, which: int, revision: int, state: ReservationState) -> None:
        row = reservation(id=which, revision=revision, state=state)
        self.both(lambda tx: tx.reservations.save(row))

    @rule(which=few, state=st.sampled_from(ReservationState))
    def step(self, which: int, state: ReservationState) -> None:
        def work(tx: Transaction) -> object:
            stored = tx.reservations.get(which)
            return tx.reservations.save(stored.model_copy(update={"state": state}))

        self.both(work)

    @rule(
        states=st.none() | st.sets(st.sampled_from(ReservationState)),
        who=st.none() | few,
        team=st.sampled_from([None, "x", "y"]),
        newest_first=st.booleans(),
        limit=st.integers(1, 4),
        before=st.none() | st.integers(1, 6),
    )
    def list_them(
        self,
        *,
        states: set[ReservationState] | None,
        who: int | None,
        team: str | None,
        newest_first: bool,
        limit: int,
        before: int | None,
    ) -> None:
        self.both(
            lambda tx: tx.reservations.listing(
                states=states,
                requester=None if who is None else f"U{who}",
                team=team,
                newest_first=newest_first,
                limit=limit,
                before_id=before,
            )
        )

    @rule(which=few)
    def propose(self, which: int) -> None:
        self.both(lambda tx: (tx.proposals.add(proposal(which)), tx.proposals.current(which)))

    @rule(which=few, to=st.sampled_from(ProposalState))
    def settle_proposal(self, which: int, to: ProposalState) -> None:
        self.both(lambda tx: tx.proposals.move(proposal(1, id=which), to, note="n"))

    @rule(which=few, who=keys)
    def approve(self, which: int, who: str) -> None:
        self.both(
            lambda tx: (
                tx.proposals.give(approval(which, approver=who)),
                tx.proposals.given(which),
            )
        )

    @rule(name=keys, which=few, under=few, number=few, minute=minutes)
    def intend(self, name: str, which: int, under: int, number: int, minute: int) -> None:
        new = purchase(which, under, id=name, leg=leg(number=number), intended_at=at(minute))
        self.both(lambda tx: tx.purchases.add(new))

    @rule(name=keys, seen=st.sampled_from(PurchaseState), to=st.sampled_from(PurchaseState))
    def move_purchase(self, name: str, seen: PurchaseState, to: PurchaseState) -> None:
        row = purchase(1, 1, id=name, state=seen)
        self.both(lambda tx: tx.purchases.move(row, to, at=at(1), fee="7.10"))

    @rule(name=keys, to=st.sampled_from(PurchaseState))
    def move_current(self, name: str, to: PurchaseState) -> None:
        self.both(lambda tx: tx.purchases.move(tx.purchases.get(name), to, at=at(1)))

    @rule(name=keys, which=few, revision=st.integers(0, 2))
    def look(self, name: str, which: int, revision: int) -> None:
        self.both(lambda tx: tx.receipts.add(receipt(which, id=name)))
        self.both(lambda tx: tx.receipts.save(receipt(which, id=name, revision=revision)))

    @rule(key=keys, which=few, cents=few, minute=minutes)
    def hold(self, key: str, which: int, cents: int, minute: int) -> None:
        amount = Decimal(f"0.0{cents}")
        held = money(which, purchase_key=key, amount=amount, held_at=at(minute))
        self.both(lambda tx: tx.budget.hold(held))

    @rule(key=keys, cents=few)
    def settle(self, key: str, cents: int) -> None:
        self.both(lambda tx: tx.budget.settle(key, amount=f"0.0{cents}"))

    @rule(key=keys)
    def free(self, key: str) -> None:
        self.both(lambda tx: tx.budget.free(key))

    @rule(which=few, ref=keys, count=few, start=minutes, length=st.integers(0, 5))
    def lend(self, which: int, ref: str, count: int, start: int, length: int) -> None:
        self.both(
            lambda tx: tx.loans.hold(
                reservation_id=which,
                ref=ref,
                count=count,
                start=at(start),
                end=at(start + length),
                free=4,
            )
        )

    @rule(which=few)
    def release(self, which: int) -> None:
        self.both(lambda tx: tx.loans.release(which))

    @rule(key=keys, minute=minutes, subject=keys)
    def plan(self, key: str, minute: int, subject: str) -> None:
        self.both(lambda tx: tx.dues.plan(due(key, at=at(minute), subject=subject)))

    @rule(key=keys, minute=minutes, how=st.sampled_from(["move", "done", "put_back"]))
    def settle_due(self, key: str, minute: int, how: str) -> None:
        match how:
            case "move":
                self.both(lambda tx: tx.dues.move(key, at(minute)))
            case "done":
                self.both(lambda tx: tx.dues.done(key, at=at(minute)))
            case _:
                self.both(lambda tx: tx.dues.put_back(key, not_before=at(minute)))

    @rule(subject=keys, kinds=st.sampled_from([None, ["sweep"], ["other"]]))
    def withdraw(self, subject: str, kinds: list[str] | None) -> None:
        self.both(lambda tx: tx.dues.withdraw(subject, kinds=kinds))

    @rule(minute=minutes, limit=few, fail=st.booleans())
    def claim_dues(self, *, minute: int, limit: int, fail: bool) -> None:
        self.both(lambda tx: tx.dues.claim(now=at(minute), lease=LEASE, limit=limit), fail=fail)

    @rule(key=keys, thread=st.none() | keys, minute=minutes, later=st.none() | minutes)
    def put(self, key: str, thread: str | None, minute: int, later: int | None) -> None:
        not_before = None if later is None else at(later)
        said = saying(thread=thread)
        self.both(lambda tx: tx.outbox.put(key, said, at=at(minute), not_before=not_before))

    @rule(key=keys, words=keys, thread=st.none() | keys, minute=minutes)
    def redraw(self, key: str, words: str, thread: str | None, minute: int) -> None:
        self.both(lambda tx: tx.outbox.redraw(key, saying(words, thread=thread), at=at(minute)))

    @rule(minute=minutes, limit=few)
    def leave(self, minute: int, limit: int) -> None:
        self.both(lambda tx: tx.outbox.claim(now=at(minute), lease=LEASE, limit=limit))

    @rule(key=keys, minute=minutes, ts=st.none() | keys)
    def arrive(self, key: str, minute: int, ts: str | None) -> None:
        ref = None if ts is None else MessageRef(channel="C", ts=ts)
        self.both(lambda tx: tx.outbox.sent(key, at=at(minute), ref=ref))

    @rule(key=keys, minute=minutes, in_doubt=st.booleans(), drop=st.booleans())
    def fail_to_arrive(self, *, key: str, minute: int, in_doubt: bool, drop: bool) -> None:
        if drop:
            self.both(lambda tx: tx.outbox.drop(key, at=at(minute), error="e"))
        else:
            self.both(
                lambda tx: tx.outbox.put_back(
                    key, not_before=at(minute), in_doubt=in_doubt, error="e"
                )
            )

    @rule(key=keys, late=st.booleans())
    def deliver(self, *, key: str, late: bool) -> None:
        new = delivery(key, late=late)
        one, two = (store.record(new, patience=timedelta(seconds=9)) for store in self._stores)
        assert one == two

    @rule(which=few, minute=minutes, how=st.sampled_from(["claim", "done", "confirm"]))
    def work_on(self, which: int, minute: int, how: str) -> None:
        match how:
            case "claim":
                self.both(lambda tx: tx.inbox.claim(now=at(minute), lease=LEASE, limit=2))
            case "done":
                self.both(lambda tx: tx.inbox.done(which, outcome="o"))
            case _:
                self.both(lambda tx: tx.inbox.confirm(which))

    @rule(which=few, name=keys)
    def note(self, which: int, name: str) -> None:
        self.both(lambda tx: tx.audit.append(entry(reservation_id=which, action=name)))
        self.both(lambda tx: tx.facts.put(name, str(which), at=at(0)))

    @invariant()
    def all_views_agree(self) -> None:
        views = []
        for store in self._stores:
            with store.reading() as tx:
                views.append(_view(tx))
        assert views[0] == views[1]


class StopError(Exception):
    """The fault that a rule injects after its work."""


def _stop(*, fail: bool) -> None:
    if fail:
        raise StopError


def _plain(answer: object) -> object:
    if isinstance(answer, tuple):
        return tuple(_plain(one) for one in answer)
    return answer


def _view(tx: Transaction) -> list[object]:
    names = ("a", "b", "c", "d")
    return [
        tx.purchases.recent(),
        tx.purchases.in_state(list(PurchaseState)),
        *(tx.purchases.of(which) for which in (1, 2, 3)),
        *(tx.receipts.of(which) for which in (1, 2, 3)),
        tx.budget.entries(),
        tx.budget.entries(team="vision", since=at(2), until=at(5)),
        *(tx.loans.held(ref, start=at(2), end=at(9)) for ref in names),
        tx.dues.next_at(),
        tx.dues.waiting(now=at(6)),
        tx.outbox.next_at(),
        tx.outbox.waiting(now=at(6)),
        *(tx.outbox.where(key) for key in names),
        tx.inbox.waiting(),
        *(tx.audit.of(which, limit=3) for which in (1, 2, 3)),
        tx.audit.verify(),
        dict(tx.facts.starting_with("")),
    ]


@pytest.mark.filterwarnings("ignore::hypothesis.errors.NonInteractiveExampleWarning")
def test_sqlite_and_memory_agree_on_any_run_of_operations() -> None:
    run_state_machine_as_test(  # type: ignore[no-untyped-call]  # hypothesis leaves it untyped
        Agreement,
        settings=settings(
            max_examples=12,
            stateful_step_count=40,
            phases=(Phase.generate,),
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
