"""Checks for the doctor: who the credentials are, what they may do, whether the catalog is true."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from email.utils import parsedate_to_datetime
from typing import Any, Final, Literal

from bot.aws.calls import pages, read
from bot.aws.clients import Clients
from bot.aws.rehearsal import dry_run
from bot.catalog import Catalog, packaged
from bot.domain.base import Model
from bot.domain.errors import IndeterminateError, MarketError
from bot.domain.market import Kind, Segment
from bot.domain.records import Leg, LegPurpose
from bot.policy.configuration import Account
from bot.ports import Clock

_BATCH: Final = 100
_MOST_SKEW: Final = timedelta(seconds=30)
"""Slack's signatures are good for five minutes, and so are AWS's; a kept clock is within one."""
_ENABLED: Final[tuple[str, str, dict[str, Any]]] = ("ec2", "describe_availability_zones", {})
"""What a Region refuses that the account has not switched on."""


class Check(Model):
    """One thing that was checked, and what AWS said."""

    name: str
    result: Literal["ok", "refused", "unknown"]
    detail: str = ""


_READS: Final[tuple[tuple[str, str, dict[str, Any]], ...]] = (
    ("ec2", "describe_capacity_reservations", {"MaxResults": 5}),
    ("ec2", "describe_availability_zones", {}),
    ("ec2", "describe_instances", {"MaxResults": 5}),
    ("sagemaker", "list_training_plans", {"MaxResults": 1}),
    ("service-quotas", "get_service_quota", {"ServiceCode": "ec2", "QuotaCode": "L-417A185B"}),
)


def check_identity(
    accounts: tuple[Account, ...],
    *,
    clock: Clock,
    clients: Clients | None = None,
    catalog: Catalog | None = None,
) -> tuple[Check, ...]:
    """Return a row for each account's identity, each permission, and each GPU count that differs.

    Nothing is bought: purchases are asked for with DryRun.
    """
    own = clients or Clients(accounts)
    rows: list[Check] = []
    for account in accounts:
        rows.append(_caller(own, account))
        region = account.regions[0]
        rows += [_read_check(own, account, region, call) for call in _READS]
        rows += [_read_check(own, account, other, _ENABLED) for other in account.regions[1:]]
        rows += _dry_runs(own, account, region, now=clock.now())
        rows += _sharing(own, account)
    if accounts:
        rows += _clock(own, accounts[0])
        rows += _gpu_counts(own, accounts[0], catalog or packaged())
    return tuple(rows)


def _caller(clients: Clients, account: Account) -> Check:
    name = f"account {account.name}"
    try:
        answer = read(
            clients.reading("sts", account.name, account.regions[0]), "get_caller_identity"
        )
    except MarketError as error:
        return _failed(name, error)
    found = str(answer.get("Account"))
    if found == account.account_id:
        return Check(name=name, result="ok", detail=f"the credentials are of {found}")
    return Check(
        name=name,
        result="refused",
        detail=f"the credentials are of {found}; the configuration says {account.account_id}",
    )


def _clock(clients: Clients, account: Account) -> Iterator[Check]:
    """Compare the machine's clock with AWS's: five minutes apart, no signature is taken."""
    client = clients.reading("sts", account.name, account.regions[0])
    try:
        answer = read(client, "get_caller_identity")
        said = answer["ResponseMetadata"]["HTTPHeaders"]["date"]
        apart = abs(parsedate_to_datetime(said) - datetime.now(UTC))
    except (MarketError, KeyError, TypeError, ValueError):
        return
    seconds = f"{apart.total_seconds():.0f} s from AWS's"
    yield Check(name="clock", result="ok" if apart < _MOST_SKEW else "refused", detail=seconds)


def _read_check(
    clients: Clients, account: Account, region: str, call: tuple[str, str, dict[str, Any]]
) -> Check:
    service, operation, parameters = call
    name = f"{account.name} {region} {operation}"
    try:
        read(clients.reading(service, account.name, region), operation, **parameters)
    except MarketError as error:
        return _failed(name, error)
    return Check(name=name, result="ok")


def _sharing(clients: Clients, account: Account) -> Iterator[Check]:
    """Look at the shares of an account that shares, where it buys. RAM knows no DryRun."""
    if not account.shares_with:
        return
    for region in account.regions:
        name = f"{account.name} {region} get_resource_shares"
        try:
            read(
                clients.reading("ram", account.name, region),
                "get_resource_shares",
                resourceOwner="SELF",
            )
        except MarketError as error:
            yield _failed(name, error)
        else:
            yield Check(
                name=name,
                result="ok",
                detail=(
                    "shares can be read; that one can be made shows only when it is"
                    " (docs/accounts.md says what the organization must allow)"
                ),
            )


def _dry_runs(clients: Clients, account: Account, region: str, *, now: datetime) -> Iterator[Check]:
    kinds = [Kind.CAPACITY_BLOCK, Kind.ODCR]
    if region in account.launch_templates:
        kinds.append(Kind.ON_DEMAND)
    for kind in kinds:
        leg = Leg(
            number=0,
            purpose=LegPurpose.INITIAL,
            kind=kind,
            ref="cb-0123456789abcdef0",
            account=account.name,
            region=region,
            zone=None,
            instance_type="p5.48xlarge",
            instance_count=1,
            segments=(Segment(start=now, end=now + timedelta(days=1)),),
            platform=account.platform,
            fee=Decimal(0),
        )
        try:
            operation, answer = dry_run(clients, leg)
        except IndeterminateError as error:
            yield Check(name=f"{account.name} {region} {kind}", result="unknown", detail=str(error))
            continue
        name = f"{account.name} {region} {operation}"
        if answer == "DryRunOperation":
            yield Check(name=name, result="ok")
        else:
            refused = ":" not in answer
            yield Check(name=name, result="refused" if refused else "unknown", detail=answer)


def _gpu_counts(clients: Clients, account: Account, catalog: Catalog) -> Iterator[Check]:
    """Compare the packaged accelerator counts with DescribeInstanceTypes, types of a Region."""
    region = account.regions[0]
    name = f"GPU counts of the catalog, {region}"
    known = {
        kind.name: int(kind.accelerators)
        for kind in catalog.types.values()
        if kind.accelerators == kind.accelerators.to_integral_value()
        and not kind.name.startswith("u-")
    }
    filters = [{"Name": "instance-type", "Values": _patterns(known)}]
    seen = 0
    wrong = False
    try:
        client = clients.reading("ec2", account.name, region)
        for page in pages(client, "describe_instance_types", Filters=filters, MaxResults=_BATCH):
            for row in page.get("InstanceTypes", ()):
                own = known.get(str(row.get("InstanceType")))
                live = _accelerators(row)
                if own is None or live is None:
                    continue
                seen += 1
                if own != live:
                    wrong = True
                    yield Check(
                        name=f"GPU count of {row['InstanceType']}",
                        result="refused",
                        detail=f"the catalog says {own}, AWS says {live}",
                    )
    except MarketError as error:
        yield _failed(name, error)
        return
    if not wrong:
        yield Check(name=name, result="ok" if seen else "unknown", detail=f"{seen} types compared")


def _patterns(names: Iterable[str]) -> list[str]:
    return sorted({f"{name.partition('.')[0]}.*" for name in names})


def _accelerators(row: dict[str, Any]) -> int | None:
    gpus = row.get("GpuInfo", {}).get("Gpus", ())
    devices = row.get("NeuronInfo", {}).get("NeuronDevices", ())
    counts = [part.get("Count") for part in (*gpus, *devices) if part.get("Count") is not None]
    return sum(counts) if counts else None


def _failed(name: str, error: MarketError) -> Check:
    result: Literal["refused", "unknown"] = "refused" if error.why == "refused" else "unknown"
    return Check(name=name, result=result, detail=f"{error.why}: {error.detail}")
