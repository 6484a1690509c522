"""Handlers and the real command language agree: forms, choices, help, and what users type."""

import time
from datetime import UTC, datetime
from functools import partial

import pytest

from bot.catalog import packaged
from bot.domain.request import Status, Target
from bot.language import VERBS, help_text, parse
from handlers.cards.private import helped
from handlers.commands import KNOWN
from handlers.forms import FormContext, complaints, request_form, sentence_of
from tests.handlers.block_kit import faults, view_faults
from tests.handlers.office import NOW, Office, card, proposal

READ = partial(parse, catalog=packaged())
ZONE = "Europe/Berlin"

LINES = [
    "reserve 16xH100 for 2 days from Mar 15 9am under $15k",
    "reserve 2 p5.48xlarge for 72h",
    "reserve at least 6 of 8 p5.48xlarge for 2w no spot in us-east-1, us-west-2",
    "reserve 2 p5.48xlarge for at least 36h after Mar 20 by Mar 30 max $40 per hour at 60% use",
    "reserve 2 p5.48xlarge 24h on Mar 16 for a training job spot ok",
    'reserve p5.48xlarge x1 2d for <@U0LIN> team=vision platform=Ubuntu-Pro because "a & b"',
    "reserve 8 gpus p5.4xlarge for 1 day in Ohio as an endpoint",
    "reserve 2 p5.48xlarge from Mar 15 9:00 to Mar 16 17:00",
]


@pytest.fixture
def talking(slack):
    office = Office(slack)
    object.__setattr__(office.desk, "parse", READ)
    object.__setattr__(
        office.desk, "help", lambda verb, locale: help_text(verb, locale, tuple(KNOWN))
    )
    yield office
    office.store.close()


def filled(view):
    values = {}
    for block in view["blocks"]:
        element = block["element"]
        chosen = element.get("initial_option")
        values[block["block_id"]] = chosen["value"] if chosen else element.get("initial_value")
    return values


@pytest.mark.parametrize("line", LINES)
def test_a_form_filled_from_a_request_means_that_very_request(line):
    parsed = READ(line, now=NOW, zone=ZONE, locale="en-US")
    assert parsed.status is Status.OK, parsed
    view = request_form(FormContext(zone=ZONE), parsed.request)
    assert view_faults(view) == []
    sentence, _ = sentence_of(filled(view))
    again = READ(sentence, now=NOW, zone=ZONE, locale="pt-BR")
    assert again.status is Status.OK, (sentence, again.problem, again.questions)
    assert again.request == parsed.request


@pytest.mark.parametrize("target", list(Target))
def test_every_target_of_the_form_is_one_of_the_language(target):
    values = {"what": "2 p5.48xlarge", "length": "1 day", "target": str(target), "spot": "no"}
    parsed = READ(sentence_of(values)[0], now=NOW, zone=ZONE, locale="es-ES")
    assert parsed.request is not None
    assert (parsed.request.target, parsed.request.interruptible) == (target, False)


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("what", "x0 p5.48xlarge"),
        ("length", "0 days"),
        ("when", "on Feb 30"),
        ("budget", "12000 JPY"),
        ("use", "160%"),
    ],
)
def test_a_complaint_stands_under_the_field_it_is_about(field, text):
    values = {"what": "2 p5.48xlarge", "length": "3 days", field: text, "reason": "x"}
    sentence, spans = sentence_of(values)
    parsed = READ(sentence, now=NOW, zone=ZONE, locale="en-US")
    assert parsed.status is Status.REFUSED
    assert list(complaints(parsed, spans)) == [field]


def test_the_command_alone_opens_the_form_in_three_languages(talking):
    for text in ("", "reserve", "reservar"):
        talking.command(text)
    talking.work()
    assert len(talking.slack.views) == 3


def test_questions_are_answered_one_after_the_other_with_buttons(talking):
    talking.command("reserve p5 for 1 day from 03/04/2027")
    talking.work()
    for _ in range(4):
        if talking.services.told:
            break
        block = next(
            b
            for b in talking.slack.private[-1]["blocks"]
            if (b.get("accessory") or (b.get("elements") or [{}])[0]).get("action_id")
            == "gpu.choice"
        )
        element = block.get("accessory") or block["elements"][0]
        value = element.get("value") or element["options"][0]["value"]
        talking.press("gpu.choice", value)
        talking.work()
    assert talking.services.told[0][0] == "file"


def test_a_denial_without_a_reason_asks_for_it(talking):
    talking.services.cards[42] = card(proposal=proposal())
    talking.command("deny 42", user="U0BRUNO")
    talking.work()
    assert talking.slack.views[-1]["callback_id"] == "gpu.deny.view"


def test_curly_quotes_keep_the_reason_together(talking):
    talking.command("reserve p5.48xlarge x1 2d reason=“nightly evals”")
    talking.work()
    assert 'because "nightly evals"' in talking.services.told[0][1]


def test_times_are_read_in_the_persons_zone_whatever_the_process_thinks(talking, monkeypatch):
    for zone in ("America/Chicago", "Asia/Tokyo"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        talking.command("reserve 1 p5.48xlarge 2d from 2027-03-16 14:55")
        talking.work()
    lines = {told[1] for told in talking.services.told}
    assert len(lines) == 1
    parsed = READ(lines.pop(), now=NOW, zone="UTC", locale="en-US")
    assert parsed.request.earliest_start == datetime(2027, 3, 16, 13, 55, tzinfo=UTC)
    monkeypatch.undo()
    time.tzset()


def test_help_lists_exactly_the_verbs_that_work(talking):
    verbs = {entry.verb for entry in VERBS["en"]}
    assert set(KNOWN) <= verbs
    talking.command("help")
    talking.work()
    said = str(talking.slack.private)
    for verb in verbs:
        assert (f"{verb}: " in said) is (verb in KNOWN), verb


@pytest.mark.parametrize("locale", ["en-US", "pt-BR", "es-ES"])
@pytest.mark.parametrize("verb", [None, *KNOWN])
def test_help_fits_slack_in_every_language(locale, verb):
    for message in helped(help_text(verb, locale, tuple(KNOWN))):
        assert faults(list(message.blocks)) == []


def test_a_private_answer_is_in_the_language_of_the_asker(talking):
    talking.command("reserve p5.48xlarge por 1 dia", user="U0LIN")
    talking.work()
    assert "foi registrado" in talking.said()
    talking.command("reserve 0 p5.48xlarge por 1 dia", user="U0LIN")
    talking.work()
    assert "Isto funciona:" in talking.said()
