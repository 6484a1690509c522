"""Events that a script orders, and extensions of blocks."""

from datetime import UTC, timedelta
from decimal import Decimal

import pytest


@pytest.fixture
def active(sandbox, buy):
    bought = buy(sandbox.ec2)
    sandbox.time = bought["StartDate"].astimezone(UTC) + timedelta(minutes=5)
    sandbox.aws.settle()
    return bought["CapacityReservationId"]


def states(sandbox):
    return [row["state"] for row in sandbox.aws.sold()]


def test_a_payment_can_be_made_to_fail(sandbox, buy):
    one, two = buy(sandbox.ec2), buy(sandbox.ec2)
    sandbox.aws.event({"event": "payment-failed", "reservation": one["CapacityReservationId"]})
    sandbox.advance(minutes=30)
    found = {row["id"]: row["state"] for row in sandbox.aws.sold()}
    assert found[one["CapacityReservationId"]] == "payment-failed"
    assert found[two["CapacityReservationId"]] == "scheduled"


def test_an_unnamed_payment_failure_meets_the_newest_or_the_next(sandbox, buy):
    sandbox.aws.event({"event": "payment-failed"})
    buy(sandbox.ec2)
    sandbox.advance(minutes=30)
    assert states(sandbox) == ["payment-failed"]
    buy(sandbox.ec2)
    sandbox.aws.event({"event": "payment-failed"})
    assert states(sandbox) == ["payment-failed", "payment-failed"]


def test_a_moved_price_shows_in_the_search_and_is_charged(sandbox, search, buy):
    offer = search(sandbox.ec2)[-1]
    offering = offer["CapacityBlockOfferingId"]
    sandbox.aws.event({"event": "price", "offering": offering, "usd_per_instance_hour": "+1.50"})
    again = next(one for one in search(sandbox.ec2) if one["CapacityBlockOfferingId"] == offering)
    assert Decimal(again["UpfrontFee"]) - Decimal(offer["UpfrontFee"]) == Decimal("216.00")
    buy(sandbox.ec2, offer)
    assert sandbox.aws.sold()[0]["fee"] == again["UpfrontFee"]


def test_a_sold_out_offering_is_gone(sandbox, search, buy, refused):
    offer = search(sandbox.ec2)[-1]
    offering = offer["CapacityBlockOfferingId"]
    sandbox.aws.event({"event": "sold-out", "offering": offering})
    assert offering not in {one["CapacityBlockOfferingId"] for one in search(sandbox.ec2)}
    assert refused(lambda: buy(sandbox.ec2, offer)) == "InvalidCapacityBlockOfferingIdExpired"


def test_a_broken_slot_comes_back_after_ten_minutes(sandbox, active):
    sandbox.aws.event({"event": "node-failed", "reservation": active})

    def available():
        row = sandbox.ec2.describe_capacity_reservations(CapacityReservationIds=[active])
        return row["CapacityReservations"][0]["AvailableInstanceCount"]

    assert available() == 1
    sandbox.advance(minutes=10)
    assert available() == 2


@pytest.mark.parametrize(
    ("event", "words"),
    [
        ({"event": "earthquake"}, "There is no event"),
        ({"event": "sold-out", "offering": "cb-1"}, "Nobody has been shown"),
        ({"event": "sold-out", "offer": "cb-1"}, "has no 'offer'"),
        ({"event": "node-failed", "reservation": "cr-1"}, "There is no reservation"),
        ({"event": "payment-failed", "reservation": "cr-1"}, "No payment"),
        ({"event": "spot-interruption"}, "No such spot machine"),
        ({"event": "price", "offering": "cb-1", "usd_per_instance_hour": "much"}, "change"),
    ],
)
def test_an_event_that_makes_no_sense_is_told_so(sandbox, event, words):
    with pytest.raises(ValueError, match=words):
        sandbox.aws.event(event)


def extension(sandbox, reservation, hours=24):
    return sandbox.ec2.describe_capacity_block_extension_offerings(
        CapacityReservationId=reservation, CapacityBlockExtensionDurationHours=hours
    )["CapacityBlockExtensionOfferings"]


def extend(sandbox, reservation, offer):
    return sandbox.ec2.purchase_capacity_block_extension(
        CapacityReservationId=reservation,
        CapacityBlockExtensionOfferingId=offer["CapacityBlockExtensionOfferingId"],
    )["CapacityBlockExtensions"][0]


def test_a_paid_extension_moves_the_end(sandbox, active, refused):
    offer = extension(sandbox, active)[0]
    assert offer["CapacityBlockExtensionOfferingId"].startswith("cbe-")
    assert offer["UpfrontFee"] == "2292.48"
    bought = extend(sandbox, active, offer)
    assert bought["CapacityBlockExtensionStatus"] == "payment-pending"
    assert refused(lambda: extension(sandbox, active)) == "InvalidParameterValue"
    sandbox.advance(minutes=30)
    history = sandbox.ec2.describe_capacity_block_extension_history(
        Filters=[
            {
                "Name": "capacity-block-extension-offering-id",
                "Values": [offer["CapacityBlockExtensionOfferingId"]],
            }
        ]
    )["CapacityBlockExtensions"]
    assert [one["CapacityBlockExtensionStatus"] for one in history] == ["payment-succeeded"]
    row = sandbox.aws.sold()[0]
    assert row["end"] == offer["CapacityBlockExtensionEndDate"].astimezone(UTC).isoformat().replace(
        "+00:00", "Z"
    )
    sandbox.time = offer["CapacityBlockExtensionStartDate"].astimezone(UTC)
    assert sandbox.aws.sold()[0]["state"] == "active"
    sandbox.time = offer["CapacityBlockExtensionEndDate"].astimezone(UTC)
    assert sandbox.aws.sold()[0]["state"] == "expired"


def test_an_extension_that_is_not_paid_leaves_the_old_end(sandbox, active):
    extend(sandbox, active, extension(sandbox, active)[0])
    before = sandbox.aws.sold()[0]["end"]
    sandbox.aws.event({"event": "payment-failed", "reservation": active})
    sandbox.advance(hours=1)
    assert [row["state"] for row in sandbox.aws.sold()] == ["active", "payment-failed"]
    assert sandbox.aws.sold()[0]["end"] == before


def test_a_block_cannot_be_extended_in_its_last_hour(sandbox, active, refused):
    end = sandbox.aws.sold()[0]["end"]
    sandbox.move_to(int(end[:4]), int(end[5:7]), int(end[8:10]), 10, 31)
    assert refused(lambda: extension(sandbox, active)) == "InvalidParameterValue"


@pytest.mark.parametrize(
    "event",
    [
        {"event": ["payment-failed"]},
        {"event": {"name": "sold-out"}},
        {"event": "payment-failed", "reservation": []},
        {"event": "node-failed", "reservation": {}},
        {"event": "sold-out", "offering": ["cb-1"]},
        {"event": "price", "offering": [], "usd_per_instance_hour": "+1"},
        {"event": "spot-interruption", "instance": True},
        {"event": "gpu-utilisation", "reservation": []},
    ],
)
def test_an_event_of_another_form_is_refused_in_words(sandbox, buy, event):
    buy(sandbox.ec2)
    with pytest.raises(ValueError, match=r"There is no event|is a name or a number"):
        sandbox.aws.event(event)
