"""Quotas are vCPUs, by family and by kind; what is not known is not zero."""

from datetime import timedelta
from typing import Any

from bot.aws import wire
from bot.aws.books import RegionBooks
from bot.aws.quotas import Quotas, families_in
from bot.catalog import packaged
from bot.domain.market import Kind
from tests.fakes.clock import NOW, FakeClock
from tests.unit.aws.canned import CannedClients, said

LIMITS = {
    "L-417A185B": ("Running On-Demand P instances", 192.0),
    "L-7212CCBC": ("All P4, P3 and P2 Spot Instance Requests", 0.0),
    "L-C4BD4855": ("All P5 Spot Instance Requests", 384.0),
    "L-DA6814F2": ("Running P5 Capacity Block vCPUs per account", 1536.0),
}


def limit(**parameters: Any) -> dict[str, Any]:
    name, value = LIMITS[parameters["QuotaCode"]]
    return {"Quota": {"QuotaName": name, "Value": value}}


def rows(books: RegionBooks | None, **answers: Any) -> Any:
    quotas = Quotas(
        CannedClients(get_service_quota=limit, **answers), clock=FakeClock(), catalog=packaged()
    )
    limits = {
        code: quotas.limit("research", "us-east-1", "ec2", code)
        for code in quotas.ec2_codes(["p5.48xlarge"], set(Kind))
    }
    found = quotas.ec2_rows(
        books, limits, account="research", region="us-east-1", types=["p5.48xlarge"], at=NOW
    )
    return {row.code: row for row in found}


def running(lifecycle: str | None = None) -> wire.Instance:
    return wire.Instance(instance_type="p5.48xlarge", instance_lifecycle=lifecycle)


def test_the_limit_counts_vcpus_and_a_running_machine_uses_its_own():
    idle = rows(RegionBooks((), ()))["L-417A185B"]
    busy = rows(RegionBooks((), (running(),)))["L-417A185B"]
    assert (idle.unit, idle.limit, idle.used) == ("vcpus", 192, 0)
    assert (busy.limit, busy.used) == (192, 192)
    assert idle.kinds == (Kind.ON_DEMAND, Kind.ODCR)
    assert idle.types == ("p*",)


def test_spot_machines_and_blocks_do_not_use_the_on_demand_limit():
    found = rows(RegionBooks((), (running("spot"), running("capacity-block"))))
    assert found["L-417A185B"].used == 0
    assert (found["L-C4BD4855"].used, found["L-C4BD4855"].kinds) == (192, (Kind.SPOT,))
    assert found["L-7212CCBC"].types == ("p4*", "p3*", "p2*")


def test_the_unused_part_of_a_reservation_uses_the_on_demand_limit():
    held = wire.Reservation(
        instance_type="p5.48xlarge", state="active", total_instance_count=3,
        available_instance_count=2, reservation_type="default",
    )  # fmt: skip
    assert rows(RegionBooks((held,), (running(),)))["L-417A185B"].used == 3 * 192


def test_blocks_count_while_they_run():
    def block(start: int, end: int) -> wire.Reservation:
        return wire.Reservation(
            instance_type="p5.48xlarge", state="scheduled", reservation_type="capacity-block",
            total_instance_count=2,
            start_date=NOW + timedelta(days=start), end_date=NOW + timedelta(days=end),
        )  # fmt: skip

    found = rows(RegionBooks((block(-1, 1), block(2, 3)), ()))
    assert found["L-DA6814F2"].used == 2 * 192


def test_what_is_used_is_unknown_without_books_or_with_an_unknown_type():
    odd = wire.Instance(instance_type="p9.huge")
    assert rows(None)["L-417A185B"].used is None
    assert rows(RegionBooks((), (odd,)))["L-417A185B"].used is None


def test_an_unset_limit_is_the_default_and_a_missing_one_is_unknown():
    missing = said("NoSuchResourceException")
    kept = CannedClients(
        get_service_quota=missing,
        get_aws_default_service_quota={"Quota": {"QuotaName": "Name", "Value": 0.0}},
    )
    quotas = Quotas(kept, clock=FakeClock(), catalog=packaged())
    row = quotas.limit("research", "us-east-1", "ec2", "L-1")
    assert row is not None
    assert row.limit == 0
    gone = CannedClients(get_service_quota=missing, get_aws_default_service_quota=missing)
    quotas = Quotas(gone, clock=FakeClock(), catalog=packaged())
    assert quotas.limit("research", "us-east-1", "ec2", "L-1") is None


def test_a_plan_type_without_a_quota_on_record_has_an_unknown_limit():
    clients = CannedClients(list_service_quotas={"Quotas": []})
    quotas = Quotas(clients, clock=FakeClock(), catalog=packaged())
    (row,) = quotas.plan_rows(
        None, account="research", region="us-east-1", types=["ml.p5.48xlarge"]
    )
    assert (row.limit, row.unit) == (None, "instances")


def test_a_quota_covers_what_its_name_lists():
    assert families_in("Running On-Demand G and VT instances") == ("g", "vt")
    assert families_in("All P4, P3 and P2 Spot Instance Requests") == ("p4", "p3", "p2")
    assert families_in("Running On-Demand Trn instances") == ("trn",)
    assert families_in("Running On-Demand Inf instances") == ("inf",)
    assert families_in("Running On-Demand DL instances") == ("dl",)
