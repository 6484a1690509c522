"""Service quotas, in the unit that AWS counts: vCPUs per family on EC2, machines on SageMaker.

Codes: EC2 instance types guide, "Amazon EC2 instance quotas"; EC2 User Guide, "Spot Instance
limits". A quota whose value is not known has the limit None, never 0.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta
from typing import Final

from bot.aws import wire
from bot.aws.books import RegionBooks
from bot.aws.calls import pages, read, understood
from bot.aws.clients import Clients
from bot.aws.rate import Shared
from bot.catalog import Catalog
from bot.domain.base import Model
from bot.domain.errors import MarketError
from bot.domain.market import Kind, Quota
from bot.ports import Clock

_KEEP: Final = timedelta(minutes=5)
_KEEP_NAMES: Final = timedelta(hours=24)

ON_DEMAND: Final = {
    "p": "L-417A185B",
    "g": "L-DB2E81BA",
    "vt": "L-DB2E81BA",
    "trn": "L-2C3B7624",
    "inf": "L-1945791B",
    "dl": "L-6E869C2A",
}
SPOT: Final = {
    "p": "L-7212CCBC",
    "p5": "L-C4BD4855",
    "g": "L-3819A6DF",
    "vt": "L-3819A6DF",
    "trn": "L-6B0D517C",
    "inf": "L-B5D1601B",
    "dl": "L-85EED4F7",
}
BLOCKS: Final = {
    "p4d": "L-2C8F52B3",
    "p5": "L-DA6814F2",
    "p5e": "L-C45F30BC",
    "p5en": "L-4F9BB70B",
    "trn1": "L-2E30FD7D",
    "trn2": "L-64569A79",
}

_BY_KINDS: Final[tuple[tuple[frozenset[Kind], Mapping[str, str]], ...]] = (
    (frozenset({Kind.ON_DEMAND, Kind.ODCR}), ON_DEMAND),
    (frozenset({Kind.SPOT}), SPOT),
    (frozenset({Kind.CAPACITY_BLOCK}), BLOCKS),
)
_COUNTED: Final = frozenset({"active", "scheduled", "pending"})
"""States in which a training plan uses up its quota."""

_UNKNOWN_CODES: Final = ("NoSuchResourceException", "ResourceNotFoundException")


class _Quota(wire.Row):
    """`Quota` and `Quotas[]` of Service Quotas."""

    quota_code: str | None = None
    quota_name: str | None = None
    value: wire.Fee = None


class _Answer(wire.Row):
    """Answer of GetServiceQuota and GetAWSDefaultServiceQuota."""

    quota: _Quota = _Quota()


class _Answers(wire.Row):
    """Answer of ListServiceQuotas and ListAWSDefaultServiceQuotas."""

    quotas: tuple[_Quota, ...] = ()


class LimitRow(Model):
    """A quota as AWS names it. `limit` is None when AWS knows the quota but no value."""

    name: str
    limit: int | None


class Quotas:
    """Reads quotas by code, remembered for five minutes."""

    def __init__(self, clients: Clients, *, clock: Clock, catalog: Catalog) -> None:
        self._clients = clients
        self._catalog = catalog
        self._kept: Shared[LimitRow | None] = Shared(clock=clock, keep=_KEEP)
        self._names: Shared[dict[str, str]] = Shared(clock=clock, keep=_KEEP_NAMES)

    def limit(self, account: str, region: str, service: str, code: str) -> LimitRow | None:
        """Return the applied value, else the default; None: no such quota. Raises MarketError."""
        return self._kept.get(
            (account, region, service, code), lambda: self._read(account, region, service, code)
        )

    def block_limit(self, account: str, region: str, instance_type: str) -> int | None:
        """Return the vCPU limit for blocks of the type, or None when it can't be known."""
        code = BLOCKS.get(_family(_member(instance_type, self._catalog)))
        if code is None:
            return None
        try:
            row = self.limit(account, region, "ec2", code)
        except MarketError:
            return None
        return row.limit if row else None

    def ec2_codes(self, types: Iterable[str], kinds: AbstractSet[Kind]) -> tuple[str, ...]:
        """Return the codes of the quotas that could stop those types for those kinds."""
        families = self._families(types)
        return tuple(
            dict.fromkeys(
                code
                for covered, codes in _BY_KINDS
                if covered & kinds
                for family in families
                for code in _codes(family, codes)
            )
        )

    def ec2_rows(
        self,
        books: RegionBooks | None,
        limits: Mapping[str, LimitRow | None],
        *,
        account: str,
        region: str,
        types: Iterable[str],
        at: datetime,
    ) -> list[Quota]:
        """Return the quotas that were read (`limits`, by code), with what is used of them.

        `at` is the moment for which blocks in use are counted. Without books what is used is
        not known.
        """
        rows: list[Quota] = []
        blocks = {BLOCKS[family]: family for family in self._families(types) if family in BLOCKS}
        for code, limit in limits.items():
            if limit is None:
                continue
            family = blocks.get(code)
            spot = code in SPOT.values()
            covered = families_in(limit.name) if family is None else (f"{family}.",)
            used = None
            if books is not None and family is not None:
                used = books.block_vcpus(at=at, prefix=f"{family}.", catalog=self._catalog)
            elif books is not None:
                used = books.vcpus(spot=spot, prefixes=covered, catalog=self._catalog)
            rows.append(
                Quota(
                    account=account,
                    region=region,
                    name=limit.name,
                    code=code,
                    kinds=(Kind.CAPACITY_BLOCK,) if family is not None else _counting(spot=spot),
                    types=tuple(f"{prefix}*" for prefix in covered),
                    unit="vcpus",
                    limit=limit.limit,
                    used=used,
                )
            )
        return rows

    def plan_rows(
        self,
        plans: Sequence[wire.Plan] | None,
        *,
        account: str,
        region: str,
        types: Iterable[str],
    ) -> list[Quota]:
        """Return the reserved-capacity quota of each `ml.` type; without plans no use is known.

        Raises MarketError.

        Name: "Number of ml.p5.48xlarge instances in reserved capacity across training plans per
        Region" (SageMaker Developer Guide, training plan quotas).
        """
        codes = self._names.get((account,), lambda: self._plan_codes(account, region))
        rows = []
        for name in types:
            code = codes.get(name)
            row = self.limit(account, region, "sagemaker", code) if code else None
            rows.append(
                Quota(
                    account=account,
                    region=region,
                    name=row.name if row else f"{name} in reserved capacity",
                    code=code,
                    kinds=(Kind.TRAINING_PLAN,),
                    types=(name,),
                    unit="instances",
                    limit=row.limit if row else None,
                    used=None if plans is None else _counted(plans, name),
                )
            )
        return rows

    def _families(self, types: Iterable[str]) -> list[str]:
        return sorted({_family(_member(name, self._catalog)) for name in types})

    def _read(self, account: str, region: str, service: str, code: str) -> LimitRow | None:
        client = self._clients.reading("service-quotas", account, region)
        for operation in ("get_service_quota", "get_aws_default_service_quota"):
            try:
                answer = read(client, operation, ServiceCode=service, QuotaCode=code)
            except MarketError as error:
                if error.detail.startswith(_UNKNOWN_CODES):
                    continue
                raise
            quota = understood(_Answer, answer).quota
            limit = None if quota.value is None else int(quota.value)
            return LimitRow(name=quota.quota_name or code, limit=limit)
        return None

    def _plan_codes(self, account: str, region: str) -> dict[str, str]:
        """Return the quota code by `ml.` type; codes are the same in every Region."""
        client = self._clients.reading("service-quotas", account, region)
        found: dict[str, str] = {}
        for operation in ("list_service_quotas", "list_aws_default_service_quotas"):
            for page in pages(client, operation, ServiceCode="sagemaker", MaxResults=100):
                for quota in understood(_Answers, page).quotas:
                    match = _RESERVED.search(quota.quota_name or "")
                    if match and quota.quota_code:
                        found.setdefault(match[1], quota.quota_code)
            if found:
                return found
        return found


_RESERVED: Final = re.compile(r"(ml\.\S+) (?:instances|UltraServers) in reserved capacity")
_FAMILY_WORDS: Final = re.compile(r"\b(?:[A-Z]{1,3}|DL|Inf|Trn|VT)\d*\w{0,2}\b")
_NOT_FAMILIES: Final = frozenset({"All", "Spot", "Running", "On", "EC2"})


def families_in(quota_name: str) -> tuple[str, ...]:
    """Return the type prefixes that a quota's name lists: "All P4, P3 and P2 Spot …".

    What a quota covers is what its own name says; AWS has split and renamed them before.
    """
    words = [word for word in _FAMILY_WORDS.findall(quota_name) if word not in _NOT_FAMILIES]
    return tuple(word.lower() for word in words)


def _codes(family: str, codes: Mapping[str, str]) -> Iterable[str]:
    """Yield the codes that may count the family: whole names for blocks, else by their letters."""
    for prefix, code in codes.items():
        if family == prefix or (codes is not BLOCKS and family.startswith(prefix)):
            yield code


def _counting(*, spot: bool) -> tuple[Kind, ...]:
    return (Kind.SPOT,) if spot else (Kind.ON_DEMAND, Kind.ODCR)


def _counted(plans: Iterable[wire.Plan], ml_type: str) -> int:
    """Return the machines of the plans that use up the type's quota."""
    return sum(
        plan.total_instance_count or 0
        for plan in plans
        if (plan.status or "").lower() in _COUNTED
        and any(part.instance_type == ml_type for part in plan.reserved_capacity_summaries)
    )


def _family(instance_type: str) -> str:
    return instance_type.partition(".")[0]


def _member(instance_type: str, catalog: Catalog) -> str:
    """Return the type of the machines in an UltraServer, by the catalog's accelerator."""
    known = catalog.types.get(instance_type)
    if known is None or not instance_type.startswith("u-"):
        return instance_type
    inner = catalog.carrying(known.accelerator)
    return next((kind.name for kind in inner if kind.ultraserver), instance_type)
