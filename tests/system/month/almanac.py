"""What should have been said when: worked out from the plot alone, by the written rules.

Nothing of the product is used here. Each entry has a time from which it must, or may, be heard,
and one by which it must have been; what no entry names must not be heard at all.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from bot.domain.market import Kind
from tests.system.month.plot import DAY, HOUR, LAST, MINUTE, Case, Window

START_LEADS = (DAY, HOUR)
END_LEADS = (7 * DAY, 2 * DAY, DAY, 6 * HOUR, 90 * MINUTE, 20 * MINUTE)
NEVER = LAST + 400 * DAY


@dataclass(frozen=True)
class Entry:
    """One thing that is heard between two moments; `must` False: it may be, for good reasons."""

    key: str
    since: datetime
    until: datetime
    must: bool


@dataclass(frozen=True)
class Almanac:
    """The rules over one month's outages."""

    down: Sequence[Window]
    dark: Sequence[Window]
    away: Sequence[Window]

    def up(self, moment: datetime) -> datetime:
        """Return when the bot acts on what falls due at the moment."""
        return next((one.end for one in self.down if one.holds(moment)), moment)

    def readable(self, moment: datetime) -> datetime:
        """Return when the bot can see what AWS shows from the moment on, at the earliest."""
        for _ in range(4):
            moment = self.up(moment)
            moment = next((one.end for one in self.dark if one.holds(moment)), moment)
        return moment

    def heard(self, moment: datetime) -> datetime:
        """Return by when Slack takes what is said at the moment: its outages, and a retry."""
        late = next((one.end for one in self.away if one.start <= moment < one.end), None)
        return moment if late is None else self.up(late) + 20 * MINUTE

    def disturbed(self, since: datetime, until: datetime) -> bool:
        """Return whether the bot was down or AWS unreadable in between."""
        return any(one.start < until and since < one.end for one in (*self.down, *self.dark))

    def entries(self, case: Case) -> Iterator[Entry]:
        """Yield all that may be heard of a reservation."""
        for number in range(len(case.segments)):
            yield from self._reminders(case, number)
            yield from self._ready(case, number)
            yield from self._idle(case, number)

    # --- reminders -------------------------------------------------------------------------

    def _reminders(self, case: Case, number: int) -> Iterator[Entry]:
        if case.kind is Kind.ODCR:
            return
        last = number == len(case.segments) - 1
        part = case.segments[number]
        yield from self._series(
            case, "start", part.start, START_LEADS, known=case.bought, void=case.over()
        )
        ends = [(part.end, case.bought, case.over())]
        if last and case.longer is not None:
            seen, end = case.longer
            ends = [(part.end, case.bought, min(seen, case.over())), (end, seen, case.over())]
        for end, known, void in ends:
            about = end - case.tail
            leads = [lead for lead in END_LEADS if last or lead <= 90 * MINUTE]
            leads = [lead for lead in leads if lead <= 90 * MINUTE or about - lead >= part.start]
            yield from self._series(case, "end", about, tuple(leads), known=known, void=void)

    def _series(
        self,
        case: Case,
        what: str,
        about: datetime,
        leads: Sequence[timedelta],
        *,
        known: datetime,
        void: datetime,
    ) -> Iterator[Entry]:
        moments = [(lead, self._by_day(about, lead, leads, case.zone)) for lead in leads]
        for lead, moment in moments:
            said = self.up(moment)
            newer = [later for other, later in moments if other < lead]
            if moment < known or said >= about or any(later <= said for later in newer):
                continue
            # What AWS knows reaches us with the next look: within the hour, or six before a start.
            slow = self.readable(known) + 7 * HOUR
            lagging = moment < slow and known > case.bought
            doubtful = void <= said < self.readable(void) + 7 * HOUR
            if said >= self.readable(void) + 7 * HOUR:
                continue
            minutes = lead // MINUTE
            stamp = f"{about:%Y-%m-%dT%H:%M:%SZ}"
            yield Entry(
                f"note:gpu-N:remind:gpu-N:{case.id}:{what}:{stamp}:{minutes}",
                said,
                self.heard(said),
                must=not (lagging or doubtful) and void > said,
            )

    def _by_day(
        self, about: datetime, lead: timedelta, leads: Sequence[timedelta], zone: str
    ) -> datetime:
        """A day ahead or more is not said between 22 and 7, unless the next one came first."""
        moment = about - lead
        if lead < DAY:
            return moment
        morning = daytime(moment, zone)
        shorter = [other for other in leads if other < lead]
        following = about - max(shorter) if shorter else about
        return morning if morning < following else moment

    # --- what AWS shows --------------------------------------------------------------------

    def _ready(self, case: Case, number: int) -> Iterator[Entry]:
        part = case.segments[number]
        end = case.longer[1] if case.longer and number == len(case.segments) - 1 else part.end
        shown = part.start + case.lag
        over = min(end, case.over())
        if shown >= over or case.fails is not None:
            return
        seen = self.readable(max(shown, case.bought))
        calm = not self.disturbed(shown, shown + 40 * MINUTE)
        by = seen + (2 * MINUTE if calm else 7 * HOUR)
        yield Entry(
            f"note:gpu-N:ready:{case.id}:{part.start:%Y-%m-%dT%H:%M:%SZ}",
            seen,
            self.heard(by),
            must=by < over,
        )

    # --- idle ------------------------------------------------------------------------------

    def _idle(self, case: Case, number: int) -> Iterator[Entry]:
        """Both words on an episode of low use; its key ends with when it was first seen."""
        part = case.segments[number]
        end = case.parts(NEVER)[-1].end if number == len(case.segments) - 1 else part.end
        last = min(end - case.tail, case.over())
        for since, until in idle_times(case, part.start, min(end, case.over())):
            never = since == part.start and not _used_before(case, part.start)
            seen_by = since if never else since + HOUR + MINUTE
            first = daytime(since + HOUR / 2, case.zone)
            first_by = daytime(seen_by + HOUR / 2, case.zone) + 2 * MINUTE
            calm = not self.disturbed(since, first_by + 3 * HOUR)
            sure = calm and first_by < min(until, last - 31 * MINUTE)
            late = until + 2 * DAY
            yield Entry(f"tell:U0ANA:idle:{case.id}", first, late, must=sure)
            again = daytime(first_by + HOUR, case.zone) + 2 * MINUTE
            surely = sure and again < min(until, last - 31 * MINUTE)
            yield Entry(f"note:gpu-N:idle:{case.id}", first + HOUR, late, must=surely)


def idle_times(case: Case, start: datetime, end: datetime) -> Iterator[tuple[datetime, datetime]]:
    """Yield when less than half of the machines were in use, within one part."""
    steps = [max(since, start) for since, _ in case.free] + [end]
    for (_, free), since, until in zip(case.free, steps, steps[1:], strict=False):
        until = min(until, end)  # noqa: PLW2901 - cut to the part
        if since < until and (case.total - free) * 2 < case.total:
            yield since, until


def _used_before(case: Case, moment: datetime) -> bool:
    return any(since < moment and free < case.total for since, free in case.free)


def daytime(moment: datetime, zone: str) -> datetime:
    """Return the moment, or seven in the morning when it is night there."""
    local = moment.astimezone(ZoneInfo(zone))
    if time(7) <= local.time() < time(22):
        return moment
    day: date = local.date() + (DAY if local.time() >= time(22) else timedelta(0))
    morning = datetime.combine(day, time(7), tzinfo=ZoneInfo(zone))
    return morning.astimezone(moment.tzinfo)


def digest_days(
    almanac: Almanac, first: datetime, last: datetime, zone: str
) -> dict[str, datetime]:
    """Return each day's digest with when it is sent; a day that was slept through has none."""
    found = {}
    day = first.astimezone(ZoneInfo(zone)).date()
    while True:
        due = datetime.combine(day, time(9), tzinfo=ZoneInfo(zone)).astimezone(first.tzinfo)
        if due >= last:
            return found
        sent = almanac.up(due)
        if due >= first and sent.astimezone(ZoneInfo(zone)).date() == day:
            found[f"digest:{day.isoformat()}"] = sent
        day += DAY
