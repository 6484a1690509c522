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
from bot.policy.accounts import account_used_by, elsewhere
from bot.policy.configuration import Configuration
from bot.ports import Clock, Sharer, Store, Transaction
from bot.services.reservations import sharing_words as words
from bot.services.reservations.looking import EXTENSION_MARK, is_extension
from bot.services.words.pleading import Pleading
from bot.services.words.telling import Telling

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

LIVE = frozenset({_S.WANTED, _S.STANDING, _S.REFUSED})
"""Stages of a share that is there, or is to be."""


def share_name(order: ShareOrder) -> str:
    """Return the name of the fact that holds a share's record."""
    return f"share:{gpu_id(order.reservation_id)}:{order.capacity_id}:{order.name}"


def shares_of(tx: Transaction, receipt: Receipt) -> tuple[ShareRecord, ...]:
    """Return the records of all shares of a receipt, those that are over too."""
    capacity = receipt.id.partition(EXTENSION_MARK)[0]
    found = tx.facts.starting_with(f"share:{gpu_id(receipt.reservation_id)}:{capacity}:")
    return tuple(ShareRecord.model_validate_json(found[name]) for name in sorted(found))


def share_of(tx: Transaction, receipt: Receipt) -> ShareRecord | None:
    """Return the receipt's share; None when it is used where it was bought."""
    return next((record for record in shares_of(tx, receipt) if record.stage in LIVE), None)


def there(receipt: Receipt, record: ShareRecord) -> Receipt:
    """Return the receipt as the consumer's account sees it: same reservation, its own zone name."""
    zone = record.share.zone if record.share is not None else None
    return receipt.model_copy(update={"account": record.order.consumer, "zone": zone})


def with_consumers(tx: Transaction, receipts: Sequence[Receipt]) -> tuple[Receipt, ...]:
    """Return the receipts, and those that are or were shared once more in the other account."""
    more = [
        there(receipt, record)
        for receipt in receipts
        for record in shares_of(tx, receipt)
        if record.share is not None
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
    if passage is None or not passage.shareable or share_of(tx, receipt) is not None:
        return
    before = [one for one in shares_of(tx, receipt) if one.order.consumer == passage.user]
    order = ShareOrder(
        capacity_id=receipt.id,
        account=receipt.account,
        region=receipt.region,
        consumer=passage.user,
        purchase_id=receipt.purchase_id,
        reservation_id=reservation.id,
        owner=reservation.owner,
        team=reservation.team,
        turn=len(before) + 1,
    )
    record = ShareRecord(order=order, changed_at=now)
    tx.facts.put(share_name(order), record.model_dump_json(), at=now)
    tx.dues.plan(_due(SHARE, receipt, order, now))


def end_shares(tx: Transaction, receipts: Sequence[Receipt], *, now: datetime) -> bool:
    """Have the shares of receipts ended; return whether there are any."""
    found = False
    for receipt in receipts:
        record = share_of(tx, receipt)
        if record is not None:
            ending = record.model_copy(update={"stage": _S.ENDING, "changed_at": now})
            tx.facts.put(share_name(record.order), ending.model_dump_json(), at=now)
            tx.dues.plan(_due(UNSHARE, receipt, record.order, now))
            found = True
    return found


def follow_owner(
    tx: Transaction, moved: Reservation, configuration: Configuration, *, now: datetime
) -> None:
    """Have what another team owns now shared with that team's account, and no longer the old."""
    user = account_used_by(moved.team, configuration)
    for receipt in tx.receipts.of(moved.id):
        record = share_of(tx, receipt)
        if record is not None and (user is None or user.name != record.order.consumer):
            end_shares(tx, [receipt], now=now)
        plan_share(tx, moved, receipt, configuration, now=now)


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
        if record is None or record.stage not in (_S.WANTED, _S.REFUSED):
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
        if record is None or record.stage is not _S.ENDING:
            return "nothing to end"
        self.sharer.unshare(record.order)
        with self.store.transaction() as tx:
            self._keep(tx, record, stage=_S.OVER)
            self._write(tx, record, "share.ended")
        return "no longer shared"

    # --- outcomes --------------------------------------------------------------------------------

    def _stands(self, receipt: Receipt, record: ShareRecord) -> str:
        with self.store.transaction() as tx:
            if self._unwanted(tx, receipt, record):
                return "no longer wanted"
            now = self.clock.now()
            reservation = tx.reservations.get(receipt.reservation_id)
            kept = self._keep(tx, record, stage=_S.STANDING, why="")
            self._write(tx, kept, "share.stands")
            said = words.stands(reservation, kept)
            self.telling.note(tx, reservation, f"shared:{kept.order.name}", said, now=now)
            self.telling.redraw(tx, reservation, now=now)
        return "shared"

    def _wait(self, receipt: Receipt, record: ShareRecord) -> str:
        pause = SOON if record.tries < PATIENT_LOOKS else PAUSES[1]
        with self.store.transaction() as tx:
            if self._unwanted(tx, receipt, record):
                return "no longer wanted"
            kept = self._keep(tx, record)
            tx.dues.plan(_due(SHARE, receipt, record.order, self.clock.now() + pause))
        return f"not complete yet, look {kept.tries}"

    def _refused(self, receipt: Receipt, record: ShareRecord, refused: RefusedError) -> str:
        """Tell requester, approvers and an administrator once for each reason; try again later."""
        pause = PAUSES[min(record.tries, len(PAUSES) - 1)]
        why = f"{refused.code}: {refused.detail}"
        with self.store.transaction() as tx:
            if self._unwanted(tx, receipt, record):
                return "no longer wanted"
            again = self.clock.now() + pause
            kept = self._keep(tx, record, stage=_S.REFUSED, tries=record.tries + 1, why=why)
            self._write(tx, kept, "share.refused")
            self._tell_refusal(tx, kept, words.sort_of(refused), again)
            tx.dues.plan(_due(SHARE, receipt, record.order, again))
        return f"refused: {refused.code}"

    def _tell_refusal(
        self, tx: Transaction, record: ShareRecord, refusal: words.ShareRefusal, again: datetime
    ) -> None:
        now = self.clock.now()
        reservation = tx.reservations.get(record.order.reservation_id)
        what = f"unshared:{record.order.name}:{refusal}"
        said = words.refused(reservation, record, refusal, again=again)
        self.telling.note(tx, reservation, what, said, now=now)
        proposal = tx.proposals.current(reservation.id)
        if proposal is not None:
            self.pleading.under_approval(tx, proposal, what, said, now=now)
        administrator = self.telling.configuration.administrators[0]
        if administrator != reservation.owner:
            self.telling.tell(tx, administrator, what, said, now=now)

    def _unwanted(self, tx: Transaction, receipt: Receipt, record: ShareRecord) -> bool:
        """Return whether it was to be ended while AWS was asked; then that is done once more."""
        stored = tx.facts.get(share_name(record.order))
        stage = ShareRecord.model_validate_json(stored).stage if stored else None
        if stage in (_S.WANTED, _S.REFUSED):
            return False
        if stage in (_S.ENDING, _S.OVER):
            self._keep(tx, record, stage=_S.ENDING)
            tx.dues.plan(_due(UNSHARE, receipt, record.order, self.clock.now() + SOON))
        return True

    # --- records ---------------------------------------------------------------------------------

    def _read(self, due: Due) -> tuple[Receipt, ShareRecord | None]:
        receipt_id, name = due.argument.split("|")
        with self.store.reading() as tx:
            receipt = tx.receipts.get(receipt_id)
            known = {record.order.name: record for record in shares_of(tx, receipt)}
            return receipt, known.get(name)

    def _keep(self, tx: Transaction, record: ShareRecord, **update: object) -> ShareRecord:
        now = self.clock.now()
        kept = record.model_copy(update={**update, "changed_at": now})
        tx.facts.put(share_name(record.order), kept.model_dump_json(), at=now)
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


def _due(kind: str, receipt: Receipt, order: ShareOrder, at: datetime) -> Due:
    subject = gpu_id(receipt.reservation_id)
    return Due(
        key=f"{kind}:{subject}:{order.name}:{utc_text(at)}",
        kind=kind,
        subject=subject,
        at=at,
        argument=f"{receipt.id}|{order.name}",
    )
