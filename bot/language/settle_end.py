"""When it must be over: the end of a range, and deadlines."""

from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial

from bot.domain.values import plain_text, rate_text, utc_text
from bot.language.calendars import day_end, horizon, next_occurrence
from bot.language.days import Day
from bot.language.moments import Moment, Reading, readings_of
from bot.language.refusals import RefusalError
from bot.language.scene import Part
from bot.language.settle_start import (
    Start,
    label_of,
    moment_of,
    other_years,
    out_of_reach,
    span_of,
    typed_day,
    typed_instant,
    viable,
)
from bot.language.settling import Option, Settling, distinct_of
from bot.language.spans import Span

_LEAST = timedelta(hours=1)
_ENDS = ("by", "before", "until", "span")


def settle_range(settling: Settling, part: Part, start: Start) -> list[Option]:
    """Settle the end of `from … to …` and return what its duration may be."""
    scene = settling.scene
    begin = start.latest
    if begin is None:
        return []
    second = _second(settling, span_of(part), begin)
    found, doubtful = readings_of(scene, second)
    if all(reading.start > horizon(scene.now) for reading in found):
        raise out_of_reach(settling, part, found[0].start)
    ends: list[tuple[datetime, Reading]] = []
    for reading in found:
        ends.append((reading.start, reading))
        if reading.whole_day:
            ends.append((reading.end, reading))
    late = [(end, reading) for end, reading in ends if end > begin]
    if not late:
        raise _end_before(settling, (part.start, part.end), begin, ends[-1][0])
    late = [(end, reading) for end, reading in late if end - begin >= _LEAST] or late[:1]
    if late[-1][0] - begin < _LEAST:
        said = scene.tokens.said(part.start, part.end)
        raise RefusalError("duration_minutes", tokens=(part.start, part.end), said=said)
    options = []
    for end, reading in late:
        hours = _between(begin, end)
        label = f"{rate_text(hours)} h: {settling.speech.instant_label(end, reading.zone)}"
        options.append(Option((hours, end), label, rate_text(hours)))
    if len(options) == 1 and not doubtful:
        settling.fields["latest_end"] = late[0][0]
    return options


def _between(begin: datetime, end: datetime) -> Decimal:
    seconds = Decimal((end - begin) // timedelta(microseconds=1)) / 1_000_000
    return seconds / 60 / 60


def _first_after(settling: Settling, moment: Moment, begin: datetime) -> Moment:
    """Return a moment without a day as the first such time after the start."""
    if moment.day is not None or moment.clock is None:
        return moment
    zone = moment.zone.options[0] if moment.zone else settling.scene.zone
    local = begin.astimezone(zone)
    past = moment.clock.seconds[0] <= local.hour * 3600 + local.minute * 60 + local.second
    return moment._replace(day=Day((local.date() + timedelta(days=1 if past else 0),)))


def _second(settling: Settling, span: Span, begin: datetime) -> Moment:
    """Return the second moment, with the day or year that only the start can give it."""
    second = _first_after(settling, span.second, begin)
    local = begin.astimezone(settling.scene.zone)
    if second.day is not None and second.day.month_day is not None and other_years(span):
        coming = next_occurrence(*second.day.month_day, local.date())
        if coming is not None:
            return second._replace(day=second.day._replace(dates=(coming,)))
    return second


def _deadline_of(settling: Settling, part: Part, start: Start | None) -> Moment | None:
    """Return the moment by which a part says it must be over.

    None when it says none, or when only a start that is still asked tells which day is meant.
    """
    value = part.readings[0]
    said_start = start is not None and (start.earliest or start.latest) is not None
    begin = (start.earliest if start else None) or settling.scene.now
    if not isinstance(value, Span):
        moment = moment_of(part)
        if moment.day is not None or moment.clock is None:
            return moment
        if start is None:
            return None
        return _first_after(settling, moment, begin) if said_start else moment
    if not value.inside or (start is None and other_years(value)):
        return None
    return _second(settling, value, begin)


def settle_deadline(settling: Settling, start: Start | None) -> None:
    """Settle latest_end from by, before, until and the second day of a range."""
    if not settling.has(*_ENDS):
        return
    options: list[Option] = []
    ask = False
    for field in _ENDS:
        for part in settling.parts.get(field, ()):
            moment = _deadline_of(settling, part, start)
            if moment is None:
                continue
            found, doubtful = readings_of(settling.scene, moment)
            ask = ask or doubtful
            left = viable(settling, part, found)
            ends = [reading.start if field == "before" else reading.end for reading in left]
            if max(ends) <= settling.scene.now:
                raise out_of_reach(settling, part, max(ends))
            options.extend(
                Option(end, partial(label_of, settling, reading), partial(utc_text, end))
                for end, reading in zip(ends, left, strict=True)
                if end > settling.scene.now
            )
    if not options:
        return
    if isinstance(settling.fields.get("latest_end"), datetime):
        held = settling.fields["latest_end"]
        if isinstance(held, datetime):
            label = settling.speech.instant_label(held, settling.scene.zone)
            options.append(Option(held, label, utc_text(held)))
            del settling.fields["latest_end"]
    distinct = distinct_of(options)
    if start is not None and (ask or len(distinct) > 1):
        distinct = _fitting(settling, start, distinct)
    settling.choose("latest_end", distinct, ask=ask, free=lambda text: _typed_end(settling, text))


def _typed_end(settling: Settling, text: str) -> datetime | None:
    day = typed_day(text)
    return typed_instant(text) if day is None else day_end(day, settling.scene.zone)


def _fitting(settling: Settling, start: Start, ends: list[Option]) -> list[Option]:
    """Return the ends that leave room for the duration. Raises RefusalError when none does."""
    said = [hours for hours in settling.readings("duration") if isinstance(hours, Decimal)]
    least = min(said, default=None)
    misfits = [_misfit(settling, start, end.held, least) for end in ends]
    left = [end for end, misfit in zip(ends, misfits, strict=True) if misfit is None]
    if not left and misfits[-1] is not None:
        raise misfits[-1]
    return left


def refuse_misfit(settling: Settling, start: Start | None) -> None:
    """Refuse an end before its start, and a window shorter than the duration."""
    hours = settling.fields.get("duration_hours")
    misfit = _misfit(settling, start, settling.fields.get("latest_end"), hours)
    if misfit is not None:
        raise misfit


def _misfit(
    settling: Settling, start: Start | None, end: object, hours: object
) -> RefusalError | None:
    """Return why a start, an end and a duration cannot be had together, with the numbers."""
    if not isinstance(end, datetime) or start is None:
        return None
    begin = start.earliest or settling.scene.now
    if end <= begin:
        span = settling.span(*_ENDS)
        return _end_before(settling, span, begin, end)
    if isinstance(hours, Decimal) and begin + timedelta(hours=float(hours)) > end:
        span = settling.span(*_ENDS)
        window = plain_text(_between(begin, end).quantize(Decimal("0.1")))
        return RefusalError("window_short", tokens=span, window=window, hours=rate_text(hours))
    return None


def _end_before(
    settling: Settling, span: tuple[int, int] | None, begin: datetime, end: datetime
) -> RefusalError:
    zone = settling.scene.zone
    return RefusalError(
        "end_before_start",
        tokens=span,
        start=settling.speech.instant(begin, zone),
        end=settling.speech.instant(end, zone),
    )
