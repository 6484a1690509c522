"""Approvals of distinct requests through to the recorded purchase, against bare calls.

`python -m benchmarks.clicks` starts the simulated AWS and a chat.update endpoint in a process of
their own, without added latency or throttles. Ours: approve, ask AWS for the present price,
commit "submitted", buy, commit the outcome, all on a database on disk, while the outbox is sent
to the same endpoint. Bare: one search, one purchase, one chat.update, by boto3 and urllib. Both
from as many threads; pairs are interleaved and the row is the median of their ratios.
"""

import logging
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.request import Request as HttpRequest
from urllib.request import urlopen

import boto3

from bot.aws import AwsBuyer, AwsMarket, Clients
from bot.catalog import packaged
from bot.domain.lifecycle import PurchaseState, ReservationState
from bot.domain.market import Kind
from bot.domain.records import DecisionRecord, MessageRef, Person, Reservation, Switch
from bot.domain.request import Request
from bot.engine import decide
from bot.main import SWITCH_INTERVAL_SECONDS
from bot.policy.configuration import Account, ApprovalRules, Channels, Configuration, Tier
from bot.services.approvals.approving import Approving
from bot.services.approvals.proposing import Proposing
from bot.services.approvals.waiting import Waiting
from bot.services.commitments.closing import Closing
from bot.services.purchases.lending import Lending
from bot.services.purchases.purchasing import Purchasing
from bot.services.purchases.reconciling import Reconciling
from bot.services.purchases.settling import Settling
from bot.services.verifying import Verifying
from bot.services.words.delivering import Delivering
from bot.services.words.pleading import Pleading
from bot.services.words.telling import Telling
from storage import open_store

NOW = datetime(2027, 3, 10, 15, 0, tzinfo=UTC)
REGION = "us-east-1"
THREADS = 4
REQUESTS = 40
PAIRS = 5
WANTED = Request(instance_type="p5.48xlarge", instance_count=1, duration_hours=Decimal(24))


class _Clock:
    def now(self) -> datetime:
        return NOW


class _Bell:
    def ring(self) -> None:
        return


class _People:
    def person(self, user_id: str, *, max_age: timedelta) -> Person:
        del max_age
        return Person(
            id=user_id, zone="UTC", locale="en-US", active=True, external=False, read_at=NOW
        )

    def members(self, group_id: str, *, max_age: timedelta) -> frozenset[str]:
        del group_id, max_age
        return frozenset()


class _Following:
    def began(self, *_: Any, **__: Any) -> None:
        return


@dataclass
class _Messenger:
    """Sends every message as one request to the endpoint."""

    url: str

    def post(self, key: str, *_: object, **__: object) -> MessageRef:
        _update(self.url)
        return MessageRef(channel="C0GPU", ts=key)

    def find(self, *_: object, **__: object) -> None:
        return None

    def update(self, *_: object) -> None:
        _update(self.url)

    def whisper(self, *_: object) -> None:
        _update(self.url)


def rows() -> list[tuple[str, float, str]]:
    """Name, median ratio and mark."""
    sys.setswitchinterval(SWITCH_INTERVAL_SECONDS)  # as the bot starts; for both
    with ExitStack() as stack:
        aws, slack = _servers(stack)
        os.environ.update(
            AWS_ENDPOINT_URL=aws,
            AWS_ACCESS_KEY_ID="A" * 20,
            AWS_SECRET_ACCESS_KEY="s",  # noqa: S106 - opens nothing
            AWS_EC2_METADATA_DISABLED="true",
        )
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        bare = _bare(slack)
        ratios = []
        for number in range(-1, PAIRS):
            approve = _ours(f"sqlite:///{folder}/{number}.db", slack, stack)
            rate = _rate(approve)
            beside = _rate(bare)
            if number >= 0:  # the first pair warms connections and code
                ratios.append(rate / beside)
    return [("approvals to recorded purchases, over bare", statistics.median(ratios), "≥ 0.5")]


def _rate(act: Callable[[int], object]) -> float:
    with ThreadPoolExecutor(THREADS) as pool:
        begin = time.perf_counter()
        list(pool.map(act, range(1, REQUESTS + 1)))
        return REQUESTS / (time.perf_counter() - begin)


def _bare(slack: str) -> Callable[[int], object]:
    """Return a search for a known window, as narrow as ours, a purchase, and one message."""
    ec2 = boto3.Session().client("ec2", region_name=REGION)
    kind = {"InstanceType": "p5.48xlarge", "InstanceCount": 1, "CapacityDurationHours": 24}
    offer = ec2.describe_capacity_block_offerings(**kind)["CapacityBlockOfferings"][0]
    window = {
        "StartDateRange": offer["StartDate"],
        "EndDateRange": offer["EndDate"] + timedelta(minutes=1),
    }

    def act(_: int) -> None:
        offers = ec2.describe_capacity_block_offerings(
            **kind, **window, AllAvailabilityZones=True, MaxResults=100
        )["CapacityBlockOfferings"]
        ec2.purchase_capacity_block(
            CapacityBlockOfferingId=offers[0]["CapacityBlockOfferingId"],
            InstancePlatform="Linux/UNIX",
        )
        _update(slack)

    return act


def _ours(url: str, slack: str, stack: ExitStack) -> Callable[[int], object]:
    """Return what approves the request of that number and has it bought; all are proposed."""
    configuration = Configuration(
        accounts=(Account(name="research", account_id="123456789012", regions=(REGION,)),),
        kinds=(Kind.CAPACITY_BLOCK,),
        purchasing=Switch.ON,
        channels=Channels(requests="C0GPU", approvals="C0APPROVE", digest="C0GPU"),
        administrators=("U0ADMIN",),
        approval=ApprovalRules(tiers=(Tier(up_to_usd=Decimal(100000), approvers=("U0APP",)),)),
    )
    store = open_store(url)
    stack.callback(store.close)
    clock, bell = _Clock(), _Bell()
    clients = Clients(configuration.accounts)
    market = AwsMarket(
        configuration.accounts,
        clock=clock,
        catalog=packaged(),
        refusals=dict,
        clients=clients,
        kinds=configuration.kinds,
        seconds=lambda: time.monotonic() * 1e6,  # our own throttle would wait for AWS's
    )
    buyer = AwsBuyer(configuration.accounts, clock=clock, clients=clients)
    telling = Telling(configuration=configuration)
    closing, pleading = Closing(telling=telling), Pleading(configuration=configuration)
    verifying = Verifying(people=_People())
    ruled: Any = {
        "store": store,
        "clock": clock,
        "bell": bell,
        "configuration": configuration,
    }
    said: Any = {"telling": telling, "closing": closing}
    settling = Settling(
        **said, pleading=pleading, following=_Following(), configuration=configuration
    )
    proposing = Proposing(**ruled, **said, buyer=buyer)
    reconciling = Reconciling(**ruled, buyer=buyer, settling=settling)
    approving = Approving(
        **ruled,
        **said,
        verifying=verifying,
        pleading=pleading,
        proposing=proposing,
        waiting=Waiting(**ruled, **said, pleading=pleading, verifying=verifying),
    )
    purchasing = Purchasing(
        **ruled,
        market=market,
        buyer=buyer,
        settling=settling,
        lending=Lending(store=store, clock=clock, bell=bell, market=market, settling=settling),
        reconciling=reconciling,
    )
    _file(store, market, configuration)
    proposals = {
        number: proposing.propose(number, by="U0ANA").id for number in range(1, REQUESTS + 1)
    }
    stopping = threading.Event()
    # What was said while they were proposed leaves before the measurement begins.
    delivering = Delivering(
        store=store, clock=clock, messenger=_Messenger(slack), log=logging.getLogger("clicks")
    )
    while delivering.step():
        pass
    sending = threading.Thread(target=partial(_send, delivering, stopping), daemon=True)
    sending.start()
    stack.callback(sending.join)
    stack.callback(stopping.set)

    def act(number: int) -> None:
        approving.approve(proposals[number], by="U0APP")
        outcome = purchasing.buy(number)
        with store.reading() as tx:
            states = [row.state for row in tx.purchases.of(number)]
        assert states == [PurchaseState.CONFIRMED], (outcome, states)

    return act


def _send(delivering: Delivering, stopping: threading.Event) -> None:
    while not stopping.is_set():
        if not delivering.step():
            stopping.wait(0.02)


def _file(store: Any, market: AwsMarket, configuration: Configuration) -> None:
    """Store the requests, each with a decision on the same market."""
    seen = market.read(WANTED)
    decision = decide(
        WANTED, seen, configuration.rules, now=NOW, zone="UTC", catalog=packaged(), requester=None
    )
    with store.transaction() as tx:
        for _ in range(REQUESTS):
            reservation = tx.reservations.add(
                Reservation(
                    state=ReservationState.REQUESTED,
                    workspace="T0",
                    requester="U0ANA",
                    owner="U0ANA",
                    team=None,
                    channel="C0GPU",
                    request=WANTED,
                    line="reserve 1 p5.48xlarge for 24h",
                    zone="UTC",
                    locale="en-US",
                    created_at=NOW,
                    updated_at=NOW,
                )
            )
            tx.decisions.add(
                DecisionRecord(
                    reservation_id=reservation.id,
                    version=1,
                    decided_at=NOW,
                    zone="UTC",
                    request=WANTED,
                    rules=configuration.rules,
                    market=seen,
                    decision=decision,
                )
            )
            tx.reservations.save(reservation.model_copy(update={"state": ReservationState.QUOTED}))


def _update(url: str) -> None:
    with urlopen(HttpRequest(url, data=b"{}", method="POST"), timeout=10) as answer:  # noqa: S310 - our own loopback
        answer.read()


# --- the other process --------------------------------------------------------------------------


def _servers(stack: ExitStack) -> tuple[str, str]:
    process = stack.enter_context(
        subprocess.Popen(
            [sys.executable, "-m", "benchmarks.clicks", "serve"],
            stdout=subprocess.PIPE,
            stdin=subprocess.PIPE,
            text=True,
        )
    )
    stack.callback(process.kill)
    assert process.stdout is not None
    aws, slack = process.stdout.readline().split()
    return aws, slack


class _Slack(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b'{"ok":true,"ts":"1.1"}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        return


def serve() -> None:
    """Serve the simulated AWS and chat.update until the parent goes away."""
    from sandbox.aws import SimulatedAws, Supply, buckets  # noqa: PLC0415 - only in that process

    buckets.RATES.clear()
    buckets.READS = buckets.CHANGES = (10**9, 1.0)  # type: ignore[misc]  # no throttles here
    supply = Supply.from_dict(
        {
            "offering_sells_once": False,
            "visibility_seconds": 0,
            "quotas": [{"quota": "L-DA6814F2", "value": 1e9}],
            "blocks": [
                {
                    "region": REGION,
                    "instance_type": "p5.48xlarge",
                    "zone": f"{REGION}a",
                    "instance_count": 10_000,
                }
            ],
        }
    )
    aws = SimulatedAws(now=lambda: NOW, seed=7, supply=supply)
    slack = ThreadingHTTPServer(("127.0.0.1", 0), _Slack)
    threading.Thread(target=slack.serve_forever, daemon=True).start()
    sys.stdout.write(f"{aws.start()} http://127.0.0.1:{slack.server_port}/chat.update\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        serve()
    else:
        for name, ratio, mark in rows():
            print(f"{name}: {ratio:.2f} ({mark})")
