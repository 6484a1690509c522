"""A start loads neither the grammar nor the services: it records and acknowledges first."""

import subprocess
import sys

import pytest

from bot.deferring import on_first_use

_LATER = (
    "bot.services.",
    "bot.engine",
    "bot.wiring",
    "bot.language.parsing",
    "boto3",
    "handlers.c",
)
_ALLOWED = ("handlers.cards", "bot.engine.codes")


def test_a_start_loads_no_grammar_and_no_services_before_it_is_ready():
    loaded = subprocess.run(
        [sys.executable, "-c", "import sys, bot.main; print(*sorted(sys.modules))"],
        capture_output=True,
        check=True,
        text=True,
    ).stdout.split()

    early = [name for name in loaded if name.startswith(_LATER) and not name.startswith(_ALLOWED)]
    assert early == []


def test_a_name_that_a_package_does_not_have_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"'bot\.language' has no attribute 'nothing'"):
        on_first_use("bot.language", {"parsing": ("parse",)})("nothing")
