"""Names, ARNs and tags of SageMaker."""

import re
from typing import Any

from sandbox.aws.errors import AwsError
from sandbox.aws.world import Call

NAME = re.compile(r"[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}")


def arn(call: Call, kind: str, name: str) -> str:
    """The ARN of a resource in the caller's account and Region."""
    return f"arn:aws:sagemaker:{call.region}:{call.account}:{kind}/{name}"


def checked_name(params: dict[str, Any], key: str) -> str:
    """The name under this key.

    Raises:
        AwsError: it is missing or not a name.
    """
    name: str = params.get(key, "")
    if not NAME.fullmatch(name):
        raise AwsError(
            "ValidationException",
            f"Value '{name}' at '{key}' failed to satisfy constraint: a name of 1 to 63 "
            "letters, digits and inner hyphens",
        )
    return name


def tags_of(params: dict[str, Any]) -> dict[str, str]:
    """The tags of a request."""
    return {tag["Key"]: tag.get("Value", "") for tag in params.get("Tags") or []}
