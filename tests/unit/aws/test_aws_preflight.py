"""What would keep machines from being launched is said before anything is paid."""

import pytest

from bot.aws.preflight import as_used, unlaunchable
from bot.aws.zones import Zones
from bot.catalog import packaged
from bot.domain.market import Kind
from bot.domain.records import LegPurpose
from tests.fakes.clock import FakeClock
from tests.unit.aws.canned import RESEARCH, CannedClients, leg_of, said

ZONE = "us-east-1b"


def template(**data):
    return {"LaunchTemplateVersions": [{"LaunchTemplateData": {"ImageId": "ami-1", **data}}]}


def image(platform="Linux/UNIX"):
    return {"Images": [{"ImageId": "ami-1", "PlatformDetails": platform}]}


def subnets(*ids):
    return {"Subnets": [{"SubnetId": one} for one in ids]}


def found(leg=None, account=RESEARCH, **answers):
    answers = {
        "describe_launch_template_versions": template(),
        "describe_images": image(),
        "describe_subnets": subnets("subnet-1"),
        **answers,
    }
    clients = CannedClients(account, **answers)
    return list(unlaunchable(clients, leg or leg_of(zone=ZONE), packaged()))


def test_a_template_that_fits_and_a_subnet_in_the_zone_are_no_obstacle():
    assert found() == []


@pytest.mark.parametrize("kind", [Kind.CAPACITY_BLOCK, Kind.ODCR, Kind.ON_DEMAND, Kind.SPOT])
def test_an_image_for_another_platform_is_named_with_the_mend(kind):
    (text,) = found(leg_of(kind, zone=ZONE), describe_images=image("Red Hat Enterprise Linux"))
    assert "Red Hat Enterprise Linux" in text
    assert "Linux/UNIX" in text
    assert "mend" in text


def test_a_template_or_image_that_is_gone_is_named():
    gone = said("InvalidLaunchTemplateId.NotFound", "no such template")
    (text,) = found(describe_launch_template_versions=gone)
    assert "lt-0a11ce0000000001" in text
    (text,) = found(describe_images={"Images": []})
    assert "ami-1" in text


def test_an_image_that_is_looked_up_at_launch_is_not_guessed():
    answer = template(ImageId="resolve:ssm:/aws/service/ami")
    assert found(describe_launch_template_versions=answer, describe_images={"Images": []}) == []


def test_a_zone_without_a_subnet_is_named():
    (text,) = found(describe_subnets=subnets())
    assert ZONE in text
    assert "make one" in text


def test_a_subnet_of_the_file_must_be_in_that_very_zone():
    account = RESEARCH.model_copy(update={"subnets": {ZONE: "subnet-9"}})
    (text,) = found(account=account)
    assert "subnet-9 is not in us-east-1b" in text
    assert found(account=account, describe_subnets=subnets("subnet-9")) == []


@pytest.mark.parametrize(("count", "fits"), [(32, True), (33, False)])
def test_more_efa_interfaces_than_the_type_takes_are_named(count, fits):
    interfaces = [{"InterfaceType": "efa"}] + [{"InterfaceType": "efa-only"}] * (count - 1)
    answer = template(NetworkInterfaces=interfaces)
    texts = found(describe_launch_template_versions=answer)
    assert (texts == []) is fits
    assert fits or "33 EFA interfaces" in texts[0]


def test_rights_that_are_missing_are_named_and_an_outage_is_no_obstacle():
    (text,) = found(describe_subnets=said("UnauthorizedOperation"))
    assert "DescribeSubnets" in text
    assert found(describe_subnets=said("RequestLimitExceeded")) == []


def test_extensions_and_training_plans_are_not_launched_into():
    extension = leg_of(zone=ZONE, purpose=LegPurpose.EXTENSION, ref="cbe-1", extends="cr-1")
    assert found(extension, describe_subnets=subnets()) == []
    assert found(leg_of(Kind.TRAINING_PLAN, zone=ZONE), describe_subnets=subnets()) == []


PROD = RESEARCH.model_copy(
    update={
        "name": "vision-prod",
        "account_id": "444455556666",
        "launch_templates": {"us-east-1": "lt-0b0b0b0b0b0b0b0b0"},
    }
)


def used_from_prod(**answers):
    """What is told of a block in use1-az4, which each account calls by a name of its own."""
    names = {"research": "us-east-1b", "vision-prod": "us-east-1e"}
    asked = []

    def zones(account):
        row = {"ZoneName": names[account], "ZoneId": "use1-az4", "ZoneType": "availability-zone"}
        return {"AvailabilityZones": [row]}

    class Accounts(CannedClients):
        def reading(self, service, account, region):
            asked.append(account)
            self.answers["describe_availability_zones"] = zones(account)
            return super().reading(service, account, region)

    clients = Accounts(
        RESEARCH,
        PROD,
        **{
            "describe_launch_template_versions": template(),
            "describe_images": image(),
            "describe_subnets": subnets("subnet-1"),
            **answers,
        },
    )
    leg = as_used(leg_of(zone=ZONE), "vision-prod", Zones(clients, clock=FakeClock()))
    return list(unlaunchable(clients, leg, packaged())), clients


def test_what_will_be_shared_is_looked_at_in_the_account_that_launches_it():
    texts, clients = used_from_prod()
    assert texts == []
    (sent,) = clients.asked("describe_subnets")
    assert sent["Filters"] == [{"Name": "availability-zone", "Values": ["us-east-1e"]}]
    (sent,) = clients.asked("describe_launch_template_versions")
    assert sent["LaunchTemplateId"] == "lt-0b0b0b0b0b0b0b0b0"


def test_a_subnet_that_is_missing_there_is_named_with_its_account():
    (text,), _ = used_from_prod(describe_subnets=subnets())
    assert "us-east-1e of vision-prod" in text


def test_a_zone_that_cannot_be_mapped_is_no_obstacle():
    clients = CannedClients(
        RESEARCH, PROD, describe_availability_zones=said("UnauthorizedOperation")
    )
    leg = as_used(leg_of(zone=ZONE), "vision-prod", Zones(clients, clock=FakeClock()))
    assert (leg.account, leg.zone) == ("vision-prod", None)
    assert as_used(leg_of(zone=ZONE), None, Zones(clients, clock=FakeClock())) == leg_of(zone=ZONE)
