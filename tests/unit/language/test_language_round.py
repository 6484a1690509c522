# ruff: noqa: RUF001 - look-alike characters are what is tested
from datetime import timedelta
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.catalog import packaged
from bot.domain.request import Parsed, Target
from bot.language import VERBS, echo_of, fields_line, help_text, line_of
from tests.unit.language.said import LOCALES, NOW, ZONES, asked, facts, said

QUICK = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))

MACHINES = st.sampled_from(
    ["2 p5.48xlarge", "p5en.48xlarge x4", "16xH100", "8 gpus p5.4xlarge", "72 gpus u-p6e-gb200x72",
     "at least 6 of 8 p5.48xlarge", "3 g6f.large", "9 B200", "8 RTX PRO 6000"]
)  # fmt: skip
DURATIONS = st.sampled_from(["for 3 days", "at least 36h", "2d12h", "for a week", "1h30m", "2h20m"])
STARTS = st.sampled_from(
    ["", "asap", "on Mar 15", "from Mar 15 9am", "tomorrow 10:30 PT", "after Mar 15", "today",
     "in 5 minutes", "2027-11-07 01:30 EST", "friday UTC", "any time from Apr 2 noon"]
)  # fmt: skip
ENDS = st.sampled_from(["", "by 2027-12-20", "before 2027-12-20 9am", "by Dec 20 17:00 Asia/Tokyo"])
MONEY = st.sampled_from(["", "under $15k", "max US$ 1500.50", "$40/h", "$34.6085/h", "max $7/h"])
PLACES = st.sampled_from(["", "in us-east-1", "in us-east-1, us-west-2", "in Frankfurt"])
TERMS = st.sampled_from(
    ["", "on ec2", "spot ok", "not interruptible", "at 60% use", "running 7h a day",
     "for <@U0AAA111|dana>", "team=vision", "in <#C0AAA|gpu>", "platform=Ubuntu-Pro"]
)  # fmt: skip
QUOTED = st.text(
    st.characters(exclude_categories=["Cs", "Nd", "Co", "Cf"], exclude_characters='"<>&'),
    max_size=30,
)
REASONS = QUOTED.filter(lambda text: text.strip() and not set(text) & set("“”„‟«»″〝〞＂")).map(
    lambda text: f'because "{text}"'
)
PARTS = st.tuples(
    MACHINES, DURATIONS, STARTS, ENDS, MONEY, PLACES, TERMS, st.one_of(st.just(""), REASONS)
)
LANGUAGE = st.sampled_from(["en", "pt", "es"])


@QUICK
@given(parts=PARTS, language=LANGUAGE, verb=st.sampled_from(["reserve", "plan", "watch"]))
def test_the_line_parses_to_the_same_request_in_every_locale(parts, language, verb):
    parsed = said(" ".join((verb, *parts)), language)
    assert parsed.status == "ok", (parts, parsed.problem, parsed.questions)
    for reader in LOCALES:
        again = said(parsed.line, reader, zone=ZONES[language])
        assert (again.status, again.command, again.request) == ("ok", verb, parsed.request)


@QUICK
@given(parts=PARTS, language=LANGUAGE, data=st.data())
def test_the_order_of_the_parts_never_changes_the_meaning(parts, language, data):
    machines, *others = [part for part in parts if part]
    shuffled = data.draw(st.permutations([machines, *others]))
    first = said(", ".join(["reserve " + machines, *others]), language)
    other = said("reserve " + ", ".join(shuffled), language)
    assert (other.status, other.request) == (first.status, first.request) == ("ok", first.request)


@QUICK
@given(parts=PARTS, language=LANGUAGE, data=st.data())
def test_case_spacing_dashes_and_quotes_never_change_the_meaning(parts, language, data):
    *plain, reason = parts
    text = " ".join(["reserve", *plain])
    fields = said(text, language).request
    change = data.draw(
        st.sampled_from(
            [str.lower, str.swapcase, lambda t: t.replace(" ", "  "), lambda t: f" {t}\t",
             lambda t: t.replace("-", "‑"), lambda t: t.replace(" ", "\u00a0"),
             lambda t: t.replace("e", "e\u200b")]
        )
    )  # fmt: skip
    if "<" in text or "team=" in text or "platform=" in text:
        change = str
    assert said(change(text), language).request == fields
    if reason:
        smart = reason.replace('"', "“", 1)
        assert (
            said(f"{text} {smart[:-1]}”", language).request
            == said(f"{text} {reason}", language).request
        )


VOCABULARY = """
reserve plan approve for from to by at in on até hasta a de el 2 16 0 -1 1.5 x2 3d 9h p5
p5.48xlarge 16xH100 H100 gpus machines of Mar 15 15/03 2027-03-15 24:00 9am PT CST now today
max $15k 1.500 R$ mil us-east-1 Europe spot no ec2 sagemaker because " ' “ <@U1|x> <!here>
<#C1|g> type= for= --start --max=2 &lt;= guaranteed between and entre e y , ; . 🚀 ٣ \u202e
9999-12-31 0001-01-01 99999999999999999999 week un mes 30 min use 60% deny extend 41 help
"""
WORDS = st.sampled_from(VOCABULARY.split())
ANY = st.one_of(st.text(max_size=80), st.lists(WORDS, max_size=14).map(" ".join))


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=ANY, language=LANGUAGE)
def test_any_text_gets_a_valid_answer_and_a_hint_that_works(text, language):
    parsed = said(text, language)
    assert Parsed.model_validate_json(parsed.model_dump_json()).status == parsed.status
    if parsed.status == "refused":
        assert parsed.problem.message
        assert said(parsed.problem.hint, language).status != "refused"
    if parsed.status == "ask":
        assert parsed.questions
    if parsed.status == "ok":
        assert not parsed.questions
        again = said(parsed.line, language)
        assert (again.request, again.arguments) == (parsed.request, parsed.arguments)


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("", {"instance_type": "p5.48xlarge", "duration_hours": "24"}),
        ("4 g6e 2d", {"instance_type": "g6e.48xlarge"}),
        ("8 A100 2d", {"accelerator": "A100-80"}),
        ("H100 2d", {"accelerator_count": "24"}),
        ("GB200 2d", {"accelerator_count": "36"}),
        ("72 GB200 2d", {"instance_type": "u-p6e-gb200x72"}),
        ("2 p5.48xlarge x3 2d", {"instance_count": "3"}),
        ("2 p5.48xlarge wednesday", {"earliest_start": "2027-03-17", "duration_hours": "30"}),
        ("2 p5.48xlarge from Mar 15 to Mar 17", {"duration_hours": "72"}),
        ("2 p5.48xlarge 2d 25/12/2027", {"earliest_start": "2027-12-25"}),
        ("2 p5.48xlarge 2d Mar 15 9", {"earliest_start": "2027-03-15T08:00:00Z"}),
        ("2 p5.48xlarge 2d max 1.500", {"max_total_usd": "1500.00"}),
        ("2 p5.48xlarge 2d on sagemaker", {"target": "training-job"}),
        ("2 p5.48xlarge 2d spot ok no spot", {"interruptible": "false"}),
        ("2 p5.48xlarge 2d in Europe", {"regions": "eu-west-1"}),
        ("2 p5.48xlarge 2d for <!subteam^S0A|@g>", {"owner": "U0AAA"}),
        ("deny 41", {"reason": "no money"}),
        ("extend 41", {"duration_hours": "24"}),
        ("approve", {"id": "gpu-4"}),
        ("handover 4", {"person": "U0B"}),
        ("market", {"what": "H100"}),
    ],
)
def test_what_was_picked_is_in_the_line_and_nothing_is_retyped(text, answers):
    assert said(text).status == "ask"
    parsed = said(text, answers=answers)
    assert parsed.status == "ok", parsed.questions
    again = said(parsed.line)
    assert (again.status, again.request, again.id) == ("ok", parsed.request, parsed.id)
    assert again.arguments == parsed.arguments


def test_an_answer_that_is_no_value_leaves_the_question():
    parsed = said("2 p5.48xlarge", answers={"duration_hours": "banana"})
    assert list(asked(parsed)) == ["duration_hours"]


def test_an_answer_to_what_was_not_asked_changes_nothing():
    parsed = said("2 p5.48xlarge 1d", answers={"instance_count": "9", "duration_hours": "48"})
    assert facts(parsed)["instance_count"] == 2
    assert facts(parsed)["duration_hours"] == "24"


EVERYTHING = (
    "reserve 12 gpus p5.48xlarge for at least 2d12h from 2027-03-15 09:00 by 2027-03-20 17:00 "
    "under $15k in us-east-1 for a training job not interruptible at 60% use "
    'for <@U0AAA111> team=vision in <#C0AAA> platform=Ubuntu-Pro because "eval run"'
)


@pytest.mark.parametrize(
    ("language", "words"),
    [
        (
            "en",
            "Monday, 15 March 2027, 09:00 Europe/Berlin (2027-03-15 08:00 UTC)|16 H100 GPUs|"  # noqa: ISC004 - one text
            "12 GPUs asked|60 hours|at least|Saturday, 20 March 2027, 17:00|us-east-1|"
            "$15,000.00|training job|not interruptible|60 %|U0AAA111|vision|C0AAA|Ubuntu-Pro|"
            "eval run",
        ),
        (
            "pt",
            "segunda-feira, 15 de março de 2027, 09:00 America/Sao_Paulo (2027-03-15 12:00 UTC)"  # noqa: ISC004 - one text
            "|16 GPUs H100|60 horas|pelo menos|us-east-1|US$ 15.000,00|sem spot|eval run",
        ),
        (
            "es",
            "lunes, 15 de marzo de 2027, 09:00 Europe/Madrid (2027-03-15 08:00 UTC)|16 GPU H100"  # noqa: ISC004 - one text
            "|60 horas|al menos|us-east-1|US$ 15.000,00|sin spot|eval run",
        ),
    ],
)
def test_the_echo_says_everything_in_the_person_s_language(language, words):
    echo = said(EVERYTHING, language).echo
    for word in words.split("|"):
        assert word in echo, word


def test_a_stored_request_is_said_again_in_another_zone_and_language():
    request = said(EVERYTHING).request
    echo = echo_of(
        request, command="reserve", now=NOW, zone="America/Sao_Paulo", locale="pt-BR",
        catalog=packaged(),
    )  # fmt: skip
    assert "segunda-feira, 15 de março de 2027, 05:00 America/Sao_Paulo" in echo
    line = line_of(request, command="reserve", zone="America/Sao_Paulo")
    assert said(line, "pt").request == request


def test_an_accelerator_echo_names_the_candidates():
    assert "p5.48xlarge, p5.4xlarge" in said("16xH100 3d").echo


def test_three_decimals_an_hour_survive_the_locale():
    parsed = said("2 p5.48xlarge 1d $34.608/h")
    assert said(parsed.line, "pt").request.max_hourly_usd == Decimal("34.608")


@pytest.mark.parametrize(
    "reason", ["eval run", 'don\'t "stop" & <go>', "R&D — ok", "a 'b' \"c\" d"]
)
def test_a_form_says_the_same_as_the_text(reason):
    line = fields_line(
        {"type": "p5.48xlarge", "count": "2", "for": "3 days", "start": "2027-03-15 09:00",
         "regions": "us-east-1, us-west-2", "owner": "U0AAA", "max": "", "reason": reason}
    )  # fmt: skip
    request = said(line).request
    assert request.earliest_start + timedelta(0) == request.latest_start
    assert request.regions == ("us-east-1", "us-west-2")
    assert request.owner == "U0AAA"
    assert request.reason.replace("ʺ", '"') == reason


@pytest.mark.parametrize("target", Target)
def test_every_target_survives_the_line(target):
    parsed = said(f"2 p5.48xlarge 1d target={target}")
    assert said(parsed.line, "pt").request.target == target


@pytest.mark.parametrize("language", ["en", "pt", "es"])
def test_every_example_of_help_parses(language):
    for entry in VERBS[language]:
        for example in entry.examples:
            parsed = said(example, language)
            assert (parsed.status, parsed.command) == ("ok", entry.verb), example


@pytest.mark.parametrize("language", ["en", "pt", "es"])
def test_help_shows_people_as_they_are_typed_and_speaks_one_language(language):
    text = help_text(None, LOCALES[language], {"reserve", "handover"})
    assert "<@" not in text
    assert " 41 @lin`" in text
    assert "<@" not in help_text("handover", LOCALES[language], {"handover"})
    assert ("e.g." in text) == (language == "en")


@pytest.mark.parametrize("language", ["en", "pt", "es"])
def test_help_shows_only_what_is_there(language):
    text = help_text(None, LOCALES[language], {"reserve", "stop"})
    assert "reserve:" in text
    assert "market:" not in text
    assert "market" in help_text("market", LOCALES[language], {"reserve"})
    assert "/gpu" not in help_text("market", LOCALES[language], {"reserve"})
    assert "/gpu" in help_text("reserve", LOCALES[language], {"reserve"})
