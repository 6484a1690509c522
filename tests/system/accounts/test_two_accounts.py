"""One account buys, another one uses: from the sentence to the share's end, with the real bot."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from sandbox.demo import Journey
from sandbox.identity import ANYBODY
from sandbox.telling import APPROVALS, BRUNO, Conversation, Said, read_time
from tests.system.chaos.world import Place, place
from tests.unit.kits import readers

pytestmark = pytest.mark.system
CONFIG = Path(__file__).with_name("config.yaml")
PAYER, PROD = "111122223333", "444455556666"
LINE = (
    "Bought in payer, shared with vision-prod (AWS RAM) once scheduled; launch from there in use1-"
)


@dataclass
class Town:
    """The journey of the demo, with people of both accounts."""

    place: Place
    journey: Journey

    def client(self, service: str, account: str) -> Any:
        """A person's own client in an account."""
        assert self.place.world.bot is not None
        where = {
            "region_name": "us-east-1",
            "endpoint_url": self.place.world.bot.environment["AWS_ENDPOINT_URL"],
        }
        anybody = (ANYBODY["AWS_ACCESS_KEY_ID"], ANYBODY["AWS_SECRET_ACCESS_KEY"])
        sts = boto3.Session(*anybody).client("sts", **where)
        who = {"RoleArn": f"arn:aws:iam::{account}:role/person", "RoleSessionName": "ana"}
        key = sts.assume_role(**who)["Credentials"]
        sts.close()
        session = boto3.Session(key["AccessKeyId"], key["SecretAccessKey"], key["SessionToken"])
        return session.client(service, **where)

    def said(self, part: str) -> list[Said]:
        found = [one for one in self.journey.talk.messages() if part in one.text]
        return [one for one in found if not one.deleted]

    def heard(self, part: str) -> Said:
        return self.journey.talk.wait_for(part, lambda: next(iter(self.said(part)), None))

    def calls(self, operation: str) -> list[dict[str, Any]]:
        return self.journey.surface.get(f"/control/aws/calls?operation={operation}")

    def bought(self) -> dict[str, Any]:
        """Ask, approve and pay; the block is scheduled."""
        self.journey.ask()
        self.journey.press("gpu.approve", APPROVALS, BRUNO, "the approval card")
        sale = self.journey.bought()
        self.journey.paid(sale["id"])
        return sale

    def kit(self, name: str) -> dict[str, Any]:
        """What the launch kit sends, as its reader would fill it in."""
        (message,) = self.said("Launch with credentials of vision-prod")
        (listing,) = [
            part["elements"][0]["text"]
            for block in message.blocks
            if block["type"] == "rich_text"
            for part in block["elements"]
        ]
        assert name in listing
        ((operation, asked),) = readers.commands(listing)
        assert operation == "RunInstances"
        return asked


@pytest.fixture
def town_with(tmp_path) -> Iterator[Any]:
    opened = []

    def build(**supply: Any) -> Town:
        made = place(tmp_path, 7, config=CONFIG, supply={"own_zone_names": [PROD], **supply})
        where = made.__enter__()
        opened.append(made)
        return Town(where, Journey(where.surface, Conversation(where.surface, lambda _: None)))

    yield build
    for one in opened:
        one.__exit__(None, None, None)


def test_a_block_bought_in_one_account_is_launched_from_the_other(town_with) -> None:
    town = town_with()
    sale = town.bought()
    start, end = read_time(sale["start"]), read_time(sale["end"])
    assert sale["account"] == PAYER

    town.journey.go(town.journey.surface.now() + timedelta(minutes=10), "the share")
    told = town.heard("is shared").text
    assert "can be used from vision-prod" in told
    assert len(town.calls("CreateResourceShare")) == 1
    theirs = town.client("ec2", PROD)
    (seen,) = theirs.describe_capacity_reservations()["CapacityReservations"]
    assert (seen["CapacityReservationId"], seen["OwnerId"]) == (sale["id"], PAYER)
    assert f"in {seen['AvailabilityZoneId']}, which is called {seen['AvailabilityZone']}" in told
    assert seen["AvailabilityZone"] != sale["zone"]

    town.journey.go(start + timedelta(minutes=15), "the start")
    asked = town.kit(sale["id"])
    subnets = theirs.describe_subnets(
        Filters=[{"Name": "availability-zone", "Values": [seen["AvailabilityZone"]]}]
    )["Subnets"]
    launched = theirs.run_instances(**{**asked, "SubnetId": subnets[0]["SubnetId"]})["Instances"]
    assert {one["CapacityReservationId"] for one in launched} == {sale["id"]}
    mine = town.client("ec2", PAYER)
    (held,) = mine.describe_capacity_reservations()["CapacityReservations"]
    assert held["AvailableInstanceCount"] == 0

    town.journey.go(end + timedelta(minutes=30), "the end")
    (machines,) = theirs.describe_instances()["Reservations"]
    assert {one["State"]["Name"] for one in machines["Instances"]} == {"terminated"}
    assert town.heard("AWS shows nothing left")
    assert [row["outcome"] for row in town.calls("DeleteResourceShare")] == ["ok"]
    with pytest.raises(ClientError, match="NotFound"):
        theirs.describe_capacity_reservations(CapacityReservationIds=[sale["id"]])
    shares = town.client("ram", PAYER).get_resource_shares(resourceOwner="SELF")
    assert {row["status"] for row in shares["resourceShares"]} == {"DELETED"}


def test_both_cards_say_before_the_approval_how_it_will_be_used(town_with) -> None:
    town = town_with()
    town.journey.ask()
    town.heard("Approve up to")
    assert {one.channel for one in town.said(LINE)} == {"C0GPU", "C0APPROVE"}


def test_a_refusal_reaches_everybody_who_can_mend_it_and_the_buyer_can_launch_meanwhile(
    town_with,
) -> None:
    town = town_with(organization_sharing=False)
    sale = town.bought()
    town.journey.go(town.journey.surface.now() + timedelta(minutes=5), "the refusal")
    told = town.said("is not shared yet")
    assert {one.channel for one in told} >= {"C0GPU", "C0APPROVE"}
    assert all("enable-sharing-with-aws-organization" in one.text for one in told)
    start = read_time(sale["start"])
    theirs = town.client("ec2", PROD)
    town.journey.go(start + timedelta(minutes=15), "the start")
    assert theirs.describe_capacity_reservations()["CapacityReservations"] == []
    assert town.heard("It is not shared with vision-prod yet; this launches from payer")
    refused = {row["outcome"] for row in town.calls("CreateResourceShare")}
    assert refused == {"OperationNotPermittedException"}
    assert len(town.journey.surface.get("/control/aws/sold")) == 1
