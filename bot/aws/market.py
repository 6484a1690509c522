"""The market: every account and Region at once, each market read or named as not read."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import datetime
from itertools import takewhile
from typing import Final, Literal

from bot.aws.books import RegionBooks, read_books, read_plans
from bot.aws.capacity_blocks import CapacityBlocks
from bot.aws.clients import Clients
from bot.aws.on_demand import LINUX, OnDemandPrices, Price, catalog_price
from bot.aws.owned import owned_plans, owned_reservations
from bot.aws.quotas import Quotas
from bot.aws.rate import Tokens
from bot.aws.spot import Scores, Spot
from bot.aws.training_plans import TrainingPlans
from bot.aws.zones import ZoneFacts, Zones
from bot.catalog import Catalog
from bot.domain.errors import MarketError
from bot.domain.market import (
    HourlyRate,
    Kind,
    Market,
    NotRead,
    Offering,
    Owned,
    Quota,
)
from bot.domain.records import Leg
from bot.domain.request import Request, Target
from bot.domain.rules import Rules
from bot.engine.asking import Search, Wanted, block_searches, plan_searches, wanted_types
from bot.policy.configuration import Account
from bot.ports import Clock

_MOST_THREADS: Final = 20
"""About one call in flight per Region; the threads wait for the network, not for the CPU."""
_READ_PATIENCE_SECONDS: Final = 45.0
"""A Region that has not answered by then is `unreachable` in this reading."""
_TOKEN_PATIENCE_SECONDS: Final = 20.0
"""The longest that one search waits for our own share of the calls."""


@dataclass(slots=True)
class _Found:
    """What one task brought home; a task never raises."""

    offerings: list[Offering] = field(default_factory=list)
    hourly: list[HourlyRate] = field(default_factory=list)
    owned: list[Owned] = field(default_factory=list)
    quotas: list[Quota] = field(default_factory=list)
    not_read: list[NotRead] = field(default_factory=list)

    def add(self, other: "_Found") -> None:
        """Take over what another task found."""
        self.offerings += other.offerings
        self.hourly += other.hourly
        self.owned += other.owned
        self.quotas += other.quotas
        self.not_read += other.not_read

    def market(self, as_of: datetime) -> Market:
        """Return everything, in an order that does not depend on which answer came first."""
        return Market(
            as_of=as_of,
            offerings=tuple(sorted(self.offerings, key=lambda o: (o.account, o.region, o.ref))),
            hourly=tuple(sorted(self.hourly, key=lambda rate: rate.ref)),
            owned=tuple(sorted(self.owned, key=lambda held: (held.account, held.region, held.ref))),
            quotas=tuple(
                sorted(self.quotas, key=lambda q: (q.account, q.region, q.name, q.code or ""))
            ),
            not_read=tuple(
                sorted(self.not_read, key=lambda n: (n.account, n.region, n.market, n.why))
            ),
        )


@dataclass(frozen=True, slots=True)
class _Place:
    """One account in one Region."""

    account: str
    region: str


@dataclass(frozen=True, slots=True)
class _Question:
    """A request as the markets are asked for it."""

    request: Request
    target: Target
    wanted: tuple[Wanted, ...]
    now: datetime
    refused: Mapping[str, datetime]

    @property
    def on_ec2(self) -> bool:
        """Whether the machines are used on EC2 itself."""
        return self.target is Target.EC2


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
        self._kinds = kinds
        self._default_target = default_target
        self.clients = clients or Clients(accounts)
        self._zones = Zones(self.clients, clock=clock)
        self._quotas = Quotas(self.clients, clock=clock, catalog=catalog)
        self._prices = OnDemandPrices(self.clients, clock=clock)
        self._spot = Spot(self.clients, clock=clock, catalog=catalog)
        tokens = Tokens(seconds=seconds, sleep=sleep)
        self._blocks = CapacityBlocks(
            self.clients, clock=clock, tokens=tokens, zones=self._zones, quotas=self._quotas
        )
        self._plans = TrainingPlans(self.clients, clock=clock, tokens=tokens, zones=self._zones)

    def warm(self) -> None:
        """Make the clients ahead of the first request."""
        self.clients.warm()

    def read(self, request: Request, *, progress: Callable[[Market], None] | None = None) -> Market:
        """See bot.ports.MarketReader."""
        question = _Question(
            request=request,
            target=request.target or self._default_target,
            wanted=wanted_types(request, catalog=self._catalog),
            now=self._clock.now(),
            refused=self._refusals(),
        )
        places = list(self._places(request))
        found = _Found()
        pool = ThreadPoolExecutor(
            max_workers=max(1, min(_MOST_THREADS, 2 * len(places))), thread_name_prefix="market"
        )
        try:
            waiting = self._submit(pool, places, question)
            self._collect(waiting, found, question, progress)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        return found.market(question.now)

    def requote(self, leg: Leg) -> Sequence[Offering]:
        """See bot.ports.MarketReader. Kinds that are paid by the hour have no offering: empty."""
        if leg.kind is Kind.CAPACITY_BLOCK:
            return self._blocks.requote(leg)
        if leg.kind is Kind.TRAINING_PLAN:
            return self._plans.requote(leg)
        return ()

    def _places(self, request: Request) -> Iterable[_Place]:
        for account in self._accounts:
            for region in account.regions:
                if not request.regions or region in request.regions:
                    yield _Place(account.name, region)

    def _submit(
        self, pool: ThreadPoolExecutor, places: Sequence[_Place], question: _Question
    ) -> dict[Future[_Found], tuple[_Place, str]]:
        """Start the longest chains first: one task for prepaid and one for the rest, by place."""
        tasks: list[tuple[_Place, str, Callable[[_Place, _Question], _Found]]] = []
        prepaid = Kind.CAPACITY_BLOCK if question.on_ec2 else Kind.TRAINING_PLAN
        if prepaid in self._kinds:
            tasks += [(place, prepaid.value, self._prepaid) for place in places]
        tasks += [(place, "account", self._account) for place in places]
        if {Kind.ON_DEMAND, Kind.ODCR} & set(self._kinds):
            tasks += [(place, "on_demand", self._on_demand) for place in places]
        if Kind.SPOT in self._kinds and question.on_ec2:
            tasks += [(place, "spot", self._spot_rows) for place in places]
        return {pool.submit(task, place, question): (place, name) for place, name, task in tasks}

    def _collect(
        self,
        waiting: dict[Future[_Found], tuple[_Place, str]],
        found: _Found,
        question: _Question,
        progress: Callable[[Market], None] | None,
    ) -> None:
        """Gather answers as they come; report whenever a place has answered in full."""
        open_tasks: dict[_Place, int] = {}
        for place, _ in waiting.values():
            open_tasks[place] = open_tasks.get(place, 0) + 1
        pending = set(waiting)
        deadline = time.monotonic() + _READ_PATIENCE_SECONDS
        while pending:
            done, pending = wait(
                pending,
                timeout=max(0.0, deadline - time.monotonic()),
                return_when="FIRST_COMPLETED",
            )
            if not done:
                break
            complete = False
            for future in done:
                place, name = waiting[future]
                error = future.exception()
                if error is None:
                    found.add(future.result())
                else:
                    found.not_read.append(_not_read(place, name, "unknown", repr(error)))
                open_tasks[place] -= 1
                complete = complete or open_tasks[place] == 0
            if progress is not None and complete:
                progress(found.market(question.now))
        for future in pending:
            place, name = waiting[future]
            found.not_read.append(_not_read(place, name, "unreachable", "no answer in time"))

    def _prepaid(self, place: _Place, question: _Question) -> _Found:
        """Search blocks or plans: coarse first, then what the answers leave open."""
        found = _Found()
        blocks = question.on_ec2
        plan = block_searches if blocks else plan_searches
        market = (Kind.CAPACITY_BLOCK if blocks else Kind.TRAINING_PLAN).value
        reader = self._blocks.search if blocks else self._plans.search
        answered: dict[Search, tuple[Offering, ...]] = {}
        failed: set[tuple[str, str]] = set()
        while True:
            todo = plan(
                question.request,
                now=question.now,
                catalog=self._catalog,
                answered=answered,
                default_target=self._default_target,
            )
            if not todo:
                break
            for search in todo:
                try:
                    answered[search] = reader(
                        search,
                        account=place.account,
                        region=place.region,
                        patience_seconds=_TOKEN_PATIENCE_SECONDS,
                    )
                except MarketError as error:
                    answered[search] = ()
                    if (error.why, error.detail) not in failed:
                        failed.add((error.why, error.detail))
                        found.not_read.append(_not_read(place, market, error.why, error.detail))
                    if error.why in {"throttled", "quota", "refused", "unreachable"}:
                        return _with(found, answered)
        return _with(found, answered)

    def _account(self, place: _Place, question: _Question) -> _Found:
        """Read what the account holds here, and its quotas."""
        found = _Found()
        types = frozenset(item.instance_type for item in question.wanted)
        if not question.on_ec2:
            self._guard(found, place, "owned", lambda: self._plan_books(found, place, types))
            return found
        prefixes = tuple(sorted({_letters(name) for name in types}))
        books: list[RegionBooks] = []

        def held() -> None:
            books.append(
                read_books(
                    self.clients, account=place.account, region=place.region, prefixes=prefixes
                )
            )
            zones = self._zones_or_none(place)
            found.owned += owned_reservations(
                books[0], account=place.account, region=place.region, types=types, zones=zones
            )

        def quotas() -> None:
            found.quotas += self._quotas.ec2_rows(
                books[0] if books else None,
                account=place.account,
                region=place.region,
                types=sorted(types),
                at=max(question.request.earliest_start or question.now, question.now),
            )

        self._guard(found, place, "owned", held)
        self._guard(found, place, "quotas", quotas)
        return found

    def _plan_books(self, found: _Found, place: _Place, types: frozenset[str]) -> None:
        names = frozenset(
            known.ml_name
            if (known := self._catalog.types.get(name)) and known.ml_name
            else f"ml.{name}"
            for name in types
        )
        found.owned += owned_plans(
            self.clients, account=place.account, region=place.region, types=names
        )

        def quotas() -> None:
            plans = read_plans(self.clients, place.account, place.region)

            def used(name: str) -> int:
                return sum(
                    plan.total_instance_count or 0
                    for plan in plans
                    if (plan.status or "").lower() in {"active", "scheduled", "pending"}
                    and any(part.instance_type == name for part in plan.reserved_capacity_summaries)
                )

            found.quotas += self._quotas.plan_rows(
                account=place.account, region=place.region, types=sorted(names), used=used
            )

        self._guard(found, place, "quotas", quotas)

    def _on_demand(self, place: _Place, question: _Question) -> _Found:
        """Read the price of each type; ODCRs cost the same."""
        found = _Found()
        platform = question.request.platform or self.clients.account(place.account).platform
        for item in question.wanted:
            if item.ultraserver:
                continue
            try:
                name, price = self._price(place, item.instance_type, platform, question)
            except MarketError as error:
                found.not_read.append(_not_read(place, "on_demand", error.why, error.detail))
                continue
            if price is None:
                continue
            kinds: tuple[Literal[Kind.ON_DEMAND, Kind.ODCR], ...] = (
                (Kind.ON_DEMAND, Kind.ODCR) if question.on_ec2 else (Kind.ON_DEMAND,)
            )
            found.hourly += [
                _hourly(kind, place, name, price, question.refused)
                for kind in kinds
                if kind in self._kinds
            ]
        return found

    def _price(
        self, place: _Place, instance_type: str, platform: str, question: _Question
    ) -> tuple[str, Price | None]:
        """Return the live price, else the catalog's. Raises MarketError when there is neither."""
        if not question.on_ec2:
            known = self._catalog.types.get(instance_type)
            name = known.ml_name if known and known.ml_name else f"ml.{instance_type}"
            target = question.target.value
            return name, self._prices.sagemaker(place.account, place.region, name, target)
        try:
            return instance_type, self._prices.ec2(
                place.account, place.region, instance_type, platform
            )
        except MarketError:
            packaged = catalog_price(place.region, instance_type) if platform == LINUX else None
            if packaged is None:
                raise
            return instance_type, packaged

    def _spot_rows(self, place: _Place, question: _Question) -> _Found:
        """Read prices, and the account's scores once for all its Regions when spot may be used."""
        found = _Found()
        items = [item for item in question.wanted if not item.ultraserver]
        if not items:
            return found
        scores: dict[str, tuple[Scores, str]] = {}
        regions = [
            each.region for each in self._places(question.request) if each.account == place.account
        ]

        def read_scores() -> None:
            for item in items:
                scores[item.instance_type] = self._spot.scores(
                    account=place.account,
                    regions=regions,
                    instance_type=item.instance_type,
                    count=item.count,
                )

        def read_rates() -> None:
            found.hourly += self._spot.rates(
                account=place.account,
                region=place.region,
                types=[item.instance_type for item in items],
                zones=self._zones_or_none(place),
                scores=scores,
                refused=question.refused,
            )

        if question.request.interruptible is True:
            told = found if place.region == regions[0] else _Found()
            self._guard(told, place, "spot placement score", read_scores)
        self._guard(found, place, "spot", read_rates)
        return found

    def _zones_or_none(self, place: _Place) -> dict[str, ZoneFacts]:
        try:
            return self._zones.of(place.account, place.region)
        except MarketError:
            return {}

    def _guard(self, found: _Found, place: _Place, market: str, step: Callable[[], None]) -> None:
        try:
            step()
        except MarketError as error:
            found.not_read.append(_not_read(place, market, error.why, error.detail))


def _with(found: _Found, answered: Mapping[Search, Sequence[Offering]]) -> _Found:
    unique = {offering.ref: offering for offers in answered.values() for offering in offers}
    found.offerings += unique.values()
    return found


def _not_read(place: _Place, market: str, why: str, detail: str) -> NotRead:
    return NotRead(
        account=place.account, region=place.region, market=market, why=why, detail=detail
    )


def _hourly(
    kind: Literal[Kind.ON_DEMAND, Kind.ODCR],
    place: _Place,
    name: str,
    price: Price,
    refused: Mapping[str, datetime],
) -> HourlyRate:
    ref = f"{'od' if kind is Kind.ON_DEMAND else 'odcr'}/{place.account}/{place.region}/{name}"
    return HourlyRate(
        ref=ref,
        kind=kind,
        account=place.account,
        region=place.region,
        zone=None,
        zone_id=None,
        zone_type=None,
        opted_in=True,
        instance_type=name,
        usd_per_hour=price.usd_per_hour,
        source=price.source,
        as_of=price.as_of,
        last_refused_at=refused.get(ref),
        placement_score=None,
    )


def _letters(instance_type: str) -> str:
    """Return the letters that a type's quota family begins with: p of p5.48xlarge."""
    name = instance_type.removeprefix("u-")
    return "".join(takewhile(str.isalpha, name))
