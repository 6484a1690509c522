"""What the services need from outside, as protocols without bodies.

Every implementation, fakes included, passes the contract suite of its port (tests/contract).
All times are aware UTC. Nothing here may be called inside a transaction except the transaction.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Protocol

from bot.domain.lifecycle import ProposalState, PurchaseState, ReservationState
from bot.domain.market import Market, Offering
from bot.domain.records import (
    Approval,
    AuditEntry,
    BudgetEntry,
    DecisionRecord,
    Delivery,
    Due,
    Leg,
    MessageRef,
    Person,
    Proposal,
    Purchase,
    Receipt,
    Reservation,
)
from bot.domain.request import Request
from bot.domain.saying import Announcement
from bot.domain.using import (
    EndpointOrder,
    EndpointView,
    Found,
    Health,
    Leftover,
    PlanView,
)


class Clock(Protocol):
    """The one source of now."""

    def now(self) -> datetime:
        """Return the present instant, aware UTC."""


# --- AWS: reading ---------------------------------------------------------------------------


class MarketReader(Protocol):
    """Reads every allowed market. Never raises for one that fails: it becomes `not_read`."""

    def read(self, request: Request, *, progress: Callable[[Market], None] | None = None) -> Market:
        """Return all rows that could serve the request, from all accounts and regions.

        `progress` is called with what is known so far whenever a region has answered.
        """

    def requote(self, leg: Leg) -> Sequence[Offering]:
        """Return what AWS sells now for the very leg: same account, region, type, count, target.

        Uses the tokens that are set aside for purchases. Raises MarketError.
        """


class Buyer(Protocol):
    """Spends. One request on the wire for each call of `buy`; never repeated."""

    def buy(self, purchase: Purchase) -> Sequence[Receipt]:
        """Buy the purchase's `offering_ref` and return AWS's ids and states.

        Raises RefusedError (nothing bought) or IndeterminateError (may be bought).
        """

    def find(self, purchase: Purchase) -> Sequence[Receipt]:
        """Return what AWS's books hold under the purchase's tag, token or plan name; never buys.

        Empty means not seen, which is no proof. Raises MarketError when the books can't be read.
        """

    def rehearse(self, leg: Leg) -> Sequence[str]:
        """Return what would stop a purchase (permission by DryRun, quota, zone), as sentences."""


class Holdings(Protocol):
    """Reads the state of what was bought."""

    def look(self, receipts: Sequence[Receipt]) -> Mapping[str, Receipt]:
        """Return by receipt id each receipt as AWS shows it now, whatever account or region.

        `gone` is set when AWS does not know the id any more; `last_error` when its account and
        region could not be read, with everything else unchanged.
        """


class Endpoints(Protocol):
    """Makes, shows and removes SageMaker endpoints. One request on the wire for each call."""

    def plan(self, receipt: Receipt) -> PlanView | None:
        """Return the training plan, None when SageMaker does not know it. Raises MarketError."""

    def configured(self, order: EndpointOrder) -> bool:
        """Return whether the order's configuration exists. Raises MarketError."""

    def look(self, order: EndpointOrder) -> EndpointView | None:
        """Return the order's endpoint, None when there is none. Raises MarketError."""

    def configure(self, order: EndpointOrder) -> None:
        """Make the configuration. Raises RefusedError or IndeterminateError."""

    def create(self, order: EndpointOrder) -> None:
        """Make the endpoint from the configuration. Raises RefusedError or IndeterminateError."""

    def delete(self, order: EndpointOrder) -> None:
        """Delete the endpoint; harmless when it is gone. Raises PurchaseError."""

    def unconfigure(self, order: EndpointOrder) -> None:
        """Delete the configuration; harmless when it is gone. Raises PurchaseError."""


class Machines(Protocol):
    """Reads how the machines of a receipt are."""

    def health(self, receipt: Receipt) -> Health:
        """Return them as AWS shows them now; what can't be read stands in `not_read`."""


class Leftovers(Protocol):
    """Finds and removes what a reservation left behind."""

    def find(self, receipts: Sequence[Receipt]) -> Found:
        """Return what still exists, by our purchase tag and by the receipts' ids.

        Books that can't be read stand in `not_read`; never raises for them.
        """

    def remove(self, leftover: Leftover) -> None:
        """Ask AWS to remove one thing; harmless when it is gone already. Raises PurchaseError."""


class Tagger(Protocol):
    """Writes who owns what was bought into AWS's own tags."""

    def tag(self, receipt: Receipt, *, owner: str, team: str | None) -> None:
        """Set both tags; repeating it is harmless. Raises MarketError when it did not work."""


# --- Slack ------------------------------------------------------------------------------------


class Messenger(Protocol):
    """Says things to people. `key` travels with a message, so that it can be found again."""

    def post(self, key: str, announcement: Announcement, *, under: MessageRef | None) -> MessageRef:
        """Post a new message, under a thread when `under` is given, and return where it is.

        Raises DeliveryError (not posted) or DeliveryDoubtError (may be posted).
        """

    def find(
        self, key: str, announcement: Announcement, *, under: MessageRef | None, since: datetime
    ) -> MessageRef | None:
        """Return the message that carries the key, if Slack holds one. Raises DeliveryError."""

    def update(self, key: str, at: MessageRef, announcement: Announcement) -> None:
        """Draw the message anew; repeating it is harmless. Raises DeliveryError."""

    def whisper(self, announcement: Announcement) -> None:
        """Show it to one person in a channel only, at most once. Raises DeliveryError."""


class People(Protocol):
    """Who somebody is, by Slack's own word."""

    def person(self, user_id: str, *, max_age: timedelta) -> Person:
        """Return the person, read again when older than `max_age`. Raises DeliveryError."""

    def members(self, group_id: str, *, max_age: timedelta) -> Collection[str]:
        """Return the user ids in a user group (S…). Raises DeliveryError."""


# --- Storage ----------------------------------------------------------------------------------


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


class Dues(Protocol):
    """What falls due."""

    def plan(self, due: Due) -> bool:
        """Store it unless its key is known (done ones too); return whether it is new."""

    def move(self, key: str, at: datetime) -> None:
        """Change the time of one that is not done; unknown keys are ignored."""

    def claim(self, *, now: datetime, lease: timedelta, limit: int) -> Sequence[Due]:
        """Take rows due by now that nobody holds, oldest first; held until now + lease."""

    def done(self, key: str, *, at: datetime, outcome: str = "done") -> None:
        """Mark one as done; it never comes back and its key stays taken."""

    def put_back(self, key: str, *, not_before: datetime) -> None:
        """Give a claimed row back, to be claimed again at that time; a done row stays done."""

    def withdraw(self, subject: str, *, kinds: Collection[str] | None = None) -> int:
        """Mark the subject's rows that are not done as withdrawn; return how many."""

    def next_at(self, *, leaving_out: Collection[str] = ()) -> datetime | None:
        """Return when the next row that is not done falls due (held ones too).

        Rows of the kinds to be left out don't count.
        """

    def waiting(self, *, now: datetime) -> int:
        """Return how many rows are due by now and not done."""


class Outgoing(Protocol):
    """One row of the outbox as it is handed out. `attempt` counts from 1."""

    @property
    def key(self) -> str:
        """Return what makes the message unique."""

    @property
    def announcement(self) -> Announcement:
        """Return what is to be said."""

    @property
    def attempt(self) -> int:
        """Return which attempt this is."""

    @property
    def in_doubt(self) -> bool:
        """Return whether an earlier attempt may have arrived."""

    @property
    def created_at(self) -> datetime:
        """Return when it was put in."""


class Outbox(Protocol):
    """What is to be said. Rows of one lane (card, thread) leave in the order they came."""

    def put(
        self,
        key: str,
        announcement: Announcement,
        *,
        at: datetime,
        not_before: datetime | None = None,
    ) -> bool:
        """Queue a message once; return False when the key is known already."""

    def redraw(self, key: str, announcement: Announcement, *, at: datetime) -> None:
        """Queue a living message to be posted (first time) or drawn anew; waiting ones merge."""

    def claim(self, *, now: datetime, lease: timedelta, limit: int) -> Sequence[Outgoing]:
        """Take messages that may leave now, marked as in doubt until they are settled."""

    def sent(self, key: str, *, at: datetime, ref: MessageRef | None) -> None:
        """Settle one as delivered. A redraw that came meanwhile stays queued."""

    def put_back(self, key: str, *, not_before: datetime, in_doubt: bool, error: str) -> None:
        """Give one back to be tried later."""

    def drop(self, key: str, *, at: datetime, error: str) -> None:
        """Give one up, with the reason."""

    def where(self, key: str) -> MessageRef | None:
        """Return where the message with that key is, if it was delivered."""

    def waiting(self, *, now: datetime) -> int:
        """Return how many messages may leave now and have not."""

    def next_at(self) -> datetime | None:
        """Return when the next message may leave."""


class Inbox(Protocol):
    """Deliveries that were recorded and are to be worked on."""

    def get(self, delivery_id: int) -> Delivery:
        """Return one. Raises UnknownRecordError."""

    def claim(self, *, now: datetime, lease: timedelta, limit: int) -> Sequence[Delivery]:
        """Take deliveries that nobody works on, oldest first."""

    def done(self, delivery_id: int, *, outcome: str) -> None:
        """Mark one as worked on."""

    def confirm(self, delivery_id: int) -> bool:
        """Make a late one workable; return False when it was confirmed or is no longer late."""

    def waiting(self) -> int:
        """Return how many deliveries are not worked on yet (late ones apart)."""


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


class Transaction(Protocol):
    """One unit of work: everything in it is committed together, or nothing is."""

    reservations: Reservations
    decisions: Decisions
    proposals: Proposals
    purchases: Purchases
    receipts: Receipts
    budget: Budget
    dues: Dues
    outbox: Outbox
    inbox: Inbox
    audit: Audit
    facts: Facts
    loans: Loans


class Store(Protocol):
    """Durable records. A transaction commits on leaving the block and rolls back on an error."""

    def transaction(self) -> AbstractContextManager[Transaction]:
        """Open a unit of work that may write. Raises BusyError when the database is locked."""

    def reading(self) -> AbstractContextManager[Transaction]:
        """Open a consistent view; writing through it is a BugError."""

    def record(self, delivery: Delivery, *, patience: timedelta) -> bool:
        """Store a delivery durably; False when its key is known already.

        Concurrent calls share a commit. Raises BusyError when it is not on disk within
        `patience`; the row is then not stored, now or later.
        """

    def close(self) -> None:
        """Release the file or the pool."""


# --- Waking ----------------------------------------------------------------------------------


class Bell(Protocol):
    """Wakes the loops that work off inbox, outbox and dues."""

    def ring(self) -> None:
        """Say that there may be work now."""
