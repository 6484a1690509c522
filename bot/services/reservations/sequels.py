"""What begins by itself when capacity arrives or ends: due rows, in the caller's transaction."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from bot.domain.market import Kind, Segment
from bot.domain.records import Due, Purchase, Receipt, Reservation, gpu_id
from bot.domain.using import SPOT_WATCH
from bot.domain.values import utc_text
from bot.ports import Transaction

KIT = "kit"
SPOT = SPOT_WATCH
SPOT_LOOK = "spot-look"
SPOT_SPEND = "spot-spend"
SURVEY = "survey"

SPEND_PACE = timedelta(hours=1)
"""Spot prices move slowly (EC2 User Guide, "Spot Instances")."""
SPOT_PACE = timedelta(seconds=90)
"""AWS gives two minutes of notice before it takes a spot machine (EC2 User Guide, "Spot Instance
interruption notices"); a slower look could come after it."""


def when_bought(
    tx: Transaction, reservation: Reservation, receipts: Sequence[Receipt], *, now: datetime
) -> None:
    """Have spot machines watched from now on, and what they cost."""
    spot = [receipt for receipt in receipts if receipt.kind is Kind.SPOT]
    if spot:
        tx.dues.plan(spot_due(reservation.id, at=now + SPOT_PACE))
    for purchase_id in sorted({receipt.purchase_id for receipt in spot}):
        tx.dues.plan(spend_due(tx.purchases.get(purchase_id), at=now + SPEND_PACE))


def when_ready(
    tx: Transaction,
    reservation: Reservation,
    receipt: Receipt,
    segment: Segment,
    *,
    now: datetime,
) -> None:
    """Have the launch kit handed over, once for each run of a receipt."""
    subject = gpu_id(reservation.id)
    tx.dues.plan(
        Due(
            key=f"{KIT}:{subject}:{receipt.id}:{utc_text(segment.start)}",
            kind=KIT,
            subject=subject,
            at=now,
            argument=f"{receipt.id}|{utc_text(segment.start)}",
        )
    )


def when_ended(tx: Transaction, reservation: Reservation, *, now: datetime) -> None:
    """Have it looked up what is left, once AWS has had time to take the machines."""
    subject = gpu_id(reservation.id)
    tx.dues.plan(
        Due(
            key=f"{SURVEY}:{subject}:ended",
            kind=SURVEY,
            subject=subject,
            at=now,
            argument=str(reservation.id),
        )
    )


def spot_due(reservation_id: int, *, at: datetime) -> Due:
    """Return the due row of one look at spot machines."""
    subject = gpu_id(reservation_id)
    return Due(
        key=f"{SPOT}:{subject}:{utc_text(at)}",
        kind=SPOT,
        subject=subject,
        at=at,
        argument=str(reservation_id),
    )


def signal_due(
    reservation_id: int, what: str, machine: str, signal: str, *, at: datetime, attempt: int = 1
) -> Due:
    """Return the due row of one look that an event asks for; each event asks once."""
    subject = gpu_id(reservation_id)
    return Due(
        key=f"{SPOT_LOOK}:{subject}:{machine}:{signal}:{attempt}",
        kind=SPOT_LOOK,
        subject=subject,
        at=at,
        argument=f"{reservation_id}|{what}|{machine}|{signal}|{attempt}",
    )


def spend_due(purchase: Purchase, *, at: datetime) -> Due:
    """Return the due row of one look at what a spot purchase has cost."""
    subject = gpu_id(purchase.reservation_id)
    return Due(
        key=f"{SPOT_SPEND}:{subject}:{purchase.id}:{utc_text(at)}",
        kind=SPOT_SPEND,
        subject=subject,
        at=at,
        argument=purchase.id,
    )
