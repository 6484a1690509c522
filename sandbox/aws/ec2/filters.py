"""EC2's `Filters`: names AND-ed, values OR-ed, `*` and `?` as wildcards, tags by `tag:key`."""

from fnmatch import fnmatchcase
from typing import Any

from sandbox.aws.errors import AwsError


def passes(
    filters: list[dict[str, Any]] | None, fields: dict[str, str], tags: dict[str, str]
) -> bool:
    """Whether a thing with these filterable fields and tags passes every filter.

    Raises:
        AwsError: a filter's name is not one of the fields.
    """
    return all(_passes(row["Name"], row.get("Values", []), fields, tags) for row in filters or [])


def _passes(name: str, values: list[str], fields: dict[str, str], tags: dict[str, str]) -> bool:
    if name.startswith("tag:"):
        key = name.removeprefix("tag:")
        return key in tags and _any(values, tags[key])
    if name == "tag-key":
        return any(_any(values, key) for key in tags)
    if name == "tags":
        return any(_any(values, text) for pair in tags.items() for text in pair)
    if name not in fields:
        raise AwsError("InvalidParameterValue", f"The filter '{name}' is invalid")
    return _any(values, fields[name])


def _any(patterns: list[str], text: str) -> bool:
    return any(fnmatchcase(text, pattern) for pattern in patterns)


def tags_of(params: dict[str, Any], resource_type: str) -> dict[str, str]:
    """The tags to put on a new resource of this type.

    Raises:
        AwsError: a tag uses the reserved prefix or is too long.
    """
    tags: dict[str, str] = {}
    for specification in params.get("TagSpecifications") or []:
        if specification.get("ResourceType") != resource_type:
            continue
        for tag in specification.get("Tags") or []:
            key, value = tag.get("Key", ""), tag.get("Value", "")
            if key.startswith("aws:"):
                raise AwsError(
                    "InvalidParameterValue", "Tag keys starting with 'aws:' are reserved."
                )
            if not 1 <= len(key) <= 127 or len(value) > 256:
                raise AwsError("InvalidParameterValue", f"The tag '{key}' is too long.")
            tags[key] = value
    return tags


def check_tag_targets(params: dict[str, Any], allowed: set[str]) -> None:
    """Passes tag specifications for these resource types only.

    Raises:
        AwsError: a specification names another type.
    """
    for specification in params.get("TagSpecifications") or []:
        kind = specification.get("ResourceType")
        if kind not in allowed:
            raise AwsError(
                "InvalidParameterValue", f"'{kind}' is not a valid taggable resource type."
            )


def tag_list(tags: dict[str, str]) -> list[dict[str, str]]:
    """Tags as AWS lists them."""
    return [{"Key": key, "Value": value} for key, value in tags.items()]
