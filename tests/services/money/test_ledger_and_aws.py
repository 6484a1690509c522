"""The ledger beside AWS's books, and an administrator's word on what stays in doubt."""

from datetime import timedelta
from decimal import Decimal

import pytest

from bot.domain.errors import UserError
from bot.domain.inventory import Held, Inventory
from bot.domain.lifecycle import PurchaseState, ReservationState
from bot.domain.market import Kind, Market, NotRead
from bot.domain.records import Switch
from bot.services.purchases.comparing import differences
from bot.services.purchases.declaring import Declaring
from tests.fakes.aws import Mood
from tests.fakes.clock import NOW
from tests.services.money.stage import ADMIN, FEE, World, block

S, P = ReservationState, PurchaseState


@pytest.fixture
def world() -> World:
    return World()


def declaring(world) -> Declaring:
    return Declaring(
        store=world.store,
        clock=world.clock,
        buyer=world.aws,
        telling=world.settling.telling,
        closing=world.settling.closing,
        pleading=world.settling.pleading,
    )


def under_review(world, mood=Mood.LOSE_REQUEST) -> str:
    world.approved()
    world.aws.moods = [mood]
    world.run(timedelta(minutes=45))
    assert world.state(1) is S.NEEDS_REVIEW
    return world.purchases(1)[0].id


def test_a_declaration_frees_the_money_and_is_written_down(world):
    name = under_review(world)
    assert world.money("held") == FEE
    declaring(world).not_bought(name, by="U0ADMIN", reason="support case 17")
    assert world.purchases(1)[0].state is P.REFUSED
    assert world.state(1) is S.FAILED
    assert world.money("held", "committed") == Decimal(0)
    with world.store.reading() as tx:
        entry = next(row for row in tx.audit.of(1) if row.action == "purchase.declared")
        assert not tx.audit.verify()
    assert (entry.actor, entry.facts["reason"]) == ("U0ADMIN", "support case 17")
    assert "support case 17" in world.said()[f"note:gpu-1:declared-{name}"]
    world.run(timedelta(hours=3))
    assert len(world.aws.calls) == 1


def test_what_the_books_show_is_never_declared_away(world):
    world.aws.slow = timedelta(hours=1)
    name = under_review(world, Mood.SLOW_SALE)
    world.clock.advance(timedelta(hours=1))
    with pytest.raises(UserError, match="it was bought"):
        declaring(world).not_bought(name, by="U0ADMIN", reason="I looked")
    assert world.money("held") == FEE


def test_nothing_is_declared_while_the_books_cannot_be_read(world):
    name = under_review(world)
    world.aws.unreadable = True
    with pytest.raises(UserError, match="could not be read"):
        declaring(world).not_bought(name, by="U0ADMIN", reason="I looked")
    assert world.purchases(1)[0].state is P.INDETERMINATE


@pytest.mark.parametrize("mood", [Mood.SELL, Mood.REFUSE, Mood.LOSE_ANSWER])
def test_only_what_waits_for_a_review_is_declared(world, mood):
    world.approved()
    world.aws.moods = [mood]
    world.work(kinds={"buy"})
    name = world.purchases(1)[0].id
    before = world.money("held", "committed")
    with pytest.raises(UserError, match="nothing to declare"):
        declaring(world).not_bought(name, by="U0ADMIN", reason="I looked")
    assert world.money("held", "committed") == before


def test_a_declaration_without_a_reason_is_refused(world):
    name = under_review(world)
    with pytest.raises(UserError, match="Say how you know"):
        declaring(world).not_bought(name, by="U0ADMIN", reason=" ")


def test_of_a_join_the_part_that_was_bought_stays(world):
    first = block("cb-1", instance_count=1, upfront_fee=Decimal(1000))
    second = block("cb-2", instance_count=1, upfront_fee=Decimal(1000), zone="us-east-1b")
    world.aws.market = Market(as_of=NOW, offerings=(first, second))
    world.approved()
    assert len(world.reservation(1).option.refs) == 2
    world.aws.moods = [Mood.SELL, Mood.LOSE_REQUEST]
    world.run(timedelta(minutes=50))
    name = next(row.id for row in world.purchases(1) if row.state is P.INDETERMINATE)
    declaring(world).not_bought(name, by="U0ADMIN", reason="support case 18")
    assert world.state(1) in (S.PAYMENT_PENDING, S.SCHEDULED)
    assert world.money("committed") == Decimal(1000)
    assert world.money("held") == Decimal(0)


def test_a_part_in_doubt_keeps_the_whole_from_going_on_until_a_person_looks(world):
    """The part that was bought is followed, but must not make the other one look settled."""
    first = block("cb-1", instance_count=1, upfront_fee=Decimal(1000))
    second = block("cb-2", instance_count=1, upfront_fee=Decimal(1000), zone="us-east-1b")
    world.aws.market = Market(as_of=NOW, offerings=(first, second))
    world.approved()
    world.aws.moods = [Mood.SELL, Mood.LOSE_REQUEST]
    world.run(timedelta(minutes=10))
    assert world.state(1) is S.PURCHASING
    world.aws.show("cr-00001", state="scheduled")
    world.run(timedelta(minutes=40))
    assert world.state(1) is S.NEEDS_REVIEW
    world.run(timedelta(hours=5))
    assert world.state(1) is S.NEEDS_REVIEW


def test_a_part_that_waits_for_the_switch_is_bought_when_it_is_on_again(world):
    first = block("cb-1", instance_count=1, upfront_fee=Decimal(1000))
    second = block("cb-2", instance_count=1, upfront_fee=Decimal(1000), zone="us-east-1b")
    world.aws.market = Market(as_of=NOW, offerings=(first, second))
    world.approved()
    world.aws.before_buy = lambda _: world.switching.set(Switch.OFF, by=ADMIN)
    world.work(kinds={"buy"})
    world.aws.before_buy = None
    world.run(timedelta(minutes=10))
    assert len(world.aws.sold) == 1
    world.switching.set(Switch.ON, by=ADMIN)
    world.work()
    assert len(world.aws.sold) == 2
    assert world.money("held") == Decimal(0)


# --- beside AWS ---------------------------------------------------------------------------------


def held(ref="cr-9", purchase=None) -> Held:
    return Held(
        id=ref,
        kind=Kind.CAPACITY_BLOCK,
        account="research",
        region="us-east-1",
        state="active",
        instance_type="p5.48xlarge",
        instance_count=2,
        start=NOW,
        end=NOW + timedelta(days=1),
        purchase=purchase,
    )


def compared(world, *rows, gone=False, not_read=(), **seen):
    with world.store.reading() as tx:
        purchases = tx.purchases.recent()
        receipts = {
            one.id: one.model_copy(update={"gone": gone, **seen}) for one in tx.receipts.of(1)
        }
    inventory = Inventory(rows=rows, not_read=not_read)
    return differences(purchases=purchases, receipts=receipts, inventory=inventory, now=NOW)


def test_what_both_books_hold_is_no_difference(world):
    world.bought()
    assert compared(world, held("cr-00001", world.purchases(1)[0].id)) == []


def test_a_purchase_that_vanished_is_reported(world):
    world.bought()
    (text,) = compared(world, gone=True)
    assert "cr-00001" in text
    assert "vanished" in text


def test_a_purchase_that_the_bot_did_not_make_is_reported(world):
    world.bought()
    (text,) = compared(world, held())
    assert "cr-9" in text
    assert "not bought by this bot" in text
    (text,) = compared(world, held(purchase="gpubot-other-1-1-1"))
    assert "not in this ledger" in text


def test_a_sale_behind_a_refusal_is_the_loudest_difference(world):
    world.approved()
    world.aws.moods = [Mood.REFUSE]
    world.work(kinds={"buy"})
    row = world.purchases(1)[0]
    assert row.state is P.REFUSED
    (text,) = compared(world, held(purchase=row.id))
    assert "bought all the same" in text


def test_books_that_cannot_be_read_prove_nothing_and_are_named(world):
    world.bought()
    gap = NotRead(account="research", region="us-east-1", market="ec2", why="refused")
    (text,) = compared(world, not_read=(gap,))
    assert "could not be read" in text
    (text,) = compared(world, last_error="throttled")
    assert "could not be looked at" in text
