"""Which machines and how many: type, count and accelerators, from all that was said of them."""

from decimal import Decimal
from functools import partial
from math import ceil

from bot.catalog import InstanceType
from bot.language.names import Names, is_ultraserver
from bot.language.quantities import MOST_MACHINES
from bot.language.refusals import RefusalError
from bot.language.settling import Option, Settling

_SUGGESTED_GPUS = (8, 16, 32)


def settle_machines(settling: Settling) -> None:
    """Settle type, counts and accelerator.

    Raises:
        RefusalError: what was said cannot be bought so (fractions, half an UltraServer, too many).
    """
    names = settling.scene.names
    accelerator = _accelerator(settling)
    gpus = _whole(settling, "gpus", "accelerator_count")
    kind = _type(settling, accelerator)
    if kind is None:
        _without_type(settling, accelerator, gpus)
        return
    if inside := names.ultraservers_of(kind.name):
        kind, gpus = _inside(settling, kind, inside, gpus)
        if kind is None:
            return
    settling.fields["instance_type"] = kind.name
    if is_ultraserver(kind.name):
        settling.fields["ultraserver_type"] = kind.name
    if gpus is not None:
        settling.fields["accelerator_count"] = gpus
    if accelerator is not None and gpus is None and not settling.has("type"):
        _ask_gpus(settling, kind)
        return
    _count(settling, kind, gpus)
    _minimum(settling)


def _accelerator(settling: Settling) -> str | None:
    """Return the accelerator that was named, when one is left."""
    said = settling.readings("accelerator")
    if not said:
        return None
    options = [Option(name, str(name), str(name)) for name in said]
    found = settling.choose("accelerator", options)
    settling.fields.pop("accelerator", None)
    return str(found) if found is not None else None


def _whole(settling: Settling, part: str, field: str) -> int | None:
    said = settling.readings(part)
    if not said:
        return None
    found = settling.choose(field, [Option(n, str(n), str(n)) for n in said])
    return found if isinstance(found, int) else None


def _type(settling: Settling, accelerator: str | None) -> InstanceType | None:
    """Return the one type that is meant; asks when several are, or when none was said."""
    names = settling.scene.names
    said = [str(name) for name in settling.readings("type")]
    if said and accelerator is not None:
        fitting = [name for name in said if names.kind(name).accelerator == accelerator]
        said = fitting or [*said, *names.carriers(accelerator)]
    if not said and accelerator is not None:
        carriers = names.carriers(accelerator)
        if len(carriers) > 1 and not settling.has("count", "machines", "minimum"):
            return None
        said = list(carriers)
    if not said and settling.has("accelerator"):
        return None
    options = _options(names, said)
    if not said:
        options = _options(names, _sold_as_blocks(names))
    found = settling.choose(
        "instance_type", options, ask=not said, free=lambda text: _known(names, text)
    )
    return names.kind(str(found)) if found is not None else None


def _known(names: Names, text: str) -> str | None:
    return names.types.get(text.strip().lower().removeprefix("ml."))


def _options(names: Names, said: list[str]) -> list[Option]:
    return [Option(name, partial(_label, names.kind(name)), name) for name in said]


def _label(kind: InstanceType) -> str:
    return f"{kind.name} ({kind.accelerators.normalize():f} {kind.accelerator})"


def _sold_as_blocks(names: Names) -> list[str]:
    return [
        kind.name
        for kind in names.catalog.types.values()
        if kind.capacity_blocks
        and not is_ultraserver(kind.name)
        and not names.ultraservers_of(kind.name)
    ]


def _without_type(settling: Settling, accelerator: str | None, gpus: int | None) -> None:
    """Settle what stands without a type: an accelerator and a number of GPUs, or a bare count."""
    if accelerator is not None and "instance_type" not in settling.questions:
        settling.fields["accelerator"] = accelerator
        if gpus is None:
            if "accelerator_count" not in settling.questions:
                options = [Option(n, str(n), str(n)) for n in _SUGGESTED_GPUS]
                settling.choose("accelerator_count", options, ask=True, free=_positive)
        else:
            settling.fields["accelerator_count"] = gpus
            _refuse_too_many(settling, accelerator, gpus)
        return
    count = settling.readings("count") + settling.readings("machines")
    if count:
        _limit(settling, [n for n in count if isinstance(n, int)])
        settling.choose("instance_count", [Option(n, str(n), str(n)) for n in count])
    elif not settling.has("gpus") and settling.has("type"):
        settling.fields["instance_count"] = 1


def _refuse_too_many(settling: Settling, accelerator: str, gpus: int) -> None:
    names = settling.scene.names
    most = max(names.kind(name).accelerators for name in names.carriers(accelerator))
    if gpus > most * MOST_MACHINES:
        span = settling.span("gpus")
        raise RefusalError("too_many", tokens=span, mend=("8", "1"), limit=MOST_MACHINES)


def _positive(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and int(text[:9]) > 0 else None


def _ask_gpus(settling: Settling, kind: InstanceType) -> None:
    """Ask how many GPUs: an accelerator without a number is no number of machines."""
    per = int(kind.accelerators)
    options = [Option(n, str(n), str(n)) for n in (per, 2 * per, 4 * per)]
    found = settling.choose("accelerator_count", options, ask=True, free=_positive)
    if isinstance(found, int):
        settling.fields["accelerator_count"] = found
        _count(settling, kind, found)


def _inside(
    settling: Settling, kind: InstanceType, outer: tuple[InstanceType, ...], gpus: int | None
) -> tuple[InstanceType | None, int | None]:
    """Return the UltraServer that holds what was counted in its inner machines or GPUs.

    Raises:
        RefusalError: no whole UltraServer has that many.
    """
    counted = settling.readings("count") + settling.readings("machines")
    if gpus is None and settling.has("accelerator") and not counted:
        sizes = [int(whole.accelerators) for whole in outer]
        options = [Option(n, str(n), str(n)) for n in sizes]
        answered = settling.choose("accelerator_count", options, ask=True, free=_positive)
        settling.fields.pop("instance_type", None)
        if not isinstance(answered, int):
            settling.fields["accelerator"] = kind.accelerator
            return None, None
        gpus = answered
    if gpus is None:
        machines = [n for n in counted if isinstance(n, int)] or [1]
        if len(machines) > 1:
            settling.choose("instance_count", [Option(n, str(n), str(n)) for n in machines])
            return None, None
        wanted = machines[0] * kind.accelerators
    else:
        wanted = Decimal(gpus)
    fitting = [whole for whole in outer if wanted % whole.accelerators == 0]
    if not fitting:
        raise _no_whole(settling, kind, outer)
    options = _options(settling.scene.names, [whole.name for whole in fitting])
    settling.fields.pop("instance_type", None)
    found = settling.choose("instance_type", options)
    if found is None:
        return None, None
    chosen = settling.scene.names.kind(str(found))
    settling.parts.pop("count", None)
    settling.parts.pop("machines", None)
    if gpus is None:
        settling.fields["instance_count"] = int(wanted / chosen.accelerators)
    return chosen, gpus


def _no_whole(
    settling: Settling, inner: InstanceType, outer: tuple[InstanceType, ...]
) -> RefusalError:
    sizes = ", ".join(
        f"{whole.name} = {int(whole.accelerators / inner.accelerators)} machines"
        f" = {int(whole.accelerators)} GPUs"
        for whole in outer
    )
    span = settling.span("type", "accelerator")
    mend = tuple(whole.name for whole in outer)
    count = settling.span("count", "machines", "gpus")
    if count and span:
        span = (min(span[0], count[0]), max(span[1], count[1]))
    return RefusalError("ultraserver_size", tokens=span, mend=mend, sizes=sizes)


def _count(settling: Settling, kind: InstanceType, gpus: int | None) -> None:
    """Settle the number of machines (of UltraServers, for an UltraServer type).

    Raises:
        RefusalError: GPUs of a fractional type, half an UltraServer, too many machines.
    """
    if "instance_count" in settling.fields:
        return
    counts = [n for n in settling.readings("count") if isinstance(n, int)]
    counts += [_machines(settling, kind, n) for n in settling.readings("machines")]
    if gpus is not None:
        counts.append(_holding(settling, kind, gpus))
    distinct = list(dict.fromkeys(counts)) or [1]
    if settling.questions.get("accelerator_count") and not counts:
        return
    _limit(settling, distinct)
    settling.choose("instance_count", [Option(n, str(n), str(n)) for n in distinct])


def _machines(settling: Settling, kind: InstanceType, said: object) -> int:
    """Return what `18 machines of …` counts: inner machines, when the type is an UltraServer."""
    number = said if isinstance(said, int) else 1
    inner = settling.scene.names.inner_size(kind.name) if is_ultraserver(kind.name) else None
    if inner is None:
        return number
    if number * inner % kind.accelerators:
        raise _no_whole_of(settling, kind)
    return int(number * inner / kind.accelerators)


def _holding(settling: Settling, kind: InstanceType, gpus: int) -> int:
    """Return how many machines hold so many GPUs."""
    if kind.accelerators < 1:
        raise RefusalError(
            "fraction_type", tokens=settling.span("gpus"), mend=(str(gpus), "1", ""), type=kind.name
        )
    if is_ultraserver(kind.name) and gpus % kind.accelerators:
        raise _no_whole_of(settling, kind)
    return ceil(gpus / kind.accelerators)


def _no_whole_of(settling: Settling, kind: InstanceType) -> RefusalError:
    sizes = f"{kind.name} = {int(kind.accelerators)} GPUs"
    if inner := settling.scene.names.inner_size(kind.name):
        sizes = (
            f"{kind.name} = {int(kind.accelerators / inner)} machines"
            f" = {int(kind.accelerators)} GPUs"
        )
    span = settling.span("gpus", "machines")
    mend = (f"{int(kind.accelerators)} gpus", "1", "")
    return RefusalError("ultraserver_size", tokens=span, mend=mend, sizes=sizes)


def _limit(settling: Settling, counts: list[int]) -> None:
    if any(number > MOST_MACHINES for number in counts):
        span = settling.span("count", "machines", "gpus")
        raise RefusalError("too_many", tokens=span, mend=("1", "x1", "8 gpus"), limit=MOST_MACHINES)


def _minimum(settling: Settling) -> None:
    """Settle how few machines are still welcome. Raises RefusalError above the count."""
    said = settling.readings("minimum")
    if not said:
        return
    count = settling.fields.get("instance_count")
    least = [n for n in said if isinstance(n, int)]
    if isinstance(count, int) and any(number > count for number in least):
        raise RefusalError(
            "minimum_range", tokens=settling.span("minimum"), least=max(least), count=count
        )
    settling.choose("minimum_count", [Option(n, str(n), str(n)) for n in least])
