"""Which reservation prolongs which: an extension is a reservation of its own. Pure but the store.

So it goes through policy, approval and the ledger like any purchase, while what it prolongs goes
on being followed; the end moves only when AWS's own record moves.
"""

from collections.abc import Sequence
from datetime import datetime

from bot.domain.lifecycle import LIVE_RESERVATIONS, ReservationState
from bot.domain.records import Reservation, gpu_id
from bot.ports import Transaction


def link(tx: Transaction, *, child: int, parent: int, now: datetime) -> None:
    """Write down that one reservation prolongs another."""
    tx.facts.put(f"extends:{gpu_id(child)}", str(parent), at=now)
    tx.facts.put(f"extended:{gpu_id(parent)}:{gpu_id(child)}", str(child), at=now)


def parent_of(tx: Transaction, reservation_id: int) -> int | None:
    """Return what the reservation prolongs; None when it is none of the extensions."""
    said = tx.facts.get(f"extends:{gpu_id(reservation_id)}")
    return int(said) if said is not None else None


def children_of(tx: Transaction, reservation_id: int) -> Sequence[int]:
    """Return the reservations that prolong it, oldest first."""
    prefix = f"extended:{gpu_id(reservation_id)}:"
    return sorted(int(value) for value in tx.facts.starting_with(prefix).values())


def open_child(tx: Transaction, reservation_id: int) -> Reservation | None:
    """Return the extension that is asked for and not settled, if there is one."""
    return next(
        (
            child
            for child in (tx.reservations.get(one) for one in children_of(tx, reservation_id))
            if child.state in LIVE_RESERVATIONS - {ReservationState.BLOCKED}
        ),
        None,
    )
