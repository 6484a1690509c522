"""Pages: a slice of a list and the token that continues it."""

import base64
import binascii
from collections.abc import Sequence
from typing import Any, TypeVar

from sandbox.aws.errors import AwsError

T = TypeVar("T")


def page(
    items: Sequence[T], params: dict[str, Any], *, default: int = 1000, most: int = 1000
) -> tuple[list[T], str | None]:
    """The page that `NextToken` and `MaxResults` ask for, and the next token if more follow.

    Raises:
        AwsError: the token is not ours or the size is out of range.
    """
    size = params.get("MaxResults", default)
    if not 1 <= size <= most:
        raise AwsError("InvalidParameterValue", f"MaxResults must be between 1 and {most}.")
    start = _read(params.get("NextToken"))
    if start > len(items):
        raise AwsError("InvalidNextToken", "The token is not valid.")
    end = start + size
    return list(items[start:end]), _write(end) if end < len(items) else None


def with_token(answer: dict[str, Any], token: str | None) -> dict[str, Any]:
    """The answer, with its token when more pages follow."""
    return answer if token is None else {**answer, "NextToken": token}


def _write(start: int) -> str:
    return base64.urlsafe_b64encode(f"from:{start}".encode()).decode()


def _read(token: str | None) -> int:
    if not token:
        return 0
    try:
        text = base64.urlsafe_b64decode(token.encode()).decode()
        label, _, number = text.partition(":")
        if label == "from":
            return int(number)
    except (ValueError, binascii.Error):
        pass
    raise AwsError("InvalidNextToken", "The token is not valid.")
