"""Parts come in any order: lines composed of parts whose meaning the grammar's text settles."""

import json
import random

import pytest

from tests.unit.language.said import LOCALES, said

_15K = {"max_total_usd": "15000.00"}
_40 = {"max_hourly_usd": "40.00"}
_P5 = {"instance_type": "p5.48xlarge", "instance_count": 2}
_P4D = {"instance_type": "p4d.24xlarge", "instance_count": 2}
_H100 = {"accelerator": "H100", "accelerator_count": 16}
_SIX_OF_EIGHT = {"instance_type": "p5.48xlarge", "instance_count": 8, "minimum_count": 6}


def _at(start, latest="", end=""):
    fields = {"earliest_start": start, "latest_start": latest, "latest_end": end}
    return {field: f"2027-{value}:00Z" for field, value in fields.items() if value}


_ANY_LANGUAGE = (
    {"": {}, "team=vision": {"team": "vision"}},
    {"": {}, "platform=Ubuntu-Pro": {"platform": "Ubuntu-Pro"}},
)
_PARTS = {
    "en": (
        {
            "2 p5.48xlarge": _P5,
            "p5.48xlarge x2": _P5,
            "two nodes of p4d.24xlarge": _P4D,
            "16xH100": _H100,
            "16 H100s": _H100,
            "at least 6 of 8 p5.48xlarge": _SIX_OF_EIGHT,
            "type=p5.48xlarge count=2": _P5,
        },
        {
            "for 3 days": {"duration_hours": "72"},
            "36h": {"duration_hours": "36"},
            "2d12h": {"duration_hours": "60"},
            "a week": {"duration_hours": "168"},
            "for at least 2 days": {"duration_hours": "48", "strict": True},
        },
        {
            "": {},
            "asap": {},
            "from Mar 22 9am": _at("03-22T08:00", "03-22T08:00"),
            "on Mar 22": _at("03-21T23:00", "03-22T23:00"),
            "tomorrow at 10:30": _at("03-11T09:30", "03-11T09:30"),
            "after 2027-03-22": _at("03-21T23:00"),
            "in 3 days": _at("03-12T23:00", "03-13T23:00"),
            "in 5 minutes": _at("03-10T15:05", "03-10T15:05"),
            "today": _at("", "03-10T23:00"),
            "guaranteed after Mar 22": _at("03-21T23:00", "03-22T23:00"),
        },
        {
            "": {},
            "by Apr 20": _at("", "", "04-20T22:00"),
            "before Apr 20 17:00": _at("", "", "04-20T15:00"),
            "until Apr 20": _at("", "", "04-20T22:00"),
        },
        {"": {}, "under $15k": _15K, "max 15,000": _15K, "$40/h": _40, "max $40 per hour": _40},
        {
            "": {},
            "in Ohio, us-west-2": {"regions": ["us-east-2", "us-west-2"]},
            "anywhere": {},
            "in São Paulo": {"regions": ["sa-east-1"]},
        },
        {"": {}, "on ec2": {"target": "ec2"}, "for a training job": {"target": "training-job"}},
        {"": {}, "spot ok": {"interruptible": True}, "no spot": {"interruptible": False}},
        {
            "": {},
            "at 60% use": {"utilization": "0.6"},
            "running 8h a day": {"utilization": "0.3333"},
        },
        {"": {}, "for <@U0DANA|dana>": {"owner": "U0DANA"}},
        {"": {}, "in <#C0B|gpu>": {"channel": "C0B"}},
        {"": {}, 'because "eval run"': {"reason": "eval run"}, "reason=evals": {"reason": "evals"}},
        *_ANY_LANGUAGE,
    ),
    "pt": (
        {
            "2 p5.48xlarge": _P5,
            "duas máquinas de p4d.24xlarge": _P4D,
            "16xH100": _H100,
            "pelo menos 6 de 8 p5.48xlarge": _SIX_OF_EIGHT,
        },
        {
            "por 3 dias": {"duration_hours": "72"},
            "1,5 dias": {"duration_hours": "36"},
            "uma semana": {"duration_hours": "168"},
            "por pelo menos 2 dias": {"duration_hours": "48", "strict": True},
        },
        {
            "": {},
            "agora": {},
            "em 22 de março às 9h": _at("03-22T12:00", "03-22T12:00"),
            "a partir de 22/03": _at("03-22T03:00", "03-23T03:00"),
            "na segunda-feira": _at("03-15T03:00", "03-16T03:00"),
            "depois de 22 de março": _at("03-22T03:00"),
            "daqui a 3 dias": _at("03-13T03:00", "03-14T03:00"),
            "hoje": _at("", "03-11T03:00"),
        },
        {
            "": {},
            "até 20 de abril": _at("", "", "04-21T03:00"),
            "até 20 de abril às 17h": _at("", "", "04-20T20:00"),
            "antes de 20/04": _at("", "", "04-20T03:00"),
        },
        {"": {}, "até 15 mil dólares": _15K, "no máximo US$ 15.000,00": _15K, "$40 por hora": _40},
        {"": {}, "em Ohio": {"regions": ["us-east-2"]}, "em qualquer lugar": {}},
        {"": {}, "no ec2": {"target": "ec2"}, "como endpoint": {"target": "endpoint"}},
        {
            "": {},
            "pode ser interrompido": {"interruptible": True},
            "sem spot": {"interruptible": False},
            "não pode ser interrompido": {"interruptible": False},
        },
        {"": {}, "a 60% de uso": {"utilization": "0.6"}},
        {"": {}, "para <@U0DANA|dana>": {"owner": "U0DANA"}},
        {"": {}, 'porque "avaliação"': {"reason": "avaliação"}},
        *_ANY_LANGUAGE,
    ),
    "es": (
        {
            "2 p5.48xlarge": _P5,
            "dos máquinas de p4d.24xlarge": _P4D,
            "16xH100": _H100,
            "al menos 6 de 8 p5.48xlarge": _SIX_OF_EIGHT,
        },
        {
            "por 3 días": {"duration_hours": "72"},
            "36 horas": {"duration_hours": "36"},
            "una semana": {"duration_hours": "168"},
            "por al menos 2 días": {"duration_hours": "48", "strict": True},
        },
        {
            "": {},
            "ahora": {},
            "el 22 de marzo a las 9": _at("03-22T08:00", "03-22T08:00"),
            "a partir del 22 de marzo": _at("03-21T23:00", "03-22T23:00"),
            "el próximo lunes": _at("03-14T23:00", "03-15T23:00"),
            "después del 22 de marzo": _at("03-21T23:00"),
            "dentro de 3 días": _at("03-12T23:00", "03-13T23:00"),
            "hoy": _at("", "03-10T23:00"),
        },
        {
            "": {},
            "hasta el 20 de abril": _at("", "", "04-20T22:00"),
            "hasta las 17 del 20 de abril": _at("", "", "04-20T15:00"),
            "antes del 20 de abril": _at("", "", "04-19T22:00"),
        },
        {"": {}, "hasta 15 mil dólares": _15K, "máximo US$ 15000": _15K, "$40 por hora": _40},
        {"": {}, "en Ohio": {"regions": ["us-east-2"]}, "en cualquier lugar": {}},
        {"": {}, "en ec2": {"target": "ec2"}, "como endpoint": {"target": "endpoint"}},
        {
            "": {},
            "puede interrumpirse": {"interruptible": True},
            "no puede interrumpirse": {"interruptible": False},
        },
        {"": {}, "al 60% de uso": {"utilization": "0.6"}},
        {"": {}, "en <#C0B|gpu>": {"channel": "C0B"}},
        {"": {}, 'porque "evaluación"': {"reason": "evaluación"}},
        *_ANY_LANGUAGE,
    ),
}


def _composed(language, seed):
    """Return a line of one part of each kind in random order, and the fields it sets."""
    chance = random.Random(seed)  # noqa: S311 - not a secret
    expected, words = {}, []
    for kind in _PARTS[language]:
        text, fields = chance.choice(list(kind.items()))
        expected |= fields
        words += [text] if text else []
    chance.shuffle(words)
    return chance.choice((" ", " ", ", ", ";\n")).join(words), expected


@pytest.mark.parametrize("language", _PARTS)
@pytest.mark.parametrize("seed", range(150))
def test_parts_in_any_order_set_their_own_fields_and_no_other(language, seed):
    text, expected = _composed(language, seed)
    parsed = said(text, language)
    assert parsed.status == "ok", (text, parsed.questions, parsed.problem)
    request = json.loads(parsed.request.model_dump_json())
    held = {field: value for field, value in request.items() if value not in (None, [])}
    assert held == {"strict": False} | expected, text


@pytest.mark.parametrize("language", _PARTS)
@pytest.mark.parametrize("seed", range(150, 170))
def test_a_composed_line_comes_back_from_its_canonical_one_in_every_locale(language, seed):
    parsed = said(_composed(language, seed)[0], language)
    zones = {"en": "Europe/Berlin", "pt": "America/Sao_Paulo", "es": "Europe/Madrid"}
    for reader in LOCALES:
        again = said(parsed.line, reader, zone=zones[language])
        assert (again.status, again.request) == ("ok", parsed.request), (parsed.line, reader)
