"""Reservations shared with AWS RAM: what a consumer sees and may do, and what AWS refuses."""

from datetime import UTC, timedelta

import boto3
import pytest
from botocore.exceptions import ClientError
from moto.ec2.models.amis import AMIS

OWNER, CONSUMER = "123456789012", "444455556666"
IMAGE = next(one["ami_id"] for one in AMIS if one.get("platform") is None)
TAGS = [{"key": "gpubot:purchase", "value": "gpubot-1"}]


def session_of(sandbox, account):
    """Credentials of another account, by a role in it."""
    key = sandbox.client("sts").assume_role(
        RoleArn=f"arn:aws:iam::{account}:role/person", RoleSessionName="ana"
    )["Credentials"]
    return boto3.Session(key["AccessKeyId"], key["SecretAccessKey"], key["SessionToken"])


class Two:
    """A block bought by one account, and another account that would use it."""

    def __init__(self, sandbox, buy, **asked):
        self.sandbox = sandbox
        self.session = session_of(sandbox, CONSUMER)
        self.ram = sandbox.client("ram")
        self.theirs = sandbox.client("ec2", session=self.session)
        self.block = buy(sandbox.ec2, **asked)
        self.id = self.block["CapacityReservationId"]

    def pay(self):
        self.sandbox.advance(hours=1)
        return self

    def start(self):
        self.sandbox.time = self.block["StartDate"].astimezone(UTC) + timedelta(minutes=5)
        return self

    def share(self, **more):
        asked = {
            "name": "gpubot-1",
            "resourceArns": [self.block["CapacityReservationArn"]],
            "principals": [CONSUMER],
            "allowExternalPrincipals": False,
            "tags": TAGS,
            "clientToken": "gpubot-1",
        }
        return self.ram.create_resource_share(**{**asked, **more})["resourceShare"]

    def shared(self):
        """The same, and it has taken effect."""
        share = self.share()
        self.sandbox.advance(minutes=1)
        return share

    def seen(self):
        rows = self.theirs.describe_capacity_reservations()["CapacityReservations"]
        return [row["CapacityReservationId"] for row in rows]

    def run(self, client, count=1, **more):
        return client.run_instances(
            ImageId=IMAGE,
            InstanceType="p5.48xlarge",
            MinCount=count,
            MaxCount=count,
            InstanceMarketOptions={"MarketType": "capacity-block"},
            CapacityReservationSpecification={
                "CapacityReservationTarget": {"CapacityReservationId": self.id}
            },
            **more,
        )["Instances"]


@pytest.fixture
def two(sandbox, buy):
    return Two(sandbox, buy).pay()


def test_a_shared_block_is_seen_and_used_from_the_other_account(two, refused):
    share = two.share()
    assert two.seen() == []
    two.sandbox.advance(minutes=1)
    (row,) = two.theirs.describe_capacity_reservations(CapacityReservationIds=[two.id])[
        "CapacityReservations"
    ]
    assert (row["OwnerId"], row["State"], row["Tags"]) == (OWNER, "scheduled", [])
    assert (
        refused(lambda: two.run(two.theirs)) == "InvalidCapacityReservationState.PendingActivation"
    )
    two.start()
    (machine,) = two.run(two.theirs)
    assert machine["CapacityReservationId"] == two.id
    (row,) = two.sandbox.ec2.describe_capacity_reservations()["CapacityReservations"]
    assert (row["TotalInstanceCount"], row["AvailableInstanceCount"]) == (2, 1)
    assert two.sandbox.ec2.describe_instances()["Reservations"] == []
    assert share["owningAccountId"] == OWNER


def test_what_is_not_shared_is_unknown_to_other_accounts(two, refused):
    two.start()
    assert two.seen() == []
    assert refused(lambda: two.run(two.theirs)) == "InvalidCapacityReservationId.NotFound"


def test_owner_and_consumers_take_the_machines_first_come_first_served(two, refused):
    two.shared()
    two.start()
    two.run(two.theirs, count=2)
    assert refused(lambda: two.run(two.sandbox.ec2)) == "ReservationCapacityExceeded"


def test_consumers_machines_are_taken_half_an_hour_before_the_end_as_well(two):
    two.shared()
    two.start()
    two.run(two.theirs)
    two.sandbox.time = two.block["EndDate"].astimezone(UTC) - timedelta(minutes=28)
    (launch,) = two.theirs.describe_instances()["Reservations"]
    assert launch["Instances"][0]["State"]["Name"] == "terminated"


def test_nothing_more_is_launched_once_it_is_unshared_but_what_runs_runs_on(two, refused):
    share = two.shared()
    two.start()
    two.run(two.theirs)
    two.sandbox.advance(minutes=5)
    two.ram.delete_resource_share(resourceShareArn=share["resourceShareArn"])
    assert refused(lambda: two.run(two.theirs)) == "InvalidCapacityReservationId.NotFound"
    (launch,) = two.theirs.describe_instances()["Reservations"]
    assert launch["Instances"][0]["State"]["Name"] == "running"
    (row,) = two.ram.get_resource_shares(resourceOwner="SELF")["resourceShares"]
    assert row["status"] == "DELETED"


def test_one_token_makes_one_share(two, refused):
    assert two.share()["resourceShareArn"] == two.share()["resourceShareArn"]
    code = refused(lambda: two.share(name="another"))
    assert code == "IdempotentParameterMismatchException"
    assert len(two.ram.get_resource_shares(resourceOwner="SELF")["resourceShares"]) == 1


def test_a_share_is_found_by_name_and_tag_and_can_be_completed(two):
    arn = two.share(principals=[])["resourceShareArn"]
    (found,) = two.ram.get_resource_shares(
        resourceOwner="SELF",
        name="gpubot-1",
        tagFilters=[{"tagKey": "gpubot:purchase", "tagValues": ["gpubot-1"]}],
    )["resourceShares"]
    assert found["resourceShareArn"] == arn
    two.ram.associate_resource_share(resourceShareArn=arn, principals=[CONSUMER])
    asked = {"associationType": "PRINCIPAL", "resourceShareArns": [arn]}
    (row,) = two.ram.get_resource_share_associations(**asked)["resourceShareAssociations"]
    assert row["status"] == "ASSOCIATING"
    two.sandbox.advance(minutes=1)
    (row,) = two.ram.get_resource_share_associations(**asked)["resourceShareAssociations"]
    assert (row["status"], row["associatedEntity"]) == ("ASSOCIATED", CONSUMER)
    assert two.seen() == [two.id]
    two.ram.disassociate_resource_share(resourceShareArn=arn, principals=[CONSUMER])
    assert two.seen() == []


def test_listings_come_in_pages(two):
    for number in range(3):
        two.share(name=f"share-{number}", clientToken=f"token-{number}")
    pages = two.ram.get_paginator("get_resource_shares").paginate(
        resourceOwner="SELF", PaginationConfig={"PageSize": 2}
    )
    assert [len(page["resourceShares"]) for page in pages] == [2, 1]


def test_what_waits_for_its_payment_is_not_shared(sandbox, buy, refused):
    two = Two(sandbox, buy)
    sandbox.advance(seconds=10)
    assert refused(two.share) == "InvalidParameterException"


@pytest.mark.parametrize(
    ("supply", "words"),
    [
        ({"accounts_outside_organization": [CONSUMER]}, "only be shared within your AWS"),
        ({"accounts_outside_organization": [OWNER]}, "only be shared within your AWS"),
        ({"organization_sharing": False}, "have not enabled sharing"),
        ({"new_accounts": [OWNER]}, "limited billing history"),
    ],
)
def test_aws_says_why_it_is_not_shared(sandbox_with, buy, supply, words):
    two = Two(sandbox_with(**supply), buy).pay()
    with pytest.raises(ClientError, match=words) as refused:
        two.share()
    assert refused.value.response["Error"]["Code"] == "OperationNotPermittedException"
    assert two.ram.get_resource_shares(resourceOwner="SELF")["resourceShares"] == []


def test_an_ultraserver_block_is_never_shared(sandbox_with, refused):
    sandbox = sandbox_with(open_percent=100)
    offer = sandbox.ec2.describe_capacity_block_offerings(
        UltraserverType="u-p6e-gb200x72",
        UltraserverCount=1,
        CapacityDurationHours=24,
        AllAvailabilityZones=True,
    )["CapacityBlockOfferings"][-1]
    two = Two(sandbox, lambda client: _bought(client, offer)).pay()
    assert refused(two.share) == "InvalidParameterException"


def _bought(client, offer):
    return client.purchase_capacity_block(
        CapacityBlockOfferingId=offer["CapacityBlockOfferingId"], InstancePlatform="Linux/UNIX"
    )["CapacityReservation"]


def test_only_the_owner_extends_or_shares(two, refused):
    two.shared()
    ram = two.sandbox.client("ram", session=two.session)
    code = refused(
        ram.create_resource_share,
        name="theirs",
        resourceArns=[two.block["CapacityReservationArn"]],
        principals=[OWNER],
    )
    assert code == "UnknownResourceException"
    code = refused(
        two.theirs.describe_capacity_block_extension_offerings,
        CapacityReservationId=two.id,
        CapacityBlockExtensionDurationHours=24,
    )
    assert code == "InvalidCapacityReservationId.NotFound"


def test_an_account_with_its_own_zone_names_shares_only_the_ids(sandbox_with, buy, refused):
    two = Two(sandbox_with(own_zone_names=[CONSUMER]), buy).pay()
    two.shared()
    (mine,) = two.sandbox.ec2.describe_capacity_reservations()["CapacityReservations"]
    (theirs,) = two.theirs.describe_capacity_reservations()["CapacityReservations"]
    assert mine["AvailabilityZoneId"] == theirs["AvailabilityZoneId"]
    assert mine["AvailabilityZone"] != theirs["AvailabilityZone"]
    zones = two.theirs.describe_availability_zones(ZoneIds=[theirs["AvailabilityZoneId"]])
    assert [row["ZoneName"] for row in zones["AvailabilityZones"]] == [theirs["AvailabilityZone"]]
    two.start()
    wrong = {"AvailabilityZone": mine["AvailabilityZone"]}
    assert refused(lambda: two.run(two.theirs, Placement=wrong)) == "InvalidLaunchTargets"
    subnets = two.theirs.describe_subnets(
        Filters=[{"Name": "availability-zone", "Values": [theirs["AvailabilityZone"]]}]
    )["Subnets"]
    (machine,) = two.run(two.theirs, SubnetId=subnets[0]["SubnetId"])
    assert machine["Placement"]["AvailabilityZone"] == theirs["AvailabilityZone"]
