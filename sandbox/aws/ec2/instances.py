"""Machines: launched on demand, as spot or into a reservation; watched; ended."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from sandbox.aws.ec2.filters import passes, tag_list, tags_of
from sandbox.aws.ec2.launch import Launch, own_zones, read_launch, with_template
from sandbox.aws.ec2.reservations import available, find_usable
from sandbox.aws.errors import AwsError
from sandbox.aws.paging import page, with_token
from sandbox.aws.pools import on_demand_left, spot_left
from sandbox.aws.quotas import instances_left
from sandbox.aws.records import Instance, Outage, Place, Reservation, Settled
from sandbox.aws.spotprices import spot_price
from sandbox.aws.world import Call, World
from sandbox.aws.zones import Zone

CODES = {"pending": 0, "running": 16, "shutting-down": 32, "terminated": 48}
BOOT = timedelta(seconds=60)
SHUTDOWN = timedelta(seconds=60)
DRAIN = timedelta(minutes=60)
MARKETS = {"on-demand", "spot", "capacity-block"}
INSUFFICIENT = "InsufficientInstanceCapacity"


@dataclass(frozen=True, slots=True)
class Order:
    """A launch, how many machines it must and may bring, and what to mark them with."""

    launch: Launch
    least: int
    most: int
    tags: dict[str, str]
    token: str | None
    launch_id: str = ""


def run_instances(world: World, call: Call) -> dict[str, Any]:
    """RunInstances: as many as there is room for between MinCount and MaxCount, or none.

    Idempotent by `ClientToken`, per zone where a zone is given (EC2 API, "Ensuring idempotency").

    Raises:
        AwsError: a parameter is not valid, a limit is reached, or there is no capacity.
    """
    place = world.place(call.account, call.region)
    params = with_template(call, call.params, call.params.get("LaunchTemplate"))
    launch = read_launch(world, call, params)
    token = params.get("ClientToken")
    request = json.dumps(call.params, sort_keys=True, default=str)
    key = (call.operation, str(token), launch.zone.name if launch.zone else "")
    if token and key in place.tokens:
        return _repeat(place, place.tokens[key], request)
    least, most = params.get("MinCount", 1), params.get("MaxCount", 1)
    if not 1 <= least <= most:
        raise AwsError("InvalidParameterValue", "MinCount must be between 1 and MaxCount.")
    launch_id = world.new_id("r")
    order = Order(launch, least, most, tags_of(params, "instance"), token, launch_id)
    machines = start_instances(world, call, order)
    answer = _reservation_row(call, launch_id, machines)
    if token:
        ids = tuple(one.id for one in machines)
        place.tokens[key] = Settled(request=request, answer=answer, instance_ids=ids)
    return answer


def _repeat(place: Place, settled: Settled, request: str) -> dict[str, Any]:
    if settled.request != request:
        raise AwsError(
            "IdempotentParameterMismatch", "The client token was used with other parameters."
        )
    machines = [place.instances[one] for one in settled.instance_ids]
    if machines and all(one.state == "terminated" for one in machines):
        raise AwsError(
            "IdempotentInstanceTerminated", "The instances of this client token have terminated."
        )
    return {**settled.answer, "Instances": [describe(one) for one in machines]}


def start_instances(world: World, call: Call, order: Order) -> list[Instance]:
    """The machines that an order brings about.

    Raises:
        AwsError: fewer than the least can be had.
    """
    launch = order.launch
    if launch.market not in MARKETS:
        raise AwsError("InvalidParameterValue", "The market type (purchasing) option is not valid.")
    place = world.place(call.account, call.region)
    if launch.reservation_id is not None:
        reservation = find_usable(world, call, launch.reservation_id)
        _check_target(world, launch, reservation)
        count = min(available(world, reservation), order.most)
        if count < order.least:
            raise AwsError(
                "ReservationCapacityExceeded",
                f"The capacity of {reservation.id} is not enough for the request.",
            )
        return _start(world, order, place, count, reservation)
    if launch.market == "capacity-block":
        raise AwsError("InvalidParameterValue", "The market type (purchasing) option is not valid.")
    return _start_free(world, call, order)


def _check_target(world: World, launch: Launch, reservation: Reservation) -> None:
    """Passes a launch that the targeted reservation takes."""
    if reservation.is_block != (launch.market == "capacity-block"):
        raise AwsError("InvalidParameterValue", "The market type (purchasing) option is not valid.")
    if reservation.is_block and launch.placement_group:
        raise AwsError(
            "InvalidParameterCombination", "Placement groups can't be used with Capacity Blocks."
        )
    if reservation.state in {"payment-pending", "scheduled"}:
        raise AwsError(
            "InvalidCapacityReservationState.PendingActivation",
            "Your Capacity Block is not active yet.",
        )
    closing = (
        reservation.is_block
        and reservation.end is not None
        and reservation.end - (DRAIN if reservation.ultraserver_type else DRAIN / 2) <= world.now()
    )
    if reservation.state != "active" or closing:
        raise AwsError("InvalidCapacityReservationState", f"{reservation.id} is ending or over.")
    windows = reservation.platform == "Windows"
    zone = launch.zone
    if (
        reservation.instance_type != launch.instance_type
        or windows != launch.windows
        or (zone is not None and zone.id != reservation.zone.id)
    ):
        raise AwsError(
            "InvalidLaunchTargets",
            f"Type, platform or Availability Zone do not match {reservation.id}.",
        )


def _start_free(world: World, call: Call, order: Order) -> list[Instance]:
    """Machines outside of targeted reservations; open ones are filled first, in silence."""
    place, launch = world.place(call.account, call.region), order.launch
    zones = own_zones(world, call, launch)
    if launch.market == "on-demand" and launch.open_to_reservations:
        for reservation in place.reservations.values():
            if (
                reservation.match == "open"
                and not reservation.is_block
                and reservation.instance_type == launch.instance_type
                and reservation.zone in zones
                and available(world, reservation) >= order.least
            ):
                count = min(available(world, reservation), order.most)
                return _start(world, order, place, count, reservation)
    most = min(order.most, _allowed(world, call, order))
    for zone in zones:
        left = _left(world, call, launch, zone)
        if left >= order.least:
            return _start(world, order, place, min(left, most), zone)
    raise AwsError(
        INSUFFICIENT,
        f"We currently do not have sufficient {launch.instance_type} capacity in the "
        "Availability Zone you requested.",
    )


def _allowed(world: World, call: Call, order: Order) -> int:
    """How many machines the quotas allow.

    Raises:
        AwsError: they are fewer than the least.
    """
    spot = order.launch.market == "spot"
    instance_type = order.launch.instance_type
    left = instances_left(world, call.account, call.region, instance_type, spot=spot)
    if left < order.least:
        name = "MaxSpotInstanceCountExceeded" if spot else "VcpuLimitExceeded"
        raise AwsError(name, "You have requested more vCPU capacity than your limit allows.")
    return left


def _left(world: World, call: Call, launch: Launch, zone: Zone) -> int:
    if launch.market != "spot":
        return on_demand_left(world, call.region, zone, launch.instance_type)
    price = spot_price(world, call.region, launch.instance_type, zone, world.now())
    if price is None:
        return 0
    if launch.max_price is not None and Decimal(launch.max_price) < price:
        raise AwsError("SpotMaxPriceTooLow", f"Your Spot request price is lower than {price}.")
    return spot_left(world, call.region, zone, launch.instance_type)


def _start(
    world: World, order: Order, place: Place, count: int, where: Reservation | Zone
) -> list[Instance]:
    """So many machines, in a reservation or free in a zone."""
    launch = order.launch
    machines = [
        Instance(
            id=world.new_id("i"),
            account=place.account,
            region=place.region,
            zone=where if isinstance(where, Zone) else where.zone,
            instance_type=launch.instance_type,
            image_id=launch.image_id,
            subnet_id=launch.subnet_id,
            state="pending",
            market=launch.market,
            launched=world.now(),
            tags=dict(order.tags),
            token=order.token,
            launch_id=order.launch_id,
            spot_request_id=world.new_id("sir") if launch.market == "spot" else None,
            reservation_id=None if isinstance(where, Zone) else where.id,
        )
        for _ in range(count)
    ]
    for machine in machines:
        place.instances[machine.id] = machine
        world.at(machine.launched + BOOT, _boot(machine))
    return machines


def _boot(machine: Instance) -> Callable[[datetime], None]:
    def boot(_moment: datetime) -> None:
        if machine.state == "pending":
            machine.state = "running"

    return boot


def end_instance(world: World, machine: Instance, moment: datetime, reason: str) -> None:
    """Begins to terminate a machine; a slot of a block is cleaned up for a while after."""
    machine.state = "shutting-down"
    machine.reason = f"{reason} ({moment:%Y-%m-%d %H:%M:%S} GMT)"

    def terminate(ended: datetime) -> None:
        machine.state = "terminated"
        machine.ended = ended
        held = (place.reservations for place in world.region_places(machine.region))
        into = machine.reservation_id or ""
        reservation = next((books[into] for books in held if into in books), None)
        if reservation is None or not reservation.is_block:
            return
        until = ended + timedelta(seconds=world.supply.cleanup_seconds)
        reservation.outages.append(Outage(count=1, instance_id=machine.id, until=until))
        world.mark(until)

    world.at(moment + SHUTDOWN, terminate)


def _chosen(world: World, call: Call) -> list[Instance]:
    """The asked machines, or all.

    Raises:
        AwsError: an asked id is unknown.
    """
    place = world.place(call.account, call.region)
    ids = call.params.get("InstanceIds")
    if not ids:
        return list(place.instances.values())
    for one in ids:
        if one not in place.instances:
            raise AwsError("InvalidInstanceID.NotFound", f"The instance ID '{one}' does not exist")
    return [place.instances[one] for one in ids]


def terminate_instances(world: World, call: Call) -> dict[str, Any]:
    """TerminateInstances; ending an ended machine changes nothing."""
    if not call.params.get("InstanceIds"):
        raise AwsError("MissingParameter", "The request must contain the parameter InstanceId")
    rows = []
    for machine in _chosen(world, call):
        before = machine.state
        if before in {"pending", "running"}:
            end_instance(world, machine, world.now(), "User initiated")
        rows.append(
            {
                "InstanceId": machine.id,
                "PreviousState": _state(before),
                "CurrentState": _state(machine.state),
            }
        )
    return {"TerminatingInstances": rows}


def _state(name: str) -> dict[str, Any]:
    return {"Code": CODES[name], "Name": name}


def describe_instances(world: World, call: Call) -> dict[str, Any]:
    """DescribeInstances, the machines of one launch together."""
    chosen = [
        machine
        for machine in _chosen(world, call)
        if passes(call.params.get("Filters"), _fields(machine), machine.tags)
    ]
    found, token = page(chosen, call.params)
    launches: dict[str, list[Instance]] = {}
    for one in found:
        launches.setdefault(_launch_id(one), []).append(one)
    rows = [_reservation_row(call, name, machines) for name, machines in launches.items()]
    return with_token({"Reservations": rows}, token)


def _launch_id(machine: Instance) -> str:
    """The launch it came from; a fleet's machines are launches of their own."""
    return machine.launch_id or f"r-{machine.id[2:]}"


def _fields(machine: Instance) -> dict[str, str]:
    return {
        "reservation-id": _launch_id(machine),
        "instance-id": machine.id,
        "instance-state-name": machine.state,
        "instance-type": machine.instance_type,
        "instance-lifecycle": _lifecycle(machine) or "",
        "availability-zone": machine.zone.name,
        "capacity-reservation-id": machine.reservation_id or "",
        "client-token": machine.token or "",
        "image-id": machine.image_id,
        "subnet-id": machine.subnet_id or "",
    }


def _lifecycle(machine: Instance) -> str | None:
    return None if machine.market == "on-demand" else machine.market


def _reservation_row(call: Call, row_id: str, machines: list[Instance]) -> dict[str, Any]:
    return {
        "ReservationId": row_id,
        "OwnerId": call.account,
        "Groups": [],
        "Instances": [describe(one) for one in machines],
    }


def describe(machine: Instance) -> dict[str, Any]:
    """The machine as AWS words it."""
    row: dict[str, Any] = {
        "InstanceId": machine.id,
        "ImageId": machine.image_id,
        "InstanceType": machine.instance_type,
        "State": _state(machine.state),
        "LaunchTime": machine.launched,
        "Placement": {
            "AvailabilityZone": machine.zone.name,
            "AvailabilityZoneId": machine.zone.id,
            "Tenancy": "default",
        },
        "StateTransitionReason": machine.reason,
        "Tags": tag_list(machine.tags),
    }
    optional = {
        "InstanceLifecycle": _lifecycle(machine),
        "CapacityReservationId": machine.reservation_id,
        "SubnetId": machine.subnet_id,
        "ClientToken": machine.token,
        "SpotInstanceRequestId": machine.spot_request_id,
    }
    row |= {key: value for key, value in optional.items() if value is not None}
    if machine.reason:
        code = machine.reason.split(" ", maxsplit=1)[0]
        row["StateReason"] = {"Code": code, "Message": machine.reason}
    return row


def describe_instance_status(world: World, call: Call) -> dict[str, Any]:
    """DescribeInstanceStatus: running machines, or all of them when asked."""
    everything = call.params.get("IncludeAllInstances", False)
    rows = [
        {
            "InstanceId": machine.id,
            "AvailabilityZone": machine.zone.name,
            "AvailabilityZoneId": machine.zone.id,
            "InstanceState": _state(machine.state),
            "SystemStatus": _status(machine, system=True),
            "InstanceStatus": _status(machine, system=False),
        }
        for machine in _chosen(world, call)
        if everything or machine.state == "running"
    ]
    found, token = page(rows, call.params)
    return with_token({"InstanceStatuses": found}, token)


def _status(machine: Instance, *, system: bool) -> dict[str, Any]:
    if machine.state != "running":
        return {"Status": "not-applicable"}
    failed = machine.impaired and system
    return {
        "Status": "impaired" if failed else "ok",
        "Details": [{"Name": "reachability", "Status": "failed" if failed else "passed"}],
    }
