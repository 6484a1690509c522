"""Capacity Blocks: offered, bought, paid, delivered, ended."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest


def test_two_p5_for_three_days_next_week_cost_what_the_data_says(sandbox, search):
    offers = search(
        sandbox.ec2,
        StartDateRange=datetime(2027, 3, 15, tzinfo=UTC),
        EndDateRange=datetime(2027, 3, 22, tzinfo=UTC),
    )
    assert 3 <= len(offers) <= 6
    for offer in offers:
        assert offer["UpfrontFee"] == "6877.44"
        assert offer["EndDate"] - offer["StartDate"] == timedelta(hours=72)
        assert offer["StartDate"].astimezone(UTC).strftime("%H:%M") == "11:30"
        assert "CapacityBlockOfferingSegments" not in offer


@pytest.mark.parametrize("region", ["us-east-1", "us-east-2", "us-west-2", "eu-north-1"])
def test_the_usual_regions_have_blocks_of_p5(sandbox, search, region):
    assert len(search(sandbox.client("ec2", region))) >= 3


def test_the_first_day_is_ragged_a_little_shorter_and_a_little_longer(sandbox, search):
    first, second = search(sandbox.ec2)[:2]
    lengths = [
        timedelta(
            hours=one["CapacityBlockDurationHours"], minutes=one["CapacityBlockDurationMinutes"]
        )
        for one in (first, second)
    ]
    assert lengths[0] < timedelta(hours=72) < lengths[1]
    for offer, length in zip((first, second), lengths, strict=True):
        assert offer["EndDate"] - offer["StartDate"] == length
        assert offer["EndDate"].astimezone(UTC).strftime("%H:%M") == "11:30"
        hours = Decimal(int(length.total_seconds())) / 3600
        assert Decimal(offer["UpfrontFee"]) == round(Decimal("47.76") * 2 * hours, 2)


def test_instant_blocks_move_with_each_minute_and_the_others_stay(sandbox, search):
    before = search(sandbox.ec2)
    sandbox.advance(minutes=1)
    after = search(sandbox.ec2)
    assert after[0]["StartDate"] == before[0]["StartDate"] + timedelta(minutes=1)
    assert after[0]["StartDate"] >= sandbox.time + timedelta(minutes=30)
    assert after[2:] == before[2:]


@pytest.mark.parametrize("hours", [25, 15 * 24, 16 * 24, 20 * 24, 189 * 24, 0, -24])
def test_only_days_to_fourteen_and_then_weeks_are_durations(sandbox, refused, search, hours):
    assert refused(lambda: search(sandbox.ec2, CapacityDurationHours=hours)) == (
        "InvalidParameterValue"
    )


@pytest.mark.parametrize("hours", [24, 14 * 24, 21 * 24, 182 * 24])
def test_days_and_weeks_are_durations(sandbox, search, hours):
    assert search(sandbox.ec2, CapacityDurationHours=hours)


@pytest.mark.parametrize(
    "params",
    [
        {"InstanceCount": 65},
        {"InstanceCount": 0},
        {"InstanceType": "g5.48xlarge"},
        {"InstanceType": "p5.999xlarge"},
        {"StartDateRange": datetime(2027, 3, 10, 14, tzinfo=UTC)},
        {"StartDateRange": datetime(2027, 5, 10, tzinfo=UTC)},
        {"EndDateRange": datetime(2027, 3, 9, tzinfo=UTC)},
        {"MaxResults": 1001},
    ],
)
def test_a_wrong_search_is_refused(sandbox, refused, search, params):
    assert refused(lambda: search(sandbox.ec2, **params)) == "InvalidParameterValue"


def test_nothing_fits_a_window_that_is_too_narrow(sandbox, search):
    start = datetime(2027, 3, 15, 12, tzinfo=UTC)
    assert search(sandbox.ec2, StartDateRange=start, EndDateRange=start + timedelta(days=3)) == []


def test_offers_come_in_pages(sandbox, search):
    whole = search(sandbox.ec2)
    pages = sandbox.ec2.get_paginator("describe_capacity_block_offerings").paginate(
        InstanceType="p5.48xlarge",
        InstanceCount=2,
        CapacityDurationHours=72,
        PaginationConfig={"PageSize": 2},
    )
    sizes = [page["CapacityBlockOfferings"] for page in pages]
    assert [len(page) for page in sizes] == [2, 2, 2]
    assert [offer for page in sizes for offer in page] == whole


def test_local_zones_show_only_when_asked_or_opted_in(sandbox_with, search):
    closed, opened = sandbox_with(), sandbox_with(opted_in_zones=["us-east-1-atl-2a"])
    window = {"InstanceType": "p6-b300.48xlarge", "InstanceCount": 1}

    def types(one, **more):
        return {offer["ZoneType"] for offer in search(one.ec2, **window, **more)}

    every = sandbox_with(open_percent=100)
    assert "local-zone" not in types(closed)
    assert "local-zone" in types(every, AllAvailabilityZones=True)
    assert (
        opened.ec2.describe_availability_zones(
            Filters=[{"Name": "zone-type", "Values": ["local-zone"]}]
        )["AvailabilityZones"][0]["OptInStatus"]
        == "opted-in"
    )


def test_ultraservers_are_sold_whole_in_their_local_zone(sandbox_with):
    sandbox = sandbox_with(open_percent=100)
    offers = sandbox.ec2.describe_capacity_block_offerings(
        UltraserverType="u-p6e-gb200x72",
        UltraserverCount=1,
        CapacityDurationHours=24,
        AllAvailabilityZones=True,
    )["CapacityBlockOfferings"]
    offer = offers[-1]
    assert (offer["UltraserverCount"], offer["InstanceCount"]) == (1, 18)
    assert offer["AvailabilityZone"] == "us-east-1-dfw-2a"
    assert offer["UpfrontFee"] == "18285.70"
    bought = sandbox.ec2.purchase_capacity_block(
        CapacityBlockOfferingId=offer["CapacityBlockOfferingId"], InstancePlatform="Linux/UNIX"
    )
    assert bought["CapacityReservation"]["LaunchStatus"] == "unlaunchable"
    assert bought["CapacityBlocks"][0]["UltraserverType"] == "u-p6e-gb200x72"


def test_preferences_bring_offers_of_several_segments(sandbox):
    offers = sandbox.ec2.describe_capacity_block_offerings(
        InstanceTypePreferences=[
            {"InstanceType": "p5.48xlarge"},
            {"InstanceType": "p5en.48xlarge"},
        ],
        InstanceCount=1,
        CapacityDurationHours=96,
    )["CapacityBlockOfferings"]
    assert {offer["InstanceType"] for offer in offers} == {"p5.48xlarge", "p5en.48xlarge"}
    joined = offers[-1]
    first, second = joined["CapacityBlockOfferingSegments"]
    assert first["EndDate"] == second["StartDate"]
    assert first["AvailabilityZoneId"] != second["AvailabilityZoneId"]
    total = Decimal(first["UpfrontFee"]) + Decimal(second["UpfrontFee"])
    assert Decimal(joined["UpfrontFee"]) == total
    bought = sandbox.ec2.purchase_capacity_block(
        CapacityBlockOfferingId=joined["CapacityBlockOfferingId"], InstancePlatform="Linux/UNIX"
    )
    assert len(bought["CapacityReservations"]) == 2
    assert len(bought["CapacityBlocks"]) == 1
    assert sum(Decimal(row["fee"]) for row in sandbox.aws.sold()) == total


def test_a_purchase_waits_for_payment_starts_late_and_ends(sandbox, buy):
    bought = buy(sandbox.ec2, tags={"gpubot:purchase": "leg-1"})
    assert bought["State"] == "payment-pending"
    block = {"CapacityReservationIds": [bought["CapacityReservationId"]]}

    def seen():
        row = sandbox.ec2.describe_capacity_reservations(**block)["CapacityReservations"][0]
        return row["State"], row["TotalInstanceCount"], row["AvailableInstanceCount"]

    sandbox.advance(seconds=10)
    assert seen() == ("payment-pending", 0, 0)
    sandbox.advance(minutes=25)
    assert seen() == ("scheduled", 0, 0)
    sandbox.time = bought["StartDate"].astimezone(UTC)
    assert seen() == ("scheduled", 0, 0)
    sandbox.advance(minutes=4)
    assert seen() == ("active", 2, 2)
    sandbox.time = bought["EndDate"].astimezone(UTC)
    assert seen()[0] == "expired"


def test_the_next_event_leads_from_change_to_change(sandbox, buy):
    assert sandbox.aws.next_event() is None
    bought = buy(sandbox.ec2)
    states = []
    while (moment := sandbox.aws.next_event()) is not None:
        sandbox.time = moment
        sandbox.aws.settle()
        states.append(sandbox.aws.sold()[0]["state"])
    assert list(dict.fromkeys(states)) == ["payment-pending", "scheduled", "active", "expired"]
    assert sandbox.time == bought["EndDate"]


def test_the_tags_and_the_size_can_be_read_back(sandbox, buy):
    bought = buy(sandbox.ec2, tags={"gpubot:purchase": "leg-1"})
    sandbox.advance(minutes=1)
    found = sandbox.ec2.describe_capacity_reservations(
        Filters=[{"Name": "tag:gpubot:purchase", "Values": ["leg-1"]}]
    )["CapacityReservations"]
    assert [one["CapacityReservationId"] for one in found] == [bought["CapacityReservationId"]]
    tags = {tag["Key"]: tag["Value"] for tag in found[0]["Tags"]}
    assert tags["aws:ec2capacityreservation:incrementalRequestedQuantity"] == "2"
    assert tags["gpubot:purchase"] == "leg-1"
    assert sandbox.aws.sold()[0]["tags"] == {"gpubot:purchase": "leg-1"}


def test_a_new_reservation_is_not_in_the_books_at_once(sandbox, buy, refused):
    bought = buy(sandbox.ec2)
    ids = {"CapacityReservationIds": [bought["CapacityReservationId"]]}
    assert sandbox.ec2.describe_capacity_reservations()["CapacityReservations"] == []
    assert sandbox.ec2.describe_capacity_blocks()["CapacityBlocks"] == []
    code = refused(sandbox.ec2.describe_capacity_reservations, **ids)
    assert code == "InvalidCapacityReservationId.NotFound"
    sandbox.advance(seconds=3)
    assert len(sandbox.ec2.describe_capacity_reservations(**ids)["CapacityReservations"]) == 1


def test_one_unknown_id_fails_the_whole_call(sandbox, buy, refused):
    known = buy(sandbox.ec2)["CapacityReservationId"]
    sandbox.advance(minutes=1)
    describe = sandbox.ec2.describe_capacity_reservations
    unknown = "cr-0123456789abcdef0"
    assert refused(describe, CapacityReservationIds=[known, unknown]) == (
        "InvalidCapacityReservationId.NotFound"
    )
    assert refused(describe, CapacityReservationIds=["nonsense"]) == (
        "InvalidCapacityReservationId.Malformed"
    )


def test_the_block_tells_of_its_reservation_and_its_health(sandbox, buy):
    bought = buy(sandbox.ec2)
    sandbox.time = bought["StartDate"].astimezone(UTC) + timedelta(minutes=5)
    block = sandbox.ec2.describe_capacity_blocks(Filters=[{"Name": "state", "Values": ["active"]}])[
        "CapacityBlocks"
    ][0]
    assert block["CapacityReservationIds"] == [bought["CapacityReservationId"]]
    status = sandbox.ec2.describe_capacity_block_status()["CapacityBlockStatuses"][0]
    assert status["InterconnectStatus"] == "ok"
    assert (status["TotalCapacity"], status["TotalAvailableCapacity"]) == (2, 2)


@pytest.mark.parametrize("order", [(2, 1), (1, 2)])
def test_two_windows_of_one_zone_are_sold_both_in_either_order(sandbox_with, buy, search, order):
    window = {
        "region": "us-east-1",
        "instance_type": "p5.48xlarge",
        "zone": "us-east-1b",
        "usd_per_instance_hour": "10.00",
    }
    sandbox = sandbox_with(blocks=[{**window, "instance_count": count} for count in (2, 1)])
    for count in order:
        buy(sandbox.ec2, InstanceCount=count)
    assert [row["instance_count"] for row in sandbox.aws.sold()] == list(order)
    start = sandbox.aws.sold()[0]["start"]
    again = search(sandbox.ec2, InstanceCount=1)
    assert start not in {one["StartDate"].strftime("%Y-%m-%dT%H:%M:%SZ") for one in again}


def test_an_offering_sells_once(sandbox, buy, search, refused):
    offer = search(sandbox.ec2)[-1]
    buy(sandbox.ec2, offer)
    assert refused(lambda: buy(sandbox.ec2, offer)) == "InvalidCapacityBlockOfferingIdExpired"
    assert len(sandbox.aws.sold()) == 1
    offered = {one["CapacityBlockOfferingId"] for one in search(sandbox.ec2)}
    assert offer["CapacityBlockOfferingId"] not in offered


def test_a_scenario_may_let_an_offering_sell_twice(sandbox_with, buy, search):
    sandbox = sandbox_with(offering_sells_once=False)
    offer = search(sandbox.ec2)[-1]
    buy(sandbox.ec2, offer)
    buy(sandbox.ec2, offer)
    assert len(sandbox.aws.sold()) == 2


@pytest.mark.parametrize(
    ("offering", "code"),
    [
        ("cb-0123456789abcdef0", "InvalidCapacityBlockOfferingIdNotFound"),
        ("tpo-1", "InvalidCapacityBlockOfferingIdMalformed"),
    ],
)
def test_an_unknown_offering_is_not_sold(sandbox, refused, offering, code):
    purchase = sandbox.ec2.purchase_capacity_block
    assert (
        refused(purchase, CapacityBlockOfferingId=offering, InstancePlatform="Linux/UNIX") == code
    )


def test_an_offering_expires_five_minutes_before_its_start(sandbox, buy, search, refused):
    offer = search(sandbox.ec2)[0]
    sandbox.time = offer["StartDate"].astimezone(UTC) - timedelta(minutes=5)
    assert refused(lambda: buy(sandbox.ec2, offer)) == "InvalidCapacityBlockOfferingIdExpired"


def test_windows_is_no_platform_of_a_block(sandbox, search, refused):
    offer = search(sandbox.ec2)[-1]["CapacityBlockOfferingId"]
    purchase = sandbox.ec2.purchase_capacity_block
    code = refused(purchase, CapacityBlockOfferingId=offer, InstancePlatform="Windows")
    assert code == "InvalidParameterValue"


def test_a_payment_that_takes_too_long_fails_five_minutes_before_the_start(
    sandbox_with, buy, search
):
    sandbox = sandbox_with(payment_seconds=[7200, 7200])
    offer = search(sandbox.ec2)[0]
    buy(sandbox.ec2, offer)
    sandbox.time = offer["StartDate"].astimezone(UTC) - timedelta(minutes=5)
    assert sandbox.aws.sold()[0]["state"] == "payment-failed"


def test_a_payment_that_takes_over_twelve_hours_fails(sandbox_with, buy):
    sandbox = sandbox_with(payment_seconds=[90000, 90000])
    buy(sandbox.ec2, StartDateRange=datetime(2027, 3, 20, tzinfo=UTC))
    sandbox.advance(hours=12)
    assert sandbox.aws.sold()[0]["state"] == "payment-failed"


def test_a_quota_of_zero_fails_the_search_itself(sandbox_with, search, refused):
    sandbox = sandbox_with(quotas=[{"quota": "L-DA6814F2", "value": 0, "region": "us-east-1"}])
    code = refused(lambda: search(sandbox.ec2))
    assert code == "CapacityBlockDescribeLimitExceeded"
    assert search(sandbox.client("ec2", "us-west-2"))
    assert search(sandbox.ec2, InstanceType="p4d.24xlarge")


def test_a_quota_too_small_refuses_the_purchase(sandbox_with, buy, refused):
    sandbox = sandbox_with(quotas=[{"quota": "L-DA6814F2", "value": 192}])
    assert refused(lambda: buy(sandbox.ec2)) == "VcpuLimitExceeded"
    assert sandbox.aws.sold() == []


def test_a_listed_window_is_all_that_is_sold(sandbox_with, search):
    sandbox = sandbox_with(
        blocks=[
            {
                "region": "us-east-1",
                "instance_type": "p5.48xlarge",
                "zone": "us-east-1c",
                "available_from": "2027-03-16T11:30:00Z",
                "available_until": "2027-03-20T11:30:00Z",
                "instance_count": 2,
                "usd_per_instance_hour": "50",
            }
        ]
    )
    offers = search(sandbox.ec2)
    starts = [one["StartDate"].astimezone(UTC) for one in offers]
    assert starts == [
        datetime(2027, 3, 16, 11, 30, tzinfo=UTC),
        datetime(2027, 3, 17, 11, 30, tzinfo=UTC),
    ]
    assert {one["AvailabilityZone"] for one in offers} == {"us-east-1c"}
    assert offers[0]["UpfrontFee"] == "7200.00"
    assert search(sandbox.ec2, InstanceCount=3) == []


def test_what_is_sold_is_gone_for_everybody(sandbox_with, buy, search):
    window = {"region": "us-east-1", "instance_type": "p5.48xlarge", "instance_count": 2}
    sandbox = sandbox_with(blocks=[{**window, "zone": "us-east-1c"}])
    bought = buy(sandbox.ec2)
    for offer in search(sandbox.ec2):
        assert offer["StartDate"] >= bought["EndDate"] or offer["EndDate"] <= bought["StartDate"]


def test_the_same_seed_sells_the_same_and_another_seed_does_not(sandbox_with, search):
    def ids(seed):
        one = sandbox_with(seed=seed)
        return [offer["CapacityBlockOfferingId"] for offer in search(one.ec2)]

    assert ids(7) == ids(7)
    assert ids(7) != ids(8)


def test_a_dry_run_proves_permission_and_sells_nothing(sandbox_with, search, refused):
    sandbox = sandbox_with(denied=[{"operation": "PurchaseCapacityBlock", "region": "us-west-2"}])
    params = {
        "CapacityBlockOfferingId": "cb-0123456789abcdef0",
        "InstancePlatform": "Linux/UNIX",
        "DryRun": True,
    }
    assert refused(sandbox.ec2.purchase_capacity_block, **params) == "DryRunOperation"
    far = sandbox.client("ec2", "us-west-2")
    assert refused(far.purchase_capacity_block, **params) == "UnauthorizedOperation"
    assert sandbox.aws.sold() == []
