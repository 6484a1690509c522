"""Which language a locale is answered in; needs no tables, so that it costs a start nothing."""

from functools import lru_cache

LANGUAGES = ("en", "pt", "es")


@lru_cache(maxsize=64)
def language_of(locale: str) -> str:
    """Return en, pt or es for a locale such as pt-BR; English when it is another one."""
    code = locale.replace("_", "-").split("-")[0].lower()
    return code if code in LANGUAGES else "en"
