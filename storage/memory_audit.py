"""The audit, small facts and figures over plain dicts. See bot.ports for each rule."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal

from bot.domain.figures import Backlog, Figures
from bot.domain.lifecycle import LIVE_RESERVATIONS
from bot.domain.records import AuditEntry, BudgetEntry
from storage import chain
from storage.memory_books import Desk
from storage.memory_queues import MemoryDues, MemoryInbox, MemoryOutbox


class MemoryAudit:
    """See bot.ports.Audit."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def append(self, entry: AuditEntry) -> None:
        """See bot.ports."""
        books = self._desk.writing()
        last = books.audit.get(books.numbers.get("audit", 0))
        previous = chain.FIRST if last is None else last[1]
        number = books.next_number("audit")
        kept = entry.model_copy(update={"facts": dict(entry.facts)})
        books.audit[number] = (previous, chain.link(previous, entry), kept)

    def of(self, reservation_id: int, *, limit: int = 100) -> Sequence[AuditEntry]:
        """See bot.ports. The newest `limit` of them."""
        entries = (entry for _, _, entry in self._desk.reading().audit.values())
        found = [entry for entry in entries if entry.reservation_id == reservation_id]
        return tuple(found[-limit:] if limit else ())

    def verify(self) -> Sequence[str]:
        """See bot.ports."""
        books = self._desk.reading()
        problems: list[str] = []
        previous = chain.FIRST
        for number in range(1, books.numbers.get("audit", 0) + 1):
            stored = books.audit.get(number)
            if stored is None:
                problems.append(chain.missing(number))
                continue
            before, own, entry = stored
            if before != previous:
                problems.append(chain.unlinked(number))
            if chain.link(before, entry) != own:
                problems.append(chain.changed(number))
            previous = own
        return tuple(problems)


class MemoryFacts:
    """See bot.ports.Facts."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def get(self, name: str) -> str | None:
        """See bot.ports."""
        stored = self._desk.reading().facts.get(name)
        return None if stored is None else stored[0]

    def put(self, name: str, value: str, *, at: datetime) -> None:
        """See bot.ports."""
        self._desk.writing().facts[name] = (value, at)

    def starting_with(self, prefix: str) -> Mapping[str, str]:
        """See bot.ports."""
        facts = self._desk.reading().facts
        return {name: facts[name][0] for name in sorted(facts) if name.startswith(prefix)}

    def drop(self, name: str) -> None:
        """See bot.ports."""
        self._desk.writing().facts.pop(name, None)


class MemoryCounts:
    """See bot.ports.Counts."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def figures(self, *, now: datetime, since: datetime, until: datetime) -> Figures:
        """See bot.ports."""
        books = self._desk.reading()
        states = Counter(one.state for one in books.reservations.values())
        money = books.budget.values()
        waiting = [row for row in books.inbox.values() if not row.done and not row.delivery.late]
        saying = [row.not_before for row in books.outbox.values() if row.state == "waiting"]
        due = [row.not_before for row in books.dues.values() if row.state == "open"]
        return Figures(
            reservations={
                state: count for state, count in states.items() if state in LIVE_RESERVATIONS
            },
            proposals=dict(Counter(one.state for one in books.proposals.values())),
            verdicts=dict(Counter[str](one.verdict for one in books.approvals.values())),
            purchases=dict(Counter(one.state for one in books.purchases.values())),
            held=_sums(entry for entry in money if entry.state == "held"),
            committed=_sums(
                entry
                for entry in money
                if entry.state == "committed" and since <= entry.held_at < until
            ),
            inbox=Backlog(
                count=MemoryInbox(self._desk).waiting(),
                oldest=min((row.delivery.received_at for row in waiting), default=None),
            ),
            outbox=Backlog(
                count=MemoryOutbox(self._desk).waiting(now=now),
                oldest=min((at for at in saying if at <= now), default=None),
            ),
            due=Backlog(
                count=MemoryDues(self._desk).waiting(now=now),
                oldest=min((at for at in due if at <= now), default=None),
            ),
        )


def _sums(entries: Iterable[BudgetEntry]) -> dict[str, Decimal]:
    sums: dict[str, Decimal] = defaultdict(Decimal)
    for entry in entries:
        sums[entry.team or ""] += entry.amount
    return dict(sums)
