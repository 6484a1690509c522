"""Every kit is read by what will read it, and leads into the very reservation."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.catalog import packaged
from bot.domain.errors import UserError
from bot.domain.market import Kind, Segment
from bot.domain.records import Receipt
from bot.kits import Format, Setting, formats_for, kit, setting_of
from bot.kits.writing import hcl_text, yaml
from tests.fakes.clock import NOW
from tests.unit.kits import readers, schemas

PLAN = "arn:aws:sagemaker:us-east-1:111122223333:training-plan/gpubot-0a1b"
EC2 = (Kind.CAPACITY_BLOCK, Kind.ODCR)
RESERVED = tuple(Format)


def receipt(kind: Kind = Kind.CAPACITY_BLOCK, **update: Any) -> Receipt:
    plan = kind is Kind.TRAINING_PLAN
    values: dict[str, Any] = {
        "id": PLAN if plan else "cr-0a1b2c3d4e5f60718",
        "purchase_id": "gpubot-0123456789-42-1-1",
        "reservation_id": 42,
        "kind": kind,
        "account": "research",
        "region": "us-east-1",
        "zone": "us-east-1b",
        "instance_type": "ml.p5.48xlarge" if plan else "p5.48xlarge",
        "instance_count": 2,
        "target": "training-job" if plan else None,
        "segments": (Segment(start=NOW, end=NOW + timedelta(days=2)),),
        "state": "active",
        "checked_at": NOW,
    }
    return Receipt(**{**values, **update})


def setting(
    kind: Kind = Kind.CAPACITY_BLOCK,
    *,
    subnets: dict[str, str] | None = None,
    templates: dict[str, str] | None = None,
    **update: Any,
) -> Setting:
    return setting_of(
        receipt(kind, **update),
        packaged(),
        platform="Linux/UNIX",
        subnets=subnets or {},
        templates=templates or {},
    )


def text(name: Format, kind: Kind = Kind.CAPACITY_BLOCK, **update: Any) -> str:
    return kit(setting(kind, **update), name).text


def launch(name: Format, kind: Kind, **update: Any) -> dict[str, Any]:
    read = readers.commands if name is Format.CLI else readers.calls
    ((operation, parameters),) = read(text(name, kind, **update))
    assert operation == "RunInstances"
    return parameters


@pytest.mark.parametrize("name", [Format.CLI, Format.BOTO3])
def test_a_launch_into_a_block_names_its_market_its_id_and_its_zone(name) -> None:
    asked = launch(name, Kind.CAPACITY_BLOCK, subnets={"us-east-1b": "subnet-0b"})
    assert asked["InstanceMarketOptions"] == {"MarketType": "capacity-block"}
    assert asked["CapacityReservationSpecification"] == {
        "CapacityReservationTarget": {"CapacityReservationId": "cr-0a1b2c3d4e5f60718"}
    }
    assert (asked["SubnetId"], asked["InstanceType"]) == ("subnet-0b", "p5.48xlarge")
    assert asked["MinCount"] == asked["MaxCount"] == 2
    assert "Placement" not in asked


@pytest.mark.parametrize("name", [Format.CLI, Format.BOTO3])
def test_an_on_demand_reservation_needs_no_market_type(name) -> None:
    asked = launch(name, Kind.ODCR)
    assert "InstanceMarketOptions" not in asked
    target = asked["CapacityReservationSpecification"]["CapacityReservationTarget"]
    assert target["CapacityReservationId"] == "cr-0a1b2c3d4e5f60718"


@pytest.mark.parametrize("name", [Format.CLI, Format.BOTO3])
def test_what_a_kit_starts_carries_the_tags_by_which_it_is_cleaned_up(name) -> None:
    asked = launch(name, Kind.CAPACITY_BLOCK)
    wanted = {"gpubot:reservation": "gpu-42", "gpubot:purchase": "gpubot-0123456789-42-1-1"}
    found = {
        part["ResourceType"]: {tag["Key"]: tag["Value"] for tag in part["Tags"]}
        for part in asked["TagSpecifications"]
    }
    assert found == {"instance": wanted, "volume": wanted}


def test_the_accounts_own_launch_template_stands_for_the_image() -> None:
    asked = launch(Format.CLI, Kind.CAPACITY_BLOCK, templates={"us-east-1": "lt-0a"})
    assert asked["LaunchTemplate"] == {"LaunchTemplateId": "lt-0a"}
    assert "ImageId" not in asked


def test_a_launch_template_leads_into_the_block() -> None:
    ((operation, asked),) = readers.commands(text(Format.TEMPLATE))
    data = asked["LaunchTemplateData"]
    assert operation == "CreateLaunchTemplate"
    assert data["InstanceMarketOptions"] == {"MarketType": "capacity-block"}
    target = data["CapacityReservationSpecification"]["CapacityReservationTarget"]
    assert target == {"CapacityReservationId": "cr-0a1b2c3d4e5f60718"}


@pytest.mark.parametrize("kind", EC2)
def test_terraform_reads_its_kit(kind) -> None:
    ((machine,),) = [
        next(iter(block.values())).values()
        for block in readers.hcl(text(Format.TERRAFORM, kind))["resource"]
    ]
    said = str(machine)
    assert "cr-0a1b2c3d4e5f60718" in said
    assert ("capacity-block" in said) is (kind is Kind.CAPACITY_BLOCK)
    assert "gpubot:purchase" in said
    assert machine["count"] == 2


@pytest.mark.parametrize("kind", EC2)
def test_eksctl_knows_every_field_and_finds_all_it_needs(kind) -> None:
    (document,) = readers.documents(text(Format.EKSCTL, kind))
    assert readers.complaints(document, schemas.EKSCTL) == []
    (group,) = document["managedNodeGroups"]
    target = group["capacityReservation"]["capacityReservationTarget"]
    assert target == {"capacityReservationID": "cr-0a1b2c3d4e5f60718"}
    assert ("instanceMarketOptions" in group) is (kind is Kind.CAPACITY_BLOCK)


@pytest.mark.parametrize("kind", EC2)
def test_karpenter_selects_the_reservation_and_takes_nothing_else(kind) -> None:
    node_class, pool = readers.documents(text(Format.KARPENTER, kind))
    assert readers.complaints(node_class, schemas.NODE_CLASS) == []
    assert readers.complaints(pool, schemas.NODE_POOL) == []
    terms = node_class["spec"]["capacityReservationSelectorTerms"]
    assert terms == [{"id": "cr-0a1b2c3d4e5f60718"}]
    wanted = {one["key"]: one["values"] for one in pool["spec"]["template"]["spec"]["requirements"]}
    assert wanted["karpenter.sh/capacity-type"] == ["reserved"]
    assert (
        pool["spec"]["template"]["spec"]["nodeClassRef"]["name"] == node_class["metadata"]["name"]
    )


@pytest.mark.parametrize("kind", EC2)
def test_the_nodes_of_a_block_are_static_in_slurm(kind) -> None:
    (document,) = readers.documents(text(Format.SLURM, kind))
    assert readers.complaints(document, schemas.PARALLELCLUSTER) == []
    (queue,) = document["Scheduling"]["SlurmQueues"]
    (machines,) = queue["ComputeResources"]
    block = kind is Kind.CAPACITY_BLOCK
    assert (queue.get("CapacityType") == "CAPACITY_BLOCK") is block
    assert machines["MaxCount"] == 2
    assert machines["MinCount"] == (2 if block else 0)
    assert machines["CapacityReservationTarget"] == {
        "CapacityReservationId": "cr-0a1b2c3d4e5f60718"
    }


PLACES = {
    "training-job": ("CreateTrainingJob", lambda asked: asked["ResourceConfig"]),
    "hyperpod-cluster": ("CreateCluster", lambda asked: asked["InstanceGroups"][0]),
    "studio-apps": ("CreateApp", lambda asked: asked["ResourceSpec"]),
}


@pytest.mark.parametrize("target", PLACES)
@pytest.mark.parametrize("name", [Format.CLI, Format.BOTO3])
def test_the_plans_arn_stands_where_its_target_wants_it(name, target) -> None:
    read = readers.commands if name is Format.CLI else readers.calls
    ((operation, asked),) = read(text(name, Kind.TRAINING_PLAN, target=target))
    wanted, place = PLACES[target]
    assert operation == wanted
    assert place(asked)["TrainingPlanArn"] == PLAN
    assert place(asked)["InstanceType"] == "ml.p5.48xlarge"


@pytest.mark.parametrize("name", [Format.CLI, Format.BOTO3])
def test_an_endpoint_uses_the_plan_and_nothing_but_the_plan(name) -> None:
    read = readers.commands if name is Format.CLI else readers.calls
    made = dict(read(text(name, Kind.TRAINING_PLAN, target="endpoint")))
    (variant,) = made["CreateEndpointConfig"]["ProductionVariants"]
    assert variant["CapacityReservationConfig"] == {
        "MlReservationArn": PLAN,
        "CapacityReservationPreference": "capacity-reservations-only",
    }
    assert (
        made["CreateEndpoint"]["EndpointConfigName"]
        == made["CreateEndpointConfig"]["EndpointConfigName"]
    )


def test_a_plan_that_was_extended_is_named_without_its_extension() -> None:
    asked = text(Format.CLI, Kind.TRAINING_PLAN, id=f"{PLAN}#tpeo-1")
    assert "#" not in asked


@pytest.mark.parametrize("kind", list(Kind))
def test_only_fitting_formats_are_offered_and_every_one_of_them_works(kind) -> None:
    here = setting(kind)
    offered = formats_for(here)
    assert offered
    for name in Format:
        if name in offered:
            assert kit(here, name).text
        else:
            with pytest.raises(UserError, match="does not fit"):
                kit(here, name)


def test_what_must_be_filled_in_is_said_and_nothing_else() -> None:
    bare = kit(setting(), Format.CLI)
    assert bare.notes[0] == "Replace your-ami-id, your-subnet-in-us-east-1b."
    whole = kit(
        setting(subnets={"us-east-1b": "subnet-0b"}, templates={"us-east-1": "lt-0a"}), Format.CLI
    )
    assert "Replace" not in " ".join(whole.notes)


@pytest.mark.parametrize("kind", list(Kind))
def test_a_kit_fits_into_one_slack_text(kind) -> None:
    for target in ("training-job", "hyperpod-cluster", "endpoint", "studio-apps"):
        here = setting(kind, target=target if kind is Kind.TRAINING_PLAN else None)
        for name in formats_for(here):
            assert len(kit(here, name).text) < 3000


def test_machines_that_run_already_are_found_by_their_purchase() -> None:
    ((operation, asked),) = readers.commands(text(Format.CLI, Kind.SPOT))
    assert operation == "DescribeInstances"
    assert asked["Filters"] == [
        {"Name": "tag:gpubot:purchase", "Values": ["gpubot-0123456789-42-1-1"]}
    ]


HOSTILE = st.text(alphabet="ab'\"$`\\{}%#:- \n;&<>é", max_size=20)


@given(HOSTILE)
def test_no_value_can_leave_its_quotes(said) -> None:
    here = setting(purchase_id=said, id="cr-1")
    ((_, asked),) = readers.commands(kit(here, Format.CLI).text.replace("\n\n", "\n"))
    ((_, called),) = readers.calls(kit(here, Format.BOTO3).text)
    for parameters in (asked, called):
        assert parameters["TagSpecifications"][0]["Tags"][1]["Value"] == said
    (document,) = readers.documents(kit(here, Format.EKSCTL).text)
    assert document["managedNodeGroups"][0]["tags"]["gpubot:purchase"] == said


@given(
    st.recursive(
        st.text() | st.booleans() | st.integers(),
        lambda part: (
            st.lists(part, min_size=1, max_size=3)
            | st.dictionaries(st.text(min_size=1), part, min_size=1, max_size=3)
        ),
        max_leaves=8,
    )
)
def test_yaml_is_read_back_as_it_was(tree) -> None:
    assert readers.documents(yaml(tree)) == [tree]


def test_hcl_never_begins_a_template_in_a_value() -> None:
    assert hcl_text('a"${b}%{c}') == '"a\\"$${b}%%{c}"'
