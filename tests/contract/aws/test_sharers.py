"""One suite for everything that shares: the adapter against a simulated AWS, and the fake."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import boto3
import pytest

from bot.aws import AwsBuyer, AwsLeftovers, AwsSharer, Clients
from bot.aws.sharing import share_token
from bot.domain.errors import IndeterminateError, MarketError, RefusedError
from bot.domain.market import Kind
from bot.domain.sharing import Share, ShareOrder
from bot.domain.using import LeftoverKind
from bot.policy.configuration import Account
from bot.ports import Sharer
from sandbox.aws import SimulatedAws, Supply
from tests.fakes.clock import NOW, FakeClock
from tests.fakes.sharing import OUTSIDE, FakeSharer
from tests.unit.aws.canned import CannedClients, leg_of, receipt_of, said


def role(number: str) -> str:
    return f"arn:aws:iam::{number}:role/gpubot"


def account(name: str, number: str, **more: Any) -> Account:
    roles = dict.fromkeys(("read_role", "buy_role", "launch_role"), role(number))
    return Account(name=name, account_id=number, regions=("us-east-1",), **roles, **more)


PAYER = account("payer", "111122223333", shares_with=("vision-prod",))
PROD = account("vision-prod", "444455556666")


@dataclass
class Stage:
    """A sharer, an order that it can carry out, and what time does."""

    sharer: Sharer
    order: ShareOrder
    outside: Callable[[], None]
    shares: Callable[[], int]
    lose_answer: Callable[[], None]
    wait: Callable[[], None] = field(default=lambda: None)

    def stand(self) -> Share:
        self.sharer.share(self.order)
        self.wait()
        return self.sharer.share(self.order)


def order_of(capacity_id: str, **update: Any) -> ShareOrder:
    values: dict[str, Any] = {
        "capacity_id": capacity_id,
        "account": "payer",
        "region": "us-east-1",
        "consumer": "vision-prod",
        "purchase_id": "inst-7/gpu-42/1/1",
        "reservation_id": 42,
        "owner": "U0ANA",
        "team": "vision",
    }
    return ShareOrder(**{**values, **update})


@dataclass
class Town:
    """A simulated AWS in which PAYER holds a block."""

    aws: SimulatedAws
    clock: FakeClock
    clients: Clients
    capacity_id: str

    def pass_by(self, **length: float) -> None:
        self.clock.advance(timedelta(**length))
        self.aws.settle()


@pytest.fixture
def town_with(monkeypatch) -> Iterator[Callable[..., Town]]:
    opened: list[SimulatedAws] = []

    def build(**supply: Any) -> Town:
        clock = FakeClock(NOW)
        aws = SimulatedAws(now=clock.now, seed=7, supply=Supply.from_dict(supply))
        opened.append(aws)
        monkeypatch.setenv("AWS_ENDPOINT_URL", aws.start())
        clients = Clients((PAYER, PROD))
        town = Town(aws, clock, clients, "")
        ec2 = clients.reading("ec2", "payer", "us-east-1")
        offer = next(
            one
            for one in ec2.describe_capacity_block_offerings(
                InstanceType="p5.48xlarge", InstanceCount=2, CapacityDurationHours=72
            )["CapacityBlockOfferings"]
            if not one["CapacityBlockDurationMinutes"]
        )
        bought = ec2.purchase_capacity_block(
            CapacityBlockOfferingId=offer["CapacityBlockOfferingId"], InstancePlatform="Linux/UNIX"
        )
        town.capacity_id = bought["CapacityReservation"]["CapacityReservationId"]
        town.pass_by(hours=1)
        return town

    yield build
    for one in opened:
        one.stop()
        assert one.failures == []


def real(town_with: Callable[..., Town]) -> Stage:
    town = town_with(own_zone_names=[PROD.account_id])
    ram = town.clients.reading("ram", "payer", "us-east-1")

    def outside() -> None:
        fault = {
            "operation": "CreateResourceShare",
            "fault": "error:OperationNotPermittedException",
        }
        town.aws.add_fault(fault)

    def shares() -> int:
        rows = ram.get_resource_shares(resourceOwner="SELF")["resourceShares"]
        return sum(1 for row in rows if row["status"] == "ACTIVE")

    def lose_answer() -> None:
        town.aws.add_fault({"operation": "CreateResourceShare", "fault": "lost-answer"})

    return Stage(
        AwsSharer(town.clients),
        order_of(town.capacity_id),
        outside,
        shares,
        lose_answer,
        lambda: town.pass_by(minutes=1),
    )


def fake(_: Callable[..., Town]) -> Stage:
    sharer = FakeSharer(looks=2)

    def lose_answer() -> None:
        sharer.lose_answer = True

    return Stage(
        sharer,
        order_of("cr-1"),
        lambda: sharer.trouble.append(OUTSIDE),
        lambda: len(sharer.shares),
        lose_answer,
    )


@pytest.fixture(params=[real, fake], ids=["aws", "fake"])
def stage(request, town_with) -> Stage:
    return request.param(town_with)


def test_a_share_stands_after_a_while_with_the_zones_id_and_its_name_there(stage) -> None:
    first = stage.sharer.share(stage.order)
    assert (first.stands, first.zone) == (False, None)
    stage.wait()
    share = stage.sharer.share(stage.order)
    assert share.stands
    assert share.zone_id
    assert share.zone
    assert share.id == first.id


def test_sharing_again_makes_no_second_share(stage) -> None:
    stage.stand()
    stage.sharer.share(stage.order)
    assert stage.shares() == 1


def test_a_share_whose_answer_was_lost_is_found(stage) -> None:
    stage.lose_answer()
    with pytest.raises(IndeterminateError):
        stage.sharer.share(stage.order)
    stage.wait()
    stage.stand()
    assert stage.shares() == 1


def test_a_refusal_is_plainly_one_and_leaves_nothing(stage) -> None:
    stage.outside()
    with pytest.raises(RefusedError) as refused:
        stage.sharer.share(stage.order)
    assert refused.value.code == "OperationNotPermittedException"
    assert stage.shares() == 0


def test_ending_a_share_twice_is_harmless(stage) -> None:
    stage.stand()
    stage.sharer.unshare(stage.order)
    assert stage.shares() == 0
    stage.sharer.unshare(stage.order)
    stage.wait()


# --- the adapter alone ---------------------------------------------------------------------------


def test_what_is_sent_keeps_it_inside_the_organization_and_carries_our_tags(town_with) -> None:
    town = town_with()
    order = order_of(town.capacity_id)
    AwsSharer(town.clients).share(order)
    (call,) = town.aws.calls("CreateResourceShare")
    sent = call["params"]
    assert sent["allowExternalPrincipals"] is False
    assert sent["principals"] == [PROD.account_id]
    assert sent["resourceArns"][0].endswith(
        f":{PAYER.account_id}:capacity-reservation/{order.capacity_id}"
    )
    assert sent["clientToken"] == share_token(order)
    assert len(sent["clientToken"]) <= 64
    assert {"key": "gpubot:purchase", "value": order.purchase_id} in sent["tags"]
    assert {"key": "gpubot:reservation", "value": "gpu-42"} in sent["tags"]
    assert {"key": "gpubot:team", "value": "vision"} in sent["tags"]


def test_the_zones_name_is_the_consumers_own(town_with) -> None:
    town = town_with(own_zone_names=[PROD.account_id])
    sharer, order = AwsSharer(town.clients), order_of(town.capacity_id)
    sharer.share(order)
    town.pass_by(minutes=1)
    share = sharer.share(order)
    (mine,) = town.clients.reading("ec2", "payer", "us-east-1").describe_capacity_reservations()[
        "CapacityReservations"
    ]
    assert share.zone_id == mine["AvailabilityZoneId"]
    assert share.zone not in (None, mine["AvailabilityZone"])


def test_half_a_share_is_completed(town_with) -> None:
    town = town_with()
    order = order_of(town.capacity_id)
    ram = town.clients.reading("ram", "payer", "us-east-1")
    made = ram.create_resource_share(
        name=order.name,
        allowExternalPrincipals=False,
        tags=[{"key": "gpubot:purchase", "value": order.purchase_id}],
    )["resourceShare"]
    AwsSharer(town.clients).share(order)
    town.pass_by(minutes=1)
    share = AwsSharer(town.clients).share(order)
    assert (share.id, share.stands) == (made["resourceShareArn"], True)
    assert len(town.aws.calls("CreateResourceShare")) == 1


@pytest.mark.parametrize(
    ("supply", "part"),
    [
        ({"accounts_outside_organization": [PROD.account_id]}, "AWS Organization"),
        ({"organization_sharing": False}, "not enabled sharing"),
        ({"new_accounts": [PAYER.account_id]}, "limited billing history"),
    ],
)
def test_the_words_of_a_refusal_are_kept(town_with, supply, part) -> None:
    town = town_with(**supply)
    with pytest.raises(RefusedError) as refused:
        AwsSharer(town.clients).share(order_of(town.capacity_id))
    assert part in refused.value.detail


def test_a_throttle_is_no_refusal(town_with) -> None:
    town = town_with()
    town.aws.add_fault({"operation": "CreateResourceShare", "fault": "throttle"})
    with pytest.raises(MarketError, match="throttled"):
        AwsSharer(town.clients).share(order_of(town.capacity_id))


def test_a_part_that_failed_is_a_refusal_in_awss_words() -> None:
    canned = CannedClients(
        PAYER,
        PROD,
        describe_capacity_reservations={
            "CapacityReservations": [{"CapacityReservationId": "cr-1", "OwnerId": "111122223333"}]
        },
        get_resource_shares={"resourceShares": [{"resourceShareArn": "a", "status": "ACTIVE"}]},
        get_resource_share_associations={
            "resourceShareAssociations": [
                {"associatedEntity": PROD.account_id, "status": "FAILED", "statusMessage": "no"},
                {
                    "associatedEntity": "arn:aws:ec2:us-east-1:111122223333"
                    ":capacity-reservation/cr-1",
                    "status": "ASSOCIATED",
                },
            ]
        },
    )
    with pytest.raises(RefusedError, match="AssociationFailed: no"):
        AwsSharer(canned).share(order_of("cr-1"))


def test_a_share_stands_even_where_the_other_account_cannot_be_read() -> None:
    calls = iter(
        [
            {
                "CapacityReservations": [
                    {"CapacityReservationId": "cr-1", "OwnerId": "111122223333"}
                ]
            },
        ]
    )

    def described(**_: Any) -> Any:
        found = next(calls, None)
        if found is None:
            raise said("UnauthorizedOperation")
        return found

    parts = [PROD.account_id, "arn:aws:ec2:us-east-1:111122223333:capacity-reservation/cr-1"]
    canned = CannedClients(
        PAYER,
        PROD,
        describe_capacity_reservations=described,
        get_resource_shares={"resourceShares": [{"resourceShareArn": "a", "status": "ACTIVE"}]},
        get_resource_share_associations={
            "resourceShareAssociations": [
                {"associatedEntity": one, "status": "ASSOCIATED"} for one in parts
            ]
        },
    )
    share = AwsSharer(canned).share(order_of("cr-1"))
    assert (share.stands, share.zone) == (True, None)


# --- before it is bought ------------------------------------------------------------------------


def test_what_will_be_shared_is_rehearsed_with_the_launching_accounts_template(town_with) -> None:
    town = town_with(own_zone_names=[PROD.account_id])
    prod = PROD.model_copy(update={"launch_templates": {"us-east-1": "lt-0000000000000dead"}})
    accounts = (PAYER, prod)
    buyer = AwsBuyer(accounts, clock=town.clock, clients=Clients(accounts))
    leg = leg_of(account="payer", zone="us-east-1b")
    assert buyer.rehearse(leg) == []
    (text,) = buyer.rehearse(leg, used_in="vision-prod")
    assert "lt-0000000000000dead is not in us-east-1" in text


# --- what is left --------------------------------------------------------------------------------


def test_a_share_is_found_as_left_over_and_removed(town_with) -> None:
    town = town_with()
    order = order_of(town.capacity_id)
    AwsSharer(town.clients).share(order)
    leftovers = AwsLeftovers((PAYER, PROD), clock=town.clock, clients=town.clients)
    held = receipt_of(town.capacity_id, account="payer")
    found = leftovers.find([held])
    (share,) = [item for item in found.items if item.kind is LeftoverKind.SHARE]
    assert (share.purchase, share.prepaid) == (order.purchase_id, True)
    leftovers.remove(share)
    assert not [item for item in leftovers.find([held]).items if item.kind is LeftoverKind.SHARE]
    leftovers.remove(share)


def test_machines_of_the_other_account_are_found_there_and_the_reservation_only_once(
    town_with,
) -> None:
    pool = {"region": "us-east-1", "instance_type": "p5.48xlarge", "instance_count": 9}
    town = town_with(on_demand=[pool])
    ec2 = town.clients.reading("ec2", "payer", "us-east-1")
    name = ec2.create_capacity_reservation(
        InstanceType="p5.48xlarge",
        InstancePlatform="Linux/UNIX",
        InstanceCount=1,
        AvailabilityZone="us-east-1b",
        InstanceMatchCriteria="targeted",
    )["CapacityReservation"]["CapacityReservationId"]
    town.pass_by(minutes=1)
    order = order_of(name)
    AwsSharer(town.clients).share(order)
    town.pass_by(minutes=1)
    theirs = boto3_of(PROD)
    images = theirs.describe_images(Owners=["amazon"])["Images"]
    image = next(one["ImageId"] for one in images if one.get("PlatformDetails") == "Linux/UNIX")
    theirs.run_instances(
        ImageId=image,
        InstanceType="p5.48xlarge",
        MinCount=1,
        MaxCount=1,
        CapacityReservationSpecification={
            "CapacityReservationTarget": {"CapacityReservationId": name}
        },
    )
    held = receipt_of(name, Kind.ODCR, account="payer")
    both = [held, held.model_copy(update={"account": "vision-prod"})]
    leftovers = AwsLeftovers((PAYER, PROD), clock=town.clock, clients=town.clients)
    found = leftovers.find(both)
    assert found.not_read == ()
    places = [(item.kind, item.account) for item in found.items]
    assert sorted(places) == [
        (LeftoverKind.RESERVATION, "payer"),
        (LeftoverKind.INSTANCE, "vision-prod"),
        (LeftoverKind.SHARE, "payer"),
    ]


def boto3_of(account: Account) -> Any:
    """A person's client in an account."""
    sts = boto3.client("sts", region_name="us-east-1")
    key = sts.assume_role(RoleArn=role(account.account_id), RoleSessionName="ana")["Credentials"]
    sts.close()
    return boto3.client(
        "ec2",
        region_name="us-east-1",
        aws_access_key_id=key["AccessKeyId"],
        aws_secret_access_key=key["SecretAccessKey"],
        aws_session_token=key["SessionToken"],
    )
