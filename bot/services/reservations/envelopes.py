"""What an event of EventBridge is about: recognised, never believed. Pure.

AWS's own pages spell the names in two ways ("Capacity Block Delivered", "Capacity Block
Reservation Delivered"), print `detail_type` where it sends `detail-type`, and leave the region
out of samples (EC2 User Guide, "Monitor Capacity Blocks using EventBridge"). So only beginnings
of names count, and ids and places are found wherever they stand.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from enum import StrEnum

from bot.domain.base import Model
from bot.domain.errors import GpuBotError

RESERVATIONS = ("Capacity Block", "EC2 Capacity Block", "EC2 Capacity Reservation")
INTERRUPTION = "EC2 Spot Instance Interruption Warning"
REBALANCE = "EC2 Instance Rebalance Recommendation"
MACHINE = "EC2 Instance State-change Notification"
FROM_CLOUDTRAIL = "AWS Service Event via CloudTrail"
"""How payments of blocks are told of (EC2 User Guide, "Log Capacity Blocks API calls")."""
SAGEMAKER = "SageMaker "

_HELD = re.compile(r"\bcr-[0-9a-f]{8,32}\b")
_INSTANCE = re.compile(r"\bi-[0-9a-f]{8,32}\b")
_PLAN = re.compile(r"\barn:aws[\w-]*:sagemaker:[\w-]+:\d{12}:training-plan/[\w-]{1,64}")
_ENDPOINT = re.compile(r"\bgpubot-gpu-[0-9]{1,12}-[0-9a-f]{12}\b")
_ARN_REGION = re.compile(r"\barn:aws[\w-]*:[\w-]+:([a-z]{2}(?:-[a-z]+)+-\d)")
MOST_TEXT = 262_144
"""No message of SQS is larger (SQS Developer Guide, "Message quotas")."""
MOST_NAMES = 100
"""AWS names one thing, or a block's few reservations; each name is a look."""
_DEEP = 8


class EnvelopeError(GpuBotError):
    """A message is no event at all."""


class What(StrEnum):
    """What may have changed."""

    HELD = "held"
    INTERRUPTION = "interruption"
    REBALANCE = "rebalance"
    MACHINE = "machine"
    ENDPOINT = "endpoint"


class Signal(Model):
    """That something may have changed. `id` is the event's own: the same for every copy of it.

    `account` is AWS's number and `region` AWS's name, both empty where the event has none.
    """

    what: What
    id: str
    account: str = ""
    region: str = ""
    names: tuple[str, ...] = ()


def recognise(body: str) -> Signal | None:
    """Return what the event is about; None for one that is none of our business.

    Raises EnvelopeError when it is no event.
    """
    if len(body) > MOST_TEXT:
        raise EnvelopeError("the message is too long")
    try:
        envelope = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise EnvelopeError("the message is no JSON") from error
    if not isinstance(envelope, Mapping):
        raise EnvelopeError("the message is no JSON object")
    kind = envelope.get("detail-type", envelope.get("detail_type"))
    if not isinstance(kind, str) or not kind:
        raise EnvelopeError("the message names no detail-type")
    found = _about(kind)
    if found is None:
        return None
    what, pattern = found
    texts = [*_texts(envelope.get("resources"), 0), *_texts(envelope.get("detail"), 0)]
    names = sorted({match[0] for text in texts for match in pattern.finditer(text)})[:MOST_NAMES]
    if not names:
        return None
    return Signal(
        what=what,
        id=_id(envelope, body),
        account=_text(envelope, "account"),
        region=_text(envelope, "region") or _region(texts),
        names=tuple(names),
    )


def _about(kind: str) -> tuple[What, re.Pattern[str]] | None:
    if kind == INTERRUPTION:
        return What.INTERRUPTION, _INSTANCE
    if kind == REBALANCE:
        return What.REBALANCE, _INSTANCE
    if kind == MACHINE:
        return What.MACHINE, _INSTANCE
    if kind.startswith(RESERVATIONS) or kind == FROM_CLOUDTRAIL:
        return What.HELD, _HELD
    if kind.startswith(SAGEMAKER):
        plan = "plan" in kind.casefold()
        return (What.HELD, _PLAN) if plan else (What.ENDPOINT, _ENDPOINT)
    return None


def _id(envelope: Mapping[str, object], body: str) -> str:
    given = _text(envelope, "id")
    if re.fullmatch(r"[\w-]{1,64}", given):
        return given
    return hashlib.sha256(body.encode(errors="replace")).hexdigest()[:32]


def _text(envelope: Mapping[str, object], key: str) -> str:
    value = envelope.get(key)
    return value if isinstance(value, str) else ""


def _region(texts: list[str]) -> str:
    """Return the region of the first ARN; spot's has a zone in its place, which is cut off."""
    return next((match[1] for text in texts if (match := _ARN_REGION.search(text))), "")


def _texts(value: object, depth: int) -> Iterator[str]:
    """Yield every text in it, keys apart, down to a sensible depth."""
    if isinstance(value, str):
        yield value
    elif depth < _DEEP and isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item, depth + 1)
    elif depth < _DEEP and isinstance(value, list):
        for item in value:
            yield from _texts(item, depth + 1)
