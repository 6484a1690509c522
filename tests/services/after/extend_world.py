"""The money path with everything after it, for what buys more time or moves owners."""

from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal

from bot.domain.errors import MarketError
from bot.domain.market import Kind, Offering, Segment
from bot.domain.records import Due, Leg, LegPurpose, Purchase, Receipt
from bot.services.afterwards import Means, afterwards
from bot.services.digests.digesting import Digesting
from bot.services.reservations.following import Following
from bot.services.reservations.reminding import Reminding
from bot.services.reservations.tendering import Tendering
from bot.services.words.delivering import Delivering
from bot.services.words.telling import Telling
from tests.fakes.aws import FakeAws, Sale
from tests.fakes.messenger import FakeMessenger
from tests.services.after.after_world import FakeLog, plain
from tests.services.money.stage import FEE, START, World, block

END = START + timedelta(days=3)
MORE = Decimal("2292.48")


class ExtendingAws(FakeAws):
    """Sells extensions by day, keeps their records apart, and moves the end when told to."""

    day_fee: Decimal | None = MORE
    extension_state = "payment-pending"

    def requote(self, leg: Leg) -> Sequence[Offering]:
        if leg.purpose is not LegPurpose.EXTENSION:
            return super().requote(leg)
        if self.unreadable:
            raise MarketError("throttled", "RequestLimitExceeded")
        if self.day_fee is None:
            return ()
        part = leg.segments[0]
        days = (part.end - part.start) // timedelta(days=1)
        return [
            block(
                f"cbe-{part.end:%Y%m%d}",
                segments=(Segment(start=part.start, end=part.end, zone=leg.zone),),
                zone=leg.zone,
                upfront_fee=self.day_fee * days,
            )
        ]

    def buy(self, purchase: Purchase) -> Sequence[Receipt]:
        if purchase.leg.purpose is not LegPurpose.EXTENSION:
            return super().buy(purchase)
        self.calls.append(purchase)
        if self.before_buy is not None:
            self.before_buy(purchase)
        receipt = Receipt(
            id=f"{purchase.leg.extends}#{purchase.offering_ref}",
            purchase_id=purchase.id,
            reservation_id=purchase.reservation_id,
            kind=Kind.CAPACITY_BLOCK,
            account=purchase.leg.account,
            region=purchase.leg.region,
            zone=purchase.leg.zone,
            instance_type=purchase.leg.instance_type,
            instance_count=purchase.leg.instance_count,
            target=None,
            segments=purchase.leg.segments,
            state=self.extension_state,
            checked_at=self.clock.now(),
        )
        now = self.clock.now()
        self.sold.append(
            Sale(
                purchase_id=purchase.id,
                reservation_id=purchase.reservation_id,
                leg=1,
                ref=purchase.offering_ref,
                fee=purchase.fee,
                at=now,
                seen_from=now,
                receipt=receipt,
            )
        )
        return (receipt,)

    def pay(self, *, well: bool = True) -> None:
        """Have the newest extension's payment come through, or fail."""
        sale = self.sold[-1]
        state = "payment-succeeded" if well else "payment-failed"
        self.show(sale.receipt.id, state=state)
        if not well:
            return
        held = sale.receipt.id.partition("#")[0]
        for other in self.sold:
            if other.receipt.id == held:
                first = other.receipt.segments[0]
                longer = first.model_copy(update={"end": sale.receipt.segments[-1].end})
                other.receipt = other.receipt.model_copy(update={"segments": (longer,)})

    def counts(self, receipt_id: str, *, total: int, available: int, unhealthy: int = 0) -> None:
        for sale in self.sold:
            if sale.receipt.id == receipt_id:
                sale.receipt = sale.receipt.model_copy(
                    update={
                        "total_count": total,
                        "available_count": available,
                        "unhealthy_count": unhealthy,
                    }
                )


class FakeTagger:
    """See bot.ports.Tagger; `broken` times it fails first."""

    def __init__(self) -> None:
        self.tags: dict[str, tuple[str, str | None]] = {}
        self.broken = 0

    def tag(self, receipt: Receipt, *, owner: str, team: str | None) -> None:
        if self.broken:
            self.broken -= 1
            raise MarketError("throttled", "RequestLimitExceeded")
        self.tags[receipt.id] = (owner, team)


class ExtendWorld(World):
    """See World; `press` names are the services' own."""

    def __post_init__(self) -> None:
        self.tagger = FakeTagger()
        self.messenger = FakeMessenger()
        self.log = FakeLog()
        super().__post_init__()

    def restart(self) -> None:
        self.replace_aws()
        super().restart()
        telling = Telling(configuration=self.configuration)
        tendering = Tendering(store=self.store, clock=self.clock, market=self.aws)
        reminding = Reminding(
            store=self.store, clock=self.clock, telling=telling, pricing=tendering
        )
        following = Following(
            store=self.store,
            clock=self.clock,
            holdings=self.aws,
            reminding=reminding,
            telling=telling,
        )
        object.__setattr__(self.settling, "following", following)
        self.after = afterwards(
            Means(
                store=self.store,
                clock=self.clock,
                tagger=self.tagger,
                tendering=tendering,
                proposing=self.proposing,
                verifying=self.approving.verifying,
                closing=self.approving.closing,
                pleading=self.approving.pleading,
                telling=telling,
                configuration=self.configuration,
                bell=self.bell,
            ),
            quote_others=self.quoting.quote,
        )
        self.digesting = Digesting(
            store=self.store, clock=self.clock, configuration=self.configuration
        )
        self.delivering = Delivering(
            store=self.store, clock=self.clock, messenger=self.messenger, log=self.log
        )
        self.steps |= {
            "quote": lambda due: self.after.quote(int(due.argument)),
            "follow": following.follow,
            "remind": reminding.remind,
            "release": self.after.turn,
            "tag": self._tag,
            "prolong": self.after.prolong,
            "digest": self.digesting.digest,
        }

    def replace_aws(self) -> None:
        if not isinstance(self.aws, ExtendingAws):
            self.aws = ExtendingAws(self.clock, self.market)

    def _tag(self, due: Due) -> None:
        """As the duty loop does: a failure is tried again a little later."""
        try:
            self.after.tag(due)
        except MarketError:
            again = due.model_copy(
                update={"key": f"{due.key}+", "at": self.clock.now() + timedelta(seconds=10)}
            )
            with self.store.transaction() as tx:
                tx.dues.plan(again)

    def block_held(self, *, state: str = "active") -> int:
        """Buy a block and have it run; return its reservation's number."""
        proposal = self.bought()
        receipt = self.aws.sold[-1].receipt
        self.aws.show(receipt.id, state="scheduled")
        self.run(timedelta(minutes=10))
        if state == "active":
            self.run(START - self.clock.now())
            self.aws.show(receipt.id, state="active")
            self.run(timedelta(minutes=5))
        self.messenger.faults = []
        return proposal.reservation_id

    def receipt_of(self, reservation_id: int) -> Receipt:
        with self.store.reading() as tx:
            return tx.receipts.of(reservation_id)[0]

    def said(self) -> list[str]:
        """Deliver all, and return every note as plain text."""
        while self.delivering.step():
            pass
        return [plain(one) for one in self.messenger.said.values()]

    def saying(self, part: str) -> list[str]:
        return [text for text in self.said() if part in text]

    def presses(self, part: str) -> list[str]:
        """Return the actions of the buttons on the messages that say this."""
        self.said()
        return [
            press.action
            for one in self.messenger.said.values()
            if part in plain(one)
            for press in one.presses
        ]


__all__ = ["END", "FEE", "MORE", "START", "ExtendWorld"]
