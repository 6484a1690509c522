"""The other parts of a request: money, regions, target, interruption, people, reason."""

from collections.abc import Callable
from decimal import Decimal

from bot.domain.request import Target
from bot.domain.values import money_text, rate_text
from bot.language.refusals import RefusalError
from bot.language.settling import Option, Settling

_SAGEMAKER = (Target.TRAINING_JOB, Target.HYPERPOD, Target.ENDPOINT, Target.STUDIO)

_PARTS = frozenset(
    (
        "target", "sagemaker", "ml", "interruptible", "platform", "regions", "total", "hourly",
        "utilization", "owner", "team", "channel", "reason",
    )
)  # fmt: skip


def settle_terms(settling: Settling) -> None:
    """Settle everything that is neither machines nor time. Raises RefusalError."""
    if _PARTS.isdisjoint(settling.parts):
        return
    _target(settling)
    _regions(settling)
    _owner(settling)
    for part, field, show in _SIMPLE:
        if part in settling.parts:
            settling.simple(part, field, show)


def _money(value: object) -> str:
    return money_text(value) if isinstance(value, Decimal) else str(value)


def _rate(value: object) -> str:
    return rate_text(value) if isinstance(value, Decimal) else str(value)


_SIMPLE: tuple[tuple[str, str, Callable[[object], str]], ...] = (
    ("interruptible", "interruptible", lambda value: str(value).lower()),
    ("platform", "platform", str),
    ("total", "max_total_usd", _money),
    ("hourly", "max_hourly_usd", _money),
    ("utilization", "utilization", _rate),
    ("team", "team", str),
    ("channel", "channel", str),
    ("reason", "reason", str),
)
"""Parts whose readings need nothing else: the part, its field, and how a choice shows it."""


def _target(settling: Settling) -> None:
    """Settle the target; SageMaker alone, and `ml.` without a target, are asked."""
    said = [Target(str(value)) for value in settling.readings("target")]
    if settling.has("sagemaker", "ml"):
        fitting = [target for target in said if target is not Target.EC2]
        if not fitting:
            said = [*said, *_SAGEMAKER]
    if not said:
        return
    options = [Option(target, settling.speech.target(target), target.value) for target in said]
    chosen = settling.choose("target", options)
    name = settling.fields.get("instance_type")
    if chosen is None or chosen is Target.EC2 or not isinstance(name, str):
        return
    if settling.scene.names.kind(name).ml_name is None:
        span = settling.span("target", "sagemaker")
        raise RefusalError("no_ml", tokens=span, mend=("on ec2",), type=name)


def _regions(settling: Settling) -> None:
    said = [value for value in settling.readings("regions") if isinstance(value, tuple)]
    if not said:
        return
    options = [Option(codes, ", ".join(codes), ",".join(codes)) for codes in said]
    if settling.has("anywhere"):
        options.append(Option((), settling.speech.say("any_region"), "anywhere"))
    elif len(said) > 1 and not settling.unsure("regions"):
        every = tuple(dict.fromkeys(code for codes in said for code in codes))
        if every not in said:
            options.append(Option(every, ", ".join(every), ",".join(every)))
    settling.choose("regions", options, ask=settling.unsure("regions"))


def _owner(settling: Settling) -> None:
    """Settle who owns it; a group cannot, so a person is asked for."""
    readings = [str(value) for value in settling.readings("owner")]
    if not readings and not settling.unsure("owner"):
        return
    options = [Option(person, f"<@{person}>", person) for person in readings]
    settling.choose("owner", options, ask=settling.unsure("owner"), free=_person)


def _person(text: str) -> str | None:
    return text if text[:1] in {"U", "W"} and text.isalnum() else None
