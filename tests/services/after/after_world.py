"""A small world after a purchase: a store, a clock, what AWS shows, and what was said."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal

from bot.domain.decision import Certainty, Option
from bot.domain.lifecycle import ProposalState, PurchaseState, ReservationState
from bot.domain.market import Kind, Segment
from bot.domain.records import (
    BudgetEntry,
    Leg,
    LegPurpose,
    Proposal,
    Purchase,
    Receipt,
    Reservation,
)
from bot.domain.request import Request
from bot.ports import Store
from bot.services.digests.digesting import Digesting
from bot.services.duties import Duties
from bot.services.reservations.following import Following, budget_key
from bot.services.reservations.reminding import Reminding
from bot.services.reservations.sequels import KIT, SPOT, SURVEY
from bot.services.words.delivering import Delivering
from bot.services.words.telling import Telling
from bot.settings.config_file import EXAMPLE, parse_configuration
from storage import open_store
from tests.fakes.aws import FakeUtilisation
from tests.fakes.clock import FakeClock
from tests.fakes.messenger import FakeMessenger


class FakeLog:
    """A log that keeps its lines."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def warning(self, event: str, **facts: object) -> None:
        self.lines.append(f"{event} {facts}")


class FakeHoldings:
    """What AWS shows: a state by receipt id, or nothing at all; see bot.ports.Holdings."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.shown: dict[str, dict[str, object]] = {}
        self.lost: set[str] = set()
        self.asked: list[str] = []
        self.calls = 0

    def look(self, receipts: Sequence[Receipt]) -> Mapping[str, Receipt]:
        seen = {}
        self.calls += 1
        for receipt in receipts:
            self.asked.append(receipt.id)
            update: dict[str, object] = {"checked_at": self.clock.now()}
            if receipt.id in self.lost:
                update["gone"] = True
            seen[receipt.id] = receipt.model_copy(update=update | self.shown.get(receipt.id, {}))
        return seen


def option(total: Decimal, segment: Segment) -> Option:
    return Option(
        rank=1,
        kind=Kind.CAPACITY_BLOCK,
        refs=("cb-1",),
        account="research",
        region="us-east-1",
        zone="us-east-1b",
        instance_type="p5.48xlarge",
        instance_count=2,
        segments=(segment,),
        usable_end=segment.end - timedelta(minutes=30),
        usable_hours=Decimal(47),
        total_usd=total,
        usd_per_instance_hour=Decimal("47.76"),
        usd_per_accelerator_hour=Decimal("5.97"),
        versus_on_demand=None,
        break_even_utilization=None,
        certainty=Certainty.GUARANTEED,
        cancellable=False,
        paid="upfront",
        reasons=(),
        warnings=(),
    )


@dataclass
class AfterWorld:
    store: Store
    clock: FakeClock = field(default_factory=FakeClock)
    messenger: FakeMessenger = field(default_factory=FakeMessenger)
    log: FakeLog = field(default_factory=FakeLog)
    utilisation: FakeUtilisation | None = None

    def __post_init__(self) -> None:
        configuration, faults = parse_configuration(EXAMPLE)
        assert configuration is not None, faults
        self.configuration = configuration
        self.holdings = FakeHoldings(self.clock)
        self.start()

    def start(self) -> None:
        """Build the services anew on the same store, as a restarted process would."""
        telling = Telling(configuration=self.configuration)
        self.reminding = Reminding(store=self.store, clock=self.clock, telling=telling)
        self.following = Following(
            store=self.store,
            clock=self.clock,
            holdings=self.holdings,
            reminding=self.reminding,
            telling=telling,
            utilisation=self.utilisation,
        )
        self.digesting = Digesting(
            store=self.store, clock=self.clock, configuration=self.configuration
        )
        self.delivering = Delivering(
            store=self.store, clock=self.clock, messenger=self.messenger, log=self.log
        )
        self.duties = Duties(
            store=self.store,
            clock=self.clock,
            log=self.log,
            steps={
                "follow": self.following.follow,
                "remind": self.reminding.remind,
                "digest": self.digesting.digest,
                **dict.fromkeys((KIT, SPOT, SURVEY), lambda due: "another room's"),
            },
        )
        self.digesting.ensure()

    def settle(self) -> None:
        """Do all that is due now."""
        for _ in range(200):
            if not self.duties.step() + self.delivering.step():
                return
        raise AssertionError("it never comes to rest")

    def run_until(self, end: datetime) -> None:
        """Move the clock from event to event."""
        self.settle()
        for _ in range(20_000):
            with self.store.reading() as tx:
                times = [at for at in (tx.dues.next_at(), tx.outbox.next_at()) if at]
            ahead = min((at for at in times if at > self.clock.now()), default=end)
            self.clock.set(min(ahead, end))
            self.settle()
            if self.clock.now() >= end:
                return
        raise AssertionError("the time never comes")

    def bought(
        self,
        start: datetime,
        end: datetime,
        *,
        state: str = "scheduled",
        fee: str = "1105.10",
        reason: str | None = None,
        receipt_id: str = "",
        region: str = "us-east-1",
        kind: Kind = Kind.CAPACITY_BLOCK,
        segments: tuple[Segment, ...] = (),
        zone: str = "Europe/Berlin",
        target: str | None = None,
        instance_type: str = "p5.48xlarge",
        ultraserver_type: str | None = None,
    ) -> Reservation:
        """Put a confirmed purchase in the books, as the money path leaves it."""
        segment = Segment(start=start, end=end, zone="us-east-1b")
        segments = segments or (segment,)
        now = self.clock.now()
        with self.store.transaction() as tx:
            reservation = tx.reservations.add(
                Reservation(
                    state=ReservationState.REQUESTED,
                    workspace="T0",
                    requester="U0ANA",
                    owner="U0ANA",
                    team="vision",
                    channel="C0GPU",
                    request=Request(reason=reason),
                    line="reserve 2x p5.48xlarge for 48h",
                    zone=zone,
                    locale="en-US",
                    created_at=now,
                    updated_at=now,
                )
            )
            for step in ("quoted", "approved", "purchasing"):
                reservation = tx.reservations.save(
                    reservation.model_copy(
                        update={
                            "state": ReservationState(step),
                            "option": option(Decimal(fee), segment),
                        }
                    )
                )
            leg = Leg(
                number=1,
                purpose=LegPurpose.INITIAL,
                kind=kind,
                ref="cb-1",
                account="research",
                region=region,
                zone="us-east-1b",
                instance_type=instance_type,
                instance_count=2,
                segments=segments,
                platform="Linux/UNIX",
                fee=Decimal(fee),
            )
            proposal = tx.proposals.add(
                Proposal(
                    reservation_id=reservation.id,
                    version=1,
                    state=ProposalState.OPEN,
                    option=option(Decimal(fee), segment),
                    legs=(leg,),
                    ceiling=Decimal(fee),
                    team="vision",
                    needed=1,
                    approvers=("U0BRUNO",),
                    asked_by="U0ANA",
                    asked_at=now,
                    expires_at=now + timedelta(hours=4),
                )
            )
            tx.proposals.move(proposal, ProposalState.APPROVED)
            purchase = Purchase(
                id=f"p{reservation.id}",
                reservation_id=reservation.id,
                proposal_id=proposal.id,
                leg=leg,
                attempt=1,
                state=PurchaseState.INTENDED,
                offering_ref="cb-1",
                fee=Decimal(fee),
                owner="U0ANA",
                team="vision",
                approvers=("U0BRUNO",),
                intended_at=now,
            )
            tx.purchases.add(purchase)
            purchase = tx.purchases.move(purchase, PurchaseState.SUBMITTED, at=now)
            tx.purchases.move(purchase, PurchaseState.CONFIRMED, at=now)
            key = budget_key(reservation.id, 1)
            tx.budget.hold(
                BudgetEntry(
                    purchase_key=key,
                    reservation_id=reservation.id,
                    team="vision",
                    amount=Decimal(fee),
                    state="held",
                    held_at=now,
                )
            )
            tx.budget.settle(key, amount=fee)
            receipt = tx.receipts.add(
                Receipt(
                    id=receipt_id or f"cr-{reservation.id}",
                    purchase_id=purchase.id,
                    reservation_id=reservation.id,
                    kind=kind,
                    account="research",
                    region=region,
                    zone="us-east-1b",
                    instance_type=instance_type,
                    instance_count=2,
                    target=target,
                    segments=segments,
                    state=state,
                    checked_at=now,
                    ultraserver_type=ultraserver_type,
                )
            )
            becomes = "payment_pending" if "pending" in state else state
            reservation = tx.reservations.save(
                reservation.model_copy(update={"state": ReservationState(becomes)})
            )
            self.following.telling.redraw(tx, reservation, now=now)
            self.following.began(tx, reservation, [receipt], now=now)
            return reservation

    def words(self) -> list[str]:
        """What was said so far, as plain text, in the order it was posted."""
        return [plain(announcement) for announcement in self.messenger.said.values()]

    def saying(self, part: str) -> list[str]:
        return [said for said in self.words() if part in said]


def plain(announcement) -> str:
    lines = []
    for section in announcement.sections:
        lines.append(section.title)
        lines += ["".join(map(phrase_text, sentence)) for sentence in section.sentences]
    return "\n".join(lines)


def phrase_text(phrase) -> str:
    if isinstance(phrase, str):
        return phrase
    if phrase.kind == "moment":
        return f"{phrase.at:%Y-%m-%dT%H:%MZ}"
    return phrase.id if phrase.kind == "mention" else phrase.text


def stores(tmp_path) -> dict[str, str]:
    return {"memory": "memory://", "sqlite": f"sqlite:///{tmp_path / 'after.sqlite'}"}


def world_on(url: str) -> AfterWorld:
    return AfterWorld(store=open_store(url))
