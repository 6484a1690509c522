"""More time for what was bought: asked for like a purchase, approved and bought like one.

An extension is a reservation of its own with one leg of purpose EXTENSION. What it prolongs goes
on being followed, and its end moves only when AWS's own record shows the new one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import NoReturn

from bot.domain.decision import Certainty, Note, Option
from bot.domain.errors import UserError
from bot.domain.lifecycle import BEFORE_PURCHASE, ProposalState, ReservationState
from bot.domain.records import Leg, Proposal, Reservation, gpu_id
from bot.domain.request import Request, Target
from bot.domain.saying import Code, Moment, Sentence, Strong
from bot.domain.values import dollars, money_text
from bot.policy.configuration import Configuration
from bot.policy.permitting import Obstacle, check_concerned, may_approve
from bot.policy.tiers import everyone, tier_for
from bot.ports import Bell, Clock, Store, Transaction
from bot.services.approvals.proposing import Proposing
from bot.services.commitments.closing import Closing
from bot.services.commitments.committing import POLICY
from bot.services.requests.searching import quote_due
from bot.services.reservations.extensions import link, open_child, parent_of
from bot.services.reservations.looking import lost_of
from bot.services.reservations.permissions import (
    VOID,
    permission_of,
    permit_press,
    prolonged_as,
    spent_on_extensions,
)
from bot.services.reservations.tendering import Tender, Tendering, last_receipt, on_sale
from bot.services.verifying import Verifying
from bot.services.words.auditing import write_audit
from bot.services.words.pleading import Pleading
from bot.services.words.telling import Telling

DAY_HOURS = 24
HOUR = timedelta(hours=1)
TIDY_AFTER = timedelta(minutes=15)
"""An extension that was filed and never asked for is closed after so long."""

_S = ReservationState
UNDER_WAY = frozenset({_S.PURCHASING, _S.NEEDS_REVIEW, _S.PAYMENT_PENDING})
"""An extension in these states is paid for, or may be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extending:
    """Asks for extensions and settles what becomes of them before they are bought."""

    store: Store
    clock: Clock
    tendering: Tendering
    proposing: Proposing
    closing: Closing
    verifying: Verifying
    pleading: Pleading
    telling: Telling
    configuration: Configuration
    bell: Bell
    quote_others: Callable[[int], object]

    def extend(self, reservation_id: int, *, hours: Decimal, by: str) -> Proposal:
        """Ask for so many more hours; return the proposal, approved already where that is allowed.

        Raises NotAllowedError for strangers, UserError with what stands in the way and what works.
        """
        with self.store.reading() as tx:
            parent = tx.reservations.get(reservation_id)
            busy = open_child(tx, reservation_id)
        self._check(parent, busy, hours, by)
        tender = self.tendering.tender(reservation_id, hours=int(hours))
        if tender.leg is None or tender.fee is None or tender.until is None:
            raise UserError(tender.why or "There is nothing that could be prolonged.")
        allowed_by = self._allower(parent, tender)
        child = self._file(parent, tender, hours, by=by)
        draft = self._draft(parent, child, tender, by=by)
        if allowed_by is None or draft.auto:
            proposal = self._open(child, draft)
        else:
            draft = draft.model_copy(update={"auto": True})

            def changed(tx: Transaction) -> str | None:
                if _allows(tx, parent.id, draft.ceiling, apart=child.id) == allowed_by:
                    return None
                return "What was allowed ahead has changed just now; press Extend again."

            proposal = self._open(child, draft, unless=changed, allowed_by=allowed_by)
        if proposal.state is ProposalState.OPEN:
            self._offer_more(proposal, reservation_id)
        self.bell.ring()
        return proposal

    def by_itself(
        self,
        parent: Reservation,
        tender: Tender,
        *,
        once: str,
        allowed_by: str,
        unless: Callable[[Transaction], str | None],
    ) -> Proposal | None:
        """Extend by what was tendered under a permission; None when `once` says it came to nothing.

        What was committed already comes back as it is. `unless` is asked in both transactions,
        that which files and that which commits. Raises UserError with what it says, or with what
        stands in the way.
        """
        leg = _known(tender)
        hours = Decimal((leg.segments[-1].end - leg.segments[0].start) // HOUR)
        with self.store.reading() as tx:
            child = _begun(tx, once)
            done = tx.proposals.current(child.id) if child is not None else None
        if child is None:
            child = self._file(parent, tender, hours, by=parent.owner, once=once, unless=unless)
        elif child.state is not _S.QUOTED:
            return done if child.state not in VOID else None
        draft = self._draft(parent, child, tender, by=parent.owner)
        auto = draft.model_copy(update={"auto": True})
        try:
            return self._open(child, auto, unless=unless, allowed_by=allowed_by)
        except UserError:
            with self.store.reading() as tx:
                done, child = tx.proposals.current(child.id), tx.reservations.get(child.id)
            if done is None or child.state in VOID:
                raise
            return done  # another worker committed it meanwhile

    def recall(
        self, tx: Transaction, parent: Reservation, *, by: str, now: datetime
    ) -> Reservation | None:
        """Take back what extends a reservation by itself and is not bought yet.

        Returns the extension that can't be taken back, because it is being bought; None without.
        """
        child = open_child(tx, parent.id)
        name = prolonged_as(tx, parent.id, child.id) if child is not None else None
        if child is None or name is None:
            return None
        if child.state not in BEFORE_PURCHASE:
            return child if child.state in UNDER_WAY else None
        self.closing.withdraw_proposal(tx, child, now=now, note=f"stopped by @{by}")
        tx.dues.withdraw(gpu_id(child.id))
        saved = tx.reservations.save(
            child.model_copy(
                update={
                    "state": _S.CANCELLED,
                    "note": "Stopped before anything was bought.",
                    "updated_at": now,
                }
            )
        )
        # A new permission for this end files it anew.
        tx.facts.drop(name)
        write_audit(tx, saved, by, "extension.stopped", now, extends=gpu_id(parent.id))
        self.telling.redraw(tx, saved, now=now)
        return None

    def obstacle(self, by: str, parent: Reservation, amount: Decimal) -> Obstacle | None:
        """Return why this person may not allow so much more of a reservation; asks Slack."""
        tier = tier_for(amount, self.configuration)
        people = everyone(tier) if tier is not None else ()
        standing = self.verifying.standing(by, people)
        return may_approve(
            standing, approvers=people, requester=parent.requester, owner=parent.owner
        )

    def _open(
        self,
        child: Reservation,
        draft: Proposal,
        unless: Callable[[Transaction], str | None] | None = None,
        allowed_by: str = POLICY,
    ) -> Proposal:
        try:
            return self.proposing.open(draft, unless=unless, allowed_by=allowed_by)
        except UserError as error:
            self._close(child.id, error.message)
            raise

    def quote(self, reservation_id: int) -> object:
        """Close an extension whose offer is gone; anything else is quoted (due kind "quote").

        A price for more time is asked for anew by a press, never by itself.
        """
        with self.store.reading() as tx:
            parent = parent_of(tx, reservation_id)
        if parent is None:
            return self.quote_others(reservation_id)
        return self._close(reservation_id, f"Ask again with /gpu extend {gpu_id(parent)}.")

    def _check(
        self, parent: Reservation, busy: Reservation | None, hours: Decimal, by: str
    ) -> None:
        name = gpu_id(parent.id)
        check_concerned(parent, by, self.configuration)
        if parent.state not in (_S.ACTIVE, _S.SCHEDULED):
            raise UserError(
                f"{name} is {parent.state.replace('_', ' ')}; only what is scheduled or active"
                " can be extended.",
                hint=f"status {name}",
            )
        if not on_sale(hours):
            raise UserError(
                "AWS sells extensions of 1 to 14 days, then in whole weeks up to 182 days.",
                hint=f"extend {name} by 1d",
            )
        if busy is not None:
            raise UserError(
                f"{gpu_id(busy.id)} already extends {name} and is not settled yet.",
                hint=f"status {gpu_id(busy.id)}",
            )

    def _file(
        self,
        parent: Reservation,
        tender: Tender,
        hours: Decimal,
        *,
        by: str,
        once: str | None = None,
        unless: Callable[[Transaction], str | None] | None = None,
    ) -> Reservation:
        leg, now = _known(tender), self.clock.now()
        name = gpu_id(parent.id)
        with self.store.transaction() as tx:
            busy = open_child(tx, parent.id)
            if busy is not None and once is not None and tx.facts.get(once) == str(busy.id):
                return busy  # another worker filed it meanwhile
            if busy is not None:
                raise UserError(f"{gpu_id(busy.id)} already extends {name}.")
            against = unless(tx) if unless is not None else None
            if against is not None:
                raise UserError(against)
            child = tx.reservations.add(
                Reservation(
                    state=_S.REQUESTED,
                    workspace=parent.workspace,
                    requester=by,
                    owner=parent.owner,
                    team=parent.team,
                    account=leg.account,
                    channel=parent.channel,
                    request=Request(
                        instance_type=leg.instance_type,
                        instance_count=leg.instance_count,
                        duration_hours=hours,
                        target=Target(leg.target) if leg.target else None,
                        reason=f"extends {name}",
                    ),
                    line=f"extend {name} by {int(hours) // DAY_HOURS}d",
                    zone=parent.zone,
                    locale=parent.locale,
                    created_at=now,
                    updated_at=now,
                )
            )
            child = tx.reservations.save(child.model_copy(update={"state": _S.QUOTED}))
            link(tx, child=child.id, parent=parent.id, now=now)
            if once is not None:
                tx.facts.put(once, str(child.id), at=now)
            tx.dues.plan(quote_due(child, at=now + TIDY_AFTER, why="tidy"))
            fee = money_text(leg.fee)
            write_audit(tx, child, by, "extension.asked", now, extends=name, fee=fee)
        return child

    def _draft(
        self, parent: Reservation, child: Reservation, tender: Tender, *, by: str
    ) -> Proposal:
        leg, now = _known(tender), self.clock.now()
        tier = tier_for(leg.fee, self.configuration)
        if tier is None:
            raise UserError(f"{dollars(leg.fee)} is more than anybody here may approve.")
        with self.store.reading() as tx:
            receipt = last_receipt(tx, parent.id)
            spent = spent_on_extensions(tx, parent.id, apart=child.id)
        free = (self.configuration.approval.extensions_without_asking_usd or Decimal(0)) - spent
        lost = lost_of(receipt) if receipt is not None else timedelta(0)
        expires_at = now + tier.expires
        return Proposal(
            reservation_id=child.id,
            version=child.version,
            state=ProposalState.OPEN,
            option=_option(leg, parent.option, lost),
            legs=(leg,),
            ceiling=leg.fee,
            team=child.team,
            needed=tier.needed,
            approvers=everyone(tier),
            auto=tier.auto or leg.fee <= free,
            asked_by=by,
            asked_at=now,
            expires_at=min(expires_at, tender.until or expires_at),
        )

    def _allower(self, parent: Reservation, tender: Tender) -> str | None:
        """Return who allowed the price ahead and still may; None when it has to be asked for."""
        with self.store.reading() as tx:
            permission = permission_of(tx, parent.id)
            by = _allows(tx, parent.id, _known(tender).fee)
        if permission is None or by is None:
            return None
        return by if self.obstacle(by, parent, permission.up_to) is None else None

    def _offer_more(self, proposal: Proposal, parent: int) -> None:
        """Let approvers allow the same sum again, ahead of the next time."""
        twice = proposal.ceiling * 2
        with self.store.transaction() as tx:
            self.pleading.under_approval(
                tx,
                proposal,
                "ahead",
                (
                    (
                        "This extends ",
                        Strong(text=gpu_id(parent)),
                        (
                            f". Whoever may approve {dollars(twice)} can also allow it to be"
                            " extended by itself, up to that sum in all, this one included."
                        ),
                    ),
                ),
                now=self.clock.now(),
                presses=(permit_press(parent, twice),),
            )

    def _close(self, reservation_id: int, why: str) -> str:
        now = self.clock.now()
        with self.store.transaction() as tx:
            child = tx.reservations.get(reservation_id)
            if child.state is not _S.QUOTED:
                return f"left as it is: {child.state}"
            proposal = tx.proposals.current(child.id)
            if proposal is not None:
                self.closing.withdraw_proposal(
                    tx, child, now=now, note="the extension is no longer sought"
                )
            saved = tx.reservations.save(
                child.model_copy(
                    update={
                        "state": _S.EXPIRED,
                        "note": f"Nothing was bought. {why}",
                        "updated_at": now,
                    }
                )
            )
            write_audit(tx, saved, "clock", "extension.closed", now, why=why)
            self.telling.redraw(tx, saved, now=now)
        self.bell.ring()
        return "closed"


def _known(tender: Tender) -> Leg:
    if tender.leg is None:
        _nothing()
    return tender.leg


def _allows(tx: Transaction, parent: int, fee: Decimal, *, apart: int = 0) -> str | None:
    """Return who allowed so much more ahead, if it is in force, enough, and somebody else's."""
    permission, reservation = permission_of(tx, parent), tx.reservations.get(parent)
    if permission is None or permission.by in (reservation.owner, reservation.requester):
        return None
    spent = spent_on_extensions(tx, parent, apart=apart)
    return permission.by if fee <= permission.up_to - spent else None


def _nothing() -> NoReturn:
    raise UserError("There is nothing that could be prolonged.")


def _begun(tx: Transaction, once: str) -> Reservation | None:
    """Return the extension that was filed under that name; None when it lapsed unbought.

    What lapsed was tidied away while nobody worked on it; no person said no to it.
    """
    said = tx.facts.get(once)
    child = tx.reservations.get(int(said)) if said is not None else None
    return None if child is not None and child.state is _S.EXPIRED else child


def _option(leg: Leg, before: Option | None, lost: timedelta) -> Option:
    first, last = leg.segments[0], leg.segments[-1]
    length = Decimal(int((last.end - first.start) / timedelta(seconds=1))) / 3600
    rate = leg.fee / (length * leg.instance_count)
    each = Decimal(1)
    if before is not None and before.usd_per_accelerator_hour:
        each = before.usd_per_instance_hour / before.usd_per_accelerator_hour
    return Option(
        rank=1,
        kind=leg.kind,
        refs=(leg.ref,),
        account=leg.account,
        region=leg.region,
        zone=leg.zone,
        instance_type=leg.instance_type,
        instance_count=leg.instance_count,
        segments=leg.segments,
        usable_end=last.end - lost,
        usable_hours=length,
        total_usd=leg.fee,
        usd_per_instance_hour=rate,
        usd_per_accelerator_hour=rate / each,
        versus_on_demand=None,
        break_even_utilization=None,
        certainty=Certainty.GUARANTEED,
        cancellable=False,
        paid="upfront",
        reasons=(),
        warnings=(
            Note(
                code="payment_pending_first",
                text="The end moves only when AWS shows the payment through and the new end.",
            ),
        ),
    )


def asked_words(proposal: Proposal, parent: int) -> tuple[Sentence, ...]:
    """Return what became of a press on Extend, for the person who pressed."""
    price = dollars(proposal.ceiling)
    if proposal.state is ProposalState.APPROVED:
        return ((f"{gpu_id(parent)} is being extended for {price}; nobody had to be asked.",),)
    return (
        (
            f"Approval is asked to extend {gpu_id(parent)} for {price}, as ",
            Code(text=gpu_id(proposal.reservation_id)),
            ", until ",
            Moment(at=proposal.expires_at),
            ".",
        ),
    )
