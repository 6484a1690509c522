"""How busy GPUs are, from what the CloudWatch agent publishes about its machine.

CloudWatch User Guide, "Collect NVIDIA GPU metrics": namespace CWAgent, one series for each GPU;
which dimensions it has is the agent's configuration, but a machine is always named by InstanceId
where one is appended. So the series are listed first, and only those of our machines are read.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any, Final

from pydantic import BeforeValidator

from bot.aws import wire
from bot.aws.calls import pages, understood
from bot.aws.clients import Clients
from bot.aws.receipts import EXTENSION_MARK, word
from bot.domain.errors import MarketError
from bot.domain.market import Kind
from bot.domain.records import Receipt
from bot.domain.using import GpuUse
from bot.policy.configuration import Account
from bot.ports import Clock

NAMESPACE: Final = "CWAgent"
METRIC: Final = "nvidia_smi_utilization_gpu"
PERIOD: Final = timedelta(minutes=5)
MISSABLE: Final = 2
"""So many values of a window may be missing: the newest ones arrive late."""

_QUERIES: Final = 500
"""The most that one GetMetricData takes (CloudWatch API Reference)."""
_BATCH: Final = 100
_SEEN_IN: Final = {
    Kind.CAPACITY_BLOCK: "capacity-reservation-id",
    Kind.ODCR: "capacity-reservation-id",
    Kind.ON_DEMAND: "reservation-id",
    Kind.SPOT: "reservation-id",
}
"""The filter that finds a receipt's machines; those of a training plan are SageMaker's own."""
_NEXT_ID: Final = "m"

Percent = Annotated[Decimal, BeforeValidator(str)]


class Dimension(wire.Row):
    """`Dimensions[]`."""

    name: str | None = None
    value: str | None = None


class Metric(wire.Row):
    """`Metrics[]`: one series."""

    dimensions: tuple[Dimension, ...] = ()

    @property
    def named(self) -> dict[str, str]:
        """Return its dimensions by name."""
        return {one.name: one.value for one in self.dimensions if one.name and one.value}


class Metrics(wire.Row):
    """Answer of ListMetrics."""

    metrics: tuple[Metric, ...] = ()


class Result(wire.Row):
    """`MetricDataResults[]`; a series may go on over several pages."""

    id: str | None = None
    timestamps: tuple[wire.Moment, ...] = ()
    values: tuple[Percent, ...] = ()
    status_code: str | None = None


class Results(wire.Row):
    """Answer of GetMetricData."""

    metric_data_results: tuple[Result, ...] = ()


class AwsUtilisation:
    """See bot.ports.Utilisation."""

    def __init__(
        self, accounts: tuple[Account, ...], *, clock: Clock, clients: Clients | None = None
    ) -> None:
        self._clock = clock
        self.clients = clients or Clients(accounts)

    def read(self, receipts: Sequence[Receipt], *, window: timedelta) -> Mapping[str, GpuUse]:
        """See bot.ports.Utilisation. The window ends with the last whole five minutes."""
        groups: dict[tuple[str, str], list[Receipt]] = {}
        for receipt in receipts:
            if receipt.kind in _SEEN_IN and EXTENSION_MARK not in receipt.id:
                groups.setdefault((receipt.account, receipt.region), []).append(receipt)
        until = _floor(self._clock.now())
        span = (until - max(window, PERIOD), until)
        seen: dict[str, GpuUse] = {}
        for place, members in groups.items():
            try:
                seen.update(self._uses(place, members, span))
            except MarketError as error:
                lost = GpuUse(since=span[0], until=until, not_read=f"{error.why}: {error.detail}")
                seen.update({receipt.id: lost for receipt in members})
        return seen

    def _uses(
        self, place: tuple[str, str], receipts: list[Receipt], span: tuple[datetime, datetime]
    ) -> dict[str, GpuUse]:
        machines = self._machines(place, receipts)
        wanted = frozenset(name for names in machines.values() for name in names)
        shares = self._shares(place, wanted, span) if wanted else {}
        return {
            receipt.id: GpuUse(
                since=span[0],
                until=span[1],
                machines=len(machines.get(receipt.id, ())),
                shares=tuple(
                    sorted(shares[name] for name in machines.get(receipt.id, ()) if name in shares)
                ),
            )
            for receipt in receipts
        }

    def _machines(
        self, place: tuple[str, str], receipts: list[Receipt]
    ) -> dict[str, tuple[str, ...]]:
        """Return the running machines by receipt. Raises MarketError."""
        client = self.clients.reading("ec2", *place)
        found: dict[str, list[str]] = {}
        for name in sorted(set(_SEEN_IN.values())):
            ids = [one.id for one in receipts if _SEEN_IN[one.kind] == name]
            for part in _parts(ids, _BATCH):
                filters = [{"Name": name, "Values": part}]
                for page in pages(client, "describe_instances", Filters=filters, MaxResults=1000):
                    for launch in understood(wire.Launches, page).reservations:
                        for machine in launch.instances:
                            held = machine.capacity_reservation_id
                            owner = launch.reservation_id if name == "reservation-id" else held
                            if owner and machine.instance_id and _runs(machine):
                                found.setdefault(owner, []).append(machine.instance_id)
        return {owner: tuple(names) for owner, names in found.items()}

    def _shares(
        self, place: tuple[str, str], machines: frozenset[str], span: tuple[datetime, datetime]
    ) -> dict[str, Decimal]:
        """Return by machine the average over all its GPUs, 0 to 1; only who reported throughout.

        Raises MarketError.
        """
        series = list(self._series(place, machines))
        values: dict[str, list[Decimal]] = {}
        moments: dict[str, set[datetime]] = {}
        for part in _parts(series, _QUERIES):
            for number, result in self._results(place, part, span):
                name = part[number].named["InstanceId"]
                values.setdefault(name, []).extend(result.values)
                moments.setdefault(name, set()).update(result.timestamps)
        whole = max(1, (span[1] - span[0]) // PERIOD - MISSABLE)
        return {
            name: min(max(sum(read, Decimal(0)) / len(read) / 100, Decimal(0)), Decimal(1))
            for name, read in values.items()
            if read and len(moments[name]) >= whole
        }

    def _series(self, place: tuple[str, str], machines: frozenset[str]) -> Iterator[Metric]:
        """Yield the series to read: each GPU's where a machine has such, else what there is."""
        client = self.clients.reading("cloudwatch", *place)
        found: dict[str, list[Metric]] = {}
        for page in pages(
            client,
            "list_metrics",
            Namespace=NAMESPACE,
            MetricName=METRIC,
            RecentlyActive="PT3H",
        ):
            for metric in understood(Metrics, page).metrics:
                name = metric.named.get("InstanceId")
                if name in machines and name is not None:
                    found.setdefault(name, []).append(metric)
        for listed in found.values():
            yield from [one for one in listed if "index" in one.named] or listed

    def _results(
        self, place: tuple[str, str], series: list[Metric], span: tuple[datetime, datetime]
    ) -> Iterator[tuple[int, Result]]:
        client = self.clients.reading("cloudwatch", *place)
        for page in pages(
            client,
            "get_metric_data",
            MetricDataQueries=[_query(number, one) for number, one in enumerate(series)],
            StartTime=span[0],
            EndTime=span[1],
        ):
            for result in understood(Results, page).metric_data_results:
                if result.status_code == "Forbidden":
                    raise MarketError("refused", "GetMetricData answers Forbidden")
                number = (result.id or "").removeprefix(_NEXT_ID)
                if number.isdecimal() and int(number) < len(series):
                    yield int(number), result


def _query(number: int, metric: Metric) -> dict[str, Any]:
    pairs = [{"Name": name, "Value": value} for name, value in metric.named.items()]
    return {
        "Id": f"{_NEXT_ID}{number}",
        "MetricStat": {
            "Metric": {"Namespace": NAMESPACE, "MetricName": METRIC, "Dimensions": pairs},
            "Period": PERIOD // timedelta(seconds=1),
            "Stat": "Average",
        },
    }


def _floor(moment: datetime) -> datetime:
    epoch = datetime(2000, 1, 1, tzinfo=UTC)
    return epoch + (moment - epoch) // PERIOD * PERIOD


def _runs(machine: wire.Instance) -> bool:
    return word(machine.state.name) == "running"


def _parts(items: Sequence[Any], size: int) -> Iterable[list[Any]]:
    for start in range(0, len(items), size):
        yield list(items[start : start + size])
