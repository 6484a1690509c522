# ruff: noqa: RUF001 - look-alike characters are what is tested
import pytest

from tests.unit.language.said import facts, said

PLAIN = facts(said("reserve 2 p5.48xlarge for 3 days under $15k in us-east-1"))


@pytest.mark.parametrize(
    "text",
    [
        "RESERVE 2 P5.48XLARGE FOR 3 DAYS UNDER $15K IN US-EAST-1",
        "  reserve   2 p5.48xlarge\tfor 3  days under $15k in us-east-1  ",
        "reserve\xa02\u2009p5.48xlarge for 3 days under $15k in us-east-1",
        "\ufeffreserve 2 p5.48\u200bxlarge for 3\u2060 days under $15k in us\u00ad-east-1",
        "reserve 2 <http://p5.48xlarge|p5.48xlarge> for 3 days under $15k in us-east-1",
        "reserve ２ ｐ5.48xlarge for 3 days under ＄15k in us-east-1",
        "reserve 2 p5.48xlarge, for 3 days; under $15k\nin us-east-1.",
        "reserve 2 × p5.48xlarge for 3 days &lt;= $15k in us–east‑1",
        "reserve —type p5.48xlarge –count 2 ‒‒for 3d —max=$15k --region us-east-1",
        "please reserve the 2 p5.48xlarge for 3 days under $15k in us-east-1, thanks",
        "I need 2 p5.48xlarge for 3 days under $15k in us-east-1",
        "preciso de 2 p5.48xlarge por 3 dias no máximo $15k em us-east-1, obrigada",
        "necesito 2 p5.48xlarge por 3 di\u0301as máximo $15k en us-east-1, gracias",
        "in us-east-1 under $15k for 3 days p5.48xlarge x2",
    ],
)
def test_how_it_is_written_never_changes_what_it_means(text):
    parsed = said(text)
    assert parsed.status == "ok", parsed.problem
    assert facts(parsed) == PLAIN


@pytest.mark.parametrize(
    "text",
    [
        *(
            f"2 p5.48xlarge{chr(code)} for 3d"
            for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
        ),
        '2 p5.48xlarge for 3d because "a\u202eb"',
        "2 p5.48xlarge for ٣d",
        "२ p5.48xlarge for 3d",
        "2 p5.48xlarge for 3d" + " " * 3000,
        "2 p5.48xlarge &amp;lt;= $15k for 3d",
        "\ue000 2 p5.48xlarge for 3d",
        "<!here> 2 p5.48xlarge for 3d",
        "🚀🚀🚀",
        "###***~~~",
    ],
)
def test_what_hides_its_meaning_is_refused(text):
    parsed = said(text)
    assert parsed.status == "refused"
    assert said(parsed.problem.hint).status != "refused"


def test_three_thousand_characters_are_read():
    text = '2 p5.48xlarge for 3d because "x"'
    assert said(text + " " * (3000 - len(text))).status == "ok"


def test_the_place_of_a_problem_is_told_in_the_original_text():
    text = "reserve 2 p5.48\u200bxlarge for “ol\u00e1 3d"
    first, last = said(text).problem.at
    assert text[first:last] == "“olá 3d"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("```reserve 2 p5.48xlarge for 2d```", "reserve 2 p5.48xlarge for 2d"),
        ("reserve `2 p5.48xlarge` for 2d", "reserve 2 p5.48xlarge for 2d"),
        ("*reserve* 2 p5.48xlarge for 2d", "reserve 2 p5.48xlarge for 2d"),
        (
            "reserve 2 p5.48xlarge from Mar 22 9am – Mar 23 5pm",
            "reserve 2 p5.48xlarge from Mar 22 9am to Mar 23 5pm",
        ),
    ],
)
def test_the_hint_keeps_what_stood_in_marks_or_about_a_dash(text, hint):
    answer = said(text)
    assert answer.status == "refused"
    assert answer.problem.hint == hint


@pytest.mark.parametrize("quotes", ["“”", '""', "''", "«»"])
def test_a_mark_right_behind_a_quote_belongs_to_the_reason(quotes):
    text = f"2 p5.48xlarge 2d because {quotes[0]}\u08caevals{quotes[1]}"
    assert facts(said(text))["reason"] == "\u08caevals"


def test_half_a_character_is_answered_like_any_other_and_can_be_kept():
    asked = said("reserve \ud800 8xH100 for 3 days")
    assert asked.status == "refused"
    for answer in (asked, said('2 p5.48xlarge 2d because "\udcff"')):
        assert answer.model_dump_json().encode()
