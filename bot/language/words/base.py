"""What one language contributes: its keywords, by the role they play in the grammar.

A phrase is written as people write it; accents and case are folded when tables are merged.
"""

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

Meaning: TypeAlias = str | int | bool
"""What a phrase stands for within its role."""


def fold(text: str) -> str:
    """Return the text without case and accents: São is sao."""
    return text.lower() if text.isascii() else _without_accents(text)


@lru_cache(maxsize=4096)
def _without_accents(text: str) -> str:
    plain = unicodedata.normalize("NFD", text.casefold())
    return "".join(letter for letter in plain if unicodedata.category(letter) != "Mn")


@dataclass(frozen=True, slots=True)
class Words:
    """One language: verbs, and for every role its phrases with what they mean."""

    code: str
    verbs: Mapping[str, str]
    """canonical verb to its words, separated by spaces"""
    own_verbs: Mapping[str, str]
    """words that are verbs only in a locale of this language"""
    roles: Mapping[str, Mapping[str, Meaning]]


def said(phrases: str, meaning: Meaning = "") -> dict[str, Meaning]:
    """Return every phrase of a `|`-separated text with the same meaning."""
    return dict.fromkeys(phrases.split("|"), meaning)


def numbered(phrases: str, first: int = 1) -> dict[str, Meaning]:
    """Return `|`-separated phrases counted upwards; alternatives stand with `/`."""
    return {
        phrase: number
        for number, group in enumerate(phrases.split("|"), first)
        for phrase in group.split("/")
    }


Phrases: TypeAlias = tuple[tuple[tuple[str, ...], Meaning], ...]
"""Phrases that begin with one word: their words and meanings, the longest first."""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """All languages merged: for every first word, its phrases by role, longest first."""

    starts: dict[str, dict[str, Phrases]]
    verbs: dict[str, str]
    own_verbs: dict[str, dict[str, str]]

    @classmethod
    def of(cls, languages: Iterable[Words]) -> "Lexicon":
        """Return the merged tables."""
        starts: dict[str, dict[str, list[tuple[tuple[str, ...], Meaning]]]] = {}
        verbs: dict[str, str] = {}
        own: dict[str, dict[str, str]] = {}
        for language in languages:
            for verb, forms in language.verbs.items():
                verbs.update(dict.fromkeys((fold(form) for form in forms.split()), verb))
            own[language.code] = {fold(form): verb for form, verb in language.own_verbs.items()}
            for role, phrases in language.roles.items():
                for phrase, meaning in phrases.items():
                    words = tuple(fold(phrase).split())
                    starts.setdefault(words[0], {}).setdefault(role, []).append((words, meaning))
        return cls(
            starts={
                first: {
                    role: tuple(sorted(found, key=lambda entry: -len(entry[0])))
                    for role, found in by_role.items()
                }
                for first, by_role in starts.items()
            },
            verbs=verbs,
            own_verbs=own,
        )
