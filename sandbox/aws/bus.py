"""EventBridge: what changes in an account and Region goes to its queue, if it has one.

Nothing is emitted anywhere else: what changed is found by comparing states before and after.
Envelopes: EC2 User Guide, "Monitor Capacity Blocks using EventBridge", "Spot Instance
interruption notices", "EC2 instance rebalance recommendations", "State change events for your
instances"; SageMaker Developer Guide, "Automating SageMaker with EventBridge".
"""

import json
import uuid
from datetime import datetime, timedelta
from typing import Any

from sandbox.aws.mailbox import Queue
from sandbox.aws.queues import put, queues_of
from sandbox.aws.records import Instance, Place, Reservation
from sandbox.aws.times import stamp
from sandbox.aws.world import World

WARNING = timedelta(minutes=40)
"""So long before the end of a block its warning comes (EC2 User Guide, Capacity Blocks)."""
SPELLING = "Capacity Block Reservation"
"""The older of the two spellings in AWS's documentation, and the one that people have seen."""
ENDPOINT_WORDS = {"InService": "IN_SERVICE"}


def look(world: World) -> None:
    """Emit an event for every state that changed since the last look."""
    for queue in queues_of(world):
        place = world.places.get((queue.account, queue.region))
        if place is not None:
            _compare(world, queue, place)


def _compare(world: World, queue: Queue, place: Place) -> None:
    seen = {
        **{machine.id: machine.state for machine in place.instances.values()},
        **{one.id: one.state for one in place.reservations.values() if one.is_block},
        **{one.arn: one.status for one in place.endpoints.values()},
    }
    before = world.told_states.setdefault((queue.account, queue.region), {})
    changed = [name for name, state in seen.items() if before.get(name) != state]
    world.told_states[queue.account, queue.region] = seen
    for name in changed:
        if name in place.instances:
            _emit(
                world,
                queue,
                "EC2 Instance State-change Notification",
                [_arn(queue, f"instance/{name}")],
                {"instance-id": name, "state": seen[name]},
            )
        elif name in place.reservations:
            _block(world, queue, place.reservations[name])
        else:
            _endpoint(world, queue, name, seen[name])


def _block(world: World, queue: Queue, reservation: Reservation) -> None:
    if reservation.state != "active":
        return
    _block_event(world, queue, reservation, "Delivered")
    end = reservation.end
    if end is None:
        return

    def warn(_moment: datetime) -> None:
        if reservation.end == end and reservation.state == "active":
            _block_event(world, queue, reservation, "Expiration Warning")

    world.at(end - WARNING, warn)


def _block_event(world: World, queue: Queue, reservation: Reservation, what: str) -> None:
    detail = {"capacity-reservation-id": reservation.id}
    if reservation.end is not None:
        detail["end-date"] = stamp(reservation.end)
    arn = _arn(queue, f"capacity-reservation/{reservation.id}")
    _emit(world, queue, f"{SPELLING} {what}", [arn], detail)


def _endpoint(world: World, queue: Queue, arn: str, status: str) -> None:
    detail = {
        "EndpointName": arn.rpartition("/")[2],
        "EndpointArn": arn,
        "EndpointStatus": ENDPOINT_WORDS.get(status, status.upper()),
    }
    _emit(world, queue, "SageMaker Endpoint State Change", [arn], detail, source="aws.sagemaker")


def warn_of_interruption(world: World, machine: Instance) -> None:
    """The two minutes' notice of a spot machine."""
    detail = {"instance-id": machine.id, "instance-action": "terminate"}
    _of_machine(world, machine, "EC2 Spot Instance Interruption Warning", detail)


def recommend_rebalance(world: World, machine: Instance) -> None:
    """What says that a spot machine is at risk."""
    _of_machine(
        world, machine, "EC2 Instance Rebalance Recommendation", {"instance-id": machine.id}
    )


def _of_machine(world: World, machine: Instance, what: str, detail: dict[str, str]) -> None:
    for queue in queues_of(world):
        if (queue.account, queue.region) == (machine.account, machine.region):
            arn = f"arn:aws:ec2:{machine.zone.name}:instance/{machine.id}"  # as AWS prints it
            _emit(world, queue, what, [arn], detail)


def _arn(queue: Queue, part: str) -> str:
    return f"arn:aws:ec2:{queue.region}:{queue.account}:{part}"


def _emit(
    world: World,
    queue: Queue,
    what: str,
    resources: list[str],
    detail: dict[str, Any],
    *,
    source: str = "aws.ec2",
) -> None:
    serial = world.new_id("event")
    envelope = {
        "version": "0",
        "id": str(uuid.uuid5(uuid.NAMESPACE_OID, serial)),
        "detail-type": what,
        "source": source,
        "account": queue.account,
        "time": stamp(world.now()),
        "region": queue.region,
        "resources": resources,
        "detail": detail,
    }
    put(world, queue, json.dumps(envelope))
