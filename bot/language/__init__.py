"""The command language after /gpu: text to request, question or refusal, and back to text.

The grammar and its tables are loaded by the first name that is asked for: a start does without.
"""

from typing import TYPE_CHECKING

from bot.deferring import on_first_use

if TYPE_CHECKING:
    from bot.language.helping import VERBS, VerbHelp, help_text
    from bot.language.lines import fields_line, quoted
    from bot.language.parsing import echo_of, line_of, parse
else:
    __getattr__ = on_first_use(
        __name__,
        {
            "helping": ("VERBS", "VerbHelp", "help_text"),
            "lines": ("fields_line", "quoted"),
            "parsing": ("echo_of", "line_of", "parse"),
        },
    )

__all__ = ["VERBS", "VerbHelp", "echo_of", "fields_line", "help_text", "line_of", "parse", "quoted"]
