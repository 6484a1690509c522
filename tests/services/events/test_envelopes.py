"""What events are about, in both spellings, and what is no event at all."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.services.reservations.envelopes import MOST_NAMES, EnvelopeError, What, recognise

HELD = "cr-0123456789abcdef0"
MACHINE = "i-0123456789abcdef0"
ARN = f"arn:aws:ec2:us-east-1:111122223333:capacity-reservation/{HELD}"


def envelope(kind, *, key="detail-type", **more):
    values = {
        "version": "0",
        "id": "12345678-1234-1234-1234-123456789012",
        key: kind,
        "source": "aws.ec2",
        "account": "111122223333",
        "time": "2027-03-12T11:30:00Z",
        "region": "us-east-1",
        "resources": [],
        "detail": {},
    }
    return json.dumps({**values, **more})


@pytest.mark.parametrize(
    "kind",
    [
        "Capacity Block Delivered",
        "Capacity Block Reservation Delivered",
        "Capacity Block Expiration Warning",
        "Capacity Block Reservation Expiration Warning",
        "EC2 Capacity Reservation Instance Interruption Warning",
        "EC2 Capacity Block Reservation Delivered",
    ],
)
@pytest.mark.parametrize("key", ["detail-type", "detail_type"])
def test_both_spellings_of_blocks_are_recognised(kind, key):
    signal = recognise(envelope(kind, key=key, resources=[ARN]))
    assert (signal.what, signal.names) == (What.HELD, (HELD,))
    assert (signal.account, signal.region) == ("111122223333", "us-east-1")


def test_the_reservation_is_found_in_the_detail_too():
    signal = recognise(
        envelope("Capacity Block Delivered", detail={"capacity-reservation-id": HELD})
    )
    assert signal.names == (HELD,)


@pytest.mark.parametrize(
    "arn",
    [ARN, f"arn:aws:ec2:us-east-1b:instance/{MACHINE} {HELD}", ARN.replace("aws:", "aws-cn:")],
)
def test_a_missing_region_is_read_from_an_arn(arn):
    signal = recognise(envelope("Capacity Block Delivered", region=None, resources=[arn]))
    assert signal.region == "us-east-1"


def test_without_any_region_there_is_none():
    signal = recognise(envelope("Capacity Block Delivered", region=None, detail={"id": HELD}))
    assert signal.region == ""


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        ("EC2 Spot Instance Interruption Warning", What.INTERRUPTION),
        ("EC2 Instance Rebalance Recommendation", What.REBALANCE),
        ("EC2 Instance State-change Notification", What.MACHINE),
    ],
)
def test_events_of_machines_name_the_machine(kind, what):
    signal = recognise(envelope(kind, detail={"instance-id": MACHINE}))
    assert (signal.what, signal.names) == (what, (MACHINE,))


def test_payments_of_blocks_come_through_cloudtrail():
    detail = {
        "eventName": "CapacityBlockPaymentFailed",
        "serviceEventDetails": {"capacityReservationId": HELD},
    }
    signal = recognise(envelope("AWS Service Event via CloudTrail", detail=detail))
    assert (signal.what, signal.names) == (What.HELD, (HELD,))


def test_sagemaker_tells_of_endpoints_by_name():
    name = "gpubot-gpu-42-0123456789ab"
    detail = {"EndpointName": name, "EndpointStatus": "IN_SERVICE"}
    signal = recognise(
        envelope("SageMaker Endpoint State Change", source="aws.sagemaker", detail=detail)
    )
    assert (signal.what, signal.names) == (What.ENDPOINT, (name,))


def test_a_training_plan_is_named_by_its_arn():
    arn = "arn:aws:sagemaker:us-east-1:111122223333:training-plan/gpubot-1"
    signal = recognise(envelope("SageMaker Training Plan State Change", resources=[arn]))
    assert (signal.what, signal.names) == (What.HELD, (arn,))


@pytest.mark.parametrize(
    "body",
    [
        envelope("EC2 Instance Launch Successful", detail={"instance-id": MACHINE}),
        envelope("Capacity Block Delivered", detail={"note": "no id at all"}),
        envelope("EC2 Spot Instance Interruption Warning", detail={"instance-id": "gpu-7"}),
        envelope("SageMaker Endpoint State Change", detail={"EndpointName": "somebody-elses"}),
    ],
)
def test_what_is_none_of_our_business_is_nothing(body):
    assert recognise(body) is None


@pytest.mark.parametrize(
    "body",
    ["", "no json", "[]", "7", "null", "{}", '{"detail-type": 7}', "[" * 100_000, "x" * 300_000],
)
def test_what_is_no_event_is_said_to_be_none(body):
    with pytest.raises(EnvelopeError):
        recognise(body)


def test_every_copy_of_an_event_has_the_same_id_even_without_one():
    body = envelope("Capacity Block Delivered", resources=[ARN], id=None)
    assert recognise(body).id == recognise(body).id
    other = envelope("Capacity Block Delivered", resources=[ARN, ARN], id="x" * 900)
    assert recognise(other).id != recognise(body).id


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(
    st.dictionaries(
        st.sampled_from(["detail-type", "detail", "resources", "region", "account", "id"]), JSON
    )
    | JSON
)
def test_any_message_is_an_event_or_none_and_never_a_crash(value):
    try:
        signal = recognise(json.dumps(value))
    except EnvelopeError:
        return
    assert signal is None or signal.names


def test_an_event_that_names_thousands_of_machines_brings_no_thousands_of_looks():
    machines = [f"i-{number:017x}" for number in range(5000)]
    signal = recognise(envelope("EC2 Instance Rebalance Recommendation", detail=machines))
    assert signal is not None
    assert len(signal.names) == MOST_NAMES
