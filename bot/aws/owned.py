"""Capacity that the accounts hold already: blocks, ODCRs and training plans, ours or not."""

from collections.abc import Iterable
from typing import Final

from bot.aws import wire
from bot.aws.books import plan_tags
from bot.aws.clients import Clients
from bot.aws.tags import OWNER
from bot.aws.zones import ZoneFacts, facts_of
from bot.domain.errors import MarketError
from bot.domain.market import Kind, Owned

_USABLE: Final = frozenset({"active", "scheduled"})


def owned_reservations(
    reservations: Iterable[wire.Reservation],
    *,
    account: str,
    region: str,
    types: frozenset[str],
    zones: dict[str, ZoneFacts],
) -> Iterable[Owned]:
    """Yield blocks and ODCRs of those types that run or will run."""
    for row in reservations:
        count = row.count
        if (
            row.capacity_reservation_id is None
            or row.instance_type not in types
            or row.state not in _USABLE
            or row.start_date is None
            or count is None
            or row.interruptible
        ):
            continue
        waiting = row.state == "scheduled"
        free = row.available_instance_count
        yield Owned(
            ref=row.capacity_reservation_id,
            kind=Kind.CAPACITY_BLOCK if row.is_block else Kind.ODCR,
            account=account,
            region=region,
            zone=row.availability_zone,
            zone_id=row.availability_zone_id or facts_of(zones, row.availability_zone).id,
            instance_type=row.instance_type,
            target_resources=(),
            total_count=count,
            available_count=count if waiting or free is None else free,
            start=row.start_date,
            end=row.end_date,
            owner=wire.tagged(row.tags).get(OWNER),
        )


def owned_plans(
    clients: Clients,
    plans: Iterable[wire.Plan],
    *,
    account: str,
    region: str,
    types: frozenset[str],
) -> Iterable[Owned]:
    """Yield training plans of those `ml.` types that run or will run."""
    for plan in plans:
        parts = [part for part in plan.reserved_capacity_summaries if part.start_time]
        first = min(parts, key=lambda part: str(part.start_time), default=None)
        instance_type = first.instance_type if first else None
        start = plan.start_time or (first.start_time if first else None)
        total = plan.total_instance_count
        if (
            plan.training_plan_arn is None
            or (plan.status or "").lower() not in _USABLE
            or instance_type is None
            or instance_type not in types
            or start is None
            or total is None
        ):
            continue
        in_use = plan.in_use_instance_count or 0
        free = plan.available_instance_count
        waiting = (plan.status or "").lower() == "scheduled" and not free
        yield Owned(
            ref=plan.training_plan_arn,
            kind=Kind.TRAINING_PLAN,
            account=account,
            region=region,
            zone=first.availability_zone if first else None,
            zone_id=first.availability_zone_id if first else None,
            instance_type=instance_type,
            target_resources=plan.target_resources,
            total_count=total,
            available_count=total - in_use if waiting or free is None else free,
            start=start,
            end=plan.end_time,
            owner=_owner(clients, account, region, plan.training_plan_arn),
        )


def _owner(clients: Clients, account: str, region: str, arn: str) -> str | None:
    """Return who owns the plan; unknown when its tags can't be read."""
    try:
        return plan_tags(clients, account, region, arn).get(OWNER)
    except MarketError:
        return None
