"""Spot, prices, quotas, zones, and what moto answers; shapes and determinism."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from moto.core.utils import get_service_model

from sandbox.aws import Supply
from sandbox.aws.operations import FROM_MOTO, OPERATIONS
from sandbox.aws.protocol import ShapeError, misfits, operation_model, render


def test_spot_prices_come_in_pages_and_end_with_an_empty_token(sandbox):
    asked = {
        "InstanceTypes": ["g6e.4xlarge"],
        "ProductDescriptions": ["Linux/UNIX"],
        "StartTime": sandbox.time - timedelta(days=1),
    }
    whole = sandbox.ec2.describe_spot_price_history(**asked)
    assert whole["NextToken"] == ""
    rows = whole["SpotPriceHistory"]
    assert len({row["AvailabilityZone"] for row in rows}) > 1
    assert all(Decimal(row["SpotPrice"]) > 0 for row in rows)
    first = sandbox.ec2.describe_spot_price_history(**asked, MaxResults=2)
    assert first["NextToken"]
    pages = sandbox.ec2.get_paginator("describe_spot_price_history").paginate(
        **asked, PaginationConfig={"PageSize": 3}
    )
    assert [row for page in pages for row in page["SpotPriceHistory"]] == rows


def test_the_price_before_the_start_is_told_too(sandbox):
    rows = sandbox.ec2.describe_spot_price_history(
        InstanceTypes=["g6e.4xlarge"], StartTime=sandbox.time, EndTime=sandbox.time
    )["SpotPriceHistory"]
    zones = [row["AvailabilityZone"] for row in rows]
    assert zones
    assert len(zones) == len(set(zones))
    assert all(row["Timestamp"] <= sandbox.time for row in rows)


def test_spot_is_never_dearer_than_on_demand(sandbox):
    rows = sandbox.ec2.describe_spot_price_history(
        InstanceTypes=["p5.48xlarge"], StartTime=sandbox.time
    )["SpotPriceHistory"]
    assert all(Decimal(row["SpotPrice"]) <= Decimal("55.04") for row in rows)


def scores(sandbox, *types, **params):
    return sandbox.ec2.get_spot_placement_scores(
        InstanceTypes=list(types),
        TargetCapacity=2,
        RegionNames=["us-east-1", "us-west-2"],
        **params,
    )["SpotPlacementScores"]


def test_scores_are_low_for_fewer_than_three_types(sandbox):
    one = scores(sandbox, "g5.48xlarge", SingleAvailabilityZone=True)
    three = scores(
        sandbox, "g5.48xlarge", "g6.48xlarge", "g6e.48xlarge", SingleAvailabilityZone=True
    )
    assert max(row["Score"] for row in one) <= 3
    assert max(row["Score"] for row in three) > 3
    assert len(three) <= 10
    assert {row["Region"] for row in scores(sandbox, "g5.48xlarge")} == {"us-east-1", "us-west-2"}


def test_a_score_can_be_refused(sandbox, refused):
    order = {"operation": "GetSpotPlacementScores", "fault": "error:MaxConfigLimitExceeded"}
    sandbox.aws.add_fault(order)
    assert refused(lambda: scores(sandbox, "g5.48xlarge")) == "MaxConfigLimitExceeded"


def products(sandbox, service="AmazonEC2", **fields):
    client = sandbox.client("pricing")
    filters = [
        {"Type": "TERM_MATCH", "Field": key, "Value": value} for key, value in fields.items()
    ]
    rows = client.get_products(ServiceCode=service, Filters=filters)["PriceList"]
    return [json.loads(row) for row in rows]


def rate(product):
    term = next(iter(product["terms"]["OnDemand"].values()))
    return Decimal(next(iter(term["priceDimensions"].values()))["pricePerUnit"]["USD"])


P5 = {"instanceType": "p5.48xlarge", "regionCode": "us-east-1"}


def test_the_price_list_misleads_without_all_filters(sandbox):
    rates = sorted(rate(one) for one in products(sandbox, **P5))
    assert rates == [0, 0, Decimal("55.04"), Decimal("55.04")]
    exact = products(
        sandbox,
        **P5,
        operatingSystem="Linux",
        tenancy="Shared",
        preInstalledSw="NA",
        capacitystatus="Used",
        marketoption="OnDemand",
    )
    assert [rate(one) for one in exact] == [Decimal("55.04")]
    assert products(sandbox, **P5, operatingSystem="Windows") == []


def test_sagemaker_prices_differ_by_component_and_from_ec2(sandbox):
    found = products(
        sandbox,
        "AmazonSageMaker",
        instanceName="ml.p5.48xlarge",
        regionCode="us-east-1",
        component="Hosting",
    )
    assert [rate(one) for one in found] == [Decimal("63.296")]


def test_the_price_list_comes_in_pages(sandbox):
    client = sandbox.client("pricing")
    pages = client.get_paginator("get_products").paginate(
        ServiceCode="AmazonEC2",
        Filters=[{"Type": "TERM_MATCH", "Field": "regionCode", "Value": "us-east-1"}],
        PaginationConfig={"PageSize": 50},
    )
    assert sum(len(page["PriceList"]) for page in pages) > 100


def test_there_is_no_price_list_in_most_regions(sandbox):
    client = sandbox.client("pricing", "us-west-2")
    with pytest.raises(Exception, match="Connection was closed"):
        client.get_products(ServiceCode="AmazonEC2")


def test_quotas_have_a_value_or_only_a_default(sandbox_with, refused):
    sandbox = sandbox_with(quotas=[{"quota": "L-DA6814F2", "value": 192, "region": "us-west-2"}])
    near, far = sandbox.client("service-quotas"), sandbox.client("service-quotas", "us-west-2")
    p5 = {"ServiceCode": "ec2", "QuotaCode": "L-DA6814F2"}
    assert near.get_service_quota(**p5)["Quota"]["Value"] == 12288
    assert far.get_service_quota(**p5)["Quota"]["Value"] == 192
    assert near.get_aws_default_service_quota(**p5)["Quota"]["Value"] == 0
    organization = {"ServiceCode": "ec2", "QuotaCode": "L-8131B2C6"}
    assert refused(near.get_service_quota, **organization) == "NoSuchResourceException"
    assert near.get_aws_default_service_quota(**organization)["Quota"]["Value"] == 0
    pages = near.get_paginator("list_service_quotas").paginate(
        ServiceCode="sagemaker", PaginationConfig={"PageSize": 50}
    )
    names = {quota["QuotaName"]: quota["QuotaCode"] for page in pages for quota in page["Quotas"]}
    assert names["Number of training plans per Region"] == "L-867702E6"
    assert len(set(names.values())) == len(names)


def test_zones_carry_their_ids_and_local_zones_hide(sandbox, refused):
    describe = sandbox.ec2.describe_availability_zones
    shown = describe()["AvailabilityZones"]
    assert [one["ZoneName"] for one in shown] == [f"us-east-1{letter}" for letter in "abcdef"]
    assert {one["ZoneId"] for one in shown} == {f"use1-az{number}" for number in range(1, 7)}
    everything = describe(AllAvailabilityZones=True)["AvailabilityZones"]
    local = [one for one in everything if one["ZoneType"] == "local-zone"]
    assert {one["OptInStatus"] for one in local} == {"not-opted-in"}
    assert refused(describe, ZoneNames=["us-east-1z"]) == "InvalidParameterValue"


def test_default_subnets_lie_in_the_zones_that_are_told(sandbox):
    zones = {
        one["ZoneId"] for one in sandbox.ec2.describe_availability_zones()["AvailabilityZones"]
    }
    subnets = sandbox.ec2.describe_subnets()["Subnets"]
    assert {one["AvailabilityZoneId"] for one in subnets} == zones


def test_instance_types_tell_what_blocks_are_sold_of(sandbox):
    types = sandbox.ec2.describe_instance_types(
        Filters=[{"Name": "supported-usage-class", "Values": ["capacity-block"]}]
    )["InstanceTypes"]
    assert "p5.48xlarge" in {one["InstanceType"] for one in types}
    zones = sandbox.ec2.describe_instance_type_offerings(
        LocationType="availability-zone-id",
        Filters=[{"Name": "instance-type", "Values": ["p5.48xlarge"]}],
    )["InstanceTypeOfferings"]
    assert "use1-az1" in {one["Location"] for one in zones}


@pytest.mark.parametrize(("service", "operation"), sorted({*OPERATIONS, *FROM_MOTO}))
def test_every_operation_is_one_that_botocore_knows(service, operation):
    assert operation in get_service_model(service).operation_names


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        ({"CapacityBlocks": [{"Price": "1"}]}, "Price is unknown"),
        ({"CapacityBlocks": {}}, "is not a list"),
        ({"CapacityBlocks": [{"State": "sleeping"}]}, "not one of its values"),
        ({"CapacityBlocks": [{"StartDate": "2027"}]}, "not timestamp"),
        ({"CapacityBlocks": [{"StartDate": datetime(2027, 1, 1)}]}, "naive"),  # noqa: DTZ001 - that is the point
        ({"CapacityBlocks": [{"CapacityBlockId": 5}]}, "not string"),
    ],
)
def test_a_reply_of_the_wrong_shape_is_never_sent(answer, complaint):
    model = operation_model("ec2", "DescribeCapacityBlocks")
    assert misfits(model.output_shape, answer, "it")
    with pytest.raises(ShapeError, match=complaint):
        render("ec2", model, answer, "id")


def test_a_mistake_of_the_simulation_is_loud(sandbox, monkeypatch, refused):
    sandbox.may_fail = True
    wrong = ("ec2", "DescribeCapacityBlocks")
    monkeypatch.setitem(OPERATIONS, wrong, lambda world, call: {"Blocks": []})
    assert refused(sandbox.ec2.describe_capacity_blocks) == "InternalFailure"
    assert "Blocks is unknown" in sandbox.aws.failures[0]


@pytest.mark.parametrize(
    "values",
    [
        {"payment_seconds": [5, 1]},
        {"blocks": [{"region": "us-east-1"}]},
        {"colour": "red"},
        {"quotas": [{"quota": "L-1", "value": -1}]},
    ],
)
def test_a_supply_that_makes_no_sense_is_told_so(values):
    with pytest.raises(ValueError, match="validation error"):
        Supply.from_dict(values)


def test_the_same_seed_and_calls_bring_the_same_world(sandbox_with, buy):
    def world():
        one = sandbox_with(seed=5)
        buy(one.ec2)
        one.advance(hours=1)
        return one.aws.sold(), one.aws.next_event()

    assert world() == world()


def test_times_on_the_wire_are_utc(sandbox, search):
    start = datetime(2027, 3, 20, 11, 30, tzinfo=UTC)
    assert search(sandbox.ec2, StartDateRange=start)[0]["StartDate"] == start
