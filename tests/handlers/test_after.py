"""Verbs and buttons of what comes after a purchase, on the services themselves."""

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

import pytest

from bot.catalog import packaged
from bot.domain.errors import NotAllowedError, UserError
from bot.domain.lifecycle import ReservationState
from bot.domain.request import Parsed
from bot.language import parse
from handlers import after, ids
from handlers.actions import KNOWN as BUTTONS
from handlers.cards.decision import decision_card
from handlers.cards.lists import line
from handlers.commands import KNOWN as VERBS
from handlers.ids import ButtonValue
from tests.fakes.clock import NOW
from tests.services.after.extend_world import END, ExtendWorld
from tests.services.money.stage import OTHER, REQ

NAMES = {"gpu.extend", "gpu.permit", "gpu.release", "gpu.take", "gpu.keep", "gpu.nothing"}


@dataclass
class DeskOf:
    after: object


@dataclass
class Line:
    parsed: Parsed
    user: str


@dataclass
class Press:
    value: ButtonValue
    user: str


@pytest.fixture
def world():
    world = ExtendWorld()
    yield world
    world.store.close()


def say(world, text: str, user: str = REQ):
    parsed = parse(text, now=NOW, zone="UTC", locale="en-US", catalog=packaged(), answers={})
    return after.VERBS[str(parsed.command)](Line(parsed, user), DeskOf(world.after))


def push(world, name: str, *, user: str = REQ, **value):
    return after.BUTTONS[name](Press(ButtonValue(**value), user), DeskOf(world.after))


def test_every_verb_and_button_of_this_room_is_known_to_the_house() -> None:
    assert after.VERBS.items() <= VERBS.items()
    assert after.BUTTONS.items() <= BUTTONS.items()
    assert after.BUTTONS.keys() >= NAMES


@pytest.mark.parametrize("text", ["extend gpu-{} by 2 days", "extend {} 2d"])
def test_extend_as_a_line_asks_for_that_length(world, text) -> None:
    number = world.block_held()
    reply = say(world, text.format(number))
    assert f"Approval is asked to extend gpu-{number} for $4,584.96" in reply.messages[0].text
    assert world.reservation(number + 1).request.duration_hours == Decimal(48)


def test_extend_as_a_button_is_a_day_or_what_it_carries(world) -> None:
    number = world.block_held()
    push(world, ids.EXTEND, argument=f"{number}|72")
    assert world.reservation(number + 1).request.duration_hours == Decimal(72)
    other = ExtendWorld()
    number = other.block_held()
    push(other, ids.EXTEND, reservation=number)
    assert other.reservation(number + 1).request.duration_hours == Decimal(24)
    other.store.close()


def test_release_and_take_move_it(world) -> None:
    number = world.block_held()
    said = say(world, f"release {number}")
    assert "offered to everybody" in said.messages[0].text
    said = push(world, ids.TAKE, user=OTHER, argument=str(number))
    assert "is yours now" in said.messages[0].text
    assert world.reservation(number).owner == OTHER


def test_a_handover_is_a_line_and_two_buttons(world) -> None:
    number = world.block_held()
    say(world, f"handover {number} <@{OTHER}>")
    push(world, ids.DECLINE, user=OTHER, argument=str(number))
    say(world, f"handover {number} <@{OTHER}>")
    world.run(timedelta(minutes=1))
    push(world, ids.ACCEPT, user=OTHER, argument=str(number))
    assert world.reservation(number).owner == OTHER


def test_permit_carries_a_sum_and_is_for_approvers_only(world) -> None:
    number = world.block_held()
    with pytest.raises(NotAllowedError):
        push(world, ids.PERMIT, argument=f"{number}|5000.00")
    with pytest.raises(UserError, match="older version"):
        push(world, ids.PERMIT, argument=str(number))


def test_keep_is_only_for_what_stands_idle(world) -> None:
    number = world.block_held()
    with pytest.raises(UserError, match="in use"):
        push(world, ids.KEEP, argument=str(number))
    world.aws.counts(world.receipt_of(number).id, total=2, available=2)
    world.run(timedelta(hours=1))
    assert "is kept" in push(world, ids.KEEP, argument=str(number)).messages[0].text


def test_who_has_nothing_to_do_with_it_can_not_silence_its_reminders(world) -> None:
    number = world.block_held()
    with pytest.raises(NotAllowedError):
        push(world, ids.NOTHING, user=OTHER, argument=str(number))


@pytest.mark.parametrize("argument", ["", "x", "-1", "1;2", "|24"])
def test_a_button_without_a_number_is_an_old_one(world, argument) -> None:
    with pytest.raises(UserError, match="older version"):
        push(world, ids.RELEASE, argument=argument or None)


def card_of(world, number: int):
    from bot.services.words.views import Views  # noqa: PLC0415 - only the cards need it

    views = Views(
        store=world.store,
        clock=world.clock,
        verifying=world.approving.verifying,
        configuration=world.configuration,
    )
    return views.card(number)


def text_of(message) -> str:
    return str(message.blocks)


def test_a_card_shows_what_is_used_and_offers_extend_and_release(world) -> None:
    number = world.block_held()
    world.aws.counts(world.receipt_of(number).id, total=2, available=1)
    world.run(timedelta(hours=2))
    shown = text_of(decision_card(card_of(world, number)))
    assert "1 used, 1 free of 2" in shown
    assert "gpu.extend" in shown
    assert "gpu.release" in shown


def test_after_the_last_usable_minute_status_says_that_machines_are_being_terminated(
    world,
) -> None:
    number = world.block_held()
    assert world.state(number) is ReservationState.ACTIVE
    world.run(END - timedelta(minutes=25) - world.clock.now())
    view = card_of(world, number)
    for shown in (text_of(decision_card(view)), line(view)):
        assert "nding, instances are being terminated" in shown
    assert "gpu.extend" not in text_of(decision_card(view))
    assert "gpu.release" not in text_of(decision_card(view))


def test_only_those_it_concerns_change_which_option_everybody_sees(world) -> None:
    number = world.quoted().id
    with pytest.raises(NotAllowedError):
        world.quoting.show(number, rank=1, by=OTHER)
    world.quoting.show(number, rank=1, by=REQ)
    assert world.reservation(number).shown_rank == 1


@pytest.mark.parametrize(
    "argument",
    ["9" * 5000, "٣", "12|NaN", "12|1e99999999", "12|Infinity", "12|-24", "12|24_0", "x", "-1|24"],
)
def test_a_button_that_carries_no_number_of_ours_is_outdated(argument, world):
    desk = DeskOf(world.after)
    with pytest.raises(UserError, match="older version"):
        after.BUTTONS[ids.EXTEND](Press(ButtonValue(argument=argument), REQ), desk)


def test_a_button_that_carries_no_amount_of_ours_is_outdated(world):
    desk = DeskOf(world.after)
    with pytest.raises(UserError, match="older version"):
        after.BUTTONS[ids.PERMIT](Press(ButtonValue(argument="12|1e9"), REQ), desk)
