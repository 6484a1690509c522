"""Reading Web API arguments, which come as JSON values or as text of a form."""

from typing import Any

from sandbox.slack.errors import SlackError

Json = dict[str, Any]


def required(arguments: Json, name: str, code: str = "invalid_arguments") -> Any:
    """The argument.

    Raises:
        SlackError: `code` when it is missing or empty.
    """
    value = arguments.get(name)
    if value in (None, ""):
        raise SlackError(code, f"[ERROR] missing required field: {name}")
    return value


def flag(arguments: Json, name: str) -> bool:
    """A boolean that a form writes as 1 or true."""
    return str(arguments.get(name, "")).lower() in {"1", "true"}


def whole(arguments: Json, name: str, default: int, most: int) -> int:
    """A count between 1 and `most`.

    Raises:
        SlackError: `invalid_limit`.
    """
    try:
        value = int(arguments.get(name) or default)
    except ValueError as error:
        raise SlackError("invalid_limit") from error
    if not 1 <= value <= most:
        raise SlackError("invalid_limit")
    return value


def page(items: list[Any], arguments: Json, default: int, most: int) -> tuple[list[Any], Json]:
    """One page of `items` and the `response_metadata` that leads to the next.

    Raises:
        SlackError: `invalid_cursor`.
    """
    limit = whole(arguments, "limit", default, most)
    cursor = str(arguments.get("cursor") or "0")
    if not cursor.isdigit() or int(cursor) > len(items):
        raise SlackError("invalid_cursor")
    start = int(cursor)
    following = str(start + limit) if start + limit < len(items) else ""
    return items[start : start + limit], {"next_cursor": following}
