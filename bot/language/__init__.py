"""The command language after /gpu: text to request, question or refusal, and back to text."""

from bot.language.helping import VERBS, VerbHelp, help_text
from bot.language.lines import fields_line
from bot.language.parsing import echo_of, line_of, parse

__all__ = ["VERBS", "VerbHelp", "echo_of", "fields_line", "help_text", "line_of", "parse"]
