"""Verbs and buttons of what is done with capacity, on the services and a simulated AWS."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

import pytest

from bot.catalog import packaged
from bot.domain.errors import NotAllowedError, UserError
from bot.domain.market import Kind
from bot.domain.request import Parsed, Target
from bot.domain.saying import Announcement, Audience, Section
from bot.kits import Format
from bot.language import parse
from handlers import ids, use
from handlers.actions import KNOWN as BUTTONS
from handlers.cards.notes import note_messages
from handlers.commands import KNOWN as VERBS
from handlers.ids import ButtonValue
from handlers.reply import Reply
from sandbox.aws import SimulatedAws
from tests.fakes.clock import NOW, FakeClock
from tests.handlers.block_kit import faults
from tests.services.use.test_use_endpoints import model
from tests.services.use.use_world import UseWorld


@dataclass
class DeskOf:
    uses: object


@dataclass
class Line:
    parsed: Parsed
    user: str


@dataclass
class Press:
    value: ButtonValue
    user: str


@pytest.fixture
def world(monkeypatch) -> Iterator[UseWorld]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    clock = FakeClock(NOW)
    aws = SimulatedAws(now=clock.now, seed=7)
    monkeypatch.setenv("AWS_ENDPOINT_URL", aws.start())
    world = UseWorld(aws=aws, clock=clock)
    yield world
    aws.stop()
    world.store.close()


def say(world, text: str, user: str = "U0ANA") -> Reply:
    parsed = parse(text, now=NOW, zone="UTC", locale="en-US", catalog=packaged(), answers={})
    assert parsed.problem is None, parsed.problem
    return use.VERBS[str(parsed.command)](Line(parsed, user), DeskOf(world.uses))


def push(world, name: str, value: ButtonValue, user: str = "U0ANA") -> Reply:
    return use.BUTTONS[name](Press(value, user), DeskOf(world.uses))


def blocks(reply: Reply) -> list[dict]:
    found = [block for message in reply.messages for block in message.blocks]
    assert faults(found) == []
    return found


def listed(reply: Reply) -> str:
    (rich,) = [block for block in blocks(reply) if block["type"] == "rich_text"]
    return rich["elements"][0]["elements"][0]["text"]


def menu(reply: Reply) -> dict[str, ButtonValue]:
    (select,) = [
        element
        for block in blocks(reply)
        if block["type"] == "actions"
        for element in block["elements"]
        if element["type"] == "static_select"
    ]
    assert select["action_id"] == ids.KIT
    return {one["text"]["text"]: ButtonValue.read(one["value"]) for one in select["options"]}


def test_every_verb_and_button_of_this_room_is_known_to_the_house() -> None:
    assert set(use.VERBS) == {"launch", "endpoint", "health"}
    assert set(use.VERBS) <= set(VERBS)
    assert set(use.BUTTONS) <= set(BUTTONS)
    assert ids.CLEANUP in use.BUTTONS


def test_launch_shows_a_kit_exactly_and_the_menu_gives_every_other(world) -> None:
    number = world.begun(Kind.CAPACITY_BLOCK)
    reply = say(world, f"launch gpu-{number}")
    assert listed(reply).startswith("aws ec2 run-instances \\\n")
    values = menu(reply)
    assert {value.argument for value in values.values()} == {str(name) for name in Format}
    for value in values.values():
        assert listed(push(world, ids.KIT, value))


def test_a_kit_is_shown_to_the_letter_whatever_it_holds() -> None:
    text = "a & b < c > *d* `e` _f_ ~g~ <@U0ANA> {x}\n\n  ${y} \\\n"
    (message,) = note_messages(
        Announcement(
            kind="note",
            to=Audience(channel="C0GPU"),
            sections=(Section(sentences=(("Words.",),), listing=text),),
        )
    )
    assert message.blocks[-1] == {
        "type": "rich_text",
        "elements": [
            {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": text}]}
        ],
    }
    assert faults(list(message.blocks)) == []
    assert "<@U0ANA>" not in message.text


def test_what_is_posted_when_it_becomes_active_is_what_slack_takes(world) -> None:
    number = world.begun(Kind.CAPACITY_BLOCK)
    (given,) = world.said("Launch kit")
    messages = note_messages(given)
    assert len(messages) == 1
    assert faults(list(messages[0].blocks)) == []
    assert given.reservation_id == number


def test_an_endpoint_is_made_shown_and_deleted_by_its_line(world) -> None:
    number = world.begun(Kind.TRAINING_PLAN, Target.ENDPOINT)
    model(world)
    blocks(say(world, f"endpoint create gpu-{number} model=llama x1"))
    world.run(timedelta(minutes=10))
    assert "InService" in say(world, f"endpoint status gpu-{number}").messages[0].text
    with pytest.raises(NotAllowedError):
        say(world, f"endpoint delete gpu-{number}", user="U0LIN")
    blocks(say(world, "endpoint delete llama"))
    world.run(timedelta(minutes=10))
    assert "is gone" in say(world, f"endpoint status gpu-{number}").messages[0].text


def test_an_endpoint_needs_a_model(world) -> None:
    parsed = parse(
        "endpoint create gpu-42", now=NOW, zone="UTC", locale="en-US", catalog=packaged()
    )
    assert [question.field for question in parsed.questions] == ["model"]


def test_health_is_said_to_whoever_asks(world) -> None:
    number = world.begun(Kind.CAPACITY_BLOCK)
    reply = say(world, f"health gpu-{number}", user="U0LIN")
    assert "The interconnect is ok." in reply.messages[0].text
    blocks(reply)


def test_the_reminders_button_and_the_notes_buttons_clean_up(world) -> None:
    number = world.begun(Kind.ODCR)
    push(world, ids.CLEANUP, ButtonValue(argument=str(number)))
    world.settle()
    note = world.messenger.said[f"note:gpu-{number}:cleanup"]
    (message,) = note_messages(note)
    assert faults(list(message.blocks)) == []
    (remove,) = [
        element
        for block in message.blocks
        if block["type"] == "actions"
        for element in block["elements"]
        if element["action_id"] == ids.CLEAN
    ]
    assert "can't be undone" in remove["confirm"]["text"]["text"]
    push(world, ids.CLEAN, ButtonValue.read(remove["value"]))
    world.run(timedelta(minutes=5))
    assert (
        "nothing left" in push(world, ids.CLEANUP, ButtonValue(reservation=number)).messages[0].text
    )


@pytest.mark.parametrize("name", sorted(use.BUTTONS))
def test_a_button_without_its_number_is_an_old_one(name) -> None:
    with pytest.raises(UserError, match="older version"):
        use.BUTTONS[name](Press(ButtonValue(), "U0ANA"), DeskOf(object()))
