"""The money path over fakes: one AWS, one clock, any store, services that can be rebuilt."""

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from bot.catalog import packaged
from bot.domain.lifecycle import ReservationState
from bot.domain.market import HourlyRate, Kind, Market, Offering, Owned, Quota, Segment
from bot.domain.records import Due, MessageRef, Proposal, Reservation, Switch
from bot.domain.request import Parsed, Request, Status
from bot.domain.saying import Announcement
from bot.policy.configuration import (
    Account,
    ApprovalRules,
    BreakGlass,
    Channels,
    Configuration,
    Team,
    Tier,
)
from bot.ports import Store
from bot.services.approvals.approving import Approving
from bot.services.approvals.proposing import Proposing
from bot.services.approvals.questioning import Questioning
from bot.services.approvals.waiting import Waiting
from bot.services.commitments.closing import Closing
from bot.services.purchases.lending import Lending
from bot.services.purchases.purchasing import Purchasing
from bot.services.purchases.reconciling import Reconciling
from bot.services.purchases.retrying import Retrying
from bot.services.purchases.settling import Settling
from bot.services.requests.asking import Asker, Asking
from bot.services.requests.lapsing import Lapsing
from bot.services.requests.quoting import Quoting
from bot.services.requests.switching import Switching
from bot.services.reservations.following import Following
from bot.services.reservations.overstaying import Overstaying
from bot.services.reservations.reminding import Reminding
from bot.services.verifying import Verifying
from bot.services.words.pleading import Pleading
from bot.services.words.telling import Telling
from storage import open_store
from tests.fakes.aws import CrashError, FakeAws
from tests.fakes.bell import FakeBell
from tests.fakes.clock import NOW, FakeClock
from tests.fakes.people import FakePeople

REQ, OTHER_REQ, APP1, APP2, ADMIN, OTHER = (
    "U0REQ",
    "U0REQ2",
    "U0APP1",
    "U0APP2",
    "U0ADMIN",
    "U0OTHER",
)
START = datetime(2027, 3, 15, 11, 30, tzinfo=UTC)
FEE = Decimal("6877.44")


def configuration(**update: object) -> Configuration:
    base = Configuration(
        accounts=(Account(name="research", account_id="111122223333", regions=("us-east-1",)),),
        purchasing=Switch.ON,
        daily_ceiling_usd=Decimal(50000),
        channels=Channels(requests="C0GPU", approvals="C0APPROVE", digest="C0GPU"),
        administrators=(ADMIN,),
        teams=(Team(name="vision", members=(REQ, "S0VISION"), monthly_budget_usd=Decimal(40000)),),
        approval=ApprovalRules(
            tiers=(
                Tier(up_to_usd=Decimal(500), auto=True),
                Tier(up_to_usd=Decimal(10000), approvers=(APP1, APP2, REQ)),
                Tier(
                    up_to_usd=Decimal(100000),
                    approvers=(APP1, APP2),
                    needed=2,
                    expires=timedelta(hours=8),
                ),
            ),
            break_glass=BreakGlass(people=(ADMIN,), up_to_usd=Decimal(20000)),
        ),
    )
    return base.model_copy(update=update)


def block(ref: str = "cb-1", **update: object) -> Offering:
    base = Offering(
        ref=ref,
        kind=Kind.CAPACITY_BLOCK,
        account="research",
        region="us-east-1",
        zone="us-east-1b",
        zone_id="use1-az4",
        zone_type="availability-zone",
        opted_in=True,
        instance_type="p5.48xlarge",
        instance_count=2,
        ultraserver_type=None,
        ultraserver_count=None,
        target_resources=(),
        segments=(Segment(start=START, end=START + timedelta(days=3), zone="us-east-1b"),),
        upfront_fee=FEE,
        currency="USD",
    )
    return base.model_copy(update=update)


def rate(kind: Kind = Kind.ON_DEMAND, **update: object) -> HourlyRate:
    base = HourlyRate(
        ref=f"{kind}:us-east-1:p5.48xlarge",
        kind=kind,  # type: ignore[arg-type]
        account="research",
        region="us-east-1",
        zone=None,
        zone_id=None,
        zone_type=None,
        opted_in=True,
        instance_type="p5.48xlarge",
        usd_per_hour=Decimal("55.04"),
        source="price list",
        as_of=NOW,
        last_refused_at=None,
        placement_score=None,
    )
    return base.model_copy(update=update)


def request(**update: object) -> Request:
    base = Request(
        instance_type="p5.48xlarge",
        instance_count=2,
        earliest_start=START.replace(hour=0, minute=0),
        latest_start=START.replace(hour=0, minute=0) + timedelta(days=1),
        duration_hours=Decimal(72),
    )
    return base.model_copy(update=update)


def asap(**update: object) -> Request:
    return request(
        **{"earliest_start": None, "latest_start": None, "duration_hours": Decimal(24), **update}
    )


def parsed(wanted: Request | None = None, line: str = "reserve 2 p5.48xlarge for 72h") -> Parsed:
    return Parsed(
        status=Status.OK,
        command="reserve",
        id=None,
        arguments={},
        request=wanted or request(),
        line=line,
        echo="",
        questions=(),
        problem=None,
    )


def asker(user: str = REQ) -> Asker:
    return Asker(user=user, workspace="T0", channel="C0GPU", zone="Europe/Berlin", locale="en-US")


@dataclass
class Crashing:
    """A store whose process dies at the commit `countdown` counts down to."""

    inner: Store
    countdown: int | None = None
    before: bool = True

    @contextmanager
    def transaction(self):
        with self.inner.transaction() as tx:
            yield tx
            if self._dies() and self.before:
                self.countdown = None
                raise CrashError
        if self.countdown == 0:
            self.countdown = None
            raise CrashError

    def _dies(self) -> bool:
        if self.countdown is None:
            return False
        self.countdown -= 1
        return self.countdown == 0

    def reading(self):
        return self.inner.reading()

    def record(self, delivery, *, patience):
        return self.inner.record(delivery, patience=patience)

    def close(self) -> None:
        self.inner.close()


@dataclass
class Lines:
    """See bot.services.purchases.money_log.MoneyLog."""

    rows: list[tuple[str, dict[str, object]]] = field(default_factory=list)

    def info(self, event, **facts):
        self.rows.append((event, facts))


@dataclass
class Attic:
    """See bot.ports.Leftovers."""

    aws: FakeAws

    def find(self, receipts):
        return self.aws.left

    def remove(self, leftover):
        self.aws.remove(leftover)


@dataclass
class World:
    """Everything around one installation; `restart` keeps only what is stored."""

    url: str = "memory://"
    configuration: Configuration = field(default_factory=configuration)
    market: Market = field(default_factory=lambda: Market(as_of=NOW, offerings=(block(),)))

    def __post_init__(self) -> None:
        self.clock = FakeClock()
        self.people = FakePeople(self.clock)
        self.bell = FakeBell()
        self.heard: dict[str, str] = {}
        self.log = Lines()
        self.aws = FakeAws(self.clock, self.market)
        self.store = Crashing(open_store(self.url, holder="one"))
        self.restart()

    def restart(self) -> None:
        shared = {"store": self.store, "clock": self.clock, "bell": self.bell}
        ruled = {**shared, "configuration": self.configuration}
        telling = Telling(configuration=self.configuration)
        closing = Closing(telling=telling)
        pleading = Pleading(configuration=self.configuration)
        verifying = Verifying(people=self.people)
        self.waiting = Waiting(
            **ruled, telling=telling, closing=closing, pleading=pleading, verifying=verifying
        )
        self.proposing = Proposing(**ruled, buyer=self.aws, telling=telling, closing=closing)
        self.approving = Approving(
            **ruled,
            verifying=verifying,
            telling=telling,
            closing=closing,
            pleading=pleading,
            proposing=self.proposing,
            waiting=self.waiting,
            log=self.log,
        )
        reminding = Reminding(store=self.store, clock=self.clock, telling=telling)
        following = Following(
            store=self.store,
            clock=self.clock,
            holdings=self.aws,
            reminding=reminding,
            telling=telling,
        )
        self.settling = Settling(
            telling=telling,
            closing=closing,
            pleading=pleading,
            following=following,
            configuration=self.configuration,
        )
        self.reconciling = Reconciling(
            **ruled, buyer=self.aws, settling=self.settling, log=self.log
        )
        lending = Lending(**shared, market=self.aws, settling=self.settling)
        self.purchasing = Purchasing(
            **ruled,
            market=self.aws,
            buyer=self.aws,
            settling=self.settling,
            lending=lending,
            reconciling=self.reconciling,
            started_at=self.clock.now(),
            log=self.log,
        )
        self.questioning = Questioning(
            **ruled, verifying=verifying, telling=telling, pleading=pleading
        )
        self.retrying = Retrying(**ruled, standing=self.settling.standing)
        self.overstaying = Overstaying(
            **ruled,
            holdings=self.aws,
            leftovers=Attic(self.aws),
            telling=telling,
            pleading=pleading,
        )
        self.quoting = Quoting(**ruled, market=self.aws, catalog=packaged(), telling=telling)
        self.lapsing = Lapsing(**ruled, telling=telling)
        self.asking = Asking(**ruled, verifying=verifying, telling=telling, closing=closing)
        self.switching = Switching(**ruled, verifying=verifying, telling=telling)
        self.steps: dict[str, Callable[[Due], object]] = {
            "quote": lambda due: self.quoting.quote(int(due.argument)),
            "lapse": lambda due: self.lapsing.lapse(int(due.argument)),
            "propose-expire": lambda due: self.approving.expire(int(due.argument)),
            "propose-nudge": lambda due: self.approving.nudge(int(due.argument)),
            "buy": lambda due: self.purchasing.buy(int(due.argument)),
            "reconcile": lambda due: self.purchasing.reconcile(due.argument),
            "loan": lambda due: self.purchasing.lending.turn(int(due.argument)),
            "follow": following.follow,
            "overstay": lambda due: self.overstaying.look(due.argument),
        }

    # --- moves -----------------------------------------------------------------------------

    def quoted(self, wanted: Request | None = None, *, user: str = REQ) -> Reservation:
        filed = self.asking.file(parsed(wanted), by=asker(user), again=True)
        assert filed.reservation is not None
        self.quoting.quote(filed.reservation.id)
        return self.reservation(filed.reservation.id)

    def proposed(self, wanted: Request | None = None, *, user: str = REQ) -> Proposal:
        return self.approving.propose(self.quoted(wanted, user=user).id, by=user)

    def approved(self, wanted: Request | None = None) -> Proposal:
        proposal = self.proposed(wanted)
        return self.approving.approve(proposal.id, by=APP1)

    def bought(self, wanted: Request | None = None) -> Proposal:
        proposal = self.approved(wanted)
        self.purchasing.buy(proposal.reservation_id)
        return proposal

    def work(self, *, kinds: set[str] | None = None, rounds: int = 60) -> int:
        """Carry out what is due now, as the duty threads would; return how much it was."""
        count = 0
        for _ in range(rounds):
            with self.store.transaction() as tx:
                batch = tx.dues.claim(now=self.clock.now(), lease=timedelta(minutes=10), limit=100)
            if not batch:
                return count
            for due in batch:
                step = self.steps.get(due.kind)
                if step is not None and (kinds is None or due.kind in kinds):
                    step(due)
                    count += 1
                with self.store.transaction() as tx:
                    tx.dues.done(due.key, at=self.clock.now())
        return count

    def run(self, length: timedelta) -> None:
        """Let time pass from event to event."""
        end = self.clock.now() + length
        while True:
            self.work()
            with self.store.reading() as tx:
                ahead = tx.dues.next_at()
            if ahead is None or ahead > end:
                break
            self.clock.set(max(ahead, self.clock.now()))
        self.clock.set(end)
        self.work()

    # --- looks -----------------------------------------------------------------------------

    def reservation(self, reservation_id: int) -> Reservation:
        with self.store.reading() as tx:
            return tx.reservations.get(reservation_id)

    def state(self, reservation_id: int) -> ReservationState:
        return self.reservation(reservation_id).state

    def purchases(self, reservation_id: int):
        with self.store.reading() as tx:
            return tuple(tx.purchases.of(reservation_id))

    def money(self, *states: str) -> Decimal:
        with self.store.reading() as tx:
            return sum(
                (one.amount for one in tx.budget.entries() if one.state in states), Decimal(0)
            )

    def said(self) -> dict[str, str]:
        """Deliver what waits; return every note said so far as plain words by key."""
        while True:
            with self.store.transaction() as tx:
                rows = tx.outbox.claim(now=self.clock.now(), lease=timedelta(minutes=1), limit=1000)
                for row in rows:
                    if row.announcement.kind == "note":
                        self.heard[row.key] = plain(row.announcement)
                    place = MessageRef(channel="C0GPU", ts=f"{len(self.heard)}.{row.key}")
                    tx.outbox.sent(row.key, at=self.clock.now(), ref=place)
            if not rows:
                return self.heard


def plain(announcement: Announcement) -> str:
    parts = [
        part
        if isinstance(part, str)
        else str(getattr(part, "text", None) or getattr(part, "id", ""))
        for section in announcement.sections
        for sentence in section.sentences
        for part in sentence
    ]
    return "".join(parts)


def owned(**update: object) -> Owned:
    base = Owned(
        ref="cr-owned",
        kind=Kind.CAPACITY_BLOCK,
        account="research",
        region="us-east-1",
        zone="us-east-1b",
        zone_id="use1-az4",
        instance_type="p5.48xlarge",
        target_resources=(),
        total_count=4,
        available_count=4,
        start=START - timedelta(days=7),
        end=START + timedelta(days=7),
        owner="U0HOLDER",
    )
    return base.model_copy(update=update)


QUOTA = Quota(
    account="research",
    region="us-east-1",
    name="Concurrent P5 Capacity Blocks",
    code="L-DA6814F2",
    kinds=(Kind.CAPACITY_BLOCK,),
    types=("p5.*",),
    unit="vcpus",
    limit=1000,
    used=0,
)
