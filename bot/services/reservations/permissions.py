"""Extensions allowed ahead: up to which sum, by whom, and what is left. Pure but the store."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from decimal import Decimal

from bot.domain.base import Model
from bot.domain.ending import usable
from bot.domain.lifecycle import ReservationState
from bot.domain.market import Segment
from bot.domain.records import Due, Receipt, Reservation, gpu_id
from bot.domain.saying import Press
from bot.domain.values import Instant, Usd, dollars, money_text, utc_text
from bot.ports import Transaction
from bot.services.reservations.extensions import children_of
from bot.services.reservations.looking import lost_of
from bot.services.reservations.tendering import PREPAID

PROLONG = "prolong"
PROLONG_BEFORE = timedelta(hours=6, minutes=5)
"""How long before the last usable minute it is extended by itself: just before the reminder of
six hours, which then knows what came of it, and hours before AWS stops selling extensions."""
NOTICE = timedelta(minutes=30)
TOO_LATE = timedelta(minutes=70)
"""Before the end: AWS sells until one hour before it, and the purchase needs its minutes."""
STEP_HOURS = 24
"""It is extended by a day at a time, the least that AWS sells."""

_S = ReservationState
VOID = frozenset({_S.DECLINED, _S.EXPIRED, _S.CANCELLED, _S.FAILED, _S.SHADOWED, _S.BLOCKED})
"""States of an extension in which it has cost nothing."""


class Permission(Model):
    """Extensions of one reservation that were approved ahead, up to a sum of their prices."""

    up_to: Usd
    by: str
    at: Instant


def permission_of(tx: Transaction, reservation_id: int) -> Permission | None:
    """Return the permission that is in force for a reservation."""
    said = tx.facts.get(_name(reservation_id))
    return Permission.model_validate_json(said) if said else None


def keep_permission(
    tx: Transaction, reservation_id: int, permission: Permission, *, now: datetime
) -> None:
    """Put a permission in force, in place of an earlier one."""
    tx.facts.put(_name(reservation_id), permission.model_dump_json(), at=now)


def drop_permission(tx: Transaction, reservation_id: int) -> None:
    """End the permission; nothing is extended by itself after this commit."""
    tx.facts.drop(_name(reservation_id))


def spent_on_extensions(tx: Transaction, reservation_id: int, *, apart: int = 0) -> Decimal:
    """Return what the reservation's extensions cost that were bought or are asked for."""
    total = Decimal(0)
    for number in children_of(tx, reservation_id):
        proposal = tx.proposals.current(number)
        if number == apart or proposal is None:
            continue
        if tx.reservations.get(number).state not in VOID:
            total += proposal.ceiling
    return total


def left_of(tx: Transaction, reservation_id: int, permission: Permission) -> Decimal:
    """Return what may still be spent under the permission; every extension counts."""
    return permission.up_to - spent_on_extensions(tx, reservation_id)


def prolong_due(
    reservation_id: int, receipt: Receipt, segment: Segment, *, at: datetime, attempt: int = 1
) -> Due:
    """Return the due row that extends a reservation by itself before that very end, once."""
    subject, end = gpu_id(reservation_id), utc_text(segment.end)
    last = usable(segment, lost_of(receipt))[1]
    return Due(
        key=f"{PROLONG}:{subject}:{receipt.id}:{end}:{attempt}",
        kind=PROLONG,
        subject=subject,
        at=at,
        argument=f"{reservation_id}|{receipt.id}|{end}|{attempt}",
        stale_after=last,
    )


def prolong_at(receipt: Receipt) -> datetime:
    """Return when it is extended by itself: before the last usable minute of all its parts."""
    return usable(_last(receipt), lost_of(receipt))[1] - PROLONG_BEFORE


def only_part(receipts: Iterable[Receipt]) -> Receipt | None:
    """Return the prepaid capacity that can be extended by itself; None for none or for several.

    AWS extends each part of a join on its own, so that one day more of one of them helps nobody.
    """
    parts = [one for one in receipts if one.kind in PREPAID and not one.gone and one.segments]
    return parts[0] if len(parts) == 1 else None


def plan_prolonging(
    tx: Transaction,
    reservation: Reservation,
    receipt: Receipt,
    *,
    now: datetime,
    anew: bool = False,
) -> datetime | None:
    """Plan the extension before the receipt's present end; return when, None if it is too late.

    Nobody is surprised: from the permission on there is at least half an hour to stop it. A new
    permission tries `anew` what came to nothing before this end.
    """
    at = max(prolong_at(receipt), now + NOTICE)
    segment = _last(receipt)
    if at >= segment.end - TOO_LATE:
        return None
    attempt = 1
    if anew:
        tx.dues.withdraw(gpu_id(reservation.id), kinds=(PROLONG,))
    while not tx.dues.plan(prolong_due(reservation.id, receipt, segment, at=at, attempt=attempt)):
        if not anew:
            break
        attempt += 1
    return at


def permit_press(reservation_id: int, amount: Decimal) -> Press:
    """Return the button that allows extensions ahead up to a sum."""
    return Press(
        action="gpu.permit",
        label=f"Allow up to {dollars(amount)}",
        argument=f"{reservation_id}|{money_text(amount)}",
        confirm=(
            "It is then extended by a day some hours before each end without asking, up to this"
            " sum in all, until somebody stops it."
        ),
    )


def let_end_press(reservation_id: int) -> Press:
    """Return the button that lets the present end come."""
    return Press(action="gpu.nothing", label="Let it end", argument=str(reservation_id))


def stop_press(reservation_id: int) -> Press:
    """Return the button that ends the permission."""
    return Press(
        action="gpu.permit.end", label="Stop extending by itself", argument=str(reservation_id)
    )


def ask_press(reservation_id: int) -> Press:
    """Return the button that asks the approvers for a permission."""
    return Press(
        action="gpu.permit.ask", label="Ask to extend by itself", argument=str(reservation_id)
    )


def _last(receipt: Receipt) -> Segment:
    return max(receipt.segments, key=lambda part: part.end)


def prolonged_name(reservation_id: int, receipt_id: str, end: str) -> str:
    """Return the name of the fact that it was extended by itself before that end: the number."""
    return f"prolonged:{gpu_id(reservation_id)}:{receipt_id}:{end}"


def prolonged_as(tx: Transaction, reservation_id: int, child: int) -> str | None:
    """Return under which name an extension was filed by itself; None for a person's press."""
    mine = tx.facts.starting_with(f"prolonged:{gpu_id(reservation_id)}:")
    return next((name for name, value in mine.items() if value == str(child)), None)


def _name(reservation_id: int) -> str:
    return f"extensions-allowed:{gpu_id(reservation_id)}"
