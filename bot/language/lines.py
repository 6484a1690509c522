"""The canonical line: the command that parses to the same request, in every locale."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from decimal import Decimal
from functools import lru_cache

from bot.domain.request import Request, Target
from bot.domain.values import plain_text, utc_text
from bot.language.calendars import day_end, instants
from bot.language.echoes import is_local_day
from bot.language.normalise import normalise
from bot.language.refusals import RefusalError
from bot.language.tokens import Kind, Tokens
from bot.language.zones import zone_label

_TARGETS = {
    Target.EC2: "on ec2",
    Target.TRAINING_JOB: "for a training job",
    Target.HYPERPOD: "on hyperpod",
    Target.ENDPOINT: "as an endpoint",
    Target.STUDIO: "on studio",
}
_GROUPED_DIGITS = 3
_FORM_KEYS = {
    "instance_type": "type",
    "accelerator": "type",
    "instance_count": "count",
    "minimum_count": "minimum",
    "accelerator_count": "gpus",
    "duration_hours": "for",
    "earliest_start": "start",
    "latest_start": "latest-start",
    "latest_end": "by",
    "max_total_usd": "max",
    "max_hourly_usd": "hourly",
    "regions": "region",
    "interruptible": "spot",
    "utilization": "use",
}
_VERBATIM = frozenset({"reason", "team", "platform"})


def canonical(request: Request, *, command: str, zone: tzinfo) -> str:  # noqa: C901 - one branch for each field
    """Return the line; times are told in the person's zone, or in UTC where that is doubtful."""
    parts = [command, _machines(request), *_times(request, zone)]
    if request.max_total_usd is not None:
        parts.append(f"max {_dollars(request.max_total_usd)}")
    if request.max_hourly_usd is not None:
        parts.append(f"max {_dollars(request.max_hourly_usd)} per hour")
    if request.regions:
        parts.append(f"in {', '.join(request.regions)}")
    if request.target is not None:
        parts.append(_TARGETS[request.target])
    if request.interruptible is not None:
        parts.append("spot ok" if request.interruptible else "not interruptible")
    if request.utilization is not None:
        parts.append(f"at {plain_text(request.utilization * 100)}% use")
    if request.owner is not None:
        parts.append(f"for <@{request.owner}>")
    if request.team is not None:
        parts.append(f"team={quoted(request.team)}")
    if request.channel is not None:
        parts.append(f"in <#{request.channel}>")
    if request.platform is not None:
        parts.append(f"platform={quoted(request.platform)}")
    if request.reason is not None:
        parts.append(f"because {quoted(request.reason)}")
    return " ".join(filter(None, parts))


def _machines(request: Request) -> str:
    name, gpus = request.instance_type, request.accelerator_count
    if name is None:
        if request.accelerator is None:
            return ""
        return f"{gpus}x{request.accelerator}" if gpus is not None else request.accelerator
    least = request.minimum_count
    if gpus is not None:
        counted = f"{gpus} gpus {name}"
        return counted if least is None else f"{counted} minimum={least}"
    counted = f"{request.instance_count} {name}"
    return counted if least is None else f"at least {least} of {counted}"


def _times(request: Request, zone: tzinfo) -> list[str]:
    earliest, latest = request.earliest_start, request.latest_start
    said = []
    if earliest is not None and latest is not None and is_local_day(earliest, latest, zone):
        said.append(f"on {earliest.astimezone(zone).date().isoformat()}")
    elif earliest is not None and earliest == latest:
        said.append(f"from {moment(earliest, zone)}")
    else:
        if earliest is not None:
            said.append(f"after {moment(earliest, zone)}")
        if latest is not None:
            said.append(f"latest-start={moment(latest, zone)}")
    if request.duration_hours is not None:
        least = "at least " if request.strict else ""
        said.append(f"for {least}{duration_text(request.duration_hours)}")
    elif request.strict:
        said.append("strict=yes")
    if request.latest_end is not None:
        said.append(f"by {_end(request.latest_end, zone)}")
    return said


@lru_cache(maxsize=1024)
def _end(instant: datetime, zone: tzinfo) -> str:
    """Return a deadline: the day that ends there, or the instant."""
    day = instant.astimezone(zone).date() - timedelta(days=1)
    return day.isoformat() if day_end(day, zone) == instant else moment(instant, zone)


@lru_cache(maxsize=1024)
def moment(instant: datetime, zone: tzinfo) -> str:
    """Return an instant so that it can be read in one way only."""
    local = instant.astimezone(zone).replace(tzinfo=None)
    _, once = instants(local, zone)
    if not once or local.second or local.microsecond or zone is UTC:
        return utc_text(instant)
    return f"{local.isoformat(timespec='minutes')} {zone_label(zone)}"


def duration_text(hours: Decimal) -> str:
    """Return hours, or hours and minutes where hundredths of an hour do not tell it."""
    if hours == hours.quantize(Decimal("0.01")):
        return f"{plain_text(hours)}h"
    minutes = (hours * 60).quantize(Decimal("0.01"))
    whole, rest = divmod(minutes, 60)
    return f"{plain_text(whole)}h{plain_text(rest)}m"


def _dollars(amount: Decimal) -> str:
    """Return an amount that no locale reads as grouped thousands: $34.6080, not $34.608."""
    whole, _, fraction = plain_text(amount).partition(".")
    if len(fraction) == _GROUPED_DIGITS:
        fraction += "0"
    return f"${whole}.{fraction}" if fraction else f"${whole}"


def quoted(text: str) -> str:
    """Return the text in quotes that read back as itself, with Slack's encoding put on."""
    encoded = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    for quote in "\"'":
        candidate = f"{quote}{encoded}{quote}"
        try:
            items = Tokens(normalise(candidate), "en").items
        except RefusalError:
            continue
        whole = len(items) == 1 and items[0].kind is Kind.STRING
        if whole and items[0].end == len(normalise(candidate).text):
            return candidate
    # Both kinds of quote inside: nothing in the grammar can hold them, so the double ones change.
    single = "".join("\u02ba" if _read_as(letter) == '"' else letter for letter in encoded)
    return f'"{single}"'


def _read_as(letter: str) -> str:
    """Return what one character reads as; itself when it is refused."""
    try:
        return normalise(letter).text
    except RefusalError:
        return letter


def fields_line(fields: Mapping[str, str], verb: str = "reserve") -> str:
    """Return the text that says what a form's fields say; empty fields are left out.

    Keys are the grammar's own or the request's field names; owner and channel take Slack ids.
    """
    parts = [verb]
    for field, value in fields.items():
        key = _FORM_KEYS.get(field, field)
        if not value.strip():
            continue
        if key == "owner":
            parts.append(f"--owner=<@{value.strip()}>" if value.strip().isalnum() else value)
        elif key == "channel":
            parts.append(f"--channel=<#{value.strip()}>" if value.strip().isalnum() else value)
        elif key in _VERBATIM:
            parts.append(f"--{key}={quoted(value)}")
        else:
            plain = " ".join(value.replace('"', " ").split())
            parts.append(f'--{key}="{plain}"' if " " in plain else f"--{key}={plain}")
    return " ".join(parts)
