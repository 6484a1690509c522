"""The list of all that the simulated AWS sold or runs."""

from datetime import datetime
from decimal import Decimal
from typing import Any

from sandbox.aws.records import Place
from sandbox.aws.times import stamp
from sandbox.aws.world import World

INSIDE = {"capacity-block": "block_instance", "on-demand": "on_demand", "spot": "spot"}


def sales(world: World) -> list[dict[str, Any]]:
    """One row for each sale and each machine, in the order of their times."""
    with world.lock:
        world.settle()
        rows = [row for place in world.places.values() for row in _rows(place)]
    return sorted(rows, key=lambda row: (row["bought_at"], row["id"]))


def _rows(place: Place) -> list[dict[str, Any]]:
    return [*_reservations(place), *_extensions(place), *_plans(place), *_machines(place)]


def _row(
    place: Place,
    *,
    sale_id: str,
    kind: str,
    bought: datetime,
    state: str,
    tags: dict[str, str],
    instance_type: str,
    count: int,
    zone: str,
    start: datetime,
    end: datetime | None,
    offering_id: str | None = None,
    fee: Decimal | None = None,
) -> dict[str, Any]:
    return {
        "id": sale_id,
        "kind": kind,
        "offering_id": offering_id,
        "account": place.account,
        "region": place.region,
        "zone": zone,
        "instance_type": instance_type,
        "instance_count": count,
        "start": stamp(start),
        "end": stamp(end) if end else None,
        "fee": f"{fee:.2f}" if fee is not None else None,
        "state": state,
        "tags": dict(tags),
        "bought_at": stamp(bought),
    }


def _reservations(place: Place) -> list[dict[str, Any]]:
    return [
        _row(
            place,
            sale_id=one.id,
            kind="capacity_block" if one.is_block else "odcr",
            offering_id=one.offering_id,
            bought=one.created,
            state=one.state,
            tags=one.tags,
            instance_type=one.instance_type,
            count=one.count,
            zone=one.zone.name,
            start=one.start,
            end=one.end,
            fee=one.fee,
        )
        for one in place.reservations.values()
    ]


def _extensions(place: Place) -> list[dict[str, Any]]:
    rows = []
    for one in place.extensions:
        reservation = place.reservations[one.offer.reservation_id]
        rows.append(
            _row(
                place,
                sale_id=reservation.id,
                kind="capacity_block_extension",
                offering_id=one.offer.id,
                bought=one.bought,
                state=one.status,
                tags=reservation.tags,
                instance_type=reservation.instance_type,
                count=reservation.count,
                zone=reservation.zone.name,
                start=one.offer.start,
                end=one.offer.end,
                fee=one.fee,
            )
        )
    return rows


def _plans(place: Place) -> list[dict[str, Any]]:
    rows = []
    for plan in place.plans.values():
        rows.append(
            _row(
                place,
                sale_id=plan.arn,
                kind="training_plan",
                offering_id=plan.offer.id,
                bought=plan.created,
                state=plan.status,
                tags=plan.tags,
                zone=plan.segments[0].zone.name,
                start=plan.start,
                end=plan.end,
                fee=plan.fee,
                instance_type=plan.offer.ml_instance_type,
                count=plan.offer.count,
            )
        )
        rows += [
            _row(
                place,
                sale_id=plan.arn,
                kind="training_plan_extension",
                offering_id=one.offer.id,
                bought=one.bought,
                state=one.status,
                tags=plan.tags,
                zone=plan.segments[-1].zone.name,
                start=one.offer.start,
                end=one.offer.end,
                fee=one.fee,
                instance_type=plan.offer.ml_instance_type,
                count=plan.offer.count,
            )
            for one in plan.extensions
        ]
    return rows


def _machines(place: Place) -> list[dict[str, Any]]:
    rows = [
        _row(
            place,
            sale_id=one.id,
            kind=INSIDE[one.market],
            bought=one.launched,
            state=one.state,
            tags=one.tags,
            instance_type=one.instance_type,
            count=1,
            zone=one.zone.name,
            start=one.launched,
            end=one.ended,
        )
        for one in place.instances.values()
    ]
    for endpoint in place.endpoints.values():
        config = place.endpoint_configs.get(endpoint.config_name) or {}
        rows += [
            _row(
                place,
                sale_id=endpoint.arn,
                kind="endpoint",
                bought=endpoint.created,
                state=endpoint.status,
                tags=endpoint.tags,
                instance_type=variant.get("InstanceType", ""),
                count=variant.get("InitialInstanceCount", 1),
                zone="",
                start=endpoint.created,
                end=None,
            )
            for variant in config.get("ProductionVariants", [])
        ]
    return rows
