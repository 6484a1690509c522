import pytest

from tests.unit.language.said import asked, facts, said

TIMES = ("earliest_start", "latest_start", "latest_end", "duration_hours")


def when(text, language="en", **circumstances):
    parsed = said(f"2 p5.48xlarge {text}", language, **circumstances)
    assert parsed.status == "ok", (text, parsed.problem, parsed.questions)
    return tuple(
        value.removesuffix(":00Z").removeprefix("2027-") if isinstance(value, str) else value
        for value in (facts(parsed).get(field) for field in TIMES)
    )


ON_15 = ("03-14T23:00", "03-15T23:00", None, "24")
AT_15 = ("03-15T08:00", "03-15T08:00", None, "24")
AFTER_15 = ("03-14T23:00", None, None, "24")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", (None, None, None, "24")),
        ("asap", (None, None, None, "24")),
        ("now", (None, None, None, "24")),
        ("starting now", (None, None, None, "24")),
        ("on Mar 15", ON_15),
        ("from Mar 15", ON_15),
        ("starting Mar 15", ON_15),
        ("Mar 15", ON_15),
        ("Mar 15th", ON_15),
        ("15 March", ON_15),
        ("March 15, 2027", ON_15),
        ("2027-03-15", ON_15),
        ("start=2027-03-15", ON_15),
        ("monday", ON_15),
        ("next monday", ON_15),
        ("mon", ON_15),
        ("Mar 15 Mar 15", ON_15),
        ("at Mar 15 9am", AT_15),
        ("from Mar 15 9 am", AT_15),
        ("Mar 15 at 9:00", AT_15),
        ("Mar 15 9h", AT_15),
        ("9am on Mar 15", AT_15),
        ("2027-03-15 09:00", AT_15),
        ("2027-03-15T08:00Z", AT_15),
        ("2027-03-15T09:00+01:00", AT_15),
        ("Mar 15 9am Europe/Berlin", AT_15),
        ("--start 'Mar 15 9am'", AT_15),
        ("Mar 15 9h30", ("03-15T08:30", "03-15T08:30", None, "24")),
        ("Mar 15 9:30pm", ("03-15T20:30", "03-15T20:30", None, "24")),
        ("Mar 15 noon", ("03-15T11:00", "03-15T11:00", None, "24")),
        ("Mar 15 12pm", ("03-15T11:00", "03-15T11:00", None, "24")),
        ("Mar 15 midnight", ("03-14T23:00", "03-14T23:00", None, "24")),
        ("Mar 15 12am", ("03-14T23:00", "03-14T23:00", None, "24")),
        ("today", (None, "03-10T23:00", None, "24")),
        ("2027-03-10", (None, "03-10T23:00", None, "24")),
        ("today 8pm", ("03-10T19:00", "03-10T19:00", None, "24")),
        ("tomorrow", ("03-10T23:00", "03-11T23:00", None, "24")),
        ("next wednesday", ("03-16T23:00", "03-17T23:00", None, "24")),
        ("after Mar 15", AFTER_15),
        ("any time from Mar 15", AFTER_15),
        ("Mar 15 or later", AFTER_15),
        ("after=2027-03-15", AFTER_15),
        ("after Mar 15 9am", ("03-15T08:00", None, None, "24")),
        ("guaranteed after Mar 15", ON_15),
        ("guaranteed after Mar 15 9am", AT_15),
        ("guaranteed from Mar 15", ON_15),
        ("guaranteed by Mar 20", (None, None, "03-20T23:00", "24")),
        ("by Friday", (None, None, "03-12T23:00", "24")),
        ("by=friday", (None, None, "03-12T23:00", "24")),
        ("by Mar 20 5pm", (None, None, "03-20T16:00", "24")),
        ("before Mar 20", (None, None, "03-19T23:00", "24")),
        ("before Mar 20 9am", (None, None, "03-20T08:00", "24")),
        ("between Mar 15 and Mar 20", ("03-14T23:00", None, "03-20T23:00", "24")),
        ("between 15 and 20 March", ("03-14T23:00", None, "03-20T23:00", "24")),
        ("after Mar 15 by Mar 20", ("03-14T23:00", None, "03-20T23:00", "24")),
        ("on Mar 15 by Mar 20", ("03-14T23:00", "03-15T23:00", "03-20T23:00", "24")),
        ("in 5 minutes", ("03-10T15:05", "03-10T15:05", None, "24")),
        ("in 3 hours", ("03-10T18:00", "03-10T18:00", None, "24")),
        ("in 3 days", ("03-12T23:00", "03-13T23:00", None, "24")),
        ("in a week", ("03-16T23:00", "03-17T23:00", None, "24")),
    ],
)
def test_every_row_of_the_english_table_sets_its_own_columns(text, expected):
    assert when(f"1d {text}") == expected
    assert when(f"{text} for 1d") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mar 15 9:00 to Mar 16 17:00", ("03-15T08:00", "03-15T08:00", "03-16T16:00", "32")),
        ("Mar 15 9:00 to 17:00", ("03-15T08:00", "03-15T08:00", "03-15T16:00", "8")),
        ("Mar 15 17:00 to 9:00", ("03-15T16:00", "03-15T16:00", "03-16T08:00", "16")),
        ("Mar 15 9:00 to Mar 16 17:00 PT", ("03-15T16:00", "03-15T16:00", "03-17T00:00", "32")),
        ("Mar 15 9:00 until Mar 16 17:00", ("03-15T08:00", "03-15T08:00", "03-16T16:00", "32")),
    ],
)
def test_a_range_with_times_is_the_difference_and_strict(text, expected):
    assert when(f"from {text}") == expected
    assert said(f"2 p5.48xlarge from {text}").request.strict


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("agora", (None, None, None, "24")),
        ("já", (None, None, None, "24")),
        ("em 15 de março", ("03-15T03:00", "03-16T03:00", None, "24")),
        ("no dia 15 de março", ("03-15T03:00", "03-16T03:00", None, "24")),
        ("na segunda-feira", ("03-15T03:00", "03-16T03:00", None, "24")),
        ("segunda", ("03-15T03:00", "03-16T03:00", None, "24")),
        ("a partir de 15 de março", ("03-15T03:00", "03-16T03:00", None, "24")),
        ("desde 15 de março de 2027", ("03-15T03:00", "03-16T03:00", None, "24")),
        ("15/03/2027", ("03-15T03:00", "03-16T03:00", None, "24")),
        ("15/3", ("03-15T03:00", "03-16T03:00", None, "24")),
        ("em 15 de março às 9h", ("03-15T12:00", "03-15T12:00", None, "24")),
        ("amanhã às 9", ("03-11T12:00", "03-11T12:00", None, "24")),
        ("hoje", (None, "03-11T03:00", None, "24")),
        ("depois de 15 de março", ("03-15T03:00", None, None, "24")),
        ("qualquer dia desde 15 de março", ("03-15T03:00", None, None, "24")),
        ("até sexta-feira", (None, None, "03-13T03:00", "24")),
        ("até 20 de março às 17h", (None, None, "03-20T20:00", "24")),
        ("antes de 20 de março", (None, None, "03-20T03:00", "24")),
        ("entre 15 e 20 de março", ("03-15T03:00", None, "03-21T03:00", "24")),
        ("garantido depois de 15 de março", ("03-15T03:00", "03-16T03:00", None, "24")),
        ("daqui a 5 minutos", ("03-10T15:05", "03-10T15:05", None, "24")),
        ("em 3 horas", ("03-10T18:00", "03-10T18:00", None, "24")),
        ("daqui a 3 dias", ("03-13T03:00", "03-14T03:00", None, "24")),
    ],
)
def test_every_row_of_the_portuguese_table(text, expected):
    assert when(f"por 1 dia {text}", "pt") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ahora", (None, None, None, "24")),
        ("ya", (None, None, None, "24")),
        ("el 15 de marzo", ON_15),
        ("a partir del 15 de marzo", ON_15),
        ("desde el lunes", ON_15),
        ("15/03/2027", ON_15),
        ("el 15 de marzo a las 9", AT_15),
        ("a las 9 del lunes", AT_15),
        ("hoy", (None, "03-10T23:00", None, "24")),
        ("mañana", ("03-10T23:00", "03-11T23:00", None, "24")),
        ("después del 15 de marzo", AFTER_15),
        ("hasta el viernes", (None, None, "03-12T23:00", "24")),
        ("hasta el 20 de marzo a las 17", (None, None, "03-20T16:00", "24")),
        ("antes del 20 de marzo", (None, None, "03-19T23:00", "24")),
        ("entre el 15 y el 20 de marzo", ("03-14T23:00", None, "03-20T23:00", "24")),
        ("garantizado después del 15 de marzo", ON_15),
        ("en 5 minutos", ("03-10T15:05", "03-10T15:05", None, "24")),
        ("dentro de 3 días", ("03-12T23:00", "03-13T23:00", None, "24")),
    ],
)
def test_every_row_of_the_spanish_table(text, expected):
    assert when(f"por 1 día {text}", "es") == expected


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("de 15 de março 9:00 a 16 de março 17:00", "pt"),
        ("de 15 de março às 9h até 16 de março às 17h", "pt"),
        ("desde el 15 de marzo a las 9:00 hasta el 16 de marzo a las 17:00", "es"),
    ],
)
def test_ranges_in_portuguese_and_spanish(text, language):
    parsed = said(f"2 p5.48xlarge {text}", language)
    assert (facts(parsed)["duration_hours"], parsed.request.strict) == ("32", True)


@pytest.mark.parametrize(
    ("text", "language", "questions"),
    [
        ("wednesday", "en", {"earliest_start": ["2027-03-10", "2027-03-17"]}),
        ("quarta-feira", "pt", {"earliest_start": ["2027-03-10", "2027-03-17"]}),
        ("miércoles", "es", {"earliest_start": ["2027-03-10", "2027-03-17"]}),
        ("15/03/2027", "en", {"earliest_start": ["2027-03-15"]}),
        ("5/6", "en", {"earliest_start": ["2027-06-05", "2027-05-06"]}),
        ("the 15th", "en", {"earliest_start": ["2027-03-15", "2027-04-15"]}),
        ("no dia 15", "pt", {"earliest_start": ["2027-03-15", "2027-04-15"]}),
        ("el 15", "es", {"earliest_start": ["2027-03-15", "2027-04-15"]}),
        ("tonight", "en", {"earliest_start": ["2027-03-10", "2027-03-11"]}),
        ("this weekend", "en", {"earliest_start": ["2027-03-13", "2027-03-14"]}),
        ("end of month", "en", {"earliest_start": ["2027-03-31", "2027-04-01"]}),
        ("depois de amanhã", "pt", {"earliest_start": ["2027-03-12", "2027-03-11"]}),
        ("at 9am", "en", {"earliest_start": ["2027-03-11T08:00:00Z"]}),
        (
            "Mar 15 9",
            "en",
            {"earliest_start": ["2027-03-15T08:00:00Z", "2027-03-15T20:00:00Z"]},
        ),
        (
            "Mar 15 at 9",
            "en",
            {"earliest_start": ["2027-03-15T08:00:00Z", "2027-03-15T20:00:00Z"]},
        ),
        ("guaranteed", "en", {"earliest_start": ["2027-03-10", "2027-03-11"]}),
        ("garantizado", "es", {"earliest_start": ["2027-03-10", "2027-03-11"]}),
        ("Mar 15 from Mar 16", "en", {"earliest_start": ["2027-03-15", "2027-03-16"]}),
        ("asap on Mar 15", "en", {"earliest_start": ["asap", "2027-03-15"]}),
        ("between Dec 30 and Jan 2", "en", {"earliest_start": ["2027-12-30"]}),
        (
            "by Mar 20 by Mar 21",
            "en",
            {"latest_end": ["2027-03-20T23:00:00Z", "2027-03-21T23:00:00Z"]},
        ),
    ],
)
def test_more_than_one_reading_of_a_day_is_asked(text, language, questions):
    parsed = said(f"2 p5.48xlarge 1d {text}", language)
    assert parsed.status == "ask"
    assert asked(parsed) == questions
    for field in questions:
        assert getattr(parsed.request, field) is None


@pytest.mark.parametrize("text", ["next week", "semana que vem", "la próxima semana"])
def test_a_week_is_no_day(text):
    assert "earliest_start" in asked(said(f"2 p5.48xlarge 1d {text}"))


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("from Mar 15 to Mar 17", "en"),
        ("de 15 a 17 de março", "pt"),
        ("del 15 al 17 de marzo", "es"),
    ],
)
def test_a_range_of_days_is_two_days_or_three(text, language):
    assert asked(said(f"2 p5.48xlarge {text}", language)) == {"duration_hours": ["48", "72"]}


def test_a_range_over_new_year_asks_its_start():
    parsed = said("2 p5.48xlarge from Dec 30 9:00 to Jan 2 9:00")
    assert asked(parsed) == {"earliest_start": ["2027-12-30T08:00:00Z"]}


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Feb 30", "en"),
        ("2027-02-29", "en"),
        ("13/13/2027", "en"),
        ("03/15/2027", "pt"),
        ("31/04", "es"),
        ("15/03/27", "en"),
        ("0001-01-01", "en"),
        ("9999-12-31", "en"),
        ("Mar 15 13pm", "en"),
        ("Mar 15 0:00pm", "en"),
        ("Mar 15 24:00", "en"),
        ("Mar 15 9:75", "en"),
        ("today 9am", "en"),
        ("hoje às 8h", "pt"),
        ("2027-03-09", "en"),
        ("2029-03-11", "en"),
        ("by 2029-06-01", "en"),
        ("yesterday", "en"),
        ("from Mar 20 by Mar 15", "en"),
        ("before today", "en"),
        ("UTC", "en"),
        ("no sábado", "es"),
    ],
)
def test_days_that_cannot_be_are_refused_never_moved(text, language):
    parsed = said(f"2 p5.48xlarge 1d {text}", language)
    assert parsed.status == "refused"
    assert said(parsed.problem.hint, language).status != "refused"


def test_a_window_shorter_than_the_duration_is_refused_with_the_numbers():
    parsed = said("2 p5.48xlarge for 5 days by Mar 12")
    assert parsed.status == "refused"
    assert "56" in parsed.problem.message
    assert "120" in parsed.problem.message


def test_two_years_ahead_to_the_second_is_taken():
    assert said("2 p5.48xlarge 1d from 2029-03-10T15:00Z").status == "ok"
    assert said("2 p5.48xlarge 1d from 2029-03-10T15:01Z").status == "refused"


def test_a_time_belongs_to_the_one_day_wherever_it_stands():
    assert when("Mar 15 for 1d at 9am") == AT_15


@pytest.mark.parametrize(
    ("zone", "instant"),
    [
        ("PT", "16:00"), ("MT", "15:00"), ("CT", "14:00"), ("ET", "13:00"), ("CET", "08:00"),
        ("UTC", "09:00"), ("GMT", "09:00"), ("Z", "09:00"), ("+02:00", "07:00"),
        ("-0300", "12:00"), ("Asia/Tokyo", "00:00"), ("asia/tokyo", "00:00"),
        ("in Europe/London", "09:00"), ("PDT", "16:00"), ("EDT", "13:00"),
    ],
)  # fmt: skip
def test_a_named_zone_settles_the_instant(zone, instant):
    assert when(f"1d Mar 20 9am {zone}")[0] == f"03-20T{instant}"


@pytest.mark.parametrize(
    ("zone", "hours"),
    [
        ("IST", ["03", "07", "09"]), ("CST", ["14", "01", "13"]), ("BST", ["09", "03"]),
        ("AST", ["12", "06"]), ("JST", ["00", "08", "09"]), ("XYZ", ["08", "09"]),
        ("PST", ["17", "16"]), ("MST", ["16", "15"]), ("EST", ["14", "13"]),
        ("CEST", ["07", "08"]),
    ],
)  # fmt: skip
def test_letters_that_may_be_several_zones_or_contradict_the_date_are_asked(zone, hours):
    values = asked(said(f"2 p5.48xlarge 1d Mar 20 9am {zone}"))["earliest_start"]
    assert [value[11:13] for value in values] == hours


@pytest.mark.parametrize(
    ("day", "zone"), [("Mar 12", "PST"), ("Mar 12", "EST"), ("Apr 20", "CEST")]
)
def test_letters_that_fit_the_date_are_taken(day, zone):
    assert said(f"2 p5.48xlarge 1d {day} 9am {zone}").status == "ok"


@pytest.mark.parametrize("text", ["2027-03-14 02:30", "2027-11-07 01:30", "2027-03-14 02:30 EDT"])
def test_a_local_time_that_a_clock_change_skips_or_doubles_is_asked(text):
    parsed = said(f"2 p5.48xlarge 1d {text}", zone="America/New_York")
    assert len(asked(parsed)["earliest_start"]) == 2


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2027-11-07 01:30 EDT", "11-07T05:30"),
        ("2027-11-07 01:30 EST", "11-07T06:30"),
        ("2027-11-07 01:30 -05:00", "11-07T06:30"),
        ("2027-03-14 02:30 -05:00", "03-14T07:30"),
    ],
)
def test_an_offset_or_fitting_letters_settle_a_doubled_time(text, instant):
    assert when(f"1d {text}", zone="America/New_York")[0] == instant


def test_a_day_of_23_hours_is_bounded_by_its_midnights():
    parsed = when("1d 2027-03-14", zone="America/New_York")
    assert parsed[:2] == ("03-14T05:00", "03-15T04:00")


def test_a_day_begins_with_its_first_minute_where_midnight_is_skipped():
    # Asuncion no longer changes; Cairo skips 00:00 to 01:00 on the last Friday of April.
    parsed = when("1d 2027-04-30", zone="Africa/Cairo")
    assert parsed[0] == "04-29T22:00"


def test_a_difference_over_a_clock_change_is_elapsed():
    text = "from 2027-03-13 12:00 to 2027-03-15 12:00"
    assert when(text, zone="America/New_York")[3] == "47"


def test_a_two_digit_year_is_told_how_to_write_it():
    problem = said("2 p5.48xlarge 1d 15/03/27").problem
    assert "four digits" in problem.message
    assert problem.hint == "2 p5.48xlarge 1d 15/03/2027"


@pytest.mark.parametrize(
    ("language", "text", "start"),
    [
        ("en", "Mar 22 at 9 in the morning", "2027-03-22T08:00:00Z"),
        ("en", "Mar 22 at 9:30 at night", "2027-03-22T20:30:00Z"),
        ("pt", "22 de março às 9 da manhã", "2027-03-22T12:00:00Z"),
        ("pt", "22 de março às 9h da noite", "2027-03-23T00:00:00Z"),
        ("pt", "22 de março às 3h30 da tarde", "2027-03-22T18:30:00Z"),
        ("es", "el 22 de marzo a las 9 de la mañana", "2027-03-22T08:00:00Z"),
        ("es", "a las 9 de la noche del 22 de marzo", "2027-03-22T20:00:00Z"),
        ("es", "el 22 de marzo a las 2 de la madrugada", "2027-03-22T01:00:00Z"),
    ],
)
def test_a_part_of_the_day_says_which_nine_is_meant(language, text, start):
    answer = said(f"2 p5.48xlarge 2d {text}", language)
    assert facts(answer)["earliest_start"] == start
    assert facts(answer)["latest_start"] == start


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("es", "a las 9 de la mañana"),
        ("es", "el 22 de marzo a las 12 de la noche"),
        ("pt", "22 de março à 1 da noite"),
    ],
)
def test_a_part_of_the_day_that_leaves_a_doubt_is_asked(language, text):
    answer = said(f"2 p5.48xlarge 2d {text}", language)
    assert [question.field for question in answer.questions] == ["earliest_start"]


def test_fifteen_hours_in_the_morning_are_no_time():
    assert said("2 p5.48xlarge 2d mañana a las 15 de la mañana", "es").status == "refused"


def test_a_range_of_hours_with_a_dash_is_never_taken_for_a_zone():
    refused = said("2 p5.48xlarge from Mar 22 9:00–17:00")
    assert refused.status == "refused"
    assert refused.problem.hint == "2 p5.48xlarge from Mar 22 9:00 to 17:00"
    asked = said("2 p5.48xlarge 2d Mar 22 9:00-10:00")
    assert [question.field for question in asked.questions] == ["earliest_start"]


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("Mar 22 09:00-05:00", "2027-03-22T14:00:00Z"),
        ("2027-03-22 04:00-05:00", "2027-03-22T09:00:00Z"),
        ("Mar 22 9:00+05:30", "2027-03-22T03:30:00Z"),
    ],
)
def test_an_offset_that_is_written_to_a_time_is_its_zone(text, start):
    assert facts(said(f"2 p5.48xlarge 2d {text}"))["earliest_start"] == start


@pytest.mark.parametrize(
    ("window", "length", "status"),
    [
        ("from 10pm to 6am", "72 hours", "refused"),
        ("from 10pm to 6am", "2d", "refused"),
        ("from 10pm to 6am", "8 hours", "ask"),
        ("from 9pm to 9pm", "24h", "ask"),
        ("from 9pm to 9pm", "26h", "refused"),
        ("from 10pm to 6am on monday", "2d", "ask"),
    ],
)
def test_a_length_that_no_day_could_fit_is_refused_before_a_day_is_asked(window, length, status):
    answer = said(f"reserve p5.48xlarge {length} {window}", zone="UTC")
    assert answer.status == status
    if status == "refused":
        assert "The window is" in answer.problem.message
        assert said(answer.problem.hint, zone="UTC").status in {"ok", "ask"}
