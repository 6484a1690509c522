"""The composition root: the only module that names every concrete class.

Order at start: settings, clock, database, services, Slack, then the loops. Ready means that
deliveries are recorded and acknowledged; AWS clients are made when they are first needed and
warmed after ready.
"""

import gc
import importlib
import logging
import secrets
import signal
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, cast

import structlog

from bot.catalog import Catalog, packaged
from bot.clocks import SystemClock, clock_at
from bot.deferring import Deferred
from bot.domain.errors import DeliveryError, SettingsError
from bot.domain.lifecycle import PurchaseState
from bot.domain.records import Due
from bot.domain.values import utc_text
from bot.language import help_text, parse
from bot.policy.configuration import Configuration
from bot.ports import (
    Buyer,
    Clock,
    Endpoints,
    Holdings,
    Leftovers,
    Machines,
    MarketReader,
    Store,
    Tagger,
)
from bot.scheduling import Beat, Loop
from bot.services import uses
from bot.services.afterwards import Means, afterwards
from bot.services.approving import Approving
from bot.services.asking import Asking
from bot.services.closing import Closing
from bot.services.counsel import Counsel
from bot.services.delivering import Delivering
from bot.services.digesting import Digesting
from bot.services.duties import Duties, Step
from bot.services.following import Following
from bot.services.lending import Lending
from bot.services.overstaying import Overstaying
from bot.services.pleading import Pleading
from bot.services.proposing import Proposing
from bot.services.purchasing import Purchasing
from bot.services.questioning import Questioning
from bot.services.quoting import Quoting
from bot.services.reconciling import Reconciling
from bot.services.reminding import Reminding
from bot.services.retrying import Retrying
from bot.services.settling import Settling
from bot.services.switching import Switching
from bot.services.telling import Telling
from bot.services.tendering import Tendering
from bot.services.verifying import Verifying
from bot.services.views import Views
from bot.services.waiting import Waiting
from bot.services.watching import Watching
from bot.settings import Environment, read_configuration, read_environment
from handlers import (
    VERBS,
    Answering,
    Desk,
    Gateway,
    HttpServer,
    SlackMessenger,
    SlackPeople,
    Socket,
    Worker,
    identify,
    posting_client,
    reading_client,
    register,
)
from storage import open_store

if TYPE_CHECKING:
    from bot.aws import Clients

SYSTEM_BEAT_SECONDS = 5.0
"""How late a reminder may leave; a look at two indexes costs under a millisecond."""
REMOTE_BEAT_SECONDS = 0.1
"""A clock elsewhere may jump, and nothing tells us when."""
SWITCH_INTERVAL_SECONDS = 0.0005
"""Two busy threads at Python's 5 ms delay an acknowledgement by 400 ms; at 0.5 ms by 30."""
PATIENCE_SECONDS = 20.0
DUTY_THREADS = 4
WORK_THREADS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Slack:
    """What is known of the Slack side before anything is served."""

    token: str
    base_url: str
    workspace: str


class Aws:
    """Every port that needs boto3, on one set of clients; loaded when first used."""

    def __init__(self, *, configuration: Configuration, clock: Clock, catalog: Catalog) -> None:
        accounts = configuration.accounts
        clients = cast("Clients", Deferred(lambda: _aws().Clients(accounts)))
        self.clients = clients
        self.market = cast(
            "MarketReader",
            Deferred(
                lambda: _aws().AwsMarket(
                    accounts,
                    clock=clock,
                    catalog=catalog,
                    refusals=dict,  # quoting lays the remembered ones over every market it reads
                    clients=clients,
                    kinds=configuration.kinds,
                    default_target=configuration.default_target,
                )
            ),
        )
        self.buyer = cast(
            "Buyer", Deferred(lambda: _aws().AwsBuyer(accounts, clock=clock, clients=clients))
        )
        self.holdings = cast(
            "Holdings", Deferred(lambda: _aws().AwsHoldings(accounts, clock=clock, clients=clients))
        )
        self.tagger = cast("Tagger", Deferred(lambda: _aws().AwsTagger(clients)))
        self.endpoints = cast(
            "Endpoints", Deferred(lambda: _aws().AwsEndpoints(accounts, clients=clients))
        )
        self.machines = cast(
            "Machines", Deferred(lambda: _aws().AwsMachines(accounts, clients=clients))
        )
        self.leftovers = cast(
            "Leftovers",
            Deferred(lambda: _aws().AwsLeftovers(accounts, clock=clock, clients=clients)),
        )

    def warm(self) -> None:
        """Load boto3 and make the reading clients, so that the first person waits for neither."""
        self.clients.warm()


def _aws() -> ModuleType:
    return importlib.import_module("bot.aws")


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """Everything that runs, wired."""

    store: Store
    clock: Clock
    desk: Desk
    answering: Answering
    worker: Worker
    delivering: Delivering
    duties: Duties
    digesting: Digesting
    reconciling: Reconciling
    aws: "Aws"


def build(
    *,
    configuration: Configuration,
    store: Store,
    clock: Clock,
    bell: Beat,
    slack: Slack,
    catalog: Catalog,
    log: structlog.typing.FilteringBoundLogger,
) -> House:
    """Wire every port to its one implementation; calls nobody."""
    reading = reading_client(slack.token, base_url=slack.base_url)
    posting = posting_client(slack.token, base_url=slack.base_url)
    people = SlackPeople(client=reading, store=store, clock=clock, workspace=slack.workspace)
    views = Views(store=store, clock=clock, configuration=configuration)
    telling = Telling(configuration=configuration)
    aws = Aws(configuration=configuration, clock=clock, catalog=catalog)
    tendering = Tendering(store=store, clock=clock, market=aws.market)
    reminding = Reminding(store=store, clock=clock, telling=telling, pricing=tendering)
    following = Following(
        store=store,
        clock=clock,
        holdings=aws.holdings,
        reminding=reminding,
        telling=telling,
    )
    digesting = Digesting(store=store, clock=clock, configuration=configuration)
    closing = Closing(telling=telling)
    pleading = Pleading(configuration=configuration)
    verifying = Verifying(people=people)
    waiting = Waiting(
        store=store, clock=clock, telling=telling, closing=closing, pleading=pleading,
        verifying=verifying, configuration=configuration, bell=bell,
    )  # fmt: skip
    proposing = Proposing(
        store=store, clock=clock, buyer=aws.buyer, telling=telling, closing=closing,
        configuration=configuration, bell=bell,
    )  # fmt: skip
    approving = Approving(
        store=store, clock=clock, verifying=verifying, telling=telling, closing=closing,
        pleading=pleading, proposing=proposing, waiting=waiting, configuration=configuration,
        bell=bell, log=log,
    )  # fmt: skip
    settling = Settling(
        telling=telling, closing=closing, pleading=pleading, following=following,
        configuration=configuration,
    )  # fmt: skip
    reconciling = Reconciling(
        store=store, clock=clock, buyer=aws.buyer, settling=settling, configuration=configuration,
        bell=bell, log=log,
    )  # fmt: skip
    purchasing = Purchasing(
        store=store, clock=clock, market=aws.market, buyer=aws.buyer, settling=settling,
        lending=Lending(store=store, clock=clock, market=aws.market, settling=settling, bell=bell),
        reconciling=reconciling, configuration=configuration, bell=bell, started_at=clock.now(),
        log=log,
    )  # fmt: skip
    overstaying = Overstaying(
        store=store, clock=clock, holdings=aws.holdings, leftovers=aws.leftovers,
        telling=telling, pleading=pleading, configuration=configuration, bell=bell,
    )  # fmt: skip
    counsel = Counsel(
        questioning=Questioning(
            store=store, clock=clock, verifying=verifying, telling=telling, pleading=pleading,
            configuration=configuration, bell=bell,
        ),
        approving=approving,
        retrying=Retrying(
            store=store, clock=clock, standing=settling.standing, configuration=configuration,
            bell=bell,
        ),
    )  # fmt: skip
    quoting = Quoting(
        store=store, clock=clock, market=aws.market, catalog=catalog, telling=telling,
        configuration=configuration, bell=bell,
    )  # fmt: skip
    asking = Asking(
        store=store, clock=clock, verifying=verifying, telling=telling, closing=closing,
        configuration=configuration, bell=bell,
    )  # fmt: skip
    after = afterwards(
        Means(
            store=store, clock=clock, tagger=aws.tagger, tendering=tendering, proposing=proposing,
            verifying=verifying, closing=closing, pleading=pleading, telling=telling,
            reminding=reminding, configuration=configuration, bell=bell,
        ),
        quote_others=quoting.quote,
    )  # fmt: skip
    watching = Watching(store=store, clock=clock, quoting=quoting, telling=telling, bell=bell)
    used = uses.uses(
        uses.Means(
            store=store, clock=clock, endpoints=aws.endpoints, machines=aws.machines,
            leftovers=aws.leftovers, verifying=verifying, telling=telling, catalog=catalog,
            configuration=configuration, bell=bell,
        )
    )  # fmt: skip
    desk = Desk(
        store=store,
        clock=clock,
        bell=bell,
        people=people,
        parse=partial(parse, catalog=catalog),
        help=partial(_help, tuple(VERBS)),
        asking=asking,
        quoting=quoting,
        proposing=proposing,
        approving=approving,
        switching=Switching(
            store=store, clock=clock, verifying=verifying, telling=telling,
            configuration=configuration, bell=bell,
        ),
        views=views,
        resume_to=configuration.purchasing,
        counsel=counsel,
        after=after,
        uses=used,
        watching=watching,
    )  # fmt: skip
    answering = Answering(posting=posting, log=log)
    messenger = SlackMessenger(posting=posting, reading=reading, views=views, names=people.name)
    return House(
        store=store,
        clock=clock,
        desk=desk,
        answering=answering,
        worker=Worker(desk=desk, answering=answering, log=log),
        delivering=Delivering(store=store, clock=clock, messenger=messenger, log=log),
        duties=Duties(
            store=store,
            clock=clock,
            log=log,
            steps={
                "quote": _about(after.quote),
                "propose-expire": _about(approving.expire),
                "propose-nudge": _about(approving.nudge),
                "buy": _about(purchasing.buy),
                "overstay": lambda due: overstaying.look(due.argument),
                "loan": _about(purchasing.lending.turn),
                "reconcile": lambda due: reconciling.reconcile(due.argument),
                "follow": following.follow,
                "remind": reminding.remind,
                "release": after.turn,
                "tag": after.tag,
                "digest": digesting.digest,
                "watch": watching.look,
                **used.steps,
            },
        ),
        digesting=digesting,
        reconciling=reconciling,
        aws=aws,
    )


def _about(step: "Step | object") -> Step:
    def call(due: Due) -> object:
        return step(int(due.argument))  # type: ignore[operator, arg-type]  # ids are numbers

    return call


def _help(known: tuple[str, ...], verb: str | None, locale: str) -> str:
    return help_text(verb, locale, known)


def health(house: House, *, mode: str, connected: bool) -> tuple[bool, Mapping[str, object]]:
    """Return whether the bot serves, and what it has taken on and not finished."""
    now = house.clock.now()
    with house.store.reading() as tx:
        backlog = {
            "inbox": tx.inbox.waiting(),
            "outbox": tx.outbox.waiting(now=now),
            "due": tx.dues.waiting(now=now),
            "purchases": len(tx.purchases.in_state({PurchaseState.SUBMITTED})),
        }
        due_at = tx.dues.next_at(leaving_out=uses.ROUTINE)
        times = [moment for moment in (due_at, tx.outbox.next_at()) if moment]
    return connected, {
        "status": "ok" if connected else "disconnected",
        "mode": mode,
        "connected": connected,
        "clock": utc_text(now),
        "backlog": backlog,
        "next_due": utc_text(min(times)) if times else None,
    }


def run() -> None:
    """Start the bot and serve until SIGTERM or SIGINT; what is unfinished goes on next time.

    Raises:
        SettingsError: something in the environment, the file, or around it must change.
    """
    sys.setswitchinterval(SWITCH_INTERVAL_SECONDS)
    environment = read_environment()
    configuration = read_configuration(environment.gpubot_config)
    clock = clock_at(environment.gpubot_clock)
    log = _logging(clock)
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
    slack = Slack(
        token=token,
        base_url=environment.slack_api_url,
        workspace=_workspace(token, environment.slack_api_url),
    )
    beat = Beat(
        beat_seconds=SYSTEM_BEAT_SECONDS if isinstance(clock, SystemClock) else REMOTE_BEAT_SECONDS,
        log=log,
    )
    house = build(
        configuration=configuration,
        store=store,
        clock=clock,
        bell=beat,
        slack=slack,
        catalog=packaged(),
        log=log,
    )
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    house.digesting.ensure()
    transport = _Transport(environment, house, slack)
    transport.open()
    beat.start(
        (
            Loop(name="work", step=house.worker.step, threads=WORK_THREADS),
            Loop(name="say", step=house.delivering.step),
            Loop(name="duty", step=partial(house.duties.step, limit=1), threads=DUTY_THREADS),
            Loop(name="reconcile", step=house.reconciling.sweep),
        )
    )
    log.info("ready", mode=transport.mode, port=transport.port)
    threading.Thread(target=partial(_warm, house.aws, log), name="warm", daemon=True).start()
    stopping.wait()
    log.info("stopping")
    transport.close()
    beat.stop(patience_seconds=PATIENCE_SECONDS)


def _warm(aws: Aws, log: structlog.typing.FilteringBoundLogger) -> None:
    try:
        aws.warm()
    except Exception as error:  # noqa: BLE001 — the first request says it to a person
        log.warning("AWS clients are not warm", error=f"{type(error).__name__}: {error}")
    gc.freeze()
    gc.enable()


class _Transport:
    """How Slack reaches us: a WebSocket that we open, or HTTP; health and metrics beside it."""

    def __init__(self, environment: Environment, house: House, slack: Slack) -> None:
        app = register(
            house.desk,
            house.answering,
            bot_token=slack.token,
            workspace=slack.workspace,
            base_url=slack.base_url,
        )
        self.mode = "socket" if environment.socket_mode else "http"
        self._socket: Socket | None = None
        if environment.slack_app_token is not None:
            self._socket = Socket(
                app,
                app_token=environment.slack_app_token.get_secret_value(),
                workspace=slack.workspace,
                base_url=slack.base_url,
            )
        self._server: HttpServer | None = None
        if environment.port is not None:
            gateway = Gateway(
                app=app,
                signing_secret=_signing_secret(environment),
                workspace=slack.workspace,
                app_id=None,
                health=partial(self._health, house),
            )
            self._server = HttpServer(gateway, host=environment.host, port=environment.port)

    @property
    def port(self) -> int | None:
        """Return where HTTP is served."""
        return self._server.port if self._server is not None else None

    def open(self) -> None:
        """Serve. Raises SettingsError when the port is taken or Slack lets us not in."""
        if self._server is not None:
            try:
                self._server.start()
            except OSError as error:
                raise SettingsError(
                    f"PORT: {self._server.port} can't be listened on ({error.strerror});"
                    " name a free port"
                ) from error
        if self._socket is not None:
            try:
                self._socket.connect()
            except DeliveryError as error:
                self.close()
                raise SettingsError(
                    "SLACK_APP_TOKEN: Slack does not open a connection with it; make an"
                    " app-level token with connections:write"
                ) from error

    def close(self) -> None:
        """Stop serving; what is recorded goes on at the next start."""
        if self._socket is not None:
            self._socket.close()
        if self._server is not None:
            self._server.close()

    def _health(self, house: House) -> tuple[bool, Mapping[str, object]]:
        connected = self._socket.connected() if self._socket is not None else True
        return health(house, mode=self.mode, connected=connected)


def _signing_secret(environment: Environment) -> str:
    """Return the secret; one that nobody knows where Socket Mode needs none."""
    secret = environment.slack_signing_secret
    return secret.get_secret_value() if secret is not None else secrets.token_hex(32)


def _workspace(token: str, base_url: str) -> str:
    try:
        return identify(reading_client(token, base_url=base_url))
    except DeliveryError as error:
        raise SettingsError(
            f"SLACK_BOT_TOKEN: Slack says {error.code}; set it to the Bot User OAuth Token of"
            " your installed app (or mend SLACK_API_URL)"
        ) from error


def _logging(clock: Clock) -> structlog.typing.FilteringBoundLogger:
    """Log JSON lines to stderr, each with our clock's time; libraries only when they warn."""

    def stamped(
        _logger: object, _name: str, event: structlog.typing.EventDict
    ) -> structlog.typing.EventDict:
        event["at"] = utc_text(clock.now())
        return event

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            stamped,
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    log: structlog.typing.FilteringBoundLogger = structlog.get_logger("gpubot")
    return log
