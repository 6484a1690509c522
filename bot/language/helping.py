"""Help: every verb with what it does and lines that parse, in each language."""

import re
from collections.abc import Collection
from typing import NamedTuple

from bot.language.help_texts import HELP
from bot.language.speech import language_of, speech_of


class VerbHelp(NamedTuple):
    """One verb: what it does in a line, and one to three lines that parse."""

    verb: str
    about: str
    examples: tuple[str, ...]


def _verbs(language: str) -> tuple[VerbHelp, ...]:
    return tuple(
        VerbHelp(verb, about, tuple(examples))
        for verb, (about, *examples) in HELP[language].items()
    )


VERBS: dict[str, tuple[VerbHelp, ...]] = {language: _verbs(language) for language in HELP}
"""The verbs in the order of help, by language (en, pt, es)."""


_SUCH_AS = {"en": "e.g.", "pt": "p. ex.", "es": "p. ej."}
_PERSON = re.compile(r"<@U[A-Z0-9]+>")


def _as_typed(example: str) -> str:
    """Return the line as somebody types it: Slack makes <@U…> of a name behind an @."""
    return _PERSON.sub("@lin", example)


def help_text(verb: str | None, locale: str, known: Collection[str]) -> str:
    """Return the help on all known verbs, or on one; a verb outside `known` is not there yet."""
    language = language_of(locale)
    verbs = VERBS[language]
    say = speech_of(locale).say
    if verb is not None:
        found = next((entry for entry in verbs if entry.verb == verb), None)
        if found is None or verb not in known:
            return say("not_available", verb=verb)
        examples = "\n".join(f"    /gpu {_as_typed(example)}" for example in found.examples)
        return f"{found.verb}: {found.about}\n{examples}"
    lines = [say("help_title")]
    lines += [
        f"{entry.verb}: {entry.about}  {_SUCH_AS[language]} `/gpu {_as_typed(entry.examples[0])}`"
        for entry in verbs
        if entry.verb in known
    ]
    return "\n".join([*lines, say("help_more")])
