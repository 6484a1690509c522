"""The legs of an approval: which are bought, and what may be paid for one."""

from collections.abc import Sequence
from decimal import Decimal

from bot.domain.errors import BugError
from bot.domain.lifecycle import LIVE_PURCHASES, PurchaseState
from bot.domain.records import Leg, Proposal, Purchase
from bot.services.commitments.requoting import Fit


def missing(rows: Sequence[Purchase], proposal: Proposal) -> tuple[Leg, ...]:
    """Return the legs of the proposal that none of the rows has bought."""
    settled = {
        row.leg.number
        for row in rows
        if row.state is PurchaseState.CONFIRMED
        or (row.state is PurchaseState.SHADOWED and row.proposal_id == proposal.id)
    }
    return tuple(leg for leg in proposal.legs if leg.number not in settled)


def agreed_fee(proposal: Proposal, leg: Leg, fit: Fit, rows: Sequence[Purchase]) -> Decimal:
    """Return what was agreed for the leg. Raises BugError when the fee goes beyond it."""
    spent = sum(
        (
            row.fee
            for row in rows
            if row.proposal_id == proposal.id
            and row.leg.number != leg.number
            and row.state in LIVE_PURCHASES
        ),
        Decimal(0),
    )
    agreed = next(one.fee for one in proposal.legs if one.number == leg.number)
    if fit.fee > agreed or spent + fit.fee > proposal.ceiling:
        raise BugError(f"{fit.fee} on top of {spent} is more than was approved")
    return agreed
