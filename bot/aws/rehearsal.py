"""What would stop a purchase, found out without spending: permission, quota, zone, platform.

A DryRun proves the permission only: not the price, the offering, the quota or the payment.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from bot.aws.capacity_block_buyer import PLATFORMS
from bot.aws.clients import Clients, Purpose
from bot.aws.errors import AUTH, code_of, message_of
from bot.aws.preflight import as_used, unlaunchable
from bot.aws.quotas import BLOCKS, ON_DEMAND, SPOT, Quotas
from bot.aws.tags import PURCHASE
from bot.aws.zones import Zones
from bot.catalog import Catalog
from bot.domain.errors import IndeterminateError, MarketError, RefusedError
from bot.domain.market import Kind
from bot.domain.records import Leg, LegPurpose
from bot.policy.configuration import Account
from bot.ports import Clock

PERMITTED: Final = "DryRunOperation"
"""The code with which AWS says that the call would have been allowed."""
_PERMITTED_FOR: Final = timedelta(hours=1)


class Permissions:
    """What the bot may buy, by DryRun; a yes holds for an hour, a no is asked again.

    PurchaseCapacityBlock has ten calls, then one in seven seconds, for each account and Region
    (EC2 Developer Guide, API throttling): ten proposals must not use them up for the purchase.
    """

    def __init__(self, clients: Clients, *, clock: Clock) -> None:
        self._clients = clients
        self._clock = clock
        self._permitted: dict[tuple[str, ...], datetime] = {}

    def missing(self, leg: Leg) -> Iterable[str]:
        """Yield why the leg may not be bought, as sentences. Raises IndeterminateError."""
        if leg.kind is Kind.TRAINING_PLAN:
            return
        key = (leg.account, leg.region, leg.kind.value, leg.purpose.value, leg.instance_type)
        since = self._permitted.get(key)
        if since is not None and abs(self._clock.now() - since) < _PERMITTED_FOR:
            return
        operation, answer = dry_run(self._clients, leg)
        where = f"account {leg.account}, {leg.region}"
        if answer == PERMITTED:
            self._permitted[key] = self._clock.now()
        elif answer in AUTH:
            yield f"The bot may not call {operation} in {where} ({answer})."
        else:
            yield (
                f"It could not be checked whether the bot may call {operation} in {where}:"
                f" {answer}."
            )


def rehearse(
    clients: Clients,
    leg: Leg,
    *,
    used_in: str | None = None,
    permissions: Permissions,
    zones: Zones,
    quotas: Quotas,
    catalog: Catalog,
) -> Sequence[str]:
    """Return what would stop the purchase, as sentences; see bot.ports.Buyer."""
    return [
        *permissions.missing(leg),
        *_platform(leg),
        *_launch(clients.account(leg.account), leg),
        *unlaunchable(clients, as_used(leg, used_in, zones), catalog),
        *_zone(zones, leg),
        *_quota(quotas, leg, catalog),
    ]


def dry_run(clients: Clients, leg: Leg) -> tuple[str, str]:
    """Return the operation and AWS's answer to its DryRun: DryRunOperation means permitted.

    Raises IndeterminateError if AWS did not treat it as a DryRun: it may have bought.
    """
    operation, parameters = _call(leg, clients.account(leg.account))
    purpose: Purpose = "launch" if operation == "run_instances" else "buy"
    try:
        client = clients.spending("ec2", leg.account, leg.region, purpose=purpose)
        getattr(client, operation)(DryRun=True, **parameters)
    except RefusedError as error:
        return operation, error.code
    except Exception as error:  # noqa: BLE001  # any failure is an answer to a rehearsal
        code = code_of(error)
        plain = code == PERMITTED or code in AUTH
        return operation, code if plain else f"{code}: {message_of(error)}"
    raise IndeterminateError("DryRunIgnored", f"{operation} was not treated as a DryRun")


def _call(leg: Leg, account: Account) -> tuple[str, dict[str, Any]]:
    tags = [{"Key": PURCHASE, "Value": "rehearsal"}]
    reservation_tags = [{"ResourceType": "capacity-reservation", "Tags": tags}]
    if leg.kind is Kind.CAPACITY_BLOCK and leg.purpose is LegPurpose.EXTENSION:
        return "purchase_capacity_block_extension", {
            "CapacityBlockExtensionOfferingId": leg.ref,
            "CapacityReservationId": (leg.extends or "").partition("#")[0],
        }
    if leg.kind is Kind.CAPACITY_BLOCK:
        return "purchase_capacity_block", {
            "CapacityBlockOfferingId": leg.ref,
            "InstancePlatform": leg.platform,
            "TagSpecifications": reservation_tags,
        }
    if leg.kind is Kind.ODCR:
        zone: dict[str, Any] = {"AvailabilityZone": leg.zone or f"{leg.region}a"}
        return "create_capacity_reservation", {
            "InstanceType": leg.instance_type,
            "InstancePlatform": leg.platform,
            "InstanceCount": leg.instance_count,
            "InstanceMatchCriteria": "targeted",
            "EndDateType": "limited",
            "EndDate": leg.segments[-1].end,
            "TagSpecifications": reservation_tags,
            **zone,
        }
    return "run_instances", {
        "LaunchTemplate": {"LaunchTemplateId": account.launch_templates.get(leg.region, "")},
        "InstanceType": leg.instance_type,
        "MinCount": leg.instance_count,
        "MaxCount": leg.instance_count,
        "TagSpecifications": [{"ResourceType": "instance", "Tags": tags}],
    }


def _platform(leg: Leg) -> Iterable[str]:
    if leg.kind is Kind.CAPACITY_BLOCK and leg.platform not in PLATFORMS:
        yield f"Capacity Blocks are not sold for the platform {leg.platform}."


def _launch(account: Account, leg: Leg) -> Iterable[str]:
    launched = leg.kind in {Kind.ON_DEMAND, Kind.SPOT}
    if launched and leg.region not in account.launch_templates:
        yield f"Account {leg.account} has no launch template for {leg.region}."


def _zone(zones: Zones, leg: Leg) -> Iterable[str]:
    names = {part.zone for part in leg.segments if part.zone} | ({leg.zone} if leg.zone else set())
    if not names:
        return
    try:
        known = zones.of(leg.account, leg.region)
    except MarketError as error:
        yield f"The zones of {leg.region} could not be read: {error.why}."
        return
    for name in sorted(names):
        if name in known and not known[name].opted_in:
            yield f"Account {leg.account} has not opted into the zone {name}."


def _quota(quotas: Quotas, leg: Leg, catalog: Catalog) -> Iterable[str]:
    """Compare the whole leg with the limit alone; what is used is the decision's business."""
    if leg.purpose is LegPurpose.EXTENSION or leg.kind in {Kind.TRAINING_PLAN, Kind.OWNED}:
        return
    known = catalog.types.get(leg.instance_type)
    code = _quota_code(leg)
    if known is None or code is None:
        return
    needed = known.vcpus * leg.instance_count
    try:
        row = quotas.limit(leg.account, leg.region, "ec2", code)
    except MarketError as error:
        yield f"The quota {code} in {leg.region} could not be read: {error.why}."
        return
    if row is not None and row.limit is not None and row.limit < needed:
        yield f"The quota {row.name} ({code}) is {row.limit} vCPUs; this needs {needed}."


def _quota_code(leg: Leg) -> str | None:
    family = leg.instance_type.partition(".")[0]
    if leg.kind is Kind.CAPACITY_BLOCK:
        return BLOCKS.get(family)
    codes = SPOT if leg.kind is Kind.SPOT else ON_DEMAND
    return next((code for prefix, code in codes.items() if family.startswith(prefix)), None)
