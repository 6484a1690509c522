from decimal import Decimal

import pytest

from tests.unit.language.said import asked, said

WORDS = {"en": "1d", "pt": "por 1 dia", "es": "por 1 día"}


def amount(text, language="en"):
    parsed = said(f"2 p5.48xlarge {WORDS[language]} {text}", language)
    assert parsed.status == "ok", (text, parsed)
    return parsed.request.max_total_usd, parsed.request.max_hourly_usd


@pytest.mark.parametrize(
    ("text", "language", "total"),
    [
        ("under $15k", "en", 15000), ("max $15k", "en", 15000), ("up to $15k", "en", 15000),
        ("at most $15k", "en", 15000), ("budget $15k", "en", 15000), ("<= $15k", "en", 15000),
        ("<=$15k", "en", 15000), ("&lt;= $15k", "en", 15000), ("$15k", "en", 15000),
        ("15k USD", "en", 15000), ("USD 15000", "en", 15000), ("15000 dollars", "en", 15000),
        ("max=15k", "en", 15000), ("--max 15k", "en", 15000), ("max US$ 15000", "en", 15000),
        ("under 1,500", "en", 1500), ("max 1500.00", "en", 1500), ("max 1.5k", "en", 1500),
        ("max $1,500.00", "en", 1500), ("max 1,500,000", "en", 1500000),
        ("max $15k under $15k", "en", 15000),
        ("até 15 mil dólares", "pt", 15000), ("no máximo 15 mil dólares", "pt", 15000),
        ("até US$ 15000", "pt", 15000), ("no máximo 1500", "pt", 1500),
        ("max 1.500", "pt", 1500), ("max 1.500,00", "pt", 1500), ("max 15 mil", "pt", 15000),
        ("max 1,5k", "pt", 1500), ("max 1.5k", "pt", 1500), ("max 1500.00", "pt", 1500),
        ("hasta 15 mil dólares", "es", 15000), ("máximo US$ 15000", "es", 15000),
        ("max 1.500", "es", 1500), ("hasta 15000 USD", "es", 15000),
        ("como máximo US$ 1.500,50", "es", "1500.50"),
    ],
)  # fmt: skip
def test_every_form_of_a_total(text, language, total):
    assert amount(text, language) == (Decimal(total), None)


@pytest.mark.parametrize(
    ("text", "language", "hourly"),
    [
        ("$40/h", "en", 40), ("max $40 per hour", "en", 40), ("max=40/h", "en", 40),
        ("hourly=40", "en", 40), ("$34.608/h", "en", "34.608"), ("$1.500/h", "en", "1.5"),
        ("max 45,50 dólares por hora", "pt", "45.50"), ("max 1.500/h", "pt", 1500),
        ("hasta 40 dólares por hora", "es", 40),
    ],
)  # fmt: skip
def test_every_form_of_a_price_per_machine_hour(text, language, hourly):
    assert amount(text, language) == (None, Decimal(hourly))


@pytest.mark.parametrize(
    ("text", "language", "question"),
    [
        ("max 1.500", "en", {"max_total_usd": ["1500.00", "1.50"]}),
        ("$1.500", "en", {"max_total_usd": ["1500.00", "1.50"]}),
        ("max 1,500", "pt", {"max_total_usd": ["1500.00", "1.50"]}),
        ("max 34,608", "es", {"max_total_usd": ["34608.00"]}),
        ("max 1,500/h", "pt", {"max_hourly_usd": ["1500.00", "1.50"]}),
        ("até 1500", "pt", {"max_total_usd": ["1500.00"]}),
        ("até 15 mil", "pt", {"max_total_usd": ["15000.00"]}),
        ("hasta 1500", "es", {"max_total_usd": ["1500.00"]}),
        ("max $15k max $20k", "en", {"max_total_usd": ["15000.00", "20000.00"]}),
    ],
)
def test_an_amount_with_two_readings_is_asked(text, language, question):
    parsed = said(f"2 p5.48xlarge {WORDS[language]} {text}", language)
    assert (parsed.status, asked(parsed)) == ("ask", question)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("max 1.500,00", "en"), ("max 1,5", "en"), ("max 0", "en"), ("max -5", "en"),
        ("max NaN", "en"), ("max inf", "en"), ("max 1e9", "en"), ("max 1.5M", "en"),
        ("max 1500.123", "en"), ("max $2000000000", "en"), ("max $15000000k", "en"),
        ("max 12000 EUR", "en"), ("€1500", "en"), ("max £5", "en"), ("C$500", "en"),
        ("max 12000 JPY", "en"), ("R$ 80 mil", "pt"), ("até 80 mil reais", "pt"),
        ("hasta 100 pesos", "es"), ("15000", "en"), ("$40/day", "en"), ("$40/gpu/h", "en"),
        ("under 2 hours", "en"), ("max 8 p5.48xlarge", "en"), ("under", "en"), ("$", "en"),
    ],
)  # fmt: skip
def test_what_is_no_amount_in_dollars_is_refused(text, language):
    parsed = said(f"2 p5.48xlarge {WORDS[language]} {text}", language)
    assert parsed.status == "refused"
    assert said(parsed.problem.hint, language).status != "refused"


def test_a_billion_is_the_most():
    assert amount("max $1000000000")[0] == 10**9


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "max 40 USD/h"),
        ("en", "40 USD/hour"),
        ("en", "under 40 dollars/hour"),
        ("pt", "até 40 dólares/hora"),
        ("es", "máximo 40 USD/hora"),
    ],
)
def test_dollars_with_a_stroke_are_an_hourly_rate(language, text):
    request = said(f"2 p5.48xlarge 2d {text}", language).request
    assert request.max_hourly_usd == 40
    assert request.max_total_usd is None
