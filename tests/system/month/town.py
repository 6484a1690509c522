"""The product, wired as in production, in a month that its plot made; and what people do in it."""

import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial

import pytest
import structlog

from bot import wiring
from bot.catalog import packaged
from bot.domain.cleanup import Maker
from bot.domain.lifecycle import ProposalState, PurchaseState, ReservationState
from bot.domain.market import Kind
from bot.domain.records import (
    BudgetEntry,
    Leg,
    LegPurpose,
    Proposal,
    Purchase,
    Receipt,
    Reservation,
)
from bot.domain.request import Parsed, Request, Status, Target
from bot.scheduling import Beat
from bot.services.endings.cleanup_records import record_of_cleanup
from bot.services.requests.asking import Asker
from bot.services.reservations.extensions import link
from bot.services.reservations.following import Following, budget_key
from bot.settings.config_file import EXAMPLE, parse_configuration
from storage import open_store
from tests.fakes.clock import FakeClock
from tests.fakes.people import FakePeople
from tests.services.after.after_world import option
from tests.system.month.plot import DAY, HOUR, MINUTE, OWNER, TAKER, Case, Month
from tests.system.month.sky import Ear, Ports, Sky, purchase_of

FEE = Decimal("1105.10")
AFTERWARDS = 25 * DAY
"""The month is followed until the last of its reservations is over."""
CLEANED_AFTER = 9 * HOUR
WAITERS = (TAKER, "U0MAX")
Deed = Callable[[], object]


class Town:
    """One run of a plot on one store; a restart closes the store and opens it again."""

    def __init__(self, url: str, month: Month, cases: Sequence[Case]) -> None:
        self.url, self.month, self.cases = url, month, list(cases)
        self.clock = FakeClock(month.first)
        self.sky = Sky(self.clock, self.cases, month)
        self.ports = Ports(self.sky)
        self.ear = Ear(self.clock, month.away)
        self.numbers: dict[str, int] = {}
        self.children: dict[str, int] = {}
        self.waiters: dict[str, list[int]] = {}
        self.store = open_store(url)
        self.start()

    def start(self) -> None:
        """Begin as a new process would, on what is stored."""
        if not self.url.startswith("memory"):
            self.store.close()
            self.store = open_store(self.url)
        configuration, faults = parse_configuration(EXAMPLE)
        assert configuration is not None, faults
        digest = configuration.digest.model_copy(update={"zone": self.month.digest_zone})
        log = structlog.wrap_logger(
            structlog.PrintLogger(),
            wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL),
        )
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(wiring, "Aws", lambda **_: self.ports)
            patch.setattr(wiring, "SlackPeople", lambda **_: _Residents(self.clock))
            patch.setattr(wiring, "SlackMessenger", lambda **_: self.ear)
            self.house = wiring.build(
                configuration=configuration.model_copy(update={"digest": digest}),
                store=self.store,
                clock=self.clock,
                bell=Beat(beat_seconds=60, log=log),
                slack=wiring.Slack(token="xoxb-0", base_url="http://127.0.0.1/", workspace="T0"),
                catalog=packaged(),
                log=log,
            )
        self.house.digesting.ensure()

    # --- time ----------------------------------------------------------------------------------

    def run(self) -> None:
        """Live through the month and what follows from it."""
        for moment, _, _, deed in sorted(self._deeds(), key=lambda row: row[:3]):
            self.run_until(max(moment, self.clock.now()))
            deed()
        self.run_until(self.month.last + AFTERWARDS)

    def _deeds(self) -> list[tuple[datetime, int, int, Deed]]:
        # The process is killed a moment before, and comes back at the end.
        rows: list[tuple[datetime, Deed]] = [
            (one.start - MINUTE, partial(self._sleep, one.end)) for one in self.month.down
        ]
        rows += [(moment, self.start) for moment in self.month.restarts]
        groups: dict[int, list[Case]] = {}
        for case in self.cases:
            groups.setdefault(case.group, []).append(case)
        for cases in groups.values():
            rows.append((cases[0].bought, partial(self.buy, cases)))
            for case in cases:
                rows += self._deeds_of(case)
        return [(at, number == 0, number, deed) for number, (at, deed) in enumerate(rows)]

    def _deeds_of(self, case: Case) -> list[tuple[datetime, Deed]]:
        rows: list[tuple[datetime, Deed]] = []
        if case.serving is not None:
            rows.append((case.serving.ordered, partial(self.order, case)))
        if case.handed is not None:
            rows.append((case.handed, partial(self.hand, case)))
        if case.release is not None:
            rows.append((case.release.at, partial(self.release, case)))
            if case.release.taken_after is not None:
                taken = case.release.at + case.release.taken_after
                rows.append((taken, partial(self.take, case)))
        if case.prolonging is not None:
            rows.append((case.prolonging.asked, partial(self.prolong, case)))
        if case.left and case.fails is None:
            rows.append((self._rested(case.over()), partial(self.clean, case)))
        return rows

    def _rested(self, moment: datetime) -> datetime:
        """Return a moment long enough after it that is in nobody's way."""
        for _ in range(3):
            moment += CLEANED_AFTER
            broken = [
                one.end
                for one in (*self.month.down, *self.month.dark)
                if one.start - CLEANED_AFTER < moment < one.end + CLEANED_AFTER
            ]
            if not broken:
                return moment
            moment = max(broken)
        return moment

    def _sleep(self, until: datetime) -> None:
        self.clock.set(until)
        self.start()

    def settle(self) -> None:
        for _ in range(400):
            if not self.house.duties.step() + self.house.delivering.step():
                return
        raise AssertionError("it never comes to rest")

    def run_until(self, end: datetime) -> None:
        """Move the clock from event to event."""
        self.settle()
        while self.clock.now() < end:
            with self.store.reading() as tx:
                times = [at for at in (tx.dues.next_at(), tx.outbox.next_at()) if at]
            ahead = min((at for at in times if at > self.clock.now()), default=end)
            self.clock.set(min(ahead, end))
            self.settle()

    # --- what people do ------------------------------------------------------------------------

    def order(self, case: Case) -> None:
        self.house.desk.uses.endpoints.create(
            self.numbers[case.id], model="llama", count=1, by=OWNER
        )

    def hand(self, case: Case) -> None:
        number = self.numbers[case.id]
        self.house.desk.after.hand(number, to=TAKER, by=OWNER)
        self.house.desk.after.accept(number, by=TAKER)

    def release(self, case: Case) -> None:
        release = case.release
        assert release is not None
        for user in WAITERS[: release.waiting]:
            self._wait_for(case, user)
        self.settle()
        self.house.desk.after.release(self.numbers[case.id], by=OWNER)

    def take(self, case: Case) -> None:
        self.house.desk.after.take(self.numbers[case.id], by=TAKER)

    def _wait_for(self, case: Case, user: str) -> None:
        request = Request(
            instance_type="p5.48xlarge",
            instance_count=1,
            duration_hours=Decimal(1),
            regions=(case.region,),
            target=Target(case.target) if case.target else None,
        )
        parsed = Parsed(
            status=Status.OK,
            command="reserve",
            id=None,
            arguments={},
            request=request,
            line=f"reserve {case.id} {user}",
            echo=None,
            questions=(),
            problem=None,
        )
        asker = Asker(user=user, workspace="T0", channel="C0GPU", zone="UTC", locale="en-US")
        filed = self.house.desk.asking.file(parsed, by=asker)
        self.waiters.setdefault(case.id, []).append(filed.reservation.id)

    def clean(self, case: Case) -> None:
        number = self.numbers[case.id]
        with self.store.reading() as tx:
            record = record_of_cleanup(tx, number)
        assert record is not None, case
        [item] = [one for one in record.open if one.leftover.id == f"i-left-{case.id}"]
        cleaning = self.house.desk.uses.cleaning
        owner = TAKER if case.handed or (case.release and case.release.taken_after) else OWNER
        cleaning.remove(number, item.leftover.key, by=owner)
        if item.maker is Maker.KIT:
            cleaning.agree(number, item.leftover.key, by="U0BRUNO")

    # --- what is bought ------------------------------------------------------------------------

    def buy(self, cases: Sequence[Case]) -> None:
        """Put confirmed purchases in the books, as the money path leaves them."""
        first = cases[0]
        reservation = self._bought(first, [self._receipt(case) for case in cases], "initial")
        for case in cases:
            self.numbers[case.id] = reservation

    def prolong(self, case: Case) -> None:
        """Have an extension in the books: a reservation of its own that AWS has yet to settle."""
        more = case.prolonging
        assert more is not None
        end = case.segments[-1].end
        part = case.segments[-1].model_copy(update={"start": end, "end": more.end})
        receipt = self._receipt(case).model_copy(
            update={"id": f"{case.id}#more", "segments": (part,), "state": "payment-pending"}
        )
        self.children[case.id] = self._bought(case, [receipt], "extension")

    def _receipt(self, case: Case) -> Receipt:
        now = self.clock.now()
        state = case.state(now)
        if case.kind in (Kind.CAPACITY_BLOCK, Kind.TRAINING_PLAN):
            state = state.replace("active", "scheduled")
        return Receipt(
            id=case.id,
            purchase_id=purchase_of(case),
            reservation_id=0,
            kind=case.kind,
            account="research",
            region=case.region,
            zone="us-east-1b",
            instance_type=case.instance_type,
            instance_count=case.total,
            target=case.target,
            segments=case.segments,
            state=state,
            checked_at=now,
            ultraserver_type=case.ultraserver_type,
        )

    def _bought(self, case: Case, receipts: Sequence[Receipt], purpose: str) -> int:
        now = self.clock.now()
        following = self.house.duties.steps["follow"].__self__
        assert isinstance(following, Following)
        legs = tuple(_leg(number, one, purpose) for number, one in enumerate(receipts, start=1))
        offered = option(FEE, case.segments[0])
        more = purpose == "extension"
        with self.store.transaction() as tx:
            reservation = tx.reservations.add(_reservation(case, now))
            for step in ("quoted", "approved", "purchasing"):
                reservation = tx.reservations.save(
                    reservation.model_copy(
                        update={"state": ReservationState(step), "option": offered}
                    )
                )
            if more:
                link(tx, child=reservation.id, parent=self.numbers[case.id], now=now)
            proposal = tx.proposals.add(_proposal(reservation.id, offered, legs, now))
            tx.proposals.move(proposal, ProposalState.APPROVED)
            stored = []
            for leg, receipt in zip(legs, receipts, strict=True):
                purchase_id = receipt.purchase_id + ("-more" if more else "")
                purchase = Purchase(
                    id=purchase_id,
                    reservation_id=reservation.id,
                    proposal_id=proposal.id,
                    leg=leg,
                    attempt=1,
                    state=PurchaseState.INTENDED,
                    offering_ref=leg.ref,
                    fee=leg.fee,
                    owner=OWNER,
                    team="vision",
                    approvers=("U0BRUNO",),
                    intended_at=now,
                )
                tx.purchases.add(purchase)
                sent = tx.purchases.move(purchase, PurchaseState.SUBMITTED, at=now)
                tx.purchases.move(sent, PurchaseState.CONFIRMED, at=now)
                key = budget_key(reservation.id, leg.number)
                tx.budget.hold(
                    BudgetEntry(
                        purchase_key=key,
                        reservation_id=reservation.id,
                        team="vision",
                        amount=leg.fee,
                        state="held",
                        held_at=now,
                    )
                )
                tx.budget.settle(key, amount=str(leg.fee))
                own = {"reservation_id": reservation.id, "purchase_id": purchase_id}
                stored.append(tx.receipts.add(receipt.model_copy(update=own)))
            words = {receipt.state for receipt in stored}
            state = "payment_pending" if any("pending" in word for word in words) else "scheduled"
            if words & {"active", "running"}:
                state = "active"
            reservation = tx.reservations.save(
                reservation.model_copy(update={"state": ReservationState(state)})
            )
            following.telling.redraw(tx, reservation, now=now)
            following.began(tx, reservation, stored, now=now)
        return reservation.id


def _reservation(case: Case, now: datetime) -> Reservation:
    return Reservation(
        state=ReservationState.REQUESTED,
        workspace="T0",
        requester=OWNER,
        owner=OWNER,
        team="vision",
        channel="C0GPU",
        request=Request(
            instance_type="p5.48xlarge", instance_count=case.total, duration_hours=Decimal(48)
        ),
        line="reserve 2x p5.48xlarge for 48h",
        zone=case.zone,
        locale="en-US",
        created_at=now,
        updated_at=now,
    )


def _proposal(number: int, offered, legs: tuple[Leg, ...], now: datetime) -> Proposal:
    return Proposal(
        reservation_id=number,
        version=1,
        state=ProposalState.OPEN,
        option=offered,
        legs=legs,
        ceiling=FEE * len(legs),
        team="vision",
        needed=1,
        approvers=("U0BRUNO",),
        asked_by=OWNER,
        asked_at=now,
        expires_at=now + timedelta(hours=4),
    )


def _leg(number: int, receipt: Receipt, purpose: str) -> Leg:
    return Leg(
        number=number,
        purpose=LegPurpose(purpose),
        kind=receipt.kind,
        ref=f"cb-{receipt.id}",
        account="research",
        region=receipt.region,
        zone="us-east-1b",
        instance_type=receipt.instance_type,
        instance_count=receipt.instance_count,
        segments=receipt.segments,
        target=receipt.target,
        platform="Linux/UNIX",
        fee=FEE,
        extends=receipt.id.partition("#")[0] if "#" in receipt.id else None,
    )


class _Residents(FakePeople):
    def name(self, user_id: str) -> str:
        return user_id
