"""What is said about machines: counts, states, and what to do with one that is not well."""

from collections.abc import Iterator
from datetime import datetime

from bot.domain.market import Kind
from bot.domain.records import Receipt, gpu_id
from bot.domain.saying import Code, Moment, Section, Sentence, Strong
from bot.domain.using import GpuUse, Health, Machine
from bot.services.reservations.using import average, gpu_words

MOST_LISTED = 20
ALIVE = frozenset({"pending", "running"})


def health_section(
    receipt: Receipt, health: Health, *, gpus: GpuUse | None = None, now: datetime
) -> Section:
    """Return one receipt's health, worst first, with how busy its GPUs are if anybody can tell."""
    return Section(sentences=tuple(_sentences(receipt, health, gpus, now)))


def _sentences(
    receipt: Receipt, health: Health, gpus: GpuUse | None, now: datetime
) -> Iterator[Sentence]:
    yield (
        Strong(text=gpu_id(receipt.reservation_id)),
        (
            f": {receipt.instance_count} x {receipt.instance_type} in"
            f" {receipt.zone or receipt.region}, "
        ),
        Code(text=receipt.id),
        f" is {health.state}, seen ",
        Moment(at=now),
        ".",
    )
    start = min((part.start for part in receipt.segments), default=now)
    if start > now and not health.machines:
        yield ("It has not begun: it begins ", Moment(at=start), ".")
    else:
        yield (_counts(health),)
    if gpus is not None and (gpus.machines or gpus.not_read):
        yield (_gpus(gpus),)
    if health.interconnect is not None:
        yield (_interconnect(health.interconnect),)
    for machine in _listed(health.machines):
        yield (Code(text=machine.id), f" is {machine.state}{_trouble(machine)}.")
    left = len(health.machines) - MOST_LISTED
    if left > 0:
        yield (f"{left} more are not listed.",)
    yield from _advice(receipt, health)
    for missing in health.not_read:
        yield (
            f"AWS did not let me read {missing.market} ({missing.why}), so that is not in here.",
        )


def _counts(health: Health) -> str:
    parts = [
        f"{count} {name}"
        for count, name in (
            (health.used, "used"),
            (health.free, "free"),
            (health.unhealthy, "unhealthy"),
        )
        if count is not None
    ]
    if not parts:
        return "AWS shows no counts."
    if health.total is None:
        return f"Machines: {', '.join(parts)}."
    many = "machine" if health.total == 1 else "machines"
    return f"Of {health.total} {many}: {', '.join(parts)}."


def _gpus(gpus: GpuUse) -> str:
    if gpus.not_read:
        return f"CloudWatch could not be asked how busy the GPUs are ({gpus.not_read})."
    if not gpus.reporting:
        return "No agent reports to CloudWatch how busy the GPUs are, so nobody knows."
    return f"GPUs are {average(gpus)} busy on average ({gpu_words(gpus)})."


def _interconnect(word: str) -> str:
    said = {
        "ok": "The interconnect is ok.",
        "impaired": (
            "The interconnect is impaired: jobs over several machines may hang or be slow."
            " Open a support case with AWS."
        ),
        "insufficient-data": "AWS has not enough data about the interconnect yet.",
    }
    return said.get(word, f"AWS says of the interconnect: {word}.")


def _listed(machines: tuple[Machine, ...]) -> list[Machine]:
    worst = sorted(
        machines, key=lambda one: (not (one.impaired or one.notice), one.state != "running", one.id)
    )
    return worst[:MOST_LISTED]


def _trouble(machine: Machine) -> str:
    if machine.notice:
        return f", and AWS takes it back ({machine.notice})"
    return ", but fails AWS's status check" if machine.impaired else ""


def _advice(receipt: Receipt, health: Health) -> Iterator[Sentence]:
    """Yield how to replace what fails (EC2 User Guide, Capacity Blocks)."""
    unwell = [machine for machine in health.machines if machine.impaired]
    if receipt.instance_type.removeprefix("ml.").startswith("u-"):
        if unwell or health.unhealthy:
            yield (
                (
                    "Machines of an UltraServer can't be replaced one by one: terminate all of them"
                    " and open a support case with AWS."
                ),
            )
        return
    if unwell and receipt.kind is Kind.CAPACITY_BLOCK:
        yield (
            "To replace one: ",
            Code(
                text=f"aws ec2 terminate-instances --instance-ids {unwell[0].id}"
                f" --region {receipt.region}"
            ),
            (
                ", wait until AWS has cleaned the slot (several minutes), then launch into the"
                " same block again with "
            ),
            Code(text=f"/gpu launch {gpu_id(receipt.reservation_id)}"),
            ". It costs nothing more.",
        )
    elif unwell:
        yield (
            "To replace one: terminate it and start another with ",
            Code(text=f"/gpu launch {gpu_id(receipt.reservation_id)}"),
            ".",
        )
    elif health.unhealthy and receipt.kind is Kind.TRAINING_PLAN:
        yield (
            (
                "SageMaker replaces failed machines of a plan by itself where it has a spare one;"
                " jobs should write checkpoints."
            ),
        )
    elif health.unhealthy:
        yield (
            (
                "AWS counts capacity as unusable that no machine of yours is in: it comes back"
                " once AWS has repaired it. Nothing is to be done but to wait some minutes."
            ),
        )
