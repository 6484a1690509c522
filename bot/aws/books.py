"""What an account holds in a Region now: reservations, plans and running machines, once a read."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import takewhile
from typing import Final

from bot.aws import wire
from bot.aws.calls import pages, understood
from bot.aws.clients import Clients
from bot.catalog import Catalog

_PAGE: Final = 100
_HELD: Final = frozenset(
    {"active", "scheduled", "pending", "payment-pending", "delayed", "assessing"}
)


@dataclass(frozen=True, slots=True)
class RegionBooks:
    """One account's reservations and running accelerator machines in one Region."""

    reservations: tuple[wire.Reservation, ...]
    instances: tuple[wire.Instance, ...]

    def vcpus(self, *, spot: bool, prefixes: tuple[str, ...], catalog: Catalog) -> int | None:
        """Return the vCPUs that count against a family's quota; None when a size is unknown.

        On-demand counts running machines outside blocks and the unused part of ODCRs
        (EC2 User Guide, "On-Demand Instance quotas").
        """
        types: list[tuple[str, int]] = []
        for machine in self.instances:
            lifecycle = machine.instance_lifecycle or "on-demand"
            if lifecycle == ("spot" if spot else "on-demand"):
                types.append((machine.instance_type or "", 1))
        if not spot:
            types += [
                (held.instance_type or "", held.available_instance_count or 0)
                for held in self.reservations
                if not held.is_block and held.state in _HELD
            ]
        return _sum(types, prefixes, catalog)

    def block_vcpus(self, *, at: datetime, prefix: str, catalog: Catalog) -> int | None:
        """Return the vCPUs of blocks that run at that moment: they count while active."""
        types = [
            (held.instance_type or "", held.count or 0)
            for held in self.reservations
            if held.is_block
            and held.state in _HELD
            and (held.start_date is None or held.start_date <= at)
            and (held.end_date is None or at < held.end_date)
        ]
        return _sum(types, (prefix,), catalog)


def _sum(types: list[tuple[str, int]], prefixes: tuple[str, ...], catalog: Catalog) -> int | None:
    total = 0
    for name, count in types:
        if not name.startswith(prefixes) or count == 0:
            continue
        known = catalog.types.get(name)
        if known is None:
            return None
        total += known.vcpus * count
    return total


def read_instances(
    clients: Clients, account: str, region: str, types: Iterable[str]
) -> list[wire.Instance]:
    """Return the machines that run in the quota families of these types. Raises MarketError."""
    families = sorted({_letters(name) for name in types})
    if not families:
        return []
    filters = [
        {"Name": "instance-state-name", "Values": ["pending", "running"]},
        {"Name": "instance-type", "Values": [f"{letters}*" for letters in families]},
    ]
    client = clients.reading("ec2", account, region)
    found: list[wire.Instance] = []
    for page in pages(client, "describe_instances", Filters=filters, MaxResults=_PAGE):
        for launch in understood(wire.Launches, page).reservations:
            found += launch.instances
    return found


def _letters(instance_type: str) -> str:
    """Return the letters that a type's quota family begins with: p of p5.48xlarge."""
    return "".join(takewhile(str.isalpha, instance_type.removeprefix("u-")))


def read_reservations(clients: Clients, account: str, region: str) -> list[wire.Reservation]:
    """Return every capacity reservation in every state. Raises MarketError."""
    client = clients.reading("ec2", account, region)
    found: list[wire.Reservation] = []
    for page in pages(client, "describe_capacity_reservations", MaxResults=_PAGE):
        found += understood(wire.Reservations, page).capacity_reservations
    return found


def read_plans(clients: Clients, account: str, region: str) -> list[wire.Plan]:
    """Return every training plan. Raises MarketError."""
    client = clients.reading("sagemaker", account, region)
    found: list[wire.Plan] = []
    for page in pages(client, "list_training_plans", MaxResults=_PAGE):
        found += understood(wire.Plans, page).training_plan_summaries
    return found


def plan_tags(clients: Clients, account: str, region: str, arn: str) -> dict[str, str]:
    """Return the tags of a training plan. Raises MarketError."""
    client = clients.reading("sagemaker", account, region)
    found: list[wire.Tag] = []
    for page in pages(client, "list_tags", ResourceArn=arn):
        found += understood(wire.Tags, page).tags
    return wire.tagged(tuple(found))
