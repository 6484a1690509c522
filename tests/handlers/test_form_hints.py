"""What the form shows as an example is understood when somebody types it there."""

from datetime import UTC, datetime

import pytest

from bot.catalog import packaged
from bot.domain.request import Problem, Question
from bot.language import parse
from handlers import ids
from handlers.cards import private
from handlers.forms import FormContext, request_form, sentence_of
from tests.handlers.office import ask

# A Wednesday; with a day's length every example lies ahead.
NOW = datetime(2027, 3, 10, 15, tzinfo=UTC)
LENGTH = {"en-US": "1 day", "pt-BR": "1 dia", "es-ES": "1 día"}


def hints(locale: str) -> dict[str, list[str]]:
    context = FormContext(channel="C0GPU", zone="Europe/Berlin", locale=locale)
    return {
        block["block_id"]: block["element"]["placeholder"]["text"].split(" · ")
        for block in request_form(context, None)["blocks"]
        if block["element"]["type"] == "plain_text_input"
    }


@pytest.mark.parametrize("locale", sorted(LENGTH))
def test_every_example_of_the_form_is_understood(locale):
    shown = hints(locale)
    assert len(shown) >= 9
    for field, examples in shown.items():
        for example in examples:
            values = {"what": "8xH100", "length": LENGTH[locale], field: example}
            line, _ = sentence_of(values)
            parsed = parse(line, now=NOW, zone="Europe/Berlin", locale=locale, catalog=packaged())
            assert parsed.status == "ok", (line, parsed.problem)
            if field != "reason":
                assert parsed.request.reason is None


@pytest.mark.parametrize("locale", sorted(LENGTH))
def test_an_example_of_the_form_fits_a_phone(locale):
    assert all(len(" · ".join(examples)) <= 42 for examples in hints(locale).values())


@pytest.mark.parametrize(("verb", "offered"), [("reserve", True), ("handover", False)])
def test_the_form_is_offered_only_for_what_it_asks(verb, offered):
    parsed = ask(verb, Question(field="person", question="Who?", choices=()))
    [message] = private.asked(parsed, delivery=1, locale="en-US")
    assert (ids.FORM in str(message.blocks)) == offered
    assert ("use the form" in str(message.blocks)) == offered
    assert private.fits_form(parsed) == offered
    problem = Problem(message="Left over.", at=None, hint="status")
    said = private.refused(problem, text="x", delivery=1, locale="en-US", form=offered)
    assert (ids.FORM in str(said.blocks)) == offered
