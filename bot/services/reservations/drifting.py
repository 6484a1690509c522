"""Spot's price moves after the approval: what it has really cost is followed at the prices paid.

When the approved total is used up before the agreed end, the approvers are paged once; at the
end the look for launches that run on takes over.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from bot.domain.base import Model
from bot.domain.lifecycle import PurchaseState
from bot.domain.market import Kind
from bot.domain.records import AuditEntry, Due, Proposal, Purchase, Receipt, gpu_id
from bot.domain.saying import Code, Mention, Moment, Sentence
from bot.domain.using import SpotPrice
from bot.domain.values import Instant, Usd, cents, dollars
from bot.ports import Bell, Clock, SpotPrices, Store, Transaction
from bot.services.reservations.looking import ENDED_WORDS, FAILED_WORDS
from bot.services.reservations.overstaying import people_to_page
from bot.services.reservations.sequels import SPEND_PACE, SPOT_SPEND, spend_due
from bot.services.reservations.using import hourly_cost
from bot.services.words.pleading import Pleading
from bot.services.words.telling import Telling

SECONDS_IN_HOUR = 3600


class Spent(Model):
    """What a spot purchase has cost until `at`; `told`: its approvers were paged for it."""

    at: Instant
    usd: Usd = Decimal(0)
    told: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Drifting:
    """Adds up what spot machines cost, and pages when it is more than was approved."""

    store: Store
    clock: Clock
    prices: SpotPrices
    telling: Telling
    pleading: Pleading
    bell: Bell

    def look(self, due: Due) -> str:
        """Add up until now; page once past the approved total. Raises MarketError: tried again."""
        with self.store.reading() as tx:
            purchase = tx.purchases.get(due.argument)
            running = _running(tx, purchase)
            before = _spent(tx, purchase)
        end = purchase.leg.segments[-1].end
        if purchase.state is not PurchaseState.CONFIRMED or not running:
            return "nothing runs"
        now = min(self.clock.now(), end)
        costs = [
            _cost(self.prices.since(one, before.at), one, purchase, before.at, now)
            for one in running
        ]
        spent = before.usd + sum((cost for cost, _ in costs), Decimal(0))
        hourly = sum((rate for _, rate in costs), Decimal(0))
        with self.store.transaction() as tx:
            proposal = tx.proposals.get(purchase.proposal_id)
            approved = _approved(purchase, proposal)
            late = spent >= approved and now < end
            after = Spent(at=now, usd=spent, told=before.told or late)
            tx.facts.put(_name(purchase), after.model_dump_json(), at=self.clock.now())
            if late and not before.told:
                self._page(tx, purchase, proposal, after, hourly)
            if now < end:
                tx.dues.plan(spend_due(purchase, at=_next(now, end, approved - spent, hourly)))
        if after.told and not before.told:
            self.bell.ring()
            return "paged"
        return f"{dollars(spent)} of {dollars(approved)}"

    def _page(
        self,
        tx: Transaction,
        purchase: Purchase,
        proposal: Proposal,
        spent: Spent,
        hourly: Decimal,
    ) -> None:
        now = self.clock.now()
        end = purchase.leg.segments[-1].end
        reservation = tx.reservations.get(purchase.reservation_id)
        left = Decimal((end - spent.at) // timedelta(seconds=1)) / SECONDS_IN_HOUR
        words: Sentence = (
            (
                f"{gpu_id(reservation.id)} ({purchase.leg.instance_count} x"
                f" {purchase.leg.instance_type} spot, "
            ),
            Code(text=purchase.id),
            (
                f") has used up the approved {dollars(_approved(purchase, proposal))}: spot has"
                f" become dearer and costs {dollars(hourly)} an hour now. Until its agreed end "
            ),
            Moment(at=end),
            (
                f" it would come to about {dollars(spent.usd + hourly * left)}."
                " Please have it ended, or let it go on."
            ),
        )
        people: Sentence = tuple(
            part
            for who in people_to_page(proposal, purchase, self.telling.configuration)
            for part in (Mention(id=who), " ")
        )
        what = f"dearer-{purchase.id}"
        self.telling.note(tx, reservation, what, (words,), now=now)
        self.pleading.under_approval(tx, proposal, what, ((*people, *words),), now=now)
        tx.audit.append(
            AuditEntry(
                at=now,
                actor="clock",
                action="purchase.dearer",
                reservation_id=reservation.id,
                purchase_id=purchase.id,
                facts={"spent": str(cents(spent.usd)), "hourly": str(cents(hourly))},
            )
        )


def _running(tx: Transaction, purchase: Purchase) -> list[Receipt]:
    return [
        one
        for one in tx.receipts.of(purchase.reservation_id)
        if one.purchase_id == purchase.id
        and one.kind is Kind.SPOT
        and not one.gone
        and one.state not in ENDED_WORDS | FAILED_WORDS
    ]


def _name(purchase: Purchase) -> str:
    return f"{SPOT_SPEND}:{purchase.id}"


def _spent(tx: Transaction, purchase: Purchase) -> Spent:
    stored = tx.facts.get(_name(purchase))
    if stored:
        return Spent.model_validate_json(stored)
    return Spent(at=purchase.submitted_at or purchase.intended_at)


def _cost(
    prices: Sequence[SpotPrice],
    receipt: Receipt,
    purchase: Purchase,
    since: datetime,
    now: datetime,
) -> tuple[Decimal, Decimal]:
    """Return what a launch cost since then, and costs an hour now; unshown: as it was approved."""
    machines = (
        receipt.instance_count if receipt.available_count is None else receipt.available_count
    )
    rate, at, cost = hourly_cost(purchase), since, Decimal(0)
    for price in prices:
        until = min(max(price.at, since), now)
        cost += rate * _hours(until - at)
        rate, at = price.usd_per_hour, until
    cost += rate * _hours(now - at)
    return cost * machines, rate * machines


def _hours(length: timedelta) -> Decimal:
    return Decimal(max(length // timedelta(seconds=1), 0)) / SECONDS_IN_HOUR


def _approved(purchase: Purchase, proposal: Proposal) -> Decimal:
    """Return what was agreed to for this purchase: the ceiling, where it is the only one."""
    return max(purchase.fee, proposal.ceiling) if len(proposal.legs) == 1 else purchase.fee


def _next(now: datetime, end: datetime, left: Decimal, hourly: Decimal) -> datetime:
    """Return when to add up again: each hour, and when the rest would be used up at this price."""
    if hourly > 0 and left > 0:
        used_up = now + timedelta(seconds=int(left / hourly * SECONDS_IN_HOUR) + 1)
        return min(max(used_up, now + timedelta(minutes=1)), now + SPEND_PACE, end)
    return min(now + SPEND_PACE, end)
