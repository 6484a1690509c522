"""What the form shows as an example is understood when somebody types it there."""

from datetime import UTC, datetime

import pytest

from bot.catalog import packaged
from bot.language import parse
from handlers.forms import FormContext, request_form, sentence_of

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
