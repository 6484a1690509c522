"""Which state may follow which, as tables. The database refuses what is not in them.

purchase:    intended → submitted → confirmed | refused | indeterminate
             intended → withdrawn | shadowed ;  indeterminate → confirmed | refused
reservation: requested → quoted → pending_approval → approved → purchasing
             purchasing → payment_pending → scheduled → active → ended
             payment_pending → failed ;  purchasing → blocked | failed | needs_review | shadowed
             before purchasing → declined | expired | cancelled
"""

from enum import StrEnum

from bot.domain.errors import StateError


class ReservationState(StrEnum):
    """Where a reservation is in its life."""

    REQUESTED = "requested"
    QUOTED = "quoted"
    PENDING_APPROVAL = "pending_approval"
    APPROVED = "approved"
    PURCHASING = "purchasing"
    PAYMENT_PENDING = "payment_pending"
    SCHEDULED = "scheduled"
    ACTIVE = "active"
    ENDED = "ended"
    DECLINED = "declined"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    BLOCKED = "blocked"
    FAILED = "failed"
    NEEDS_REVIEW = "needs_review"
    SHADOWED = "shadowed"


class PurchaseState(StrEnum):
    """What is known of one attempt to spend."""

    INTENDED = "intended"
    SUBMITTED = "submitted"
    CONFIRMED = "confirmed"
    REFUSED = "refused"
    INDETERMINATE = "indeterminate"
    WITHDRAWN = "withdrawn"
    SHADOWED = "shadowed"


class ProposalState(StrEnum):
    """Whether a proposal may still be approved."""

    OPEN = "open"
    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"
    SUPERSEDED = "superseded"


_R = ReservationState
_P = PurchaseState

RESERVATION_STEPS: dict[ReservationState, frozenset[ReservationState]] = {
    _R.REQUESTED: frozenset({_R.QUOTED, _R.CANCELLED, _R.EXPIRED, _R.FAILED}),
    _R.QUOTED: frozenset(
        {_R.QUOTED, _R.REQUESTED, _R.PENDING_APPROVAL, _R.APPROVED, _R.CANCELLED, _R.EXPIRED}
    ),
    _R.PENDING_APPROVAL: frozenset(
        {_R.QUOTED, _R.REQUESTED, _R.APPROVED, _R.DECLINED, _R.EXPIRED, _R.CANCELLED}
    ),
    _R.APPROVED: frozenset(
        {
            _R.PURCHASING,
            _R.PENDING_APPROVAL,
            _R.QUOTED,
            _R.EXPIRED,
            _R.CANCELLED,
            _R.SHADOWED,
            _R.ACTIVE,
        }
    ),
    _R.PURCHASING: frozenset(
        {
            _R.PAYMENT_PENDING,
            _R.SCHEDULED,
            _R.ACTIVE,
            _R.BLOCKED,
            _R.FAILED,
            _R.NEEDS_REVIEW,
            _R.PENDING_APPROVAL,
            _R.QUOTED,
            _R.SHADOWED,
        }
    ),
    _R.NEEDS_REVIEW: frozenset({_R.PAYMENT_PENDING, _R.SCHEDULED, _R.ACTIVE, _R.FAILED}),
    _R.PAYMENT_PENDING: frozenset({_R.SCHEDULED, _R.ACTIVE, _R.FAILED, _R.NEEDS_REVIEW}),
    _R.SCHEDULED: frozenset({_R.ACTIVE, _R.ENDED, _R.FAILED}),
    _R.ACTIVE: frozenset({_R.SCHEDULED, _R.ENDED, _R.FAILED}),
    _R.BLOCKED: frozenset({_R.QUOTED, _R.REQUESTED, _R.CANCELLED, _R.EXPIRED}),
    _R.DECLINED: frozenset(),
    _R.EXPIRED: frozenset({_R.REQUESTED, _R.QUOTED}),
    _R.CANCELLED: frozenset(),
    _R.ENDED: frozenset(),
    _R.FAILED: frozenset(),
    _R.SHADOWED: frozenset(),
}

PURCHASE_STEPS: dict[PurchaseState, frozenset[PurchaseState]] = {
    _P.INTENDED: frozenset({_P.SUBMITTED, _P.WITHDRAWN, _P.SHADOWED}),
    _P.SUBMITTED: frozenset({_P.CONFIRMED, _P.REFUSED, _P.INDETERMINATE}),
    _P.INDETERMINATE: frozenset({_P.CONFIRMED, _P.REFUSED}),
    _P.CONFIRMED: frozenset(),
    _P.REFUSED: frozenset(),
    _P.WITHDRAWN: frozenset(),
    _P.SHADOWED: frozenset(),
}

LIVE_PURCHASES = frozenset({_P.INTENDED, _P.SUBMITTED, _P.INDETERMINATE, _P.CONFIRMED})
"""States in which a leg must not get a second purchase; a unique index holds it."""

BEFORE_PURCHASE = frozenset({_R.REQUESTED, _R.QUOTED, _R.PENDING_APPROVAL, _R.APPROVED, _R.BLOCKED})
"""States from which a person may still cancel without any money spent."""

LIVE_RESERVATIONS = frozenset(_R) - frozenset(
    {_R.ENDED, _R.DECLINED, _R.EXPIRED, _R.CANCELLED, _R.FAILED, _R.SHADOWED}
)


def check_reservation_step(before: ReservationState, after: ReservationState) -> None:
    """Raise StateError unless the table allows the step (staying is always allowed)."""
    if after != before and after not in RESERVATION_STEPS[before]:
        raise StateError(f"a reservation that is {before} cannot become {after}")


def check_purchase_step(before: PurchaseState, after: PurchaseState) -> None:
    """Raise StateError unless the table allows the step."""
    if after not in PURCHASE_STEPS[before]:
        raise StateError(f"a purchase that is {before} cannot become {after}")
