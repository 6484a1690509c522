"""On-demand reservations, machines and fleets."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from moto.ec2.models.amis import AMIS

from sandbox.aws.furnishing import LINUX_TEMPLATE_ID

POOL = {"region": "us-east-1", "instance_type": "p5.48xlarge"}


@pytest.fixture
def roomy(sandbox_with):
    return sandbox_with(
        on_demand=[{**POOL, "instance_count": 3}], spot_pools=[{**POOL, "instance_count": 4}]
    )


def image(platform=None):
    return next(one["ami_id"] for one in AMIS if one.get("platform") == platform)


def reserve(sandbox, **params):
    asked = {
        "InstanceType": "p5.48xlarge",
        "InstancePlatform": "Linux/UNIX",
        "InstanceCount": 2,
        "AvailabilityZone": "us-east-1b",
        "InstanceMatchCriteria": "targeted",
    }
    return sandbox.ec2.create_capacity_reservation(**{**asked, **params})["CapacityReservation"]


def run(sandbox, count=1, reservation=None, market=None, **params):
    asked = {"InstanceType": "p5.48xlarge", "MinCount": count, "MaxCount": count}
    asked["ImageId"] = params.pop("ImageId", None) or image()
    if reservation:
        asked["CapacityReservationSpecification"] = {
            "CapacityReservationTarget": {"CapacityReservationId": reservation}
        }
    if market:
        asked["InstanceMarketOptions"] = {"MarketType": market}
    return sandbox.ec2.run_instances(**asked, **params)["Instances"]


@pytest.fixture
def block(roomy, buy):
    bought = buy(roomy.ec2)
    roomy.time = bought["StartDate"].astimezone(UTC) + timedelta(minutes=5)
    return bought


def test_the_same_token_reserves_once(roomy, refused):
    first = reserve(roomy, ClientToken="leg-1")
    roomy.advance(minutes=5)
    assert (
        reserve(roomy, ClientToken="leg-1")["CapacityReservationId"]
        == (first["CapacityReservationId"])
    )
    code = refused(lambda: reserve(roomy, ClientToken="leg-1", InstanceCount=1))
    assert code == "IdempotentParameterMismatch"
    assert len(roomy.aws.sold()) == 1


def test_no_token_reserves_twice(roomy):
    reserve(roomy, InstanceCount=1)
    reserve(roomy, InstanceCount=1)
    assert [row["kind"] for row in roomy.aws.sold()] == ["odcr", "odcr"]


def test_reservations_end_at_capacity_and_quota(roomy, sandbox_with, refused):
    assert refused(lambda: reserve(roomy, InstanceCount=4)) == "InsufficientInstanceCapacity"
    tight = sandbox_with(
        on_demand=[{**POOL, "instance_count": 9}], quotas=[{"quota": "L-417A185B", "value": 192}]
    )
    assert refused(lambda: reserve(tight)) == "VcpuLimitExceeded"
    reserve(tight, InstanceCount=1)
    assert refused(lambda: reserve(tight, InstanceCount=1)) == "VcpuLimitExceeded"


def test_a_limited_reservation_ends_within_the_hour_after(roomy):
    end = roomy.time + timedelta(hours=5)
    made = reserve(roomy, EndDateType="limited", EndDate=end)
    assert made["EndDate"] == end
    roomy.time = end
    assert roomy.aws.sold()[0]["state"] == "active"
    roomy.advance(hours=1)
    assert roomy.aws.sold()[0]["state"] == "expired"


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"EndDateType": "limited"}, "InvalidParameterCombination"),
        ({"EndDate": datetime(2027, 4, 1, tzinfo=UTC)}, "InvalidParameterCombination"),
        ({"AvailabilityZone": "us-east-1-atl-2a"}, "InvalidParameterValue"),
        ({"AvailabilityZone": "eu-west-1a"}, "InvalidParameterValue"),
        ({"InstanceCount": 1001}, "InvalidParameterValue"),
        ({"StartDate": datetime(2027, 5, 1, tzinfo=UTC)}, "InvalidParameterValue"),
        ({"DryRun": True}, "DryRunOperation"),
    ],
)
def test_a_wrong_reservation_is_refused(roomy, refused, params, code):
    assert refused(lambda: reserve(roomy, **params)) == code


def test_a_reservation_is_changed_and_given_back_and_a_block_is_not(roomy, block, refused):
    made = reserve(roomy)["CapacityReservationId"]
    roomy.advance(minutes=1)
    roomy.ec2.modify_capacity_reservation(CapacityReservationId=made, InstanceCount=3)
    assert next(r for r in roomy.aws.sold() if r["id"] == made)["instance_count"] == 3
    roomy.ec2.cancel_capacity_reservation(CapacityReservationId=made)
    assert next(r for r in roomy.aws.sold() if r["id"] == made)["state"] == "cancelled"
    paid = block["CapacityReservationId"]
    cancel = roomy.ec2.cancel_capacity_reservation
    assert refused(cancel, CapacityReservationId=paid) == "OperationNotPermitted"
    assert refused(cancel, CapacityReservationId=made) == "InvalidCapacityReservationState"


def test_a_block_takes_machines_only_with_market_type_and_target(roomy, block, refused):
    target = block["CapacityReservationId"]
    assert refused(lambda: run(roomy, reservation=target)) == "InvalidParameterValue"
    assert refused(lambda: run(roomy, market="capacity-block")) == "InvalidParameterValue"
    machines = run(roomy, 2, target, "capacity-block")
    assert {one["InstanceLifecycle"] for one in machines} == {"capacity-block"}
    assert {one["CapacityReservationId"] for one in machines} == {target}
    code = refused(lambda: run(roomy, 1, target, "capacity-block"))
    assert code == "ReservationCapacityExceeded"


def test_a_block_refuses_what_does_not_match(roomy, block, refused):
    target = block["CapacityReservationId"]

    def code(**params):
        return refused(lambda: run(roomy, 1, target, "capacity-block", **params))

    assert code(ImageId=image("windows")) == "InvalidLaunchTargets"
    assert code(Placement={"GroupName": "near"}) == "InvalidParameterCombination"
    zones = roomy.ec2.describe_subnets()["Subnets"]
    other = next(
        one["SubnetId"] for one in zones if one["AvailabilityZone"] != block["AvailabilityZone"]
    )
    assert code(SubnetId=other) == "InvalidLaunchTargets"
    assert code(SubnetId="subnet-0123456789abcdef0") == "InvalidSubnetID.NotFound"
    assert code(ImageId="ami-0123456789abcdef0") == "InvalidAMIID.NotFound"


def test_a_block_takes_no_machine_before_its_start_or_in_its_last_half_hour(
    roomy, buy, block, refused
):
    later = buy(roomy.ec2, StartDateRange=roomy.time + timedelta(days=5))
    roomy.advance(minutes=30)
    early = later["CapacityReservationId"]
    code = refused(lambda: run(roomy, 1, early, "capacity-block"))
    assert code == "InvalidCapacityReservationState.PendingActivation"
    roomy.time = block["EndDate"].astimezone(UTC) - timedelta(minutes=29)
    late = block["CapacityReservationId"]
    code = refused(lambda: run(roomy, 1, late, "capacity-block"))
    assert code == "InvalidCapacityReservationState"


def test_machines_of_a_block_are_ended_half_an_hour_before_its_end(roomy, block):
    run(roomy, 2, block["CapacityReservationId"], "capacity-block")
    roomy.time = block["EndDate"].astimezone(UTC) - timedelta(minutes=31)
    rows = [row for row in roomy.aws.sold() if row["kind"] == "block_instance"]
    assert [row["state"] for row in rows] == ["running", "running"]
    roomy.advance(minutes=3)
    rows = [row for row in roomy.aws.sold() if row["kind"] == "block_instance"]
    assert [row["state"] for row in rows] == ["terminated", "terminated"]


def test_a_failed_machine_frees_its_slot_ten_minutes_after_it_is_ended(roomy, block):
    target = block["CapacityReservationId"]
    machine = run(roomy, 1, target, "capacity-block")[0]["InstanceId"]
    roomy.advance(minutes=2)
    roomy.aws.event({"event": "node-failed", "reservation": target})
    status = roomy.ec2.describe_instance_status(InstanceIds=[machine])["InstanceStatuses"][0]
    assert status["SystemStatus"]["Status"] == "impaired"
    roomy.ec2.terminate_instances(InstanceIds=[machine])

    def available():
        rows = roomy.ec2.describe_capacity_reservations(CapacityReservationIds=[target])
        return rows["CapacityReservations"][0]["AvailableInstanceCount"]

    roomy.advance(minutes=2)
    assert available() == 1
    roomy.advance(minutes=10)
    assert available() == 2


def test_the_same_token_launches_once_in_a_zone(roomy, refused):
    params = {"ClientToken": "leg-1", "Placement": {"AvailabilityZone": "us-east-1b"}}
    first = run(roomy, **params)[0]["InstanceId"]
    roomy.advance(minutes=2)
    again = run(roomy, **params)[0]
    assert (again["InstanceId"], again["State"]["Name"]) == (first, "running")
    assert refused(lambda: run(roomy, 2, **params)) == "IdempotentParameterMismatch"
    elsewhere = {"ClientToken": "leg-1", "Placement": {"AvailabilityZone": "us-east-1c"}}
    assert run(roomy, **elsewhere)[0]["InstanceId"] != first
    roomy.ec2.terminate_instances(InstanceIds=[first])
    roomy.advance(minutes=2)
    assert refused(lambda: run(roomy, **params)) == "IdempotentInstanceTerminated"


def test_on_demand_ends_at_capacity_and_quota(roomy, sandbox_with, refused):
    zone = {"Placement": {"AvailabilityZone": "us-east-1b"}}
    assert refused(lambda: run(roomy, 4, **zone)) == "InsufficientInstanceCapacity"
    assert len(run(roomy, 3, **zone)) == 3
    assert refused(lambda: run(roomy, 1, **zone)) == "InsufficientInstanceCapacity"
    poor = sandbox_with(quotas=[{"quota": "L-417A185B", "value": 0}])
    assert refused(lambda: run(poor, 1)) == "VcpuLimitExceeded"


def test_the_largest_number_between_min_and_max_is_launched(roomy):
    launched = roomy.ec2.run_instances(
        ImageId=image(),
        InstanceType="p5.48xlarge",
        MinCount=1,
        MaxCount=9,
        Placement={"AvailabilityZone": "us-east-1b"},
    )["Instances"]
    assert len(launched) == 3


def test_a_quota_bounds_how_many_are_launched(sandbox_with):
    sandbox = sandbox_with(
        on_demand=[{**POOL, "instance_count": 9}], quotas=[{"quota": "L-417A185B", "value": 400}]
    )
    launched = sandbox.ec2.run_instances(
        ImageId=image(), InstanceType="p5.48xlarge", MinCount=1, MaxCount=9
    )["Instances"]
    assert len(launched) == 2


@pytest.mark.parametrize("code", ["L-7212CCBC", "L-C4BD4855"])
def test_p5_spot_counts_against_both_of_its_quotas(sandbox_with, refused, code):
    poor = sandbox_with(
        spot_pools=[{**POOL, "instance_count": 9}], quotas=[{"quota": code, "value": 191}]
    )
    assert refused(lambda: run(poor, market="spot")) == "MaxSpotInstanceCountExceeded"


def test_open_reservations_swallow_ordinary_launches_and_targeted_ones_do_not(roomy):
    held = reserve(roomy, InstanceMatchCriteria="open", InstanceCount=1)["CapacityReservationId"]
    reserve(roomy, InstanceCount=1, AvailabilityZone="us-east-1c")
    first, second = run(roomy)[0], run(roomy)[0]
    assert first["CapacityReservationId"] == held
    assert "CapacityReservationId" not in second


def test_a_targeted_reservation_takes_a_plain_launch(roomy):
    held = reserve(roomy)["CapacityReservationId"]
    roomy.advance(seconds=5)
    assert run(roomy, 1, held)[0]["CapacityReservationId"] == held


def test_spot_has_its_own_price_quota_and_end(roomy, sandbox_with, refused):
    machine = run(roomy, market="spot")[0]
    assert machine["InstanceLifecycle"] == "spot"
    roomy.advance(minutes=2)
    roomy.aws.event({"event": "spot-interruption"})
    found = roomy.ec2.describe_instances(
        Filters=[{"Name": "instance-lifecycle", "Values": ["spot"]}]
    )["Reservations"]
    assert found[0]["Instances"][0]["State"]["Name"] == "running"
    roomy.advance(minutes=4)
    found = roomy.ec2.describe_instances(InstanceIds=[machine["InstanceId"]])["Reservations"]
    instance = found[0]["Instances"][0]
    assert instance["State"]["Name"] == "terminated"
    assert instance["StateReason"]["Code"] == "Server.SpotInstanceTermination"
    low = {"MarketType": "spot", "SpotOptions": {"MaxPrice": "0.01"}}
    code = refused(
        lambda: roomy.ec2.run_instances(
            ImageId=image(),
            InstanceType="p5.48xlarge",
            MinCount=1,
            MaxCount=1,
            InstanceMarketOptions=low,
        )
    )
    assert code == "SpotMaxPriceTooLow"
    poor = sandbox_with(quotas=[{"quota": "L-7212CCBC", "value": 0}])
    assert refused(lambda: run(poor, market="spot")) == "MaxSpotInstanceCountExceeded"


def template(sandbox, **data):
    made = sandbox.ec2.create_launch_template(
        LaunchTemplateName="train",
        LaunchTemplateData={"ImageId": image(), "InstanceType": "p5.48xlarge", **data},
    )
    return {"LaunchTemplateId": made["LaunchTemplate"]["LaunchTemplateId"], "Version": "$Latest"}


def test_a_launch_template_fills_in_what_the_call_leaves_out(roomy):
    found = template(roomy)
    launched = roomy.ec2.run_instances(LaunchTemplate=found, MinCount=1, MaxCount=1)["Instances"]
    assert launched[0]["InstanceType"] == "p5.48xlarge"
    versions = roomy.ec2.describe_launch_template_versions(
        LaunchTemplateId=found["LaunchTemplateId"]
    )["LaunchTemplateVersions"]
    assert versions[0]["LaunchTemplateData"]["ImageId"]


def test_an_instant_fleet_tells_what_it_could_not_launch(roomy):
    asked = {
        "Type": "instant",
        "ClientToken": "fleet-1",
        "LaunchTemplateConfigs": [
            {
                "LaunchTemplateSpecification": template(roomy),
                "Overrides": [
                    {"AvailabilityZone": "us-east-1b"},
                    {"AvailabilityZone": "us-east-1c", "InstanceType": "p4d.24xlarge"},
                    {"AvailabilityZone": "us-east-1c"},
                ],
            }
        ],
        "TargetCapacitySpecification": {
            "TotalTargetCapacity": 4,
            "DefaultTargetCapacityType": "on-demand",
        },
    }
    fleet = roomy.ec2.create_fleet(**asked)
    launched = sum(len(one["InstanceIds"]) for one in fleet["Instances"])
    assert launched <= 4
    assert len(fleet["Instances"][0]["InstanceIds"]) == 3
    assert roomy.ec2.create_fleet(**asked)["FleetId"] == fleet["FleetId"]
    assert sum(row["kind"] == "on_demand" for row in roomy.aws.sold()) == launched


def test_a_fleet_calls_a_block_that_waits_insufficient_capacity(roomy, buy):
    target = buy(roomy.ec2)["CapacityReservationId"]
    roomy.advance(minutes=1)
    specification = template(
        roomy,
        CapacityReservationSpecification={
            "CapacityReservationTarget": {"CapacityReservationId": target}
        },
    )
    fleet = roomy.ec2.create_fleet(
        Type="instant",
        LaunchTemplateConfigs=[{"LaunchTemplateSpecification": specification}],
        TargetCapacitySpecification={
            "TotalTargetCapacity": 1,
            "DefaultTargetCapacityType": "capacity-block",
        },
    )
    assert fleet["Instances"] == []
    assert [one["ErrorCode"] for one in fleet["Errors"]] == ["InsufficientInstanceCapacity"]


def test_tags_can_be_put_on_later_and_found(roomy):
    machine = run(roomy)[0]["InstanceId"]
    roomy.ec2.create_tags(Resources=[machine], Tags=[{"Key": "team", "Value": "vision"}])
    found = roomy.ec2.describe_instances(Filters=[{"Name": "tag:team", "Values": ["vis*"]}])
    assert found["Reservations"][0]["Instances"][0]["InstanceId"] == machine
    assert json.dumps(roomy.aws.sold())


def test_every_account_owns_a_launch_template_that_can_be_named_beforehand(roomy):
    versions = roomy.ec2.describe_launch_template_versions(LaunchTemplateId=LINUX_TEMPLATE_ID)
    picture = versions["LaunchTemplateVersions"][0]["LaunchTemplateData"]["ImageId"]
    found = roomy.ec2.describe_images(ImageIds=[picture])["Images"][0]
    assert found["PlatformDetails"] == "Linux/UNIX"
    launched = roomy.client("ec2", "us-west-2").run_instances(
        LaunchTemplate={"LaunchTemplateId": LINUX_TEMPLATE_ID},
        InstanceType="g5.48xlarge",
        MinCount=1,
        MaxCount=1,
    )
    assert launched["Instances"][0]["InstanceType"] == "g5.48xlarge"


def test_zone_names_and_ids_of_the_offered_types_agree_with_the_zones(roomy):
    zones = {
        one["ZoneName"]: one["ZoneId"]
        for one in roomy.ec2.describe_availability_zones()["AvailabilityZones"]
    }

    def places(kind):
        rows = roomy.ec2.describe_instance_type_offerings(
            LocationType=kind, Filters=[{"Name": "instance-type", "Values": ["p5en.48xlarge"]}]
        )["InstanceTypeOfferings"]
        return {one["Location"] for one in rows}

    assert {zones[name] for name in places("availability-zone")} == places("availability-zone-id")
