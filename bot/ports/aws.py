"""What the services ask of AWS; every call is one of these."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from bot.domain.market import Market, Offering
from bot.domain.records import Leg, Purchase, Receipt
from bot.domain.request import Request
from bot.domain.sharing import Share, ShareOrder
from bot.domain.using import (
    EndpointOrder,
    EndpointView,
    Found,
    GpuUse,
    Health,
    Leftover,
    PlanView,
    QueuedEvent,
    SpotPrice,
)


class MarketReader(Protocol):
    """Reads every allowed market. Never raises for one that fails: it becomes `not_read`."""

    def read(self, request: Request, *, progress: Callable[[Market], None] | None = None) -> Market:
        """Return all rows that could serve the request, from all accounts and regions.

        `progress` is called with what is known so far whenever a region has answered.
        """

    def requote(self, leg: Leg) -> Sequence[Offering]:
        """Return what AWS sells now for the very leg: same account, region, type, count, target.

        Uses the tokens that are set aside for purchases. Raises MarketError.
        """


class Buyer(Protocol):
    """Spends. One request on the wire for each call of `buy`; never repeated."""

    def buy(self, purchase: Purchase) -> Sequence[Receipt]:
        """Buy the purchase's `offering_ref` and return AWS's ids and states.

        Raises RefusedError (nothing bought) or IndeterminateError (may be bought).
        """

    def find(self, purchase: Purchase) -> Sequence[Receipt]:
        """Return what AWS's books hold under the purchase's tag, token or plan name; never buys.

        Empty means not seen, which is no proof. Raises MarketError when the books can't be read.
        """

    def rehearse(self, leg: Leg, *, used_in: str | None = None) -> Sequence[str]:
        """Return what would stop a purchase (permission by DryRun, quota, zone), as sentences.

        `used_in` is the account that it will be shared with and launched from, if another one.
        """


class Holdings(Protocol):
    """Reads the state of what was bought."""

    def look(self, receipts: Sequence[Receipt]) -> Mapping[str, Receipt]:
        """Return by receipt id each receipt as AWS shows it now, whatever account or region.

        `gone` is set when AWS does not know the id any more; `last_error` when its account and
        region could not be read, with everything else unchanged.
        """


class Endpoints(Protocol):
    """Makes, shows and removes SageMaker endpoints. One request on the wire for each call."""

    def plan(self, receipt: Receipt) -> PlanView | None:
        """Return the training plan, None when SageMaker does not know it. Raises MarketError."""

    def configured(self, order: EndpointOrder) -> bool:
        """Return whether the order's configuration exists. Raises MarketError."""

    def look(self, order: EndpointOrder) -> EndpointView | None:
        """Return the order's endpoint, None when there is none. Raises MarketError."""

    def configure(self, order: EndpointOrder) -> None:
        """Make the configuration. Raises RefusedError or IndeterminateError."""

    def create(self, order: EndpointOrder) -> None:
        """Make the endpoint from the configuration. Raises RefusedError or IndeterminateError."""

    def delete(self, order: EndpointOrder) -> None:
        """Delete the endpoint; harmless when it is gone. Raises PurchaseError."""

    def unconfigure(self, order: EndpointOrder) -> None:
        """Delete the configuration; harmless when it is gone. Raises PurchaseError."""


class Machines(Protocol):
    """Reads how the machines of a receipt are."""

    def health(self, receipt: Receipt) -> Health:
        """Return them as AWS shows them now; what can't be read stands in `not_read`."""


class Utilisation(Protocol):
    """Reads how busy GPUs are, where an agent publishes it."""

    def read(self, receipts: Sequence[Receipt], *, window: timedelta) -> Mapping[str, GpuUse]:
        """Return by receipt id how busy its running machines' GPUs were in the newest window.

        Receipts whose machines can't be seen from outside are left out. Never raises: what can't
        be read says so in `not_read`, and a machine without an agent is not in `shares`.
        """


class SpotPrices(Protocol):
    """Reads what spot machines have cost."""

    def since(self, receipt: Receipt, moment: datetime) -> Sequence[SpotPrice]:
        """Return the price of the receipt's type in its zone at that moment and every change since.

        Oldest first; empty when AWS shows none. Raises MarketError.
        """


class EventQueue(Protocol):
    """A queue of AWS's events about one account."""

    def receive(self) -> Sequence[QueuedEvent]:
        """Return what waits, after at most some seconds; it comes back unless deleted.

        Raises MarketError when the queue can't be read.
        """

    def delete(self, event: QueuedEvent) -> None:
        """Take one off for good; harmless when it is gone. Raises MarketError."""


class Leftovers(Protocol):
    """Finds and removes what a reservation left behind."""

    def find(self, receipts: Sequence[Receipt]) -> Found:
        """Return what still exists, by our purchase tag and by the receipts' ids.

        Books that can't be read stand in `not_read`; never raises for them.
        """

    def remove(self, leftover: Leftover) -> None:
        """Ask AWS to remove one thing; harmless when it is gone already. Raises PurchaseError."""


class Tagger(Protocol):
    """Writes who owns what was bought into AWS's own tags."""

    def tag(self, receipt: Receipt, *, owner: str, team: str | None) -> None:
        """Set both tags; repeating it is harmless. Raises MarketError when it did not work."""


class Sharer(Protocol):
    """Shares what one account holds with another one (AWS RAM). Costs nothing, spends nothing."""

    def share(self, order: ShareOrder) -> Share:
        """Have it shared and return how it stands; what is there is found and completed.

        Raises RefusedError when AWS says no, MarketError when its books can't be read, and
        IndeterminateError when an answer was lost. Repeating it makes no second share.
        """

    def unshare(self, order: ShareOrder) -> None:
        """End it, harmless when it is gone; what runs runs on.

        Raises PurchaseError, MarketError.
        """
