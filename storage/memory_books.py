"""The plain dicts behind the store in memory; every value in them is frozen."""

from dataclasses import dataclass, field, replace
from datetime import datetime

from bot.domain.errors import BugError, UnknownRecordError
from bot.domain.lifecycle import LIVE_RESERVATIONS
from bot.domain.records import (
    Approval,
    AuditEntry,
    BudgetEntry,
    DecisionRecord,
    Delivery,
    Due,
    MessageRef,
    Proposal,
    Purchase,
    Receipt,
    Reservation,
    gpu_id,
)
from bot.domain.saying import Announcement
from storage.holders import is_dead


@dataclass(frozen=True, slots=True)
class Hold:
    """Who has claimed a row, and until when."""

    holder: str
    until: datetime

    def binds(self, now: datetime, *, seen_by: str) -> bool:
        """Return whether the row is still theirs."""
        return self.until > now and not is_dead(self.holder, seen_by=seen_by)


@dataclass(frozen=True, slots=True)
class DueRow:
    """A due with its fate."""

    due: Due
    not_before: datetime
    state: str = "open"
    hold: Hold | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutRow:
    """A message with its fate. `again`: it was redrawn while it was out."""

    key: str
    announcement: Announcement
    position: int
    not_before: datetime
    created_at: datetime
    state: str = "waiting"
    attempt: int = 0
    doubt: bool = False
    again: bool = False
    ref: MessageRef | None = None
    error: str = ""
    settled_at: datetime | None = None
    hold: Hold | None = None

    @property
    def lane(self) -> str:
        """Return what it must keep in order with."""
        return self.announcement.thread or self.key


@dataclass(frozen=True, slots=True)
class InRow:
    """A delivery with its fate."""

    delivery: Delivery
    done: bool = False
    outcome: str = ""
    hold: Hold | None = None


@dataclass(frozen=True, slots=True)
class Loan:
    """Machines promised to a reservation, half-open [start, end)."""

    reservation_id: int
    ref: str
    count: int
    start: datetime
    end: datetime


@dataclass(slots=True)
class Books:
    """All that is stored. `numbers` counts what was ever given an id, so that none comes twice."""

    numbers: dict[str, int] = field(default_factory=dict)
    reservations: dict[int, Reservation] = field(default_factory=dict)
    decisions: dict[int, DecisionRecord] = field(default_factory=dict)
    proposals: dict[int, Proposal] = field(default_factory=dict)
    approvals: dict[tuple[int, str], Approval] = field(default_factory=dict)
    purchases: dict[str, Purchase] = field(default_factory=dict)
    receipts: dict[str, Receipt] = field(default_factory=dict)
    budget: dict[str, BudgetEntry] = field(default_factory=dict)
    loans: dict[int, Loan] = field(default_factory=dict)
    dues: dict[str, DueRow] = field(default_factory=dict)
    outbox: dict[str, OutRow] = field(default_factory=dict)
    inbox: dict[str, InRow] = field(default_factory=dict)
    audit: dict[int, tuple[str, str, AuditEntry]] = field(default_factory=dict)
    facts: dict[str, tuple[str, datetime]] = field(default_factory=dict)

    def copy(self) -> "Books":
        """Return books that can be changed without changing these."""
        return replace(
            self,
            **{name: dict(getattr(self, name)) for name in self.__slots__},
        )

    def is_live(self, reservation_id: int | None) -> bool:
        """Return whether that is a reservation which is not over."""
        one = self.reservations.get(reservation_id or 0)
        return one is not None and one.state in LIVE_RESERVATIONS

    def next_number(self, what: str) -> int:
        """Return the next id, from 1."""
        self.numbers[what] = self.numbers.get(what, 0) + 1
        return self.numbers[what]


@dataclass(slots=True)
class Desk:
    """What the groups of one unit of work share."""

    books: Books
    writable: bool
    holder: str
    is_open: bool = True

    def reading(self) -> Books:
        """Return the books to look into. Raises BugError after the end."""
        if not self.is_open:
            raise BugError("a unit of work was used after it had ended")
        return self.books

    def writing(self) -> Books:
        """Return the books to change. Raises BugError in a unit of work that only reads."""
        books = self.reading()
        if not self.writable:
            raise BugError("a reading unit of work was asked to write")
        return books

    def writing_for(self, reservation_id: int) -> Books:
        """Return the books to change. Raises UnknownRecordError without the reservation."""
        books = self.writing()
        if reservation_id not in books.reservations:
            raise UnknownRecordError(f"there is no {gpu_id(reservation_id)}")
        return books
