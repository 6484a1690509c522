"""Faults on the wire: what the client sees, what was done, how many requests there were."""

import threading

import boto3
import pytest
from botocore.exceptions import (
    ClientError,
    ConnectionClosedError,
    ReadTimeoutError,
)
from botocore.parsers import ResponseParserError

PURCHASE = "PurchaseCapacityBlock"


@pytest.fixture
def offer(sandbox, search):
    return search(sandbox.ec2)[-1]


def outcomes(sandbox):
    return [row["outcome"] for row in sandbox.aws.calls(PURCHASE)]


def test_a_lost_request_buys_nothing(sandbox, buy, offer):
    sandbox.aws.add_fault({"operation": PURCHASE, "fault": "lost-request"})
    with pytest.raises(ConnectionClosedError):
        buy(sandbox.ec2, offer)
    assert sandbox.aws.sold() == []
    assert outcomes(sandbox) == ["lost-request"]


def test_a_lost_answer_has_bought(sandbox, buy, offer):
    sandbox.aws.add_fault({"operation": PURCHASE, "fault": "lost-answer"})
    with pytest.raises(ConnectionClosedError):
        buy(sandbox.ec2, offer)
    assert len(sandbox.aws.sold()) == 1
    assert outcomes(sandbox) == ["lost-answer"]


def test_a_retried_lost_answer_looks_like_a_refusal(sandbox, offer):
    sandbox.aws.add_fault({"operation": PURCHASE, "fault": "lost-answer"})
    careless = sandbox.client("ec2", retries={"mode": "standard", "total_max_attempts": 3})
    with pytest.raises(ClientError) as caught:
        careless.purchase_capacity_block(
            CapacityBlockOfferingId=offer["CapacityBlockOfferingId"], InstancePlatform="Linux/UNIX"
        )
    assert caught.value.response["Error"]["Code"] == "InvalidCapacityBlockOfferingIdExpired"
    assert outcomes(sandbox) == ["lost-answer", "InvalidCapacityBlockOfferingIdExpired"]
    assert len(sandbox.aws.sold()) == 1


def test_a_truncated_answer_has_bought(sandbox, buy, offer):
    sandbox.aws.add_fault({"operation": PURCHASE, "fault": "truncated-answer"})
    with pytest.raises(ResponseParserError):
        buy(sandbox.ec2, offer)
    assert len(sandbox.aws.sold()) == 1


def test_a_slow_answer_times_out_with_the_sale_done(sandbox, offer):
    sandbox.aws.add_fault({"operation": PURCHASE, "fault": "slow:30"})
    with pytest.raises(ReadTimeoutError):
        sandbox.client("ec2", timeout=0.3).purchase_capacity_block(
            CapacityBlockOfferingId=offer["CapacityBlockOfferingId"], InstancePlatform="Linux/UNIX"
        )
    assert len(sandbox.aws.sold()) == 1
    assert outcomes(sandbox) == ["ok"]


def test_a_slow_sale_happens_after_the_client_has_given_up(sandbox, offer):
    sandbox.aws.add_fault({"operation": PURCHASE, "fault": "slow-sale:0.6"})
    with pytest.raises(ReadTimeoutError):
        sandbox.client("ec2", timeout=0.2).purchase_capacity_block(
            CapacityBlockOfferingId=offer["CapacityBlockOfferingId"], InstancePlatform="Linux/UNIX"
        )
    assert sandbox.aws.sold() == []
    waiting = threading.Event()
    for _ in range(100):
        if sandbox.aws.sold():
            break
        waiting.wait(0.05)
    assert len(sandbox.aws.sold()) == 1


@pytest.mark.parametrize(
    ("service", "operation", "call", "code"),
    [
        (
            "ec2",
            "DescribeCapacityReservations",
            "describe_capacity_reservations",
            "RequestLimitExceeded",
        ),
        ("ec2", "DescribeCapacityBlockOfferings", None, "CapacityBlockDescribeLimitExceeded"),
        ("sagemaker", "ListTrainingPlans", "list_training_plans", "ThrottlingException"),
    ],
)
def test_a_throttle_speaks_the_services_own_code(  # noqa: PLR0917 - fixtures and parameters
    sandbox, refused, search, service, operation, call, code
):
    sandbox.aws.add_fault({"operation": operation, "fault": "throttle"})
    client = sandbox.client(service)
    assert refused((lambda: search(client)) if call is None else getattr(client, call)) == code


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("InternalError", 500),
        ("Unavailable", 503),
        ("UnauthorizedOperation", 403),
        ("PendingVerification", 400),
        ("InsufficientInstanceCapacity", 500),
    ],
)
def test_an_ordered_error_comes_with_its_status_and_does_nothing(sandbox, buy, offer, code, status):
    sandbox.aws.add_fault({"operation": PURCHASE, "fault": f"error:{code}"})
    with pytest.raises(ClientError) as caught:
        buy(sandbox.ec2, offer)
    assert caught.value.response["Error"]["Code"] == code
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == status
    assert sandbox.aws.sold() == []


def test_the_default_client_sends_three_requests_on_a_server_error(sandbox, offer):
    sandbox.aws.add_fault({"operation": PURCHASE, "fault": "error:InternalError", "times": 9})
    careless = sandbox.client("ec2", retries={"mode": "standard"})
    with pytest.raises(ClientError):
        careless.purchase_capacity_block(
            CapacityBlockOfferingId=offer["CapacityBlockOfferingId"], InstancePlatform="Linux/UNIX"
        )
    assert len(sandbox.aws.calls(PURCHASE)) == 3


def test_kill_before_the_call_leaves_nothing_bought(sandbox, buy, offer):
    sandbox.aws.add_fault({"operation": PURCHASE, "fault": "kill-before-call"})
    with pytest.raises(ConnectionClosedError):
        buy(sandbox.ec2, offer)
    assert (sandbox.killed, sandbox.aws.sold()) == (1, [])


def test_kill_before_the_answer_leaves_it_bought(sandbox, buy, offer):
    sandbox.aws.add_fault({"operation": PURCHASE, "fault": "kill-before-answer"})
    with pytest.raises(ConnectionClosedError):
        buy(sandbox.ec2, offer)
    assert (sandbox.killed, len(sandbox.aws.sold())) == (1, 1)


def test_kill_after_the_answer_lets_the_answer_out(sandbox, buy, offer):
    sandbox.aws.add_fault({"operation": PURCHASE, "fault": "kill-after-answer"})
    assert buy(sandbox.ec2, offer)["State"] == "payment-pending"
    waiting = threading.Event()
    for _ in range(100):
        if sandbox.killed:
            break
        waiting.wait(0.02)
    assert (sandbox.killed, len(sandbox.aws.sold())) == (1, 1)


def test_a_fault_strikes_as_often_as_it_says_and_where_it_says(sandbox, refused):
    sandbox.aws.add_fault(
        {
            "operation": "DescribeCapacityReservations",
            "fault": "error:InternalError",
            "times": 2,
            "region": "us-west-2",
            "match": {"Filters": [{"Name": "state"}]},
        }
    )
    near, far = sandbox.ec2, sandbox.client("ec2", "us-west-2")
    filters = {"Filters": [{"Name": "state", "Values": ["active"]}]}
    near.describe_capacity_reservations(**filters)
    far.describe_capacity_reservations()
    assert refused(far.describe_capacity_reservations, **filters) == "InternalError"
    assert refused(far.describe_capacity_reservations, **filters) == "InternalError"
    far.describe_capacity_reservations(**filters)


def test_a_dry_run_does_not_use_up_a_fault(sandbox, refused, buy, offer):
    sandbox.aws.add_fault({"operation": PURCHASE, "fault": "error:InternalError"})
    dry = {"CapacityBlockOfferingId": offer["CapacityBlockOfferingId"], "DryRun": True}
    purchase = sandbox.ec2.purchase_capacity_block
    assert refused(purchase, InstancePlatform="Linux/UNIX", **dry) == "DryRunOperation"
    assert refused(lambda: buy(sandbox.ec2, offer)) == "InternalError"


@pytest.mark.parametrize(
    ("order", "words"),
    [
        ({"operation": "PurchaseCapacityBlok", "fault": "slow:1"}, "Did you mean"),
        ({"operation": PURCHASE, "fault": "explode"}, "There is no fault"),
        ({"operation": PURCHASE, "fault": "slow"}, "needs seconds"),
        ({"operation": PURCHASE, "fault": "error:"}, "There is no fault"),
        ({"operation": PURCHASE, "fault": "throttle", "times": 0}, "at least 1"),
        ({"operation": PURCHASE, "fault": "throttle", "time": 1}, "has no 'time'"),
        ({"operation": PURCHASE, "fault": "throttle", "match": []}, None),
        ({"operation": PURCHASE, "fault": "throttle", "region": 5}, "us-east-1"),
        ({"fault": "throttle"}, "no operation"),
    ],
)
def test_an_order_that_makes_no_sense_is_told_so(sandbox, order, words):
    if words is None:
        sandbox.aws.add_fault(order)
        return
    with pytest.raises(ValueError, match=words):
        sandbox.aws.add_fault(order)


def test_searches_have_ten_tokens_and_one_more_every_seven_seconds(sandbox, search, refused):
    for _ in range(10):
        search(sandbox.ec2)
    assert refused(lambda: search(sandbox.ec2)) == "CapacityBlockDescribeLimitExceeded"
    assert search(sandbox.client("ec2", "us-west-2"))
    sandbox.advance(seconds=7)
    assert search(sandbox.ec2)
    assert refused(lambda: search(sandbox.ec2)) == "CapacityBlockDescribeLimitExceeded"


def test_purchases_have_a_bucket_of_their_own(sandbox, refused):
    params = {
        "CapacityBlockOfferingId": "cb-0123456789abcdef0",
        "InstancePlatform": "Linux/UNIX",
        "DryRun": True,
    }
    codes = [refused(sandbox.ec2.purchase_capacity_block, **params) for _ in range(11)]
    assert codes == ["DryRunOperation"] * 10 + ["RequestLimitExceeded"]


def test_the_log_tells_each_call_in_order(sandbox, search):
    search(sandbox.client("ec2", "us-west-2"))
    sandbox.client("sts").get_caller_identity()
    first, second = sandbox.aws.calls()
    assert first == {
        "at": "2027-03-10T15:00:00Z",
        "operation": "DescribeCapacityBlockOfferings",
        "region": "us-west-2",
        "account": "123456789012",
        "params": {
            "InstanceType": "p5.48xlarge",
            "InstanceCount": 2,
            "CapacityDurationHours": 72,
        },
        "outcome": "ok",
    }
    assert second["operation"] == "GetCallerIdentity"
    assert sandbox.aws.calls("GetCallerIdentity") == [second]


def test_an_assumed_role_acts_in_its_own_account(sandbox, buy):
    role = sandbox.client("sts").assume_role(
        RoleArn="arn:aws:iam::222222222222:role/gpubot", RoleSessionName="gpubot"
    )["Credentials"]
    session = boto3.Session(role["AccessKeyId"], role["SecretAccessKey"], role["SessionToken"])
    assert sandbox.client("sts", session=session).get_caller_identity()["Account"] == "222222222222"
    buy(sandbox.client("ec2", session=session))
    assert sandbox.aws.sold()[0]["account"] == "222222222222"
    sandbox.advance(minutes=1)
    assert sandbox.ec2.describe_capacity_reservations()["CapacityReservations"] == []


def test_an_operation_that_is_not_simulated_is_refused_by_name(sandbox, refused):
    assert refused(sandbox.ec2.describe_hosts) == "UnsupportedOperation"
    assert refused(sandbox.sagemaker.list_clusters) == "UnknownOperationException"
