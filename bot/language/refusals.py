"""How a rule inside the grammar says no; only `bot.language.parsing` turns it into an answer."""


class RefusalError(Exception):
    """A text that is refused: which message, where, and what to write there instead.

    `tokens` is a half-open span of tokens, `place` one of the original text. `mend` are texts
    to try in place of the span ("" removes it); the first that parses becomes the hint.
    `lines` are whole lines to try before that.
    """

    def __init__(
        self,
        code: str,
        *,
        tokens: tuple[int, int] | None = None,
        place: tuple[int, int] | None = None,
        mend: tuple[str, ...] = ("",),
        lines: tuple[str, ...] = (),
        **values: object,
    ) -> None:
        """Keep what the answer will need."""
        super().__init__(code)
        self.code = code
        self.tokens = tokens
        self.place = place
        self.mend = mend
        self.lines = lines
        self.values = values
        self.command: str | None = None
