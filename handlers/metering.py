"""What /metrics shows of the records, in Prometheus's text format.

Counted from the database at each scrape, so that a restart loses nothing.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector
from typing_extensions import override

from bot.domain.figures import Figures
from bot.domain.lifecycle import LIVE_RESERVATIONS, PurchaseState

Family = CounterMetricFamily | GaugeMetricFamily


def exposition(figures: Figures, *, now: datetime) -> bytes:
    """Return the figures as Prometheus reads them; every state is there, with 0 if need be."""
    registry = CollectorRegistry()
    registry.register(_Once(figures, now))
    return generate_latest(registry)


class _Once(Collector):
    def __init__(self, figures: Figures, now: datetime) -> None:
        self._figures = figures
        self._now = now

    @override
    def collect(self) -> Iterator[Family]:
        figures = self._figures
        live = {str(state): figures.reservations.get(state, 0) for state in LIVE_RESERVATIONS}
        yield _gauge("reservations", "Live reservations by state", "state", live)
        proposed = CounterMetricFamily("gpubot_proposals", "Options put before approvers")
        proposed.add_metric([], sum(figures.proposals.values()))
        yield proposed
        verdicts = CounterMetricFamily(
            "gpubot_verdicts", "What approvers answered", labels=["verdict"]
        )
        for verdict in ("approve", "deny"):
            verdicts.add_metric([verdict], figures.verdicts.get(verdict, 0))
        yield verdicts
        bought = {str(state): figures.purchases.get(state, 0) for state in PurchaseState}
        yield _gauge("purchases", "Purchases of the ledger by their present state", "state", bought)
        yield _gauge("held_dollars", "Money held by team", "team", figures.held)
        yield _gauge(
            "committed_dollars",
            "Money committed of what was held in this month (UTC) by team",
            "team",
            figures.committed,
        )
        queues = {"inbox": figures.inbox, "outbox": figures.outbox, "due": figures.due}
        yield _gauge(
            "backlog_rows",
            "Rows of a queue that could be worked on now",
            "queue",
            {name: queue.count for name, queue in queues.items()},
        )
        yield _gauge(
            "backlog_oldest_seconds",
            "For how long the oldest of them could have been",
            "queue",
            {
                name: 0 if queue.oldest is None else (self._now - queue.oldest).total_seconds()
                for name, queue in queues.items()
            },
        )


def _gauge(
    name: str, what: str, label: str, values: Mapping[str, int | float | Decimal]
) -> GaugeMetricFamily:
    family = GaugeMetricFamily(f"gpubot_{name}", what, labels=[label])
    for value in sorted(values):
        family.add_metric([value], float(values[value]))
    return family
