"""Which formats fit a reservation, and the kit in one of them."""

import re
from collections.abc import Callable, Iterator
from functools import partial

from bot.domain.errors import UserError
from bot.domain.market import Kind
from bot.domain.request import Target
from bot.kits import clusters, ec2, sagemaker
from bot.kits.setting import NAMES, Format, Kit, Setting

_PLACEHOLDER = re.compile(r"your-[a-z0-9-]*[a-z0-9]")

_RESERVED: dict[Format, Callable[[Setting], str]] = {
    Format.CLI: ec2.cli,
    Format.BOTO3: ec2.boto3,
    Format.TERRAFORM: ec2.terraform,
    Format.TEMPLATE: ec2.template,
    Format.EKSCTL: clusters.eksctl,
    Format.KARPENTER: clusters.karpenter,
    Format.SLURM: clusters.slurm,
}
_PLANNED: dict[Format, Callable[[Setting], str]] = {
    Format.CLI: sagemaker.cli,
    Format.BOTO3: sagemaker.boto3,
}
_STARTED: dict[Format, Callable[[Setting], str]] = {
    Format.CLI: partial(ec2.described, as_python=False),
    Format.BOTO3: partial(ec2.described, as_python=True),
}

_USES: dict[Target, str] = {
    Target.EC2: "SageMaker training job",
    Target.TRAINING_JOB: "SageMaker training job",
    Target.HYPERPOD: "SageMaker HyperPod instance group",
    Target.ENDPOINT: "SageMaker endpoint",
    Target.STUDIO: "SageMaker Studio app",
}


def formats_for(setting: Setting) -> tuple[Format, ...]:
    """Return the formats that fit the kind of capacity, in the order people see them."""
    fitting = _writers(setting)
    return tuple(name for name in NAMES if name in fitting)


def kit(setting: Setting, name: Format) -> Kit:
    """Return the kit in that format. Raises UserError when it does not fit this capacity."""
    write = _writers(setting).get(name)
    if write is None:
        fitting = ", ".join(str(one) for one in formats_for(setting))
        raise UserError(f"{NAMES[name]} does not fit {setting.reservation}; these do: {fitting}.")
    text = write(setting)
    use = _USES.get(setting.target) if setting.target is not None else None
    title = f"{use}: {NAMES[name]}" if use else NAMES[name]
    return Kit(format=name, title=title, text=text, notes=_notes(setting, name, text))


def _writers(setting: Setting) -> dict[Format, Callable[[Setting], str]]:
    if setting.kind is Kind.TRAINING_PLAN:
        return _PLANNED
    if setting.kind in (Kind.ON_DEMAND, Kind.SPOT):
        return _STARTED
    return _RESERVED


def _notes(setting: Setting, name: Format, text: str) -> tuple[str, ...]:
    notes = [*_account_note(setting)]
    words = tuple(dict.fromkeys(_PLACEHOLDER.findall(text)))
    if words:
        notes.append(f"Replace {', '.join(words)}.")
    if setting.kind in (Kind.ON_DEMAND, Kind.SPOT):
        return ("The machines run already; this lists them.",)
    if setting.kind is Kind.TRAINING_PLAN:
        return (*notes, _plan_note(setting))
    notes.append(
        f"The image must be for {setting.platform}, the subnet in {setting.zone or setting.region}."
    )
    if setting.block:
        notes.append("No placement group: AWS refuses one in a Capacity Block.")
    if name is Format.KARPENTER:
        notes.append(
            "Karpenter 1.6 or later with the ReservedCapacity feature gate; it drains the nodes"
            " before the end."
            if setting.block
            else "Karpenter 1.3 or later with the ReservedCapacity feature gate."
        )
    return tuple(notes)


def _account_note(setting: Setting) -> Iterator[str]:
    """Yield from which account to launch, where that is not the one that bought it."""
    if setting.waits_for is not None:
        yield (
            f"It is not shared with {setting.waits_for} yet; this launches from {setting.buyer},"
            " which bought it."
        )
    if setting.user is not None:
        known = setting.zone not in (None, setting.zone_id)
        called = f", which is called {setting.zone} there" if known else ""
        yield (
            f"Launch with credentials of {setting.user}, in {setting.zone_id}{called}:"
            f" {setting.buyer} bought it and shares it."
        )


def _plan_note(setting: Setting) -> str:
    match setting.target:
        case Target.ENDPOINT:
            return "The plan must be Active; all variants of an endpoint share one plan."
        case Target.STUDIO:
            return "The plan must be Active, and maintenance needs one spare instance in it."
        case Target.HYPERPOD:
            return f"The subnet must be in {setting.zone or 'the plan’s zone'}."
        case _:
            return "A job may be started before the plan begins; it waits as Pending."
