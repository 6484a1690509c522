"""The two ways a call leaves: reads, which may be repeated, and spending, which may not."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeVar

from botocore.client import BaseClient
from pydantic import ValidationError

from bot.aws.errors import market_error, purchase_error
from bot.aws.wire import Row
from bot.domain.errors import IndeterminateError, MarketError

Answer = Mapping[str, Any]
R = TypeVar("R", bound=Row)

_MOST_PAGES: Final = 200
"""A listing that is longer than this is a loop, not a listing."""


def read(client: BaseClient, operation: str, **parameters: Any) -> Answer:
    """Return AWS's answer to a read. Raises MarketError."""
    try:
        answer: Answer = getattr(client, operation)(**parameters)
    except Exception as error:  # parser errors of botocore have no common base
        raise market_error(error) from error
    return answer


def pages(client: BaseClient, operation: str, **parameters: Any) -> Iterator[Answer]:
    """Yield every page; an empty NextToken ends it (EC2 spot price history). Raises MarketError."""
    token: str | None = None
    for _ in range(_MOST_PAGES):
        more = {"NextToken": token} if token else {}
        answer = read(client, operation, **parameters, **more)
        yield answer
        token = answer.get("NextToken")
        if not token:
            return
    raise MarketError("unknown", f"{operation} has more than {_MOST_PAGES} pages")


def understood(row: type[R], value: object) -> R:
    """Return the answer as a wire row. Raises MarketError when it can't be read."""
    try:
        return row.model_validate(value)
    except ValidationError as error:
        raise MarketError("unknown", f"unreadable answer: {error.errors()[0]['msg']}") from error


def spend(client: BaseClient, operation: str, *, after_doubt: bool, **parameters: Any) -> Answer:
    """Send one request that spends, once. Raises RefusedError or IndeterminateError."""
    try:
        answer: Answer = getattr(client, operation)(**parameters)
    except Exception as error:  # whatever it is, it may have been bought
        raise purchase_error(error, after_doubt=after_doubt) from error
    return answer


def bought(row: type[R], value: object) -> R:
    """Return the answer to a purchase as a row. Raises IndeterminateError: it was answered."""
    try:
        return row.model_validate(value)
    except ValidationError as error:
        raise IndeterminateError("UnreadableAnswer", error.errors()[0]["msg"]) from error
