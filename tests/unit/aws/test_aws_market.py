"""Every market is read or named as not read; a gap is never an empty market."""

import itertools
import threading
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError

from bot.aws.market import AwsMarket
from bot.aws.wire import Reservation
from bot.catalog import packaged
from bot.domain.market import Kind, Market
from bot.domain.request import Request, Target
from bot.policy.configuration import Account
from tests.fakes.clock import NOW, FakeClock
from tests.unit.aws.canned import RESEARCH, START, CannedClients, leg_of, said

BLOCK = {
    "CapacityBlockOfferingId": "cb-1",
    "InstanceType": "p5.48xlarge",
    "AvailabilityZone": "us-east-1b",
    "InstanceCount": 2,
    "StartDate": START,
    "EndDate": START + timedelta(days=3),
    "CapacityBlockDurationHours": 72,
    "UpfrontFee": "6877.44",
    "CurrencyCode": "USD",
    "Tenancy": "a word of tomorrow",
}
LIMIT = "CapacityBlockDescribeLimitExceeded"


def market(clients: CannedClients, *kinds: Kind, accounts: Any = (RESEARCH,)) -> AwsMarket:
    return AwsMarket(
        accounts,
        clock=FakeClock(),
        catalog=packaged(),
        refusals=dict,
        sleep=lambda _: None,
        seconds=lambda: 0.0,
        clients=clients,
        kinds=kinds or (Kind.CAPACITY_BLOCK,),
    )


def ask(reader: AwsMarket, **update: Any) -> Market:
    values: dict[str, Any] = {
        "instance_type": "p5.48xlarge",
        "instance_count": 2,
        "duration_hours": Decimal(72),
    }
    return reader.read(Request(**{**values, **update}))


def selling(*rows: dict[str, Any]) -> dict[str, Any]:
    return {"CapacityBlockOfferings": list(rows)}


def gaps(seen: Market, name: str = "capacity_block") -> list[tuple[str, str | None]]:
    return [(gap.why, gap.detail) for gap in seen.not_read if gap.market == name]


def test_an_offering_is_read_with_its_zone_money_and_window():
    clients = CannedClients(
        describe_capacity_block_offerings=selling(BLOCK),
        describe_availability_zones={
            "AvailabilityZones": [
                {"ZoneName": "us-east-1b", "ZoneId": "use1-az4", "ZoneType": "availability-zone"}
            ]
        },
    )
    (row,) = ask(market(clients)).offerings
    assert (row.ref, row.zone_id, row.upfront_fee) == ("cb-1", "use1-az4", Decimal("6877.44"))
    assert (row.segments[0].start, row.segments[0].end) == (START, START + timedelta(days=3))
    assert row.opted_in


def test_a_fee_that_is_missing_is_unknown_and_a_window_that_is_missing_no_offering():
    free = {key: value for key, value in BLOCK.items() if key != "UpfrontFee"}
    timeless = {**BLOCK, "CapacityBlockOfferingId": "cb-2", "EndDate": None}
    clients = CannedClients(describe_capacity_block_offerings=selling(free, timeless))
    rows = ask(market(clients)).offerings
    assert [(row.ref, row.upfront_fee) for row in rows] == [("cb-1", None)]


def test_segments_of_one_offering_stay_together_in_order():
    second = START + timedelta(days=4)
    parts = [
        {"StartDate": second, "EndDate": second + timedelta(days=1), "InstanceCount": 2},
        {"StartDate": START, "EndDate": START + timedelta(days=2), "InstanceCount": 2},
    ]
    clients = CannedClients(
        describe_capacity_block_offerings=selling({**BLOCK, "CapacityBlockOfferingSegments": parts})
    )
    (row,) = ask(market(clients)).offerings
    assert [part.start for part in row.segments] == [START, second]


def test_a_local_zone_that_is_not_opted_into_says_so():
    local = {**BLOCK, "AvailabilityZone": "us-east-1-atl-2a", "ZoneType": "local-zone"}
    clients = CannedClients(
        describe_capacity_block_offerings=selling(local),
        describe_availability_zones={
            "AvailabilityZones": [{"ZoneName": "us-east-1-atl-2a", "OptInStatus": "not-opted-in"}]
        },
    )
    assert ask(market(clients)).offerings[0].opted_in is False


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (said("RequestLimitExceeded"), "throttled"),
        (said("UnauthorizedOperation"), "refused"),
        (said("InternalError"), "unreachable"),
        (EndpointConnectionError(endpoint_url="https://ec2"), "unreachable"),
        (said("SomethingNew"), "unknown"),
    ],
)
def test_a_market_that_failed_is_named_with_why(error, why):
    seen = ask(market(CannedClients(describe_capacity_block_offerings=error)))
    assert seen.offerings == ()
    assert [word for word, _ in gaps(seen)] == [why]


@pytest.mark.parametrize(("vcpus", "why"), [(0.0, "quota"), (1536.0, "throttled")])
def test_the_limit_code_is_a_quota_of_zero_or_a_throttle(vcpus, why):
    clients = CannedClients(
        describe_capacity_block_offerings=said(LIMIT),
        get_service_quota={
            "Quota": {"QuotaName": "Running P5 Capacity Block vCPUs", "Value": vcpus}
        },
    )
    assert gaps(ask(market(clients))) == [(why, LIMIT)]


def test_a_type_that_is_not_sold_here_is_an_answer_and_not_asked_again():
    clients = CannedClients(
        describe_capacity_block_offerings=said(
            "InvalidParameterValue", "'p5.48xlarge' is not supported for Capacity Blocks."
        )
    )
    reader = market(clients)
    for _ in range(3):
        seen = ask(reader)
        assert (seen.offerings, gaps(seen)) == ((), [])
    assert len(clients.asked("describe_capacity_block_offerings")) == 1


def test_an_answer_that_cannot_be_read_is_not_read():
    clients = CannedClients(
        describe_capacity_block_offerings=selling({**BLOCK, "InstanceCount": "two"})
    )
    assert [why for why, _ in gaps(ask(market(clients)))] == ["unknown"]


def test_one_failing_region_spoils_no_other():
    def offer(client_region: str) -> Any:
        return selling(BLOCK)

    class HalfDark(CannedClients):
        def reading(self, service: str, account: str, region: str) -> Any:
            if region == "us-west-2":
                raise ValueError("a mistake of our own")
            return super().reading(service, account, region)

    account = Account(
        name="research", account_id="111122223333", regions=("us-east-1", "us-west-2")
    )
    clients = HalfDark(account, describe_capacity_block_offerings=lambda **_: offer("any"))
    seen = ask(market(clients, accounts=(account,)))
    assert {row.region for row in seen.offerings} == {"us-east-1"}
    assert ("us-west-2", "capacity_block") in {(gap.region, gap.market) for gap in seen.not_read}


def test_a_quota_of_zero_stops_its_own_type_only():
    def sell(**asked: Any) -> Any:
        if asked["InstanceType"] == "p5.48xlarge":
            raise said(LIMIT)
        small = {**BLOCK, "InstanceType": "p5.4xlarge", "InstanceCount": 1}
        return selling(small) if asked["InstanceCount"] == 1 else selling()

    none = {"Quota": {"QuotaName": "Running P5 Capacity Block vCPUs", "Value": 0.0}}
    clients = CannedClients(describe_capacity_block_offerings=sell, get_service_quota=none)
    reader = market(clients)
    values = Request(accelerator="H100", accelerator_count=16, duration_hours=Decimal(72))
    seen = reader.read(values)
    assert {row.instance_type for row in seen.offerings} == {"p5.4xlarge"}
    assert [why for why, _ in gaps(seen)] == ["quota"]
    asked = [each["InstanceType"] for each in clients.asked("describe_capacity_block_offerings")]
    assert asked.count("p5.48xlarge") == 1


def test_types_that_compete_are_searched_at_the_same_time():
    both = threading.Barrier(2, timeout=30)
    calls = itertools.count()

    def sell(**_: Any) -> Any:
        if next(calls) < both.parties:
            both.wait()
        return selling(BLOCK)

    reader = market(CannedClients(describe_capacity_block_offerings=sell))
    values = Request(accelerator="H100", accelerator_count=16, duration_hours=Decimal(72))
    assert gaps(reader.read(values)) == []


def test_a_local_zone_is_read_in_the_region_it_belongs_to():
    account = Account(
        name="research", account_id="111122223333", regions=("us-east-1", "us-west-2")
    )
    clients = CannedClients(account, describe_capacity_block_offerings=selling(BLOCK))
    seen = ask(market(clients, accounts=(account,)), regions=("us-east-1-atl-2a",))
    assert {row.region for row in seen.offerings} == {"us-east-1"}


def test_the_first_region_is_shown_while_another_has_not_answered():
    shown: list[Market] = []
    first = threading.Event()

    class OneSlow(CannedClients):
        def reading(self, service: str, account: str, region: str) -> Any:
            if region == "us-west-2":
                assert first.wait(30)
            return super().reading(service, account, region)

    account = Account(
        name="research", account_id="111122223333", regions=("us-west-2", "us-east-1")
    )
    clients = OneSlow(account, describe_capacity_block_offerings=selling(BLOCK))

    def progress(part: Market) -> None:
        shown.append(part)
        first.set()

    reader = market(clients, accounts=(account,))
    values = Request(instance_type="p5.48xlarge", instance_count=2, duration_hours=Decimal(72))
    whole = reader.read(values, progress=progress)
    assert {row.region for row in shown[0].offerings} == {"us-east-1"}
    assert {row.region for row in whole.offerings} == {"us-east-1", "us-west-2"}


def test_only_the_quotas_of_the_kinds_that_are_read_are_asked_for():
    clients = CannedClients(describe_capacity_block_offerings=selling(BLOCK))
    ask(market(clients))
    assert [each["QuotaCode"] for each in clients.asked("get_service_quota")] == ["L-DA6814F2"]


def test_a_quota_that_is_not_read_takes_no_other_with_it():
    def limits(**asked: Any) -> Any:
        if asked["QuotaCode"] == "L-417A185B":
            raise said("AccessDeniedException")
        return {"Quota": {"QuotaName": "All P5 Spot Instance Requests", "Value": 384.0}}

    clients = CannedClients(get_service_quota=limits)
    seen = ask(market(clients, Kind.ON_DEMAND, Kind.CAPACITY_BLOCK, Kind.SPOT))
    assert gaps(seen, "quotas") == [("refused", "AccessDeniedException")]
    assert {row.code for row in seen.quotas} == {"L-7212CCBC", "L-C4BD4855", "L-DA6814F2"}


def test_machines_that_are_not_read_leave_the_use_unknown_and_what_is_owned_shown():
    held = {
        "CapacityReservationId": "cr-1", "InstanceType": "p5.48xlarge", "State": "active",
        "ReservationType": "default", "TotalInstanceCount": 4, "AvailableInstanceCount": 3,
        "StartDate": NOW - timedelta(days=1),
    }  # fmt: skip
    clients = CannedClients(
        describe_capacity_reservations={"CapacityReservations": [held]},
        describe_instances=said("UnauthorizedOperation"),
        get_service_quota={"Quota": {"QuotaName": "Running On-Demand P instances", "Value": 192}},
    )
    seen = ask(market(clients, Kind.ON_DEMAND))
    assert [row.ref for row in seen.owned] == ["cr-1"]
    assert [(row.limit, row.used) for row in seen.quotas] == [(192, None)]
    assert gaps(seen, "quotas") == [("refused", "UnauthorizedOperation")]


def test_progress_shows_what_is_known_so_far():
    account = Account(
        name="research",
        account_id="111122223333",
        regions=("us-east-1", "us-east-2", "us-west-2"),
    )
    shown: list[Market] = []
    reader = market(
        CannedClients(account, describe_capacity_block_offerings=selling(BLOCK)),
        accounts=(account,),
    )
    values = Request(instance_type="p5.48xlarge", instance_count=2, duration_hours=Decimal(72))
    whole = reader.read(values, progress=shown.append)
    assert shown
    assert all(set(part.offerings) <= set(whole.offerings) for part in shown)


def test_the_same_search_is_shared_for_a_minute():
    clients = CannedClients(describe_capacity_block_offerings=selling())
    reader = market(clients)
    ask(reader)
    first = len(clients.asked("describe_capacity_block_offerings"))
    ask(reader)
    assert len(clients.asked("describe_capacity_block_offerings")) == first


def test_tokens_that_are_out_are_a_throttle_and_requotes_still_go_through():
    clients = CannedClients(describe_capacity_block_offerings=selling())
    reader = market(clients)
    for days in range(1, 12):
        seen = ask(reader, duration_hours=Decimal(24 * days), instance_count=1)
    assert [why for why, _ in gaps(seen)] == ["throttled"]
    before = len(clients.asked("describe_capacity_block_offerings"))
    reader.requote(leg_of(segments=leg_of().segments))
    assert len(clients.asked("describe_capacity_block_offerings")) == before + 2


def test_a_requote_is_never_taken_from_what_was_kept():
    clients = CannedClients(describe_capacity_block_offerings=selling(BLOCK))
    reader = market(clients)
    for _ in range(2):
        (row,) = reader.requote(leg_of())
        assert row.ref == "cb-1"
    assert len(clients.asked("describe_capacity_block_offerings")) == 2


def test_a_plan_search_that_meets_its_quota_says_quota():
    clients = CannedClients(
        search_training_plan_offerings=said("ResourceLimitExceeded", "quota is not sufficient")
    )
    seen = ask(market(clients, Kind.TRAINING_PLAN), target=Target.TRAINING_JOB)
    assert [why for why, _ in gaps(seen, "training_plan")] == ["quota"]


def test_a_plan_keeps_its_segments_and_one_fee():
    part = {"InstanceType": "ml.p5.48xlarge", "InstanceCount": 2, "AvailabilityZone": "us-east-1a"}
    later = START + timedelta(days=2)
    plan = {
        "TrainingPlanOfferingId": "tpo-1",
        "TargetResources": ["training-job"],
        "UpfrontFee": "6050.00",
        "CurrencyCode": "USD",
        "ReservedCapacityOfferings": [
            {**part, "StartTime": later, "EndTime": later + timedelta(days=2)},
            {**part, "StartTime": START, "EndTime": START + timedelta(days=1)},
        ],
    }
    clients = CannedClients(search_training_plan_offerings={"TrainingPlanOfferings": [plan]})
    seen = ask(market(clients, Kind.TRAINING_PLAN), target=Target.TRAINING_JOB)
    (row,) = seen.offerings
    assert (row.upfront_fee, len(row.segments), row.instance_type) == (
        Decimal("6050.00"), 2, "ml.p5.48xlarge",
    )  # fmt: skip
    (asked, *_) = clients.asked("search_training_plan_offerings")
    assert asked["TargetResources"] == ["training-job"]
    assert asked["StartTimeAfter"] > NOW


def test_what_is_held_is_shown_with_its_owner_and_free_machines():
    held = {
        "CapacityReservationId": "cr-1", "InstanceType": "p5.48xlarge", "State": "active",
        "ReservationType": "capacity-block", "TotalInstanceCount": 4, "AvailableInstanceCount": 3,
        "StartDate": NOW - timedelta(days=1), "EndDate": NOW + timedelta(days=1),
        "AvailabilityZone": "us-east-1b", "Tags": [{"Key": "gpubot:owner", "Value": "U0LIN"}],
    }  # fmt: skip
    theirs = {**held, "CapacityReservationId": "cr-2", "Tags": []}
    over = {**held, "CapacityReservationId": "cr-3", "State": "expired"}
    clients = CannedClients(
        describe_capacity_reservations={"CapacityReservations": [held, theirs, over]}
    )
    rows = ask(market(clients)).owned
    assert [(row.ref, row.available_count, row.owner) for row in rows] == [
        ("cr-1", 3, "U0LIN"),
        ("cr-2", 3, None),
    ]


def test_an_empty_first_page_of_offerings_is_not_the_whole_answer():
    clients = CannedClients(
        describe_capacity_block_offerings=lambda **asked: (
            selling(BLOCK) if asked.get("NextToken") == "on" else {**selling(), "NextToken": "on"}
        )
    )
    seen = ask(market(clients))
    assert [row.ref for row in seen.offerings] == ["cb-1"]
    assert gaps(seen) == []


def test_a_page_of_offerings_takes_a_call_like_any_other():
    """AWS's share is for calls: pages that never end leave the market unread, in a few calls."""
    count = itertools.count()
    clients = CannedClients(
        describe_capacity_block_offerings=lambda **_: {**selling(), "NextToken": f"{next(count)}"}
    )
    seen = ask(market(clients))
    assert gaps(seen) == [("throttled", "our own share of the calls is used up")]
    assert len(clients.asked("describe_capacity_block_offerings")) <= 10


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "many", []])
def test_a_quota_that_no_one_can_read_takes_nothing_else_with_it(value):
    held = {
        "CapacityReservationId": "cr-1", "InstanceType": "p5.48xlarge", "State": "active",
        "TotalInstanceCount": 4, "StartDate": NOW - timedelta(days=1),
    }  # fmt: skip
    clients = CannedClients(
        describe_capacity_reservations={"CapacityReservations": [held]},
        get_service_quota={"Quota": {"QuotaName": "Running On-Demand P instances", "Value": value}},
    )
    seen = ask(market(clients, Kind.ON_DEMAND))
    assert [row.ref for row in seen.owned] == ["cr-1"]
    assert [(why, str(detail)[:10]) for why, detail in gaps(seen, "quotas")] == [
        ("unknown", "unreadable")
    ]


def test_an_offering_with_a_part_that_ends_before_it_starts_is_none():
    def part(first: int, last: int) -> dict[str, Any]:
        return {"StartDate": START + timedelta(days=first), "EndDate": START + timedelta(days=last)}

    backwards = {**BLOCK, "CapacityBlockOfferingSegments": [part(0, 3), part(5, 4)]}
    assert ask(market(CannedClients(describe_capacity_block_offerings=selling(backwards)))) == ask(
        market(CannedClients(describe_capacity_block_offerings=selling()))
    )
    first, second = (
        {"InstanceType": "ml.p5.48xlarge", "InstanceCount": 2, "StartTime": start, "EndTime": end}
        for start, end in (part(0, 3).values(), part(5, 4).values())
    )
    plan = {
        "TrainingPlanOfferingId": "tpo-1",
        "TargetResources": ["training-job"],
        "UpfrontFee": "1.00",
        "CurrencyCode": "USD",
        "ReservedCapacityOfferings": [first, second],
    }
    clients = CannedClients(search_training_plan_offerings={"TrainingPlanOfferings": [plan]})
    seen = ask(market(clients, Kind.TRAINING_PLAN), target=Target.TRAINING_JOB)
    assert seen.offerings == ()


@pytest.mark.parametrize("size", ["9" * 5000, "\u0663", "four", ""])
def test_a_size_that_is_no_number_of_ours_is_not_read_as_one(size):
    tag = {"Key": "aws:ec2capacityreservation:incrementalRequestedQuantity", "Value": size}
    row = {"CapacityReservationId": "cr-1", "TotalInstanceCount": 0, "Tags": [tag]}
    assert Reservation.model_validate(row).count == 0
