"""What should be said when: worked out from the plot alone, by the written rules.

Nothing of the product is used here. Each entry has a time from which it must, or may, be heard,
and one by which it must have been; what no entry names must not be heard at all.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from bot.domain.market import Kind, Segment
from tests.system.month.plot import (
    DAY,
    HOUR,
    HOURLY,
    MINUTE,
    NEVER,
    OWNER,
    PREPAID,
    TAKER,
    Case,
    Month,
)

START_LEADS = (DAY, HOUR)
END_LEADS = (7 * DAY, 2 * DAY, DAY, 6 * HOUR, 90 * MINUTE, 20 * MINUTE)
HOLD = 30 * MINUTE
SLOWEST = 7 * HOUR
"""What AWS knows reaches us with the next look: within the hour, or six before a start."""
SOON = 3 * MINUTE


@dataclass(frozen=True)
class Entry:
    """One thing that is heard between two moments; `must` False: it may be, for good reasons."""

    key: str
    since: datetime
    until: datetime
    must: bool


@dataclass(frozen=True)
class Era:
    """Parts as AWS shows them, from when on, and until when."""

    parts: tuple[Segment, ...]
    known: datetime
    void: datetime


@dataclass(frozen=True)
class Almanac:
    """The rules over one month's outages."""

    month: Month

    # --- outages -------------------------------------------------------------------------------

    def up(self, moment: datetime) -> datetime:
        """Return when the bot acts on what falls due at the moment."""
        # It was killed a minute before the window, and slept from then on.
        asleep = ((one.start - MINUTE, one.end) for one in self.month.down)
        return next((end for start, end in asleep if start < moment < end), moment)

    def readable(self, moment: datetime) -> datetime:
        """Return when the bot can see what AWS shows from the moment on, at the earliest."""
        for _ in range(4):
            moment = self.up(moment)
            moment = next((one.end for one in self.month.dark if one.holds(moment)), moment)
        return moment

    def heard(self, moment: datetime) -> datetime:
        """Return by when Slack takes what is said at the moment: its outages, and a retry."""
        late = next((one.end for one in self.month.away if one.start <= moment < one.end), None)
        return moment if late is None else self.up(late) + 20 * MINUTE

    def calm(self, since: datetime, until: datetime) -> bool:
        """Return whether the bot was running and AWS readable all the time in between."""
        broken = (*self.month.down, *self.month.dark)
        return not any(
            one.start - MINUTE < until + MINUTE and since - MINUTE < one.end for one in broken
        )

    def noticed(
        self, key: str, moment: datetime, pace: timedelta, *, over: datetime, sure: bool = True
    ) -> Entry:
        """Return the entry of what AWS shows from the moment on, looked at with that pace.

        It must be heard unless it is `over` before the slowest look.
        """
        seen = self.readable(moment)
        calm = self.calm(moment, moment + pace)
        by = seen + pace + SOON if calm else self.readable(seen + pace) + SLOWEST
        return Entry(key, seen, self.heard(by), must=sure and by < over)

    # --- one receipt ---------------------------------------------------------------------------

    def entries(self, case: Case) -> Iterator[Entry]:
        """Yield all that may be heard of a receipt."""
        yield from self._reminders(case)
        for number in range(len(case.final())):
            yield from self._ready(case, number)
            yield from self._idle(case, number)
            yield from self._between(case, number)
        yield from self._changes(case)
        yield from self._ill(case)
        yield from self._endpoint(case)
        yield from self._given(case)

    def eras(self, case: Case) -> Iterator[Era]:
        """Yield what AWS shows of its times, one after the other."""
        changes = sorted(
            {case.bought}
            | ({case.moved[0]} if case.moved else set())
            | ({case.last_end[0]} if case.last_end else set())
        )
        for known, following in zip(changes, [*changes[1:], case.over()], strict=True):
            yield Era(case.parts(known), known, min(following, case.over()))

    def _reminders(self, case: Case) -> Iterator[Entry]:
        if case.kind not in PREPAID:
            return
        for era in self.eras(case):
            for number, part in enumerate(era.parts):
                last = number == len(era.parts) - 1
                if not _told_before(self.eras(case), era, part.start, "start"):
                    yield from self._series(case, "start", part.start, START_LEADS, era)
                about = part.end - case.tail
                leads = [lead for lead in END_LEADS if last or lead <= 90 * MINUTE]
                leads = [one for one in leads if one <= 90 * MINUTE or about - one >= part.start]
                if not _told_before(self.eras(case), era, part.end, "end"):
                    yield from self._series(case, "end", about, tuple(leads), era)

    def _series(
        self, case: Case, what: str, about: datetime, leads: Sequence[timedelta], era: Era
    ) -> Iterator[Entry]:
        known, void = era.known, era.void
        if what == "start" or era.parts[-1].end - case.tail != about:
            # A part that stays as it is goes on being reminded of when another one moves.
            void = self._gone_from(case, about, what, era)
        moments = [(lead, self._by_day(about, lead, leads, case.zone)) for lead in leads]
        for lead, moment in moments:
            said = self.up(moment)
            newer = [later for other, later in moments if other < lead]
            if moment < known or said >= about or any(later <= said for later in newer):
                continue
            if self.offered(case, said) is True:
                continue
            lagging = moment < self.readable(known) + SLOWEST and known > case.bought
            if said >= self.readable(void) + SLOWEST:
                continue
            minutes = lead // MINUTE
            stamp = f"{about:%Y-%m-%dT%H:%M:%SZ}"
            yield Entry(
                f"note:gpu-N:remind:gpu-N:{case.id}:{what}:{stamp}:{minutes}",
                said,
                self.heard(said),
                must=not lagging and void > said and self.offered(case, said) is False,
            )

    def _gone_from(self, case: Case, about: datetime, what: str, era: Era) -> datetime:
        """Return when AWS no longer shows that start or end, or the thing is over."""
        for one in self.eras(case):
            if one.known <= era.known:
                continue
            times = {part.start if what == "start" else part.end - case.tail for part in one.parts}
            if about not in times:
                return min(one.known, case.over())
        return case.over()

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

    # --- what AWS shows ------------------------------------------------------------------------

    def _ready(self, case: Case, number: int) -> Iterator[Entry]:
        part = case.final()[number]
        shown = part.start + case.lag
        over = min(part.end, case.over())
        if shown >= over or case.fails is not None:
            return
        seen = max(shown, case.bought)
        pace = SOON if case.moved is None else HOUR
        stamp = f"{part.start:%Y-%m-%dT%H:%M:%SZ}"
        ready = self.noticed(f"note:gpu-N:ready:{case.id}:{stamp}", seen, pace, over=over)
        yield ready
        kit = f"note:gpu-N:kit:{case.id}:{stamp}"
        yield Entry(kit, ready.since, ready.until + MINUTE, must=ready.must)
        if case.lag > 15 * MINUTE:
            late = part.start + 15 * MINUTE
            key = f"note:gpu-N:not-yet:{case.id}:{stamp}"
            sure = self.calm(part.start, shown) and case.moved is None
            yield self.noticed(key, late, SOON, over=shown if sure else late, sure=sure)

    def _between(self, case: Case, number: int) -> Iterator[Entry]:
        """Active, then scheduled again: said where there is a gap, before the next part."""
        if number == len(case.final()) - 1 or case.fails is not None:
            return
        part, after = case.final()[number : number + 2]
        if part.end >= min(after.start, case.over()):
            return
        key = f"note:gpu-N:between:{case.id}:{after.start:%Y-%m-%dT%H:%M:%SZ}"
        sure = self.calm(part.end - HOUR, part.end)
        yield self.noticed(key, part.end, 5 * MINUTE, over=after.start, sure=sure)

    def _changes(self, case: Case) -> Iterator[Entry]:
        never = case.bought + NEVER
        if case.fails is not None:
            pace = 3 * MINUTE if case.fails - case.bought < 25 * MINUTE else 12 * MINUTE
            yield self.noticed(f"note:gpu-N:failed:{case.id}", case.fails, pace, over=never)
        if case.vanishes is not None:
            yield self.noticed(f"note:gpu-N:gone:{case.id}", case.vanishes, HOUR, over=never)
        if case.last_end is not None:
            seen, end = case.last_end
            pace = HOUR if case.longer is not None else 25 * MINUTE
            stamp = f"{end:%Y-%m-%dT%H:%M:%SZ}"
            key = f"note:gpu-N:longer:{case.id}:{stamp}"
            yield self.noticed(key, seen, pace, over=case.over())
        if case.moved is not None:
            seen, _ = case.moved
            end = case.final()[-1].end
            key = f"note:gpu-N:longer:{case.id}:{end:%Y-%m-%dT%H:%M:%SZ}"
            yield self.noticed(key, seen, 6 * HOUR, over=case.over())
        if case.taken is not None:
            sure = self.calm(case.taken - HOUR, case.taken + 2 * MINUTE)
            key = f"note:gpu-N:spot-taken:i-{case.id}"
            yield self.noticed(key, case.taken, 90 * timedelta(seconds=1), over=never, sure=sure)

    def _ill(self, case: Case) -> Iterator[Entry]:
        """Each time that it gets worse, once."""
        for number, (since, _) in enumerate(case.ill):
            following = [moment for moment, _ in case.ill[number + 1 :]]
            until = min([*following, case.segments[0].end, case.over()])
            sure = self.calm(since, since + HOUR)
            yield self.noticed(f"note:gpu-N:unwell:{case.id}", since, HOUR, over=until, sure=sure)

    # --- endpoints -----------------------------------------------------------------------------

    def _endpoint(self, case: Case) -> Iterator[Entry]:
        serving = case.serving
        if serving is None:
            return
        first = case.segments[0].start + case.lag
        made = max(self.up(serving.ordered), first)
        end = case.segments[-1].end - case.tail
        word = "failed" if serving.why else "in service"
        if self.readable(made) + 6 * MINUTE > end:
            # Nobody could make it in time: it is said that the plan is over.
            late = self.readable(end)
            yield Entry("note:gpu-N:endpoint:failed", made, late + SLOWEST, must=False)
        came = self.noticed(f"note:gpu-N:endpoint:{word}", made, 6 * MINUTE, over=end)
        slow = came.until + serving.up
        yield Entry(came.key, made + serving.up, slow, must=came.must)
        warned = self.up(end - HOUR)
        if warned < end:
            key = f"note:gpu-N:endpoint-end:{end:%Y-%m-%dT%H:%M:%SZ}"
            yield Entry(key, warned, self.heard(warned), must=slow < end - HOUR)
        yield self.noticed(
            "note:gpu-N:endpoint:gone", end + SOON, 3 * MINUTE, over=case.bought + NEVER
        )

    # --- giving away ---------------------------------------------------------------------------

    def offered(self, case: Case, moment: datetime) -> bool | None:
        """Return whether it is offered to others; None at the edge, where both are right."""
        if case.release is None:
            return False
        begun = self.up(case.release.at)
        after = case.release.taken_after
        ended = begun + after if after is not None else case.over() + NEVER
        if moment in (begun, ended):
            return None
        return begun < moment < ended

    def _given(self, case: Case) -> Iterator[Entry]:
        if case.handed is not None:
            at = self.up(case.handed)
            yield Entry("note:gpu-N:moved", at, self.heard(at), must=True)
            yield Entry("tell:TAKER:handover:gpu-N", at, self.heard(at), must=True)
        release = case.release
        if release is None:
            return
        at = self.up(release.at)
        turns = 1 if release.taken_after is not None else release.waiting
        for _ in range(turns):
            yield Entry("note:gpu-N:held", at, self.heard(at), must=True)
            yield Entry("note:gpu-W:offered:gpu-N", at, self.heard(at), must=True)
            at = self.up(at + HOLD)
        if release.taken_after is not None:
            taken = self.up(release.at) + release.taken_after
            yield Entry("note:gpu-N:moved", taken, self.heard(taken), must=True)
        else:
            yield Entry("note:gpu-N:for-all", at, self.heard(at), must=True)

    def owners(self, case: Case, since: datetime, until: datetime) -> set[str]:
        """Return who owned it in between."""
        given = [case.handed]
        if case.release is not None and case.release.taken_after is not None:
            given.append(self.up(case.release.at) + case.release.taken_after)
        moment = next((one for one in given if one is not None), None)
        if moment is None or until < moment:
            return {OWNER}
        return {OWNER, TAKER} if since <= self.up(moment) else {TAKER}

    # --- idle ----------------------------------------------------------------------------------

    def _idle(self, case: Case, number: int) -> Iterator[Entry]:
        """Both words on an episode of low use: the owner's, then an hour later the channel's."""
        if case.kind in HOURLY:
            return
        part = case.final()[number]
        last = min(part.end - case.tail, case.over())
        for since, until in idle_times(case, part.start, min(part.end, case.over())):
            never = since == part.start and not _used_before(case, part.start)
            seen_by = since if never else since + HOUR + MINUTE
            if never:
                seen_by += case.lag
            first = daytime(since + HOUR / 2, case.zone)
            first_by = daytime(max(seen_by + HOUR / 2, since + HOUR / 2), case.zone) + 2 * MINUTE
            calm = self.calm(since, first_by + 3 * HOUR) and case.moved is None
            sure = calm and first_by < min(until, last - 31 * MINUTE)
            late = until + 2 * DAY
            for owner in sorted(self.owners(case, first, late)):
                one = len(self.owners(case, first, late)) == 1
                yield Entry(f"tell:{owner}:idle:{case.id}", first, late, must=sure and one)
            again = daytime(first_by + HOUR, case.zone) + 2 * MINUTE
            surely = sure and again < min(until, last - 31 * MINUTE)
            yield Entry(f"note:gpu-N:idle:{case.id}", first + HOUR, late, must=surely)

    # --- one reservation -------------------------------------------------------------------------

    def ending(self, cases: Sequence[Case]) -> Iterator[Entry]:
        """Yield what is heard of a whole reservation: paid, ended, what is left."""
        never = cases[0].bought + NEVER
        clear = max(min(case.paid, case.fails or never) for case in cases)
        held = [case for case in cases if case.fails is None]
        if not held:
            return
        start = min(case.segments[0].start for case in held)
        if clear > cases[0].bought:
            pace = 3 * MINUTE if clear - cases[0].bought < 25 * MINUTE else 12 * MINUTE
            yield self.noticed("note:gpu-N:scheduled", clear, pace, over=start)
        over = max(case.over() for case in cases)
        sudden = any(case.vanishes or case.taken for case in cases)
        pace = HOUR if sudden else 6 * MINUTE
        ended = self.noticed("note:gpu-N:ended", over, pace, over=never)
        yield ended
        yield Entry("note:gpu-N:cleanup", ended.since, ended.until + MINUTE, must=True)


def _told_before(eras: Iterator[Era], era: Era, moment: datetime, what: str) -> bool:
    """Return whether an earlier era showed the same start or end: that one's series goes on."""
    return any(
        moment in {part.start if what == "start" else part.end for part in one.parts}
        for one in eras
        if one.known < era.known
    )


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


def states_of(cases: Sequence[Case]) -> list[str]:
    """Return the states that one receipt alone goes through, as AWS's books lead to them."""
    [case] = cases
    if case.fails is not None:
        return ["failed"]
    found = ["scheduled"] if case.paid > case.bought else []
    if case.kind in HOURLY or case.kind is Kind.ODCR:
        return ["ended"]
    for number, part in enumerate(case.final()):
        if part.start + case.lag >= case.over():
            break
        before = case.final()[number - 1] if number else None
        if before is not None and before.end < part.start:
            found.append("scheduled")
        if before is None or before.end < part.start or case.lag:
            if before is not None and before.end == part.start:
                found.append("scheduled")
            found.append("active")
    return [*found, "ended"]


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
