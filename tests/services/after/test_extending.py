from datetime import timedelta
from decimal import Decimal

import pytest

from bot.domain.errors import NotAllowedError, UserError
from bot.domain.lifecycle import ProposalState, ReservationState
from bot.domain.records import LegPurpose
from bot.policy.configuration import ApprovalRules
from bot.services.words.telling import Telling
from tests.services.after.after_world import stores
from tests.services.after.extend_world import END, MORE, ExtendWorld
from tests.services.money.stage import ADMIN, APP1, APP2, OTHER, REQ, configuration

DAY = Decimal(24)


@pytest.fixture(params=["memory", "sqlite"])
def world(request, tmp_path):
    world = ExtendWorld(url=stores(tmp_path)[request.param])
    yield world
    world.store.close()


def without_asking(amount: str | None, url: str = "memory://") -> ExtendWorld:
    base = configuration()
    rules = ApprovalRules(
        tiers=base.approval.tiers,
        extensions_without_asking_usd=Decimal(amount) if amount else None,
    )
    return ExtendWorld(url=url, configuration=base.model_copy(update={"approval": rules}))


def extend(world, number: int, hours: Decimal = DAY, by: str = REQ) -> None:
    world.after.extend(number, hours=hours, by=by)


def child_of(world, number: int):
    return world.reservation(number + 1)


def approve(world, number: int) -> None:
    with world.store.reading() as tx:
        proposal = tx.proposals.current(number)
    world.approving.approve(proposal.id, by=APP1)


def end_of(world, number: int):
    return world.receipt_of(number).segments[-1].end


def test_an_extension_is_asked_for_approved_and_bought_like_any_purchase(world) -> None:
    number = world.block_held()
    extend(world, number)
    child = child_of(world, number)
    assert child.state is ReservationState.PENDING_APPROVAL
    assert child.request.reason == f"extends gpu-{number}"
    approve(world, child.id)
    world.run(timedelta(minutes=1))
    [purchase] = world.purchases(child.id)
    assert purchase.leg.purpose is LegPurpose.EXTENSION
    assert purchase.leg.extends == world.receipt_of(number).id
    assert purchase.fee == MORE
    assert [call.leg.purpose for call in world.aws.calls].count(LegPurpose.EXTENSION) == 1


def test_the_end_moves_only_when_aws_shows_the_payment_through_and_the_new_end(world) -> None:
    number = world.block_held()
    extend(world, number)
    approve(world, number + 1)
    world.run(timedelta(hours=2))
    assert end_of(world, number) == END
    assert child_of(world, number).state is ReservationState.PAYMENT_PENDING
    world.aws.pay()
    world.run(timedelta(minutes=20))
    assert end_of(world, number) == END + timedelta(days=1)
    assert child_of(world, number).state is ReservationState.ENDED
    assert child_of(world, number).note == f"AWS prolongs gpu-{number} by it."
    assert not world.saying("cbe-")
    assert any("extension of cr-" in said for said in world.saying("payment-succeeded"))
    [said] = world.saying("is longer now")
    assert "2027-03-19T11:00Z" in said
    assert world.state(number) is ReservationState.ACTIVE


def test_a_payment_that_fails_leaves_the_old_end_and_frees_the_money(world) -> None:
    number = world.block_held()
    extend(world, number)
    approve(world, number + 1)
    world.run(timedelta(minutes=5))
    world.aws.pay(well=False)
    world.run(timedelta(minutes=20))
    assert end_of(world, number) == END
    assert child_of(world, number).state is ReservationState.FAILED
    assert world.state(number) is ReservationState.ACTIVE
    [said] = world.saying("payment-failed")
    assert f"gpu-{number} is not prolonged" in said
    with world.store.reading() as tx:
        entry = next(one for one in tx.budget.entries() if one.reservation_id == number + 1)
    assert entry.state == "freed"


def test_after_it_is_longer_only_the_new_end_is_reminded_of(world) -> None:
    number = world.block_held()
    extend(world, number)
    approve(world, number + 1)
    world.aws.extension_state = "payment-pending"
    world.run(timedelta(minutes=5))
    world.aws.pay()
    world.run(timedelta(minutes=20))
    world.run(END - world.clock.now() + timedelta(hours=1))
    assert not [said for said in world.saying("save your work") if "2027-03-18T11:00Z" in said]
    assert world.saying("2027-03-19T11:00Z")


def test_only_who_owns_it_or_administers_the_bot_may_extend(world) -> None:
    number = world.block_held()
    with pytest.raises(NotAllowedError):
        extend(world, number, by=OTHER)
    extend(world, number, by=ADMIN)


@pytest.mark.parametrize("hours", [Decimal(36), Decimal(0), Decimal(15 * 24), Decimal(190 * 24)])
def test_a_length_that_aws_does_not_sell_is_refused_before_aws_is_asked(world, hours) -> None:
    number = world.block_held()
    with pytest.raises(UserError, match="1 to 14 days"):
        extend(world, number, hours)


def test_two_presses_make_one_extension(world) -> None:
    number = world.block_held()
    extend(world, number)
    with pytest.raises(UserError, match="already extends"):
        extend(world, number)


def test_within_the_last_hour_nothing_is_offered_any_more(world) -> None:
    number = world.block_held()
    world.run(END - timedelta(minutes=59) - world.clock.now())
    with pytest.raises(UserError, match="until 1 hour before the end"):
        extend(world, number)


def test_its_approval_runs_out_when_it_can_no_longer_be_bought(world) -> None:
    number = world.block_held()
    world.run(END - timedelta(hours=3) - world.clock.now())
    extend(world, number)
    with world.store.reading() as tx:
        assert tx.proposals.current(number + 1).expires_at == END - timedelta(hours=1)


def test_an_offer_that_is_gone_after_the_approval_ends_the_extension_not_the_block(world) -> None:
    number = world.block_held()
    extend(world, number)
    world.aws.day_fee = None
    approve(world, number + 1)
    world.run(timedelta(minutes=2))
    assert child_of(world, number).state is ReservationState.EXPIRED
    assert world.state(number) is ReservationState.ACTIVE
    world.aws.day_fee = MORE
    extend(world, number)
    assert world.reservation(number + 2).state is ReservationState.PENDING_APPROVAL


def test_one_that_was_filed_and_never_asked_for_is_closed_by_itself(world) -> None:
    number = world.block_held()
    world.aws.obstacles = ("The quota is 0.",)
    with pytest.raises(UserError, match="The quota is 0"):
        extend(world, number)
    assert child_of(world, number).state is ReservationState.EXPIRED
    world.run(timedelta(hours=1))
    assert not world.purchases(number + 1)


def test_up_to_the_files_sum_nobody_is_asked_and_the_sum_counts_all_of_them() -> None:
    world = without_asking("5000")
    number = world.block_held()
    extend(world, number)
    world.run(timedelta(minutes=2))
    assert [purchase.approvers for purchase in world.purchases(number + 1)] == [("policy",)]
    world.aws.pay()
    world.run(timedelta(minutes=20))
    extend(world, number)
    world.run(timedelta(minutes=2))
    world.aws.pay()
    world.run(timedelta(minutes=20))
    extend(world, number)
    assert world.state(number + 3) is ReservationState.PENDING_APPROVAL
    world.store.close()


def test_an_approver_can_allow_the_extensions_of_one_reservation_ahead(world) -> None:
    number = world.block_held()
    with pytest.raises(NotAllowedError):
        world.after.permit(number, up_to_usd=Decimal(5000), by=REQ)
    world.after.permit(number, up_to_usd=Decimal(5000), by=APP2)
    extend(world, number)
    with world.store.reading() as tx:
        assert tx.proposals.current(number + 1).state is ProposalState.APPROVED


def test_a_sum_that_takes_two_people_can_not_be_allowed_ahead_by_one(world) -> None:
    number = world.block_held()
    with pytest.raises(NotAllowedError, match="needs 2 people"):
        world.after.permit(number, up_to_usd=Decimal(50000), by=APP1)


def test_a_reminder_of_the_end_says_what_a_day_costs_and_until_when(world) -> None:
    number = world.block_held()
    world.run(END - timedelta(hours=24) - world.clock.now())
    said = world.saying("1 more day costs $2,292.48 now")
    assert said
    assert "2027-03-18T10:30Z" in said[0]
    assert "2027-03-18T10:55Z" in said[0]
    assert world.presses("1 more day costs")[:3] == ["gpu.extend", "gpu.cleanup", "gpu.nothing"]
    assert number


def test_a_price_that_can_not_be_read_is_said_to_be_unread(world) -> None:
    world.block_held()
    world.aws.unreadable = True
    world.run(END - timedelta(hours=24) - world.clock.now())
    assert world.saying("could not be read at AWS just now")


def test_who_lets_it_end_hears_only_the_last_word(world) -> None:
    number = world.block_held()
    world.run(END - timedelta(hours=30) - world.clock.now())
    before = len(world.saying("save your work"))
    world.after.let_end(number, by=REQ)
    world.run(END - timedelta(minutes=41) - world.clock.now())
    said = world.saying("save your work")
    assert len(said) - before == 1
    assert "save your work now" in said[-1]


def test_a_crash_after_any_commit_buys_an_extension_once(world) -> None:
    number = world.block_held()
    extend(world, number)
    approve(world, number + 1)
    world.restart()
    world.run(timedelta(minutes=1))
    world.restart()
    world.run(timedelta(minutes=30))
    assert len([c for c in world.aws.calls if c.leg.purpose is LegPurpose.EXTENSION]) == 1


def test_the_card_is_drawn_anew_when_aws_shows_the_new_end(world, monkeypatch) -> None:
    number = world.block_held()
    extend(world, number)
    approve(world, number + 1)
    world.run(timedelta(minutes=5))
    drawn: list[int] = []
    redraw = Telling.redraw

    def noted(self, tx, reservation, *, now):
        drawn.append(reservation.id)
        redraw(self, tx, reservation, now=now)

    world.aws.pay()
    monkeypatch.setattr(Telling, "redraw", noted)
    world.run(timedelta(minutes=20))
    assert number in drawn


def test_a_press_under_a_permission_stopped_meanwhile_buys_nothing(world) -> None:
    number = world.block_held()
    world.after.permit(number, up_to_usd=Decimal(5000), by=APP1)
    rehearse = world.aws.rehearse

    def stopped_meanwhile(leg, **how):
        world.after.revoke(number, by=REQ)
        return rehearse(leg, **how)

    world.aws.rehearse = stopped_meanwhile
    with pytest.raises(UserError, match="allowed ahead has changed"):
        world.after.extend(number, hours=Decimal(24), by=REQ)
    assert world.money("held") == 0


def test_a_press_under_one_s_own_permission_asks_the_others(world) -> None:
    number = world.block_held()
    world.after.permit(number, up_to_usd=Decimal(5000), by=APP1)
    with world.store.transaction() as tx:
        parent = tx.reservations.get(number)
        tx.reservations.save(parent.model_copy(update={"owner": APP1}))
    world.after.extend(number, hours=Decimal(24), by=APP1)
    assert world.state(number + 1) is ReservationState.PENDING_APPROVAL


def test_a_press_under_the_permission_of_somebody_who_left_asks_the_others(world) -> None:
    number = world.block_held()
    world.after.permit(number, up_to_usd=Decimal(5000), by=APP1)
    world.people.inactive.add(APP1)
    world.after.extend(number, hours=Decimal(24), by=REQ)
    assert world.state(number + 1) is ReservationState.PENDING_APPROVAL


def test_a_press_under_a_permission_names_who_allowed_it(world) -> None:
    number = world.block_held()
    world.after.permit(number, up_to_usd=Decimal(5000), by=APP1)
    world.after.extend(number, hours=Decimal(24), by=REQ)
    world.work()
    assert world.aws.calls[-1].approvers == (APP1,)


def test_a_press_under_a_permission_of_who_owns_it_meanwhile_buys_nothing(world) -> None:
    number = world.block_held()
    world.after.permit(number, up_to_usd=Decimal(5000), by=APP1)
    rehearse = world.aws.rehearse

    def handed_over_meanwhile(leg, **how):
        with world.store.transaction() as tx:
            parent = tx.reservations.get(number)
            tx.reservations.save(parent.model_copy(update={"owner": APP1}))
        return rehearse(leg, **how)

    world.aws.rehearse = handed_over_meanwhile
    with pytest.raises(UserError, match="allowed ahead has changed"):
        world.after.extend(number, hours=Decimal(24), by=REQ)
