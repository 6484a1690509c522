"""Any order of clicks, crashes, faults and changes: what was sold, agreed and counted agree."""

import tempfile
from collections import Counter
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from bot.domain.errors import GpuBotError
from bot.domain.lifecycle import ProposalState, PurchaseState, ReservationState
from bot.domain.market import Market
from bot.domain.records import Switch
from bot.policy.configuration import Tier
from bot.services.commitments.committing import good_until
from bot.services.words.views import switch_of
from tests.fakes.aws import CrashError, Mood
from tests.fakes.clock import NOW
from tests.services.money.stage import (
    ADMIN,
    APP1,
    APP2,
    OTHER,
    REQ,
    World,
    asap,
    block,
    configuration,
    rate,
)

S, P = ReservationState, PurchaseState
RATES = tuple(
    rate(region=region, ref=f"od:{region}", usd_per_hour=Decimal(price))
    for region, price in (("us-east-1", 50), ("us-east-2", 50), ("us-west-2", 51))
)
PRICE = Decimal("1105.10")
CEILING = Decimal("6000.00")
MOST = 8
SETTLED = (S.PAYMENT_PENDING, S.SCHEDULED, S.ACTIVE, S.ENDED, S.FAILED, S.SHADOWED)
"""States of which nothing more is bought and nothing is in doubt."""


class Money(RuleBasedStateMachine):
    """One installation with a handful of requests; two approvals are needed for each."""

    url = "memory://"

    def __init__(self) -> None:
        super().__init__()
        self.folder = None
        url = self.url
        if url != "memory://":
            self.folder = tempfile.TemporaryDirectory()
            url = f"sqlite:///{Path(self.folder.name)}/gpubot.db"
        base = configuration()
        tiers = (Tier(up_to_usd=Decimal(100000), approvers=(APP1, APP2, REQ), needed=2),)
        self.world = World(
            url=url,
            market=Market(as_of=NOW, offerings=tuple(self._offers("cb"))),
            configuration=configuration(
                daily_ceiling_usd=CEILING,
                approval=base.approval.model_copy(update={"tiers": tiers, "break_glass": None}),
            ),
        )
        self.made = 0
        self.calls_seen = 0
        self.world.aws.before_buy = self._judge

    def teardown(self) -> None:
        self.world.store.close()
        if self.folder is not None:
            self.folder.cleanup()

    def _offers(self, prefix, price=PRICE):
        return [
            block(
                f"{prefix}-{n}",
                instance_count=1,
                upfront_fee=price,
                zone=f"us-east-1{zone}",
                segments=(block().segments[0].model_copy(update={"zone": f"us-east-1{zone}"}),),
            )
            for n, zone in enumerate("aabb")
        ]

    def _judge(self, purchase) -> None:
        """At the moment a call leaves, everything that must be true is true."""
        world = self.world
        with world.store.reading() as tx:
            stored = tx.purchases.get(purchase.id)
            proposal = tx.proposals.current(purchase.reservation_id)
            assert stored.state is P.SUBMITTED
            assert proposal.id == purchase.proposal_id
            assert proposal.state is ProposalState.APPROVED
            assert proposal.version == tx.reservations.get(purchase.reservation_id).version
            assert world.clock.now() < self._good_until(tx, proposal)
            assert switch_of(tx, world.configuration) is Switch.ON
            agreed = {row.approver for row in tx.proposals.given(proposal.id)}
            assert len(agreed - {REQ, OTHER, ADMIN}) >= 2
            leg = next(leg for leg in proposal.legs if leg.number == purchase.leg.number)
            assert purchase.fee <= leg.fee
            assert self._same(leg, purchase.leg)
            offer = next(
                (row for row in world.aws.market.offerings if row.ref == purchase.offering_ref),
                None,
            )
            assert offer is None or offer.upfront_fee <= leg.fee
            today = [row for row in tx.budget.entries() if row.state != "freed"]
            mine = [row.amount for row in today if row.held_at.date() == world.clock.now().date()]
            assert sum(mine) <= CEILING

    def _good_until(self, tx, proposal):
        return proposal.expires_at

    def _same(self, leg, bought) -> bool:
        return bought == leg.model_copy(update={"segments": bought.segments})

    def _try(self, act) -> None:
        """A person's or a duty's step: refusals are fine, a crash restarts the process."""
        try:
            act()
        except CrashError:
            self.world.clock.advance(timedelta(seconds=1))
            self.world.restart()
        except GpuBotError:
            pass

    def _some(self, data) -> int:
        return data.draw(st.integers(1, max(1, self.made)))

    def _file(self, count: int) -> int:
        """File and quote a request in calm weather; return its id."""
        self.world.aws.unreadable = False
        self.world.switching.set(Switch.ON, by=ADMIN)
        self.world.aws.market = Market(as_of=NOW, offerings=tuple(self._offers(f"r{self.made}")))
        self.made = self.world.quoted(asap(instance_count=count, duration_hours=Decimal(72))).id
        return self.made

    def _agree(self, reservation_id: int) -> None:
        proposal = self.world.approving.propose(reservation_id, by=REQ)
        self.world.approving.approve(proposal.id, by=APP1)
        self.world.approving.approve(proposal.id, by=APP2)

    @precondition(lambda self: self.made < MOST)
    @rule(count=st.sampled_from([1, 2]))
    def ask(self, count) -> None:
        self.world.store.countdown = None
        self._file(count)

    @precondition(lambda self: self.made < MOST)
    @rule(count=st.sampled_from([1, 2]))
    def ask_and_agree(self, count) -> None:
        self.world.store.countdown = None
        reservation_id = self._file(count)
        self._try(lambda: self._agree(reservation_id))

    @precondition(lambda self: self.made < MOST)
    @rule(
        count=st.sampled_from([1, 2]),
        moods=st.lists(st.sampled_from(list(Mood)), max_size=2),
        commit=st.sampled_from([None, None, 1, 2, 3, 4]),
        before=st.booleans(),
        minutes=st.sampled_from([0, 2, 40]),
    )
    def ask_agree_and_buy(self, count, moods, commit, before, minutes) -> None:
        self.world.store.countdown = None
        reservation_id = self._file(count)
        self._try(lambda: self._agree(reservation_id))
        self.world.aws.moods = list(moods)
        self.world.store.before, self.world.store.countdown = before, commit
        self._try(lambda: self.world.purchasing.buy(reservation_id))
        self._linger(minutes)

    def _linger(self, minutes) -> None:
        for _ in range(minutes):
            self.world.clock.advance(timedelta(minutes=1))
            self._try(self.world.work)

    @precondition(lambda self: self.made)
    @rule(data=st.data(), by=st.sampled_from([REQ, OTHER]))
    def propose(self, data, by) -> None:
        self._try(lambda: self.world.approving.propose(self._some(data), by=by))

    @precondition(lambda self: self.made)
    @rule(data=st.data(), by=st.sampled_from([APP1, APP2, APP1, APP2, REQ, OTHER]))
    def approve(self, data, by) -> None:
        self._try(lambda: self.world.approving.approve(data.draw(st.integers(1, MOST)), by=by))

    @precondition(lambda self: self.made)
    @rule(data=st.data())
    def agree(self, data) -> None:
        self._try(lambda: self._agree(self._some(data)))

    @precondition(lambda self: self.made)
    @rule(data=st.data(), by=st.sampled_from([APP1, OTHER]))
    def deny(self, data, by) -> None:
        self._try(
            lambda: self.world.approving.deny(data.draw(st.integers(1, MOST)), by=by, reason="no")
        )

    @precondition(lambda self: self.made)
    @rule(data=st.data(), really=st.sampled_from([False, False, True]))
    def cancel(self, data, really) -> None:
        by = REQ if really else OTHER
        self._try(lambda: self.world.asking.cancel(self._some(data), by=by))

    @precondition(lambda self: self.made)
    @rule(data=st.data())
    def search_again(self, data) -> None:
        self._try(lambda: self.world.quoting.again(self._some(data), by=REQ))

    @rule(to=st.sampled_from([Switch.ON, Switch.ON, Switch.ON, Switch.OFF, Switch.SHADOW]))
    def turn(self, to) -> None:
        self._try(lambda: self.world.switching.set(to, by=ADMIN))

    @precondition(lambda self: self.made)
    @rule(data=st.data())
    def buy(self, data) -> None:
        self._try(lambda: self.world.purchasing.buy(self._some(data)))

    @rule()
    def work(self) -> None:
        self._try(self.world.work)

    @rule(mood=st.sampled_from(list(Mood)))
    def mood(self, mood) -> None:
        self.world.aws.moods.append(mood)

    @rule(commit=st.integers(1, 4), before=st.booleans())
    def die_at(self, commit, before) -> None:
        self.world.store.before, self.world.store.countdown = before, commit

    @rule()
    def restart(self) -> None:
        self.world.restart()

    @rule(readable=st.booleans())
    def books(self, readable) -> None:
        self.world.aws.unreadable = not readable

    @rule(price=st.sampled_from([PRICE, PRICE + Decimal("0.01"), PRICE - Decimal("0.01")]))
    def reprice(self, price) -> None:
        for row in self.world.aws.market.offerings:
            self.world.aws.change(row.ref, upfront_fee=price)

    @rule(number=st.integers(0, 99))
    def restock(self, number) -> None:
        offers = tuple(self._offers(f"cb{number}"))
        self.world.aws.market = Market(as_of=NOW, offerings=offers)

    @rule()
    def sell_out(self) -> None:
        self.world.aws.market = Market(as_of=NOW)

    @rule(minutes=st.sampled_from([1, 1, 5, 31, 60 * 9]))
    def wait(self, minutes) -> None:
        self.world.clock.advance(timedelta(minutes=minutes))

    # --- what must hold ----------------------------------------------------------------------

    @invariant()
    def each_leg_is_sold_at_most_once(self) -> None:
        sold = Counter((sale.reservation_id, sale.leg) for sale in self.world.aws.sold)
        assert all(count == 1 for count in sold.values())
        calls = Counter(purchase.id for purchase in self.world.aws.calls)
        assert all(count == 1 for count in calls.values())

    @invariant()
    def nothing_sold_is_forgotten_and_nothing_is_invented(self) -> None:
        sold = {sale.purchase_id for sale in self.world.aws.sold}
        for reservation_id in range(1, self.made + 1):
            for row in self.world.purchases(reservation_id):
                if row.id in sold:
                    assert row.state in (P.SUBMITTED, P.INDETERMINATE, P.CONFIRMED)
                    sold.discard(row.id)
                else:
                    assert row.state is not P.CONFIRMED
        assert not sold

    @invariant()
    def the_books_add_up(self) -> None:
        world = self.world
        with world.store.reading() as tx:
            entries = {row.purchase_key: row for row in tx.budget.entries()}
            assert not tx.audit.verify()
            for reservation_id in range(1, self.made + 1):
                reservation = tx.reservations.get(reservation_id)
                for row in tx.purchases.of(reservation_id):
                    entry = entries[f"gpu-{reservation_id}/{row.leg.number}"]
                    if row.state in (P.SUBMITTED, P.INDETERMINATE):
                        assert entry.state == "held"
                        assert entry.amount >= row.fee
                    if row.state is P.CONFIRMED:
                        assert (entry.state, entry.amount) == ("committed", row.fee)
                if reservation.state in (S.QUOTED, S.EXPIRED, S.CANCELLED, S.DECLINED, S.BLOCKED):
                    keys = [key for key in entries if key.startswith(f"gpu-{reservation_id}/")]
                    assert all(entries[key].state == "freed" for key in keys)

    @invariant()
    def money_is_held_only_for_what_may_still_be_bought(self) -> None:
        with self.world.store.reading() as tx:
            entries = {row.purchase_key: row for row in tx.budget.entries()}
            for reservation_id in range(1, self.made + 1):
                if tx.reservations.get(reservation_id).state not in SETTLED:
                    continue
                doubtful = {
                    f"gpu-{reservation_id}/{row.leg.number}"
                    for row in tx.purchases.of(reservation_id)
                    if row.state in (P.SUBMITTED, P.INDETERMINATE)
                }
                held = {
                    key
                    for key, row in entries.items()
                    if row.reservation_id == reservation_id and row.state == "held"
                }
                assert held <= doubtful
                assert not doubtful

    @invariant()
    def doubt_always_has_somebody_who_looks(self) -> None:
        with self.world.store.reading() as tx:
            doubtful = tx.purchases.in_state({P.INDETERMINATE})
            assert not doubtful or tx.dues.next_at() is not None


class MoneyByTheHour(Money):
    """The same, with launches that may find no capacity, elsewhere too, and be tried again."""

    def _file(self, count: int) -> int:
        self.world.aws.unreadable = False
        self.world.switching.set(Switch.ON, by=ADMIN)
        self.world.aws.market = Market(as_of=NOW, hourly=RATES)
        self.made = self.world.quoted(asap(instance_count=count)).id
        return self.made

    def _good_until(self, tx, proposal):
        return good_until(tx, proposal)

    def _same(self, leg, bought) -> bool:
        return (leg.kind, leg.account, leg.instance_type, leg.instance_count) == (
            bought.kind,
            bought.account,
            bought.instance_type,
            bought.instance_count,
        )

    @precondition(lambda self: self.made < MOST)
    @rule(full=st.integers(1, 6), begin=st.booleans())
    def ask_where_there_is_nothing(self, full, begin) -> None:
        self.world.store.countdown = None
        reservation_id = self._file(1)
        self._try(lambda: self._agree(reservation_id))
        self.world.aws.moods = [Mood.FULL] * full
        self._try(self.world.work)
        if begin:
            self._try(lambda: self.world.retrying.begin(self._newest(reservation_id), by=REQ))

    def _newest(self, reservation_id: int) -> int:
        with self.world.store.reading() as tx:
            proposal = tx.proposals.current(reservation_id)
        return proposal.id if proposal is not None else 0

    @precondition(lambda self: self.made)
    @rule(data=st.data(), by=st.sampled_from([REQ, REQ, REQ, OTHER]))
    def try_again(self, data, by) -> None:
        self._try(lambda: self.world.retrying.begin(data.draw(st.integers(1, MOST)), by=by))

    @rule(hours=st.sampled_from([1, 8, 20]))
    def sleep(self, hours) -> None:
        self.world.clock.advance(timedelta(hours=hours))
        self._try(self.world.work)

    @invariant()
    def no_launch_follows_doubt(self) -> None:
        for reservation_id in range(1, self.made + 1):
            rows = self.world.purchases(reservation_id)
            called = [row for row in rows if row.submitted_at is not None]
            for leg in {row.leg.number for row in called}:
                attempts = [row for row in called if row.leg.number == leg]
                assert all(row.state is P.REFUSED for row in attempts[:-1])


class MoneyOnDisk(Money):
    url = "sqlite"


SETTINGS = settings(
    max_examples=200,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
    database=None,
)


def test_no_order_of_events_spends_wrongly():
    run_state_machine_as_test(Money, settings=SETTINGS)


def test_no_order_of_events_launches_wrongly():
    run_state_machine_as_test(MoneyByTheHour, settings=settings(SETTINGS, max_examples=100))


def test_no_order_of_events_spends_wrongly_on_disk():
    run_state_machine_as_test(MoneyOnDisk, settings=settings(SETTINGS, max_examples=8))
