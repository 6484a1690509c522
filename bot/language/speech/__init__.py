"""What is said to people, by locale: pt… in Portuguese, es… in Spanish, all else in English."""

from bot.language.locales import language_of
from bot.language.speech.base import Speech
from bot.language.speech.english import ENGLISH
from bot.language.speech.portuguese import PORTUGUESE
from bot.language.speech.spanish import SPANISH

TEXTS = {"en": ENGLISH, "pt": PORTUGUESE, "es": SPANISH}
SPEECHES = {code: Speech(code, texts) for code, texts in TEXTS.items()}


def speech_of(locale: str) -> Speech:
    """Return the speech of a locale."""
    return SPEECHES[language_of(locale)]


__all__ = ["SPEECHES", "TEXTS", "Speech", "language_of", "speech_of"]
