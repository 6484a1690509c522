"""The market: every account and Region at once, each market read or named as not read."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial

from bot.aws.capacity_blocks import CapacityBlocks
from bot.aws.clients import Clients
from bot.aws.findings import Found, Place, Question
from bot.aws.gathering import Lanes, Part, gather
from bot.aws.hourly import Hourly
from bot.aws.on_demand import OnDemandPrices
from bot.aws.prepaid import Prepaid
from bot.aws.quotas import Quotas
from bot.aws.rate import Tokens
from bot.aws.spot import Spot
from bot.aws.standing import Standing
from bot.aws.training_plans import TrainingPlans
from bot.aws.zones import Zones
from bot.catalog import Catalog
from bot.domain.market import Kind, Market, Offering
from bot.domain.records import Leg
from bot.domain.request import Request, Target
from bot.domain.rules import Rules
from bot.engine.wanted import wanted_types
from bot.policy.configuration import Account
from bot.ports import Clock


class AwsMarket:
    """See bot.ports.MarketReader.

    `refusals` says by the ref of an hourly row when it was last refused. `kinds` leaves disabled
    kinds unread. Token buckets run on `seconds` (AWS's own do), everything else on the clock.
    """

    def __init__(
        self,
        accounts: tuple[Account, ...],
        *,
        clock: Clock,
        catalog: Catalog,
        refusals: Callable[[], Mapping[str, datetime]],
        sleep: Callable[[float], None] = time.sleep,
        seconds: Callable[[], float] = time.monotonic,
        clients: Clients | None = None,
        kinds: tuple[Kind, ...] = Rules().kinds,
        default_target: Target = Target.EC2,
    ) -> None:
        self._accounts = accounts
        self._clock = clock
        self._catalog = catalog
        self._refusals = refusals
        self._kinds = frozenset(kinds)
        self._default_target = default_target
        self.clients = clients or Clients(accounts)
        zones = Zones(self.clients, clock=clock)
        quotas = Quotas(self.clients, clock=clock, catalog=catalog)
        tokens = Tokens(seconds=seconds, sleep=sleep)
        self._blocks = CapacityBlocks(
            self.clients, clock=clock, tokens=tokens, zones=zones, quotas=quotas
        )
        self._plans = TrainingPlans(self.clients, clock=clock, tokens=tokens, zones=zones)
        self._prepaid = Prepaid(self._blocks, self._plans, catalog=catalog)
        self._standing = Standing(self.clients, zones=zones, quotas=quotas, catalog=catalog)
        self._hourly = Hourly(
            self.clients,
            OnDemandPrices(self.clients, clock=clock),
            Spot(self.clients, clock=clock, catalog=catalog),
            zones=zones,
            catalog=catalog,
        )

    def warm(self) -> None:
        """Make the clients ahead of the first request."""
        self.clients.warm()

    def read(self, request: Request, *, progress: Callable[[Market], None] | None = None) -> Market:
        """See bot.ports.MarketReader."""
        question = Question(
            request=request,
            target=request.target or self._default_target,
            wanted=wanted_types(request, catalog=self._catalog),
            now=self._clock.now(),
            refused=self._refusals(),
            kinds=self._kinds,
        )

        def told(found: Found) -> None:
            if progress is not None:
                progress(found.market(question.now))

        with Lanes() as lanes:
            parts = list(self._parts(question, lanes))
            return gather(lanes, parts, told).market(question.now)

    def requote(self, leg: Leg) -> Sequence[Offering]:
        """See bot.ports.MarketReader. Kinds that are paid by the hour have no offering: empty."""
        if leg.kind is Kind.CAPACITY_BLOCK:
            return self._blocks.requote(leg)
        if leg.kind is Kind.TRAINING_PLAN:
            return self._plans.requote(leg)
        return ()

    def _places(self, request: Request) -> Iterable[Place]:
        """Yield the places that are asked for; a Local Zone is read in the Region it belongs to."""
        zones = (self._catalog.regions.get(name) for name in request.regions)
        wanted = {*request.regions, *(zone.parent for zone in zones if zone is not None)}
        for account in self._accounts:
            for region in account.regions:
                if not request.regions or region in wanted:
                    yield Place(account.name, region)

    def _parts(self, question: Question, lanes: Lanes) -> Iterable[Part]:
        """Yield what is read, place by place: the first ones answer while the last are asked."""
        prepaid = Kind.CAPACITY_BLOCK if question.on_ec2 else Kind.TRAINING_PLAN
        places = list(self._places(question.request))
        for place in places:
            if prepaid in self._kinds:
                yield Part(
                    place,
                    prepaid.value,
                    partial(self._prepaid.found, place, question, lanes.searches),
                )
            yield Part(
                place, "account", partial(self._standing.found, place, question, lanes.calls)
            )
            if {Kind.ON_DEMAND, Kind.ODCR} & self._kinds:
                yield Part(
                    place,
                    "on_demand",
                    partial(self._hourly.on_demand, place, question, lanes.calls),
                )
            if Kind.SPOT in self._kinds and question.on_ec2:
                regions = [each.region for each in places if each.account == place.account]
                yield Part(place, "spot", partial(self._hourly.spot, place, question, regions))
