"""SQS: standard queues with visibility time-outs, counted receives and a dead-letter queue.

Visibility runs on the simulated clock, a long poll waits in wall time as all network waits do.
"""

import hashlib
import json
from datetime import timedelta
from typing import Any

from sandbox.aws.errors import AwsError
from sandbox.aws.mailbox import Message, Queue
from sandbox.aws.world import Call, World

MOST_MESSAGES = 10
MOST_WAIT_SECONDS = 20
UNKNOWN = "QueueDoesNotExist"


def queues_of(world: World) -> list[Queue]:
    """Every queue that the supply names."""
    if len(world.queues) < len(world.supply.event_queues):
        world.queues = [
            Queue(
                account=one.account,
                region=one.region,
                name=one.name,
                max_receives=one.max_receives,
                visibility=timedelta(seconds=one.visibility_seconds),
            )
            for one in world.supply.event_queues
        ]
    return world.queues


def put(world: World, queue: Queue, body: str) -> Message:
    """Add a message that is visible at once."""
    message = Message(id=world.new_id("m"), body=body, visible_at=world.now())
    queue.messages.append(message)
    return message


def _queue(world: World, call: Call) -> Queue:
    parts = str(call.params.get("QueueUrl", "")).rsplit("/", 2)
    for queue in queues_of(world):
        if [queue.account, queue.name] == parts[-2:] and queue.region == call.region:
            return queue
    raise AwsError(UNKNOWN, "The specified queue does not exist.")


def send(world: World, call: Call) -> dict[str, Any]:
    """SendMessage."""
    body = call.params["MessageBody"]
    message = put(world, _queue(world, call), body)
    return {"MessageId": message.id, "MD5OfMessageBody": _md5(body)}


def receive(world: World, call: Call) -> dict[str, Any]:
    """ReceiveMessage, with what is visible now; the wire waits for the rest of a long poll.

    Raises:
        AwsError: a number is out of range, or there is no such queue.
    """
    params, queue = call.params, _queue(world, call)
    most = params.get("MaxNumberOfMessages", 1)
    if not 1 <= most <= MOST_MESSAGES or not 0 <= wait_seconds(call) <= MOST_WAIT_SECONDS:
        raise AwsError("InvalidParameterValue", "A number is out of its range.")
    seconds = params.get("VisibilityTimeout")
    visibility = queue.visibility if seconds is None else timedelta(seconds=seconds)
    rows = [
        {
            "MessageId": message.id,
            "ReceiptHandle": message.handle,
            "MD5OfBody": _md5(message.body),
            "Body": message.body,
            "Attributes": {"ApproximateReceiveCount": str(message.receives)},
        }
        for message in queue.receive(world.now(), most, visibility)
    ]
    return {"Messages": rows} if rows else {}


def ready(world: World, call: Call) -> bool:
    """Whether a receive would be answered with something now, be it a refusal."""
    try:
        queue = _queue(world, call)
    except AwsError:
        return True
    return any(one.visible_at <= world.now() for one in queue.messages)


def wait_seconds(call: Call) -> int:
    """How long this receive waits for a message."""
    return int(call.params.get("WaitTimeSeconds", 0))


def delete(world: World, call: Call) -> dict[str, Any]:
    """DeleteMessage: by the handle of the newest receive; an old handle changes nothing."""
    queue, handle = _queue(world, call), call.params.get("ReceiptHandle")
    queue.messages = [one for one in queue.messages if not one.handle or one.handle != handle]
    return {}


def rows(world: World) -> list[dict[str, Any]]:
    """Every queue with how much waits in it, and the bodies that were given up."""
    return [
        {
            "account": queue.account,
            "region": queue.region,
            "name": queue.name,
            "waiting": len(queue.messages),
            "dead": [_read(message.body) for message in queue.dead],
        }
        for queue in queues_of(world)
    ]


def _read(body: str) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return body


def _md5(body: str) -> str:
    return hashlib.md5(body.encode(), usedforsecurity=False).hexdigest()
