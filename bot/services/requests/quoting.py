"""From a request to a stored decision: read the market outside, decide, commit."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.catalog import Catalog
from bot.domain.decision import Decision
from bot.domain.errors import ConflictError, UnknownRecordError, UserError
from bot.domain.lifecycle import ReservationState
from bot.domain.market import HourlyRate, Market, Owned
from bot.domain.records import AuditEntry, DecisionRecord, Reservation, gpu_id
from bot.domain.request import Request
from bot.domain.values import how_many
from bot.engine.deciding import decide
from bot.policy.accounts import account_used_by
from bot.policy.configuration import Configuration
from bot.policy.permitting import check_concerned
from bot.ports import Bell, Clock, MarketReader, Store, Transaction
from bot.services.requests.lapsing import lapse_due
from bot.services.requests.searching import quote_due, refusal_name
from bot.services.reservations.extensions import parent_of
from bot.services.words.telling import Telling

FAR = timedelta(days=365)
"""As far as loans of capacity without an end are looked for; blocks end within half a year."""

QUOTABLE = frozenset({ReservationState.REQUESTED, ReservationState.QUOTED})
RENEWABLE = frozenset(
    {
        ReservationState.REQUESTED,
        ReservationState.QUOTED,
        ReservationState.BLOCKED,
        ReservationState.EXPIRED,
    }
)
"""States from which the same request may be searched for again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quoting:
    """Decides on requests and keeps each decision with its evidence."""

    store: Store
    clock: Clock
    market: MarketReader
    catalog: Catalog
    telling: Telling
    configuration: Configuration
    bell: Bell

    def quote(self, reservation_id: int) -> str:
        """Read the market, decide, store the decision and show it; return what was done.

        A request that changed or moved on meanwhile keeps what it has.
        """
        with self.store.reading() as tx:
            reservation = tx.reservations.get(reservation_id)
        if reservation.state not in QUOTABLE:
            return f"not quoted: {reservation.state}"
        self._progress(reservation, "Reading AWS's markets …")
        raw = self.market.read(
            reservation.request, progress=lambda seen: self._show(reservation, seen)
        )
        now = self.clock.now()
        with self.store.reading() as tx:
            market = self._known(tx, raw, now)
        rules = self.configuration.rules
        record = DecisionRecord(
            reservation_id=reservation_id,
            version=reservation.version,
            decided_at=now,
            zone=reservation.zone,
            requester=reservation.requester,
            prefers=self._home(reservation.team),
            request=reservation.request,
            rules=rules,
            market=market,
            decision=self._decide(reservation.request, market, now, reservation),
        )
        with self.store.transaction() as tx:
            outcome = self._keep(tx, record, now)
        self.bell.ring()
        return outcome

    def again(self, reservation_id: int, *, by: str) -> Reservation:
        """Have the same request searched for again, after a block, an expiry or a long wait.

        Raises NotAllowedError for strangers, UserError from any other state.
        """
        now = self.clock.now()
        with self.store.transaction() as tx:
            reservation = tx.reservations.get(reservation_id)
            name = gpu_id(reservation_id)
            check_concerned(reservation, by, self.configuration)
            if reservation.state not in RENEWABLE:
                raise UserError(
                    f"{name} is {reservation.state.replace('_', ' ')}; it can't be searched again.",
                    hint=reservation.line,
                )
            parent = parent_of(tx, reservation_id)
            if parent is not None:
                raise UserError(
                    f"{name} was more time for {gpu_id(parent)}; ask for that anew.",
                    hint=f"extend {gpu_id(parent)}",
                )
            saved = tx.reservations.save(
                reservation.model_copy(
                    update={
                        "state": ReservationState.REQUESTED,
                        "note": "",
                        "updated_at": now,
                    }
                )
            )
            tx.dues.plan(quote_due(saved, at=now, why=f"again-{saved.revision}"))
            tx.audit.append(
                AuditEntry(
                    at=now, actor=by, action="reservation.again", reservation_id=reservation_id
                )
            )
            self.telling.redraw(tx, saved, now=now)
        self.bell.ring()
        return saved

    def show(self, reservation_id: int, *, rank: int, by: str) -> None:
        """Show another option on the card, which everybody sees.

        Raises NotAllowedError for strangers, UserError when there is no such option.
        """
        now = self.clock.now()
        with self.store.transaction() as tx:
            reservation = tx.reservations.get(reservation_id)
            check_concerned(reservation, by, self.configuration)
            record = tx.decisions.latest(reservation_id)
            ranks = {option.rank for option in record.decision.options} if record else set()
            if reservation.state is not ReservationState.QUOTED or rank not in ranks:
                raise UserError("This option is no longer on the table. Look at the card as it is.")
            saved = tx.reservations.save(
                reservation.model_copy(update={"shown_rank": rank, "updated_at": now})
            )
            self.telling.redraw(tx, saved, now=now)
        self.bell.ring()

    def plan(
        self, request: Request, *, zone: str, requester: str | None
    ) -> tuple[Market, Decision]:
        """Return the market and the decision for a request; nothing is stored."""
        raw = self.market.read(request)
        now = self.clock.now()
        with self.store.reading() as tx:
            market = self._known(tx, raw, now)
        decision = decide(
            request,
            market,
            self.configuration.rules,
            now=now,
            zone=zone,
            catalog=self.catalog,
            requester=requester,
        )
        return market, decision

    def replay(self, reservation_id: int) -> tuple[DecisionRecord, Decision, Decision]:
        """Return the stored decision, the same made again, and one under today's rules.

        Raises UnknownRecordError when the reservation has no decision.
        """
        with self.store.reading() as tx:
            reservation = tx.reservations.get(reservation_id)
            record = tx.decisions.latest(reservation_id)
        if record is None:
            raise UnknownRecordError(f"{gpu_id(reservation_id)} has no decision yet")
        made_again = self._again(record, record, reservation)
        today = record.model_copy(update={"rules": self.configuration.rules})
        return record, made_again, self._again(record, today, reservation)

    def _again(
        self, record: DecisionRecord, under: DecisionRecord, reservation: Reservation
    ) -> Decision:
        return decide(
            record.request,
            record.market,
            under.rules,
            now=record.decided_at,
            zone=record.zone,
            catalog=self.catalog,
            requester=reservation.requester,
            prefers=record.prefers,
        )

    def _decide(
        self, request: Request, market: Market, now: datetime, reservation: Reservation
    ) -> Decision:
        return decide(
            request,
            market,
            self.configuration.rules,
            now=now,
            zone=reservation.zone,
            catalog=self.catalog,
            requester=reservation.requester,
            prefers=self._home(reservation.team),
        )

    def _home(self, team: str | None) -> str | None:
        """Return the account that the team uses: bought there, nothing needs to be shared."""
        used = account_used_by(team, self.configuration)
        return used.name if used is not None else None

    def _keep(self, tx: Transaction, record: DecisionRecord, now: datetime) -> str:
        reservation = tx.reservations.get(record.reservation_id)
        tx.facts.drop(f"progress:{gpu_id(reservation.id)}")
        if reservation.version != record.version or reservation.state not in QUOTABLE:
            return "not kept: the request moved on"
        tx.decisions.add(record)
        saved = tx.reservations.save(
            reservation.model_copy(
                update={"state": ReservationState.QUOTED, "shown_rank": 1, "updated_at": now}
            )
        )
        pick = record.decision.pick
        tx.audit.append(
            AuditEntry(
                at=now,
                actor="engine",
                action="reservation.quoted",
                reservation_id=saved.id,
                facts={
                    "digest": record.decision.digest,
                    "pick": "+".join(pick.refs) if pick else "",
                    "options": str(len(record.decision.options)),
                },
            )
        )
        tx.dues.plan(lapse_due(saved, self.configuration))
        self.telling.redraw(tx, saved, now=now)
        return "quoted"

    def _known(self, tx: Transaction, market: Market, now: datetime) -> Market:
        """Return the market with what only our records know: refusals, loans and owners."""
        refusals = tx.facts.starting_with("refused:")
        return market.model_copy(
            update={
                "hourly": tuple(_refused(row, refusals.get(_name(row))) for row in market.hourly),
                "owned": tuple(_lent(tx, row, now) for row in market.owned),
            }
        )

    def _progress(self, reservation: Reservation, words: str) -> None:
        now = self.clock.now()
        with self.store.transaction() as tx:
            tx.facts.put(f"progress:{gpu_id(reservation.id)}", words, at=now)
            self.telling.redraw(tx, reservation, now=now)
        self.bell.ring()

    def _show(self, reservation: Reservation, seen: Market) -> None:
        rows = len(seen.offerings) + len(seen.hourly) + len(seen.owned)
        try:
            self._progress(
                reservation, f"Reading AWS's markets … {how_many(rows, 'offer')} so far."
            )
        except ConflictError:
            return


def _name(row: HourlyRate) -> str:
    return refusal_name(row.kind, row.account, row.region, row.zone, row.instance_type)


def _refused(row: HourlyRate, remembered: str | None) -> HourlyRate:
    if remembered is None:
        return row
    at = datetime.fromisoformat(remembered)
    newest = at if row.last_refused_at is None else max(at, row.last_refused_at)
    return row.model_copy(update={"last_refused_at": newest})


def _lent(tx: Transaction, row: Owned, now: datetime) -> Owned:
    start = max(row.start, now)
    held = tx.loans.held(row.ref, start=start, end=max(row.end or start + FAR, start))
    owner = row.owner
    if owner is None:
        try:
            owner = tx.reservations.get(tx.receipts.get(row.ref).reservation_id).owner
        except UnknownRecordError:
            owner = None
    return row.model_copy(
        update={"available_count": max(0, row.available_count - held), "owner": owner}
    )
