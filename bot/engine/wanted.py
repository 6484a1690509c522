"""Which types could serve a request, each at its own count."""

from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

from bot.catalog import Catalog
from bot.domain.request import Request
from bot.engine.terms import bare


@dataclass(frozen=True, slots=True)
class Wanted:
    """One type at the count that serves the request; an UltraServer counts whole ones."""

    instance_type: str
    count: int
    ultraserver: bool = False


def wanted_types(request: Request, *, catalog: Catalog) -> tuple[Wanted, ...]:
    """Return each type that could serve, at its own count (decision.md, "Types")."""
    if request.ultraserver_type:
        return (_ultraserver(request, request.ultraserver_type, catalog),)
    if request.instance_type:
        name = bare(request.instance_type)
        return (Wanted(name, request.instance_count or _holding(request, name, catalog)),)
    if request.accelerator:
        number = request.accelerator_count or 1
        return tuple(
            Wanted(kind.name, _ceil(Decimal(number) / kind.accelerators))
            for kind in catalog.carrying(request.accelerator)
        )
    return ()


def ml_name(instance_type: str, catalog: Catalog) -> str:
    """Return SageMaker's name of the type; where the catalog has none, the type with "ml."."""
    known = catalog.types.get(instance_type)
    return known.ml_name if known and known.ml_name else f"ml.{instance_type}"


def _ultraserver(request: Request, name: str, catalog: Catalog) -> Wanted:
    whole = catalog.types.get(name)
    if whole is not None and request.accelerator_count:
        number = _ceil(Decimal(request.accelerator_count) / whole.accelerators)
        return Wanted(name, number, ultraserver=True)
    inner = catalog.types.get(request.instance_type or "")
    number = request.instance_count or 1
    if whole is not None and inner is not None and inner.name != name:
        number = _ceil(number * inner.accelerators / whole.accelerators)
    return Wanted(name, number, ultraserver=True)


def _holding(request: Request, name: str, catalog: Catalog) -> int:
    """Return the machines that hold the asked accelerators, 1 when their number is not known."""
    known = catalog.types.get(name)
    if known is None or request.accelerator_count is None:
        return 1
    return _ceil(Decimal(request.accelerator_count) / known.accelerators)


def _ceil(number: Decimal) -> int:
    return int(number.to_integral_value(rounding=ROUND_CEILING))
