"""Money leaves once; a refusal is what AWS documents as one; everything else is doubt."""

from datetime import timedelta

import pytest
from botocore.exceptions import ConnectTimeoutError, ReadTimeoutError
from botocore.parsers import ResponseParserError

from bot.aws import AwsBuyer
from bot.aws.errors import AUTH, NOTHING_BOUGHT, QUOTA, REFUSALS, THROTTLES
from bot.aws.tags import plan_name, purchase_token
from bot.domain.errors import IndeterminateError, MarketError, RefusedError
from bot.domain.lifecycle import PurchaseState
from bot.domain.market import Kind
from bot.domain.records import LegPurpose
from tests.fakes.clock import FakeClock
from tests.unit.aws.canned import (
    RESEARCH,
    START,
    CannedClients,
    leg_of,
    purchase_of,
    said,
)

ARN = "arn:aws:sagemaker:us-east-1:111122223333:training-plan/x"
KINDS = {
    Kind.CAPACITY_BLOCK: "purchase_capacity_block",
    Kind.TRAINING_PLAN: "create_training_plan",
    Kind.ODCR: "create_capacity_reservation",
    Kind.ON_DEMAND: "run_instances",
}


def buyer(clients: CannedClients) -> AwsBuyer:
    return AwsBuyer((RESEARCH,), clock=FakeClock(), clients=clients)


def reservation(name: str, **more: object) -> dict[str, object]:
    tags = [{"Key": "gpubot:purchase", "Value": "inst-7/gpu-42/1/1"}]
    return {"CapacityReservationId": name, "State": "payment-pending", "Tags": tags, **more}


@pytest.mark.parametrize("code", sorted(REFUSALS | THROTTLES | QUOTA | AUTH))
def test_a_documented_refusal_means_that_nothing_was_bought(code):
    clients = CannedClients(purchase_capacity_block=said(code))
    with pytest.raises(RefusedError) as caught:
        buyer(clients).buy(purchase_of())
    assert caught.value.code == code
    assert len(clients.calls) == 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "error",
    [
        said("InternalError"),
        said("ServiceUnavailable"),
        said("SomethingNewOfTomorrow"),
        said("IdempotentParameterMismatch"),
        said("ResourceInUse"),
        ReadTimeoutError(endpoint_url="https://ec2"),
        ResponseParserError("truncated"),
        OSError("reset"),
    ],
    ids=repr,
)
def test_everything_else_is_doubt_and_is_sent_once(kind, error):
    clients = CannedClients(**{KINDS[kind]: error})
    with pytest.raises(IndeterminateError):
        buyer(clients).buy(purchase_of(kind))
    assert len(clients.asked(KINDS[kind])) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_that_names_nothing_is_doubt(kind):
    with pytest.raises(IndeterminateError):
        buyer(CannedClients(**{KINDS[kind]: {}})).buy(purchase_of(kind))


def test_an_answer_of_another_shape_is_doubt():
    odd = {"CapacityReservation": {"CapacityReservationId": ["cr-1"]}}
    with pytest.raises(IndeterminateError):
        buyer(CannedClients(purchase_capacity_block=odd)).buy(purchase_of())


def test_a_request_that_never_left_is_a_refusal():
    clients = CannedClients(purchase_capacity_block=ConnectTimeoutError(endpoint_url="https://ec2"))
    with pytest.raises(RefusedError, match="did not leave"):
        buyer(clients).buy(purchase_of())


def test_not_found_after_a_doubt_is_doubt():
    gone = said("InvalidCapacityBlockOfferingIdNotFound")
    with pytest.raises(IndeterminateError):
        buyer(CannedClients(purchase_capacity_block=gone)).buy(
            purchase_of(state=PurchaseState.INDETERMINATE)
        )


def test_a_quota_that_is_used_up_refuses_a_plan_and_nothing_is_described():
    clients = CannedClients(create_training_plan=said("ResourceLimitExceeded", "limit is 0"))
    with pytest.raises(RefusedError) as caught:
        buyer(clients).buy(purchase_of(Kind.TRAINING_PLAN))
    assert caught.value.code == "ResourceLimitExceeded"
    assert [name for name, _, _ in clients.calls] == ["create_training_plan"]


def test_a_block_carries_the_tags_that_find_it_again():
    clients = CannedClients(purchase_capacity_block={"CapacityReservation": reservation("cr-1")})
    (receipt,) = buyer(clients).buy(purchase_of())
    (sent,) = clients.asked("purchase_capacity_block")
    (specification,) = sent["TagSpecifications"]
    assert specification["ResourceType"] == "capacity-reservation"
    assert {tag["Key"]: tag["Value"] for tag in specification["Tags"]} == {
        "gpubot:purchase": "inst-7/gpu-42/1/1",
        "gpubot:reservation": "gpu-42",
        "gpubot:leg": "1",
        "gpubot:owner": "U0ANA",
        "gpubot:team": "vision",
        "gpubot:approver": "U0BRUNO U0CARLA",
    }
    assert set(sent) == {"CapacityBlockOfferingId", "InstancePlatform", "TagSpecifications"}
    assert (receipt.id, receipt.state) == ("cr-1", "payment-pending")


def test_a_block_of_several_segments_gives_a_receipt_for_each():
    later = START + timedelta(days=2)
    answer = {
        "CapacityReservation": reservation("cr-1"),
        "CapacityReservations": [
            reservation("cr-1", StartDate=START, EndDate=START + timedelta(days=1)),
            reservation("cr-2", StartDate=later, EndDate=later + timedelta(days=1)),
        ],
    }
    receipts = buyer(CannedClients(purchase_capacity_block=answer)).buy(purchase_of())
    assert [receipt.id for receipt in receipts] == ["cr-1", "cr-2"]
    assert receipts[1].segments[0].start == later


def test_a_lost_answer_is_found_by_the_tag_in_any_state_on_any_page():
    other = {"CapacityReservationId": "cr-9", "Tags": [{"Key": "Name", "Value": "theirs"}]}
    clients = CannedClients(
        describe_capacity_reservations=[
            {"CapacityReservations": [other], "NextToken": "more"},
            {"CapacityReservations": [reservation("cr-1", State="payment-failed")]},
        ]
    )
    (receipt,) = buyer(clients).find(purchase_of())
    assert (receipt.id, receipt.state) == ("cr-1", "payment-failed")


def test_a_plan_is_adopted_only_with_our_tag_and_unless_it_failed():
    def found(status: str, tag: str) -> list[str]:
        clients = CannedClients(
            describe_training_plan={"TrainingPlanArn": ARN, "Status": status},
            list_tags={"Tags": [{"Key": "gpubot:purchase", "Value": tag}]},
        )
        return [receipt.id for receipt in buyer(clients).find(purchase_of(Kind.TRAINING_PLAN))]

    assert found("Scheduled", "inst-7/gpu-42/1/1") == [ARN]
    assert found("Pending", "inst-7/gpu-42/1/1") == [ARN]
    assert found("Failed", "inst-7/gpu-42/1/1") == []
    assert found("Scheduled", "somebody else") == []


def test_a_plan_that_is_not_known_is_not_seen_and_a_throttle_is_an_error():
    unknown = CannedClients(describe_training_plan=said("ResourceNotFound", "no such plan"))
    assert buyer(unknown).find(purchase_of(Kind.TRAINING_PLAN)) == ()
    throttled = CannedClients(describe_training_plan=said("ThrottlingException"))
    with pytest.raises(MarketError):
        buyer(throttled).find(purchase_of(Kind.TRAINING_PLAN))


def test_a_repeat_carries_the_same_token_and_another_purchase_another():
    made = {"CapacityReservation": reservation("cr-1", State="active")}
    clients = CannedClients(
        create_capacity_reservation=[ReadTimeoutError(endpoint_url="https://ec2"), made, made]
    )
    own = buyer(clients)
    with pytest.raises(IndeterminateError):
        own.buy(purchase_of(Kind.ODCR))
    own.buy(purchase_of(Kind.ODCR, state=PurchaseState.INDETERMINATE))
    own.buy(purchase_of(Kind.ODCR, id="inst-7/gpu-42/1/2"))
    first, second, other = clients.asked("create_capacity_reservation")
    assert first == second
    assert first["ClientToken"] != other["ClientToken"]
    assert len(first["ClientToken"]) <= 64
    assert (first["InstanceMatchCriteria"], first["EndDateType"]) == ("targeted", "limited")
    assert first["EndDate"] == START + timedelta(days=3)


def test_names_and_tokens_keep_to_the_letters_that_aws_takes():
    purchase = purchase_of(id="ünstall_7/gpu 42." * 20)
    for made in (plan_name(purchase), purchase_token(purchase)):
        assert len(made) <= 63
        assert made.replace("-", "").isalnum()
        assert made.isascii()


def test_a_launch_takes_all_or_none_from_the_template():
    clients = CannedClients(
        run_instances={
            "ReservationId": "r-1",
            "Instances": [{"InstanceId": "i-1", "State": {"Name": "pending"}}] * 2,
        }
    )
    (receipt,) = buyer(clients).buy(purchase_of(Kind.SPOT))
    (sent,) = clients.asked("run_instances")
    assert (sent["MinCount"], sent["MaxCount"]) == (2, 2)
    assert sent["InstanceMarketOptions"]["MarketType"] == "spot"
    assert (receipt.id, receipt.state, receipt.instance_count) == ("r-1", "pending", 2)


def test_a_launch_without_a_template_is_refused_without_a_call():
    clients = CannedClients()
    with pytest.raises(RefusedError, match="launch template"):
        buyer(clients).buy(purchase_of(leg=leg_of(Kind.ON_DEMAND, region="us-west-2")))
    assert clients.calls == []


def test_an_extension_is_found_by_its_offering_and_keeps_the_held_id():
    leg = leg_of(purpose=LegPurpose.EXTENSION, ref="cbe-1", extends="cr-1")
    row = {
        "CapacityReservationId": "cr-1",
        "CapacityBlockExtensionOfferingId": "cbe-1",
        "CapacityBlockExtensionStatus": "payment-pending",
    }
    clients = CannedClients(
        purchase_capacity_block_extension={"CapacityBlockExtensions": [row]},
        describe_capacity_block_extension_history={"CapacityBlockExtensions": [row]},
    )
    (bought,) = buyer(clients).buy(purchase_of(leg=leg))
    (found,) = buyer(clients).find(purchase_of(leg=leg))
    assert bought == found
    assert (bought.id, bought.state) == ("cr-1#cbe-1", "payment-pending")
    (sent,) = clients.asked("purchase_capacity_block_extension")
    assert sent["CapacityReservationId"] == "cr-1"


def test_a_plan_extension_is_found_in_its_history():
    leg = leg_of(Kind.TRAINING_PLAN, purpose=LegPurpose.EXTENSION, ref="tpeo-1", extends=ARN)
    row = {
        "TrainingPlanExtensionOfferingId": "tpeo-1",
        "Status": "Pending",
        "PaymentStatus": "Pending",
    }
    clients = CannedClients(
        extend_training_plan={"TrainingPlanExtensions": [row]},
        describe_training_plan_extension_history={"TrainingPlanExtensions": [row]},
    )
    (bought,) = buyer(clients).buy(purchase_of(leg=leg))
    (found,) = buyer(clients).find(purchase_of(leg=leg))
    assert bought == found
    assert (bought.id, bought.state) == (f"{ARN}#tpeo-1", "payment-pending")


def test_a_rehearsal_says_in_sentences_what_would_stop_it():
    clients = CannedClients(
        purchase_capacity_block=said("UnauthorizedOperation"),
        describe_availability_zones={
            "AvailabilityZones": [{"ZoneName": "us-east-1b", "OptInStatus": "not-opted-in"}]
        },
        get_service_quota={"Quota": {"QuotaName": "P5 blocks", "Value": 192.0}},
    )
    told = " ".join(buyer(clients).rehearse(leg_of(platform="Windows")))
    for words in ("may not call", "Windows", "not opted into", "192 vCPUs; this needs 384"):
        assert words in told
    assert clients.asked("purchase_capacity_block")[0]["DryRun"] is True


def test_a_rehearsal_of_what_is_allowed_says_nothing():
    clients = CannedClients(
        purchase_capacity_block=said("DryRunOperation"),
        get_service_quota={"Quota": {"QuotaName": "P5 blocks", "Value": 1536.0}},
    )
    assert buyer(clients).rehearse(leg_of()) == []


def test_ten_proposals_send_one_dry_run_and_an_hour_later_another():
    clients = CannedClients(purchase_capacity_block=said("DryRunOperation"))
    clock = FakeClock()
    ours = AwsBuyer((RESEARCH,), clock=clock, clients=clients)
    for number in range(10):
        ours.rehearse(leg_of(ref=f"cb-{number}"))
    ours.rehearse(leg_of(instance_type="p5en.48xlarge"))
    assert len(clients.asked("purchase_capacity_block")) == 2
    clock.advance(timedelta(hours=1))
    ours.rehearse(leg_of())
    assert [each["DryRun"] for each in clients.asked("purchase_capacity_block")] == [True] * 3


def test_a_permission_that_is_missing_is_asked_for_again():
    answers = [said("UnauthorizedOperation"), said("DryRunOperation")]
    clients = CannedClients(purchase_capacity_block=answers)
    ours = buyer(clients)
    assert any("may not call" in text for text in ours.rehearse(leg_of()))
    assert ours.rehearse(leg_of()) == []


@pytest.mark.parametrize("kind", [Kind.CAPACITY_BLOCK, Kind.ODCR, Kind.ON_DEMAND, Kind.SPOT])
@pytest.mark.parametrize("purpose", list(LegPurpose))
def test_nothing_that_spends_is_rehearsed_without_dry_run(kind, purpose):
    clients = CannedClients()
    spending = ("purchase_", "create_", "run_instances", "extend_")
    with pytest.raises(IndeterminateError):
        buyer(clients).rehearse(leg_of(kind, purpose=purpose, extends="cr-1"))
    sent = [(name, asked) for name, _, asked in clients.calls if name.startswith(spending)]
    assert [asked.get("DryRun") for _, asked in sent] == [True]


def test_a_dry_run_that_is_taken_for_an_order_is_doubt():
    clients = CannedClients(purchase_capacity_block={"CapacityReservation": reservation("cr-1")})
    with pytest.raises(IndeterminateError):
        buyer(clients).rehearse(leg_of())


def test_no_code_of_doubt_is_among_those_that_mean_nothing_was_bought():
    doubt = {
        "InternalError",
        "InternalFailure",
        "ServiceUnavailable",
        "Unavailable",
        "ResourceInUse",
        "IdempotentParameterMismatch",
        "IdempotentInstanceTerminated",
    }
    assert not doubt & NOTHING_BOUGHT
