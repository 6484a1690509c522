"""One value for each field: what is settled, what must be asked, what an answer settles."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import NamedTuple

from bot.domain.request import Choice, Question
from bot.language.scene import Part, Scene
from bot.language.speech import Speech


class Option(NamedTuple):
    """One reading of a field: the value itself, and how a choice shows and names it.

    Most fields are never asked; a label or value that is dear to make is a function.
    """

    held: object
    label: str | Callable[[], str]
    value: str | Callable[[], str]

    @property
    def choice(self) -> Choice:
        """The reading as a question offers it."""
        return Choice(label=_text(self.label), value=_text(self.value))


def _text(text: str | Callable[[], str]) -> str:
    return text if isinstance(text, str) else text()


def distinct_of(options: list[Option]) -> list[Option]:
    """Return the options that hold different values, in order."""
    if len(options) < 2:  # noqa: PLR2004 - one differs from nothing
        return options
    return list({option.held: option for option in options}.values())


class Settling:
    """Collects settled fields and open questions; answers apply only to what is asked."""

    __slots__ = ("answers", "fields", "parts", "questions", "scene", "speech")

    def __init__(
        self, scene: Scene, parts: Iterable[Part], answers: Mapping[str, str], speech: Speech
    ) -> None:
        """Begin with nothing settled."""
        self.scene = scene
        self.speech = speech
        self.answers = answers
        self.fields: dict[str, object] = {}
        self.questions: dict[str, Question] = {}
        self.parts: dict[str, list[Part]] = {}
        for part in parts:
            self.parts.setdefault(part.field, []).append(part)

    def has(self, *fields: str) -> bool:
        """Return whether the text said any of these."""
        return not self.parts.keys().isdisjoint(fields)

    def readings(self, field: str) -> list[object]:
        """Return the distinct readings of a part, in the order they were said."""
        parts = self.parts.get(field)
        if parts is None:
            return []
        if len(parts) == 1 and len(parts[0].readings) == 1:
            return [parts[0].readings[0]]
        return list(dict.fromkeys(value for part in parts for value in part.readings))

    def span(self, *fields: str) -> tuple[int, int] | None:
        """Return the tokens of the first part of these fields."""
        found = [part for field in fields for part in self.parts.get(field, ())]
        return (found[0].start, found[0].end) if found else None

    def unsure(self, field: str) -> bool:
        """Return whether any such part must be asked about."""
        return any(part.unsure for part in self.parts.get(field, ()))

    def choose(
        self,
        field: str,
        options: list[Option],
        *,
        ask: bool = False,
        free: Callable[[str], object | None] | None = None,
        question: str = "",
    ) -> object | None:
        """Return the one value left, or what the person picked; else note the question.

        `free` reads an answer that is none of the options.
        """
        if len(options) == 1 and not ask:
            self.fields[field] = options[0].held
            return options[0].held
        answer = self.answers.get(field)
        if answer is not None:
            offered = (option.held for option in options if _text(option.value) == answer)
            picked = next(offered, None)
            if picked is None and free is not None:
                picked = free(answer)
            if picked is not None:
                self.fields[field] = picked
                return picked
        self.ask(field, options, question=question)
        return None

    def ask(self, field: str, options: Iterable[Option] = (), *, question: str = "") -> None:
        """Note a question; a field is asked once."""
        if field not in self.questions:
            self.questions[field] = Question(
                field=field,
                question=self.speech.say(question or f"ask_{field}"),
                choices=tuple(option.choice for option in options),
            )

    def simple(self, part: str, field: str, show: Callable[[object], str]) -> None:
        """Settle a field from a part that was said and whose readings need nothing else."""
        options = [
            Option(value, partial(show, value), partial(show, value))
            for value in self.readings(part)
        ]
        self.choose(field, options, ask=self.unsure(part))
