"""Machines by the hour have an agreed end: past it nobody has approved what they cost.

AWS ends Capacity Blocks, plans and our capacity reservations by itself, but a launch runs on.
The approved total is the price of the agreed hours, so that both end at the same moment.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from bot.domain.errors import PurchaseError
from bot.domain.lifecycle import PurchaseState
from bot.domain.records import AuditEntry, Due, Proposal, Purchase, Receipt, gpu_id
from bot.domain.saying import Code, Mention, Moment, Sentence
from bot.domain.using import Leftover, LeftoverKind
from bot.domain.values import dollars, how_many, utc_text
from bot.policy.configuration import Configuration
from bot.policy.tiers import tier_for
from bot.ports import Bell, Clock, Holdings, Leftovers, Store
from bot.services.reservations.looking import ENDED_WORDS, FAILED_WORDS
from bot.services.words.pleading import Pleading
from bot.services.words.telling import Telling

KIND = "overstay"
AGAIN = timedelta(hours=6)
"""An approver who was paged once may be asleep; every hour would be noise."""
SOON = timedelta(minutes=5)
"""Machines that were told to end take some minutes to do so."""
SECONDS_IN_HOUR = 3600


def overstay_due(purchase: Purchase, at: datetime) -> Due:
    """Return the due row of one look at whether a launch runs past its agreed end."""
    subject = gpu_id(purchase.reservation_id)
    return Due(
        key=f"{KIND}:{subject}:{purchase.id}:{utc_text(at)}",
        kind=KIND,
        subject=subject,
        at=at,
        argument=purchase.id,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Overstaying:
    """Pages the approvers of a launch that runs on, and ends it where the file says so."""

    store: Store
    clock: Clock
    holdings: Holdings
    telling: Telling
    pleading: Pleading
    configuration: Configuration
    bell: Bell
    leftovers: Leftovers | None = None

    def look(self, purchase_id: str) -> str:
        """Look whether the launch still runs; page, and end it if so ruled; return what was done.

        What can't be read counts as running: paging once too often is the smaller harm.
        """
        with self.store.reading() as tx:
            purchase = tx.purchases.get(purchase_id)
            kept = [
                receipt
                for receipt in tx.receipts.of(purchase.reservation_id)
                if receipt.purchase_id == purchase_id
            ]
        if purchase.state is not PurchaseState.CONFIRMED:
            return f"nothing runs: {purchase.state}"
        seen = self.holdings.look(kept)
        running = [receipt for receipt in seen.values() if _runs(receipt)]
        if not running:
            return "it has ended"
        ended = self._end(purchase, running) if self.configuration.limits.stop_at_end else ""
        self._page(purchase, ended)
        self.bell.ring()
        return ended or "paged"

    def _end(self, purchase: Purchase, running: Sequence[Receipt]) -> str:
        """Have what the bot launched ended; return what was done, in words."""
        if self.leftovers is None:
            return "Its machines could not be ended: nothing here can do that"
        found = self.leftovers.find(running)
        mine = [one for one in found.items if _launched(one, purchase)]
        failed = 0
        for leftover in mine:
            try:
                self.leftovers.remove(leftover)
            except PurchaseError:
                failed += 1
        if failed or not mine:
            return f"{failed or 'Some'} of its machines could not be ended"
        return f"I am ending {how_many(len(mine), 'machine')} of it now, as the rules say"

    def _page(self, purchase: Purchase, ended: str) -> None:
        now = self.clock.now()
        end = purchase.leg.segments[-1].end
        with self.store.transaction() as tx:
            reservation = tx.reservations.get(purchase.reservation_id)
            proposal = tx.proposals.get(purchase.proposal_id)
            what = f"overstay-{purchase.id}-{(now - end) // AGAIN}"
            words: Sentence = (
                (
                    f"{gpu_id(reservation.id)} ({purchase.leg.instance_count} x"
                    f" {purchase.leg.instance_type}, "
                ),
                Code(text=purchase.id),
                ") runs past its agreed end ",
                Moment(at=end),
                (
                    f". The approved {dollars(purchase.fee)} is used up; each further hour costs"
                    f" about {dollars(_hourly(purchase))}. {ended or 'Please have it ended'}."
                ),
            )
            people: Sentence = tuple(
                part
                for who in people_to_page(proposal, purchase, self.configuration)
                for part in (Mention(id=who), " ")
            )
            self.telling.note(tx, reservation, what, (words,), now=now)
            self.pleading.under_approval(tx, proposal, what, ((*people, *words),), now=now)
            tx.dues.plan(overstay_due(purchase, now + (SOON if ended else AGAIN)))
            tx.audit.append(
                AuditEntry(
                    at=now,
                    actor="clock",
                    action="purchase.overstays",
                    reservation_id=reservation.id,
                    purchase_id=purchase.id,
                    facts={"end": utc_text(end), "done": ended or "paged"},
                )
            )


def people_to_page(
    proposal: Proposal, purchase: Purchase, configuration: Configuration
) -> Sequence[str]:
    """Return whom to page: who agreed; else the tier's approvers; else administrators."""
    agreed = [who for who in purchase.approvers if who.startswith(("U", "W"))]
    tier = tier_for(proposal.ceiling, configuration)
    named = tier.approvers if tier is not None else ()
    return agreed or named or configuration.administrators


def _runs(receipt: Receipt) -> bool:
    return not receipt.gone and receipt.state not in ENDED_WORDS | FAILED_WORDS


def _hourly(purchase: Purchase) -> Decimal:
    first, last = purchase.leg.segments[0], purchase.leg.segments[-1]
    hours = Decimal((last.end - first.start) // timedelta(seconds=1)) / SECONDS_IN_HOUR
    return purchase.fee / hours if hours else purchase.fee


def _launched(leftover: Leftover, purchase: Purchase) -> bool:
    """Whether it is a machine of this very purchase; nothing else is ever ended by the clock."""
    return leftover.kind is LeftoverKind.INSTANCE and leftover.purchase == purchase.id
