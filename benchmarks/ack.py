"""Acknowledging signed commands, against a bare Bolt app on the same server.

`python -m benchmarks.ack` starts three servers, each in a process of its own: Bolt's WSGI
adapter whose only listener acknowledges, ours with the database on disk, and ours with a store
that keeps nothing. All three run on waitress with 16 threads and verify every signature. The
load is closed (16 connections) for the throughput, and open (Poisson arrivals at half of what
ours with the disk takes, counted from the scheduled moment) for the 99th centile. Pairs are
interleaved; each row is the median of their ratios.
"""

import asyncio
import logging
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import structlog
from slack_bolt import Ack, App
from slack_bolt.adapter.wsgi import SlackRequestHandler
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.signature import SignatureVerifier
from waitress.server import create_server

from handlers import Gateway
from handlers.receiving import Listeners, Receiver, build_app
from storage.sqlite import SqliteStore

SECRET = "a-secret-for-a-benchmark"  # noqa: S105 - guards nothing
TOKEN = "x"  # noqa: S105 - opens nothing
CONNECTIONS = 16
THREADS = 16
PAIRS = 5
SECONDS = 2.0
KINDS = ("bare", "disk", "nothing")


def rows() -> list[tuple[str, float, str]]:
    """Name, median ratio and mark of each claim."""
    with tempfile.TemporaryDirectory() as folder, _servers(Path(folder)) as ports:
        for port in ports.values():
            _closed(port, seconds=1.0)
        rates = [{kind: _closed(port) for kind, port in ports.items()} for _ in range(PAIRS)]
        half = statistics.median(rate["disk"] for rate in rates) / 2
        slow = [{kind: _p99(ports[kind], half) for kind in ("bare", "disk")} for _ in range(PAIRS)]
    disk = statistics.median(rate["disk"] / rate["bare"] for rate in rates)
    nothing = statistics.median(rate["nothing"] / rate["bare"] for rate in rates)
    late = statistics.median(pair["disk"] / pair["bare"] for pair in slow)
    return [
        ("acks a second, durable, over bare Bolt", disk, "≥ 0.5"),
        ("acks a second, not stored, over bare Bolt", nothing, "≥ 0.9"),
        ("ack p99 at half load, durable, over bare Bolt", late, "≤ 2"),
    ]


@contextmanager
def _servers(folder: Path) -> Iterator[dict[str, int]]:
    started = {}
    try:
        for kind in KINDS:
            command = [sys.executable, "-m", "benchmarks.ack", kind, str(folder / "acks.db")]
            started[kind] = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        ports = {}
        for kind, process in started.items():
            assert process.stdout is not None
            ports[kind] = int(process.stdout.readline())
        yield ports
    finally:
        for process in started.values():
            process.kill()
            process.wait()


def _closed(port: int, *, seconds: float = SECONDS) -> float:
    """Requests a second with every connection asking again at once."""
    return asyncio.run(_closed_loop(port, seconds))


async def _closed_loop(port: int, seconds: float) -> float:
    bodies = _requests()
    until = time.perf_counter() + seconds

    async def ask() -> int:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        done = 0
        while time.perf_counter() < until:
            await _exchange(reader, writer, next(bodies))
            done += 1
        writer.close()
        return done

    begun = time.perf_counter()
    counts = await asyncio.gather(*(ask() for _ in range(CONNECTIONS)))
    return sum(counts) / (time.perf_counter() - begun)


def _p99(port: int, rate: float) -> float:
    """Seconds within which 99 of 100 are answered, arriving at random `rate` times a second."""
    return asyncio.run(_open_loop(port, rate))


async def _open_loop(port: int, rate: float) -> float:
    bodies = _requests()
    free: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Queue()
    for _ in range(CONNECTIONS):
        free.put_nowait(await asyncio.open_connection("127.0.0.1", port))
    took: list[float] = []

    async def ask(body: bytes, due: float) -> None:
        connection = await free.get()
        await _exchange(*connection, body)
        free.put_nowait(connection)
        took.append(time.perf_counter() - due)

    gaps = random.Random(1)  # noqa: S311 - arrivals, not secrets
    due = time.perf_counter()
    until = due + SECONDS * 2
    asking = []
    while due < until:
        due += gaps.expovariate(rate)
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        asking.append(asyncio.create_task(ask(next(bodies), due)))
    await asyncio.gather(*asking)
    while not free.empty():
        free.get_nowait()[1].close()
    return statistics.quantiles(took, n=100)[98]


async def _exchange(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, body: bytes
) -> None:
    writer.write(body)
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200"), head
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            await reader.readexactly(int(line.split(b":")[1]))


def _requests() -> Iterator[bytes]:
    """Signed commands without end, each with a trigger of its own."""
    verifier = SignatureVerifier(SECRET)
    stamp = str(int(time.time()))
    run = random.Random().getrandbits(48)  # noqa: S311 - tells runs apart
    number = 0
    while True:
        number += 1
        body = urlencode(
            {
                "token": "gIkuvaNzQIHg97ATvDxqgjtO",
                "team_id": "T0GPU",
                "team_domain": "example",
                "channel_id": "C0GPU",
                "channel_name": "gpu",
                "user_id": "U0ANA",
                "user_name": "ana",
                "command": "/gpu",
                "text": "reserve 16xH100 for 3 days from Monday under $15k",
                "api_app_id": "A0GPU",
                "is_enterprise_install": "false",
                "response_url": "https://hooks.slack.example/commands/T0GPU/1/abcdefghijkl",
                "trigger_id": f"{run}.{number}.0f1e2d3c4b5a69788796a5b4c3d2e1f0",
            }
        )
        signature = verifier.generate_signature(timestamp=stamp, body=body)
        yield (
            "POST /slack/events HTTP/1.1\r\nHost: localhost\r\n"
            "Content-Type: application/x-www-form-urlencoded\r\n"
            f"X-Slack-Request-Timestamp: {stamp}\r\nX-Slack-Signature: {signature}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n{body}"
        ).encode()


def serve(kind: str, database: str) -> None:
    """Serve one of the three until killed; print the port first."""
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    application = _bare() if kind == "bare" else _ours(kind, database)
    server = create_server(application, host="127.0.0.1", port=0, threads=THREADS)
    print(server.effective_port, flush=True)
    server.run()


def _bare() -> SlackRequestHandler:
    def authorize() -> AuthorizeResult:
        return AuthorizeResult(
            enterprise_id=None, team_id="T0GPU", bot_token=TOKEN, bot_id="B", bot_user_id="U"
        )

    app = App(signing_secret=SECRET, authorize=authorize)

    @app.command("/gpu")
    def gpu(ack: Ack) -> None:
        ack()

    return SlackRequestHandler(app)


class _Nothing:
    """A store that keeps nothing, to see what the rest costs."""

    def record(self, *_: object, **__: object) -> bool:
        return True


class _Silence:
    def ring(self) -> None:
        return


class _Now:
    def now(self) -> datetime:
        return datetime.now(UTC)


def _ours(kind: str, database: str) -> Gateway:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    store: Any = _Nothing() if kind == "nothing" else SqliteStore(Path(database), holder="bench")
    receiver = Receiver(store=store, clock=_Now(), bell=_Silence())
    listeners = Listeners(receiver=receiver, parse=_no_parse, sorry=lambda _: None)
    return Gateway(
        app=build_app(listeners, bot_token=TOKEN, workspace="T0GPU"),
        signing_secret=SECRET,
        workspace="T0GPU",
        app_id="A0GPU",
        health=lambda: (True, {}),
    )


def _no_parse(*_: object, **__: object) -> Any:
    raise AssertionError("a command is not parsed before it is acknowledged")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        serve(*sys.argv[1:])
    else:
        for name, measured, mark in rows():
            print(f"{name}: {measured:.2f} (mark {mark})")
