"""Reads a text for one person at one fixed time, as the tables of this room need it."""

import json
from collections.abc import Mapping
from datetime import datetime

from bot.catalog import packaged
from bot.domain.request import Parsed
from bot.language import parse

NOW = datetime.fromisoformat("2027-03-10T15:00:00Z")
"""A Wednesday, 16:00 in Berlin and Madrid, 12:00 in São Paulo."""
ZONES = {"en": "Europe/Berlin", "pt": "America/Sao_Paulo", "es": "Europe/Madrid"}
LOCALES = {"en": "en-US", "pt": "pt-BR", "es": "es-ES"}


def said(
    text: str,
    language: str = "en",
    *,
    zone: str | None = None,
    now: datetime = NOW,
    answers: Mapping[str, str] | None = None,
) -> Parsed:
    return parse(
        text,
        now=now,
        zone=zone or ZONES[language],
        locale=LOCALES[language],
        catalog=packaged(),
        answers=answers,
    )


def facts(parsed: Parsed) -> dict[str, object]:
    """Return the fields of the request that are set, as the contract prints them."""
    if parsed.request is None:
        return {}
    request = json.loads(parsed.request.model_dump_json())
    return {key: value for key, value in request.items() if value not in (None, [], False)}


def asked(parsed: Parsed) -> dict[str, list[str]]:
    """Return the values offered for every asked field, in order."""
    return {q.field: [choice.value for choice in q.choices] for q in parsed.questions}
