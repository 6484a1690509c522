"""Shows how machines are, and answers when AWS takes spot machines back.

A lost spot machine is told to its owner at once, and the decision is made anew: what is missing
becomes a request of its own, because what was bought is done and its record stays as it is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from bot.domain.errors import UserError
from bot.domain.lifecycle import ReservationState
from bot.domain.market import Kind
from bot.domain.records import AuditEntry, Due, Receipt, Reservation, gpu_id
from bot.domain.request import Request
from bot.domain.saying import Code, Section, Sentence, Strong
from bot.domain.sharing import ShareRecord, ShareStage
from bot.domain.using import GpuUse, Health, Machine
from bot.domain.values import cents
from bot.language.parsing import line_of
from bot.policy.configuration import Configuration
from bot.ports import Bell, Clock, Machines, Store, Transaction, Utilisation
from bot.services.requests.searching import quote_due
from bot.services.reservations.envelopes import What
from bot.services.reservations.gpu_reading import read_gpus
from bot.services.reservations.sequels import SPOT_PACE, signal_due, spot_due
from bot.services.reservations.sharing import share_of, there, together
from bot.services.running.health_words import ALIVE, health_section
from bot.services.words.announcing import say
from bot.services.words.telling import Telling

LEAST_LEFT = timedelta(hours=1)
"""Less than this is not worth a new search."""
LOOK_AGAIN = timedelta(seconds=10)
MOST_LOOKS = 6
"""AWS's books may show a notice later than its event tells of it, but the notice is two minutes."""
OVER = frozenset({"expired", "cancelled", "failed", "payment-failed", "terminated"})
HOUR = timedelta(hours=1)
SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Healing:
    """Reads machines, watches spot, and asks anew for what AWS took."""

    store: Store
    clock: Clock
    machines: Machines
    telling: Telling
    configuration: Configuration
    bell: Bell
    utilisation: Utilisation | None = None

    def health(self, reservation_id: int) -> tuple[Section, ...]:
        """Return how every receipt's machines are now. Raises UserError when nothing is held."""
        with self.store.reading() as tx:
            reservation = tx.reservations.get(reservation_id)
            receipts = [
                receipt
                for receipt in tx.receipts.of(reservation_id)
                if not receipt.gone and receipt.state not in OVER and "#" not in receipt.id
            ]
            shares = {receipt.id: share_of(tx, receipt) for receipt in receipts}
        if not receipts:
            raise UserError(
                f"{gpu_id(reservation_id)} holds no machines: it is"
                f" {reservation.state.replace('_', ' ')}.",
                hint=f"status {gpu_id(reservation_id)}",
            )
        looks = [(receipt, self._look(receipt, shares[receipt.id])) for receipt in receipts]
        gpus = self._gpus(receipts, shares)
        now = self.clock.now()
        return tuple(
            health_section(receipt, health, gpus=gpus.get(receipt.id), now=now)
            for receipt, health in looks
        )

    def _look(self, receipt: Receipt, share: ShareRecord | None) -> Health:
        """Return the health of a receipt, with the machines that another account runs in it."""
        own = self.machines.health(receipt)
        if share is None or share.stage is not ShareStage.STANDING:
            return own
        return together(own, self.machines.health(there(receipt, share)))

    def _gpus(
        self, receipts: Sequence[Receipt], shares: Mapping[str, ShareRecord | None]
    ) -> Mapping[str, GpuUse]:
        """Return how busy the GPUs are, where somebody can tell."""
        limits = self.configuration.limits
        if self.utilisation is None or limits.idle_gpu_below is None:
            return {}
        return read_gpus(self.utilisation, receipts, shares, window=limits.idle_after)

    def watch(self, due: Due) -> str:
        """Look once at a reservation's spot machines (due kind "spot-watch")."""
        reservation_id = int(due.argument)
        looks = self._spot(reservation_id)
        now = self.clock.now()
        with self.store.transaction() as tx:
            reservation = tx.reservations.get(reservation_id)
            lost = sum(self._take_in(tx, reservation, *look, now=now) for look in looks)
            if any(_goes_on(receipt, health) for receipt, health in looks):
                tx.dues.plan(spot_due(reservation_id, at=now + SPOT_PACE))
        if lost:
            self.bell.ring()
        return f"{lost} newly taken" if lost else "nothing taken"

    def hear(self, due: Due) -> str:
        """Look because an event said so (due kind "spot-look"); return what it came to.

        A notice is told when AWS's own books show it, and soon looked for again while they don't.
        That a machine is at risk stands in no book: it is told for machines that are ours.
        """
        number, what, machine, signal, attempt = due.argument.split("|")
        reservation_id = int(number)
        looks = self._spot(reservation_id)
        now = self.clock.now()
        own = [
            one
            for _, health in looks
            for one in health.machines
            if one.id == machine and one.state in ALIVE and not one.notice
        ]
        unread = any(health.not_read and not health.machines for _, health in looks)
        with self.store.transaction() as tx:
            reservation = tx.reservations.get(reservation_id)
            lost = sum(self._take_in(tx, reservation, *look, now=now) for look in looks)
            risk = what == What.REBALANCE and bool(own)
            said = risk and self._warn(tx, reservation, machine, now)
            waits = unread or (bool(own) and what == What.INTERRUPTION)
            if waits and int(attempt) < MOST_LOOKS:
                tx.dues.plan(
                    signal_due(
                        reservation_id,
                        what,
                        machine,
                        signal,
                        at=now + LOOK_AGAIN,
                        attempt=int(attempt) + 1,
                    )
                )
        if lost or said:
            self.bell.ring()
        return f"{lost} newly taken" if lost else "at risk" if said else "nothing taken"

    def _spot(self, reservation_id: int) -> list[tuple[Receipt, Health]]:
        """Look at a reservation's spot machines."""
        with self.store.reading() as tx:
            receipts = [
                receipt
                for receipt in tx.receipts.of(reservation_id)
                if receipt.kind is Kind.SPOT and not receipt.gone
            ]
        return [(receipt, self.machines.health(receipt)) for receipt in receipts]

    def _warn(self, tx: Transaction, reservation: Reservation, machine: str, now: datetime) -> bool:
        return say(
            tx,
            reservation,
            self.configuration,
            f"spot-risk:{machine}",
            (Section(sentences=_risk_words(reservation, machine)),),
            now=now,
        )

    def _take_in(
        self,
        tx: Transaction,
        reservation: Reservation,
        receipt: Receipt,
        health: Health,
        *,
        now: datetime,
    ) -> int:
        """Tell of machines that are newly taken; return how many they are."""
        fresh = [
            machine
            for machine in health.machines
            if machine.notice and tx.facts.get(_told_name(reservation.id, machine)) is None
        ]
        if not fresh:
            return 0
        for machine in fresh:
            tx.facts.put(_told_name(reservation.id, machine), machine.notice, at=now)
        again = self._ask_anew(tx, reservation, receipt, len(fresh), now)
        say(
            tx,
            reservation,
            self.configuration,
            f"spot-taken:{fresh[0].id}",
            (Section(sentences=_taken_words(reservation, fresh, again)),),
            now=now,
        )
        tx.audit.append(
            AuditEntry(
                at=now,
                actor="aws",
                action="spot.interrupted",
                reservation_id=reservation.id,
                purchase_id=receipt.purchase_id,
                facts={machine.id: machine.notice for machine in fresh}
                | {"asked_anew": gpu_id(again.id) if again else ""},
            )
        )
        return len(fresh)

    def _ask_anew(
        self, tx: Transaction, lost: Reservation, receipt: Receipt, count: int, now: datetime
    ) -> Reservation | None:
        """File what is missing as a request of its own; None when too little time is left."""
        end = max((segment.end for segment in receipt.segments), default=now)
        if end - now < LEAST_LEFT:
            return None
        request = missing_part(lost.request, receipt, count=count, now=now, end=end)
        filed = tx.reservations.add(
            Reservation(
                state=ReservationState.REQUESTED,
                workspace=lost.workspace,
                requester=lost.requester,
                owner=lost.owner,
                team=lost.team,
                channel=lost.channel,
                request=request,
                line=line_of(request, command="reserve", zone=lost.zone),
                zone=lost.zone,
                locale=lost.locale,
                note=f"For what AWS took of {gpu_id(lost.id)}.",
                created_at=now,
                updated_at=now,
            )
        )
        tx.dues.plan(quote_due(filed, at=now))
        tx.audit.append(
            AuditEntry(
                at=now,
                actor="gpubot",
                action="reservation.requested",
                reservation_id=filed.id,
                facts={"instead_of": gpu_id(lost.id), "count": str(count)},
            )
        )
        self.telling.redraw(tx, filed, now=now)
        return filed


def missing_part(
    request: Request, receipt: Receipt, *, count: int, now: datetime, end: datetime
) -> Request:
    """Return the request for what was lost: the same machines, as many as are missing, from now.

    Where a cap on the whole was given, the part gets its share of it by machine-hours.
    """
    start = min((segment.start for segment in receipt.segments), default=now)
    whole = receipt.instance_count * max(end - start, timedelta(seconds=1))
    share = Decimal(count * (end - now) // SECOND) / (whole // SECOND)
    cap = request.max_total_usd
    return request.model_copy(
        update={
            "instance_type": receipt.instance_type,
            "instance_count": count,
            "minimum_count": None,
            "accelerator": None,
            "accelerator_count": None,
            "earliest_start": now,
            "latest_start": end - LEAST_LEFT,
            "latest_end": end,
            "duration_hours": Decimal((end - now) // HOUR),
            "max_total_usd": cents(cap * min(share, Decimal(1))) if cap is not None else None,
        }
    )


def _goes_on(receipt: Receipt, health: Health) -> bool:
    """Return whether there is anything left to watch; what could not be read is looked at again."""
    if health.not_read and not health.machines:
        return receipt.state not in OVER
    return any(machine.state in ALIVE for machine in health.machines)


def _told_name(reservation_id: int, machine: Machine) -> str:
    return f"spot-taken:{gpu_id(reservation_id)}:{machine.id}"


def _risk_words(reservation: Reservation, machine: str) -> tuple[Sentence, ...]:
    return (
        (
            "Spot machine at risk: AWS recommends to move away from ",
            Code(text=machine),
            " of ",
            Strong(text=gpu_id(reservation.id)),
            ". It may be taken back soon, or not at all.",
        ),
        (
            (
                "Write a checkpoint now. When AWS takes it you have two minutes, and I decide anew"
                " for what is missing."
            ),
        ),
    )


def _taken_words(
    reservation: Reservation, machines: Sequence[Machine], again: Reservation | None
) -> tuple[Sentence, ...]:
    coming = [machine for machine in machines if machine.state in ALIVE]
    names: Sentence = tuple(
        part for machine in machines[:10] for part in (" ", Code(text=machine.id))
    )
    more = f" and {len(machines) - 10} more" if len(machines) > 10 else ""  # noqa: PLR2004 - a line's worth
    verb, ending = (
        ("takes back", " within two minutes: save your work now.")
        if coming
        else ("has taken back", ".")
    )
    first: Sentence = (
        f"Spot interruption: AWS {verb}",
        *names,
        f"{more} of ",
        Strong(text=gpu_id(reservation.id)),
        ending,
    )
    if again is None:
        return (first, ("Too little time is left to look for others.",))
    return (
        first,
        (
            "I decide anew for what is missing: see ",
            Strong(text=gpu_id(again.id)),
            ". Nothing is bought before it is approved.",
        ),
    )
