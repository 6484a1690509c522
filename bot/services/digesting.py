"""The daily digest: one a day, today's, however long the bot was away."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

from bot.domain.ending import usable
from bot.domain.lifecycle import LIVE_RESERVATIONS, PurchaseState, ReservationState
from bot.domain.records import BudgetEntry, Due, Receipt, Reservation, Switch, gpu_id
from bot.domain.saying import Announcement, Audience, Code, Moment, Section, Sentence, Strong
from bot.domain.values import cents
from bot.policy.configuration import Configuration
from bot.ports import Clock, Store, Transaction
from bot.services.following import lost_of
from bot.services.views import month_of, switch_of

KIND = "digest"
PLANNED = "digest:planned"
_S = ReservationState
SOON = timedelta(days=7)
MOST = 500
"""More live reservations than this are counted, not listed."""


def dollars(amount: Decimal) -> str:
    """Return an amount for people: $6,877.44."""
    return f"${cents(amount):,.2f}"


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
            sections = self._sections(tx, now)
            if not sections and self.configuration.digest.when_empty == "skip":
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

    def preview(self) -> tuple[Section, ...]:
        """Return what the digest would say now."""
        with self.store.reading() as tx:
            now = self.clock.now()
            day = now.astimezone(self._zone).date()
            sections = self._sections(tx, now)
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

    def _sections(self, tx: Transaction, now: datetime) -> tuple[Section, ...]:
        live = tx.reservations.listing(states=LIVE_RESERVATIONS, limit=MOST, newest_first=False)
        receipts = {
            reservation.id: tuple(tx.receipts.of(reservation.id))
            for reservation in live
            if reservation.state in (_S.ACTIVE, _S.SCHEDULED, _S.PAYMENT_PENDING)
        }
        sections = (
            Section(title="Needs a person", sentences=tuple(self._troubles(tx, live))),
            Section(title="Running now", sentences=tuple(_running(live, receipts, now))),
            Section(
                title="Starting within seven days", sentences=tuple(_next(live, receipts, now))
            ),
            Section(title="Waiting for approval", sentences=tuple(_waiting(live))),
            Section(title="Money", sentences=tuple(self._money(tx, now))),
        )
        return tuple(section for section in sections if section.sentences)

    def _troubles(self, tx: Transaction, live: Sequence[Reservation]) -> Iterable[Sentence]:
        switch = switch_of(tx, self.configuration)
        if switch is not Switch.ON:
            yield (f"Purchasing is {switch}: nothing is bought.",)
        for purchase in tx.purchases.in_state({PurchaseState.INDETERMINATE}):
            yield (
                Strong(text=gpu_id(purchase.reservation_id)),
                (f": it is unclear whether {dollars(purchase.fee)} was spent; it stays held. See "),
                Code(text="gpubot ledger"),
                ".",
            )
        for reservation in live:
            if reservation.state in (_S.BLOCKED, _S.NEEDS_REVIEW):
                yield (
                    Strong(text=gpu_id(reservation.id)),
                    f": {reservation.state.replace('_', ' ')}. {reservation.note}".rstrip(),
                )

    def _money(self, tx: Transaction, now: datetime) -> Iterable[Sentence]:
        since, until = month_of(now)
        entries = [
            entry for entry in tx.budget.entries(since=since, until=until) if entry.state != "freed"
        ]
        for team in sorted({entry.team or "" for entry in entries}):
            mine = [entry for entry in entries if (entry.team or "") == team]
            limit = next(
                (row.monthly_budget_usd for row in self.configuration.teams if row.name == team),
                None,
            )
            left = f", {dollars(limit - _sum(mine))} left" if limit is not None else ""
            held = _sum([entry for entry in mine if entry.state == "held"])
            yield (
                (
                    f"{team or 'No team'} this month: {dollars(_sum(mine) - held)} bought,"
                    f" {dollars(held)} held{left}."
                ),
            )


def _sum(entries: Sequence[BudgetEntry]) -> Decimal:
    return sum((entry.amount for entry in entries), Decimal(0))


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


def _running(
    live: Sequence[Reservation], receipts: dict[int, tuple[Receipt, ...]], now: datetime
) -> Iterable[Sentence]:
    for reservation in live:
        if reservation.state is not _S.ACTIVE:
            continue
        for receipt in receipts.get(reservation.id, ()):
            ends = [
                usable(segment, lost_of(receipt))[1]
                for segment in receipt.segments
                if segment.end > now
            ]
            if not ends or receipt.state != "active":
                continue
            used = ""
            if receipt.total_count is not None and receipt.available_count is not None:
                in_use = receipt.total_count - receipt.available_count
                used = f" {in_use} of {receipt.total_count} in use."
            ending = " It is ending: AWS takes the machines." if ends[-1] <= now else ""
            yield (
                Strong(text=gpu_id(reservation.id)),
                (
                    f" {receipt.instance_count} x {receipt.instance_type} in"
                    f" {receipt.zone or receipt.region}, usable until "
                ),
                Moment(at=ends[-1]),
                f".{used}{ending}",
            )


def _next(
    live: Sequence[Reservation], receipts: dict[int, tuple[Receipt, ...]], now: datetime
) -> Iterable[Sentence]:
    for reservation in live:
        for receipt in receipts.get(reservation.id, ()):
            starts = [segment.start for segment in receipt.segments if segment.start > now]
            if not starts or min(starts) - now > SOON:
                continue
            pending = " Payment is not through yet." if "pending" in receipt.state else ""
            yield (
                Strong(text=gpu_id(reservation.id)),
                (
                    f" {receipt.instance_count} x {receipt.instance_type} in"
                    f" {receipt.zone or receipt.region} starts "
                ),
                Moment(at=min(starts)),
                f".{pending}",
            )


def _waiting(live: Sequence[Reservation]) -> Iterable[Sentence]:
    for reservation in live:
        if reservation.state is _S.PENDING_APPROVAL and reservation.option is not None:
            yield (
                Strong(text=gpu_id(reservation.id)),
                (
                    f" {dollars(reservation.option.total_usd)} for"
                    f" {reservation.option.instance_count} x {reservation.option.instance_type}."
                ),
            )
