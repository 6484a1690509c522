"""Refusals that people meet most are said in their language, whole and with the same values."""

import re
from pathlib import Path
from string import Formatter

import pytest

from bot.domain.errors import NotAllowedError, UserError
from bot.policy.permitting import Obstacle, may_not_ask, may_not_decide, not_yours
from handlers.cards.phrases import PHRASES
from handlers.cards.private import problem_of
from handlers.cards.refusals import REFUSALS

ROOT = Path(__file__).parents[3]
CODE = re.compile(r"code=\"(\w+)\"")


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def codes() -> set[str]:
    files = [*ROOT.glob("handlers/**/*.py"), *ROOT.glob("bot/**/*.py")]
    found = {code for file in files for code in CODE.findall(file.read_text(encoding="utf-8"))}
    return found & {code for known in REFUSALS.values() for code in known} | {
        code for code in found if code.startswith(("may_not", "not_", "unknown", "outdated"))
    }


@pytest.mark.parametrize("language", ["pt", "es"])
def test_every_refusal_with_a_name_is_known_in_every_language(language) -> None:
    obstacles = {may_not_decide(one).code for one in Obstacle}
    obstacles |= {may_not_ask(one).code for one in Obstacle}
    assert codes() | obstacles <= set(REFUSALS[language])


def test_the_languages_know_the_same_refusals_with_the_same_values() -> None:
    assert REFUSALS["pt"].keys() == REFUSALS["es"].keys()
    for code, text in REFUSALS["pt"].items():
        assert fields(text) == fields(REFUSALS["es"][code]), code


@pytest.mark.parametrize("language", ["pt", "es"])
def test_every_phrase_is_there_in_every_language_with_the_same_values(language) -> None:
    assert PHRASES[language].keys() == PHRASES["en"].keys()
    for key, text in PHRASES["en"].items():
        assert fields(PHRASES[language][key]) == fields(text), key


def test_a_refusal_is_in_the_language_of_whoever_is_refused() -> None:
    refusal = not_yours("gpu-42")
    assert "pode fazer isso com gpu-42" in problem_of(refusal, locale="pt-BR").text
    assert "puede hacer eso con gpu-42" in problem_of(refusal, locale="es-ES").text
    assert "may do that with gpu-42" in problem_of(refusal, locale="en-US").text
    assert isinstance(refusal, NotAllowedError)


def test_a_refusal_without_a_name_is_said_as_it_is() -> None:
    assert "Quite so." in problem_of(UserError("Quite so."), locale="pt-BR").text
