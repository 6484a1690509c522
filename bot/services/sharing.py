"""Has what one account bought used from another: shares it once AWS holds it, ends that after.

A share costs nothing and spends nothing, so the ledger is untouched. "Shared" is said only when
AWS shows the reservation and the other account as associated. A refusal is told once with its
mend, and tried again with growing pauses, since the mend is in somebody else's hands.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.errors import RefusedError
from bot.domain.records import AuditEntry, Due, Receipt, Reservation, gpu_id
from bot.domain.sharing import ShareOrder, ShareRecord, ShareStage
from bot.domain.using import Health
from bot.domain.values import utc_text
from bot.policy.accounts import elsewhere
from bot.policy.configuration import Configuration
from bot.ports import Clock, Sharer, Store, Transaction
from bot.services import sharing_words as words
from bot.services.looking import EXTENSION_MARK, is_extension
from bot.services.pleading import Pleading
from bot.services.telling import Telling

SHARE = "share"
UNSHARE = "unshare"

HELD = frozenset({"scheduled", "active"})
"""States in which AWS lets a reservation be shared (EC2 User Guide, "Share Capacity Blocks")."""

SOON = timedelta(minutes=1)
PAUSES = (
    timedelta(minutes=15),
    timedelta(hours=1),
    timedelta(hours=4),
    timedelta(hours=12),
)
"""Pauses after refusals: a mend takes people minutes to hours."""

PATIENT_LOOKS = 30
"""So many looks a minute apart at a share that is not complete; then as after a refusal."""

BLIND_LOOKS = 5
"""So many looks for the zone's name in the other account; then its id must do."""

_S = ShareStage


def share_name(reservation_id: int, capacity_id: str) -> str:
    """Return the name of the fact that holds a share's record."""
    return f"share:{gpu_id(reservation_id)}:{capacity_id}"


def shares_of(tx: Transaction, reservation_id: int) -> tuple[ShareRecord, ...]:
    """Return the records of a reservation's shares."""
    found = tx.facts.starting_with(f"share:{gpu_id(reservation_id)}:")
    return tuple(ShareRecord.model_validate_json(found[name]) for name in sorted(found))


def share_of(tx: Transaction, receipt: Receipt) -> ShareRecord | None:
    """Return the record of a receipt's share; None when it is used where it was bought."""
    stored = tx.facts.get(share_name(receipt.reservation_id, _capacity(receipt)))
    return ShareRecord.model_validate_json(stored) if stored else None


def there(receipt: Receipt, record: ShareRecord) -> Receipt:
    """Return the receipt as the consumer's account sees it: same reservation, its own zone name."""
    zone = record.share.zone if record.share is not None else None
    return receipt.model_copy(update={"account": record.order.consumer, "zone": zone})


def with_consumers(tx: Transaction, receipts: Sequence[Receipt]) -> tuple[Receipt, ...]:
    """Return the receipts, and those that are or were shared once more in the other account."""
    more = [
        there(receipt, record)
        for receipt in receipts
        if (record := share_of(tx, receipt)) is not None and record.share is not None
    ]
    return (*receipts, *more)


def together(own: Health, theirs: Health) -> Health:
    """Return the health of a shared reservation: its owner's counts, both accounts' machines."""
    used = [count for count in (own.used, theirs.used) if count is not None]
    return own.model_copy(
        update={
            "used": sum(used) if used else None,
            "machines": (*own.machines, *theirs.machines),
            "not_read": (*own.not_read, *theirs.not_read),
        }
    )


def plan_share(
    tx: Transaction,
    reservation: Reservation,
    receipt: Receipt,
    configuration: Configuration,
    *,
    now: datetime,
) -> None:
    """Have a receipt shared that AWS holds, if its team uses another account; once."""
    if receipt.state not in HELD or receipt.gone or is_extension(receipt):
        return
    passage = elsewhere(
        receipt.kind,
        ultraserver=receipt.ultraserver_type is not None,
        buyer=receipt.account,
        team=reservation.team,
        configuration=configuration,
    )
    name = share_name(reservation.id, receipt.id)
    if passage is None or not passage.shareable or tx.facts.get(name) is not None:
        return
    order = ShareOrder(
        capacity_id=receipt.id,
        account=receipt.account,
        region=receipt.region,
        consumer=passage.user,
        purchase_id=receipt.purchase_id,
        reservation_id=reservation.id,
        owner=reservation.owner,
        team=reservation.team,
    )
    record = ShareRecord(order=order, changed_at=now)
    tx.facts.put(name, record.model_dump_json(), at=now)
    tx.dues.plan(_due(SHARE, receipt, now))


def end_shares(tx: Transaction, receipts: Sequence[Receipt], *, now: datetime) -> bool:
    """Have the shares of a reservation that is over ended; return whether there are any."""
    found = False
    for receipt in receipts:
        record = share_of(tx, receipt)
        if record is not None and record.stage is not _S.OVER:
            tx.dues.plan(_due(UNSHARE, receipt, now))
            found = True
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharing:
    """Carries out what `plan_share` plans; every step may be repeated."""

    store: Store
    clock: Clock
    sharer: Sharer
    telling: Telling
    pleading: Pleading

    def share(self, due: Due) -> str:
        """Make the share or look at it, until it stands (due kind "share")."""
        receipt, record = self._read(due)
        if record is None or record.stage in (_S.OVER, _S.STANDING):
            return "nothing to share"
        if receipt.state not in HELD or receipt.gone or _end(receipt) <= self.clock.now():
            return "dropped: it is over"
        try:
            share = self.sharer.share(record.order)
        except RefusedError as refused:
            return self._refused(receipt, record, refused)
        seen = record.model_copy(update={"share": share, "tries": record.tries + 1})
        blind = share.zone is None and seen.tries < BLIND_LOOKS
        if share.stands and not blind:
            return self._stands(receipt, seen)
        return self._wait(receipt, seen)

    def unshare(self, due: Due) -> str:
        """End the share of a reservation that is over (due kind "unshare")."""
        _, record = self._read(due)
        if record is None or record.stage is _S.OVER:
            return "nothing is shared"
        self.sharer.unshare(record.order)
        with self.store.transaction() as tx:
            self._keep(tx, record, stage=_S.OVER)
            self._write(tx, record, "share.ended")
        return "no longer shared"

    # --- outcomes --------------------------------------------------------------------------------

    def _stands(self, receipt: Receipt, record: ShareRecord) -> str:
        with self.store.transaction() as tx:
            now = self.clock.now()
            reservation = tx.reservations.get(receipt.reservation_id)
            kept = self._keep(tx, record, stage=_S.STANDING, why="")
            self._write(tx, kept, "share.stands")
            self.telling.note(
                tx, reservation, f"shared:{receipt.id}", words.stands(reservation, kept), now=now
            )
            self.telling.redraw(tx, reservation, now=now)
        return "shared"

    def _wait(self, receipt: Receipt, record: ShareRecord) -> str:
        pause = SOON if record.tries < PATIENT_LOOKS else PAUSES[1]
        with self.store.transaction() as tx:
            kept = self._keep(tx, record, tries=record.tries)
            tx.dues.plan(_due(SHARE, receipt, self.clock.now() + pause))
        return f"not complete yet, look {kept.tries}"

    def _refused(self, receipt: Receipt, record: ShareRecord, refused: RefusedError) -> str:
        """Tell requester, approvers and an administrator once for each reason; try again later."""
        pause = PAUSES[min(record.tries, len(PAUSES) - 1)]
        refusal = words.sort_of(refused)
        with self.store.transaction() as tx:
            now = self.clock.now()
            reservation = tx.reservations.get(receipt.reservation_id)
            kept = self._keep(
                tx,
                record,
                stage=_S.REFUSED,
                tries=record.tries + 1,
                why=f"{refused.code}: {refused.detail}",
            )
            self._write(tx, kept, "share.refused")
            what = f"unshared:{receipt.id}:{refusal}"
            said = words.refused(reservation, kept, refusal, again=now + pause)
            self.telling.note(tx, reservation, what, said, now=now)
            proposal = tx.proposals.current(reservation.id)
            if proposal is not None:
                self.pleading.under_approval(tx, proposal, what, said, now=now)
            administrator = self.telling.configuration.administrators[0]
            if administrator != reservation.owner:
                self.telling.tell(tx, administrator, what, said, now=now)
            tx.dues.plan(_due(SHARE, receipt, now + pause))
        return f"refused: {refused.code}"

    # --- records ---------------------------------------------------------------------------------

    def _read(self, due: Due) -> tuple[Receipt, ShareRecord | None]:
        with self.store.reading() as tx:
            receipt = tx.receipts.get(due.argument)
            return receipt, share_of(tx, receipt)

    def _keep(self, tx: Transaction, record: ShareRecord, **update: object) -> ShareRecord:
        now = self.clock.now()
        kept = record.model_copy(update={**update, "changed_at": now})
        name = share_name(record.order.reservation_id, record.order.capacity_id)
        tx.facts.put(name, kept.model_dump_json(), at=now)
        return kept

    def _write(self, tx: Transaction, record: ShareRecord, action: str) -> None:
        order = record.order
        tx.audit.append(
            AuditEntry(
                at=self.clock.now(),
                actor="gpubot",
                action=action,
                reservation_id=order.reservation_id,
                purchase_id=order.purchase_id,
                facts={
                    "capacity": order.capacity_id,
                    "from": order.account,
                    "to": order.consumer,
                    "share": record.share.id if record.share is not None else "",
                    "why": record.why,
                },
            )
        )


def _end(receipt: Receipt) -> datetime:
    return max(segment.end for segment in receipt.segments)


def _capacity(receipt: Receipt) -> str:
    return receipt.id.partition(EXTENSION_MARK)[0]


def _due(kind: str, receipt: Receipt, at: datetime) -> Due:
    subject = gpu_id(receipt.reservation_id)
    return Due(
        key=f"{kind}:{subject}:{receipt.id}:{utc_text(at)}",
        kind=kind,
        subject=subject,
        at=at,
        argument=receipt.id,
    )
