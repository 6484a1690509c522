"""What a purchase looks like after a step."""

from datetime import datetime
from decimal import Decimal

from bot.domain.lifecycle import PurchaseState
from bot.domain.records import Purchase

_SETTLED = frozenset(
    {
        PurchaseState.CONFIRMED,
        PurchaseState.REFUSED,
        PurchaseState.WITHDRAWN,
        PurchaseState.SHADOWED,
    }
)


def moved(
    purchase: Purchase,
    to: PurchaseState,
    *,
    at: datetime,
    outcome: str,
    offering_ref: str | None,
    fee: str | None,
) -> Purchase:
    """Return the purchase in its next state, validated; what is not given stays.

    An indeterminate one is not settled: its time comes with the answer.
    """
    change: dict[str, object] = {"state": to}
    if to is PurchaseState.SUBMITTED:
        change["submitted_at"] = at
    if to in _SETTLED:
        change["settled_at"] = at
    if outcome:
        change["outcome"] = outcome
    if offering_ref is not None:
        change["offering_ref"] = offering_ref
    if fee is not None:
        change["fee"] = Decimal(fee)
    return Purchase.model_validate({**dict(purchase), **change})
