"""Queues, and the events that the simulated EventBridge sends to them."""

import json
import threading
import time
from datetime import UTC, timedelta

import pytest

URL = "https://sqs.us-east-1.amazonaws.com/123456789012/gpubot-events"
QUEUE = {"account": "123456789012", "region": "us-east-1"}


@pytest.fixture
def sandbox(sandbox_with):
    return sandbox_with(
        event_queues=[QUEUE],
        spot_pools=[{"region": "us-east-1", "instance_type": "g6.xlarge", "instance_count": 4}],
    )


@pytest.fixture
def sqs(sandbox):
    return sandbox.client("sqs")


def take(sqs, **more):
    names = ["ApproximateReceiveCount"]
    return sqs.receive_message(
        QueueUrl=URL, MaxNumberOfMessages=10, MessageSystemAttributeNames=names, **more
    ).get("Messages", [])


def told(sqs):
    found = []
    while messages := take(sqs):
        for one in messages:
            sqs.delete_message(QueueUrl=URL, ReceiptHandle=one["ReceiptHandle"])
            found.append(json.loads(one["Body"]))
    return found


def spot(sandbox):
    image = sandbox.ec2.describe_images()["Images"][0]["ImageId"]
    answer = sandbox.ec2.run_instances(
        ImageId=image,
        InstanceType="g6.xlarge",
        MinCount=1,
        MaxCount=1,
        InstanceMarketOptions={"MarketType": "spot"},
    )
    sandbox.advance(minutes=2)
    sandbox.aws.settle()
    return answer["Instances"][0]["InstanceId"]


def test_a_message_is_hidden_for_a_while_and_gone_once_deleted(sandbox, sqs):
    sqs.send_message(QueueUrl=URL, MessageBody="a")
    (first,) = take(sqs)
    assert (first["Body"], first["Attributes"]["ApproximateReceiveCount"]) == ("a", "1")
    assert take(sqs) == []
    sandbox.advance(seconds=31)
    (again,) = take(sqs)
    assert again["Attributes"]["ApproximateReceiveCount"] == "2"
    sqs.delete_message(QueueUrl=URL, ReceiptHandle=first["ReceiptHandle"])
    sqs.delete_message(QueueUrl=URL, ReceiptHandle=again["ReceiptHandle"])
    sandbox.advance(hours=1)
    assert take(sqs) == []


def test_what_nobody_deletes_goes_to_the_dead_letters(sandbox, sqs):
    sqs.send_message(QueueUrl=URL, MessageBody="poison")
    for _ in range(7):
        take(sqs)
        sandbox.advance(seconds=31)
    (row,) = sandbox.aws.queues()
    assert (row["waiting"], row["dead"]) == (0, ["poison"])


def test_a_long_poll_ends_with_the_first_message(sandbox, sqs):
    late = threading.Timer(
        0.3, lambda: sandbox.client("sqs").send_message(QueueUrl=URL, MessageBody="late")
    )
    late.start()
    begun = time.monotonic()
    assert [one["Body"] for one in take(sqs, WaitTimeSeconds=8)] == ["late"]
    assert time.monotonic() - begun < 7
    late.join()


def test_there_is_no_other_queue(sqs, refused):
    other = URL.replace("gpubot", "their")
    assert refused(sqs.receive_message, QueueUrl=other) == "QueueDoesNotExist"


def test_a_block_tells_of_its_delivery_and_forty_minutes_before_its_end(sandbox, sqs, buy):
    bought = buy(sandbox.ec2)
    sandbox.time = bought["StartDate"].astimezone(UTC) + timedelta(minutes=5)
    sandbox.aws.settle()
    (event,) = told(sqs)
    assert event["detail-type"] == "Capacity Block Reservation Delivered"
    assert event["detail"]["capacity-reservation-id"] == bought["CapacityReservationId"]
    assert event["resources"][0].endswith(bought["CapacityReservationId"])
    end = bought["EndDate"].astimezone(UTC)
    sandbox.time = end - timedelta(minutes=41)
    sandbox.aws.settle()
    assert told(sqs) == []
    sandbox.time = end - timedelta(minutes=40)
    sandbox.aws.settle()
    assert [one["detail-type"] for one in told(sqs)] == [
        "Capacity Block Reservation Expiration Warning"
    ]


def test_spot_machines_tell_of_risk_of_interruption_and_of_their_states(sandbox, sqs):
    machine = spot(sandbox)
    sandbox.aws.event({"event": "spot-rebalance", "instance": machine})
    sandbox.aws.event({"event": "spot-interruption", "instance": machine})
    sandbox.advance(minutes=3)
    sandbox.aws.settle()
    events = told(sqs)
    assert {one["detail"]["instance-id"] for one in events} == {machine}
    kinds = [one["detail-type"] for one in events]
    assert "EC2 Instance Rebalance Recommendation" in kinds
    assert "EC2 Spot Instance Interruption Warning" in kinds
    states = [one["detail"]["state"] for one in events if "state" in one["detail"]]
    assert states[-1] in {"shutting-down", "terminated"}


def test_without_a_queue_nothing_is_told(sandbox_with):
    assert sandbox_with().aws.queues() == []
