"""Lines that other tools got wrong in the field, with the values that are right."""

import json
import os
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from bot.catalog import packaged
from bot.cli import status_of
from bot.domain.market import Market
from bot.domain.rules import Rules
from bot.engine import decide
from handlers.cards.decision import plan_card
from tests.unit.language.said import NOW, facts, said

MARKET = Path(__file__).resolve().parents[2] / "data/plan/market-example.json"


@pytest.mark.parametrize(
    ("start", "day"),
    [
        ("next friday", "2027-03-12"),
        ("friday", "2027-03-12"),
        ("next wednesday", "2027-03-17"),
        ("next thursday", "2027-03-11"),
    ],
)
def test_a_weekday_is_the_coming_one_and_is_said_back_in_full(start, day):
    answer = said(f'reserve p5.48xlarge x1 2d start="{start}"', zone="UTC")
    assert facts(answer)["earliest_start"] == f"{day}T00:00:00Z"
    year, month, number = day.split("-")
    assert f"{int(number)} March {year}" in answer.echo
    assert month == "03"


def test_the_weekday_of_today_is_asked_and_never_a_past_hour():
    [question] = said('p5.48xlarge x1 2d start="wednesday"', zone="UTC").questions
    assert [choice.value for choice in question.choices] == ["2027-03-10", "2027-03-17"]


def test_the_nine_of_tomorrow_is_asked_and_a_bare_five_refused():
    [question] = said('p5.48xlarge x1 2d start="tomorrow 9"', zone="UTC").questions
    assert question.choices[0].value == "2027-03-11T09:00:00Z"
    assert said("p5.48xlarge x1 2d 5", zone="UTC").status == "refused"


@pytest.mark.parametrize(
    ("start", "first", "last"),
    [
        ("2027-03-13 12:00", "2027-03-13T17:00:00Z", "13:00"),
        ("2027-11-06 12:00", "2027-11-06T16:00:00Z", "11:00"),
    ],
)
def test_two_days_are_48_hours_across_both_clock_changes(start, first, last):
    request = said(f'p5.48xlarge x1 start="{start} America/New_York" 2d', zone="UTC").request
    assert request.duration_hours == 48
    assert (
        facts(said(f'p5.48xlarge 2d start="{start} America/New_York"'))["earliest_start"] == first
    )
    ends = request.earliest_start + timedelta(hours=48)
    there = said(f"p5.48xlarge 1d start={ends.isoformat()}", zone="America/New_York").echo
    assert f"{last} America/New_York" in there


@pytest.fixture(params=["America/Chicago", "Asia/Tokyo"])
def _elsewhere(request, monkeypatch) -> Iterator[None]:
    monkeypatch.setitem(os.environ, "TZ", request.param)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("_elsewhere")
def test_the_zone_of_the_process_changes_nothing():
    fixed = said('p5.48xlarge x1 2d start="2027-03-16 14:55"')
    assert facts(fixed)["earliest_start"] == "2027-03-16T13:55:00Z"
    soon = said('p5.48xlarge x1 2d start="in 5 minutes"').request
    assert soon.earliest_start == NOW + timedelta(minutes=5)
    assert "Europe/Berlin" in fixed.echo


@pytest.mark.parametrize("quotes", ["“”", "‘’", '""', "''", "«»"])
def test_a_reason_reads_the_same_in_any_quotes(quotes):
    text = f"reserve p5.48xlarge x1 2d reason={quotes[0]}nightly evals{quotes[1]}"
    assert facts(said(text))["reason"] == "nightly evals"


def test_an_apostrophe_stays_one_and_an_open_quote_is_refused():
    answer = said("reserve p5.48xlarge x1 2d reason=“don’t stop”")
    assert facts(answer)["reason"] == "don’t stop"
    for quote in "“\"'‘":
        opened = said(f"reserve p5.48xlarge x1 2d reason={quote}nightly evals")
        assert opened.status == "refused"
        assert opened.request is None
        assert said(opened.problem.hint).status == "ok"


@pytest.mark.parametrize(
    ("amount", "dollars"),
    [
        ("1500", "1500.00"),
        ("1,500", "1500.00"),
        ("$1,500.00", "1500.00"),
        ("1.5k", "1500.00"),
        ("12k USD", "12000.00"),
    ],
)
def test_an_amount_with_one_reading_is_that(amount, dollars):
    assert facts(said(f"p5.48xlarge x1 2d budget={amount}"))["max_total_usd"] == dollars


def test_an_amount_with_two_readings_is_asked_and_never_read():
    answer = said("p5.48xlarge x1 2d budget=1.500")
    assert answer.status == "ask"
    assert "max_total_usd" not in facts(answer)


@pytest.mark.parametrize("amount", ["1.500,00", "-5", "NaN", "inf", "0", "1e9", "12000 JPY"])
def test_what_is_no_amount_is_refused_with_a_line_that_works(amount):
    answer = said(f"p5.48xlarge x1 2d budget={amount}")
    assert answer.status == "refused"
    assert answer.problem.message
    assert said(answer.problem.hint).status == "ok"


def test_broadcast_codes_in_a_reason_stay_plain_text():
    text = 'reserve p5.48xlarge x1 1d reason="<!channel> now *urgent* <https://x.test|click>"'
    answer = said(text)
    assert facts(answer)["reason"] == "<!channel> now *urgent* click"
    assert said(answer.line).request == answer.request


@pytest.mark.parametrize("line", ["16xH100", "12xH100", "12 gpus p5.48xlarge"])
def test_gpus_are_taken_on_whole_machines(line, capsys):
    plan = ["plan", f"{line} for 3 days from Mar 15", "--market", str(MARKET)]
    assert status_of([*plan, "--json"]) == 0
    options = json.loads(capsys.readouterr().out)["decision"]["options"]
    block = next(row for row in options if row["instance_type"] == "p5.48xlarge")
    assert block["instance_count"] == 2
    more = [note["text"] for note in block["warnings"] if note["code"] == "whole_machines"]
    said = [] if "16" in line else ["It is 16 GPUs on 2 machines; 12 were asked."]
    assert more == said
    assert status_of(plan) == 0
    assert ("16 GPUs on 2 machines" in capsys.readouterr().out) is bool(said)


def test_the_card_of_twelve_gpus_says_that_they_are_sixteen_on_two_machines():
    wanted = said("12xH100 for 3 days from Mar 15").request
    market = Market.model_validate_json(MARKET.read_bytes())
    decision = decide(wanted, market, Rules(), now=NOW, zone="UTC", catalog=packaged())
    shown = json.dumps(plan_card(decision, "12xH100 for 3 days from Mar 15").blocks)
    assert "16 GPUs on 2 machines; 12 were asked" in shown


def test_gpus_of_a_machine_that_has_one_are_as_many_machines():
    assert said("8 gpus p5.4xlarge 2d").request.instance_count == 8


def test_a_misspelt_machine_is_refused_with_the_right_one():
    answer = said("reserve p5.48xlrage x1 2d")
    assert answer.status == "refused"
    assert "p5.48xlarge" in answer.problem.message
    assert said(answer.problem.hint).status in {"ok", "ask"}


@pytest.mark.parametrize("count", ["x0", "x-1", "x1.5", "x", "x9999"])
def test_a_count_that_cannot_be_is_refused_with_a_line_that_works(count):
    answer = said(f"reserve p5.48xlarge {count} 2d")
    assert answer.status == "refused"
    assert said(answer.problem.hint).status in {"ok", "ask"}
