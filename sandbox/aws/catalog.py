"""What the simulated AWS sells and for how much, read from the packaged CSV files."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "bot" / "catalog" / "data"

LOCAL_ZONE_IDS = {
    "us-east-1-atl-2a": "use1-atl2-az1",
    "us-east-1-dfw-2a": "use1-dfw2-az1",
    "us-west-2-phx-2a": "usw2-phx2-az1",
}
"""Zone ids of the Local Zones that sell blocks; the data file knows only Atlanta's."""

ULTRASERVER_MEMBERS = {
    "u-p6e-gb200x72": ("p6e-gb200.36xlarge", 18),
    "u-p6e-gb200x36": ("p6e-gb200.36xlarge", 9),
}
"""Instances in one UltraServer (SageMaker Developer Guide: x72 is 18 instances of 4 GPUs)."""


@dataclass(frozen=True, slots=True)
class InstanceKind:
    """One row of accelerators.csv."""

    instance_type: str
    ml_instance_type: str
    vcpus: int
    capacity_blocks: bool
    training_plans: bool
    spot: bool
    ultraserver: bool

    @property
    def family(self) -> str:
        """The part of the type that quotas are named after: `p5en`, `trn1`, `g6e`."""
        return self.instance_type.split(".", maxsplit=1)[0]


@dataclass(frozen=True, slots=True)
class RegionRow:
    """One Region of regions.csv with the Local Zones that belong to it."""

    region: str
    zone_ids: tuple[str, ...]
    local_zones: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Catalog:
    """The five data files, keyed as the simulation asks for them."""

    kinds: dict[str, InstanceKind]
    regions: dict[str, RegionRow]
    offered_zone_ids: dict[tuple[str, str], tuple[str, ...]]
    block_rates: dict[tuple[str, str, str], Decimal]
    on_demand_rates: dict[tuple[str, str], Decimal]
    spot_rates: dict[tuple[str, str, str], Decimal]
    spot_savings: dict[tuple[str, str], int]

    def zone_ids(self, region: str, instance_type: str) -> tuple[str, ...]:
        """The ids of the zones that offer a type; a Region's own zones when not recorded."""
        known = self.offered_zone_ids.get((region, instance_type))
        if known is not None:
            return known
        row = self.regions.get(region)
        return row.zone_ids if row else ()

    def block_rate(self, region: str, instance_type: str, local_zone: str = "") -> Decimal | None:
        """USD per instance-hour (per UltraServer-hour) of a block, or nothing if not sold."""
        return self.block_rates.get((region, instance_type, local_zone))

    def sells_blocks(self, region: str, instance_type: str) -> bool:
        """Whether a Region, or a Local Zone of it, sells blocks of this type."""
        return any(key[:2] == (region, instance_type) for key in self.block_rates)

    def on_demand_rate(self, region: str, instance_type: str) -> Decimal | None:
        """USD per instance-hour on demand, Linux, shared tenancy."""
        return self.on_demand_rates.get((region, instance_type))

    def spot_rate(self, region: str, instance_type: str, zone_id: str) -> Decimal | None:
        """USD per spot instance-hour: a sample, else on demand less the advisor's saving."""
        sample = self.spot_rates.get((region, instance_type, zone_id))
        if sample is not None:
            return sample
        on_demand = self.on_demand_rate(region, instance_type)
        kind = self.kinds.get(instance_type)
        if on_demand is None or kind is None or not kind.spot:
            return None
        saving = self.spot_savings.get((region, instance_type), 50)
        return (on_demand * (100 - saving) / 100).quantize(Decimal("0.0001"))


def rows(name: str) -> Iterator[dict[str, str]]:
    """The rows of one data file, in order."""
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


@cache
def load_catalog() -> Catalog:
    """The data files, read once."""
    kinds = {
        row["instance_type"]: InstanceKind(
            instance_type=row["instance_type"],
            ml_instance_type=row["ml_instance_type"],
            vcpus=int(row["vcpus"]),
            capacity_blocks=row["capacity_blocks"] == "yes",
            training_plans=row["training_plans"] == "yes",
            spot=row["spot"] == "yes",
            ultraserver=row["ultraserver"] == "yes",
        )
        for row in rows("accelerators.csv")
    }
    block_rates: dict[tuple[str, str, str], Decimal] = {}
    on_demand: dict[tuple[str, str], Decimal] = {}
    spot: dict[tuple[str, str, str], Decimal] = {}
    for row in rows("prices.csv"):
        rate = Decimal(row["usd_per_instance_hour"])
        region, instance_type = row["region"], row["instance_type"]
        if row["option"] == "capacity_block" and row["status"] == "current":
            block_rates[region, instance_type, row["zone"]] = rate
        elif row["option"] == "on_demand" and row["status"] == "current":
            on_demand[region, instance_type] = rate
        elif row["option"] == "spot_sample":
            spot[region, instance_type, row["zone"]] = rate
    return Catalog(
        kinds=kinds,
        regions=_regions(),
        offered_zone_ids={
            (row["region"], row["instance_type"]): tuple(row["zone_ids"].split())
            for row in rows("offerings.csv")
        },
        block_rates=block_rates,
        on_demand_rates=on_demand,
        spot_rates=spot,
        spot_savings={
            (row["region"], row["instance_type"]): int(row["savings_over_on_demand_pct"])
            for row in rows("spot_advisor.csv")
        },
    )


def _regions() -> dict[str, RegionRow]:
    all_rows = list(rows("regions.csv"))
    return {
        row["region"]: RegionRow(
            region=row["region"],
            zone_ids=tuple(row["zone_ids"].split()),
            local_zones=tuple(
                local["region"] for local in all_rows if local["parent_region"] == row["region"]
            ),
        )
        for row in all_rows
        if not row["parent_region"]
    }
