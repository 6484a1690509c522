"""A request as one line after /gpu that parses back to it."""

from datetime import datetime, time, timedelta, tzinfo
from decimal import Decimal

from bot.domain.request import Request, Target
from bot.domain.values import money_text, plain_text, utc_text
from bot.engine.words import zone_of

_TARGETS = {
    Target.EC2: "on ec2",
    Target.TRAINING_JOB: "training-job",
    Target.HYPERPOD: "hyperpod",
    Target.ENDPOINT: "as an endpoint",
    Target.STUDIO: "studio",
}


def line_of(request: Request, *, zone: str) -> str:
    """Return the request as a `reserve` line; days are written in the person's zone."""
    parts = ["reserve", _what(request), *_when(request, zone_of(zone))]
    if request.max_total_usd is not None:
        parts.append(f"max ${money_text(request.max_total_usd)}")
    if request.max_hourly_usd is not None:
        parts.append(f"max ${plain_text(request.max_hourly_usd)}/h")
    if request.regions:
        parts.append(f"in {', '.join(request.regions)}")
    if request.target is not None:
        parts.append(_TARGETS[request.target])
    if request.interruptible is not None:
        parts.append("spot ok" if request.interruptible else "not interruptible")
    if request.utilization is not None:
        share = (request.utilization * 100).quantize(Decimal("0.01"))
        parts.append(f"at {plain_text(share)}% use")
    parts.extend(_who(request))
    return " ".join(parts)


def _what(request: Request) -> str:
    count = request.instance_count or 1
    name = request.instance_type or request.ultraserver_type
    if name is None:
        return f"{request.accelerator_count or 1}x{request.accelerator}"
    if request.minimum_count is not None and request.minimum_count < count:
        return f"at least {request.minimum_count} of {count} {name}"
    return f"{count} {name}"


def _when(request: Request, zone: tzinfo) -> list[str]:
    earliest, latest, end = request.earliest_start, request.latest_start, request.latest_end
    fixed = earliest is not None and earliest == latest
    if earliest is not None and fixed and request.strict and _fills(request, earliest):
        return [f"from {_instant(earliest)} to {_instant(end or earliest)}"]
    parts = []
    if request.duration_hours is not None:
        least = "for at least " if request.strict else "for "
        parts.append(least + _duration(request.duration_hours))
    if earliest is not None and fixed:
        parts.append(f"from {_instant(earliest)}")
    elif earliest is not None and latest is not None and _is_day(earliest, latest, zone):
        parts.append(f"from {earliest.astimezone(zone):%Y-%m-%d}")
    else:
        if earliest is not None:
            parts.append(f"after {_instant(earliest)}")
        if latest is not None:
            parts.append(f"latest-start={_instant(latest)}")
    if end is not None:
        parts.append(f"by {_instant(end)}")
    return parts


def _is_day(earliest: datetime, latest: datetime, zone: tzinfo) -> bool:
    """Return whether both are midnights of neighbouring days in the zone."""
    opens, closes = earliest.astimezone(zone), latest.astimezone(zone)
    midnights = opens.time() == closes.time() == time()
    return midnights and closes.date() - opens.date() == timedelta(days=1)


def _fills(request: Request, start: datetime) -> bool:
    """Return whether the request runs exactly from its start to its end."""
    if request.latest_end is None or request.duration_hours is None:
        return False
    asked = timedelta(seconds=int((request.duration_hours * 3600).to_integral_value()))
    return request.latest_end - start == asked


def _who(request: Request) -> list[str]:
    parts = []
    if request.owner is not None:
        parts.append(f"for <@{request.owner}>")
    if request.team is not None:
        parts.append(f"team={request.team}")
    if request.channel is not None:
        parts.append(f"in <#{request.channel}>")
    if request.platform is not None:
        parts.append(f"platform={request.platform}")
    if request.reason is not None:
        quoted = request.reason.replace('"', "'")
        parts.append(f'reason="{quoted}"')
    return parts


def _instant(instant: datetime) -> str:
    if instant.second or instant.microsecond:
        return utc_text(instant)
    return f"{instant:%Y-%m-%dT%H:%MZ}"


def _duration(duration: Decimal) -> str:
    minutes = int((duration * 60).to_integral_value())
    whole, rest = divmod(minutes, 60)
    if not whole:
        return f"{rest}m"
    return f"{whole}h{rest}m" if rest else f"{whole}h"
