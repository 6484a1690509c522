"""Extensions that were approved ahead: permitted, used by themselves, and stopped.

Some hours before the last useful minute a reservation is extended by a day, through the same
proposal, ledger and purchase as by a press. The owner and who allowed it hear of it before and
after. Whatever speaks against it is read again in the transactions that file and that commit.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from bot.domain.errors import NotAllowedError, UserError
from bot.domain.lifecycle import ReservationState
from bot.domain.records import Due, Proposal, Reservation, Switch, gpu_id
from bot.domain.saying import Mention, Moment, Press, Sentence, Strong
from bot.domain.values import dollars, money_text, utc_text
from bot.policy.configuration import Configuration
from bot.policy.permitting import Obstacle, check_concerned, may_not_decide
from bot.policy.tiers import tier_for
from bot.ports import Bell, Clock, Store, Transaction
from bot.services.endings.extending import Extending
from bot.services.endings.releasing import offer_of
from bot.services.reservations.ending_as_planned import is_meant_to_end
from bot.services.reservations.permissions import (
    STEP_HOURS,
    Permission,
    drop_permission,
    keep_permission,
    left_of,
    let_end_press,
    only_part,
    permission_of,
    permit_press,
    plan_prolonging,
    prolong_due,
    prolonged_name,
    stop_press,
)
from bot.services.reservations.tendering import BUY_BEFORE_END, Tender, Tendering
from bot.services.words.announcing import ask_approvers
from bot.services.words.auditing import write_audit
from bot.services.words.telling import Telling
from bot.services.words.views import switch_of

AGAIN = timedelta(minutes=30)
"""Before AWS or Slack is asked once more, when one of them did not answer."""
WEEK_DAYS = 7
LIVE = frozenset({ReservationState.ACTIVE, ReservationState.SCHEDULED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Prolonging:
    """Keeps permissions and uses them."""

    store: Store
    clock: Clock
    extending: Extending
    tendering: Tendering
    telling: Telling
    configuration: Configuration
    bell: Bell

    def ask(self, reservation_id: int, *, by: str) -> tuple[Sentence, ...]:
        """Ask the approvers to allow a reservation's extensions ahead; nothing is bought by it.

        Raises NotAllowedError for strangers, UserError when nothing can be prolonged.
        """
        with self.store.reading() as tx:
            parent = tx.reservations.get(reservation_id)
            alone = only_part(tx.receipts.of(reservation_id)) is not None
        check_concerned(parent, by, self.configuration)
        if not alone:
            raise UserError(
                f"{gpu_id(reservation_id)} is not one block or plan, so it can't be extended by"
                " itself.",
                hint=f"status {gpu_id(reservation_id)}",
            )
        tender = self.tendering.tender(reservation_id, hours=STEP_HOURS)
        if tender.fee is None or tender.leg is None:
            raise UserError(tender.why or "There is nothing that could be prolonged.")
        sums = [tender.fee * 2, tender.fee * WEEK_DAYS]
        name, now = gpu_id(reservation_id), self.clock.now()
        words: Sentence = (
            Mention(id=by, ping=False),
            " asks that ",
            Strong(text=name),
            (
                f" may be extended by itself, a day at a time, which costs {tender.price} now."
                " It is bought some hours before each end, never above the sum, until somebody"
                " stops it."
            ),
        )
        with self.store.transaction() as tx:
            end = utc_text(tender.leg.segments[0].start)
            new = ask_approvers(
                tx,
                parent,
                self.configuration,
                f"ahead-{end}",
                (words,),
                now=now,
                presses=tuple(permit_press(reservation_id, amount) for amount in sums),
            )
        self.bell.ring()
        if not new:
            return ((f"The approvers were asked already whether {name} may be extended.",),)
        return ((f"I asked the approvers whether {name} may be extended by itself.",),)

    def permit(self, reservation_id: int, *, up_to_usd: Decimal, by: str) -> Permission:
        """Approve extensions of a reservation ahead, up to that sum; return the permission.

        Raises NotAllowedError unless this person may approve the whole sum at once.
        """
        tier = tier_for(up_to_usd, self.configuration)
        with self.store.reading() as tx:
            parent = tx.reservations.get(reservation_id)
        obstacle = self.extending.obstacle(by, parent, up_to_usd)
        if obstacle is not None:
            raise may_not_decide(obstacle)
        if tier is not None and tier.needed > 1:
            raise NotAllowedError(
                f"{dollars(up_to_usd)} needs {tier.needed} people, so it can't be allowed ahead."
            )
        now = self.clock.now()
        permission = Permission(up_to=up_to_usd, by=by, at=now)
        with self.store.transaction() as tx:
            parent = tx.reservations.get(reservation_id)
            receipt = only_part(tx.receipts.of(reservation_id))
            keep_permission(tx, reservation_id, permission, now=now)
            write_audit(tx, parent, by, "extension.permitted", now, up_to=money_text(up_to_usd))
            at = None
            if receipt is not None:
                at = plan_prolonging(tx, parent, receipt, now=now, anew=True)
            self.telling.note(
                tx,
                parent,
                f"permitted:{utc_text(now)}",
                (_permitted_words(parent, permission, at, alone=receipt is not None),),
                now=now,
                presses=(let_end_press(reservation_id), stop_press(reservation_id)),
            )
        self.bell.ring()
        return permission

    def revoke(self, reservation_id: int, *, by: str) -> tuple[Sentence, ...]:
        """End the permission; nothing more is extended by itself.

        Raises NotAllowedError for strangers, UserError when there is none.
        """
        now, name = self.clock.now(), gpu_id(reservation_id)
        with self.store.transaction() as tx:
            parent = tx.reservations.get(reservation_id)
            permission = permission_of(tx, reservation_id)
            if permission is None or by != permission.by:
                check_concerned(parent, by, self.configuration)
            if permission is None:
                raise UserError(f"{name} is not extended by itself.", hint=f"status {name}")
            drop_permission(tx, reservation_id)
            write_audit(tx, parent, by, "extension.permission_ended", now)
            running = self.extending.recall(tx, parent, by=by, now=now)
            words: Sentence = (
                Strong(text=name),
                " is no longer extended by itself: ",
                Mention(id=by, ping=False),
                " stopped it.",
            )
            for who in dict.fromkeys((parent.owner, permission.by)):
                if who != by:
                    self.telling.tell(
                        tx, who, f"unpermitted:{name}:{utc_text(now)}", (words,), now=now
                    )
        self.bell.ring()
        what = "It ends as planned." if running is None else being_bought(running.id)
        return ((f"{name} is no longer extended by itself. {what}",),)

    def prolong(self, due: Due) -> str:
        """Extend by a day under the permission if nothing speaks against it (due "prolong")."""
        number_text, receipt_id, end, attempt = due.argument.split("|")
        number, this = int(number_text), f"{receipt_id}:{end}"
        with self.store.reading() as tx:
            parent = tx.reservations.get(number)
            permission = permission_of(tx, number)
            dropped = self._dropped(tx, parent, receipt_id, end)
        if dropped is not None or permission is None:
            return f"dropped: {dropped}"
        tender = self.tendering.tender(number, hours=STEP_HOURS)
        obstacle = self.extending.obstacle(permission.by, parent, permission.up_to)
        if tender.fee is None or obstacle is Obstacle.UNVERIFIED:
            why = tender.why or "Slack could not confirm who allowed it."
            again = tender.possible and self._again(number, receipt_id, int(attempt))
            return self._refuse(parent, permission, this, attempt, why, again=again)
        if obstacle is not None:
            why = "Who allowed it may not allow it any more."
            return self._refuse(parent, permission, this, attempt, why)

        def against(tx: Transaction) -> str | None:
            now_by = permission_of(tx, number)
            if now_by is not None and now_by.by != permission.by:
                return "Somebody else allowed it meanwhile."
            return self._against(tx, number, receipt_id, end, tender)

        once = prolonged_name(number, receipt_id, end)
        try:
            proposal = self.extending.by_itself(
                parent, tender, once=once, allowed_by=permission.by, unless=against
            )
        except UserError as error:
            return self._refuse(parent, permission, this, attempt, error.message)
        if proposal is None:
            return "dropped: it came to nothing before this end already"
        self._tell_done(parent, permission, proposal, end)
        return f"extended by {gpu_id(proposal.reservation_id)}"

    def _dropped(
        self, tx: Transaction, parent: Reservation, receipt_id: str, end: str
    ) -> str | None:
        """Return why nothing is to be done and nothing to be said; None when it goes on."""
        receipt = tx.receipts.get(receipt_id)
        reasons = {
            "the permission has ended": permission_of(tx, parent.id) is None,
            "it is over": parent.state not in LIVE or receipt.gone,
            "its end has moved": utc_text(max(part.end for part in receipt.segments)) != end,
            "it is meant to end": is_meant_to_end(tx, parent, receipt),
            "it has several parts": only_part(tx.receipts.of(parent.id)) is None,
            "it is offered to others": offer_of(tx, parent.id) is not None,
        }
        return next((why for why, holds in reasons.items() if holds), None)

    def _against(
        self, tx: Transaction, number: int, receipt_id: str, end: str, tender: Tender
    ) -> str | None:
        """Return what speaks against spending by itself in this very transaction."""
        parent = tx.reservations.get(number)
        permission = permission_of(tx, number)
        dropped = self._dropped(tx, parent, receipt_id, end)
        if dropped is not None or permission is None:
            return f"It stays as it is: {dropped}."
        if permission.by in (parent.owner, parent.requester):
            return "Who allowed it owns it now, and nobody approves for themselves."
        if switch_of(tx, self.configuration) is Switch.OFF:
            return "Purchasing is stopped."
        left = left_of(tx, number, permission)
        if tender.fee is None or tender.fee > left:
            return (
                f"A day costs {tender.price}, and {dollars(max(left, Decimal(0)))} is left of the"
                f" {dollars(permission.up_to)} that was allowed."
            )
        return None

    def _again(self, number: int, receipt_id: str, attempt: int) -> bool:
        """Have it tried once more a little later, as long as AWS sells extensions then."""
        at = self.clock.now() + AGAIN
        with self.store.transaction() as tx:
            receipt = tx.receipts.get(receipt_id)
            segment = max(receipt.segments, key=lambda part: part.end)
            if at >= segment.end - BUY_BEFORE_END:
                return False
            return tx.dues.plan(prolong_due(number, receipt, segment, at=at, attempt=attempt + 1))

    def _refuse(
        self,
        parent: Reservation,
        permission: Permission,
        this: str,
        attempt: str,
        why: str,
        *,
        again: bool = False,
    ) -> str:
        """Say at once, with what can still be done, that it was not extended by itself.

        While it is tried again that is said once for this end; the last word always comes.
        """
        now, name = self.clock.now(), gpu_id(parent.id)
        more = " I try once more in half an hour." if again else ""
        words: Sentence = (Strong(text=name), f" was not extended by itself: {why}{more}")
        number = str(parent.id)
        presses = (
            Press(
                action="gpu.extend",
                label="Extend by 1 day",
                argument=f"{number}|{STEP_HOURS}",
                style="primary",
            ),
            Press(action="gpu.cleanup", label="Clean up", argument=number),
            let_end_press(parent.id),
        )
        with self.store.transaction() as tx:
            what = f"not-prolonged:{this}" if again else f"not-prolonged:{this}:{attempt}"
            self.telling.note(tx, parent, what, (words,), now=now, presses=presses)
            self.telling.tell(tx, permission.by, f"{what}:{name}", (words,), now=now)
            write_audit(tx, parent, "clock", "extension.not_prolonged", now, why=why)
        self.bell.ring()
        return f"not extended: {why}"

    def _tell_done(
        self, parent: Reservation, permission: Permission, proposal: Proposal, end: str
    ) -> None:
        now, name = self.clock.now(), gpu_id(parent.id)
        with self.store.transaction() as tx:
            left = left_of(tx, parent.id, permission)
            words: Sentence = (
                Strong(text=name),
                (f" is being extended by 1 day for {dollars(proposal.ceiling)}, as allowed by "),
                Mention(id=permission.by, ping=False),
                (
                    f"; {dollars(left)} of {dollars(permission.up_to)} is left. It is not certain"
                    " until AWS shows the new end; I say so then."
                ),
            )
            presses = (stop_press(parent.id),)
            what = f"prolonged:{end}"
            self.telling.note(tx, parent, what, (words,), now=now, presses=presses)
            self.telling.tell(
                tx, permission.by, f"{what}:{name}", (words,), now=now, presses=presses
            )
        self.bell.ring()


def being_bought(extension_id: int) -> str:
    """Return the words for one who stops what is paid for, or may be."""
    return (
        f"But {gpu_id(extension_id)} is being bought already, and AWS takes nothing back: it is"
        " one day longer then."
    )


def _permitted_words(
    parent: Reservation, permission: Permission, at: datetime | None, *, alone: bool
) -> Sentence:
    head: Sentence = (
        Mention(id=permission.by, ping=False),
        " allowed ",
        Strong(text=gpu_id(parent.id)),
        (
            f" to be extended by itself, a day at a time, up to {dollars(permission.up_to)} in all,"
            " extensions bought before included. "
        ),
    )
    if not alone:
        return (*head, "It has several parts, so each is extended by a press on its card.")
    if at is None:
        return (*head, "Its present end is too near for that; press Extend on its card.")
    return (
        *head,
        "Unless somebody presses Let it end, the first day is bought ",
        Moment(at=at),
        ".",
    )
