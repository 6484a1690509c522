"""How values become text in a database: exact bodies, and times that sort by instant."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from bot.domain.base import Model
from bot.domain.values import utc


def body_of(value: Model) -> str:
    """Return JSON from which `model_validate_json` makes the equal value.

    The contract's own JSON rounds rates to four places; evidence must come back exact, so that
    a decision can be made again.
    """
    return json.dumps(value.model_dump(), default=_exact, ensure_ascii=False, separators=(",", ":"))


def _exact(value: object) -> str:
    match value:
        case Decimal():
            return str(value)
        case datetime():
            return time_text(value)
        case timedelta():
            return _duration_text(value)
        case _:
            raise TypeError(f"{type(value).__name__} has no exact text")


def _duration_text(length: timedelta) -> str:
    sign = "-" if length < timedelta(0) else ""
    whole = abs(length)
    return f"{sign}P{whole.days}DT{whole.seconds}.{whole.microseconds:06}S"


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
