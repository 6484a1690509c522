"""Once something is bought, cards show what was paid and what AWS's receipts say."""

import json
from datetime import timedelta
from decimal import Decimal

import pytest

from bot.domain.decision import Note
from bot.domain.lifecycle import ProposalState, PurchaseState
from bot.domain.lifecycle import ReservationState as State
from bot.domain.market import Kind, Segment
from bot.domain.records import Leg, LegPurpose, Purchase, Receipt
from handlers.cards.approval import approval_card
from handlers.cards.bought import peak
from handlers.cards.decision import decision_card
from handlers.cards.lists import line
from tests.handlers.office import NOW, card, option, proposal, reservation

JOINED = option(
    refs=("cb-a", "cb-b"),
    instance_count=3,
    total_usd=Decimal("1440.00"),
    usd_per_accelerator_hour=Decimal("2.50"),
)
SOON = JOINED.segments
KEPT = (Note(code="local_zone", text="It is in a Local Zone."),)


def leg(number: int, count: int, fee: str, **changes) -> Leg:
    values = {
        "number": number,
        "purpose": LegPurpose.INITIAL,
        "kind": Kind.CAPACITY_BLOCK,
        "ref": f"cb-{number}",
        "account": "research",
        "region": "us-east-1",
        "zone": "us-east-1b",
        "instance_type": "p5.48xlarge",
        "instance_count": count,
        "segments": SOON,
        "platform": "Linux/UNIX",
        "fee": Decimal(fee),
    }
    return Leg(**{**values, **changes})


def purchase(number: int, count: int, fee: str, state=PurchaseState.CONFIRMED, **changes):
    values = {
        "id": f"p{number}",
        "reservation_id": 42,
        "proposal_id": 7,
        "leg": leg(number, count, fee),
        "attempt": 1,
        "state": state,
        "offering_ref": f"cb-{number}",
        "fee": Decimal(fee),
        "owner": "U0ANA",
        "team": "vision",
        "approvers": ("U0BRUNO",),
        "intended_at": NOW,
    }
    return Purchase(**{**values, **changes})


def receipt(number: int, count: int, **changes) -> Receipt:
    values = {
        "id": f"cr-{number}",
        "purchase_id": f"p{number}",
        "reservation_id": 42,
        "kind": Kind.CAPACITY_BLOCK,
        "account": "research",
        "region": "us-east-1",
        "zone": "us-east-1b",
        "instance_type": "p5.48xlarge",
        "instance_count": count,
        "target": None,
        "segments": SOON,
        "state": "scheduled",
        "checked_at": NOW,
    }
    return Receipt(**{**values, **changes})


def part(state=State.SCHEDULED, second=PurchaseState.WITHDRAWN, **changes):
    """Two of three machines were bought for $960.00 of the agreed $1,440.00."""
    agreed = proposal(
        state=ProposalState.APPROVED,
        option=JOINED,
        legs=(leg(1, 2, "960.00"), leg(2, 1, "480.00")),
        ceiling=Decimal("1440.00"),
    )
    values = {
        "reservation": reservation(state=state, option=JOINED),
        "proposal": agreed,
        "purchases": (purchase(1, 2, "960.00"), purchase(2, 1, "480.00", second)),
        "receipts": (receipt(1, 2),),
    }
    return card(**{**values, **changes})


def everything(view) -> str:
    return "\n".join(
        json.dumps([*message.blocks, message.text], ensure_ascii=False)
        for message in (decision_card(view), approval_card(view))
    )


def test_a_partly_bought_join_shows_what_was_paid_and_the_machines_that_are_there():
    view = part()
    for said in (everything(view), line(view)):
        assert "$960.00" in said
    message = decision_card(view)
    words = json.dumps(list(message.blocks), ensure_ascii=False)
    assert "*$960.00* in all" in words
    assert "2 \N{MULTIPLICATION SIGN} p5.48xlarge, of 3 agreed" in words
    assert "$2.50 per GPU-hour" in words
    assert "$960.00 for 2 \N{MULTIPLICATION SIGN} p5.48xlarge" in message.text
    assert "2 of 3 machines" in line(view)
    for said in (words, message.text, line(view)):
        assert "1,440" not in said


def test_a_lower_price_than_the_agreed_one_is_what_was_paid():
    agreed = option(total_usd=Decimal("4584.96"), usd_per_accelerator_hour=Decimal("2.00"))
    view = card(
        reservation=reservation(state=State.SCHEDULED, option=agreed),
        proposal=proposal(
            state=ProposalState.APPROVED,
            option=agreed,
            legs=(leg(1, 2, "4584.96"),),
            ceiling=Decimal("4584.96"),
        ),
        purchases=(purchase(1, 2, "4440.96"),),
        receipts=(receipt(1, 2),),
    )
    message = decision_card(view)
    said = json.dumps([*message.blocks, message.text], ensure_ascii=False) + line(view)
    assert "$4,440.96" in said
    assert "4,584.96" not in said
    assert "$1.94 per GPU-hour" in said
    assert "*$4,440.96* in all" in json.dumps(list(approval_card(view).blocks))


@pytest.mark.parametrize("second", [PurchaseState.INTENDED, PurchaseState.INDETERMINATE])
def test_while_more_may_be_bought_the_money_is_what_it_is_so_far(second):
    said = everything(part(State.PURCHASING, second))
    assert "*$960.00* so far" in said


def test_before_anything_is_bought_the_agreed_amount_stands():
    view = part(
        State.PURCHASING,
        receipts=(),
        purchases=(purchase(1, 2, "960.00", PurchaseState.SUBMITTED),),
    )
    assert "*$1,440.00* in all" in everything(view)
    assert "3 \N{MULTIPLICATION SIGN} p5.48xlarge" in everything(view)


def test_a_proposals_card_counts_only_its_own_purchases():
    other = purchase(1, 2, "960.00", proposal_id=6)
    view = part(purchases=(other,))
    assert "*$1,440.00* in all" in json.dumps(list(approval_card(view).blocks))


def test_parts_one_after_another_do_not_add_up_but_parts_at_once_do():
    [first] = SOON
    later = Segment(start=first.end, end=first.end + timedelta(days=1))
    assert peak([receipt(1, 2), receipt(2, 1)]) == 3
    assert peak([receipt(1, 2), receipt(2, 2, segments=(later,))]) == 2


def test_the_last_usable_minute_is_that_of_what_is_there():
    [first] = SOON
    shorter = Segment(start=first.start, end=first.end - timedelta(days=1))
    view = part(receipts=(receipt(1, 2, segments=(shorter,)),))
    end = shorter.end - timedelta(minutes=30)
    assert f"Last usable minute <!date^{int(end.timestamp())}^" in everything(view)


@pytest.mark.parametrize(
    ("state", "second", "told"),
    [
        (State.PURCHASING, PurchaseState.INTENDED, True),
        (State.SCHEDULED, PurchaseState.CONFIRMED, False),
    ],
)
def test_warnings_of_what_a_purchase_might_bring_end_with_it(state, second, told):
    warned = JOINED.model_copy(
        update={"warnings": (Note(code="joined", text="Two purchases."), *KEPT)}
    )
    view = part(state, second, reservation=reservation(state=state, option=warned))
    words = json.dumps(list(decision_card(view).blocks))
    assert ("Two purchases." in words) is told
    assert "It is in a Local Zone." in words


LATER = timedelta(days=1)


def longer(**changes) -> Receipt:
    [piece] = SOON
    return receipt(1, 2, segments=(piece.model_copy(update={"end": piece.end + LATER}),), **changes)


def extension(state: State, word: str, note: str = ""):
    more = leg(1, 2, "960.00", purpose=LegPurpose.EXTENSION, extends="cr-9")
    agreed = option(warnings=(PAYMENT_FIRST,))
    return card(
        reservation=reservation(state=state, option=agreed, note=note),
        proposal=proposal(state=ProposalState.APPROVED, option=agreed, legs=(more,)),
        purchases=(purchase(1, 2, "960.00", leg=more),),
        receipts=(receipt(1, 2, id="cr-9#cbe-1", state=word),),
    )


PAYMENT_FIRST = Note(code="payment_pending_first", text="The end moves only when it is paid.")


def test_the_last_usable_minute_moves_with_the_end_that_aws_shows():
    before = part(receipts=(receipt(1, 2),))
    after = part(receipts=(longer(),))
    old = SOON[-1].end - timedelta(minutes=30)
    for draw in (everything, line):
        assert f"<!date^{int(old.timestamp())}^" in draw(before)
        assert f"<!date^{int(old.timestamp())}^" not in draw(after)
        assert f"<!date^{int((old + LATER).timestamp())}^" in draw(after)


def test_the_amount_says_that_it_leaves_out_what_made_the_end_later():
    first = {"purchases": (purchase(1, 2, "960.00"),)}
    active = reservation(state=State.ACTIVE, option=JOINED)
    view = card(reservation=active, receipts=(longer(),), **first)
    assert "*$960.00* without its extensions, paid up front" in everything(view)
    assert "its extensions are paid apart" in decision_card(view).text
    assert "$960.00 and extensions" in line(view)
    plain = card(reservation=active, receipts=(receipt(1, 2),), **first)
    assert "*$960.00* in all, paid up front" in everything(plain)
    assert "extensions" not in line(plain)


def test_an_extension_is_bought_not_ended_once_aws_says_that_it_is_paid():
    view = extension(State.ENDED, "payment-succeeded", note="AWS prolongs gpu-1 by it.")
    said = everything(view)
    assert "✓ *Bought* — AWS prolongs gpu-1 by it." in said
    assert "✓ bought" in line(view)
    assert "nded" not in said.replace("extended", "")


def test_an_extension_has_no_tick_before_its_payment_is_through():
    for word in ("payment-pending", "payment-failed"):
        view = extension(State.PAYMENT_PENDING, word)
        assert "✓" not in everything(view) + line(view)


def test_the_record_of_an_extension_is_named_after_what_it_prolongs():
    said = everything(extension(State.PAYMENT_PENDING, "payment-pending"))
    assert "Extension of `cr-9` is payment-pending" in said
    assert "cbe-1" not in said


def test_counts_are_set_apart_from_the_time_of_the_look():
    counted = receipt(1, 2, state="active", total_count=2, available_count=2)
    said = everything(part(state=State.ACTIVE, receipts=(counted,)))
    assert " · 0 used, 2 free of 2" in said
    assert ":0 used" not in said


@pytest.mark.parametrize("state", [State.SCHEDULED, State.ACTIVE, State.ENDED])
def test_nothing_is_said_of_a_payment_to_come_once_it_is_through(state):
    warned = JOINED.model_copy(update={"warnings": (PAYMENT_FIRST,)})
    agreed = proposal(state=ProposalState.APPROVED, option=warned, legs=(leg(1, 2, "960.00"),))
    held = reservation(state=state, option=warned)
    for second in (PurchaseState.WITHDRAWN, PurchaseState.INDETERMINATE):
        said = everything(part(second=second, reservation=held, proposal=agreed))
        assert PAYMENT_FIRST.text not in said
    asked = card(reservation=reservation(state=State.APPROVED, option=warned))
    assert PAYMENT_FIRST.text in everything(asked)
