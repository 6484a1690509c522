"""The verb watch, the button on a card, and the two buttons of a watch."""

import json
from decimal import Decimal

import pytest

from bot.catalog import packaged
from bot.domain.errors import NotAllowedError
from bot.domain.request import Question
from bot.domain.saying import Announcement, Audience, Section
from bot.language import parse
from bot.services.requests.asking import Asker
from bot.services.requests.watch_words import found_presses
from bot.services.requests.watching import Watch
from handlers import ids
from handlers.cards.decision import decision_card
from handlers.cards.notes import note_messages
from handlers.ids import ButtonValue
from tests.handlers.office import NOW, ask, card, decision, ok, option, request
from tests.unit.cards.test_cards import names

LINE = "watch 2 p5.48xlarge for 72h"
ORDER = "reserve 2 p5.48xlarge for 72h"


class FakeWatching:
    """Remembers what it was told; its watch 3 is U0ANA's."""

    def __init__(self) -> None:
        self.told: list[tuple[object, ...]] = []
        self.reservation: int | None = None
        self.wanted = request()

    def watch(self, wanted, line: str, *, by: Asker) -> int:
        assert wanted == self.wanted
        self.told.append(("watch", line, by.user, by.channel, by.zone))
        return 3

    def stop(self, watch_id: int, *, by: str) -> str:
        self.told.append(("stop", watch_id, by))
        return "I no longer watch for it."

    def found(self, watch_id: int, *, by: str) -> Watch:
        if by != "U0ANA":
            raise NotAllowedError("Only the person who set this watch may use it.")
        return Watch(
            id=watch_id,
            who=by,
            workspace="T0GPU",
            channel="C0GPU",
            zone="Europe/Berlin",
            locale="en-US",
            request=request(),
            line=LINE,
            filed_at=NOW,
            until=NOW,
            next_at=NOW,
            reservation=self.reservation,
        )

    def filed(self, watch_id: int, reservation_id: int, *, by: str) -> None:
        self.told.append(("filed", watch_id, reservation_id, by))


@pytest.fixture
def watching(office) -> FakeWatching:
    fake = FakeWatching()
    object.__setattr__(office.desk, "watching", fake)
    language = office.language

    def parse(text, **given):
        if not text.startswith("watch"):
            return language(text, **given)
        if text == "watch":
            return ask("watch", Question(field="instance_type", question="Which?", choices=()))
        return ok("watch", line=text, request=request())

    object.__setattr__(office.desk, "parse", parse)
    return fake


def test_the_line_is_watched_for_whoever_sent_it_and_can_be_stopped(office, watching):
    office.command(LINE)
    office.work()
    assert watching.told == [("watch", LINE, "U0ANA", "C0GPU", "Europe/Berlin")]
    assert "Nothing is bought or held" in office.said()
    office.press(ids.WATCH_STOP, office.value(ids.WATCH_STOP))
    office.work()
    assert watching.told[1:] == [("stop", 3, "U0ANA")]
    assert "no longer watch" in office.said()


def test_a_watch_for_no_machine_is_asked_about(office, watching):
    office.command("watch")
    office.work()
    assert "Which?" in office.said()
    assert watching.told == []


def test_a_card_where_nothing_fits_can_be_watched_as_it_was_asked(office, watching):
    office.services.cards[42] = card(decision=decision())
    office.press(ids.WATCH, ButtonValue(reservation=42).text(), user="U0LIN")
    office.work()
    assert watching.told == [("watch", LINE, "U0LIN", "C0GPU", "Europe/Berlin")]


def test_a_card_offers_to_watch_for_any_or_for_less_than_it_shows():
    assert names(decision_card(card(decision=decision()))) == [ids.WATCH, ids.CHANGE, ids.CANCEL]
    assert ids.WATCH in names(decision_card(card(decision=decision(option()))))


def test_what_costs_under_two_dollars_is_not_undercut():
    cheap = option().model_copy(update={"total_usd": Decimal("1.99")})
    assert ids.WATCH not in names(decision_card(card(decision=decision(cheap))))


@pytest.mark.parametrize(("total", "ceiling"), [("6877.44", "6877"), ("6877.00", "6876")])
def test_a_watch_for_less_asks_for_the_same_under_the_shown_total(office, watching, total, ceiling):
    shown = decision(option().model_copy(update={"total_usd": Decimal(total)}))
    office.services.cards[42] = card(decision=shown)
    watching.wanted = request().model_copy(update={"max_total_usd": Decimal(ceiling)})
    value = ButtonValue(reservation=42, rank=1, seen=shown.digest[:12])
    office.press(ids.WATCH, value.text(), user="U0LIN")
    office.work()
    ((_, line, by, _, _),) = watching.told
    assert by == "U0LIN"
    read = parse(line, now=NOW, zone="Europe/Berlin", locale="en-US", catalog=packaged())
    assert read.request == watching.wanted


@pytest.mark.parametrize("changes", [{"seen": "0" * 12}, {"rank": 9}])
def test_a_watch_for_less_than_an_older_card_showed_is_outdated(office, watching, changes):
    shown = decision(option())
    office.services.cards[42] = card(decision=shown)
    value = ButtonValue(reservation=42, rank=1, seen=shown.digest[:12]).model_copy(update=changes)
    office.press(ids.WATCH, value.text())
    office.work()
    assert watching.told == []


def test_what_was_found_is_filed_as_it_was_stored(office, watching):
    office.press(ids.WATCH_FILE, ButtonValue(argument="3").text())
    office.work()
    assert office.services.told == [("file", ORDER, "U0ANA", False)]
    assert watching.told == [("filed", 3, 12, "U0ANA")]
    assert "Filed as gpu-12" in office.said()


def test_a_press_that_comes_twice_at_once_files_one_request(office, watching):
    for _ in range(2):
        office.press(ids.WATCH_FILE, ButtonValue(argument="3").text())
    office.work()
    assert len(office.services.filed) == 1
    assert {row[2] for row in watching.told} == {12}


def test_nobody_else_files_what_a_person_watched_for(office, watching):
    office.press(ids.WATCH_FILE, ButtonValue(argument="3").text(), user="U0LIN")
    office.work()
    assert office.services.told == []
    assert "Only the person" in office.said()


@pytest.mark.parametrize("button", [ids.WATCH, ids.WATCH_FILE, ids.WATCH_STOP])
def test_a_watch_button_that_carries_nothing_is_told_so(office, watching, button):
    office.press(button, ButtonValue().text())
    office.work()
    assert watching.told == []
    assert "older version" in office.said()


def test_the_word_to_the_person_has_the_button_that_files():
    told = Announcement(
        kind="note",
        to=Audience(user="U0ANA"),
        sections=(Section(sentences=(("Found.",),)),),
        presses=found_presses(3),
    )
    [message] = note_messages(told)
    assert names(message) == [ids.WATCH_FILE]
    assert json.loads(message.blocks[-1]["elements"][0]["value"]) == {"argument": "3"}
