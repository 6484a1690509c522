"""A cold search of 14 Regions for 4 types at 150 ms a call, against what the network allows.

`python -m benchmarks.sweep` starts a canned server that answers after 150 ms and keeps AWS's own
token bucket for each Region (10, then 0.15 a second). The bound is one call in flight per Region:
the most calls that any Region got (zones, books and quotas too) times 150 ms. Calls that don't
share a bucket are asked together, so that the ratio can fall below 1. A full sweep asks each type
at every length on sale. Two more rows read every kind that is paid on EC2, prices and spot too,
against the time that a person may be kept waiting: 20 s cold, 5 s again while it is warm.
"""

import json
import os
import socketserver
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs

from bot.aws import AwsMarket
from bot.catalog import Catalog, packaged
from bot.domain.market import Kind, Market
from bot.domain.request import Request
from bot.domain.rules import Rules
from bot.policy.configuration import Account

CALL_SECONDS = 0.15
COLD_SECONDS = 20
WARM_SECONDS = 5
LENGTHS_ON_SALE = 14 + 24
REGIONS = (
    "us-east-1", "us-east-2", "us-west-1", "us-west-2", "eu-north-1", "eu-west-2", "eu-south-2",
    "ap-northeast-1", "ap-northeast-2", "ap-south-1", "ap-southeast-2", "ap-southeast-3",
    "ap-southeast-4", "sa-east-1",
)  # fmt: skip
TYPES = ("p5.48xlarge", "p5e.48xlarge", "p5en.48xlarge", "p4d.24xlarge")
NOW = datetime(2027, 3, 10, 15, tzinfo=UTC)
BEST = NOW.replace(day=11, hour=11, minute=30)
PAIRS = 3
NOTHING_JSON = json.dumps(
    {
        "PriceList": [],
        "Quota": {"Value": 10000.0},
        "Quotas": [],
        "TrainingPlanOfferings": [],
        "TrainingPlanSummaries": [],
    }
)
"""Empty lists, which each operation picks its own from: an answer without a word is unread."""
NOTHING_XML = "".join(
    f"<{name}/>"
    for name in (
        "availabilityZoneInfo", "capacityBlockSet", "capacityReservationSet",
        "instanceTypeOfferingSet", "reservationSet", "spotPlacementScoreSet",
        "spotPriceHistorySet",
    )
)  # fmt: skip


def rows() -> list[tuple[str, float, str]]:
    """Name, median ratio and mark of each claim."""
    runs = [_run() for _ in range(PAIRS)]
    return [
        (
            "sweep, 14 regions x 4 types, over the bound",
            statistics.median(r[0] for r in runs),
            "≤ 1.3",
        ),
        ("sweep, calls over those of a full sweep", max(r[1] for r in runs), "≤ 0.4"),
        *_waits(),
    ]


def _waits() -> list[tuple[str, float, str]]:
    """How long every kind takes to read cold and warm, over what is allowed."""
    with _server() as (url, _, _):
        market = _market(url, Rules().kinds)
        cold, seen = _read(market)
        warm, _ = _read(market)
    assert not seen.not_read, f"a market was not read: {seen.not_read[0]}"
    return [
        ("reading every kind cold, over its 20 s", cold / COLD_SECONDS, "≤ 1"),
        ("reading every kind again, over its 5 s", warm / WARM_SECONDS, "≤ 1"),
    ]


def _market(url: str, kinds: tuple[Kind, ...]) -> AwsMarket:
    os.environ.update(
        AWS_ENDPOINT_URL=url,
        AWS_ACCESS_KEY_ID="bench",
        AWS_SECRET_ACCESS_KEY="bench",  # noqa: S106 - opens nothing
    )
    account = Account(name="research", account_id="111122223333", regions=REGIONS)
    market = AwsMarket(
        (account,), clock=_Still(), catalog=_four_types(), refusals=dict, kinds=kinds
    )
    market.warm()
    return market


def _read(market: AwsMarket) -> tuple[float, Market]:
    request = Request(accelerator="bench", accelerator_count=16, duration_hours=Decimal(72))
    begun = time.perf_counter()
    seen = market.read(request)
    return time.perf_counter() - begun, seen


def _run() -> tuple[float, float]:
    with _server() as (url, calls, every):
        took, seen = _read(_market(url, (Kind.CAPACITY_BLOCK,)))
    offered = {(o.region, o.instance_type) for o in seen.offerings if o.segments[0].start == BEST}
    assert len(offered) == len(REGIONS) * len(TYPES), "a best answer is missing"
    searches = sum(calls.values())
    bound = max(every.values()) * CALL_SECONDS
    return took / bound, searches / (len(REGIONS) * len(TYPES) * LENGTHS_ON_SALE)


class _Still:
    def now(self) -> datetime:
        return NOW


def _four_types() -> Catalog:
    """The catalog, with one word for the four types so that one request means them all."""
    whole = packaged()
    types = {name: replace(whole.types[name], accelerator="bench") for name in TYPES}
    return Catalog(types=types, regions=whole.regions)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    every: dict[str, int]
    calls: dict[str, int]
    buckets: dict[str, tuple[float, float]]

    def do_POST(self) -> None:
        text = self.rfile.read(int(self.headers["Content-Length"])).decode()
        region = self.headers["Authorization"].split("/")[2]
        time.sleep(CALL_SECONDS)
        self.every[region] = self.every.get(region, 0) + 1
        if "X-Amz-Target" in self.headers:
            return self._answer(200, NOTHING_JSON)
        body = parse_qs(text)
        action = body["Action"][0]
        if action != "DescribeCapacityBlockOfferings":
            return self._answer(200, f"<{action}Response>{NOTHING_XML}</{action}Response>")
        self.calls[region] = self.calls.get(region, 0) + 1
        tokens, at = self.buckets.get(region, (10.0, time.monotonic()))
        now = time.monotonic()
        tokens = min(10.0, tokens + (now - at) * 0.15) - 1
        self.buckets[region] = (max(tokens, 0.0), now)
        if tokens < 0:
            code = "CapacityBlockDescribeLimitExceeded"
            return self._answer(
                400, f"<Response><Errors><Error><Code>{code}</Code></Error></Errors></Response>"
            )
        return self._answer(200, self._offers(region, body))

    def _offers(self, region: str, body: dict[str, list[str]]) -> str:
        hours, kind = int(body["CapacityDurationHours"][0]), body["InstanceType"][0]
        items = "".join(
            f"<item><capacityBlockOfferingId>cb-{region}-{kind}-{day}</capacityBlockOfferingId>"
            f"<instanceType>{kind}</instanceType><availabilityZone>{region}a</availabilityZone>"
            f"<instanceCount>{body['InstanceCount'][0]}</instanceCount>"
            f"<startDate>{(BEST + timedelta(days=day)).isoformat()}</startDate>"
            f"<endDate>{(BEST + timedelta(days=day, hours=hours)).isoformat()}</endDate>"
            f"<upfrontFee>{6000 + day}.00</upfrontFee><currencyCode>USD</currencyCode></item>"
            for day in range(5)
        )
        return (
            "<DescribeCapacityBlockOfferingsResponse><capacityBlockOfferingSet>"
            f"{items}</capacityBlockOfferingSet></DescribeCapacityBlockOfferingsResponse>"
        )

    def _answer(self, status: int, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - its own name
        """Say nothing."""


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64


@contextmanager
def _server() -> Iterator[tuple[str, dict[str, int], dict[str, int]]]:
    calls: dict[str, int] = {}
    every: dict[str, int] = {}
    handler = type("Handler", (_Handler,), {"calls": calls, "every": every, "buckets": {}})
    with _Server(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}", calls, every
        server.shutdown()
        thread.join()


if __name__ == "__main__":
    for name, ratio, mark in rows():
        print(f"{name:44} {ratio:8.2f}  {mark}")
