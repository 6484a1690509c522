"""What was bought is looked at in batches, and one unknown id spoils nothing."""

from datetime import timedelta
from typing import Any

from bot.aws import AwsHoldings
from bot.domain.market import Kind
from bot.policy.configuration import Account
from tests.fakes.clock import NOW, FakeClock
from tests.unit.aws.canned import RESEARCH, START, CannedClients, receipt_of, said

ARN = "arn:aws:sagemaker:us-east-1:111122223333:training-plan/gpubot-1"


def holdings(clients: CannedClients) -> AwsHoldings:
    return AwsHoldings((RESEARCH,), clock=FakeClock(), clients=clients)


def row(name: str, **more: Any) -> dict[str, Any]:
    return {"CapacityReservationId": name, "State": "active", "TotalInstanceCount": 2, **more}


def test_one_unknown_id_is_gone_and_the_others_are_fresh():
    def describe(**parameters: Any) -> dict[str, Any]:
        ids = parameters["CapacityReservationIds"]
        if "cr-b" in ids:
            raise said("InvalidCapacityReservationId.NotFound")
        return {"CapacityReservations": [row(name, AvailableInstanceCount=1) for name in ids]}

    clients = CannedClients(describe_capacity_reservations=describe)
    seen = holdings(clients).look([receipt_of(f"cr-{letter}") for letter in "abc"])
    assert {name: receipt.gone for name, receipt in seen.items()} == {
        "cr-a": False,
        "cr-b": True,
        "cr-c": False,
    }
    assert (seen["cr-a"].state, seen["cr-a"].available_count) == ("active", 1)
    assert seen["cr-a"].checked_at == seen["cr-b"].checked_at == NOW
    assert seen["cr-b"].state == "scheduled"


def test_known_ids_are_asked_in_one_call():
    clients = CannedClients(
        describe_capacity_reservations=lambda **p: {
            "CapacityReservations": [
                row(name, State="scheduled") for name in p["CapacityReservationIds"]
            ]
        }
    )
    holdings(clients).look([receipt_of(f"cr-{number}") for number in range(30)])
    assert len(clients.calls) == 1


def test_an_account_that_cannot_be_read_leaves_everything_else_as_it_was():
    def describe(**parameters: Any) -> dict[str, Any]:
        if "cr-far" in parameters["CapacityReservationIds"]:
            raise said("RequestLimitExceeded")
        return {"CapacityReservations": [row("cr-near")]}

    other = Account(name="other", account_id="222233334444", regions=("us-east-1",))
    clients = CannedClients(RESEARCH, other, describe_capacity_reservations=describe)
    far = receipt_of("cr-far", account="other")
    seen = holdings(clients).look([far, receipt_of("cr-near")])
    assert seen["cr-far"] == far.model_copy(update={"last_error": seen["cr-far"].last_error})
    assert "throttled" in seen["cr-far"].last_error
    assert seen["cr-near"].state == "active"


def test_a_state_of_tomorrow_passes_as_its_raw_word():
    clients = CannedClients(
        describe_capacity_reservations={"CapacityReservations": [row("cr-1", State="Half Alive")]}
    )
    assert holdings(clients).look([receipt_of("cr-1")])["cr-1"].state == "half-alive"


def test_before_the_start_the_size_is_read_from_the_system_tag():
    tag = {"Key": "aws:ec2capacityreservation:incrementalRequestedQuantity", "Value": "4"}
    clients = CannedClients(
        describe_capacity_reservations={
            "CapacityReservations": [
                row("cr-1", State="scheduled", TotalInstanceCount=0, Tags=[tag])
            ]
        }
    )
    assert holdings(clients).look([receipt_of("cr-1")])["cr-1"].total_count == 4


def test_an_extension_moves_the_end_that_the_reservation_shows():
    end = START + timedelta(days=9)
    clients = CannedClients(
        describe_capacity_reservations={
            "CapacityReservations": [row("cr-1", StartDate=START, EndDate=end)]
        }
    )
    assert holdings(clients).look([receipt_of("cr-1")])["cr-1"].segments[-1].end == end


def test_plans_are_read_by_name_with_their_counts():
    clients = CannedClients(
        describe_training_plan={
            "TrainingPlanArn": ARN, "Status": "Active", "TotalInstanceCount": 4,
            "AvailableInstanceCount": 1, "UnhealthyInstanceCount": 1,
        }
    )  # fmt: skip
    seen = holdings(clients).look([receipt_of(ARN, Kind.TRAINING_PLAN)])[ARN]
    assert clients.asked("describe_training_plan") == [{"TrainingPlanName": "gpubot-1"}]
    counts = (seen.total_count, seen.available_count, seen.unhealthy_count)
    assert (seen.state, counts) == ("active", (4, 1, 1))


def test_a_plan_that_is_not_known_any_more_is_gone():
    clients = CannedClients(describe_training_plan=said("ResourceNotFound"))
    assert holdings(clients).look([receipt_of(ARN, Kind.TRAINING_PLAN)])[ARN].gone


def test_a_launch_is_as_alive_as_its_most_alive_machine():
    states = ("terminated", "running")
    machines = [{"InstanceId": f"i-{s}", "State": {"Name": s}} for s in states]
    clients = CannedClients(
        describe_instances={"Reservations": [{"ReservationId": "r-1", "Instances": machines}]}
    )
    seen = holdings(clients).look([receipt_of("r-1", Kind.SPOT)])["r-1"]
    assert (seen.state, seen.total_count, seen.unhealthy_count) == ("running", 2, 1)


def test_an_extension_is_looked_up_by_its_own_offering():
    clients = CannedClients(
        describe_capacity_block_extension_history={
            "CapacityBlockExtensions": [
                {
                    "CapacityBlockExtensionOfferingId": "cbe-1",
                    "CapacityBlockExtensionStatus": "payment-succeeded",
                }
            ]
        }
    )
    seen = holdings(clients).look([receipt_of("cr-1#cbe-1")])["cr-1#cbe-1"]
    assert (seen.state, seen.gone) == ("payment-succeeded", False)
