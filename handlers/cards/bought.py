"""What was really bought of an option: the fees paid and the machines on AWS's own receipts.

What was agreed is a ceiling; once something is bought, only the purchases and receipts count.
"""

from collections.abc import Iterable, Sequence
from decimal import Decimal

from bot.domain.decision import Option
from bot.domain.ending import usable
from bot.domain.lifecycle import PurchaseState, ReservationState
from bot.domain.market import Kind, Segment
from bot.domain.records import Leg, Proposal, Purchase, Receipt
from bot.services.reservations.looking import lost_of
from bot.services.words.views import CardView

UNSETTLED = frozenset(
    {PurchaseState.INTENDED, PurchaseState.SUBMITTED, PurchaseState.INDETERMINATE}
)
"""Money may still flow for these."""

PREPAID = frozenset({Kind.CAPACITY_BLOCK, Kind.TRAINING_PLAN})
"""What is paid by the hour just bills on; only these are extended for a fee."""


def confirmed(view: CardView, proposal: Proposal | None = None) -> tuple[Purchase, ...]:
    """Return the purchases that AWS confirmed: the reservation's, or only the proposal's."""
    return tuple(
        row
        for row in view.purchases
        if row.state is PurchaseState.CONFIRMED
        and (proposal is None or row.proposal_id == proposal.id)
    )


def paid(purchases: Iterable[Purchase]) -> Decimal:
    """Return the sum of the fees."""
    return sum((row.fee for row in purchases), Decimal(0))


def as_bought(option: Option, view: CardView, proposal: Proposal | None = None) -> Option:
    """Return the option with the money, machines and times that were bought of it.

    Before anything is bought it is the option itself, with what was agreed.
    """
    rows = confirmed(view, proposal)
    if not rows:
        return option
    numbers = {row.id for row in rows}
    receipts = [one for one in view.receipts if one.purchase_id in numbers]
    total = paid(rows)
    share = _rate_share(option, total, rows, proposal or view.proposal)
    changed: dict[str, object] = {"total_usd": total}
    if share != 1:
        for rate in ("usd_per_instance_hour", "usd_per_accelerator_hour", "break_even_utilization"):
            agreed = getattr(option, rate)
            changed[rate] = None if agreed is None else agreed * share
    if any(one.segments for one in receipts):
        places = {(one.region, one.zone) for one in receipts}
        if len(places) == 1:
            changed["region"], zone = places.pop()
            changed["zone"] = zone or option.zone
        changed["instance_count"] = peak(receipts)
        changed["segments"] = _merged(part for one in receipts for part in one.segments)
        changed["usable_end"] = max(
            usable(part, lost_of(one))[1] for one in receipts for part in one.segments
        )
    return option.model_copy(update=changed)


def extended(view: CardView, proposal: Proposal | None = None) -> bool:
    """Return whether AWS shows a later end than these fees paid for: extensions are apart."""
    rows = [row for row in confirmed(view, proposal) if row.leg.kind in PREPAID]
    numbers = {row.id for row in rows}
    bought = [part.end for row in rows for part in row.leg.segments]
    there = [
        part.end for one in view.receipts if one.purchase_id in numbers for part in one.segments
    ]
    return bool(bought and there) and max(there) > max(bought)


def so_far(view: CardView, proposal: Proposal | None = None) -> bool:
    """Return whether a part is bought while money may still flow for another one."""
    return bool(confirmed(view, proposal)) and (
        view.reservation.state is ReservationState.PURCHASING or open_money(view, proposal)
    )


def open_money(view: CardView, proposal: Proposal | None = None) -> bool:
    """Return whether a purchase is under way, or nobody knows yet whether AWS sold it."""
    return any(
        row.state in UNSETTLED
        for row in view.purchases
        if proposal is None or row.proposal_id == proposal.id
    )


def peak(receipts: Sequence[Receipt]) -> int:
    """Return how many machines there are at once at most; parts one after another do not add."""
    starts = {part.start for one in receipts for part in one.segments}
    return max(
        (
            sum(
                one.instance_count
                for one in receipts
                if any(part.start <= moment < part.end for part in one.segments)
            )
            for moment in starts
        ),
        default=0,
    )


def _rate_share(
    option: Option, total: Decimal, rows: Sequence[Purchase], proposal: Proposal | None
) -> Decimal:
    """Return how the rate that was paid stands to the agreed one: 1 when nothing differs."""
    if not option.total_usd:
        return Decimal(1)
    agreed = _machine_hours(proposal.legs if proposal is not None else ())
    got = _machine_hours([row.leg for row in rows])
    parts = agreed / got if agreed and got else Decimal(1)
    return total / option.total_usd * parts


def _machine_hours(legs: Iterable[Leg]) -> Decimal:
    return sum(
        (
            Decimal(int((part.end - part.start).total_seconds())) * leg.instance_count
            for leg in legs
            for part in leg.segments
        ),
        Decimal(0),
    )


def _merged(parts: Iterable[Segment]) -> tuple[Segment, ...]:
    """Return the parts in order of time, those that touch as one."""
    merged: list[Segment] = []
    for part in sorted(parts, key=lambda one: (one.start, one.end)):
        if merged and part.start <= merged[-1].end:
            end = max(part.end, merged[-1].end)
            merged[-1] = merged[-1].model_copy(update={"end": end})
        else:
            merged.append(part)
    return tuple(merged)
