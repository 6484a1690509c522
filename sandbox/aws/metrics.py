"""CloudWatch: what an agent on each machine publishes about its GPUs, once a script says so.

Names: "Collect NVIDIA GPU metrics" in the CloudWatch User Guide: namespace CWAgent, metric
nvidia_smi_utilization_gpu, one series for each GPU.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from sandbox.aws.errors import AwsError
from sandbox.aws.paging import page, with_token
from sandbox.aws.records import Instance
from sandbox.aws.world import Call, World

NAMESPACE = "CWAgent"
METRIC = "nvidia_smi_utilization_gpu"
GPUS = 2
"""Series of one machine; real ones have a series for each of their GPUs."""
MOST_QUERIES = 500
RECENT = timedelta(hours=3)
RETENTION = timedelta(days=63)
"""How long five-minute values are kept."""
MOST_POINTS = 100_800
ID = re.compile(r"[a-z][a-zA-Z0-9_]*")
INVALID = "InvalidParameterValue"


@dataclass(frozen=True, slots=True)
class Series:
    """One GPU's values."""

    machine: Instance
    index: int

    @property
    def dimensions(self) -> dict[str, str]:
        """By name, as the agent sends them with `append_dimensions` of the instance."""
        return {
            "InstanceId": self.machine.id,
            "InstanceType": self.machine.instance_type,
            "ImageId": self.machine.image_id,
            "arch": "Hopper",
            "host": f"ip-{self.machine.id[2:10]}",
            "index": str(self.index),
            "name": "NVIDIA-H100-80GB-HBM3",
        }

    @property
    def metric(self) -> dict[str, Any]:
        """The series as CloudWatch names it."""
        pairs = [{"Name": name, "Value": value} for name, value in self.dimensions.items()]
        return {"Namespace": NAMESPACE, "MetricName": METRIC, "Dimensions": pairs}


def publish(world: World, machine: Instance, percent: Decimal | None) -> None:
    """Has a machine's agent report this from now on; None: it reports nothing any more."""
    machine.gpu_percent.append((world.now(), percent))


def _series(world: World, call: Call) -> Iterator[Series]:
    for machine in world.place(call.account, call.region).instances.values():
        if machine.gpu_percent:
            yield from (Series(machine, index) for index in range(GPUS))


def list_metrics(world: World, call: Call) -> dict[str, Any]:
    """ListMetrics: the series that pass the asked names and dimensions, 500 a page."""
    params = call.params
    since = world.now() - (RECENT if params.get("RecentlyActive") == "PT3H" else RETENTION)
    rows = [
        one.metric
        for one in _series(world, call)
        if params.get("Namespace") in {None, NAMESPACE}
        and params.get("MetricName") in {None, METRIC}
        and all(_passes(one, wanted) for wanted in params.get("Dimensions") or ())
        and _reported_since(world, one.machine, since)
    ]
    found, token = page(rows, {"NextToken": params.get("NextToken")}, default=500)
    return with_token({"Metrics": found}, token)


def _passes(one: Series, wanted: dict[str, str]) -> bool:
    value = one.dimensions.get(wanted["Name"])
    return value is not None and wanted.get("Value") in {None, value}


def _reported_since(world: World, machine: Instance, since: datetime) -> bool:
    spans = zip(machine.gpu_percent, [*machine.gpu_percent[1:], (world.now(), None)], strict=True)
    return any(value is not None and until >= since for (_, value), (until, _) in spans)


def get_data(world: World, call: Call) -> dict[str, Any]:
    """GetMetricData: averages of each asked series, newest first unless asked otherwise.

    Raises:
        AwsError: a parameter is not valid, or is one that is not simulated.
    """
    params = call.params
    queries = params["MetricDataQueries"]
    start, end = params["StartTime"], params["EndTime"]
    names = [query.get("Id", "") for query in queries]
    if len(queries) > MOST_QUERIES:
        raise AwsError(INVALID, f"At most {MOST_QUERIES} queries can be made at once.")
    if len(set(names)) < len(names) or not all(map(ID.fullmatch, names)):
        raise AwsError(INVALID, "Each Id must be its own and begin with a lower-case letter.")
    if start >= end:
        raise AwsError(INVALID, "StartTime must be before EndTime.")
    known = {_key(one.metric): one for one in _series(world, call)}
    down = params.get("ScanBy", "TimestampDescending") == "TimestampDescending"
    rows = [_result(world, query, known, (start, end), down=down) for query in queries]
    found, token = page(rows, {"NextToken": params.get("NextToken")}, default=_fitting(rows))
    return with_token({"MetricDataResults": found, "Messages": []}, token)


def _fitting(rows: list[dict[str, Any]]) -> int:
    longest = max((len(row["Values"]) for row in rows), default=0)
    return max(1, min(MOST_QUERIES, MOST_POINTS // max(longest, 1)))


def _key(metric: dict[str, Any]) -> tuple[str, str, frozenset[tuple[str, str]]]:
    pairs = frozenset((one["Name"], one["Value"]) for one in metric.get("Dimensions", ()))
    return metric["Namespace"], metric["MetricName"], pairs


def _result(
    world: World,
    query: dict[str, Any],
    known: dict[Any, Series],
    window: tuple[datetime, datetime],
    *,
    down: bool,
) -> dict[str, Any]:
    stat = query.get("MetricStat")
    if stat is None or stat["Stat"] != "Average":
        raise AwsError(INVALID, "Only averages of single metrics are simulated.")
    if stat["Period"] % 60:
        raise AwsError(INVALID, "Period must be a multiple of 60.")
    series = known.get(_key(stat["Metric"]))
    period = timedelta(seconds=stat["Period"])
    points = [] if series is None else list(_points(world, series.machine, period, *window))
    if down:
        points.reverse()
    return {
        "Id": query["Id"],
        "Label": query.get("Label", METRIC),
        "Timestamps": [at for at, _ in points],
        "Values": [float(value) for _, value in points],
        "StatusCode": "Complete",
    }


def _points(
    world: World, machine: Instance, period: timedelta, start: datetime, end: datetime
) -> Iterator[tuple[datetime, Decimal]]:
    """What the machine reported at the beginning of each period while it ran."""
    seconds = int(period.total_seconds())
    at = datetime.fromtimestamp(start.timestamp() // seconds * seconds, tz=start.tzinfo)
    while at < min(end, world.now()):
        said = [value for since, value in machine.gpu_percent if since <= at]
        alive = machine.launched <= at and (machine.ended is None or at < machine.ended)
        if alive and at >= start and said and said[-1] is not None:
            yield at, said[-1]
        at += period
