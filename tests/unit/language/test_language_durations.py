import pytest

from tests.unit.language.said import asked, facts, said


@pytest.mark.parametrize(
    ("words", "language", "hours"),
    [
        ("3 days", "en", "72"),
        ("3d", "en", "72"),
        ("for 3d", "en", "72"),
        ("36h", "en", "36"),
        ("2w", "en", "336"),
        ("a week", "en", "168"),
        ("a day", "en", "24"),
        ("an hour", "en", "1"),
        ("two weeks", "en", "336"),
        ("2d12h", "en", "60"),
        ("2d 12h", "en", "60"),
        ("1 day 12 hours", "en", "36"),
        ("1.5d", "en", "36"),
        ("1h30m", "en", "1.5"),
        ("2h20m", "en", "2.3333"),
        ("1d 1d", "en", "24"),
        ("for=3d", "en", "72"),
        ('--for "3 days"', "en", "72"),
        ("um dia", "pt", "24"),
        ("uma semana", "pt", "168"),
        ("1,5 dias", "pt", "36"),
        ("1.5d", "pt", "36"),
        ("por 3 dias", "pt", "72"),
        ("durante 2 semanas", "pt", "336"),
        ("dois dias", "pt", "48"),
        ("una semana", "es", "168"),
        ("un día", "es", "24"),
        ("1,5 días", "es", "36"),
        ("por 3 días", "es", "72"),
        ("durante 2 semanas", "es", "336"),
    ],
)
def test_every_form_of_a_duration_is_elapsed_hours(words, language, hours):
    parsed = said(f"2 p5.48xlarge {words}", language)
    assert parsed.status == "ok"
    assert (facts(parsed)["duration_hours"], parsed.request.strict) == (hours, False)


@pytest.mark.parametrize(
    ("words", "language"),
    [
        ("at least 3 days", "en"),
        ("for no less than 3 days", "en"),
        ("3 days at least", "en"),
        ("pelo menos 3 dias", "pt"),
        ("por no mínimo 3 dias", "pt"),
        ("al menos 3 días", "es"),
        ("como mínimo 3 días", "es"),
    ],
)
def test_at_least_makes_a_duration_strict(words, language):
    parsed = said(f"2 p5.48xlarge {words}", language)
    assert (facts(parsed)["duration_hours"], parsed.request.strict) == ("72", True)


@pytest.mark.parametrize(
    ("words", "language"),
    [
        ("30 minutes", "en"),
        ("90 min", "en"),
        ("600m", "en"),
        ("3 mo", "en"),
        ("3M", "en"),
        ("3 months", "en"),
        ("a month", "en"),
        ("um mês", "pt"),
        ("3 meses", "es"),
        ("for 3", "en"),
        ("for at least 3", "en"),
        ("0h", "en"),
        ("-3d", "en"),
        ("0.5h", "en"),
        ("1,5d", "en"),
        ("1.333d", "en"),
        ("99999 days", "en"),
        ("3 years", "en"),
        ("at most 3 days", "en"),
        ("for 3 days or 4 days", "en"),
        ("for a couple of days", "en"),
    ],
)
def test_what_is_no_duration_is_refused(words, language):
    parsed = said(f"2 p5.48xlarge {words}", language)
    assert parsed.status == "refused"
    assert said(parsed.problem.hint, language).status != "refused"


@pytest.mark.parametrize(("words", "hours"), [("2d, 12h", ["48", "12"]), ("12h 2d", ["12", "48"])])
def test_two_durations_are_asked(words, hours):
    assert asked(said(f"2 p5.48xlarge {words}")) == {"duration_hours": hours}


def test_a_missing_duration_is_asked():
    parsed = said("2 p5.48xlarge")
    assert (parsed.status, list(asked(parsed))) == ("ask", ["duration_hours"])
