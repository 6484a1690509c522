"""How the machines of a receipt are: counts, checks, interconnect, and notices of spot.

The two-minute notice is seen in the status of the spot request (`marked-for-termination`);
the rebalance recommendation is sent by EventBridge and in the machine's own metadata only, so
it can't be read here (EC2 User Guide, "Spot Instance interruption notices" and "EC2 instance
rebalance recommendations").
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeVar

from bot.aws import use_rows, wire
from bot.aws.calls import pages, understood
from bot.aws.clients import Clients
from bot.aws.receipts import word
from bot.aws.tags import PURCHASE
from bot.aws.training_plan_buyer import read_plan
from bot.domain.errors import MarketError
from bot.domain.market import Kind, NotRead
from bot.domain.records import Receipt
from bot.domain.using import Health, Machine
from bot.policy.configuration import Account

T = TypeVar("T")

_EXTENSION: Final = "#"
_BATCH: Final = 100
_TAKEN: Final = ("Server.SpotInstanceTermination", "Server.SpotInstanceShutdown")
"""Codes of `StateReason` for a machine that AWS took (EC2 API, StateReason)."""
_ALIVE: Final = frozenset({"pending", "running"})


class AwsMachines:
    """See bot.ports.Machines."""

    def __init__(self, accounts: tuple[Account, ...], *, clients: Clients | None = None) -> None:
        self.clients = clients or Clients(accounts)

    def health(self, receipt: Receipt) -> Health:
        """See bot.ports.Machines."""
        look = _Look(self.clients, receipt)
        if receipt.kind is Kind.TRAINING_PLAN:
            return look.plan()
        if receipt.kind in (Kind.ON_DEMAND, Kind.SPOT):
            return look.launch()
        return look.reservation()


class _Look:
    """One look at one receipt; what can't be read is kept apart."""

    def __init__(self, clients: Clients, receipt: Receipt) -> None:
        self._clients = clients
        self._receipt = receipt
        self._id = receipt.id.partition(_EXTENSION)[0]
        self._not_read: list[NotRead] = []

    def plan(self) -> Health:
        """Return a training plan's counts."""
        name = self._id.rpartition("/")[2]
        receipt = self._receipt
        plan = self._tried(
            "training plan",
            lambda: read_plan(self._clients, receipt.account, receipt.region, name),
            None,
        )
        if plan is None:
            return self._health(state=receipt.state)
        return self._health(
            state=word(plan.status),
            total=plan.total_instance_count,
            used=plan.in_use_instance_count,
            free=plan.available_instance_count,
            unhealthy=plan.unhealthy_instance_count,
        )

    def launch(self) -> Health:
        """Return machines that were launched by themselves."""
        machines = self._machines("tag:" + PURCHASE, self._receipt.purchase_id)
        alive = sum(1 for machine in machines if machine.state in _ALIVE)
        return self._health(
            state="running" if alive else self._receipt.state,
            total=len(machines) or None,
            used=alive if machines else None,
            unhealthy=sum(1 for machine in machines if machine.impaired) if machines else None,
            machines=machines,
        )

    def reservation(self) -> Health:
        """Return a Capacity Block or an on-demand reservation with the machines in it."""
        rows = self._tried(
            "capacity reservation", self._reservations, tuple[wire.Reservation, ...]()
        )
        row = next((one for one in rows if one.capacity_reservation_id == self._id), None)
        machines = self._machines("capacity-reservation-id", self._id)
        block = self._block() if row is not None and row.is_block else use_rows.BlockStatus()
        total = row.total_instance_count if row else None
        free = row.available_instance_count if row else None
        used = sum(1 for machine in machines if machine.state in _ALIVE)
        return self._health(
            state=word(row.state) if row else self._receipt.state,
            total=total,
            used=used,
            free=free,
            unhealthy=block.total_unavailable_capacity,
            interconnect=block.interconnect_status,
            machines=machines,
        )

    def _reservations(self) -> tuple[wire.Reservation, ...]:
        return tuple(
            row
            for page in self._pages(
                "describe_capacity_reservations", CapacityReservationIds=[self._id]
            )
            for row in understood(wire.Reservations, page).capacity_reservations
        )

    def _block(self) -> use_rows.BlockStatus:
        def read() -> use_rows.BlockStatus:
            for page in self._pages("describe_capacity_block_status", MaxResults=_BATCH):
                for block in understood(use_rows.BlockStatuses, page).capacity_block_statuses:
                    held = block.capacity_reservation_statuses
                    if any(one.capacity_reservation_id == self._id for one in held):
                        return block
            return use_rows.BlockStatus()

        return self._tried("interconnect status", read, use_rows.BlockStatus())

    def _machines(self, filtered_by: str, value: str) -> tuple[Machine, ...]:
        rows = self._tried(
            "instances",
            lambda: tuple(self._instances(filtered_by, value)),
            tuple[use_rows.Instance, ...](),
        )
        alive = [row for row in rows if word(row.state.name) in _ALIVE]
        impaired = self._tried("instance status", lambda: self._impaired(alive), frozenset[str]())
        notices: dict[str, str] = {}
        if any(row.instance_lifecycle == "spot" for row in rows):
            notices = self._tried("spot requests", lambda: self._notices(rows), notices)
        return tuple(
            Machine(
                id=row.instance_id or "",
                state=word(row.state.name),
                zone=row.placement.availability_zone,
                impaired=row.instance_id in impaired,
                reason=row.state_reason.code or "",
                notice=notices.get(row.instance_id or "") or _taken(row),
            )
            for row in rows
        )

    def _instances(self, filtered_by: str, value: str) -> Iterator[use_rows.Instance]:
        filters = [{"Name": filtered_by, "Values": [value]}]
        for page in self._pages("describe_instances", Filters=filters, MaxResults=1000):
            for row in understood(use_rows.Launches, page).reservations:
                yield from row.instances

    def _impaired(self, rows: Iterable[use_rows.Instance]) -> frozenset[str]:
        ids = [row.instance_id for row in rows if row.instance_id]
        found: set[str] = set()
        for first in range(0, len(ids), _BATCH):
            part = ids[first : first + _BATCH]
            for page in self._pages("describe_instance_status", InstanceIds=part):
                for row in understood(use_rows.InstanceStatuses, page).instance_statuses:
                    words = {row.system_status.status, row.instance_status.status}
                    if "impaired" in words and row.instance_id:
                        found.add(row.instance_id)
        return frozenset(found)

    def _notices(self, rows: Iterable[use_rows.Instance]) -> dict[str, str]:
        """Return by machine why its spot request says that it is being or was taken."""
        ids = [row.instance_id for row in rows if row.instance_id]
        filters = [{"Name": "instance-id", "Values": ids[:200]}]
        found: dict[str, str] = {}
        for page in self._pages("describe_spot_instance_requests", Filters=filters):
            for row in understood(use_rows.SpotRequests, page).spot_instance_requests:
                code = row.status.code or ""
                taken = code.startswith(
                    ("marked-for-", "instance-terminated-", "instance-stopped-")
                )
                if taken and "by-user" not in code and row.instance_id:
                    found[row.instance_id] = code
        return found

    def _pages(self, operation: str, **parameters: Any) -> Iterator[Any]:
        client = self._clients.reading("ec2", self._receipt.account, self._receipt.region)
        return pages(client, operation, **parameters)

    def _tried(self, what: str, reading: Callable[[], T], otherwise: T) -> T:
        try:
            return reading()
        except MarketError as error:
            self._not_read.append(
                NotRead(
                    account=self._receipt.account,
                    region=self._receipt.region,
                    market=what,
                    why=error.why,
                    detail=error.detail,
                )
            )
            return otherwise

    def _health(self, **seen: Any) -> Health:
        return Health(receipt_id=self._receipt.id, not_read=tuple(self._not_read), **seen)


def _taken(row: use_rows.Instance) -> str:
    code = row.state_reason.code or ""
    return code if code in _TAKEN else ""
