"""AWS as the ports that the services know, loaded when it is first needed."""

import importlib
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, cast

from bot.catalog import Catalog
from bot.deferring import Deferred
from bot.policy.configuration import Configuration
from bot.ports import (
    Buyer,
    Clock,
    Endpoints,
    EventQueue,
    Holdings,
    Leftovers,
    Machines,
    MarketReader,
    Sharer,
    SpotPrices,
    Tagger,
    Utilisation,
)

if TYPE_CHECKING:
    from bot.aws import Clients


class Aws:
    """Every port that needs boto3, on one set of clients; loaded when first used."""

    def __init__(self, *, configuration: Configuration, clock: Clock, catalog: Catalog) -> None:
        accounts = configuration.accounts
        clients = cast("Clients", Deferred(lambda: _aws().Clients(accounts)))
        self.clients = clients
        self.market = cast(
            "MarketReader",
            Deferred(
                lambda: _aws().AwsMarket(
                    accounts,
                    clock=clock,
                    catalog=catalog,
                    refusals=dict,  # quoting lays the remembered ones over every market it reads
                    clients=clients,
                    kinds=configuration.kinds,
                    default_target=configuration.default_target,
                )
            ),
        )
        self.buyer = cast(
            "Buyer", Deferred(lambda: _aws().AwsBuyer(accounts, clock=clock, clients=clients))
        )
        self.holdings = cast(
            "Holdings", Deferred(lambda: _aws().AwsHoldings(accounts, clock=clock, clients=clients))
        )
        self.tagger = cast("Tagger", Deferred(lambda: _aws().AwsTagger(clients)))
        self.sharer = cast("Sharer", Deferred(lambda: _aws().AwsSharer(clients)))
        self.endpoints = cast(
            "Endpoints", Deferred(lambda: _aws().AwsEndpoints(accounts, clients=clients))
        )
        self.machines = cast(
            "Machines", Deferred(lambda: _aws().AwsMachines(accounts, clients=clients))
        )
        self._accounts = accounts
        self.spot_prices = cast("SpotPrices", Deferred(lambda: _aws().AwsSpotPrices(clients)))
        self.utilisation = cast(
            "Utilisation",
            Deferred(lambda: _aws().AwsUtilisation(accounts, clock=clock, clients=clients)),
        )
        self.leftovers = cast(
            "Leftovers",
            Deferred(lambda: _aws().AwsLeftovers(accounts, clock=clock, clients=clients)),
        )

    def event_queues(self) -> Sequence[EventQueue]:
        """Return the queues of events that the file names; boto3 is loaded only if there are."""
        if not any(account.event_queues for account in self._accounts):
            return ()
        found: Sequence[EventQueue] = _aws().event_queues(self._accounts, clients=self.clients)
        return found

    def warm(self) -> None:
        """Load boto3 and make the reading clients, so that the first person waits for neither."""
        self.clients.warm()


def _aws() -> ModuleType:
    return importlib.import_module("bot.aws")
