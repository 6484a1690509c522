"""The daily digest: one a day, today's, however long the bot was away.

What is the same as yesterday is one line per section, so that news stands out; every reservation
stays reachable by its id or by the list.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from bot.domain.lifecycle import LIVE_RESERVATIONS, ReservationState
from bot.domain.records import Due
from bot.domain.saying import Announcement, Audience, Code, Moment, Phrase, Section, Sentence
from bot.domain.values import dollars
from bot.policy.ceilings import month_of
from bot.policy.configuration import Configuration
from bot.ports import Clock, Store, Transaction
from bot.services.digests import digest_lines
from bot.services.digests.digest_lines import Books, Line
from bot.services.digests.money_sheet import sheet

KIND = "digest"
PLANNED = "digest:planned"
SHOWN = "digest:shown"
"""The fact that holds what the last digest said, to tell news from the rest."""
MOST_LINES = 10
MOST_IDS = 15
MOST_TEAMS = 12
ALL = 100_000
_S = ReservationState
_HELD = frozenset({_S.ACTIVE, _S.SCHEDULED, _S.PAYMENT_PENDING})

NEVER_FOLDED = "Needs a person"
MONEY = "Money"

SECTIONS: tuple[tuple[str, Callable[[Books], Iterable[Line]]], ...] = (
    (NEVER_FOLDED, digest_lines.troubles),
    ("Ends within two days", digest_lines.ends),
    ("Running now", digest_lines.running),
    ("Idle", digest_lines.idle),
    ("To clean up", digest_lines.clean_up),
    ("Starting within seven days", digest_lines.starts),
    ("Waiting for approval", digest_lines.waiting),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Digesting:
    """Plans, writes and posts the digest."""

    store: Store
    clock: Clock
    configuration: Configuration

    def ensure(self) -> None:
        """Plan the next digest when none was ever planned; harmless at every start."""
        with self.store.transaction() as tx:
            if tx.facts.get(PLANNED) is None:
                now = self.clock.now()
                today = now.astimezone(self._zone).date()
                due = today if self._at(today) > now else today + timedelta(days=1)
                self._plan(tx, due, now)

    def digest(self, due: Due) -> str:
        """Post the digest of the due day if that is today; plan the next one."""
        day = date.fromisoformat(due.argument)
        with self.store.transaction() as tx:
            now = self.clock.now()
            today = now.astimezone(self._zone).date()
            if day < today:
                self._plan(tx, today, now)
                return "skipped: that day is over"
            self._plan(tx, today + timedelta(days=1), now)
            before: dict[str, list[str]] = json.loads(tx.facts.get(SHOWN) or "{}")
            sections, shown = self._sections(tx, now, before=before)
            tx.facts.put(SHOWN, json.dumps(shown), at=now)
            # Sums that are yesterday's, with nothing beside them, are no reason for a message.
            same_money = set(shown) <= {MONEY} and shown.get(MONEY) == before.get(MONEY)
            if same_money and self.configuration.digest.when_empty == "skip":
                return "skipped: nothing to say"
            tx.outbox.put(
                f"{KIND}:{day.isoformat()}",
                Announcement(
                    kind="digest",
                    to=Audience(channel=self.configuration.channels.digest),
                    sections=(_head(day, now), *sections) if sections else (_quiet(day, now),),
                ),
                at=now,
            )
            return "posted"

    def preview(self, *, teams: Collection[str] | None = None) -> tuple[Section, ...]:
        """Return what the digest says now, all of it as news; `teams` are those whose money."""
        with self.store.reading() as tx:
            now = self.clock.now()
            day = now.astimezone(self._zone).date()
            sections, _ = self._sections(tx, now, before={}, teams=teams)
            return (_head(day, now), *sections) if sections else (_quiet(day, now),)

    @property
    def _zone(self) -> ZoneInfo:
        return ZoneInfo(self.configuration.digest.zone)

    def _at(self, day: date) -> datetime:
        return datetime.combine(
            day, time.fromisoformat(self.configuration.digest.at), tzinfo=self._zone
        )

    def _plan(self, tx: Transaction, day: date, now: datetime) -> None:
        tx.facts.put(PLANNED, day.isoformat(), at=now)
        tx.dues.plan(
            Due(
                key=f"{KIND}:{day.isoformat()}",
                kind=KIND,
                subject=KIND,
                at=self._at(day),
                argument=day.isoformat(),
            )
        )

    def _sections(
        self,
        tx: Transaction,
        now: datetime,
        *,
        before: Mapping[str, Sequence[str]],
        teams: Collection[str] | None = None,
    ) -> tuple[tuple[Section, ...], dict[str, list[str]]]:
        """Return what to say, and every line's state by section for the next time."""
        live = tx.reservations.listing(states=LIVE_RESERVATIONS, limit=ALL, newest_first=False)
        books = Books(
            tx=tx,
            live=live,
            receipts={one.id: tuple(tx.receipts.of(one.id)) for one in live if one.state in _HELD},
            configuration=self.configuration,
            now=now,
        )
        sections: list[Section] = []
        shown: dict[str, list[str]] = {}
        for title, lines_of in SECTIONS:
            lines = list(lines_of(books))
            if lines:
                shown[title] = [f"{line.name} {line.state}" for line in lines]
                # What needs a person needs one until somebody acts, so that is never folded away.
                seen = () if title == NEVER_FOLDED else before.get(title, ())
                known = frozenset(seen)
                sections.append(Section(title=title, sentences=tuple(_folded(lines, known))))
        money = tuple(self._money(tx, now, teams))
        if money:
            shown[MONEY] = ["".join(map(str, sentence)) for sentence in money]
            sections.append(Section(title=MONEY, sentences=money))
        return tuple(sections), shown

    def _money(
        self, tx: Transaction, now: datetime, only: Collection[str] | None
    ) -> Iterable[Sentence]:
        since, until = month_of(now)
        entries = [
            entry for entry in tx.budget.entries(since=since, until=until) if entry.state != "freed"
        ]
        paying = {entry.team or "" for entry in entries}
        teams = sorted(paying if only is None else paying & set(only))
        if len(teams) > MOST_TEAMS:
            yield (f"The first {MOST_TEAMS} of {len(teams)} teams:",)
        for team in teams[:MOST_TEAMS]:
            page = sheet(team, entries, self.configuration)
            left = f", {dollars(page.left)} left" if page.left is not None else ""
            yield (
                (
                    f"{team or 'No team'} this month: {dollars(page.bought)} bought,"
                    f" {dollars(page.held)} held{left}."
                ),
            )


def _folded(lines: Sequence[Line], known: frozenset[str]) -> Iterable[Sentence]:
    """Yield news in full, up to a few lines, and all the rest by its ids in one line each."""
    news = [line for line in lines if f"{line.name} {line.state}" not in known]
    same = [line for line in lines if f"{line.name} {line.state}" in known]
    for line in news[:MOST_LINES]:
        yield line.sentence
    if len(news) > MOST_LINES:
        yield _by_id("Also: ", news[MOST_LINES:])
    if same:
        yield _by_id("As yesterday: ", same)


def _by_id(words: str, lines: Sequence[Line]) -> Sentence:
    names = list(dict.fromkeys(line.name for line in lines if line.name))
    unnamed: list[Phrase] = [
        phrase for line in lines if not line.name for phrase in (*line.sentence, " ")
    ]
    if not names:
        return (words, *unnamed)
    more = len(names) - MOST_IDS
    rest: tuple[Phrase, ...] = (
        (f", and {more} more: ", Code(text="/gpu list all")) if more > 0 else ()
    )
    return (words, *unnamed, ", ".join(names[:MOST_IDS]), *rest, ".")


def _head(day: date, now: datetime) -> Section:
    return Section(
        title=f"GPU digest, {day:%A} {day.isoformat()}",
        sentences=(("As of ", Moment(at=now), "."),),
    )


def _quiet(day: date, now: datetime) -> Section:
    return Section(
        title=f"GPU digest, {day:%A} {day.isoformat()}",
        sentences=(("Nothing is reserved or asked for. As of ", Moment(at=now), "."),),
    )
