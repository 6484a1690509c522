"""What endpoints, machines and leftovers send to AWS, and how they read its answers."""

from typing import Any

import pytest
from botocore.config import Config

from bot.aws import AwsEndpoints, AwsLeftovers, AwsMachines, clients
from bot.aws.on_demand import catalog_price
from bot.domain.errors import IndeterminateError, MarketError, RefusedError
from bot.domain.market import Kind
from bot.domain.using import EndpointOrder, Leftover, LeftoverKind
from tests.fakes.clock import FakeClock
from tests.unit.aws.canned import RESEARCH, CannedClients, receipt_of, said

ARN = "arn:aws:sagemaker:us-east-1:111122223333:training-plan/gpubot-1"
OWN = "inst-7/gpu-42/1/1"
TAGS = [{"Key": "gpubot:purchase", "Value": OWN}]


def order(**update: Any) -> EndpointOrder:
    values: dict[str, Any] = {
        "name": "gpubot-gpu-42-0a1b",
        "account": "research",
        "region": "us-east-1",
        "plan_arn": ARN,
        "instance_type": "ml.p5.48xlarge",
        "count": 2,
        "model": "llama",
        "reservation_id": 42,
        "purchase_id": OWN,
        "owner": "U0ANA",
    }
    return EndpointOrder(**{**values, **update})


def leftovers(canned: CannedClients) -> AwsLeftovers:
    return AwsLeftovers((RESEARCH,), clock=FakeClock(), clients=canned)


def leftover(kind: LeftoverKind, name: str) -> Leftover:
    return Leftover(
        kind=kind, id=name, account="research", region="us-east-1", state="there", purchase=OWN
    )


# --- endpoints ----------------------------------------------------------------------------------


def test_the_configuration_holds_the_plan_and_our_tags() -> None:
    canned = CannedClients()
    AwsEndpoints((RESEARCH,), clients=canned).configure(order())
    (sent,) = canned.asked("create_endpoint_config")
    (variant,) = sent["ProductionVariants"]
    assert variant["CapacityReservationConfig"] == {
        "CapacityReservationPreference": "capacity-reservations-only",
        "MlReservationArn": ARN,
    }
    assert (variant["ModelName"], variant["InitialInstanceCount"]) == ("llama", 2)
    assert {"Key": "gpubot:purchase", "Value": OWN} in sent["Tags"]
    assert {"Key": "gpubot:reservation", "Value": "gpu-42"} in sent["Tags"]


@pytest.mark.parametrize("call", ["configure", "create", "delete", "unconfigure"])
def test_whatever_the_server_does_one_request_leaves(call, monkeypatch) -> None:
    sent: list[str] = []

    def answer(request: Any, **_: Any) -> None:
        sent.append(request.headers.get("X-Amz-Target", b"").decode())
        raise ConnectionResetError

    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setattr(clients, "SPENDING", clients.SPENDING.merge(Config(read_timeout=1)))
    own = clients.Clients((RESEARCH,))
    client = own.spending("sagemaker", "research", "us-east-1", purpose="launch")
    client.meta.events.register("before-send.sagemaker.*", answer)
    with pytest.raises(IndeterminateError):
        getattr(AwsEndpoints((RESEARCH,), clients=own), call)(order())
    assert len(sent) == 1


def test_no_such_endpoint_is_an_answer_and_a_throttle_is_none() -> None:
    missing = said("ValidationException", 'Could not find endpoint "x".')
    canned = CannedClients(describe_endpoint=missing, describe_endpoint_config=missing)
    port = AwsEndpoints((RESEARCH,), clients=canned)
    assert port.look(order()) is None
    assert port.configured(order()) is False
    busy = CannedClients(describe_endpoint=said("ThrottlingException"))
    with pytest.raises(MarketError):
        AwsEndpoints((RESEARCH,), clients=busy).look(order())


def test_deleting_what_is_gone_is_done_and_a_refusal_is_one() -> None:
    gone = CannedClients(delete_endpoint=said("ValidationException", "Could not find endpoint"))
    AwsEndpoints((RESEARCH,), clients=gone).delete(order())
    busy = CannedClients(
        delete_endpoint=said("ValidationException", "Cannot delete while Updating")
    )
    with pytest.raises(RefusedError):
        AwsEndpoints((RESEARCH,), clients=busy).delete(order())


def test_the_plan_of_an_extension_is_the_plan_itself() -> None:
    shown = {"TrainingPlanArn": ARN, "Status": "Active", "TargetResources": ["endpoint"]}
    canned = CannedClients(describe_training_plan=shown)
    port = AwsEndpoints((RESEARCH,), clients=canned)
    seen = port.plan(receipt_of(f"{ARN}#tpeo-1", Kind.TRAINING_PLAN))
    assert seen is not None
    assert (seen.status, seen.targets) == ("Active", ("endpoint",))
    assert canned.asked("describe_training_plan") == [{"TrainingPlanName": "gpubot-1"}]


# --- leftovers ----------------------------------------------------------------------------------


def machine(name: str = "i-1", **update: Any) -> dict[str, Any]:
    row = {
        "InstanceId": name,
        "InstanceType": "g6.xlarge",
        "State": {"Name": "running"},
        "Tags": TAGS,
    }
    return {"Reservations": [{"ReservationId": "r-1", "Instances": [{**row, **update}]}]}


def found(kind: Kind = Kind.ON_DEMAND, **answers: Any) -> dict[str, Leftover]:
    canned = CannedClients(**answers)
    seen = leftovers(canned).find([receipt_of("r-1", kind)])
    assert seen.not_read == ()
    return {item.id: item for item in seen.items}


def test_what_is_terminated_is_no_leftover_and_what_shuts_down_costs_nothing() -> None:
    assert found(describe_instances=machine(State={"Name": "terminated"})) == {}
    (item,) = found(describe_instances=machine(State={"Name": "shutting-down"})).values()
    assert item.usd_per_day == 0


def test_an_on_demand_machine_costs_its_price_a_day() -> None:
    (item,) = found(describe_instances=machine()).values()
    price = catalog_price("us-east-1", "g6.xlarge")
    assert price is not None
    assert price.usd_per_hour is not None
    assert item.usd_per_day == price.usd_per_hour * 24


def test_prices_that_nobody_knows_stay_unknown() -> None:
    odd = machine(InstanceType="p99.48xlarge")
    (item,) = found(describe_instances=odd).values()
    assert (item.usd_per_day, item.prepaid) == (None, False)
    spot = machine(InstanceLifecycle="spot")
    (item,) = found(Kind.SPOT, describe_instances=spot).values()
    assert item.usd_per_day is None


def test_only_requests_that_can_start_more_machines_are_left_over() -> None:
    rows = [
        {"SpotInstanceRequestId": "sir-1", "InstanceId": "i-1", "State": "active", "Type": kind}
        for kind in ("one-time",)
    ] + [
        {"SpotInstanceRequestId": "sir-2", "State": "open", "Type": "one-time", "Tags": TAGS},
        {"SpotInstanceRequestId": "sir-3", "State": "active", "Type": "persistent", "Tags": TAGS},
        {"SpotInstanceRequestId": "sir-4", "State": "open", "Type": "persistent"},
    ]
    seen = found(
        Kind.SPOT,
        describe_instances=machine(InstanceLifecycle="spot"),
        describe_spot_instance_requests={"SpotInstanceRequests": rows},
    )
    assert set(seen) == {"i-1", "sir-2", "sir-3"}


def test_only_our_fleets_that_live_are_found() -> None:
    rows = [
        {"FleetId": "fleet-1", "FleetState": "active", "Type": "maintain", "Tags": TAGS},
        {"FleetId": "fleet-2", "FleetState": "deleted", "Type": "maintain", "Tags": TAGS},
        {"FleetId": "fleet-3", "FleetState": "active", "Type": "instant", "Tags": TAGS},
        {"FleetId": "fleet-4", "FleetState": "active", "Type": "maintain"},
    ]
    assert set(found(describe_fleets={"Fleets": rows})) == {"fleet-1"}


def test_another_installations_things_are_not_ours() -> None:
    theirs = [{"Key": "gpubot:purchase", "Value": "inst-8/gpu-42/1/1"}]
    rows = [
        {
            "CapacityReservationId": "cr-9",
            "ReservationType": "default",
            "State": "active",
            "InstanceType": "p5.48xlarge",
            "TotalInstanceCount": 2,
            "Tags": theirs,
        }
    ]
    assert found(describe_capacity_reservations={"CapacityReservations": rows}) == {}


def test_a_block_is_paid_and_therefore_no_leftover() -> None:
    rows = [
        {
            "CapacityReservationId": "cr-1",
            "ReservationType": "capacity-block",
            "State": "active",
            "Tags": TAGS,
        }
    ]
    assert found(describe_capacity_reservations={"CapacityReservations": rows}) == {}


def test_one_book_that_is_closed_does_not_close_the_others() -> None:
    canned = CannedClients(
        describe_instances=machine(), describe_volumes=said("UnauthorizedOperation")
    )
    seen = leftovers(canned).find([receipt_of("r-1", Kind.ON_DEMAND)])
    assert [item.id for item in seen.items] == ["i-1"]
    assert [(one.market, one.why) for one in seen.not_read] == [("volumes", "refused")]


REMOVALS = {
    LeftoverKind.INSTANCE: ("terminate_instances", {"InstanceIds": ["x"]}),
    LeftoverKind.SPOT_REQUEST: (
        "cancel_spot_instance_requests",
        {"SpotInstanceRequestIds": ["x"]},
    ),
    LeftoverKind.FLEET: ("delete_fleets", {"FleetIds": ["x"], "TerminateInstances": True}),
    LeftoverKind.VOLUME: ("delete_volume", {"VolumeId": "x"}),
    LeftoverKind.RESERVATION: ("cancel_capacity_reservation", {"CapacityReservationId": "x"}),
    LeftoverKind.SHARE: ("delete_resource_share", {"resourceShareArn": "x"}),
    LeftoverKind.ENDPOINT: ("delete_endpoint", {"EndpointName": "x"}),
    LeftoverKind.CONFIGURATION: ("delete_endpoint_config", {"EndpointConfigName": "x"}),
}


@pytest.mark.parametrize("kind", list(LeftoverKind))
def test_each_thing_is_removed_by_its_own_call_and_no_other(kind) -> None:
    canned = CannedClients()
    leftovers(canned).remove(leftover(kind, "x"))
    operation, parameters = REMOVALS[kind]
    assert [(name, sent) for name, _, sent in canned.calls] == [(operation, parameters)]


# --- machines -----------------------------------------------------------------------------------


def test_a_marked_machine_is_noticed_and_one_a_person_ended_is_not() -> None:
    rows = [
        {"InstanceId": name, "Status": {"Code": code}}
        for name, code in (
            ("i-1", "marked-for-termination"),
            ("i-2", "fulfilled"),
            ("i-3", "instance-terminated-by-user"),
            ("i-4", "instance-terminated-by-price"),
        )
    ]
    machines = {
        "Reservations": [
            {
                "Instances": [
                    {
                        "InstanceId": f"i-{number}",
                        "InstanceLifecycle": "spot",
                        "State": {"Name": "running" if number < 3 else "terminated"},
                    }
                    for number in range(1, 5)
                ]
            }
        ]
    }
    canned = CannedClients(
        describe_instances=machines,
        describe_spot_instance_requests={"SpotInstanceRequests": rows},
    )
    seen = AwsMachines((RESEARCH,), clients=canned).health(receipt_of("r-1", Kind.SPOT))
    assert {one.id: one.notice for one in seen.machines} == {
        "i-1": "marked-for-termination",
        "i-2": "",
        "i-3": "",
        "i-4": "instance-terminated-by-price",
    }


def test_the_interconnect_is_that_of_the_blocks_own_reservation() -> None:
    held = {
        "CapacityReservationId": "cr-1",
        "ReservationType": "capacity-block",
        "State": "active",
        "TotalInstanceCount": 2,
        "AvailableInstanceCount": 1,
    }
    blocks = [
        {
            "InterconnectStatus": word,
            "TotalUnavailableCapacity": lost,
            "CapacityReservationStatuses": [{"CapacityReservationId": name}],
        }
        for name, word, lost in (("cr-9", "ok", 0), ("cr-1", "impaired", 1))
    ]
    canned = CannedClients(
        describe_capacity_reservations={"CapacityReservations": [held]},
        describe_capacity_block_status={"CapacityBlockStatuses": blocks},
    )
    seen = AwsMachines((RESEARCH,), clients=canned).health(receipt_of("cr-1"))
    assert (seen.interconnect, seen.unhealthy, seen.free, seen.total) == ("impaired", 1, 1, 2)
