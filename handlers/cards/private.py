"""What only the asking person sees: questions, refusals, confirmations, troubles."""

from bot.domain.errors import CommandError, UserError
from bot.domain.records import Reservation, gpu_id
from bot.domain.request import Parsed, Problem, Question
from handlers import ids
from handlers.cards.limits import split
from handlers.cards.phrases import say
from handlers.cards.refusals import refusal_words
from handlers.rendering import (
    actions,
    button,
    code,
    context,
    cut,
    escape,
    label,
    peopled,
    section,
    shown,
    strong,
    typed,
)
from handlers.reply import Block, Message

ENGLISH_LOCALE = "en-US"
MOST_CHOICE_ROWS = 8
"""More choices than this become a menu, which a phone shows better than rows of buttons."""
MOST_OPTIONS = 100
FORM_VERBS = frozenset({"reserve", "plan", "watch"})
LINES_IN_A_SECTION = 6
MOST_SHOWN_LINE = 600


def saying(text: str, *, hint: str | None = None, locale: str = ENGLISH_LOCALE) -> Message:
    """Return one sentence, and a line that works below it."""
    return _saying(shown(text), hint=hint, locale=locale)


def problem_of(error: UserError, *, locale: str = ENGLISH_LOCALE) -> Message:
    """Return why it did not go on, and what would; people in our own words are named."""
    words = shown(refusal_words(error, locale))
    if not isinstance(error, CommandError):
        words = peopled(words)
    return _saying(words, hint=error.hint, locale=locale)


def _saying(words: str, *, hint: str | None, locale: str) -> Message:
    if not hint:
        return Message(words, (section(words),))
    trying = say("try", locale)
    return Message(
        f"{words} {trying} {shown(_line(hint))}".strip(),
        (section(words), section(f"{trying} {code(_line(hint))}")),
    )


def trouble(reference: str) -> Message:
    """Return that we failed, with a reference that an administrator finds in the log."""
    return saying(
        "Something on my side failed, so I stopped there. Please look at the card or /gpu list"
        f" before you try again. If it stays so, give an administrator the reference {reference}."
    )


def not_accepted(text: str) -> Message:
    """Return that a line was not taken in; it is given back to be sent again."""
    said = (
        "Not accepted: I was too busy to write it down, so nothing will happen."
        " Please send it again."
    )
    blocks = [section(said)]
    if text.strip():
        blocks.append(section(code(cut(f"{ids.COMMAND} {typed(text)}", MOST_SHOWN_LINE))))
    return Message(said, tuple(blocks))


def fits_form(parsed: Parsed) -> bool:
    """Return whether the form asks for what the line wants: capacity, and nothing else."""
    return parsed.command is None or parsed.command in FORM_VERBS


def refused(
    problem: Problem, *, text: str, delivery: int, locale: str, form: bool = True
) -> Message:
    """Return the problem with its words marked, a line that works, and the form if it helps."""
    blocks = [section(shown(problem.message))]
    if problem.at is not None and problem.at[0] < problem.at[1] <= len(text):
        blocks.append(section(_marked(text, problem.at)))
    works = say("works", locale)
    blocks.append(section(f"{works} {code(_line(problem.hint))}"))
    if form:
        value = ids.ButtonValue(delivery=delivery)
        blocks += actions([button(say("open_form", locale), ids.FORM, value.text())])
    return Message(shown(f"{problem.message} {works} {_line(problem.hint)}"), tuple(blocks))


def asked(parsed: Parsed, *, delivery: int, locale: str) -> tuple[Message, ...]:
    """Return every open question with its choices as buttons; nothing is typed again."""
    blocks: list[Block] = []
    if parsed.echo:
        blocks.append(section(shown(parsed.echo)))
    form = fits_form(parsed)
    for question in parsed.questions:
        blocks += _question(question, delivery, locale, form=form)
    if form:
        value = ids.ButtonValue(delivery=delivery)
        blocks += actions([button(say("form_instead", locale), ids.FORM, value.text())])
    text = " ".join(question.question for question in parsed.questions)
    return split(shown(text) or say("one_open", locale), blocks)


def same_line(reservation_id: int, *, delivery: int, locale: str) -> Message:
    """Return that this very line was just filed, and a button to file it once more."""
    said = say("same_line", locale, name=gpu_id(reservation_id))
    value = ids.ButtonValue(delivery=delivery, again=True)
    rows = actions([button(say("file_again", locale), ids.CHOICE, value.text())])
    return Message(said, (section(said), *rows))


def late(text: str, *, delivery: int, locale: str = ENGLISH_LOCALE) -> Message:
    """Return the question whether something that Slack showed as failed is still wanted."""
    said = say("late", locale)
    yes = ids.ButtonValue(delivery=delivery, confirm=True)
    rows = actions([button(say("carry_out", locale), ids.CHOICE, yes.text(), style="primary")])
    what = code(cut(typed(text), MOST_SHOWN_LINE))
    return Message(said, (section(said), section(what), *rows))


def filed(reservation: Reservation, echo: str | None, *, locale: str) -> Message:
    """Return that a request was taken in, with everything that was understood."""
    name = gpu_id(reservation.id)
    said = say("filed", locale, name=name)
    lines = [say("filed", locale, name=strong(name)), *([shown(echo)] if echo else [])]
    return Message(shown(f"{said} {echo or ''}"), (section("\n".join(lines)),))


def helped(text: str) -> tuple[Message, ...]:
    """Return the help text, a few lines in each block; what stands in backticks can be copied."""
    rows = [_helped_line(row) for row in text.split("\n") if row.strip()]
    blocks = [
        section("\n".join(rows[first : first + LINES_IN_A_SECTION]))
        for first in range(0, len(rows), LINES_IN_A_SECTION)
    ]
    return split(shown(text.split("\n", maxsplit=1)[0]) or "Help", blocks)


def _helped_line(row: str) -> str:
    start = row.strip()
    if start.startswith(ids.COMMAND):
        return code(start)
    parts = start.split("`")
    said = [code(part) if number % 2 else shown(part) for number, part in enumerate(parts)]
    return " ".join(part for part in said if part)


def _question(question: Question, delivery: int, locale: str, *, form: bool) -> list[Block]:
    title = section(strong(question.question))
    if not question.choices:
        return [title, context(say("say_it" if form else "say_in_line", locale))]
    if len(question.choices) > MOST_CHOICE_ROWS:
        return [title, _menu(question, delivery, locale)]
    rows = [
        section(shown(choice.label), accessory=_pick(question, number, delivery, locale))
        for number, choice in enumerate(question.choices)
    ]
    return [title, *rows]


def _pick(question: Question, number: int, delivery: int, locale: str) -> Block:
    value = ids.ButtonValue(delivery=delivery, field=question.field, choice=number)
    return button(say("choose", locale), ids.CHOICE, value.text())


def _menu(question: Question, delivery: int, locale: str) -> Block:
    options: list[Block] = []
    for number, choice in enumerate(question.choices[:MOST_OPTIONS]):
        value = ids.ButtonValue(delivery=delivery, field=question.field, choice=number)
        options.append({"text": label(choice.label), "value": value.text()})
    menu: Block = {
        "type": "static_select",
        "action_id": ids.CHOICE,
        "placeholder": label(say("choose", locale)),
        "options": options,
    }
    return {"type": "actions", "elements": [menu]}


def _marked(text: str, at: tuple[int, int]) -> str:
    """Return the line with the words that the problem is about in bold."""
    before, wrong, after = (
        typed(part) for part in (text[: at[0]], text[at[0] : at[1]], text[at[1] :])
    )
    pieces = [shown(before), strong(wrong), shown(after)]
    return escape(f"{ids.COMMAND} ") + " ".join(piece for piece in pieces if piece)


def _line(hint: str | None) -> str:
    """Return a hint as it is typed: with the command before it."""
    if not hint:
        return f"{ids.COMMAND} help"
    return hint if hint.startswith(ids.COMMAND) else f"{ids.COMMAND} {hint}"
