"""The reservations and all that is decided about them, within one transaction."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Protocol

from bot.domain.figures import Figures
from bot.domain.lifecycle import ProposalState, PurchaseState, ReservationState
from bot.domain.records import (
    Approval,
    AuditEntry,
    BudgetEntry,
    DecisionRecord,
    Proposal,
    Purchase,
    Receipt,
    Reservation,
    ShownDecision,
)


class Reservations(Protocol):
    """Reservations, changed by compare-and-swap on `revision`."""

    def add(self, reservation: Reservation) -> Reservation:
        """Store a new one; return it with its id and revision 1."""

    def get(self, reservation_id: int) -> Reservation:
        """Return it. Raises UnknownRecordError."""

    def save(self, reservation: Reservation) -> Reservation:
        """Replace the row whose revision is the given one; return it with the next revision.

        Raises ConflictError when another writer was faster, StateError when the step from the
        stored state is not in the table.
        """

    def listing(
        self,
        *,
        states: Collection[ReservationState] | None = None,
        requester: str | None = None,
        team: str | None = None,
        newest_first: bool = True,
        limit: int = 50,
        before_id: int | None = None,
    ) -> Sequence[Reservation]:
        """Return matching ones; `requester` also matches the owner. `before_id` pages."""

    def same_line(self, *, requester: str, line: str, since: datetime) -> Reservation | None:
        """Return the newest one of that person with that very line filed since then."""


class Decisions(Protocol):
    """Decisions with their evidence; append-only."""

    def add(self, record: DecisionRecord) -> None:
        """Store one."""

    def latest(self, reservation_id: int) -> DecisionRecord | None:
        """Return the newest of a reservation."""

    def shown(self, reservation_id: int) -> ShownDecision | None:
        """Return the newest of a reservation without its evidence, which is quicker to read."""


class Proposals(Protocol):
    """Proposals and the approvals given to them. At most one is open per reservation."""

    def add(self, proposal: Proposal) -> Proposal:
        """Store a new open one; return it with its id. Raises ConflictError if one is open."""

    def get(self, proposal_id: int) -> Proposal:
        """Return it. Raises UnknownRecordError."""

    def current(self, reservation_id: int) -> Proposal | None:
        """Return the newest proposal of the reservation, open or not."""

    def move(self, proposal: Proposal, to: ProposalState, *, note: str = "") -> Proposal:
        """Change the state of an open one. Raises ConflictError unless it is still open."""

    def give(self, approval: Approval) -> None:
        """Store a verdict. Raises ConflictError if that person has given one already."""

    def given(self, proposal_id: int) -> Sequence[Approval]:
        """Return the verdicts in the order they came."""


class Purchases(Protocol):
    """The ledger. The database itself refuses a second live purchase of one leg."""

    def add(self, purchase: Purchase) -> None:
        """Store an intended one. Raises ConflictError if the leg has a live purchase."""

    def get(self, purchase_id: str) -> Purchase:
        """Return it. Raises UnknownRecordError."""

    def move(
        self,
        purchase: Purchase,
        to: PurchaseState,
        *,
        at: datetime,
        outcome: str = "",
        offering_ref: str | None = None,
        fee: str | None = None,
    ) -> Purchase:
        """Swap the state the given row shows for `to`; sets submitted_at or settled_at.

        Raises ConflictError when the stored state differs, StateError when the step is illegal.
        """

    def of(self, reservation_id: int) -> Sequence[Purchase]:
        """Return all of a reservation, by leg and attempt."""

    def in_state(self, states: Collection[PurchaseState]) -> Sequence[Purchase]:
        """Return all in those states, oldest first."""

    def recent(self, *, limit: int = 100) -> Sequence[Purchase]:
        """Return the newest ones."""


class Receipts(Protocol):
    """What was bought, as AWS last showed it."""

    def add(self, receipt: Receipt) -> Receipt:
        """Store one, or return the stored one if that id is known already."""

    def get(self, receipt_id: str) -> Receipt:
        """Return it. Raises UnknownRecordError."""

    def save(self, receipt: Receipt) -> Receipt:
        """Compare-and-swap on revision. Raises ConflictError."""

    def of(self, reservation_id: int) -> Sequence[Receipt]:
        """Return all of a reservation."""


class Budget(Protocol):
    """Money held, committed and freed, one entry per leg."""

    def hold(self, entry: BudgetEntry) -> None:
        """Hold money, or hold it anew after it was freed. Raises ConflictError if it is live."""

    def settle(self, purchase_key: str, *, amount: str) -> None:
        """Turn a held entry into a committed one of that exact amount."""

    def free(self, purchase_key: str) -> None:
        """Give the money back, held or committed; freeing twice is harmless."""

    def entries(
        self,
        *,
        team: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        reservation_id: int | None = None,
    ) -> Sequence[BudgetEntry]:
        """Return entries by when they were held, half-open [since, until), freed ones too.

        `team` None means every team.
        """

    def spent(
        self,
        *,
        since: datetime,
        until: datetime,
        team: str | None = None,
        apart: Collection[str] = (),
    ) -> Decimal:
        """Return the exact sum of what is held or committed, of entries as `entries` gives them.

        Entries whose keys are in `apart` do not count.
        """


class Counts(Protocol):
    """What operators watch."""

    def figures(self, *, now: datetime, since: datetime, until: datetime) -> Figures:
        """Return the figures as of now; committed money is of [since, until)."""


class Audit(Protocol):
    """What happened, hash-linked and append-only."""

    def append(self, entry: AuditEntry) -> None:
        """Add one entry to the chain."""

    def of(self, reservation_id: int, *, limit: int = 100) -> Sequence[AuditEntry]:
        """Return a reservation's entries, oldest first."""

    def verify(self) -> Sequence[str]:
        """Return what is wrong with the chain, as sentences; empty when it holds."""


class Facts(Protocol):
    """Small remembered values: the switch, people, refusals, the installation's id."""

    def get(self, name: str) -> str | None:
        """Return the value."""

    def put(self, name: str, value: str, *, at: datetime) -> None:
        """Set the value."""

    def starting_with(self, prefix: str) -> Mapping[str, str]:
        """Return all values whose name begins so."""

    def drop(self, name: str) -> None:
        """Forget it."""


class Loans(Protocol):
    """Owned machines promised to a reservation, so that none is promised twice."""

    def hold(
        self,
        *,
        reservation_id: int,
        ref: str,
        count: int,
        start: datetime,
        end: datetime,
        free: int,
    ) -> None:
        """Hold `count` of `ref`. Raises ConflictError if overlapping holds would exceed `free`."""

    def release(self, reservation_id: int) -> None:
        """Give all of a reservation's holds back."""

    def held(self, ref: str, *, start: datetime, end: datetime) -> int:
        """Return how many are held at most at one moment of [start, end)."""
