"""CloudWatch's GPU metrics, over the very protocol that this boto3 speaks to it."""

from datetime import timedelta

import pytest

WORK = {"Namespace": "CWAgent", "MetricName": "nvidia_smi_utilization_gpu"}


@pytest.fixture
def cloudwatch(sandbox):
    return sandbox.client("cloudwatch")


@pytest.fixture
def machine(sandbox):
    image = sandbox.ec2.describe_images()["Images"][0]["ImageId"]
    run = {"ImageId": image, "InstanceType": "g6.xlarge", "MinCount": 1, "MaxCount": 1}
    return sandbox.ec2.run_instances(**run)["Instances"][0]["InstanceId"]


def query(metric, name="m0"):
    return {"Id": name, "MetricStat": {"Metric": metric, "Period": 300, "Stat": "Average"}}


def values(sandbox, cloudwatch, minutes=30, **more):
    found = cloudwatch.list_metrics(**WORK, RecentlyActive="PT3H")["Metrics"]
    answer = cloudwatch.get_metric_data(
        MetricDataQueries=[query(one, f"m{n}") for n, one in enumerate(found)],
        StartTime=sandbox.time - timedelta(minutes=minutes),
        EndTime=sandbox.time,
        **more,
    )
    return [row["Values"] for row in answer["MetricDataResults"]]


def test_without_an_agent_there_is_no_metric(cloudwatch, machine):
    assert cloudwatch.list_metrics(**WORK)["Metrics"] == []


def test_each_gpu_is_a_series_of_its_machine(sandbox, cloudwatch, machine):
    sandbox.aws.event({"event": "gpu-utilisation", "instance": machine, "percent": 7})
    found = cloudwatch.list_metrics(**WORK)["Metrics"]
    named = [{one["Name"]: one["Value"] for one in row["Dimensions"]} for row in found]
    assert {one["InstanceId"] for one in named} == {machine}
    assert sorted(one["index"] for one in named) == ["0", "1"]


def test_values_are_those_of_their_time(sandbox, cloudwatch, machine):
    sandbox.aws.event({"event": "gpu-utilisation", "instance": machine, "percent": 7})
    sandbox.advance(minutes=20)
    sandbox.aws.event({"event": "gpu-utilisation", "instance": machine, "percent": "92.5"})
    sandbox.advance(minutes=10)
    assert values(sandbox, cloudwatch) == [[92.5, 92.5, 7, 7, 7, 7]] * 2
    oldest_first = values(sandbox, cloudwatch, ScanBy="TimestampAscending")
    assert oldest_first == [[7, 7, 7, 7, 92.5, 92.5]] * 2


def test_an_agent_that_stops_leaves_no_values_and_at_last_no_metric(sandbox, cloudwatch, machine):
    sandbox.aws.event({"event": "gpu-utilisation", "instance": machine, "percent": 7})
    sandbox.advance(minutes=10)
    sandbox.aws.event({"event": "gpu-utilisation", "instance": machine})
    sandbox.advance(minutes=40)
    assert values(sandbox, cloudwatch) == [[], []]
    sandbox.advance(hours=3)
    assert cloudwatch.list_metrics(**WORK, RecentlyActive="PT3H")["Metrics"] == []


@pytest.mark.parametrize(
    "asked",
    [
        {"MetricDataQueries": [query({**WORK, "Dimensions": []}, f"m{n}") for n in range(501)]},
        {"MetricDataQueries": [query({**WORK, "Dimensions": []}, "M0")]},
        {"MetricDataQueries": [query({**WORK, "Dimensions": []})] * 2},
    ],
)
def test_what_cloudwatch_refuses_is_refused(sandbox, cloudwatch, refused, asked):
    window = {"StartTime": sandbox.time - timedelta(hours=1), "EndTime": sandbox.time}
    assert refused(cloudwatch.get_metric_data, **window, **asked) == "InvalidParameterValue"


def test_an_event_must_name_a_machine_that_is_there(sandbox):
    with pytest.raises(ValueError, match="No such machine"):
        sandbox.aws.event({"event": "gpu-utilisation", "instance": "i-0", "percent": 7})


@pytest.mark.parametrize("percent", [-1, 101, "a lot", "NaN", "Infinity"])
def test_a_share_that_is_none_is_refused_in_words(sandbox, machine, percent):
    with pytest.raises(ValueError, match="from 0 to 100"):
        sandbox.aws.event({"event": "gpu-utilisation", "instance": machine, "percent": percent})
