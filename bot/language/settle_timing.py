"""When and how long: one start, one end and one duration, from all that was said of them."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import NamedTuple

from bot.domain.values import plain_text, rate_text, utc_text
from bot.language.calendars import day_end, day_start, existing, horizon, next_occurrence
from bot.language.days import Day
from bot.language.moments import Moment, Reading, readings_of
from bot.language.refusals import RefusalError
from bot.language.scene import Part
from bot.language.settling import Option, Settling
from bot.language.spans import Span
from bot.language.zones import Zone

_SUGGESTED_HOURS = (24, 72, 168)
_STARTS = ("start", "after", "clock", "span")


class Start(NamedTuple):
    """When it may begin; both None: as soon as possible."""

    earliest: datetime | None
    latest: datetime | None


def settle_timing(settling: Settling, *, needs_duration: bool) -> None:
    """Settle start, end and duration.

    Raises:
        RefusalError: past, too far ahead, or a window that cannot fit.
    """
    _lend(settling)
    spans = settling.parts.get("span", [])
    start = _start(settling)
    _latest(settling)
    exact = next((part for part in spans if not _span(part).inside), None)
    lengths: list[Option] = []
    if exact is not None and isinstance(start, Start) and start.latest is not None:
        lengths = _exact_end(settling, exact, start)
    _deadline(settling, start if isinstance(start, Start) else None)
    _duration(settling, lengths, needed=needs_duration and (exact is None or bool(lengths)))
    _fit(settling, start if isinstance(start, Start) else None)


def _span(part: Part) -> Span:
    value = part.readings[0]
    if not isinstance(value, Span):
        raise TypeError(part.field)
    return value


def _moment(part: Part) -> Moment:
    value = part.readings[0]
    return (
        value.first if isinstance(value, Span) else value if isinstance(value, Moment) else Moment()
    )


def _lend(settling: Settling) -> None:
    """Give a time or zone that stands alone to the one day it can belong to."""
    parts = settling.parts
    clocks = parts.get("clock", [])
    hosts = [part for field in ("start", "after") for part in parts.get(field, ())]
    if len(clocks) == 1 and len(hosts) == 1 and "span" not in parts:
        clock, host = _moment(clocks[0]), _moment(hosts[0])
        if host.clock is None and host.instant is None:
            merged = host._replace(clock=clock.clock, zone=clock.zone or host.zone)
            part = hosts[0]
            parts[part.field] = [part._replace(readings=(merged,))]
            del parts["clock"]
    until = parts.get("until", [])
    starts = parts.get("start", [])
    if len(until) == 1 and len(starts) == 1 and not settling.has("duration", "span", "after"):
        first = _moment(starts[0])
        span = Span(first, _moment(until[0]), inside=False)
        parts["span"] = [starts[0]._replace(field="span", readings=(span,))]
        del parts["until"], parts["start"]
    for part in parts.pop("zone", []):
        _lend_zone(settling, part)


def _lend_zone(settling: Settling, zone: Part) -> None:
    named = zone.readings[0]
    if not isinstance(named, Zone):
        return
    used = False
    for field in (*_STARTS, "by", "before", "until", "latest"):
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


def _viable(settling: Settling, part: Part, found: list[Reading]) -> list[Reading]:
    """Return the readings that are neither past nor too far ahead; refuses when none is."""
    now = settling.scene.now
    last = horizon(now)
    left = [reading for reading in found if reading.end >= now and reading.start <= last]
    left = [reading for reading in left if not (reading.whole_day and reading.end <= now)]
    if left:
        return left
    span = (part.start, part.end)
    said = settling.scene.tokens.said(*span)
    late = bool(found) and found[0].start > last
    when = settling.speech.instant(found[0].start, settling.scene.zone) if found else said
    raise RefusalError(
        "too_far" if late else "past", tokens=span, mend=("tomorrow", ""), said=said, when=when
    )


def _start(settling: Settling) -> object | None:
    """Settle earliest_start and latest_start together; None when it is asked."""
    options: list[Option] = []
    ask = False
    if settling.has("asap"):
        options.append(Option(Start(None, None), settling.speech.say("asap"), "asap"))
    for field in _STARTS:
        for part in settling.parts.get(field, ()):
            moment = _moment(part)
            found, doubtful = readings_of(settling.scene, moment)
            found = _viable(settling, part, found)
            ask = ask or doubtful or _asks_span(part, found)
            options.extend(_start_option(settling, part, reading) for reading in found)
    bound = settling.has("guaranteed")
    dated = settling.has(*_STARTS)
    if bound and not dated and not settling.has("by", "before", "until", "latest"):
        ask = True
        today = settling.scene.today
        options = [_day_option(settling, today + timedelta(days=away)) for away in (0, 1)]
    if not options:
        return Start(None, None)
    distinct = list({option.held: option for option in options}.values())
    found_start = settling.choose(
        "earliest_start", distinct, ask=ask, free=lambda text: _typed_start(settling, text)
    )
    settling.fields.pop("earliest_start", None)
    if isinstance(found_start, Start):
        settling.fields["earliest_start"] = found_start.earliest
        settling.fields["latest_start"] = found_start.latest
    return found_start


def _asks_span(part: Part, found: list[Reading]) -> bool:
    """Return whether a range's start must be asked: other years, or a day beside a time."""
    value = part.readings[0]
    if not isinstance(value, Span):
        return False
    if _other_years(value):
        return True
    timed = value.second.clock is not None or value.second.instant is not None
    if value.inside:
        return False
    return found[0].whole_day and timed


def _other_years(span: Span) -> bool:
    """Return whether a range without years would end in another year than it begins."""
    first, second = span.first.day, span.second.day
    if first is None or second is None or not (first.month_day or second.month_day):
        return False
    return first.dates[0].year != second.dates[0].year


def _start_option(settling: Settling, part: Part, reading: Reading) -> Option:
    value = part.readings[0]
    now = settling.scene.now
    fixed = isinstance(value, Span) and not value.inside
    after = part.field == "after" or (isinstance(value, Span) and value.inside)
    begun = reading.whole_day and reading.start <= now
    earliest = None if begun else reading.start
    latest: datetime | None = reading.end
    if fixed:
        latest = earliest = reading.start if not begun else now
    elif after and not (settling.has("guaranteed") and part.field == "after"):
        latest = None
    label = _label(settling, reading, exact=fixed)
    return Option(Start(earliest, latest), label, _value(reading, exact=fixed))


def _value(reading: Reading, *, exact: bool) -> str:
    return utc_text(reading.start) if exact and reading.whole_day else reading.value


def _label(settling: Settling, reading: Reading, *, exact: bool = False) -> str:
    if reading.whole_day and not exact:
        return settling.speech.day_label(reading.day)
    return settling.speech.instant_label(reading.start, reading.zone)


def _day_option(settling: Settling, day: date) -> Option:
    start = _day_start(settling, day)
    return Option(start, settling.speech.day_label(day), day.isoformat())


def _day_start(settling: Settling, day: date) -> Start:
    scene = settling.scene
    first, end = day_start(day, scene.zone), day_end(day, scene.zone)
    return Start(None if first <= scene.now < end else first, end)


def _typed_start(settling: Settling, text: str) -> Start | None:
    """Return the start that an answer outside the choices names: asap, a date or an instant."""
    if text == "asap":
        return Start(None, None)
    day = _typed_day(text)
    instant = _typed_instant(text)
    start = Start(instant, instant) if day is None else _day_start(settling, day)
    now = settling.scene.now
    limit = start.latest
    if limit is None or limit < now or limit > horizon(now):
        return None
    return start


def _typed_day(text: str) -> date | None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return existing(day.year, day.month, day.day)


def _typed_instant(text: str) -> datetime | None:
    try:
        instant = datetime.fromisoformat(text)
        return instant.astimezone(UTC) if instant.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None


def _latest(settling: Settling) -> None:
    """Settle a latest start that was said by its key."""
    parts = settling.parts.get("latest", [])
    options: list[Option] = []
    ask = False
    for part in parts:
        found, doubtful = readings_of(settling.scene, _moment(part))
        ask = ask or doubtful
        options.extend(
            Option(reading.end, _label(settling, reading), utc_text(reading.end))
            for reading in _viable(settling, part, found)
        )
    if options:
        distinct = list({option.held: option for option in options}.values())
        settling.choose("latest_start", distinct, ask=ask, free=_typed_instant)


def _exact_end(settling: Settling, part: Part, start: Start) -> list[Option]:
    """Settle the end of `from … to …` and return what its duration may be."""
    scene = settling.scene
    begin = start.latest
    if begin is None:
        return []
    second = _second(settling, _span(part), begin)
    found, doubtful = readings_of(scene, second)
    ends: list[tuple[datetime, Reading]] = []
    for reading in found:
        ends.append((reading.start, reading))
        if reading.whole_day:
            ends.append((reading.end, reading))
    late = [(end, reading) for end, reading in ends if end > begin]
    if not late:
        raise _end_before(settling, (part.start, part.end), begin, ends[-1][0])
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


def _second(settling: Settling, span: Span, begin: datetime) -> Moment:
    """Return the second moment, with the day or year that only the start can give it."""
    second = span.second
    zone = second.zone.options[0] if second.zone else settling.scene.zone
    local = begin.astimezone(zone)
    if second.day is None and second.clock is not None:
        seconds = second.clock.seconds[0]
        past = seconds <= local.hour * 3600 + local.minute * 60 + local.second
        day = local.date() + timedelta(days=1 if past else 0)
        return second._replace(day=Day((day,)))
    first_day = span.first.day
    both = first_day is not None and (first_day.month_day is not None)
    if second.day is not None and second.day.month_day is not None and both:
        coming = next_occurrence(*second.day.month_day, local.date())
        if coming is not None:
            return second._replace(day=second.day._replace(dates=(coming,)))
    return second


def _deadline(settling: Settling, start: Start | None) -> None:  # noqa: C901 - one branch for each way to say an end
    """Settle latest_end from by, before, until and the second day of a range."""
    options: list[Option] = []
    ask = False
    for field in ("by", "before", "until", "span"):
        for part in settling.parts.get(field, ()):
            value = part.readings[0]
            if isinstance(value, Span) and not value.inside:
                continue
            moment = _moment(part)
            if isinstance(value, Span) and start is None and _other_years(value):
                continue
            if isinstance(value, Span):
                begin = (start.earliest or start.latest) if start else None
                moment = _second(settling, value, begin or settling.scene.now)
            found, doubtful = readings_of(settling.scene, moment)
            ask = ask or doubtful
            for reading in _viable(settling, part, found):
                end = reading.start if field == "before" else reading.end
                if end <= settling.scene.now:
                    continue
                label = _label(settling, reading)
                options.append(Option(end, label, utc_text(end)))
            if not options:
                _viable(settling, part, [])
    if not options:
        return
    if isinstance(settling.fields.get("latest_end"), datetime):
        held = settling.fields["latest_end"]
        if isinstance(held, datetime):
            label = settling.speech.instant_label(held, settling.scene.zone)
            options.append(Option(held, label, utc_text(held)))
            del settling.fields["latest_end"]
    distinct = list({option.held: option for option in options}.values())
    settling.choose("latest_end", distinct, ask=ask, free=lambda text: _typed_end(settling, text))


def _typed_end(settling: Settling, text: str) -> datetime | None:
    day = _typed_day(text)
    return _typed_instant(text) if day is None else day_end(day, settling.scene.zone)


def _duration(settling: Settling, lengths: list[Option], *, needed: bool) -> None:
    """Settle the duration: said, or the difference of a range; missing is asked."""
    ends = {length.value: length.held for length in lengths}
    options = [
        Option(hours, f"{rate_text(hours)} h", rate_text(hours))
        for hours in settling.readings("duration")
        if isinstance(hours, Decimal)
    ]
    options.extend(
        Option(length.held[0], length.label, length.value)
        for length in lengths
        if isinstance(length.held, tuple)
    )
    strict = any(value is True for value in settling.readings("strict"))
    distinct = list({option.held: option for option in options}.values())
    if not distinct and not needed:
        return
    if not distinct:
        distinct = [Option(Decimal(hours), f"{hours} h", str(hours)) for hours in _SUGGESTED_HOURS]
        settling.choose("duration_hours", distinct, ask=True, free=typed_hours)
    else:
        settling.choose("duration_hours", distinct, free=typed_hours)
    hours = settling.fields.get("duration_hours")
    if isinstance(hours, Decimal) and (end := ends.get(rate_text(hours))):
        strict = True
        if isinstance(end, tuple) and "latest_end" not in settling.questions:
            settling.fields.setdefault("latest_end", end[1])
    settling.fields["strict"] = strict


def typed_hours(text: str) -> Decimal | None:
    """Return the hours of an answer such as 48; None when it is no such number."""
    whole, _, fraction = text.partition(".")
    if not (whole.isdigit() and whole.isascii() and (not fraction or fraction.isdigit())):
        return None
    hours = Decimal(text) if len(text) < 12 else Decimal(0)  # noqa: PLR2004 - far above two years
    return hours if 1 <= hours <= 24 * 731 else None


def _fit(settling: Settling, start: Start | None) -> None:
    """Refuse an end before its start, and a window shorter than the duration."""
    end = settling.fields.get("latest_end")
    if not isinstance(end, datetime) or start is None:
        return
    begin = start.earliest or settling.scene.now
    span = settling.span("by", "before", "until", "span")
    if end <= begin:
        raise _end_before(settling, span, begin, end)
    hours = settling.fields.get("duration_hours")
    if isinstance(hours, Decimal) and begin + timedelta(hours=float(hours)) > end:
        window = plain_text(_between(begin, end).quantize(Decimal("0.1")))
        raise RefusalError("window_short", tokens=span, window=window, hours=rate_text(hours))


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
