"""The two ways a call leaves: reads, which may be repeated, and spending, which may not."""

from collections.abc import Callable, Iterator, Mapping
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

_LOOKS: Final = ("describe_", "get_", "list_", "search_")
"""What begins like this is asked for what it answers."""


def read(client: BaseClient, operation: str, **parameters: Any) -> Answer:
    """Return AWS's answer to a read. Raises MarketError.

    A look that brings nothing is no answer: a listing of nothing has its list, an empty one, while
    botocore makes nothing of JSON that is cut short and of a proxy's page.
    """
    try:
        answer: Answer = getattr(client, operation)(**parameters)
    except Exception as error:  # parser errors of botocore have no common base
        raise market_error(error) from error
    if operation.startswith(_LOOKS) and answer.keys() == {"ResponseMetadata"}:
        raise MarketError("unknown", f"{operation} answered without a word")
    return answer


def pages(
    client: BaseClient,
    operation: str,
    *,
    following: str = "NextToken",
    before_each: Callable[[], object] = bool,
    **parameters: Any,
) -> Iterator[Answer]:
    """Yield every page; an empty token ends it (EC2 spot price history). Raises MarketError.

    `following` is what the service calls its token; `before_each` may refuse a call. A token that
    comes again is a loop.
    """
    token: str | None = None
    seen: set[str] = set()
    for _ in range(_MOST_PAGES):
        before_each()
        answer = read(client, operation, **parameters, **({following: token} if token else {}))
        yield answer
        token = answer.get(following)
        if not token:
            return
        if token in seen:
            raise MarketError("unknown", f"{operation} gives the same page again")
        seen.add(token)
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
