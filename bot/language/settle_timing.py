"""When and how long: one start, one end and one duration, from all that was said of them."""

from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial

from bot.domain.values import plain_text, rate_text
from bot.language.moments import Moment
from bot.language.refusals import RefusalError
from bot.language.scene import Part
from bot.language.settle_end import refuse_misfit, settle_deadline, settle_range
from bot.language.settle_start import (
    STARTS,
    Start,
    moment_of,
    settle_latest,
    settle_start,
    span_of,
)
from bot.language.settling import Option, Settling, distinct_of
from bot.language.spans import Span
from bot.language.zones import Zone

_DAY = timedelta(days=1)
_SUGGESTED_HOURS = (24, 72, 168)
_ALONE = frozenset(("clock", "until", "span", "zone"))
"""Parts that may lack a day, or lend a zone."""


def settle_timing(settling: Settling, *, needs_duration: bool) -> None:
    """Settle start, end and duration.

    Raises:
        RefusalError: past, too far ahead, or a window that cannot fit.
    """
    _lend(settling)
    spans = settling.parts.get("span", [])
    start = settle_start(settling)
    settle_latest(settling)
    exact = next((part for part in spans if not span_of(part).inside), None)
    lengths: list[Option] = []
    if exact is not None and isinstance(start, Start) and start.latest is not None:
        lengths = settle_range(settling, exact, start)
    if exact is not None and start is None:
        _refuse_longer_than_a_day(settling, span_of(exact))
    known = start if isinstance(start, Start) else None
    settle_deadline(settling, known)
    needed = needs_duration and (exact is None or bool(lengths))
    _duration(settling, lengths, known, needed=needed)
    refuse_misfit(settling, known)


def _lend(settling: Settling) -> None:
    """Give a time or zone that stands alone to the one day it can belong to."""
    parts = settling.parts
    if _ALONE.isdisjoint(parts):
        return
    clocks = parts.get("clock", [])
    hosts = [part for field in ("start", "after") for part in parts.get(field, ())]
    if len(clocks) == 1 and len(hosts) == 1 and "span" not in parts:
        clock, host = moment_of(clocks[0]), moment_of(hosts[0])
        if host.clock is None and host.instant is None:
            merged = host._replace(clock=clock.clock, zone=clock.zone or host.zone)
            part = hosts[0]
            parts[part.field] = [part._replace(readings=(merged,))]
            del parts["clock"]
    _lend_day(settling)
    until = parts.get("until", [])
    starts = parts.get("start", [])
    if len(until) == 1 and len(starts) == 1 and not settling.has("duration", "span", "after"):
        first = moment_of(starts[0])
        span = Span(first, moment_of(until[0]), inside=False)
        parts["span"] = [starts[0]._replace(field="span", readings=(span,))]
        del parts["until"], parts["start"]
    for part in parts.pop("zone", []):
        _lend_zone(settling, part)


def _lend_day(settling: Settling) -> None:
    """Give the one day that stands alone to a range of two times: tomorrow from 9am to 5pm."""
    spans, starts = settling.parts.get("span", []), settling.parts.get("start", [])
    if len(spans) != 1 or len(starts) != 1:
        return
    span, day = span_of(spans[0]), moment_of(starts[0])
    if span.first.day is None and span.first.instant is None and day.clock is None and day.day:
        first = span.first._replace(day=day.day, zone=span.first.zone or day.zone)
        lent = Span(first, span.second, span.inside)
        settling.parts["span"] = [spans[0]._replace(readings=(lent,))]
        del settling.parts["start"]


def _lend_zone(settling: Settling, zone: Part) -> None:
    named = zone.readings[0]
    if not isinstance(named, Zone):
        return
    used = False
    for field in (*STARTS, "by", "before", "until", "latest"):
        for index, part in enumerate(settling.parts.get(field, ())):
            value = part.readings[0]
            if isinstance(value, Moment) and value.zone is None and value.instant is None:
                lent: object = value._replace(zone=named)
            elif isinstance(value, Span) and value.first.zone is None:
                second = value.second
                if second.zone is None:
                    second = second._replace(zone=named)
                lent = Span(value.first._replace(zone=named), second, value.inside)
            else:
                continue
            settling.parts[field][index] = part._replace(readings=(lent,))
            used = True
    if not used:
        span = (zone.start, zone.end)
        said = settling.scene.tokens.said(*span)
        raise RefusalError("leftover", tokens=span, said=said)


def _duration(
    settling: Settling, lengths: list[Option], start: Start | None, *, needed: bool
) -> None:
    """Settle the duration: said, or the difference of a range; missing is asked."""
    ends = {length.choice.value: length.held for length in lengths}
    said = [hours for hours in settling.readings("duration") if isinstance(hours, Decimal)]
    _refuse_longer(settling, said, [end.held for end in lengths])
    options = [
        Option(hours, partial(_hours_label, hours), partial(rate_text, hours)) for hours in said
    ]
    options.extend(
        Option(length.held[0], length.label, length.value)
        for length in lengths
        if isinstance(length.held, tuple)
    )
    strict = True in settling.readings("strict")
    distinct = distinct_of(options)
    if not distinct and not needed:
        return
    if not distinct:
        distinct = [Option(Decimal(n), f"{n} h", str(n)) for n in _suggested(settling, start)]
        settling.choose("duration_hours", distinct, ask=True, free=typed_hours)
    else:
        settling.choose("duration_hours", distinct, free=typed_hours)
    hours = settling.fields.get("duration_hours")
    if ends and isinstance(hours, Decimal) and (end := ends.get(rate_text(hours))):
        strict = True
        if isinstance(end, tuple) and "latest_end" not in settling.questions:
            settling.fields.setdefault("latest_end", end[1])
    settling.fields["strict"] = strict


def _hours_label(hours: Decimal) -> str:
    return f"{rate_text(hours)} h"


def _suggested(settling: Settling, start: Start | None) -> list[int]:
    """Return whole hours to offer, those that fit before the deadline."""
    end = settling.fields.get("latest_end")
    if start is None or not isinstance(end, datetime):
        return list(_SUGGESTED_HOURS)
    window = (end - (start.earliest or settling.scene.now)) // timedelta(hours=1)
    return [hours for hours in _SUGGESTED_HOURS if hours <= window] or [max(1, window)]


def _refuse_longer(settling: Settling, said: list[Decimal], ranges: list[object]) -> None:
    """Refuse a duration that is longer than the range it is said with."""
    window = max((held[0] for held in ranges if isinstance(held, tuple)), default=None)
    if window is not None and any(hours > window for hours in said):
        raise RefusalError(
            "window_short",
            tokens=settling.span("duration"),
            window=plain_text(window.quantize(Decimal("0.1"))),
            hours=rate_text(max(said)),
        )


def _refuse_longer_than_a_day(settling: Settling, span: Span) -> None:
    """Refuse a duration that no day to be asked could fit between two times of a day."""
    said = [hours for hours in settling.readings("duration") if isinstance(hours, Decimal)]
    first, second = span.first.clock, span.second.clock
    if not said or first is None or second is None or span.second.day is not None:
        return
    day = _DAY // timedelta(seconds=1)
    longest = max((end - begin) % day or day for begin in first.seconds for end in second.seconds)
    window = Decimal(int(longest)) / 3600
    # On the night of a clock change it is an hour longer.
    if min(said) > window + 1:
        raise RefusalError(
            "window_short",
            tokens=settling.span("duration"),
            window=plain_text(window.quantize(Decimal("0.1"))),
            hours=rate_text(max(said)),
        )


def typed_hours(text: str) -> Decimal | None:
    """Return the hours of an answer such as 48; None when it is no such number."""
    whole, _, fraction = text.partition(".")
    if not (whole.isdigit() and whole.isascii() and (not fraction or fraction.isdigit())):
        return None
    hours = Decimal(text) if len(text) < 12 else Decimal(0)  # noqa: PLR2004 - far above two years
    return hours if 1 <= hours <= 24 * 731 else None
