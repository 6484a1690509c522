"""Finds what a reservation left behind, by tag and by id, and removes one thing at a time.

Costs a day are on-demand prices where AWS lists one; what is prepaid says so; all else is
unknown, never guessed.
"""

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from typing import Any, Final

from bot.aws import use_rows, wire
from bot.aws.calls import pages, read, understood
from bot.aws.clients import Clients
from bot.aws.on_demand import LINUX, OnDemandPrices, catalog_price
from bot.aws.receipts import word
from bot.aws.removals import remove
from bot.aws.sharing import shares_tagged
from bot.aws.tags import PURCHASE
from bot.aws.use_tags import purchase_of, sagemaker_purchase
from bot.domain.errors import BugError, MarketError
from bot.domain.market import Kind, NotRead
from bot.domain.records import Receipt, gpu_id
from bot.domain.using import Found, Leftover, LeftoverKind
from bot.policy.configuration import Account
from bot.ports import Clock

HOURS: Final = Decimal(24)
_EXTENSION: Final = "#"
_HELD: Final = frozenset({"active", "pending", "scheduled", "assessing", "delayed"})
_FLEET_OVER: Final = frozenset({"deleted", "deleted_terminating", "deleted-terminating"})
_MOST_DESCRIBED: Final = 100
_Shop = tuple[str, str]

_REMOVALS: Final[dict[LeftoverKind, tuple[str, str, Callable[[str], dict[str, Any]]]]] = {
    LeftoverKind.INSTANCE: ("ec2", "terminate_instances", lambda one: {"InstanceIds": [one]}),
    LeftoverKind.SPOT_REQUEST: (
        "ec2",
        "cancel_spot_instance_requests",
        lambda one: {"SpotInstanceRequestIds": [one]},
    ),
    LeftoverKind.FLEET: (
        "ec2",
        "delete_fleets",
        lambda one: {"FleetIds": [one], "TerminateInstances": True},
    ),
    LeftoverKind.VOLUME: ("ec2", "delete_volume", lambda one: {"VolumeId": one}),
    LeftoverKind.RESERVATION: (
        "ec2",
        "cancel_capacity_reservation",
        lambda one: {"CapacityReservationId": one},
    ),
    LeftoverKind.SHARE: ("ram", "delete_resource_share", lambda one: {"resourceShareArn": one}),
    LeftoverKind.ENDPOINT: ("sagemaker", "delete_endpoint", lambda one: {"EndpointName": one}),
    LeftoverKind.CONFIGURATION: (
        "sagemaker",
        "delete_endpoint_config",
        lambda one: {"EndpointConfigName": one},
    ),
}


class AwsLeftovers:
    """See bot.ports.Leftovers."""

    def __init__(
        self, accounts: tuple[Account, ...], *, clock: Clock, clients: Clients | None = None
    ) -> None:
        self.clients = clients or Clients(accounts)
        self._prices = OnDemandPrices(self.clients, clock=clock)

    def find(self, receipts: Sequence[Receipt]) -> Found:
        """See bot.ports.Leftovers."""
        shops: dict[_Shop, list[Receipt]] = {}
        for receipt in receipts:
            shops.setdefault((receipt.account, receipt.region), []).append(receipt)
        items: dict[str, Leftover] = {}
        not_read: list[NotRead] = []
        for shop, held in shops.items():
            search = _Search(self.clients, self._prices, shop, held)
            for item in search.run():
                items.setdefault(item.key, item)
            not_read += search.not_read
        return Found(items=tuple(items.values()), not_read=tuple(not_read))

    def remove(self, leftover: Leftover) -> None:
        """See bot.ports.Leftovers."""
        known = _REMOVALS.get(leftover.kind)
        if known is None:
            raise BugError(f"nothing removes a {leftover.kind}")
        service, operation, parameters = known
        remove(
            self.clients,
            service,
            leftover.account,
            leftover.region,
            operation,
            **parameters(leftover.id),
        )


class _Search:
    """One search in one account and region."""

    def __init__(
        self, clients: Clients, prices: OnDemandPrices, shop: _Shop, receipts: list[Receipt]
    ) -> None:
        self._clients = clients
        self._prices = prices
        self._account, self._region = shop
        self._receipts = receipts
        self._purchases = sorted({receipt.purchase_id for receipt in receipts})
        self._machines: dict[str, use_rows.Instance] = {}
        self.not_read: list[NotRead] = []

    def run(self) -> list[Leftover]:
        """Return everything; books that can't be read are noted."""
        found: list[Leftover] = []
        books: list[tuple[str, Callable[[], Iterator[Leftover]]]] = [
            ("instances", self._instances),
            ("fleets", self._fleets),
            ("volumes", self._volumes),
            ("capacity reservations", self._reservations),
        ]
        if self._clients.account(self._account).shares_with:
            books.append(("resource shares", self._shares))
        if any(receipt.kind is Kind.SPOT for receipt in self._receipts):
            books.append(("spot requests", self._spot_requests))
        if any(receipt.kind is Kind.TRAINING_PLAN for receipt in self._receipts):
            books += [("endpoints", self._endpoints), ("configurations", self._configurations)]
        for name, book in books:
            try:
                found += list(book())
            except MarketError as error:
                self.not_read.append(
                    NotRead(
                        account=self._account,
                        region=self._region,
                        market=name,
                        why=error.why,
                        detail=error.detail,
                    )
                )
        return found

    # --- EC2 -----------------------------------------------------------------------------------

    def _instances(self) -> Iterator[Leftover]:
        filters = [("tag:" + PURCHASE, self._purchases)]
        held = [one for one in self._ids() if one.startswith("cr-")]
        if held:
            filters.append(("capacity-reservation-id", held))
        for name, values in filters:
            asked = [{"Name": name, "Values": values}]
            for page in self._pages("ec2", "describe_instances", Filters=asked, MaxResults=1000):
                for launch in understood(use_rows.Launches, page).reservations:
                    for row in launch.instances:
                        if row.instance_id and word(row.state.name) != "terminated":
                            self._machines[row.instance_id] = row
                            yield self._instance(row.instance_id, row)

    def _instance(self, name: str, row: use_rows.Instance) -> Leftover:
        block = row.instance_lifecycle == "capacity-block"
        state = word(row.state.name)
        unpriced = block or row.instance_lifecycle == "spot" or state == "stopped"
        price = None if unpriced else self._on_demand(row.instance_type or "")
        if state == "shutting-down":
            price = Decimal(0)  # EC2 User Guide, "Instance lifecycle": not billed any more
        return self._item(
            LeftoverKind.INSTANCE,
            name,
            state,
            purchase_of(row.tags),
            detail=row.instance_type or "",
            prepaid=block,
            usd_per_day=price * HOURS if price is not None else None,
        )

    def _spot_requests(self) -> Iterator[Leftover]:
        """Yield requests that can start machines yet; a fulfilled one-time one ends by itself."""
        for page in self._pages(
            "ec2",
            "describe_spot_instance_requests",
            Filters=[{"Name": "state", "Values": ["open", "active"]}],
        ):
            for row in understood(use_rows.SpotRequests, page).spot_instance_requests:
                machine = self._machines.get(row.instance_id or "")
                owner = purchase_of(row.tags) or (purchase_of(machine.tags) if machine else None)
                starts_more = row.type == "persistent" or row.state == "open"
                if row.spot_instance_request_id and owner in self._purchases and starts_more:
                    yield self._item(
                        LeftoverKind.SPOT_REQUEST,
                        row.spot_instance_request_id,
                        row.state or "unknown",
                        owner,
                        prepaid=True,
                    )

    def _fleets(self) -> Iterator[Leftover]:
        for page in self._pages("ec2", "describe_fleets", MaxResults=100):
            for row in understood(use_rows.Fleets, page).fleets:
                owner = purchase_of(row.tags)
                over = (row.fleet_state or "") in _FLEET_OVER or row.type == "instant"
                if row.fleet_id and owner in self._purchases and not over:
                    yield self._item(
                        LeftoverKind.FLEET, row.fleet_id, row.fleet_state or "unknown", owner
                    )

    def _volumes(self) -> Iterator[Leftover]:
        filters = [{"Name": "tag:" + PURCHASE, "Values": self._purchases}]
        for page in self._pages("ec2", "describe_volumes", Filters=filters, MaxResults=500):
            for row in understood(use_rows.Volumes, page).volumes:
                if row.volume_id:
                    yield self._item(
                        LeftoverKind.VOLUME,
                        row.volume_id,
                        row.state or "unknown",
                        purchase_of(row.tags),
                        detail=f"{row.size or '?'} GiB {row.volume_type or ''}".strip(),
                    )

    def _reservations(self) -> Iterator[Leftover]:
        """Yield on-demand reservations, which bill until they are cancelled; blocks are paid."""
        own = {one for one in self._ids() if one.startswith("cr-")}
        filters = [{"Name": "state", "Values": sorted(_HELD)}]
        for page in self._pages("ec2", "describe_capacity_reservations", Filters=filters):
            for row in understood(wire.Reservations, page).capacity_reservations:
                name = row.capacity_reservation_id or ""
                owner = purchase_of(row.tags)
                if row.is_block or not (name in own or owner in self._purchases):
                    continue
                if row.owner_id in self._others():
                    continue  # it is shared with this account; who bought it lists it
                price = self._on_demand(row.instance_type or "")
                yield self._item(
                    LeftoverKind.RESERVATION,
                    name,
                    word(row.state),
                    owner,
                    detail=f"{row.count or '?'} x {row.instance_type}",
                    usd_per_day=price * HOURS * row.count if price and row.count else None,
                )

    def _shares(self) -> Iterator[Leftover]:
        """Yield shares with other accounts, which cost nothing."""
        for purchase in self._purchases:
            for name in shares_tagged(self._clients, self._account, self._region, purchase):
                yield self._item(LeftoverKind.SHARE, name, "active", purchase, prepaid=True)

    def _others(self) -> frozenset[str]:
        """Return the ids of the other accounts that the administrator's file names."""
        every = self._clients.accounts.values()
        mine = self._clients.account(self._account).account_id
        return frozenset(one.account_id for one in every) - {mine}

    # --- SageMaker -----------------------------------------------------------------------------

    def _endpoints(self) -> Iterator[Leftover]:
        plans = {one for one in self._ids() if ":training-plan/" in one}
        seen = 0
        for page in self._pages("sagemaker", "list_endpoints", MaxResults=100):
            for row in understood(use_rows.Endpoints, page).endpoints:
                seen += 1
                if seen > _MOST_DESCRIBED:
                    raise MarketError("unknown", f"more than {_MOST_DESCRIBED} endpoints")
                if row.endpoint_name is not None:
                    yield from self._endpoint(row, row.endpoint_name, plans)

    def _endpoint(
        self, row: use_rows.EndpointSummary, name: str, plans: set[str]
    ) -> Iterator[Leftover]:
        answer = read(self._client("sagemaker"), "describe_endpoint", EndpointName=name)
        shown = understood(use_rows.Endpoint, answer)
        used = {
            variant.capacity_reservation_config.ml_reservation_arn
            for variant in shown.production_variants
            if variant.capacity_reservation_config is not None
        }
        owner = self._owner(row.endpoint_arn)
        if used & plans or owner in self._purchases:
            yield self._item(
                LeftoverKind.ENDPOINT,
                name,
                row.endpoint_status or "unknown",
                owner,
                prepaid=bool(used & plans),
            )

    def _configurations(self) -> Iterator[Leftover]:
        """Yield configurations, which cost nothing, so that nothing is left lying about."""
        plans = {one for one in self._ids() if ":training-plan/" in one}
        subject = gpu_id(self._receipts[0].reservation_id)
        for page in self._pages(
            "sagemaker", "list_endpoint_configs", NameContains=subject, MaxResults=100
        ):
            for row in understood(use_rows.Configurations, page).endpoint_configs:
                name = row.endpoint_config_name
                if name is None:
                    continue
                answer = read(
                    self._client("sagemaker"), "describe_endpoint_config", EndpointConfigName=name
                )
                shown = understood(use_rows.Configuration, answer)
                used = {
                    variant.capacity_reservation_config.ml_reservation_arn
                    for variant in shown.production_variants
                    if variant.capacity_reservation_config is not None
                }
                if used & plans:
                    yield self._item(
                        LeftoverKind.CONFIGURATION,
                        name,
                        "there",
                        self._owner(row.endpoint_config_arn),
                        prepaid=True,
                    )

    def _owner(self, arn: str | None) -> str | None:
        return sagemaker_purchase(self._clients, self._account, self._region, arn) if arn else None

    # --- shared --------------------------------------------------------------------------------

    def _ids(self) -> tuple[str, ...]:
        return tuple(receipt.id.partition(_EXTENSION)[0] for receipt in self._receipts)

    def _client(self, service: str) -> Any:
        return self._clients.reading(service, self._account, self._region)

    def _pages(self, service: str, operation: str, **parameters: Any) -> Iterator[Any]:
        return pages(self._client(service), operation, **parameters)

    def _on_demand(self, instance_type: str) -> Decimal | None:
        try:
            price = self._prices.ec2(self._account, self._region, instance_type, LINUX)
        except MarketError:
            price = None
        price = price or catalog_price(self._region, instance_type)
        return price.usd_per_hour if price is not None else None

    def _item(
        self,
        kind: LeftoverKind,
        name: str,
        state: str,
        purchase: str | None,
        *,
        detail: str = "",
        prepaid: bool = False,
        usd_per_day: Decimal | None = None,
    ) -> Leftover:
        return Leftover(
            kind=kind,
            id=name,
            account=self._account,
            region=self._region,
            state=state,
            purchase=purchase,
            detail=detail,
            prepaid=prepaid,
            usd_per_day=usd_per_day,
        )
