"""Start, serve, stop.

Order at start: settings, clock, database, Slack, services, then the loops. /healthz says ok once
deliveries are recorded and acknowledged; the services, which work on them, are loaded and wired
right after that, and AWS clients are warmed when the loops run.
"""

import gc
import signal
import sys
import threading
from functools import partial
from typing import TYPE_CHECKING

import structlog

from bot import language
from bot.catalog import packaged
from bot.clocks import SystemClock, clock_at
from bot.logs import logging_with
from bot.policy.configuration import Configuration
from bot.ports import Clock, Store
from bot.scheduling import Beat, Loop
from bot.serving import Entrance, Transport, workspace_of
from bot.settings import Environment, read_configuration, read_environment
from storage import open_store

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from bot.cloud import Aws
    from bot.domain.request import Parsed
    from bot.wiring import House

SYSTEM_BEAT_SECONDS = 5.0
"""How late a reminder may leave; a look at two indexes costs under a millisecond."""
REMOTE_BEAT_SECONDS = 0.1
"""A clock elsewhere may jump, and nothing tells us when."""
SWITCH_INTERVAL_SECONDS = 0.0005
"""Two busy threads at Python's 5 ms delay an acknowledgement by 400 ms; at 0.5 ms by 30."""
PATIENCE_SECONDS = 20.0
DUTY_THREADS = 4
WORK_THREADS = 6


def run() -> None:
    """Start the bot and serve until SIGTERM or SIGINT; what is unfinished goes on next time.

    Raises:
        SettingsError: something in the environment, the file, or around it must change.
    """
    sys.setswitchinterval(SWITCH_INTERVAL_SECONDS)
    environment = read_environment()
    configuration = read_configuration(environment.gpubot_config)
    clock = clock_at(environment.gpubot_clock)
    log = logging_with(clock)
    store = open_store(environment.gpubot_database)
    try:
        _serve(environment, configuration, clock, store, log)
    finally:
        store.close()


def _serve(
    environment: Environment,
    configuration: Configuration,
    clock: Clock,
    store: Store,
    log: structlog.typing.FilteringBoundLogger,
) -> None:
    token = environment.slack_bot_token.get_secret_value()
    workspace = workspace_of(token, environment.slack_api_url)
    beat = Beat(
        beat_seconds=SYSTEM_BEAT_SECONDS if isinstance(clock, SystemClock) else REMOTE_BEAT_SECONDS,
        log=log,
    )
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    transport = Transport(
        environment,
        Entrance(store=store, clock=clock, bell=beat, parse=_parse),
        workspace=workspace,
        log=log,
    )
    transport.open()
    try:
        house = _house(
            environment,
            configuration,
            clock=clock,
            store=store,
            beat=beat,
            workspace=workspace,
            log=log,
        )
        house.digesting.ensure()
        beat.start(_loops(house))
        log.info("ready", mode=transport.mode, port=transport.port)
        threading.Thread(target=partial(_warm, house.aws, log), name="warm", daemon=True).start()
        stopping.wait()
        log.info("stopping")
    finally:
        transport.close()
        beat.stop(patience_seconds=PATIENCE_SECONDS)


def _loops(house: "House") -> tuple[Loop, ...]:
    return (
        Loop(name="work", step=house.worker.step, threads=WORK_THREADS),
        Loop(name="say", step=house.delivering.step),
        Loop(name="duty", step=partial(house.duties.step, limit=1), threads=DUTY_THREADS),
        Loop(name="reconcile", step=house.reconciling.sweep),
        Loop(name="forget", step=house.pruning.step),
        *(Loop(name=f"hear-{at}", step=one.step) for at, one in enumerate(house.hearing)),
    )


def _house(
    environment: Environment,
    configuration: Configuration,
    *,
    clock: Clock,
    store: Store,
    beat: Beat,
    workspace: str,
    log: structlog.typing.FilteringBoundLogger,
) -> "House":
    """Load the services and wire them."""
    from bot.wiring import Slack, build  # noqa: PLC0415 — half of a start, and no delivery waits

    return build(
        configuration=configuration,
        store=store,
        clock=clock,
        bell=beat,
        slack=Slack(
            token=environment.slack_bot_token.get_secret_value(),
            base_url=environment.slack_api_url,
            workspace=workspace,
        ),
        catalog=packaged(),
        log=log,
    )


def _parse(
    text: str,
    *,
    now: "datetime",
    zone: str,
    locale: str,
    answers: "Mapping[str, str] | None" = None,
) -> "Parsed":
    """Read what a form says; the first one loads the language."""
    return language.parse(
        text, now=now, zone=zone, locale=locale, catalog=packaged(), answers=answers
    )


def _warm(aws: "Aws", log: structlog.typing.FilteringBoundLogger) -> None:
    try:
        aws.warm()
    except Exception as error:  # noqa: BLE001 — the first request says it to a person
        log.warning("AWS clients are not warm", error=f"{type(error).__name__}: {error}")
    gc.freeze()
    gc.enable()
