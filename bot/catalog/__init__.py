"""The packaged catalog: instance types, accelerators and region names, with date and source.

Made from public AWS data on 2026-11-29 (see data/README.md). GPU counts come from
DescribeInstanceTypes output, never from a type's name. Prices in here are a dated fall-back.
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True)
class InstanceType:
    """One instance type (or UltraServer). `accelerators` is below 1 for fractional GPUs.

    `ml_name` is None where SageMaker has no such type; memory per accelerator in GiB.
    """

    name: str
    ml_name: str | None
    accelerator: str
    accelerators: Decimal
    memory_gib: Decimal
    vcpus: int
    efa: bool
    efa_interfaces: int | None
    capacity_blocks: bool
    training_plans: bool
    spot: bool
    on_demand: bool
    ultraserver: str | None

    @property
    def family(self) -> str:
        """What stands before the dot: p5 of p5.48xlarge."""
        return self.name.partition(".")[0]


@dataclass(frozen=True, slots=True)
class Region:
    """One region or Local Zone. `parent` is set for Local Zones."""

    code: str
    parent: str | None
    kind: str
    name: str
    zone_ids: tuple[str, ...]
    capacity_block_types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Catalog:
    """Lookup by name over all types and regions."""

    types: dict[str, InstanceType]
    regions: dict[str, Region]

    def carrying(self, accelerator: str) -> tuple[InstanceType, ...]:
        """Return the instance types that carry the accelerator (UltraServers apart), by name."""
        wanted = accelerator.casefold()
        return tuple(
            kind
            for kind in self.types.values()
            if kind.accelerator.casefold() == wanted and not kind.name.startswith("u-")
        )


def _rows(name: str) -> Iterator[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def _instance_type(row: dict[str, str]) -> InstanceType:
    return InstanceType(
        name=row["instance_type"],
        ml_name=row["ml_instance_type"] or None,
        accelerator=row["accelerator"],
        accelerators=Decimal(row["accelerator_count"]),
        memory_gib=Decimal(row["accel_mem_gib"]),
        vcpus=int(row["vcpus"]),
        efa=row["efa"] == "yes",
        efa_interfaces=int(row["efa_max_interfaces"]) if row["efa_max_interfaces"] else None,
        capacity_blocks=row["capacity_blocks"] == "yes",
        training_plans=row["training_plans"] == "yes",
        spot=row["spot"] == "yes",
        on_demand=row["on_demand"] == "yes",
        ultraserver=row["ultraserver"] or None,
    )


def _region(row: dict[str, str]) -> Region:
    return Region(
        code=row["region"],
        parent=row["parent_region"] or None,
        kind=row["kind"],
        name=row["name"],
        zone_ids=tuple(row["zone_ids"].split()),
        capacity_block_types=tuple(row["capacity_block_types"].split()),
    )


@cache
def region_names() -> tuple[str, ...]:
    """Return the codes of all Regions, Local Zones apart."""
    return tuple(row["region"] for row in _rows("regions.csv") if row["kind"] == "region")


@cache
def platforms() -> tuple[str, ...]:
    """Return the platforms that AWS reserves capacity for, as it writes them."""
    return tuple(row["platform"] for row in _rows("platforms.csv"))


@cache
def packaged() -> Catalog:
    """Return the catalog that ships with the product."""
    types = sorted((_instance_type(row) for row in _rows("accelerators.csv")), key=lambda t: t.name)
    regions = (_region(row) for row in _rows("regions.csv"))
    return Catalog(
        types={kind.name: kind for kind in types},
        regions={region.code: region for region in regions},
    )
