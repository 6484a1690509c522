"""The keywords of every language, merged: all are understood in every locale.

A further language is one more table in `LANGUAGES`.
"""

from bot.language.words.base import Lexicon, Meaning, Phrases, Words, fold
from bot.language.words.english import ENGLISH
from bot.language.words.portuguese import PORTUGUESE
from bot.language.words.spanish import SPANISH

LANGUAGES = (ENGLISH, PORTUGUESE, SPANISH)
LEXICON = Lexicon.of(LANGUAGES)

__all__ = ["LANGUAGES", "LEXICON", "Lexicon", "Meaning", "Phrases", "Words", "fold"]
