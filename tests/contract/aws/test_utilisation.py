"""The Utilisation port: the adapter against the simulation, the fake, and canned odd answers."""

from datetime import timedelta
from decimal import Decimal

import boto3
import pytest

from bot.aws import AwsUtilisation, Clients
from bot.domain.market import Kind
from sandbox.aws import SimulatedAws, Supply
from tests.fakes.aws import FakeUtilisation
from tests.fakes.clock import NOW, FakeClock
from tests.unit.aws.canned import RESEARCH, CannedClients, receipt_of, said

WINDOW = timedelta(minutes=30)
AT = NOW.replace(minute=2)
POOL = {"region": "us-east-1", "instance_type": "g6.xlarge", "instance_count": 8}


class Simulated:
    """The adapter with a launch in the simulated AWS."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.clock = FakeClock(AT)
        supply = Supply.from_dict({"on_demand": [POOL]})
        self.aws = SimulatedAws(now=self.clock.now, seed=1, supply=supply)
        monkeypatch.setenv("AWS_ENDPOINT_URL", self.aws.start())
        self.port = AwsUtilisation((RESEARCH,), clock=self.clock, clients=Clients((RESEARCH,)))
        ec2 = boto3.client("ec2", region_name="us-east-1")
        image = ec2.describe_images()["Images"][0]["ImageId"]
        run = {"ImageId": image, "InstanceType": "g6.xlarge", "MinCount": 2, "MaxCount": 2}
        launch = ec2.run_instances(**run)
        ec2.close()
        self.machines = [one["InstanceId"] for one in launch["Instances"]]
        self.receipt = receipt_of(launch["ReservationId"], Kind.ON_DEMAND)
        self.pass_by(minutes=2)

    def pass_by(self, **length: float) -> None:
        self.clock.advance(timedelta(**length))
        self.aws.settle()

    def report(self, *percents: int) -> None:
        for machine, percent in zip(self.machines, percents, strict=False):
            self.aws.event({"event": "gpu-utilisation", "instance": machine, "percent": percent})
        self.pass_by(minutes=40)

    def close(self) -> None:
        for client in self.port.clients._clients.values():  # noqa: SLF001 - leaves no socket open
            client.close()
        self.aws.stop()
        assert self.aws.failures == []


class Faked:
    """The fake with the same launch."""

    def __init__(self) -> None:
        self.clock = FakeClock(AT)
        self.receipt = receipt_of("r-1", Kind.ON_DEMAND)
        self.port = FakeUtilisation(self.clock, machines={self.receipt.id: 2})

    def report(self, *percents: int) -> None:
        self.port.shares[self.receipt.id] = tuple(Decimal(one) / 100 for one in percents)
        self.clock.advance(timedelta(minutes=38))

    def close(self) -> None:
        """Holds nothing open."""


@pytest.fixture(params=["simulated", "faked"])
def place(request, monkeypatch):
    made = Simulated(monkeypatch) if request.param == "simulated" else Faked()
    yield made
    made.close()


def test_each_machine_that_reports_has_its_average_lowest_first(place):
    place.report(90, 3)
    seen = place.port.read([place.receipt], window=WINDOW)[place.receipt.id]
    assert (seen.machines, seen.shares) == (2, (Decimal("0.03"), Decimal("0.9")))
    assert seen.until - seen.since == WINDOW
    assert timedelta(0) <= place.clock.now() - seen.until < timedelta(minutes=5)


def test_a_machine_without_an_agent_is_unknown(place):
    place.report(3)
    seen = place.port.read([place.receipt], window=WINDOW)[place.receipt.id]
    assert (seen.machines, seen.reporting) == (2, 1)


def test_where_no_agent_is_nothing_is_known(place):
    place.report()
    seen = place.port.read([place.receipt], window=WINDOW)[place.receipt.id]
    assert (seen.machines, seen.shares, seen.not_read) == (2, (), "")


def test_machines_of_a_plan_cannot_be_seen_from_outside(place):
    plan = receipt_of("arn:plan", Kind.TRAINING_PLAN)
    assert place.port.read([plan], window=WINDOW) == {}


# --- odd answers -------------------------------------------------------------------------------

RECEIPT = receipt_of("cr-1")


def machine(name="i-1", state="running", held="cr-1"):
    return {"InstanceId": name, "State": {"Name": state}, "CapacityReservationId": held}


def holding(*machines):
    return {"Reservations": [{"ReservationId": "r-1", "Instances": list(machines)}]}


def series(name="i-1", **more):
    named = {"InstanceId": name, **more}
    return {"Dimensions": [{"Name": key, "Value": value} for key, value in named.items()]}


def values(number, *percents, code="Complete", count=None):
    times = [NOW + timedelta(minutes=5 * n) for n in range(count or len(percents))]
    return {
        "Id": f"m{number}",
        "StatusCode": code,
        "Values": list(percents),
        "Timestamps": times,
    }


def read(**answers):
    canned = CannedClients(**{"describe_instances": holding(machine()), **answers})
    port = AwsUtilisation((RESEARCH,), clock=FakeClock(AT), clients=canned)
    return canned, port.read([RECEIPT], window=WINDOW)["cr-1"]


def test_a_throttled_read_says_so_and_never_raises():
    _, seen = read(list_metrics=said("ThrottlingException"))
    assert seen.not_read == "throttled: ThrottlingException"
    assert seen.shares == ()


def test_a_role_without_the_right_to_read_metrics_is_no_idle_machine():
    _, seen = read(list_metrics=said("AccessDeniedException"))
    assert seen.not_read == "refused: AccessDeniedException"


def test_a_series_that_aws_forbids_is_said():
    _, seen = read(
        list_metrics={"Metrics": [series()]},
        get_metric_data={"MetricDataResults": [values(0, code="Forbidden")]},
    )
    assert seen.not_read.startswith("refused")


def test_every_gpu_counts_and_sums_over_them_that_an_agent_adds_do_not():
    listed = [series(), series(index="0"), series(index="1")]
    canned, seen = read(
        list_metrics={"Metrics": listed},
        get_metric_data={"MetricDataResults": [values(0, *[10] * 6), values(1, *[90] * 6)]},
    )
    (sent,) = canned.asked("get_metric_data")
    assert len(sent["MetricDataQueries"]) == 2
    assert seen.shares == (Decimal("0.5"),)


def test_an_agent_that_only_sends_one_series_for_the_machine_is_read():
    _, seen = read(
        list_metrics={"Metrics": [series()]},
        get_metric_data={"MetricDataResults": [values(0, *[40.5] * 6)]},
    )
    assert seen.shares == (Decimal("0.405"),)


def test_a_machine_that_has_just_begun_to_report_is_unknown():
    _, seen = read(
        list_metrics={"Metrics": [series()]},
        get_metric_data={"MetricDataResults": [values(0, 1, 1, 1)]},
    )
    assert seen.shares == ()


def test_values_over_several_pages_are_one_series():
    pages = [
        {"MetricDataResults": [values(0, *[10] * 6, code="PartialData")], "NextToken": "more"},
        {"MetricDataResults": [values(0, *[30] * 6)]},
    ]
    _, seen = read(list_metrics={"Metrics": [series()]}, get_metric_data=pages)
    assert seen.shares == (Decimal("0.2"),)


def test_at_most_five_hundred_series_are_asked_for_at_once():
    listed = [series(index=str(number)) for number in range(501)]
    canned, _ = read(list_metrics={"Metrics": listed}, get_metric_data={"MetricDataResults": []})
    sent = canned.asked("get_metric_data")
    assert [len(one["MetricDataQueries"]) for one in sent] == [500, 1]


def test_other_peoples_machines_are_not_read():
    canned, seen = read(list_metrics={"Metrics": [series("i-9")]})
    assert canned.asked("get_metric_data") == []
    assert (seen.machines, seen.shares) == (1, ())


def test_only_running_machines_count():
    canned, seen = read(describe_instances=holding(machine(state="terminated")))
    assert (seen.machines, canned.asked("list_metrics")) == (0, [])


@pytest.mark.parametrize("answer", [{}, {"MetricDataResults": [{}]}])
def test_an_answer_that_lacks_members_is_unknown(answer):
    _, seen = read(list_metrics={"Metrics": [{}, series()]}, get_metric_data=answer)
    assert (seen.shares, seen.not_read) == ((), "")


def test_one_region_that_fails_leaves_the_others():
    def answer(**asked):
        (name,) = asked["Filters"][0]["Values"]
        if name == "cr-2":
            raise said("UnauthorizedOperation")
        return holding(machine())

    canned = CannedClients(
        describe_instances=answer,
        list_metrics={"Metrics": [series()]},
        get_metric_data={"MetricDataResults": [values(0, *[50] * 6)]},
    )
    port = AwsUtilisation((RESEARCH,), clock=FakeClock(AT), clients=canned)
    other = receipt_of("cr-2", region="us-west-2")
    seen = port.read([RECEIPT, other], window=WINDOW)
    assert seen["cr-1"].shares == (Decimal("0.5"),)
    assert seen["cr-2"].not_read == "refused: UnauthorizedOperation"
