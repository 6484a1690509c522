"""Lines near the borders of a rule: which side they fall on, and what the answer offers."""

import json
from datetime import datetime

import pytest

from tests.unit.language.said import asked, facts, said

_BEFORE_NEW_YEAR = datetime.fromisoformat("2027-12-28T12:00:00Z")
_AFTER_NEW_YEAR = datetime.fromisoformat("2028-01-03T12:00:00Z")


def _times(text, language="en", **circumstances):
    parsed = said(f"2 p5.48xlarge {text}", language, **circumstances)
    assert parsed.status == "ok", (text, parsed.problem, parsed.questions)
    held = facts(parsed)
    fields = ("earliest_start", "latest_start", "latest_end", "duration_hours")
    return tuple(str(held.get(name, "")).removesuffix(":00Z") for name in fields)


@pytest.mark.parametrize(
    ("text", "language", "latest_end"),
    [
        ("4h on Mar 15 by 5pm", "en", "2027-03-15T16:00"),
        ("4h from Mar 15 9am by 5pm", "en", "2027-03-15T16:00"),
        ("4h from Mar 15 9pm before 5am", "en", "2027-03-16T04:00"),
        ("2h today by 8pm", "en", "2027-03-10T19:00"),
        ("2h em 22 de março até às 17h", "pt", "2027-03-22T20:00"),
        ("2h el viernes hasta las 17", "es", "2027-03-12T16:00"),
    ],
)
def test_an_end_time_without_a_day_is_the_first_after_the_start(text, language, latest_end):
    assert _times(text, language)[2] == latest_end


def test_an_end_time_without_a_start_is_asked_with_the_ends_that_leave_room():
    parsed = said("2 p5.48xlarge 4h by 5pm")
    assert asked(parsed) == {"latest_end": ["2027-03-11T16:00:00Z"]}
    assert said("2 p5.48xlarge 2d by 5pm").status == "refused"


def test_an_end_time_waits_for_a_start_that_is_asked():
    assert asked(said("2 p5.48xlarge 4h on the 15th by 5pm")) == {
        "earliest_start": ["2027-03-15", "2027-04-15"]
    }


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("2d em 22 de março até 25 de março", "pt"),
        ("2d em 22 de março, até 25 de março", "pt"),
        ("2d a partir de 22 de março até 25 de março", "pt"),
        ("até 25 de março em 22 de março 2d", "pt"),
        ("2d on Mar 22 until Mar 25", "en"),
    ],
)
def test_a_day_and_a_deadline_are_no_range_when_the_duration_is_said(text, language):
    zone = "Europe/Berlin"
    assert _times(text, language, zone=zone) == (
        "2027-03-21T23:00", "2027-03-22T23:00", "2027-03-25T23:00", "48",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("amanhã às 9h até sexta às 17h", "pt"),
        ("de amanhã às 9h até sexta às 17h", "pt"),
        ("mañana a las 9 hasta el viernes a las 17", "es"),
        ("desde mañana a las 9 hasta el viernes a las 17", "es"),
        ("tomorrow 9am until friday 5pm", "en"),
    ],
)
def test_a_start_and_an_end_without_a_duration_are_a_range(text, language):
    assert _times(text, language, zone="Europe/Berlin") == (
        "2027-03-11T08:00", "2027-03-11T08:00", "2027-03-12T16:00", "32",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("tomorrow from 9am to 5pm", "en"),
        ("from 9am to 5pm on Mar 11", "en"),
        ("amanhã das 9h às 17h", "pt"),
        ("amanhã das 9h até às 17h", "pt"),
        ("mañana de las 9 a las 17", "es"),
    ],
)
def test_two_times_belong_to_the_one_day(text, language):
    parsed = said(f"2 p5.48xlarge {text}", language, zone="Europe/Berlin")
    start = facts(parsed).get("earliest_start") or asked(parsed)["earliest_start"][0]
    assert start == "2027-03-11T08:00:00Z"
    assert "duration_hours" not in asked(parsed)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("2d between Mar 20 and Mar 15", "not after the start"),
        ("from Mar 16 17:00 to Mar 15 9:00", "not after the start"),
        ("2d from Mar 15 9:00 to Mar 16 17:00", "32 h long; the duration is 48 h"),
        ("from Mar 15 9:00 to Mar 15 9:30", "the least is one hour"),
        ("from Mar 15 2027 9:00 to Mar 15 2029 9:00", "more than two years ahead"),
        ("2d before today", "in the past (Wednesday, 10 March 2027, 00:00"),
        ("2d 2027-03-15T24:00Z", "no such time as “24:00Z”"),
        ("2d 2027-03-15T09:00PDT", "no such time"),
    ],
)
def test_a_range_that_cannot_fit_is_refused_with_the_numbers(text, code):
    problem = said(f"2 p5.48xlarge {text}").problem
    assert problem is not None
    assert code in problem.message


@pytest.mark.parametrize(
    ("text", "now", "start"),
    [
        ("2d between Dec 20 and Jan 5", _AFTER_NEW_YEAR, "2028-12-20"),
        ("2d between Dec 29 and Jan 5", _BEFORE_NEW_YEAR, "2027-12-29"),
        ("2d between tomorrow and Jan 5", _BEFORE_NEW_YEAR, "2027-12-29"),
        ("from Dec 30 9:00 to Jan 2 9:00", _BEFORE_NEW_YEAR, "2027-12-30T08:00:00Z"),
    ],
)
def test_a_range_over_new_year_is_asked_on_every_day_of_the_year(text, now, start):
    assert asked(said(f"2 p5.48xlarge {text}", now=now))["earliest_start"] == [start]


@pytest.mark.parametrize(
    ("text", "language", "start"),
    [
        ("in 1.5 days", "en", "2027-03-12T03:00"),
        ("em 1,5 dias", "pt", "2027-03-12T03:00"),
        ("in 3 days or later", "en", "2027-03-12T23:00"),
        ("2027-03-15T9:00Z", "en", "2027-03-15T09:00"),
        ("hasta las 17 del viernes", "es", ""),
        ("después de las 9 del viernes", "es", "2027-03-12T08:00"),
        ("depois das 9h de sexta", "pt", "2027-03-12T08:00"),
    ],
)
def test_a_start_as_people_say_it(text, language, start):
    assert _times(f"24h {text}", language, zone="Europe/Berlin")[0] == start


def test_a_deadline_at_a_midnight_is_told_as_its_day_and_read_back():
    parsed = said("2 p5.48xlarge 2d by 2029-03-10")
    assert parsed.line == "reserve 2 p5.48xlarge for 48h by 2029-03-10"
    assert said(parsed.line).request == parsed.request


@pytest.mark.parametrize(
    ("words", "hours"),
    [
        ("3 days 72h", ["144", "72"]),
        ("2d 30h", ["78", "48", "30"]),
        ("in 3 days 36h 2d", ["36", "48"]),
    ],
)
def test_amounts_that_may_be_one_length_or_two_are_asked(words, hours):
    assert asked(said(f"2 p5.48xlarge {words}"))["duration_hours"] == hours


@pytest.mark.parametrize("words", ["for three", "por tres", "3M", "1d3M", "3 M", "for 2h30"])
def test_a_number_without_a_clear_unit_is_refused(words):
    parsed = said(f"2 p5.48xlarge {words}")
    assert parsed.status == "refused"
    assert said(parsed.problem.hint).status == "ok"


def test_capitals_may_say_hours_and_minutes():
    assert facts(said("2 P5.48XLARGE 2H30M"))["duration_hours"] == "2.5"


def test_the_hours_that_are_offered_fit_before_the_deadline():
    assert asked(said("2 p5.48xlarge by friday"))["duration_hours"] == ["24"]
    assert asked(said("2 p5.48xlarge by today"))["duration_hours"] == ["8"]


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("handover <@U0LIN> 42", {"person": "U0LIN"}),
        ('deny "too dear" 42', {"reason": "too dear"}),
        ('deny because "too dear" 42', {"reason": "too dear"}),
        ("extend by 2d 42", {"duration_hours": "48"}),
        ("extend 3 days #42", {"duration_hours": "72"}),
    ],
)
def test_the_parts_of_a_verb_come_in_any_order(text, arguments):
    parsed = said(text)
    assert (parsed.status, parsed.id, parsed.arguments) == ("ok", "gpu-42", arguments)


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("para por favor", "stop"),
        ("por favor, para", "stop"),
        ("mercado de H100", "market"),
        ("endpoint create llama count=2", "endpoint"),
    ],
)
def test_words_that_mean_nothing_change_no_verb(text, command):
    parsed = said(text, "pt")
    assert (parsed.status, parsed.command) == ("ok", command)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("delete 42", "release 42"),
        ("extend 42 by 2", "extend 42 for 2 days"),
        ("deny 42 too dear", 'deny 42 "too dear"'),
        ("2 p5.48xlarge 3d because eval run", '2 p5.48xlarge 3d because "eval run"'),
        ("8 gpus g6f.large 3d", "8 g6f.large 3d"),
        ("36 gpus u-p6e-gb200x72 3d", "72 gpus u-p6e-gb200x72 3d"),
        ("300 machines of p5.48xlarge 3d", "1 p5.48xlarge 3d"),
        ("0xp5.48xlarge 3d", "1xp5.48xlarge 3d"),
        ("2 p5.48xlarge 3d by=tomorrow", "2 p5.48xlarge 3d"),
    ],
)
def test_the_hint_keeps_what_was_understood(text, hint):
    parsed = said(text)
    assert (parsed.status, parsed.problem.hint) == ("refused", hint)


@pytest.mark.parametrize(
    ("text", "machines"),
    [
        ("2 of the p5.48xlarge 3d", {"instance_type": "p5.48xlarge", "instance_count": 2}),
        ("2 p5.48xlarge machines 3d", {"instance_type": "p5.48xlarge", "instance_count": 2}),
        ("1 nó de p5.48xlarge 3d", {"instance_type": "p5.48xlarge", "instance_count": 1}),
        ("8 A100 80GB 3d", {"instance_type": "p4de.24xlarge", "accelerator_count": 8}),
    ],
)
def test_small_words_beside_a_machine_are_understood(text, machines):
    assert machines.items() <= facts(said(text)).items()


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("2 p5.48xlarge no spot 3d", "en"),
        ("3d 2 p5.48xlarge no puede interrumpirse", "es"),
        ("max 15,000 no spot 2 p5.48xlarge 3d", "en"),
    ],
)
def test_no_after_a_machine_or_an_amount_still_says_no(text, language):
    request = said(text, language).request
    assert request is not None
    assert request.interruptible is False


def test_an_amount_too_large_to_count_machines_is_money_before_a_machine():
    parsed = facts(said("max 15,000 p5en.48xlarge x4 3d"))
    assert (parsed["max_total_usd"], parsed["instance_count"]) == ("15000.00", 4)
    assert said("max 8 p5en.48xlarge 3d").status == "refused"


def test_every_choice_that_is_offered_leads_on():
    parsed = said("16 gpus 3d")
    for value in asked(parsed)["instance_type"]:
        answered = said("16 gpus 3d", answers={"instance_type": value})
        assert answered.status == "ok", (value, answered.problem)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("for <https://example.com|the paper>", "the paper"),
        ('because "<http://x.test|x.test>"', "x.test"),
        ('because "<http://x.test|x.test> & more"', "x.test & more"),
        ("for evals please", "evals"),
        ("for evals, por favor, thanks", "evals"),
        ("for thanks", "thanks"),
    ],
)
def test_a_reason_is_what_was_typed_without_slacks_marks_or_thanks(text, reason):
    assert facts(said(f"2 p5.48xlarge 3d {text}"))["reason"] == reason


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("in US East (Ohio)", "regions", ["us-east-2"]),
        ("in Asia Pacific (Tokyo), Ohio", "regions", ["ap-northeast-1", "us-east-2"]),
        ("running 8h/day", "utilization", "0.3333"),
        ("running eight hours a day", "utilization", "0.3333"),
        ("owner=U0DANA", "owner", "U0DANA"),
        ("channel=C0BBB222", "channel", "C0BBB222"),
        ("por lo menos 3 días", "strict", True),
    ],
)
def test_terms_as_people_write_them(text, field, value):
    text = text if "días" in text else f"{text} 3d"
    assert facts(said(f"2 p5.48xlarge {text}"))[field] == value


def test_a_request_prints_the_values_that_the_choices_offer():
    parsed = said("2 p5.48xlarge 2d by Mar 20 at 9")
    for value in asked(parsed)["latest_end"]:
        answered = said("2 p5.48xlarge 2d by Mar 20 at 9", answers={"latest_end": value})
        assert json.loads(answered.request.model_dump_json())["latest_end"] == value
