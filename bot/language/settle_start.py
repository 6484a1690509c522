"""When it may begin: one start from all that was said of it, and how it is offered to pick."""

from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import NamedTuple

from bot.domain.values import utc_text
from bot.language.calendars import day_end, day_start, existing, horizon, next_occurrence
from bot.language.moments import Moment, Reading, readings_of
from bot.language.refusals import RefusalError
from bot.language.scene import Part
from bot.language.settling import Option, Settling, distinct_of
from bot.language.spans import Span

STARTS = ("start", "after", "clock", "span")
_HALF_A_YEAR = timedelta(days=183)


class Start(NamedTuple):
    """When it may begin; both None: as soon as possible."""

    earliest: datetime | None
    latest: datetime | None


def span_of(part: Part) -> Span:
    """Return the two moments of a range. Raises TypeError when the part is none."""
    value = part.readings[0]
    if not isinstance(value, Span):
        raise TypeError(part.field)
    return value


def moment_of(part: Part) -> Moment:
    """Return what the part said of when: of a range, its first moment."""
    value = part.readings[0]
    return (
        value.first if isinstance(value, Span) else value if isinstance(value, Moment) else Moment()
    )


def viable(settling: Settling, part: Part, found: list[Reading]) -> list[Reading]:
    """Return the readings that are neither past nor too far ahead; refuses when none is."""
    now = settling.scene.now
    last = horizon(now)
    left = [
        reading
        for reading in found
        if reading.start <= last
        and (reading.end > now if reading.whole_day else reading.end >= now)
    ]
    if left:
        return left
    raise out_of_reach(settling, part, found[0].start)


def out_of_reach(settling: Settling, part: Part, instant: datetime) -> RefusalError:
    """Return the refusal of an instant in the past or too far ahead."""
    span = (part.start, part.end)
    return RefusalError(
        "too_far" if instant > settling.scene.now else "past",
        tokens=span,
        mend=("tomorrow", ""),
        said=settling.scene.tokens.said(*span),
        when=settling.speech.instant(instant, settling.scene.zone),
    )


def settle_start(settling: Settling) -> object | None:
    """Settle earliest_start and latest_start together; None when it is asked."""
    options: list[Option] = []
    ask = False
    if settling.has("asap"):
        options.append(Option(Start(None, None), settling.speech.say("asap"), "asap"))
    for field in STARTS:
        for part in settling.parts.get(field, ()):
            moment = moment_of(part)
            found, doubtful = readings_of(settling.scene, moment)
            found = viable(settling, part, found)
            ask = ask or doubtful or _asks_span(part, found)
            options += [_start_option(settling, part, reading) for reading in found]
    bound = settling.has("guaranteed")
    dated = settling.has(*STARTS)
    if bound and not dated and not settling.has("by", "before", "until", "latest"):
        ask = True
        today = settling.scene.today
        options = [_day_option(settling, today + timedelta(days=away)) for away in (0, 1)]
    if not options:
        return Start(None, None)
    distinct = distinct_of(options)
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
    if other_years(value):
        return True
    timed = value.second.clock is not None or value.second.instant is not None
    if value.inside:
        return False
    return found[0].whole_day and timed


def other_years(span: Span) -> bool:
    """Return whether a range without years would end in another year than it begins.

    20 December to 5 January does, on every day of the year; 20 to 15 March is the wrong way round.
    """
    first, second = span.first.day, span.second.day
    if first is None or second is None or not (first.month_day or second.month_day):
        return False
    begin, end = first.dates[0], second.dates[0]
    if begin.year != end.year:
        return True
    if end >= begin or second.month_day is None:
        return False
    coming = next_occurrence(*second.month_day, begin)
    return coming is not None and coming - begin < _HALF_A_YEAR


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
    return Option(
        Start(earliest, latest),
        partial(label_of, settling, reading, exact=fixed),
        partial(_value, reading, exact=fixed),
    )


def _value(reading: Reading, *, exact: bool) -> str:
    return utc_text(reading.start) if exact and reading.whole_day else reading.value


def label_of(settling: Settling, reading: Reading, *, exact: bool = False) -> str:
    """Return how a choice shows this reading: a day, or the instant that it begins."""
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
    day = typed_day(text)
    instant = typed_instant(text)
    start = Start(instant, instant) if day is None else _day_start(settling, day)
    now = settling.scene.now
    limit = start.latest
    if limit is None or limit < now or limit > horizon(now):
        return None
    return start


def typed_day(text: str) -> date | None:
    """Return the date of an answer such as 2027-03-15; None when it is none."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return existing(day.year, day.month, day.day)


def typed_instant(text: str) -> datetime | None:
    """Return the instant, in UTC, of an answer with its zone; None when it is none."""
    try:
        instant = datetime.fromisoformat(text)
        return instant.astimezone(UTC) if instant.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None


def settle_latest(settling: Settling) -> None:
    """Settle a latest start that was said by its key."""
    parts = settling.parts.get("latest", [])
    options: list[Option] = []
    ask = False
    for part in parts:
        found, doubtful = readings_of(settling.scene, moment_of(part))
        ask = ask or doubtful
        options.extend(
            Option(reading.end, label_of(settling, reading), utc_text(reading.end))
            for reading in viable(settling, part, found)
        )
    if options:
        distinct = distinct_of(options)
        settling.choose("latest_start", distinct, ask=ask, free=typed_instant)
