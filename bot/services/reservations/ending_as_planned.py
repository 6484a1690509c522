"""That a reservation is meant to end when it does now: said by a person, kept for that very end."""

from datetime import datetime

from bot.domain.records import Receipt, Reservation, gpu_id
from bot.domain.values import utc_text
from bot.ports import Transaction


def let_end(tx: Transaction, reservation: Reservation, *, now: datetime) -> None:
    """Keep that the ends planned now are wanted; a later end is a new question."""
    ends = [
        f"{receipt.id}={utc_text(max(part.end for part in receipt.segments))}"
        for receipt in tx.receipts.of(reservation.id)
        if receipt.segments
    ]
    tx.facts.put(_name(reservation.id), " ".join(ends), at=now)


def is_meant_to_end(tx: Transaction, reservation: Reservation, receipt: Receipt) -> bool:
    """Return whether the receipt's present end is wanted."""
    said = tx.facts.get(_name(reservation.id)) or ""
    end = max((part.end for part in receipt.segments), default=None)
    return end is not None and f"{receipt.id}={utc_text(end)}" in said.split()


def _name(reservation_id: int) -> str:
    return f"let-end:{gpu_id(reservation_id)}"
