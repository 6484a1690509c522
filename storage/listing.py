"""Which reservations a listing shows, and in which order: one rule for every store."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from bot.domain.lifecycle import LIVE_RESERVATIONS, ReservationState
from bot.domain.records import Reservation

_NO_BOUND = {True: 2**63 - 1, False: 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What is asked for. See bot.ports.Reservations.listing.

    `before_id` ends the page before: what follows it in the order shown.
    """

    states: frozenset[ReservationState] | None
    requester: str | None
    team: str | None
    newest_first: bool
    limit: int
    before_id: int | None

    @property
    def bound(self) -> int:
        """Return the id that every one shown lies beyond."""
        return _NO_BOUND[self.newest_first] if self.before_id is None else self.before_id

    @property
    def order(self) -> tuple[str, str]:
        """Return how ids lie beyond the bound, and how they follow each other, in SQL."""
        return ("<", "desc") if self.newest_first else (">", "asc")

    @property
    def only_live(self) -> bool:
        """Return whether nothing that is over is asked for."""
        return self.states is not None and self.states <= LIVE_RESERVATIONS

    def page(self, all_of_them: Iterable[Reservation]) -> tuple[Reservation, ...]:
        """Return the page out of all reservations."""
        found = [one for one in all_of_them if self._shows(one)]
        found.sort(key=lambda one: one.id, reverse=self.newest_first)
        return tuple(found[: self.limit])

    def _shows(self, one: Reservation) -> bool:
        beyond = one.id < self.bound if self.newest_first else one.id > self.bound
        return (
            beyond
            and (self.states is None or one.state in self.states)
            and (self.requester is None or self.requester in {one.requester, one.owner})
            and (self.team is None or one.team == self.team)
        )


def listing(
    *,
    states: Collection[ReservationState] | None,
    requester: str | None,
    team: str | None,
    newest_first: bool,
    limit: int,
    before_id: int | None,
) -> Listing:
    """Return what is asked for, in the port's own words."""
    return Listing(
        states=None if states is None else frozenset(states),
        requester=requester,
        team=team,
        newest_first=newest_first,
        limit=limit,
        before_id=before_id,
    )
