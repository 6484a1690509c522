"""What the listeners need from the services, and how it reaches them.

One protocol for each service, with only what is called here; the services themselves fit.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol, TypeVar

from bot.domain.decision import Decision
from bot.domain.errors import BugError
from bot.domain.market import Market
from bot.domain.records import Proposal, Reservation, Switch
from bot.domain.request import Parsed, Request
from bot.ports import Bell, Clock, People, Store
from bot.services.afterwards import Afterwards
from bot.services.approvals.counsel import Counsel
from bot.services.digests.glancing import Glancing
from bot.services.digests.homes import Homes
from bot.services.digests.overviews import Overviews
from bot.services.requests.asking import Asker, Filed
from bot.services.requests.watching import Watching
from bot.services.uses import Uses
from bot.services.words.views import CardView


class Reading(Protocol):
    """Reads what a text after /gpu means, in the person's zone and locale. Pure."""

    def __call__(
        self,
        text: str,
        *,
        now: datetime,
        zone: str,
        locale: str,
        answers: Mapping[str, str] = ...,
    ) -> Parsed:
        """Return the meaning of the text."""


class Asking(Protocol):
    """Files, changes and withdraws requests."""

    def file(self, parsed: Parsed, *, by: Asker, again: bool = False) -> Filed:
        """Store a request, or say which one the same line filed."""

    def cancel(self, reservation_id: int, *, by: str) -> Reservation:
        """Withdraw what is not bought."""

    def change(self, reservation_id: int, parsed: Parsed, *, by: str) -> Reservation:
        """Replace the request."""


class Quoting(Protocol):
    """Shows other options, and plans without filing."""

    def show(self, reservation_id: int, *, rank: int, by: str) -> None:
        """Put another option on the card."""

    def again(self, reservation_id: int, *, by: str) -> object:
        """Have the same request searched for again."""

    def plan(
        self, request: Request, *, zone: str, requester: str | None
    ) -> tuple[Market, Decision]:
        """Decide without storing anything."""


class Proposing(Protocol):
    """Puts an option before approvers."""

    def propose(self, reservation_id: int, *, by: str, rank: int | None = None) -> Proposal:
        """Ask for approval."""


class Approving(Protocol):
    """Takes verdicts."""

    def approve(self, proposal_id: int, *, by: str) -> Proposal:
        """Agree."""

    def deny(self, proposal_id: int, *, by: str, reason: str) -> Proposal:
        """Disagree, with a reason."""


class Switching(Protocol):
    """The switch that stops all spending."""

    def state(self) -> Switch:
        """Return it."""

    def set(self, to: Switch, *, by: str) -> None:
        """Turn it."""


class Views(Protocol):
    """Reads cards."""

    def card(self, reservation_id: int) -> CardView:
        """Return one."""

    def copy(self, reservation_id: int, *, reader: str) -> CardView:
        """Return one as that person may see it."""

    def proposal(self, proposal_id: int) -> CardView:
        """Return the one of a proposal."""

    def listing(
        self, *, scope: Literal["mine", "team", "all"], user: str, before_id: int | None = None
    ) -> tuple[CardView, ...]:
        """Return a page of them, newest first."""


class Helping(Protocol):
    """Says how to use the commands."""

    def __call__(self, verb: str | None, locale: str) -> str:
        """Return the help text."""


Service = TypeVar("Service")


def needed(service: Service | None) -> Service:
    """Return a service that the desk must have. Raises BugError on a desk without it."""
    if service is None:
        raise BugError("this desk lacks the service that was asked for")
    return service


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """Everything that the work on a delivery may call.

    `resume_to` is the file's setting of the switch: where it says shadow, /gpu resume goes back to
    shadow, so that an installation that rehearses never buys by it.
    """

    store: Store
    clock: Clock
    bell: Bell
    people: People
    parse: Reading
    help: Helping
    asking: Asking
    quoting: Quoting
    proposing: Proposing
    approving: Approving
    switching: Switching
    views: Views
    resume_to: Switch = Switch.ON
    after: Afterwards | None = None
    uses: Uses | None = None
    counsel: Counsel | None = None
    watching: Watching | None = None
    overviews: Overviews | None = None
    homes: Homes | None = None
    glancing: Glancing | None = None
