"""Receipts: what was bought, as AWS shows it, in our words for ids and AWS's words for states.

An extension keeps the id of what it prolongs, so its own receipt is `<held id>#<offering id>`,
with the state of its payment.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from bot.aws import wire
from bot.domain.market import Segment
from bot.domain.records import Purchase, Receipt

EXTENSION_MARK: Final = "#"

_MOST_ALIVE: Final = ("running", "pending", "stopping", "shutting-down", "stopped", "terminated")


def word(state: str | None) -> str:
    """Return AWS's word in lower case with dashes: "Payment Pending" is "payment-pending"."""
    return (state or "unknown").strip().lower().replace(" ", "-").replace("_", "-")


def receipt(
    purchase: Purchase,
    *,
    receipt_id: str,
    state: str | None,
    at: datetime,
    zone: str | None = None,
    count: int | None = None,
    segments: tuple[Segment, ...] = (),
) -> Receipt:
    """Return a receipt of the purchase; what AWS did not say is as the leg has it."""
    leg = purchase.leg
    return Receipt(
        id=receipt_id,
        purchase_id=purchase.id,
        reservation_id=purchase.reservation_id,
        kind=leg.kind,
        account=leg.account,
        region=leg.region,
        zone=zone or leg.zone,
        instance_type=leg.instance_type,
        instance_count=count or leg.instance_count,
        target=leg.target,
        segments=segments or leg.segments,
        state=word(state),
        checked_at=at,
        ultraserver_type=leg.ultraserver_type,
    )


def reservation_receipts(
    purchase: Purchase, rows: Iterable[wire.Reservation], *, at: datetime
) -> tuple[Receipt, ...]:
    """Return a receipt for each capacity reservation: several segments are several."""
    found = [row for row in rows if row.capacity_reservation_id]
    several = len(found) > 1
    return tuple(
        receipt(
            purchase,
            receipt_id=row.capacity_reservation_id or "",
            state=row.state,
            at=at,
            zone=row.availability_zone,
            count=row.count,
            segments=_window(row, purchase.leg.segments, alone=not several),
        )
        for row in found
    )


def launch_state(machines: Iterable[wire.Instance]) -> str:
    """Return the state of the machine that is most alive."""
    states = {word(machine.state.name) for machine in machines}
    return next((state for state in _MOST_ALIVE if state in states), min(states, default="unknown"))


def _window(
    row: wire.Reservation, legs: tuple[Segment, ...], *, alone: bool
) -> tuple[Segment, ...]:
    if row.start_date is not None and row.end_date is not None:
        return (Segment(start=row.start_date, end=row.end_date, zone=row.availability_zone),)
    if alone:
        return legs
    same = tuple(part for part in legs if part.zone == row.availability_zone)
    return same or legs
