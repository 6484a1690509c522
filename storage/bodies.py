"""How values become text in a database: exact bodies, and times that sort by instant."""

from datetime import UTC, datetime

from pydantic_core import to_json

from bot.domain.base import Model
from bot.domain.values import utc


def body_of(value: Model) -> str:
    """Return JSON from which `model_validate_json` makes the equal value.

    The contract's own JSON rounds rates to four places; evidence must come back exact, so that
    a decision can be made again. So the fields' own serializers are left aside.
    """
    return to_json(value.model_dump()).decode()


def time_text(instant: datetime) -> str:
    """Return UTC text of fixed width, so that comparing texts compares instants."""
    return utc(instant).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def maybe_time_text(instant: datetime | None) -> str | None:
    """Return `time_text`, or None for None."""
    return None if instant is None else time_text(instant)


def time_of(text: str) -> datetime:
    """Return the instant that `time_text` wrote, aware UTC."""
    instant = datetime.fromisoformat(text)
    return instant if instant.tzinfo is UTC else utc(instant)


def maybe_time_of(text: str | None) -> datetime | None:
    """Return `time_of`, or None for None."""
    return None if text is None else time_of(text)
