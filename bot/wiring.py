"""Every port wired to its one implementation: this module names every concrete class."""

from dataclasses import dataclass
from functools import partial

import structlog
from prometheus_client import Counter

from bot.catalog import Catalog
from bot.cloud import Aws
from bot.domain.records import Due
from bot.language import help_text, parse
from bot.policy.configuration import Configuration
from bot.ports import Clock, Store
from bot.scheduling import Beat
from bot.services import uses
from bot.services.afterwards import Means, afterwards
from bot.services.approvals.approving import Approving
from bot.services.approvals.counsel import Counsel
from bot.services.approvals.proposing import Proposing
from bot.services.approvals.questioning import Questioning
from bot.services.approvals.waiting import Waiting
from bot.services.commitments.closing import Closing
from bot.services.digests.digesting import Digesting
from bot.services.digests.glancing import REDRAW, Glancing
from bot.services.digests.homes import Homes
from bot.services.digests.overviews import Overviews
from bot.services.duties import Duties, Step
from bot.services.pruning import Pruning
from bot.services.purchases.lending import Lending
from bot.services.purchases.purchasing import Purchasing
from bot.services.purchases.reconciling import Reconciling
from bot.services.purchases.retrying import Retrying
from bot.services.purchases.settling import Settling
from bot.services.requests.asking import Asking
from bot.services.requests.lapsing import STEP as LAPSE
from bot.services.requests.lapsing import Lapsing
from bot.services.requests.quoting import Quoting
from bot.services.requests.switching import Switching
from bot.services.requests.watching import Watching
from bot.services.reservations.drifting import Drifting
from bot.services.reservations.following import Following
from bot.services.reservations.overstaying import Overstaying
from bot.services.reservations.reminding import Reminding
from bot.services.reservations.sequels import SPOT_SPEND
from bot.services.reservations.sharing import SHARE, UNSHARE, Sharing
from bot.services.reservations.tendering import Tendering
from bot.services.running.events import Hearing
from bot.services.verifying import Verifying
from bot.services.words.delivering import Delivering
from bot.services.words.pleading import Pleading
from bot.services.words.telling import Telling
from bot.services.words.views import Views
from handlers import (
    VERBS,
    Answering,
    Desk,
    SlackMessenger,
    SlackPeople,
    Worker,
    posting_client,
    reading_client,
)

_FAILED = Counter("gpubot_duty_failures", "Steps that fell due and failed, by kind", ["kind"])
_HEARD = Counter(
    "gpubot_events", "Events of AWS by what they are about and their outcome", ["kind", "outcome"]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Slack:
    """What is known of the Slack side before anything is served."""

    token: str
    base_url: str
    workspace: str


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
    pruning: Pruning
    reconciling: Reconciling
    hearing: tuple[Hearing, ...]
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
    verifying = Verifying(people=people)
    views = Views(store=store, clock=clock, verifying=verifying, configuration=configuration)
    homes = Homes(
        store=store, clock=clock, views=views, verifying=verifying, configuration=configuration
    )
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
    drifting = Drifting(
        store=store, clock=clock, prices=aws.spot_prices, telling=telling, pleading=pleading,
        bell=bell,
    )  # fmt: skip
    sharing = Sharing(
        store=store, clock=clock, sharer=aws.sharer, telling=telling, pleading=pleading
    )
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
            configuration=configuration, bell=bell,
        ),
        quote_others=quoting.quote,
    )  # fmt: skip
    lapsing = Lapsing(
        store=store, clock=clock, telling=telling, configuration=configuration, bell=bell
    )
    watching = Watching(store=store, clock=clock, quoting=quoting, telling=telling, bell=bell)
    used = uses.uses(
        uses.Means(
            store=store, clock=clock, endpoints=aws.endpoints, machines=aws.machines,
            leftovers=aws.leftovers, utilisation=aws.utilisation, verifying=verifying,
            telling=telling, catalog=catalog, configuration=configuration, bell=bell,
        )
    )  # fmt: skip
    glancing = Glancing(store=store, clock=clock, following=following, telling=telling, bell=bell)
    overviews = Overviews(
        store=store, clock=clock, verifying=verifying, digesting=digesting, quoting=quoting,
        catalog=catalog, configuration=configuration, bell=bell,
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
        overviews=overviews,
        homes=homes,
        glancing=glancing,
    )  # fmt: skip
    answering = Answering(posting=posting, log=log)
    messenger = SlackMessenger(
        posting=posting, reading=reading, views=views, homes=homes, names=people.name
    )
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
            failed=lambda kind: _FAILED.labels(kind).inc(),
            steps={
                "quote": _about(after.quote),
                "propose-expire": _about(approving.expire),
                "propose-nudge": _about(approving.nudge),
                "buy": _about(purchasing.buy),
                "overstay": lambda due: overstaying.look(due.argument),
                SPOT_SPEND: drifting.look,
                "loan": _about(purchasing.lending.turn),
                "reconcile": lambda due: reconciling.reconcile(due.argument),
                "follow": following.follow,
                "remind": reminding.remind,
                "release": after.turn,
                "tag": after.tag,
                "prolong": after.prolong,
                REDRAW: glancing.redraw,
                "digest": digesting.digest,
                "watch": watching.look,
                LAPSE: _about(lapsing.lapse),
                SHARE: sharing.share,
                UNSHARE: sharing.unshare,
                **used.steps,
            },
        ),
        digesting=digesting,
        pruning=Pruning(store=store, clock=clock),
        reconciling=reconciling,
        hearing=tuple(
            Hearing(
                queue=queue,
                store=store,
                clock=clock,
                following=following,
                accounts=configuration.accounts,
                bell=bell,
                log=log,
                heard=lambda kind, outcome: _HEARD.labels(kind, outcome).inc(),
            )
            for queue in aws.event_queues()
        ),
        aws=aws,
    )


def _about(step: "Step | object") -> Step:
    def call(due: Due) -> object:
        return step(int(due.argument))  # type: ignore[operator, arg-type]  # ids are numbers

    return call


def _help(known: tuple[str, ...], verb: str | None, locale: str) -> str:
    return help_text(verb, locale, known)
