"""What a kit is made of and what it is."""

from enum import StrEnum

from bot.catalog import Catalog
from bot.domain.base import Model
from bot.domain.market import Kind
from bot.domain.records import Receipt, gpu_id
from bot.domain.request import Target


class Format(StrEnum):
    """The tool that reads a kit."""

    CLI = "cli"
    BOTO3 = "boto3"
    TERRAFORM = "terraform"
    TEMPLATE = "launch-template"
    EKSCTL = "eksctl"
    KARPENTER = "karpenter"
    SLURM = "parallelcluster"


NAMES: dict[Format, str] = {
    Format.CLI: "AWS CLI",
    Format.BOTO3: "Python (boto3)",
    Format.TERRAFORM: "Terraform",
    Format.TEMPLATE: "EC2 launch template",
    Format.EKSCTL: "EKS managed node group (eksctl)",
    Format.KARPENTER: "Karpenter",
    Format.SLURM: "ParallelCluster (Slurm)",
}
"""How people call the formats, in the order in which they are offered."""


class Setting(Model):
    """Everything a kit needs. `capacity_id` is cr-…, a plan's ARN, or the launch (r-…).

    `subnet` and `template` are the account's own where the administrator's file names them.
    `user` is the account to launch from where `buyer` shares it; `zone` is its name there, and
    `zone_id` the same in both. `waits_for` is the account that it is not shared with yet.
    """

    reservation: str
    purchase: str
    kind: Kind
    target: Target | None
    capacity_id: str
    region: str
    zone: str | None
    instance_type: str
    count: int
    platform: str
    efa: bool
    arm: bool
    subnet: str | None
    template: str | None
    buyer: str | None = None
    user: str | None = None
    zone_id: str | None = None
    waits_for: str | None = None

    @property
    def tags(self) -> dict[str, str]:
        """Return the tags by which the machines are found again when the time is over."""
        return {"gpubot:reservation": self.reservation, "gpubot:purchase": self.purchase}

    @property
    def block(self) -> bool:
        """Return whether it is a Capacity Block, which needs its own market type."""
        return self.kind is Kind.CAPACITY_BLOCK


class Kit(Model):
    """One text to paste. `notes` say what to fill in and what AWS refuses."""

    format: Format
    title: str
    text: str
    notes: tuple[str, ...]


_ARM = ("p6e-", "g5g", "ml.p6e-")
"""Grace Blackwell and Graviton machines (EC2 instance types, processor architecture)."""


def setting_of(
    receipt: Receipt,
    catalog: Catalog,
    *,
    platform: str,
    subnets: dict[str, str],
    templates: dict[str, str],
) -> Setting:
    """Return the setting of a receipt in its account."""
    known = catalog.types.get(receipt.instance_type.removeprefix("ml."))
    return Setting(
        reservation=gpu_id(receipt.reservation_id),
        purchase=receipt.purchase_id,
        kind=receipt.kind,
        target=_target(receipt),
        capacity_id=receipt.id.partition("#")[0],
        region=receipt.region,
        zone=receipt.zone,
        instance_type=receipt.instance_type,
        count=receipt.total_count or receipt.instance_count,
        platform=platform,
        efa=known.efa if known is not None else False,
        arm=receipt.instance_type.startswith(_ARM),
        subnet=subnets.get(receipt.zone or ""),
        template=templates.get(receipt.region),
    )


def _target(receipt: Receipt) -> Target | None:
    if receipt.kind is not Kind.TRAINING_PLAN:
        return None
    return Target(receipt.target) if receipt.target else Target.TRAINING_JOB
