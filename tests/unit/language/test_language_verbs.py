import pytest

from bot.language.words import LANGUAGES
from tests.unit.language.said import asked, said

INFINITIVES = {
    "pt": "reservar planejar vigiar status listar estender cancelar liberar transferir aprovar "
    "negar lançar endpoint saúde mercado calendário orçamento resumo configurações parar retomar "
    "ajuda",
    "es": "reservar planear vigilar estado listar extender cancelar liberar transferir aprobar "
    "rechazar lanzar endpoint salud mercado calendario presupuesto resumen ajustes parar reanudar "
    "ayuda",
    "en": "reserve plan watch status list extend cancel release handover approve deny launch "
    "endpoint health market calendar budget digest settings stop resume help",
}
CANONICAL = INFINITIVES["en"].split()


@pytest.mark.parametrize("language", INFINITIVES)
@pytest.mark.parametrize("reader", INFINITIVES)
def test_every_verb_of_every_language_is_understood_in_every_locale(language, reader):
    for verb, word in zip(CANONICAL, INFINITIVES[language].split(), strict=True):
        assert said(word, reader).command == verb, word


@pytest.mark.parametrize(
    ("text", "language", "verb"),
    [
        ("reserva", "pt", "reserve"),
        ("reserve", "es", "reserve"),
        ("cancela 4", "es", "cancel"),
        ("libera 4", "pt", "release"),
        ("aprova 4", "pt", "approve"),
        ("aprove 4", "pt", "approve"),
        ("aprueba 4", "es", "approve"),
        ("estende 4 2d", "pt", "extend"),
        ("extiende 4 2d", "es", "extend"),
        ("lanza 4", "es", "launch"),
        ("lança 4", "pt", "launch"),
        ("LANCA 4", "pt", "launch"),
        ("para", "pt", "stop"),
        ("retoma", "pt", "resume"),
    ],
)
def test_imperatives_count_as_the_infinitive(text, language, verb):
    assert said(text, language).command == verb


@pytest.mark.parametrize("verb", ["cancel", "release", "approve", "launch", "health", "status"])
@pytest.mark.parametrize("number", ["41", "#41", "gpu-41", "GPU-41"])
def test_an_id_is_a_number_with_or_without_its_marks(verb, number):
    parsed = said(f"{verb} {number}")
    assert (parsed.status, parsed.command, parsed.id) == ("ok", verb, "gpu-41")


@pytest.mark.parametrize(
    ("text", "language", "arguments"),
    [
        ("list", "en", {"scope": None}),
        ("list mine", "en", {"scope": "mine"}),
        ("list team", "en", {"scope": "team"}),
        ("listar todos", "pt", {"scope": "all"}),
        ("extend 41 by 2d", "en", {"duration_hours": "48"}),
        ("extend #41 1w", "en", {"duration_hours": "168"}),
        ("estender 41 por 2 dias", "pt", {"duration_hours": "48"}),
        ("handover 41 <@U0AAA|dana>", "en", {"person": "U0AAA"}),
        ("handover 41 to <@U0AAA>", "en", {"person": "U0AAA"}),
        ('deny 41 "too dear"', "en", {"reason": "too dear"}),
        ('deny 41 because "too dear"', "en", {"reason": "too dear"}),
        ("endpoint create llama-3 x2", "en", {"action": "create", "model": "llama-3", "count": 2}),
        ("endpoint excluir foo", "pt", {"action": "delete", "model": "foo", "count": None}),
        ("endpoint estado foo", "es", {"action": "status", "model": "foo", "count": None}),
        ("market p5.48xlarge", "en", {"instance_type": "p5.48xlarge"}),
        ("market p5", "en", {"family": "p5"}),
        ("market H100", "en", {"accelerator": "H100"}),
        ("help", "en", {"verb": None}),
        ("ajuda reservar", "pt", {"verb": "reserve"}),
        ("calendar", "en", {}),
    ],
)
def test_each_verb_takes_its_own_arguments(text, language, arguments):
    parsed = said(text, language)
    assert (parsed.status, parsed.arguments, parsed.request) == ("ok", arguments, None)
    again = said(parsed.line, language)
    assert (again.command, again.id, again.arguments) == (parsed.command, parsed.id, arguments)


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("approve", ["id"]),
        ("deny 41", ["reason"]),
        ('deny 41 ""', ["reason"]),
        ("extend 41", ["duration_hours"]),
        ("extend", ["id", "duration_hours"]),
        ("handover 41 <!subteam^S0AAA|@ml>", ["person"]),
        ("market", ["what"]),
        ("market A100", ["accelerator"]),
        ("endpoint", ["action"]),
        ("endpoint create", ["model"]),
        ("", ["instance_type", "duration_hours"]),
        ("reserve", ["instance_type", "duration_hours"]),
        ("watch", ["instance_type"]),
    ],
)
def test_what_a_verb_needs_and_nobody_said_is_asked(text, fields):
    parsed = said(text)
    assert (parsed.status, list(asked(parsed))) == ("ask", fields)


def test_empty_text_asks_for_a_reservation():
    assert said("").command == "reserve"


def test_watch_needs_only_the_machine():
    assert said("watch p5.48xlarge").status == "ok"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("aprove 41", "approve 41"),
        ("cancelarr 41", "cancelar 41"),
        ("resrve 2 p5.48xlarge for 3d", "reserve 2 p5.48xlarge for 3d"),
        ("help me", None),
        ("hello", None),
    ],
)
def test_an_unknown_verb_is_refused_with_the_nearest_one(text, hint):
    parsed = said(text)
    assert parsed.status == "refused"
    assert hint is None or parsed.problem.hint == hint
    assert said(parsed.problem.hint).status != "refused"


def test_an_unknown_first_word_before_machines_is_refused():
    assert said("foo 2 p5.48xlarge for 3d").problem.hint == "reserve 2 p5.48xlarge for 3d"


@pytest.mark.parametrize(
    "text",
    [
        "release 41 and 42",
        "approve 41 42",
        "stop now",
        "calendar foo",
        "list foo",
        "budget 15k",
        "deny 41 too dear",
        "extend 41 by 30 minutes",
        "extend 41 for at least 2d",
        "extend 41 tomorrow",
        "handover 41 @dana",
        "approve foo",
        "approve 0",
        "endpoint frob foo",
        "market foo",
    ],
)
def test_what_is_left_over_after_a_verb_is_refused(text):
    parsed = said(text)
    assert parsed.status == "refused"
    assert parsed.command == text.split()[0]
    assert said(parsed.problem.hint).status != "refused"


def test_budget_before_a_machine_is_a_cap():
    parsed = said("budget $15k 2 p5.48xlarge for 1d")
    assert (parsed.command, str(parsed.request.max_total_usd)) == ("reserve", "15000")


def test_a_cap_without_a_machine_is_no_request():
    assert said("$15k").status == "refused"


def test_the_tables_name_only_canonical_verbs():
    for language in LANGUAGES:
        assert set(language.verbs) <= set(CANONICAL)


@pytest.mark.parametrize(
    ("language", "text", "hint"),
    [
        ("en", "relese gpu-4", "release gpu-4"),
        ("en", "approbe 4", "approve 4"),
        ("pt", "aprobe 4", "aprove 4"),
        ("pt", "liberr 4", "liberar 4"),
        ("es", "aprobr 4", "aprobar 4"),
        ("es", "relese 4", "release 4"),
        ("en", "mercadoo H100", "mercado H100"),
    ],
)
def test_the_nearest_verb_is_one_of_the_persons_language_then_of_english(language, text, hint):
    assert said(text, language).problem.hint == hint


@pytest.mark.parametrize(
    ("language", "text", "hint"),
    [
        ("pt", "2 p5.48xlarge por 2 dias 31/04", "2 p5.48xlarge por 2 dias amanhã"),
        ("pt", "2 p5.48xlarge por 2 meses", "2 p5.48xlarge por 30 dias"),
        ("es", "2 p5.48xlarge por 2 días 31/4", "2 p5.48xlarge por 2 días mañana"),
        ("es", "extender 42 por 0 días", "extender 42 por 1 día"),
    ],
)
def test_a_hint_is_in_the_persons_own_words(language, text, hint):
    assert said(text, language).problem.hint == hint
