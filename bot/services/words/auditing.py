"""Audit entries about a reservation, in the transaction that makes them true."""

from datetime import datetime

from bot.domain.records import AuditEntry, Reservation
from bot.ports import Transaction


def write_audit(
    tx: Transaction, reservation: Reservation, by: str, action: str, now: datetime, **facts: str
) -> None:
    """Append that `by` did `action` to the reservation; `facts` are kept as they are said."""
    tx.audit.append(
        AuditEntry(at=now, actor=by, action=action, reservation_id=reservation.id, facts=facts)
    )
