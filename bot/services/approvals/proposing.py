"""Putting an option before approvers. Rehearsed at AWS first; nothing here spends."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from bot.domain.decision import Option
from bot.domain.errors import IndeterminateError, MarketError, UserError
from bot.domain.lifecycle import ProposalState, ReservationState
from bot.domain.market import Kind
from bot.domain.records import (
    Approval,
    AuditEntry,
    DecisionRecord,
    Leg,
    Proposal,
    Reservation,
    Switch,
    gpu_id,
)
from bot.domain.saying import Code, Mention, Moment, Sentence
from bot.domain.values import dollars, money_text, utc_text
from bot.policy.accounts import elsewhere
from bot.policy.configuration import Configuration, Tier
from bot.policy.permitting import check_concerned
from bot.policy.tiers import everyone, tier_for
from bot.ports import Bell, Buyer, Clock, Store, Transaction
from bot.services.commitments import budgeting
from bot.services.commitments.closing import Closing
from bot.services.commitments.committing import POLICY, commit, proposal_due
from bot.services.commitments.drafting import last_moment, legs_of
from bot.services.commitments.requoting import started
from bot.services.words.telling import Telling
from bot.services.words.views import switch_of

PROPOSABLE = frozenset({ReservationState.QUOTED, ReservationState.PENDING_APPROVAL})


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposing:
    """Makes proposals out of decisions."""

    store: Store
    clock: Clock
    buyer: Buyer
    telling: Telling
    closing: Closing
    configuration: Configuration
    bell: Bell

    def propose(self, reservation_id: int, *, by: str, rank: int | None = None) -> Proposal:
        """Ask for approval of the shown option, or that of `rank`; return the proposal.

        Asking again for what is open already returns it unchanged. A tier that needs nobody
        approves at once. Raises NotAllowedError for strangers, UserError with what stands in
        the way: an old decision, a passed start, quota, permission, switch, tier, budget.
        """
        with self.store.reading() as tx:
            reservation = tx.reservations.get(reservation_id)
            record = tx.decisions.latest(reservation_id)
            newest = tx.proposals.current(reservation_id)
        check_concerned(reservation, by, self.configuration)
        option, record = self._chosen(reservation, record, rank)
        if (
            newest is not None
            and newest.state is ProposalState.OPEN
            and newest.version == reservation.version
            and newest.option == option
        ):
            return newest
        draft = self._draft(reservation, option, record, by=by, now=self.clock.now())
        return self.open(draft)

    def open(
        self,
        draft: Proposal,
        *,
        unless: Callable[[Transaction], str | None] | None = None,
        allowed_by: str = POLICY,
    ) -> Proposal:
        """Rehearse a draft at AWS and put it before its approvers; return it as stored.

        Whoever calls has checked who asks and for what; `unless` says in the transaction that
        stores it what speaks against it, `allowed_by` who allowed ahead what needs nobody now.
        Raises UserError as `propose` does.
        """
        if draft.option.kind is not Kind.OWNED:
            with self.store.reading() as tx:
                self._check_switch(tx)
            self._rehearse(draft)
        now = self.clock.now()
        with self.store.transaction() as tx:
            fresh = tx.reservations.get(draft.reservation_id)
            against = unless(tx) if unless is not None else None
            if against is not None:
                raise UserError(against)
            if fresh.version != draft.version or fresh.state not in PROPOSABLE:
                raise UserError(f"{gpu_id(fresh.id)} has moved on; look at its card.")
            self._check_money(tx, draft, now)
            proposal = self._store(tx, fresh, draft, now, allowed_by=allowed_by)
        self.bell.ring()
        return proposal

    def _chosen(
        self, reservation: Reservation, record: DecisionRecord | None, rank: int | None
    ) -> tuple[Option, DecisionRecord]:
        name = gpu_id(reservation.id)
        if reservation.state not in PROPOSABLE:
            raise UserError(
                f"{name} is {reservation.state.replace('_', ' ')}; there is nothing to approve now."
            )
        if record is None or record.version != reservation.version:
            raise UserError(f"{name} is still being worked out. One moment, please.")
        wanted = reservation.shown_rank if rank is None else rank
        option = next((one for one in record.decision.options if one.rank == wanted), None)
        if option is None:
            raise UserError(f"{name} has no such option; look at its card.")
        return option, record

    def _draft(
        self,
        reservation: Reservation,
        option: Option,
        record: DecisionRecord,
        *,
        by: str,
        now: datetime,
    ) -> Proposal:
        request = reservation.request
        past = started(request, now)
        limit = last_moment(option, request, self.configuration)
        if past is not None or (limit is not None and limit <= now):
            raise UserError(
                "It is too late for this option: its start is past or too near. Search again.",
                hint=reservation.line,
            )
        if request.max_total_usd is not None and option.total_usd > request.max_total_usd:
            raise UserError(
                f"This costs {dollars(option.total_usd)}, above the asked limit of"
                f" {dollars(request.max_total_usd)}."
            )
        tier = self._tier(option.total_usd)
        lender = _lender(option, record) if option.kind is Kind.OWNED else None
        auto, approvers, needed = self._judges(option, tier, lender, reservation)
        expires_at = now + tier.expires
        return Proposal(
            reservation_id=reservation.id,
            version=reservation.version,
            state=ProposalState.OPEN,
            option=option,
            legs=legs_of(option, record, self.configuration),
            ceiling=option.total_usd,
            team=reservation.team,
            needed=needed,
            approvers=approvers,
            auto=auto,
            asked_by=by,
            asked_at=now,
            expires_at=expires_at if limit is None else min(expires_at, limit),
        )

    def _tier(self, total: Decimal) -> Tier:
        tier = tier_for(total, self.configuration)
        if tier is None:
            last = self.configuration.approval.tiers[-1].up_to_usd
            raise UserError(
                f"{dollars(total)} is more than anybody here may approve ({dollars(last)})."
            )
        return tier

    def _judges(
        self, option: Option, tier: Tier, lender: str | None, reservation: Reservation
    ) -> tuple[bool, tuple[str, ...], int]:
        """Return whether nobody is needed, else who may agree and how many must."""
        if option.kind is not Kind.OWNED:
            return tier.auto, everyone(tier), tier.needed
        if lender is None:
            return False, self.configuration.administrators, 1
        return lender == reservation.requester, (lender,), 1

    def _rehearse(self, draft: Proposal) -> None:
        """Find out at AWS what would stop it. Raises UserError; the card says it, too."""
        try:
            reasons = [
                reason
                for leg in draft.legs
                for reason in self.buyer.rehearse(leg, used_in=self._used_in(leg, draft.team))
            ]
        except MarketError as error:
            raise UserError(
                "AWS could not be asked just now whether this can be bought. Please try again."
            ) from error
        except IndeterminateError as error:
            self._stop_all(draft, error)
            raise UserError(
                "AWS may have taken a trial run for a purchase. An administrator is looking;"
                " nothing more is bought until then."
            ) from error
        if not reasons:
            return
        text = "This can't be bought as things are: " + " ".join(dict.fromkeys(reasons))
        now = self.clock.now()
        with self.store.transaction() as tx:
            fresh = tx.reservations.get(draft.reservation_id)
            if fresh.version == draft.version and fresh.state in PROPOSABLE:
                saved = tx.reservations.save(
                    fresh.model_copy(update={"note": text, "updated_at": now})
                )
                self.telling.redraw(tx, saved, now=now)
        self.bell.ring()
        raise UserError(text)

    def _stop_all(self, draft: Proposal, error: IndeterminateError) -> None:
        """Turn the switch off and have the administrators look: a rehearsal may have spent.

        Nobody approved it and no purchase stands for it, so that no look-up could ever settle it;
        and the next rehearsal could spend again.
        """
        now = self.clock.now()
        leg = draft.legs[0]
        words: Sentence = (
            "AWS did not treat a DryRun as one, while ",
            Mention(id=draft.asked_by, ping=False),
            f" asked for {gpu_id(draft.reservation_id)}: {error}. It may have sold ",
            Code(text="+".join(draft.option.refs)),
            (
                f" for {dollars(draft.ceiling)} in account {leg.account}, {leg.region}. Please"
                " look there for what carries the tag value “rehearsal”. I stopped all"
                " purchasing; resume it once you know."
            ),
        )
        with self.store.transaction() as tx:
            before = switch_of(tx, self.configuration)
            tx.facts.put("switch", Switch.OFF.value, at=now)
            tx.audit.append(
                AuditEntry(
                    at=now,
                    actor=draft.asked_by,
                    action="rehearsal.in_doubt",
                    reservation_id=draft.reservation_id,
                    facts={
                        "from": before,
                        "to": Switch.OFF,
                        "why": str(error),
                        "fee": money_text(draft.ceiling),
                        "offering": "+".join(draft.option.refs),
                    },
                )
            )
            fresh = tx.reservations.get(draft.reservation_id)
            what = f"rehearsal-{utc_text(now)}"
            self.telling.note(tx, fresh, what, (words,), now=now)
            for administrator in self.configuration.administrators:
                self.telling.tell(tx, administrator, what, (words,), now=now)
            self.telling.redraw(tx, fresh, now=now)
        self.bell.ring()

    def _used_in(self, leg: Leg, team: str | None) -> str | None:
        """Return the account that a leg will be shared with; None when it stays."""
        passage = elsewhere(
            leg.kind,
            ultraserver=leg.ultraserver_type is not None,
            buyer=leg.account,
            team=team,
            configuration=self.configuration,
        )
        return passage.user if passage is not None and passage.shareable else None

    def _check_switch(self, tx: Transaction) -> None:
        if switch_of(tx, self.configuration) is Switch.OFF:
            raise UserError("Purchasing is stopped. An administrator can resume it.")

    def _check_money(self, tx: Transaction, draft: Proposal, now: datetime) -> None:
        if draft.option.kind is Kind.OWNED:
            return
        self._check_switch(tx)
        over = budgeting.overrun(
            tx, draft.ceiling, team=draft.team, configuration=self.configuration, now=now
        )
        if over is not None:
            raise UserError(over.text, hint="budget")

    def _store(
        self,
        tx: Transaction,
        reservation: Reservation,
        draft: Proposal,
        now: datetime,
        *,
        allowed_by: str,
    ) -> Proposal:
        self.closing.withdraw_proposal(
            tx, reservation, now=now, note="a newer question replaced it"
        )
        proposal = tx.proposals.add(draft)
        saved = tx.reservations.save(
            reservation.model_copy(
                update={
                    "state": ReservationState.PENDING_APPROVAL,
                    "option": draft.option,
                    "shown_rank": draft.option.rank,
                    "account": draft.option.account,
                    "note": "",
                    "updated_at": now,
                }
            )
        )
        tx.dues.plan(proposal_due("propose-expire", proposal, proposal.expires_at, "end"))
        tx.audit.append(
            AuditEntry(
                at=now,
                actor=draft.asked_by,
                action="proposal.opened",
                reservation_id=saved.id,
                facts={
                    "proposal": str(proposal.id),
                    "ceiling": money_text(proposal.ceiling),
                    "offering": "+".join(proposal.option.refs),
                    "needed": str(proposal.needed),
                },
            )
        )
        if proposal.auto:
            if allowed_by != POLICY:
                tx.proposals.give(
                    Approval(
                        proposal_id=proposal.id,
                        approver=allowed_by,
                        verdict="approve",
                        at=now,
                        fee=proposal.ceiling,
                        reason="allowed ahead",
                    )
                )
            return commit(
                tx,
                proposal,
                saved,
                by=allowed_by,
                now=now,
                telling=self.telling,
                configuration=self.configuration,
            )
        tx.dues.plan(proposal_due("propose-nudge", proposal, now, "asked"))
        self.telling.redraw(tx, saved, now=now)
        self.telling.redraw_proposal(tx, proposal.id, now=now)
        if proposal.option.kind is Kind.OWNED:
            self._ask_holder(tx, saved, proposal, now)
        return proposal

    def _ask_holder(
        self, tx: Transaction, reservation: Reservation, proposal: Proposal, now: datetime
    ) -> None:
        """Ask the holder in private: they need not read the approvers' channel."""
        option, name = proposal.option, gpu_id(reservation.id)
        words: Sentence = (
            Mention(id=reservation.requester, ping=False),
            f" asks to use {option.instance_count} x {option.instance_type} of ",
            Code(text=option.refs[0]),
            f" for {name}. Nothing is bought. Agree with ",
            Code(text=f"/gpu approve {name}"),
            " until ",
            Moment(at=proposal.expires_at),
            ".",
        )
        for holder in proposal.approvers:
            self.telling.tell(tx, holder, f"lend-{proposal.id}", (words,), now=now)


def _lender(option: Option, record: DecisionRecord) -> str | None:
    """Return who holds the owned capacity that the option would use; None when nobody is named."""
    return next((row.owner for row in record.market.owned if row.ref in option.refs), None)
