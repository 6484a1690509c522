"""The echo: a request said back in one sentence, with everything that it will do."""

from datetime import datetime, timedelta, tzinfo
from decimal import Decimal
from functools import lru_cache

from bot.domain.request import Request
from bot.domain.values import plain_text
from bot.language.calendars import day_end, day_start
from bot.language.names import Names
from bot.language.speech import Speech
from bot.language.zones import zone_label


def echo_request(
    request: Request,
    *,
    command: str,
    zone: tzinfo,
    speech: Speech,
    names: Names,
    asked: frozenset[str] = frozenset(),
) -> str:
    """Return the sentence; `asked` are fields that still wait for an answer."""
    parts = [
        f"{speech.say(command)} {_machines(request, speech, names)}",
        _length(request, speech, command),
        _start(request, zone, speech, asked),
    ]
    if request.latest_end is not None:
        parts.append(speech.say("end", when=speech.instant(request.latest_end, zone)))
    parts.extend(_terms(request, speech))
    sentence = ", ".join(filter(None, parts)) + "."
    if request.reason is not None:
        sentence = f"{sentence} {speech.say('reason', reason=request.reason)}"
    return sentence


def _machines(request: Request, speech: Speech, names: Names) -> str:
    name, count = request.instance_type, request.instance_count
    if name is None:
        return _without_type(request, speech, names)
    if count is None:
        return name
    kind = names.kind(name)
    total = kind.accelerators * count
    said = [
        speech.say(
            "machines",
            count=count,
            type=name,
            total=speech.number(total),
            accelerator=kind.accelerator,
            unit=speech.say("gpu" if total == 1 else "gpus"),
        )
    ]
    if request.accelerator_count is not None and request.accelerator_count != total:
        said.append(speech.say("counted", count=request.accelerator_count))
    if request.minimum_count is not None:
        said.append(speech.say("at_least_machines", count=request.minimum_count))
    return ", ".join(said)


def _without_type(request: Request, speech: Speech, names: Names) -> str:
    if request.accelerator is not None:
        if request.accelerator_count is None:
            return speech.say("accelerator", accelerator=request.accelerator)
        return speech.say(
            "accelerators",
            count=request.accelerator_count,
            accelerator=request.accelerator,
            candidates=", ".join(names.carriers(request.accelerator)),
        )
    if request.instance_count is not None:
        return f"{request.instance_count} x {speech.say('several_types')}"
    if request.accelerator_count is not None:
        gpus = speech.say("counted", count=request.accelerator_count)
        return f"{gpus}, {speech.say('several_types')}"
    return speech.say("no_machines")


@lru_cache(maxsize=256)
def length(hours: Decimal, speech: Speech) -> str:
    """Return a duration in whole days where it is, and always in hours."""
    shown = speech.number(hours.quantize(Decimal("0.0001")).normalize() + 0)
    days, rest = divmod(hours, 24)
    if rest or not days:
        return speech.say("hour") if hours == 1 else speech.say("hours", hours=shown)
    text = speech.say("day") if days == 1 else speech.say("days", days=plain_text(days))
    return speech.say("days_hours", days=text, hours=shown)


def _length(request: Request, speech: Speech, command: str) -> str:
    if request.duration_hours is None:
        return "" if command == "watch" else speech.say("no_length")
    key = "for_strict" if request.strict else "for"
    return speech.say(key, length=length(request.duration_hours, speech))


def _start(request: Request, zone: tzinfo, speech: Speech, asked: frozenset[str]) -> str:  # noqa: PLR0911 - one return for each form
    earliest, latest = request.earliest_start, request.latest_start
    if "earliest_start" in asked:
        return speech.say("no_start")
    if earliest is None and latest is None:
        return speech.say("asap")
    if earliest is None and latest is not None:
        return speech.say("start_by", when=speech.instant(latest, zone))
    if earliest is not None and latest is None:
        return speech.say("after", when=speech.instant(earliest, zone))
    if earliest is None or latest is None or earliest == latest:
        return speech.say("from", when=speech.instant(earliest or latest or _never(), zone))
    first, last = speech.instant(earliest, zone), speech.instant(latest, zone)
    if is_local_day(earliest, latest, zone):
        day = speech.day(earliest.astimezone(zone).date())
        return speech.say("on_day", day=day, zone=zone_label(zone), first=first, last=last)
    return speech.say("window", first=first, last=last)


def _never() -> datetime:
    raise ValueError("a start without instants")


@lru_cache(maxsize=1024)
def is_local_day(first: datetime, end: datetime, zone: tzinfo) -> bool:
    """Return whether two instants bound one whole local day."""
    if end - first > timedelta(hours=26):
        return False
    day = first.astimezone(zone).date()
    return day_start(day, zone) == first and day_end(day, zone) == end


def _terms(request: Request, speech: Speech) -> list[str]:
    said = []
    if request.regions:
        said.append(speech.say("in_regions", regions=", ".join(request.regions)))
    else:
        said.append(speech.say("any_region"))
    if request.max_total_usd is not None:
        said.append(speech.say("max_total", amount=speech.amount(request.max_total_usd)))
    if request.max_hourly_usd is not None:
        said.append(speech.say("max_hourly", amount=speech.amount(request.max_hourly_usd)))
    if request.max_total_usd is None and request.max_hourly_usd is None:
        said.append(speech.say("no_cap"))
    if request.target is not None:
        said.append(speech.say("target", target=speech.target(request.target)))
    if request.interruptible is not None:
        said.append(speech.say("interruptible" if request.interruptible else "not_interruptible"))
    if request.utilization is not None:
        said.append(speech.say("use", percent=speech.number(request.utilization * 100)))
    for field in ("platform", "owner", "team", "channel"):
        value = getattr(request, field)
        if value is not None:
            said.append(speech.say(field, **{field: value}))
    return said
