"""What somebody's Home tab holds: theirs, their teams', and what waits for their approval.

Each shelf is a page; which page is shown is a fact of that person, so that a redraw keeps it.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import islice

from pydantic import TypeAdapter

from bot.domain.base import Model
from bot.domain.lifecycle import LIVE_RESERVATIONS, ProposalState, ReservationState
from bot.domain.records import Proposal, Reservation
from bot.policy.configuration import Configuration
from bot.policy.delegating import seat_of
from bot.policy.permitting import Standing, asking_groups, groups_among, teams_of, unfit
from bot.ports import Clock, Store, Transaction
from bot.services.commitments.entitling import entitled
from bot.services.verifying import Verifying
from bot.services.words.views import CardView, Views

SHELF = 10
"""Two blocks a reservation and some of Slack's 100 for a Home tab to spare (docs.slack.dev,
"Home tab")."""
STEP = 50
_PAGES = TypeAdapter(dict[str, int])


class Shelf(Model):
    """A page of one shelf, newest first; `older` and `turned`: whether more is behind, before."""

    views: tuple[CardView, ...] = ()
    older: bool = False
    turned: bool = False


class HomeView(Model):
    """A Home tab. `teams` are the names of the person's teams."""

    user: str
    teams: tuple[str, ...] = ()
    mine: Shelf = Shelf()
    team: Shelf = Shelf()
    waiting: Shelf = Shelf()


@dataclass(frozen=True, slots=True, kw_only=True)
class Homes:
    """Reads Home tabs and remembers their pages."""

    store: Store
    clock: Clock
    views: Views
    verifying: Verifying
    configuration: Configuration

    def home(self, user: str) -> HomeView:
        """Return what the person's Home tab shows now. Asks Slack who they are."""
        standing = self.verifying.standing(user, self._groups())
        teams = tuple(team.name for team in teams_of(standing, self.configuration))
        with self.store.reading() as tx:
            pages = _pages(tx, user)
            mine = _page(_listed(tx, pages.get("mine"), requester=user))
            team = _page(
                one
                for one in _of_teams(tx, teams, pages.get("team"))
                if user not in (one.requester, one.owner)
            )
            waiting = _page(
                one
                for one in _listed(
                    tx, pages.get("waiting"), states={ReservationState.PENDING_APPROVAL}
                )
                if self._may_agree(tx, one, standing)
            )
            return HomeView(
                user=user,
                teams=teams,
                mine=self._shelf(tx, mine, turned="mine" in pages),
                team=self._shelf(tx, team, turned="team" in pages),
                waiting=self._shelf(tx, waiting, turned="waiting" in pages),
            )

    def turn(self, user: str, shelf: str, *, before: int | None) -> None:
        """Have one shelf show what is older than that number; None: the newest again."""
        with self.store.transaction() as tx:
            pages = {name: page for name, page in _pages(tx, user).items() if name != shelf}
            if before is not None:
                pages[shelf] = before
            tx.facts.put(_name(user), _PAGES.dump_json(pages).decode(), at=self.clock.now())

    def reset(self, tx: Transaction, user: str) -> None:
        """Have every shelf show its newest again."""
        tx.facts.drop(_name(user))

    def _groups(self) -> tuple[str, ...]:
        named: list[str] = [
            who
            for tier in self.configuration.approval.tiers
            for who in (*tier.approvers, *tier.quiet, *tier.escalate_to)
        ]
        return tuple(dict.fromkeys((*asking_groups(self.configuration), *groups_among(named))))

    def _shelf(self, tx: Transaction, found: Sequence[Reservation], *, turned: bool) -> Shelf:
        return Shelf(
            views=tuple(self.views.view(tx, one) for one in found[:SHELF]),
            older=len(found) > SHELF,
            turned=turned,
        )

    def _may_agree(self, tx: Transaction, reservation: Reservation, standing: Standing) -> bool:
        """Return whether this person's agreement would count now; the click is judged anew."""
        proposal = tx.proposals.current(reservation.id)
        if proposal is None or not _is_open(proposal, reservation) or unfit(standing) is not None:
            return False
        barred = (reservation.requester, reservation.owner)
        seat = seat_of(
            standing,
            approvers=entitled(tx, proposal, self.configuration),
            configuration=self.configuration,
            now=self.clock.now(),
            barred=barred,
        )
        given = {one.approver for one in tx.proposals.given(proposal.id)}
        return seat is not None and standing.user not in (*barred, *given)


def _page(found: Iterator[Reservation]) -> Sequence[Reservation]:
    """Return one more than a shelf holds, to know whether more is behind."""
    return list(islice(found, SHELF + 1))


def _is_open(proposal: Proposal, reservation: Reservation) -> bool:
    return proposal.state is ProposalState.OPEN and proposal.version == reservation.version


def _listed(
    tx: Transaction,
    before: int | None,
    *,
    states: Collection[ReservationState] = LIVE_RESERVATIONS,
    requester: str | None = None,
    team: str | None = None,
) -> Iterator[Reservation]:
    """Give reservations, newest first, a step at a time as they are taken."""
    while True:
        found = tx.reservations.listing(
            states=states, requester=requester, team=team, limit=STEP, before_id=before
        )
        yield from found
        if len(found) < STEP:
            return
        before = found[-1].id


def _of_teams(tx: Transaction, teams: Sequence[str], before: int | None) -> Iterator[Reservation]:
    """Give the reservations of all those teams, newest first."""
    return merge(*(_listed(tx, before, team=name) for name in teams), key=_age)


def _age(reservation: Reservation) -> int:
    return -reservation.id


def _pages(tx: Transaction, user: str) -> dict[str, int]:
    said = tx.facts.get(_name(user))
    return _PAGES.validate_json(said) if said is not None else {}


def _name(user: str) -> str:
    return f"home:{user}"
