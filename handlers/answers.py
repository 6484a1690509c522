"""The choices made so far about one line, kept with it until it can be acted on."""

from datetime import datetime

from pydantic import TypeAdapter

from bot.domain.errors import UserError
from bot.domain.request import Parsed
from bot.ports import Store

_ANSWERS = TypeAdapter(dict[str, str])


def answers_to(store: Store, delivery_id: int) -> dict[str, str]:
    """Return the answers given so far, by field of the request."""
    with store.reading() as tx:
        text = tx.facts.get(_fact(delivery_id))
    return _ANSWERS.validate_json(text) if text is not None else {}


def picked(
    store: Store, delivery_id: int, asked: Parsed, *, field: str, choice: int, at: datetime
) -> dict[str, str]:
    """Return the answers with one more, stored; a later pick of one question replaces the first.

    `asked` is what the line asks without an answer to that question. Raises UserError when it
    does not ask it, or lacks that choice.
    """
    question = next((one for one in asked.questions if one.field == field), None)
    if question is None or not 0 <= choice < len(question.choices):
        raise UserError("That question is settled already.", hint="list", code="settled")
    with store.transaction() as tx:
        text = tx.facts.get(_fact(delivery_id))
        answers = _ANSWERS.validate_json(text) if text is not None else {}
        answers[field] = question.choices[choice].value
        tx.facts.put(_fact(delivery_id), _ANSWERS.dump_json(answers).decode(), at=at)
    return answers


def is_settled(store: Store, delivery_id: int) -> bool:
    """Return whether the line was acted on: its old buttons do nothing then."""
    with store.reading() as tx:
        return tx.facts.get(_settled(delivery_id)) is not None


def settle(store: Store, delivery_id: int, *, at: datetime) -> None:
    """Remember that the line was acted on."""
    with store.transaction() as tx:
        tx.facts.put(_settled(delivery_id), "yes", at=at)


def _settled(delivery_id: int) -> str:
    return f"settled:{delivery_id}"


def _fact(delivery_id: int) -> str:
    return f"answers:{delivery_id}"
