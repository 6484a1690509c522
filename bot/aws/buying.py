"""The one door through which money leaves: dispatches a purchase to the buyer of its kind."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from bot.aws.capacity_block_buyer import buy_block, find_block
from bot.aws.clients import Clients
from bot.aws.launch_buyer import find_launch, launch
from bot.aws.odcr_buyer import find_odcr, make_odcr
from bot.aws.quotas import Quotas
from bot.aws.rehearsal import Permissions, rehearse
from bot.aws.training_plan_buyer import buy_plan, find_plan
from bot.aws.zones import Zones
from bot.catalog import Catalog, packaged
from bot.domain.errors import BugError
from bot.domain.market import Kind
from bot.domain.records import Leg, Purchase, Receipt
from bot.policy.configuration import Account
from bot.ports import Clock

_Step = Callable[..., Sequence[Receipt]]

_BUYERS: Final[dict[Kind, tuple[_Step, _Step]]] = {
    Kind.CAPACITY_BLOCK: (buy_block, find_block),
    Kind.TRAINING_PLAN: (buy_plan, find_plan),
    Kind.ODCR: (make_odcr, find_odcr),
    Kind.ON_DEMAND: (launch, find_launch),
    Kind.SPOT: (launch, find_launch),
}


class AwsBuyer:
    """See bot.ports.Buyer."""

    def __init__(
        self,
        accounts: tuple[Account, ...],
        *,
        clock: Clock,
        clients: Clients | None = None,
        catalog: Catalog | None = None,
    ) -> None:
        self._clock = clock
        self.clients = clients or Clients(accounts)
        self._catalog = catalog or packaged()
        self._permissions = Permissions(self.clients, clock=clock)
        self._zones = Zones(self.clients, clock=clock)
        self._quotas = Quotas(self.clients, clock=clock, catalog=self._catalog)

    def buy(self, purchase: Purchase) -> Sequence[Receipt]:
        """See bot.ports.Buyer."""
        buy, _ = self._steps(purchase.leg.kind)
        return buy(self.clients, purchase, at=self._now())

    def find(self, purchase: Purchase) -> Sequence[Receipt]:
        """See bot.ports.Buyer."""
        _, find = self._steps(purchase.leg.kind)
        return find(self.clients, purchase, at=self._now())

    def rehearse(self, leg: Leg, *, used_in: str | None = None) -> Sequence[str]:
        """See bot.ports.Buyer."""
        return rehearse(
            self.clients,
            leg,
            used_in=used_in,
            permissions=self._permissions,
            zones=self._zones,
            quotas=self._quotas,
            catalog=self._catalog,
        )

    def _steps(self, kind: Kind) -> tuple[_Step, _Step]:
        if kind not in _BUYERS:
            raise BugError(f"{kind} is not bought")
        return _BUYERS[kind]

    def _now(self) -> datetime:
        return self._clock.now()
