"""One life of the bot: the real house on a real file and real HTTP, worked by one thread.

The steps that production spreads over threads are called in turn, so that every life of the same
journey passes the same points in the same order until it is killed.
"""

import json
import os
import socket
import sys
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import structlog
from typing_extensions import override

from bot.ports import Clock
from bot.settings import read_configuration
from bot.wiring import House, Slack, build
from handlers import register
from handlers.receiving import dispatch
from storage import open_store
from tests.fakes.bell import FakeBell
from tests.system.kills.points import Points

NO_TIME = 0.0
"""The wall clock of a life, so that no delivery is late on a slow machine."""
MOST_ROUNDS = 500
"""A life that is not done after so many rounds will never be."""


class ToldClock(Clock):
    """The world's clock as it was last told: it stands still between two orders."""

    def __init__(self, now: str) -> None:
        self.tell(now)

    def tell(self, now: str) -> None:
        self._now = datetime.fromisoformat(now)

    @override
    def now(self) -> datetime:
        return self._now


@dataclass(frozen=True)
class Orders:
    """What the zygote is told about a life."""

    address: tuple[str, int]
    environment: dict[str, str]
    config: str
    database: str
    log: str
    clock: str
    fatal: str | None

    @classmethod
    def read(cls, line: str) -> "Orders":
        given = json.loads(line)
        return cls(**given | {"address": tuple(given["address"])})


def live(orders: Orders, catalog: Any) -> None:
    """Live until told to end; ends by SIGKILL when the fatal point is passed."""
    os.environ.update(orders.environment)
    with Path(orders.log).open("a", buffering=1) as log:
        structlog.configure(
            processors=[
                structlog.processors.add_log_level,
                structlog.processors.format_exc_info,
                structlog.processors.KeyValueRenderer(),
            ],
            logger_factory=structlog.PrintLoggerFactory(log),
        )
        sys.stderr = log
        with socket.create_connection(orders.address) as line, line.makefile("rw") as stream:
            points = Points(orders.fatal)
            points.install()
            clock = ToldClock(orders.clock)
            house = build(
                configuration=read_configuration(Path(orders.config)),
                store=open_store(orders.database),
                clock=clock,
                bell=FakeBell(),
                slack=slack_of(orders.environment),
                catalog=catalog,
                log=structlog.get_logger(),
            )
            serve(stream, house, clock, points, orders)


def slack_of(environment: dict[str, str]) -> Slack:
    return Slack(
        token=environment["SLACK_BOT_TOKEN"],
        base_url=environment["SLACK_API_URL"],
        workspace=environment["SLACK_WORKSPACE"],
    )


def serve(stream: Any, house: House, clock: ToldClock, points: Points, orders: Orders) -> None:
    slack = slack_of(orders.environment)
    app = register(
        house.desk,
        house.answering,
        bot_token=slack.token,
        workspace=slack.workspace,
        base_url=slack.base_url,
        wall=lambda: NO_TIME,
    )
    house.digesting.ensure()
    for line in stream:
        order = json.loads(line)
        clock.tell(order["clock"])
        match order["do"]:
            case "deliver":
                response = dispatch(app, order["body"], arrived=NO_TIME)
                answer = {"status": response.status, "body": response.body}
            case "work":
                answer = {"next": work(house)}
            case _:
                return
        stream.write(json.dumps(answer | {"passed": points.passed}) + "\n")
        stream.flush()


def work(house: House) -> str | None:
    """Do all that can be done now; when something falls due next."""
    steps = (
        house.worker.step,
        partial(house.duties.step, limit=1),
        house.delivering.step,
    )
    for _ in range(MOST_ROUNDS):
        house.reconciling.sweep()
        if not any([step() for step in steps]):  # noqa: C419 - each step in each round
            break
    else:
        raise RuntimeError("the bot never comes to rest")
    with house.store.reading() as tx:
        times = [at for at in (tx.dues.next_at(), tx.outbox.next_at()) if at is not None]
    return min(times).isoformat() if times else None
