"""Clean-up that proves itself: finds what is left, removes what may be, looks until it is gone.

Only what the bot made is removed on one person's word. What people started with its launch kit
needs a confirmation of its own and an approver's; what carries no tag of ours is only reported.
"Gone" is said when AWS shows it gone, and a book that could not be read proves nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.cleanup import CleanItem, CleanUp, ItemStage, Maker
from bot.domain.errors import PurchaseError, UserError
from bot.domain.records import AuditEntry, Due, Reservation, gpu_id
from bot.domain.using import LeftoverKind
from bot.domain.values import utc_text
from bot.policy.configuration import Configuration
from bot.policy.permitting import (
    check_concerned,
    check_fit,
    may_approve,
    may_not_decide,
)
from bot.ports import Bell, Clock, Leftovers, Store, Transaction
from bot.services.endings import cleanup_words as words
from bot.services.endings.cleanup_records import (
    Own,
    cleanup_name,
    explained,
    facts,
    item_of,
    leaving,
    merged,
    record_of_cleanup,
    with_item,
)
from bot.services.reservations.sharing import with_consumers
from bot.services.running.endpoint_stages import record_of
from bot.services.running.endpoints import EndpointKeeping
from bot.services.verifying import Verifying
from bot.services.words.announcing import ask_approvers, redraw

STEP = "clean"
SOON = timedelta(minutes=1)
LATER = timedelta(minutes=10)
PATIENT_LOOKS = 10
MOST_LOOKS = 150
"""About a day of looking; then a person presses "Look again"."""
_I = ItemStage

_ORDER = (
    LeftoverKind.FLEET,
    LeftoverKind.INSTANCE,
    LeftoverKind.SPOT_REQUEST,
    LeftoverKind.RESERVATION,
    LeftoverKind.SHARE,
    LeftoverKind.ENDPOINT,
    LeftoverKind.CONFIGURATION,
    LeftoverKind.VOLUME,
)
"""A fleet would replace its machines; a volume is in use while its machine lives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaning:
    """Keeps one clean-up for each reservation, on one living note."""

    store: Store
    clock: Clock
    leftovers: Leftovers
    endpoints: EndpointKeeping
    verifying: Verifying
    configuration: Configuration
    bell: Bell

    # --- what people ask for -------------------------------------------------------------------

    def look(self, reservation_id: int, *, by: str) -> str:
        """Look now and draw the note; return a sentence. Raises NotAllowedError, UserError."""
        with self.store.reading() as tx:
            check_concerned(tx.reservations.get(reservation_id), by, self.configuration)
        record = self._survey(reservation_id, fresh=True)
        if record is None:
            raise UserError(f"Nothing was ever bought for {gpu_id(reservation_id)}.")
        self.bell.ring()
        if record.proved:
            return f"AWS shows nothing left of {gpu_id(reservation_id)}."
        name = gpu_id(reservation_id)
        return f"{len(record.open)} left of {name}; the note under its card has buttons."

    def remove(self, reservation_id: int, key: str, *, by: str) -> str:
        """Have one thing removed, or ask an approver first where the bot did not make it.

        Raises NotAllowedError, UserError when it may not be removed or is not there any more.
        """
        check_fit(self.verifying.standing(by))
        now = self.clock.now()
        with self.store.transaction() as tx:
            reservation = tx.reservations.get(reservation_id)
            check_concerned(reservation, by, self.configuration)
            record, item = item_of(tx, reservation_id, key)
            if item.stage is _I.REMOVING:
                return f"{item.leftover.id} is being removed already."
            if item.maker is Maker.UNKNOWN:
                raise UserError(
                    f"{item.leftover.id} carries no tag of mine, so I don't touch it. Whoever made"
                    " it can remove it."
                )
            if item.maker is Maker.KIT:
                asked = item.model_copy(update={"stage": _I.ASKED, "asked_by": by, "detail": ""})
                self._ask(tx, reservation, asked, now)
                said = f"An approver is asked about {item.leftover.id}."
            else:
                asked = item.model_copy(update={"stage": _I.REMOVING, "asked_by": by, "detail": ""})
                self._begin(tx, reservation, asked, now)
                said = f"I remove {item.leftover.id} and look until AWS shows it gone."
            self._keep(tx, reservation, with_item(record, asked), now)
        self.bell.ring()
        return said

    def remove_all(self, reservation_id: int, *, by: str) -> str:
        """Have everything removed that the bot made itself. Raises NotAllowedError, UserError."""
        check_fit(self.verifying.standing(by))
        now = self.clock.now()
        with self.store.transaction() as tx:
            reservation = tx.reservations.get(reservation_id)
            check_concerned(reservation, by, self.configuration)
            record = record_of_cleanup(tx, reservation_id)
            mine = [
                item
                for item in (record.open if record else ())
                if item.maker is Maker.BOT and item.stage is _I.FOUND
            ]
            if record is None or not mine:
                raise UserError(f"I made nothing of what is left of {gpu_id(reservation_id)}.")
            for item in mine:
                asked = item.model_copy(update={"stage": _I.REMOVING, "asked_by": by, "detail": ""})
                record = with_item(record, asked)
                self._begin(tx, reservation, asked, now)
            self._keep(tx, reservation, record, now)
        self.bell.ring()
        return f"I remove {len(mine)} things and look until AWS shows them gone."

    def agree(self, reservation_id: int, key: str, *, by: str) -> str:
        """Take an approver's word for a thing that the bot did not make. Raises NotAllowedError."""
        with self.store.reading() as tx:
            reservation = tx.reservations.get(reservation_id)
            approvers = self._approvers(tx, reservation_id)
        standing = self.verifying.standing(by, approvers)
        now = self.clock.now()
        with self.store.transaction() as tx:
            record, item = item_of(tx, reservation_id, key)
            if item.stage is not _I.ASKED:
                raise UserError(f"{item.leftover.id} waits for nobody's word any more.")
            obstacle = may_approve(
                standing,
                approvers=approvers,
                requester=item.asked_by or reservation.requester,
                owner=reservation.owner,
            )
            if obstacle is not None:
                raise may_not_decide(obstacle)
            agreed = item.model_copy(update={"stage": _I.REMOVING, "agreed_by": by})
            self._begin(tx, reservation, agreed, now)
            self._keep(tx, reservation, with_item(record, agreed), now)
        self.bell.ring()
        return f"Agreed: I remove {item.leftover.id}."

    # --- due steps -----------------------------------------------------------------------------

    def survey(self, due: Due) -> str:
        """Look at what is left once a reservation has ended (due kind "survey")."""
        record = self._survey(int(due.argument), fresh=False)
        if record is None:
            return "nothing was bought"
        return "nothing is left" if record.proved else f"{len(record.open)} left"

    def clean(self, due: Due) -> str:
        """Send what is to be removed, then look whether it is gone (due kind "clean")."""
        reservation_id = int(due.argument)
        with self.store.reading() as tx:
            record = record_of_cleanup(tx, reservation_id)
        if record is None:
            return "nothing to do"
        refused: dict[str, str] = {}
        for item in _in_order(record.open):
            if item.stage is _I.REMOVING and not self._is_kept_elsewhere(item, reservation_id):
                try:
                    self.leftovers.remove(item.leftover)
                except PurchaseError as error:
                    refused[item.leftover.key] = error.detail or error.code
        after = self._survey(reservation_id, fresh=False, refused=refused)
        if after is None:
            return "nothing was bought"
        return "all of it is gone" if after.proved else f"{len(after.open)} left"

    def _is_kept_elsewhere(self, item: CleanItem, reservation_id: int) -> bool:
        """Return whether the endpoint keeper deletes it, configuration included."""
        with self.store.reading() as tx:
            record = record_of(tx, reservation_id)
        return (
            record is not None
            and item.leftover.kind in (LeftoverKind.ENDPOINT, LeftoverKind.CONFIGURATION)
            and item.leftover.id == record.order.name
        )

    # --- looking -------------------------------------------------------------------------------

    def _survey(
        self, reservation_id: int, *, fresh: bool, refused: Mapping[str, str] | None = None
    ) -> CleanUp | None:
        """Read AWS's books and take them over; None when nothing was ever bought."""
        with self.store.reading() as tx:
            receipts = with_consumers(tx, tx.receipts.of(reservation_id))
        if not receipts:
            return None
        found = self.leftovers.find(receipts)
        now = self.clock.now()
        with self.store.transaction() as tx:
            reservation = tx.reservations.get(reservation_id)
            before = record_of_cleanup(tx, reservation_id)
            own = Own.of(tx, reservation_id, receipts)
            record = merged(before, found, own=own, reservation_id=reservation_id, now=now)
            record = explained(record, refused or {})
            looks = 0 if fresh or before is None else before.looks + 1
            record = record.model_copy(update={"looks": looks})
            self._audit_gone(tx, reservation, before, record, now)
            self._keep(tx, reservation, record, now)
            self._look_again(tx, record, now)
        return record

    def _look_again(self, tx: Transaction, record: CleanUp, now: datetime) -> None:
        """Plan the next look while something is being removed or a book was not read."""
        working = any(leaving(item) for item in record.open)
        if not (working or record.not_read) or record.looks >= MOST_LOOKS:
            return
        pause = SOON if working and record.looks < PATIENT_LOOKS else LATER
        self._plan(tx, record.reservation_id, now + pause)

    def _plan(self, tx: Transaction, reservation_id: int, at: datetime) -> None:
        subject = gpu_id(reservation_id)
        tx.dues.plan(
            Due(
                key=f"{STEP}:{subject}:{utc_text(at)}",
                kind=STEP,
                subject=subject,
                at=at,
                argument=str(reservation_id),
            )
        )

    # --- records -------------------------------------------------------------------------------

    def _keep(
        self, tx: Transaction, reservation: Reservation, record: CleanUp, now: datetime
    ) -> None:
        tx.facts.put(cleanup_name(reservation.id), record.model_dump_json(), at=now)
        redraw(
            tx,
            reservation,
            self.configuration,
            "cleanup",
            words.sections(record),
            now=now,
            presses=words.presses(record),
        )

    def _begin(
        self, tx: Transaction, reservation: Reservation, item: CleanItem, now: datetime
    ) -> None:
        """Write down who wants it gone, and have it removed."""
        tx.audit.append(
            AuditEntry(
                at=now,
                actor=item.agreed_by or item.asked_by or "gpubot",
                action="leftover.remove",
                reservation_id=reservation.id,
                purchase_id=item.leftover.purchase,
                facts=facts(item),
            )
        )
        mine = record_of(tx, reservation.id)
        if mine is not None and item.leftover.id == mine.order.name:
            self.endpoints.begin_deletion(
                tx, mine, now, actor=item.agreed_by or item.asked_by or "gpubot"
            )
        self._plan(tx, reservation.id, now)

    def _ask(
        self, tx: Transaction, reservation: Reservation, item: CleanItem, now: datetime
    ) -> None:
        ask_approvers(
            tx,
            reservation,
            self.configuration,
            f"clean:{item.leftover.key}:{utc_text(now)}",
            words.asking(item, reservation.id),
            now=now,
            presses=(words.agree_press(item, reservation.id),),
        )
        tx.audit.append(
            AuditEntry(
                at=now,
                actor=item.asked_by or "gpubot",
                action="leftover.asked",
                reservation_id=reservation.id,
                purchase_id=item.leftover.purchase,
                facts=facts(item),
            )
        )

    def _audit_gone(
        self,
        tx: Transaction,
        reservation: Reservation,
        before: CleanUp | None,
        after: CleanUp,
        now: datetime,
    ) -> None:
        """Keep the receipt: what was seen gone, when, and what it had cost a day."""
        gone = {item.leftover.key for item in (before.items if before else ())}
        gone -= {item.leftover.key for item in (before.open if before else ())}
        for item in after.items:
            if item.stage is _I.GONE and item.leftover.key not in gone:
                tx.audit.append(
                    AuditEntry(
                        at=now,
                        actor="aws",
                        action="leftover.gone",
                        reservation_id=reservation.id,
                        purchase_id=item.leftover.purchase,
                        facts=facts(item),
                    )
                )
        if after.proved and (before is None or not before.proved):
            tx.audit.append(
                AuditEntry(
                    at=now,
                    actor="aws",
                    action="leftover.none",
                    reservation_id=reservation.id,
                    facts={"seen_at": utc_text(now), "things": str(len(after.items))},
                )
            )

    # --- who may -------------------------------------------------------------------------------

    def _approvers(self, tx: Transaction, reservation_id: int) -> tuple[str, ...]:
        proposal = tx.proposals.current(reservation_id)
        named = proposal.approvers if proposal is not None else ()
        return (*named, *self.configuration.administrators)


def _in_order(items: Iterable[CleanItem]) -> list[CleanItem]:
    return sorted(items, key=lambda item: _ORDER.index(item.leftover.kind))
