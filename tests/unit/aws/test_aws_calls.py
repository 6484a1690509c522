"""A listing is read to its end, or it is no listing: what is cut short is never "none"."""

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from bot.aws import AwsHoldings
from bot.aws.calls import pages, read, understood
from bot.aws.leftovers import AwsLeftovers
from bot.aws.market import AwsMarket
from bot.aws.wire import Reservations
from bot.catalog import packaged
from bot.domain.errors import MarketError
from bot.domain.market import Kind
from bot.domain.request import Request, Target
from bot.policy.configuration import Account
from tests.fakes.clock import FakeClock
from tests.unit.aws.canned import RESEARCH, CannedClients, receipt_of

PLAN = "arn:aws:sagemaker:us-east-1:111122223333:training-plan/gpubot-1"


def listed(**answers: Any) -> list[Any]:
    client = CannedClients(**answers).reading("ec2", "research", "us-east-1")
    return list(pages(client, next(iter(answers))))


def test_a_token_that_comes_again_ends_the_listing_as_unread():
    clients = CannedClients(describe_fleets=lambda **_: {"Fleets": [], "NextToken": "again"})
    client = clients.reading("ec2", "research", "us-east-1")
    with pytest.raises(MarketError, match="same page again"):
        list(pages(client, "describe_fleets"))
    assert len(clients.calls) == 2


def test_an_answer_of_nothing_but_its_metadata_is_no_empty_listing():
    metadata = {"ResponseMetadata": {"HTTPStatusCode": 200}}
    with pytest.raises(MarketError, match="without a word"):
        listed(list_training_plans=metadata)
    (page,) = listed(list_training_plans={"TrainingPlanSummaries": [], **metadata})
    assert page["TrainingPlanSummaries"] == []


def test_a_look_at_one_thing_that_brings_nothing_is_no_look():
    metadata = {"ResponseMetadata": {"HTTPStatusCode": 200}}
    clients = CannedClients(
        describe_training_plan=metadata, search_training_plan_offerings=metadata
    )
    receipt = receipt_of(PLAN, Kind.TRAINING_PLAN)
    seen = AwsHoldings((RESEARCH,), clock=FakeClock(), clients=clients).look([receipt])[PLAN]
    assert (seen.state, seen.gone) == (receipt.state, False)
    assert seen.last_error == "unknown: describe_training_plan answered without a word"
    market = AwsMarket(
        (RESEARCH,),
        clock=FakeClock(),
        catalog=packaged(),
        refusals=dict,
        clients=clients,
        kinds=(Kind.TRAINING_PLAN,),
    )
    request = Request(
        instance_type="p5.48xlarge",
        instance_count=2,
        duration_hours=Decimal(72),
        target=Target.TRAINING_JOB,
    )
    assert "training_plan" in {gap.market for gap in market.read(request).not_read}


def test_what_is_not_asked_for_its_answer_may_answer_nothing():
    metadata = {"ResponseMetadata": {"HTTPStatusCode": 200}}
    clients = CannedClients(receive_message=metadata, delete_message=metadata)
    client = clients.reading("sqs", "research", "us-east-1")
    assert read(client, "receive_message") == read(client, "delete_message") == metadata


def test_an_empty_page_with_a_token_is_followed_by_the_next():
    answers = [{"Fleets": [], "NextToken": "on"}, {"Fleets": [{"FleetId": "fleet-1"}]}]
    assert [len(page["Fleets"]) for page in listed(describe_fleets=answers)] == [0, 1]


@pytest.mark.parametrize(
    "moment",
    [
        datetime(9999, 12, 31, 23, 59, tzinfo=timezone(timedelta(hours=-5))),
        datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=5))),
        datetime(1900, 1, 1, tzinfo=UTC),
    ],
)
def test_a_time_that_no_calendar_of_ours_has_is_unreadable_and_crashes_nothing(moment):
    row = {"CapacityReservationId": "cr-1", "State": "active", "StartDate": moment}
    with pytest.raises(MarketError, match="unreadable"):
        understood(Reservations, {"CapacityReservations": [{**row, "EndDate": moment}]})
    clients = CannedClients(
        describe_capacity_reservations=lambda **asked: {
            "CapacityReservations": [
                {**row, "EndDate": moment} if asked["CapacityReservationIds"] == ["cr-1"] else {}
            ]
        }
    )
    seen = AwsHoldings((RESEARCH,), clock=FakeClock(), clients=clients).look([receipt_of("cr-1")])
    assert (seen["cr-1"].gone, seen["cr-1"].last_error[:19]) == (False, "unknown: unreadable")


def test_shares_that_never_end_are_unread_not_none():
    lending = Account(
        name="research",
        account_id="111122223333",
        regions=("us-east-1",),
        shares_with=("lab",),
    )
    clients = CannedClients(
        lending,
        get_resource_shares=lambda **asked: {"resourceShares": [], "nextToken": "again"},
    )
    found = AwsLeftovers((lending,), clock=FakeClock(), clients=clients).find([receipt_of("cr-1")])
    assert [gap.market for gap in found.not_read] == ["resource shares"]
