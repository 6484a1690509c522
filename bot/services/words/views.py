"""What a card shows: a reservation with everything that was decided, agreed and bought."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from pydantic import Field

from bot.domain.base import Model
from bot.domain.decision import Decision, Option
from bot.domain.lifecycle import LIVE_RESERVATIONS
from bot.domain.records import (
    Approval,
    DecisionRecord,
    LegPurpose,
    Proposal,
    Purchase,
    Receipt,
    Reservation,
    Switch,
    gpu_id,
)
from bot.domain.sharing import Elsewhere
from bot.domain.values import Instant, Usd
from bot.policy.accounts import account_used_by, elsewhere
from bot.policy.ceilings import month_of
from bot.policy.configuration import Configuration
from bot.policy.permitting import asking_groups, concerns, teams_of
from bot.ports import Clock, Store, Transaction
from bot.services.verifying import Verifying

Scope = Literal["mine", "team", "all"]
PAGE = 20


class CardView(Model):
    """Everything a card of one reservation may show, read in one consistent view.

    `budget_left` is the team's for this month after all money held and committed; None when the
    team has no budget. `progress` says what is being done now, for people. Above `approvable_up_to`
    nobody may agree. `not_bought` is why no more was bought after the shown proposal's approval.
    `elsewhere` says by `option_key` how an option of another account gets to the team's own.
    """

    reservation: Reservation
    decision: Decision | None
    decided_at: Instant | None
    proposal: Proposal | None
    approvals: tuple[Approval, ...]
    purchases: tuple[Purchase, ...]
    receipts: tuple[Receipt, ...]
    budget_left: Usd | None
    switch: Switch
    progress: str
    seen_at: Instant
    approvable_up_to: Usd | None = None
    not_bought: str = ""
    elsewhere: dict[str, Elsewhere] = Field(default_factory=dict)


def option_key(option: Option) -> str:
    """Return what tells an option from all others of its decision."""
    return f"{option.account}|{'+'.join(option.refs)}"


def not_bought_name(proposal_id: int) -> str:
    """Return the name of the fact why an approved proposal brought nothing, or only a part."""
    return f"not-bought:{proposal_id}"


def budget_left(
    tx: Transaction, *, team: str | None, configuration: Configuration, now: Instant
) -> Decimal | None:
    """Return what the team may still commit this month; None when it has no limit."""
    limit = next(
        (entry.monthly_budget_usd for entry in configuration.teams if entry.name == team), None
    )
    if team is None or limit is None:
        return None
    since, until = month_of(now)
    return limit - tx.budget.spent(team=team, since=since, until=until)


def switch_of(tx: Transaction, configuration: Configuration) -> Switch:
    """Return the switch in force: what an administrator said last, else the file's."""
    said = tx.facts.get("switch")
    return Switch(said) if said else configuration.purchasing


@dataclass(frozen=True, slots=True, kw_only=True)
class Views:
    """Reads cards; changes nothing."""

    store: Store
    clock: Clock
    verifying: Verifying
    configuration: Configuration

    def card(self, reservation_id: int) -> CardView:
        """Return the reservation's card with its newest proposal. Raises UnknownRecordError."""
        with self.store.reading() as tx:
            return self.view(tx, tx.reservations.get(reservation_id))

    def copy(self, reservation_id: int, *, reader: str) -> CardView:
        """Return the card for one person: what a team has left is for those who are in it.

        Raises UnknownRecordError.
        """
        view = self.card(reservation_id)
        if view.budget_left is None or self._pays(reader, view.reservation):
            return view
        return view.model_copy(update={"budget_left": None})

    def proposal(self, proposal_id: int) -> CardView:
        """Return the card of a proposal's reservation, showing that very proposal."""
        with self.store.reading() as tx:
            proposal = tx.proposals.get(proposal_id)
            reservation = tx.reservations.get(proposal.reservation_id)
            view = self.view(tx, reservation)
            return view.model_copy(
                update={
                    "proposal": proposal,
                    "approvals": tuple(tx.proposals.given(proposal_id)),
                    "not_bought": tx.facts.get(not_bought_name(proposal_id)) or "",
                    "elsewhere": self._elsewhere(
                        reservation.team, tx.decisions.latest(reservation.id), proposal
                    ),
                }
            )

    def listing(
        self, *, scope: Scope, user: str, before_id: int | None = None
    ) -> tuple[CardView, ...]:
        """Return live reservations, newest first: the person's, their teams', or all."""
        teams = self._teams_of(user) if scope == "team" else ()
        with self.store.reading() as tx:
            found: list[Reservation] = []
            if scope == "team":
                for team in teams:
                    found += tx.reservations.listing(
                        states=LIVE_RESERVATIONS, team=team, limit=PAGE, before_id=before_id
                    )
                found.sort(key=lambda reservation: reservation.id, reverse=True)
            else:
                found += tx.reservations.listing(
                    states=LIVE_RESERVATIONS,
                    requester=user if scope == "mine" else None,
                    limit=PAGE,
                    before_id=before_id,
                )
            return tuple(self.view(tx, reservation) for reservation in found[:PAGE])

    def _pays(self, reader: str, reservation: Reservation) -> bool:
        mine = concerns(reservation, reader, self.configuration)
        return mine or reservation.team in self._teams_of(reader)

    def _teams_of(self, user: str) -> Sequence[str]:
        standing = self.verifying.standing(user, asking_groups(self.configuration))
        return [team.name for team in teams_of(standing, self.configuration)]

    def view(self, tx: Transaction, reservation: Reservation) -> CardView:
        """Return the card of a reservation that was just read in this transaction."""
        # The evidence is most of a record; only how another account's capacity gets here needs it.
        borrows = account_used_by(reservation.team, self.configuration) is not None
        record = tx.decisions.latest(reservation.id) if borrows else None
        shown = record or tx.decisions.shown(reservation.id)
        proposal = tx.proposals.current(reservation.id)
        now = self.clock.now()
        return CardView(
            reservation=reservation,
            decision=shown.decision if shown else None,
            decided_at=shown.decided_at if shown else None,
            proposal=proposal,
            approvals=tuple(tx.proposals.given(proposal.id)) if proposal else (),
            purchases=tuple(tx.purchases.of(reservation.id)),
            receipts=tuple(tx.receipts.of(reservation.id)),
            budget_left=budget_left(
                tx, team=reservation.team, configuration=self.configuration, now=now
            ),
            switch=switch_of(tx, self.configuration),
            progress=tx.facts.get(f"progress:{gpu_id(reservation.id)}") or "",
            seen_at=now,
            approvable_up_to=self.configuration.approval.tiers[-1].up_to_usd,
            not_bought=(tx.facts.get(not_bought_name(proposal.id)) or "") if proposal else "",
            elsewhere=self._elsewhere(reservation.team, record, proposal),
        )

    def _elsewhere(
        self, team: str | None, record: DecisionRecord | None, proposal: Proposal | None
    ) -> dict[str, Elsewhere]:
        """Return how options of other accounts get to the team's; empty where it names none."""
        if account_used_by(team, self.configuration) is None:
            return {}
        market = record.market if record is not None else None
        rows = {row.ref: row for row in market.offerings} if market is not None else {}
        zones: dict[str, str | None] = {ref: row.zone_id for ref, row in rows.items()}
        zones |= {row.ref: row.zone_id for row in market.hourly} if market is not None else {}
        options = list(record.decision.options) if record is not None else []
        large = {ref for ref, row in rows.items() if row.ultraserver_type is not None}
        if proposal is not None and proposal.legs[:1]:
            if all(leg.purpose is LegPurpose.EXTENSION for leg in proposal.legs):
                return {}  # more time of what is shared already, or is not
            options.append(proposal.option)
            large |= {leg.ref for leg in proposal.legs if leg.ultraserver_type is not None}
        found = {
            option_key(option): elsewhere(
                option.kind,
                ultraserver=bool(large & {*option.refs}),
                buyer=option.account,
                team=team,
                configuration=self.configuration,
                zone_id=next((zones[ref] for ref in option.refs if ref in zones), None),
            )
            for option in options
        }
        return {key: passage for key, passage in found.items() if passage is not None}
