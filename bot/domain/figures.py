"""What operators watch, counted from the records at one moment."""

from decimal import Decimal

from bot.domain.base import Model
from bot.domain.lifecycle import ProposalState, PurchaseState, ReservationState
from bot.domain.values import Instant


class Backlog(Model):
    """A queue's rows that could be worked on now, and since when the oldest could."""

    count: int
    oldest: Instant | None = None


class Figures(Model):
    """Counts of records by state, money by team, and the backlogs.

    `reservations` are the live ones. `held` is all money held, `committed` what was committed of
    the money held in the asked time; without a team it is under "".
    """

    reservations: dict[ReservationState, int]
    proposals: dict[ProposalState, int]
    verdicts: dict[str, int]
    purchases: dict[PurchaseState, int]
    held: dict[str, Decimal]
    committed: dict[str, Decimal]
    inbox: Backlog
    outbox: Backlog
    due: Backlog
