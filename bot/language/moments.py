"""A day and a time and a zone, as one moment; and the instants that it may mean."""

from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import NamedTuple

from bot.domain.values import utc_text
from bot.language.calendars import day_end, day_start, instants
from bot.language.clocks import Clock, clock_at, follows
from bot.language.days import Day, day_at
from bot.language.durations import length_at
from bot.language.refusals import RefusalError
from bot.language.scene import Scene
from bot.language.zones import Zone, sure, zone_at


class Moment(NamedTuple):
    """What was said of when: a day, a time, a zone, or an exact instant."""

    day: Day | None = None
    clock: Clock | None = None
    zone: Zone | None = None
    instant: datetime | None = None


class Reading(NamedTuple):
    """One thing a moment may mean: a whole day (start and end differ) or an instant."""

    start: datetime
    end: datetime
    whole_day: bool
    day: date
    zone: tzinfo
    zone_said: str

    @property
    def value(self) -> str:
        """Return how a choice names this reading: a date for a day, else the instant."""
        return self.day.isoformat() if self.whole_day else utc_text(self.start)


def moment_at(scene: Scene, at: int, *, led: bool) -> tuple[int, Moment] | None:
    """Return the moment at this token; `led`: a preposition stands before it."""
    day = day_at(scene, at, led=False)
    if day:
        return _after_day(scene, day[0], day[1])
    clock = _clock(scene, at, led=led)
    if clock:
        on = scene.tokens.after("start", clock[0])
        day = day_at(scene, on, led=False)
        if day is None:
            return clock[0], Moment(clock=clock[1], zone=clock[1].zone)
        zone = clock[1].zone
        end = day[0]
        if zone is None and (late := zone_at(scene, end, after_time=True)):
            end, zone = late
        return end, Moment(day[1], clock[1], zone)
    bare = day_at(scene, at, led=led)
    return _after_day(scene, bare[0], bare[1]) if bare else None


def _clock(scene: Scene, at: int, *, led: bool) -> tuple[int, Clock] | None:
    at_word = scene.tokens.phrase("at", at)
    begin = at_word[0] if at_word else at
    direct = at_word is not None or (led and follows(scene.tokens, at, "at", "until_time"))
    return clock_at(scene, begin, after_day=False, led=direct)


def _after_day(scene: Scene, at: int, day: Day) -> tuple[int, Moment]:
    tokens = scene.tokens
    if day.clock:
        written = _written_clock(day.clock)
        if written is None:
            raise RefusalError(
                "no_such_time",
                tokens=(at - 1, at),
                mend=(day.dates[0].isoformat(),),
                said=day.clock.upper(),
            )
        if written.zone is None and (zone := zone_at(scene, at, after_time=True)):
            return zone[0], Moment(day, written, zone[1])
        return at, Moment(day, written, written.zone)
    at_word = tokens.phrase("at", at)
    clock = clock_at(
        scene, at_word[0] if at_word else at, after_day=at_word is None, led=at_word is not None
    )
    if clock:
        return clock[0], Moment(day, clock[1], clock[1].zone)
    zone = zone_at(scene, at)
    return (zone[0], Moment(day, zone=zone[1])) if zone else (at, Moment(day))


def _written_clock(text: str) -> Clock | None:
    """Return the time of an ISO date-time: 09:00, 09:00Z, 09:00:30.5+02:00."""
    cut = next((i for i, letter in enumerate(text) if letter in "z+-"), len(text))
    zone = sure(text[cut:]) if cut < len(text) else None
    if cut < len(text) and zone is None:
        return None
    try:
        read = time.fromisoformat(text[:cut].zfill(5) if text[1:2] == ":" else text[:cut])
    except ValueError:
        return None
    seconds = read.hour * 3600 + read.minute * 60 + read.second + read.microsecond / 1_000_000
    return Clock((seconds,), zone)


def relative_at(scene: Scene, at: int) -> tuple[int, Moment] | None:
    """Return `in 5 minutes` as an instant and `in 3 days` as that day."""
    begin = scene.tokens.phrase("in", at)
    length = length_at(scene, begin[0]) if begin else None
    if begin is None or length is None:
        return None
    if length.apart:
        length = length_at(scene, begin[0], words=1) or length
    away = timedelta(minutes=float(length.hours * 60))
    if length.fine or away % timedelta(days=1):
        return length.end, Moment(instant=scene.now + away)
    return length.end, Moment(Day((scene.today + away,)))


def readings_of(scene: Scene, moment: Moment) -> tuple[list[Reading], bool]:
    """Return the instants or days that a moment may mean, and whether it must be asked."""
    if moment.instant is not None:
        exact = moment.instant.astimezone(UTC)
        local = exact.astimezone(scene.zone)
        return [Reading(exact, exact, False, local.date(), scene.zone, "")], False  # noqa: FBT003 - a field
    day = moment.day or Day((scene.today, scene.today + timedelta(days=1)), ask=True)
    named = moment.zone
    ask = day.ask or (moment.clock is not None and moment.clock.ask)
    found: list[Reading] = []
    for when in day.dates:
        zones, asked = _zones(scene, named, when, moment.clock)
        ask = ask or asked
        for zone in zones:
            said = named.name if named else ""
            if moment.clock is None:
                found.append(
                    Reading(day_start(when, zone), day_end(when, zone), True, when, zone, said)  # noqa: FBT003 - a field
                )
                continue
            for seconds in moment.clock.seconds:
                local = datetime.combine(when, time()) + timedelta(seconds=seconds)
                meant, once = instants(local, zone)
                ask = ask or not once
                found.extend(Reading(at, at, False, when, zone, said) for at in meant)  # noqa: FBT003 - a field
    if len(found) > 1:
        found = list({(reading.start, reading.end): reading for reading in found}.values())
    return found, ask or len(found) > 1


def _zones(
    scene: Scene, named: Zone | None, day: date, clock: Clock | None
) -> tuple[tuple[tzinfo, ...], bool]:
    """Return the zones that are meant on that day, and whether the name must be asked."""
    if named is None:
        return (scene.zone,), False
    if named.place is None:
        return named.options, named.ask
    seconds = clock.seconds[0] if clock else 0
    local = datetime.combine(day, time()) + timedelta(seconds=seconds)
    fixed = named.options[0]
    instant = local.replace(tzinfo=fixed)
    if instant.astimezone(named.place).utcoffset() == fixed.utcoffset(None):
        return named.options, False
    return (*named.options, named.place), True
