"""Extensions allowed ahead: used by themselves, told before and after, and never past the sum."""

from datetime import timedelta
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.domain.errors import NotAllowedError, UserError
from bot.domain.lifecycle import ReservationState
from bot.domain.records import LegPurpose, Switch
from bot.services.reservations.permissions import PROLONG_BEFORE, permission_of, prolong_due
from tests.services.after.after_world import phrase_text, stores
from tests.services.after.extend_world import END, MORE, ExtendWorld
from tests.services.money.stage import ADMIN, APP1, APP2, OTHER, REQ

LAST = END - timedelta(minutes=30)
WHEN = LAST - PROLONG_BEFORE
SUM = Decimal(5000)


@pytest.fixture(params=["memory", "sqlite"])
def world(request, tmp_path):
    world = ExtendWorld(url=stores(tmp_path)[request.param])
    yield world
    world.store.close()


def permitted(world, amount: Decimal = SUM) -> int:
    number = world.block_held()
    world.after.permit(number, up_to_usd=amount, by=APP1)
    return number


def until(world, moment) -> None:
    world.run(moment - world.clock.now())


def extensions(world) -> list:
    return [call for call in world.aws.calls if call.leg.purpose is LegPurpose.EXTENSION]


def paid_and_moved(world) -> None:
    world.aws.pay()
    world.run(timedelta(minutes=20))


def told(world, user: str) -> str:
    """Return all that one person was told by direct message."""
    world.said()
    return "\n".join(
        "".join(phrase_text(phrase) for phrase in sentence)
        for one in world.messenger.said.values()
        if one.to.user == user
        for section in one.sections
        for sentence in section.sentences
    )


def test_it_is_extended_by_a_day_some_hours_before_its_end_through_the_same_money_path(
    world,
) -> None:
    number = permitted(world)
    until(world, WHEN - timedelta(minutes=1))
    assert extensions(world) == []
    until(world, WHEN + timedelta(minutes=2))
    [bought] = extensions(world)
    assert bought.fee == MORE
    assert bought.leg.extends == world.receipt_of(number).id
    assert world.reservation(number + 1).owner == world.reservation(number).owner
    assert world.money("held", "committed") >= MORE
    paid_and_moved(world)
    assert world.receipt_of(number).segments[-1].end == END + timedelta(days=1)


def test_owner_and_approver_hear_of_it_a_day_before_and_when_it_is_done(world) -> None:
    permitted(world)
    until(world, LAST - timedelta(hours=23))
    assert world.saying("Unless you press Let it end, I extend it by 1 day")
    assert "Unless you press Let it end" in told(world, APP1)
    assert "gpu.permit.end" in world.presses("Unless you press Let it end, I extend it by 1 day")
    until(world, WHEN + timedelta(minutes=2))
    assert world.saying("is being extended by 1 day for $2,292.48, as allowed by U0APP1")
    assert "$2,707.52 of $5,000.00 is left" in told(world, APP1)
    paid_and_moved(world)
    assert world.saying("is longer now")


def test_whoever_lets_it_end_stops_it_for_this_end(world) -> None:
    number = permitted(world)
    until(world, LAST - timedelta(hours=20))
    world.after.let_end(number, by=REQ)
    until(world, LAST)
    assert extensions(world) == []


@pytest.mark.parametrize("by", [REQ, APP1, ADMIN])
def test_after_it_was_stopped_nothing_is_extended_by_itself(world, by) -> None:
    number = permitted(world)
    until(world, LAST - timedelta(hours=20))
    world.after.revoke(number, by=by)
    until(world, LAST)
    assert extensions(world) == []
    other = APP1 if by != APP1 else REQ
    assert "is no longer extended by itself" in told(world, other)


def test_strangers_can_neither_ask_for_it_nor_stop_it(world) -> None:
    number = permitted(world)
    for step in (world.after.revoke, world.after.ask_permission):
        with pytest.raises(NotAllowedError):
            step(number, by=OTHER)
    with world.store.reading() as tx:
        assert permission_of(tx, number) is not None


def test_what_is_stopped_while_aws_is_asked_is_not_bought(world) -> None:
    number = permitted(world)
    rehearse = world.aws.rehearse

    def stopped_meanwhile(leg, **how):
        if leg.purpose is LegPurpose.EXTENSION:
            world.after.revoke(number, by=REQ)
        return rehearse(leg, **how)

    world.aws.rehearse = stopped_meanwhile
    until(world, LAST)
    assert extensions(world) == []
    assert world.state(number + 1) is ReservationState.CANCELLED


def test_what_who_allowed_it_owns_by_the_time_aws_answers_is_not_bought(world) -> None:
    number = permitted(world)
    rehearse = world.aws.rehearse

    def handed_over_meanwhile(leg, **how):
        with world.store.transaction() as tx:
            parent = tx.reservations.get(number)
            tx.reservations.save(parent.model_copy(update={"owner": APP1}))
        return rehearse(leg, **how)

    world.aws.rehearse = handed_over_meanwhile
    until(world, LAST)
    assert extensions(world) == []
    assert world.saying("nobody approves for themselves")


def test_a_day_dearer_than_what_is_left_is_not_bought_and_told_at_once(world) -> None:
    number = permitted(world, Decimal("2292.47"))
    until(world, WHEN + timedelta(minutes=2))
    assert extensions(world) == []
    said = "was not extended by itself: A day costs $2,292.48, and $2,292.47 is left"
    assert world.saying(said)
    assert world.presses(said) == ["gpu.extend", "gpu.cleanup", "gpu.nothing"]
    assert said in told(world, APP1)
    world.after.extend(number, hours=Decimal(24), by=REQ)
    assert world.state(number + 1) is ReservationState.PENDING_APPROVAL


def test_a_greater_sum_allowed_after_a_refusal_extends_this_very_end(world) -> None:
    number = permitted(world, Decimal("2292.47"))
    until(world, WHEN + timedelta(minutes=10))
    assert extensions(world) == []
    world.after.permit(number, up_to_usd=SUM, by=APP2)
    until(world, WHEN + timedelta(minutes=42))
    [bought] = extensions(world)
    assert bought.approvers == (APP2,)


def test_what_was_stopped_and_allowed_anew_is_extended_once(world) -> None:
    number = permitted(world)
    world.after.prolong(due_now(world, number))
    world.after.revoke(number, by=REQ)
    world.after.permit(number, up_to_usd=SUM, by=APP2)
    until(world, LAST)
    assert len(extensions(world)) == 1


def test_while_purchasing_is_stopped_nothing_is_extended(world) -> None:
    permitted(world)
    until(world, LAST - timedelta(hours=20))
    world.switching.set(Switch.OFF, by=ADMIN)
    until(world, LAST)
    assert extensions(world) == []
    assert world.saying("was not extended by itself: Purchasing is stopped.")


def test_a_step_that_is_repeated_extends_once(world) -> None:
    number = permitted(world)
    until(world, WHEN + timedelta(minutes=2))
    receipt = world.receipt_of(number)
    due = prolong_due(number, receipt, receipt.segments[-1], at=WHEN)
    world.restart()
    world.after.prolong(due)
    until(world, LAST - timedelta(hours=2))
    world.after.prolong(due)
    assert len(extensions(world)) == 1


@pytest.mark.parametrize("moment", ["rehearse", "requote"])
def test_of_two_workers_one_extends_and_the_other_says_nothing_false(world, moment) -> None:
    number = permitted(world)
    due = due_now(world, number)
    ask, others = getattr(world.aws, moment), []

    def another_worker_meanwhile(leg, **how):
        answer = ask(leg, **how)
        if not others:
            others.append(None)
            others.append(world.after.prolong(due))
        return answer

    setattr(world.aws, moment, another_worker_meanwhile)
    assert world.after.prolong(due) == others[1] == f"extended by gpu-{number + 1}"
    until(world, LAST)
    assert len(extensions(world)) == 1
    assert world.saying("is being extended by 1 day")
    assert not world.saying("was not extended by itself")


def test_two_permissions_plan_one_extension(world) -> None:
    number = permitted(world)
    world.after.permit(number, up_to_usd=Decimal(9000), by=APP2)
    with world.store.transaction() as tx:
        waiting = tx.dues.claim(now=WHEN, lease=timedelta(minutes=1), limit=100)
        assert sum(due.kind == "prolong" for due in waiting) == 1


def test_a_crash_between_filing_and_committing_is_taken_up_again(world, monkeypatch) -> None:
    number = permitted(world)
    until(world, WHEN - timedelta(minutes=1))
    receipt = world.receipt_of(number)
    due = prolong_due(number, receipt, receipt.segments[-1], at=WHEN)

    def dies(draft, **_):
        raise RuntimeError("killed")

    with monkeypatch.context() as broken:
        broken.setattr(type(world.proposing), "open", lambda self, draft, **more: dies(draft))
        with pytest.raises(RuntimeError):
            world.after.prolong(due)
    assert world.state(number + 1) is ReservationState.QUOTED
    world.restart()
    until(world, WHEN + timedelta(minutes=2))
    assert len(extensions(world)) == 1
    with pytest.raises(Exception, match="gpu-"):
        world.state(number + 2)


def due_now(world, number):
    """Return the due row of the present end, a minute before it would be worked on."""
    until(world, WHEN - timedelta(minutes=1))
    receipt = world.receipt_of(number)
    return prolong_due(number, receipt, receipt.segments[-1], at=WHEN)


@pytest.mark.parametrize("stop", ["revoke", "let_end"])
def test_what_is_stopped_before_it_is_bought_is_not_bought(world, stop) -> None:
    number = permitted(world)
    world.after.prolong(due_now(world, number))
    assert world.state(number + 1) is ReservationState.APPROVED
    [said] = getattr(world.after, stop)(number, by=REQ)
    assert "ends as planned" in plain_words(said)
    assert world.state(number + 1) is ReservationState.CANCELLED
    assert world.money("held") == 0
    until(world, LAST)
    assert extensions(world) == []


@pytest.mark.parametrize("stop", ["revoke", "let_end"])
def test_whoever_stops_what_is_being_bought_is_told_that_it_stays(world, stop) -> None:
    number = permitted(world)
    said = []
    due = due_now(world, number)

    def stopped(_purchase) -> None:
        said.extend(getattr(world.after, stop)(number, by=REQ))

    world.aws.before_buy = stopped
    world.after.prolong(due)
    world.purchasing.buy(number + 1)
    assert len(extensions(world)) == 1
    words = "".join(plain_words(sentence) for sentence in said)
    assert f"gpu-{number + 1} is being bought already" in words
    assert "ends as planned" not in words


def plain_words(sentence) -> str:
    return "".join(phrase_text(phrase) for phrase in sentence)


def test_a_person_s_own_extension_goes_on_when_the_permission_is_stopped(world) -> None:
    number = permitted(world)
    world.after.extend(number, hours=Decimal(24), by=REQ)
    world.after.revoke(number, by=REQ)
    assert world.state(number + 1) is ReservationState.APPROVED


def test_a_kill_before_it_was_told_loses_no_word(world, monkeypatch) -> None:
    number = permitted(world)
    due = due_now(world, number)
    with monkeypatch.context() as broken:
        broken.setattr(type(world.after.prolonging), "_tell_done", dies)
        with pytest.raises(RuntimeError):
            world.after.prolong(due)
    world.restart()
    until(world, WHEN + timedelta(minutes=2))
    assert len(extensions(world)) == 1
    assert world.saying("is being extended by 1 day for $2,292.48, as allowed by U0APP1")
    assert "is being extended by 1 day" in told(world, APP1)


def dies(*_given, **_named):
    raise RuntimeError("killed")


def test_what_was_tidied_away_while_the_bot_was_down_is_extended_all_the_same(
    world, monkeypatch
) -> None:
    number = permitted(world)
    due = due_now(world, number)
    with monkeypatch.context() as broken:
        broken.setattr(type(world.proposing), "open", dies)
        with pytest.raises(RuntimeError):
            world.after.prolong(due)
    world.after.quote(number + 1)
    assert world.state(number + 1) is ReservationState.EXPIRED
    until(world, LAST)
    assert len(extensions(world)) == 1


def test_a_person_s_cancelling_of_it_is_the_last_word_for_that_end(world) -> None:
    number = permitted(world)
    due = due_now(world, number)
    world.after.prolong(due)
    world.asking.cancel(number + 1, by=REQ)
    until(world, LAST)
    assert extensions(world) == []


def test_ledger_and_audit_say_who_allowed_it(world) -> None:
    permitted(world)
    until(world, WHEN + timedelta(minutes=2))
    [bought] = extensions(world)
    assert bought.approvers == (APP1,)
    with world.store.reading() as tx:
        actors = {
            entry.actor
            for entry in tx.audit.of(bought.reservation_id)
            if entry.action in ("proposal.approved", "purchase.submitted", "purchase.confirmed")
        }
    assert actors == {APP1}


def test_a_price_that_can_not_be_read_is_asked_for_again_half_an_hour_later(world) -> None:
    permitted(world)
    until(world, WHEN - timedelta(minutes=1))
    world.aws.unreadable = True
    until(world, WHEN + timedelta(minutes=2))
    assert world.saying("I try once more in half an hour")
    world.aws.unreadable = False
    until(world, WHEN + timedelta(minutes=32))
    assert len(extensions(world)) == 1


def test_when_it_is_not_tried_again_that_is_said_too(world) -> None:
    permitted(world)
    until(world, WHEN - timedelta(minutes=1))
    world.aws.unreadable = True
    until(world, WHEN + timedelta(minutes=2))
    world.aws.unreadable = False
    world.aws.day_fee = SUM + 1
    until(world, WHEN + timedelta(minutes=32))
    assert world.saying("was not extended by itself: A day costs")


def test_an_approver_who_has_left_allows_nothing_any_more(world) -> None:
    permitted(world)
    world.people.inactive.add(APP1)
    until(world, LAST)
    assert extensions(world) == []
    assert world.saying("Who allowed it may not allow it any more")


def test_nobody_extends_for_themselves_with_a_permission_of_their_own(world) -> None:
    number = permitted(world)
    with world.store.transaction() as tx:
        parent = tx.reservations.get(number)
        tx.reservations.save(parent.model_copy(update={"owner": APP1}))
    until(world, LAST)
    assert extensions(world) == []


def test_with_little_time_left_there_is_half_an_hour_to_stop_it(world) -> None:
    number = world.block_held()
    until(world, LAST - timedelta(hours=4))
    world.after.permit(number, up_to_usd=SUM, by=APP1)
    assert world.saying("Unless somebody presses Let it end, the first day is bought")
    world.run(timedelta(minutes=29))
    assert extensions(world) == []
    world.run(timedelta(minutes=3))
    assert len(extensions(world)) == 1


def test_too_late_to_be_sold_it_is_said_that_this_end_stays(world) -> None:
    number = world.block_held()
    until(world, END - timedelta(minutes=90))
    world.after.permit(number, up_to_usd=SUM, by=APP1)
    assert world.saying("Its present end is too near for that")
    until(world, LAST)
    assert extensions(world) == []


def test_a_permission_can_be_asked_for_before_it_is_needed(world) -> None:
    number = world.block_held()
    world.after.ask_permission(number, by=REQ)
    words = "may be extended by itself, a day at a time, which costs $2,292.48 now"
    assert world.saying(words)
    assert world.presses(words) == ["gpu.permit", "gpu.permit"]
    [said] = world.after.ask_permission(number, by=REQ)
    assert "asked already" in said[0]
    assert extensions(world) == []


def test_a_join_is_not_extended_by_itself_and_it_is_said(world) -> None:
    number = world.block_held()
    with world.store.transaction() as tx:
        [first] = tx.receipts.of(number)
        tx.receipts.add(first.model_copy(update={"id": "cr-second", "revision": 0}))
    world.after.permit(number, up_to_usd=SUM, by=APP1)
    assert world.saying("It has several parts")
    with pytest.raises(UserError, match="is not one block or plan"):
        world.after.ask_permission(number, by=REQ)
    until(world, LAST)
    assert extensions(world) == []


def test_it_can_be_allowed_while_the_payment_is_pending(world) -> None:
    number = world.bought().reservation_id
    assert world.state(number) is ReservationState.PAYMENT_PENDING
    world.after.permit(number, up_to_usd=SUM, by=APP1)
    receipt = world.aws.sold[-1].receipt
    world.aws.show(receipt.id, state="scheduled")
    world.run(timedelta(minutes=10))
    world.aws.show(receipt.id, state="active")
    until(world, WHEN + timedelta(minutes=2))
    assert len(extensions(world)) == 1


def test_a_permission_that_nobody_gave_can_not_be_stopped(world) -> None:
    number = world.block_held()
    with pytest.raises(UserError, match="is not extended by itself"):
        world.after.revoke(number, by=REQ)


def test_a_permission_lasts_for_as_many_days_as_it_pays_for(world) -> None:
    number = permitted(world)
    for _ in range(4):
        end = world.receipt_of(number).segments[-1].end
        until(world, end - timedelta(minutes=30) - PROLONG_BEFORE + timedelta(minutes=2))
        if world.aws.sold[-1].receipt.state == "payment-pending":
            paid_and_moved(world)
    assert len(extensions(world)) == 2
    assert world.receipt_of(number).segments[-1].end == END + timedelta(days=2)


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    up_to=st.decimals(min_value=600, max_value=9999, places=2),
    fees=st.lists(st.decimals(min_value=501, max_value=4000, places=2), min_size=3, max_size=3),
    presses=st.lists(st.booleans(), min_size=3, max_size=3),
    fails=st.lists(st.booleans(), min_size=3, max_size=3),
)
def test_what_is_extended_by_itself_never_passes_what_was_allowed(
    up_to, fees, presses, fails
) -> None:
    world = ExtendWorld()
    try:
        number = permitted(world, up_to)
        settled: set[str] = set()
        for fee, press, fail in zip(fees, presses, fails, strict=True):
            world.aws.day_fee = fee
            end = world.receipt_of(number).segments[-1].end
            if end - timedelta(hours=7) > world.clock.now():
                until(world, end - timedelta(hours=7))
            if press:
                try:
                    world.after.extend(number, hours=Decimal(24), by=REQ)
                except UserError:
                    pass
            until(world, end - timedelta(minutes=30) - PROLONG_BEFORE + timedelta(minutes=2))
            last = world.aws.sold[-1]
            if "#" in last.receipt.id and last.purchase_id not in settled:
                settled.add(last.purchase_id)
                world.aws.pay(well=not fail)
                world.run(timedelta(minutes=20))
        unasked = {("policy",), (APP1,)}
        policy = [call for call in extensions(world) if call.approvers in unasked]
        charged = [
            sale.fee
            for sale in world.aws.sold
            if "#" in sale.receipt.id
            and world.state(sale.reservation_id) is not ReservationState.FAILED
            and sale.purchase_id in {call.id for call in policy}
        ]
        assert sum(charged, Decimal(0)) <= up_to
        own = [call.id for call in policy]
        assert len(own) == len(set(own))
    finally:
        world.store.close()


def test_a_second_approver_can_raise_the_sum(world) -> None:
    number = permitted(world, Decimal(1000))
    world.after.permit(number, up_to_usd=SUM, by=APP2)
    until(world, WHEN + timedelta(minutes=2))
    assert len(extensions(world)) == 1
