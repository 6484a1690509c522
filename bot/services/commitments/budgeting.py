"""Money held, renewed and freed, inside the caller's transaction. Each leg has one entry."""

from collections.abc import Collection
from datetime import datetime
from decimal import Decimal

from bot.domain.errors import UserError
from bot.domain.lifecycle import LIVE_PURCHASES
from bot.domain.records import BudgetEntry, Proposal, Reservation
from bot.policy.ceilings import Overrun, daily_overrun, day_of, month_of, team_overrun
from bot.policy.configuration import Configuration
from bot.ports import Transaction
from bot.services.reservations.following import budget_key


def overrun(
    tx: Transaction,
    amount: Decimal,
    *,
    team: str | None,
    configuration: Configuration,
    now: datetime,
    apart: Collection[str] = (),
) -> Overrun | None:
    """Return the ceiling that committing `amount` now would break; None when none.

    `apart` are keys of entries that are not counted, because the amount stands for them.
    """
    month, after_month = month_of(now)
    midnight, next_midnight = day_of(now)
    return daily_overrun(
        amount,
        today=tx.budget.spent(since=midnight, until=next_midnight, apart=apart),
        configuration=configuration,
    ) or team_overrun(
        amount,
        team=team,
        this_month=tx.budget.spent(team=team, since=month, until=after_month, apart=apart),
        configuration=configuration,
    )


def hold(
    tx: Transaction,
    reservation: Reservation,
    proposal: Proposal,
    *,
    configuration: Configuration,
    now: datetime,
) -> None:
    """Hold the money of every leg. Raises UserError when a budget or ceiling does not hold it."""
    over = overrun(tx, proposal.ceiling, team=proposal.team, configuration=configuration, now=now)
    if over is not None:
        raise UserError(over.text, hint="budget")
    for leg in proposal.legs:
        tx.budget.hold(
            BudgetEntry(
                purchase_key=budget_key(reservation.id, leg.number),
                reservation_id=reservation.id,
                team=proposal.team,
                amount=leg.fee,
                state="held",
                held_at=now,
            )
        )


def renew(
    tx: Transaction,
    proposal: Proposal,
    leg_number: int,
    *,
    configuration: Configuration,
    now: datetime,
) -> str | None:
    """Make the leg's held money count today; return why it may not be spent, or None.

    Money held on an earlier day counts on the day it is committed, under that day's ceiling.
    """
    key = budget_key(proposal.reservation_id, leg_number)
    entries = tx.budget.entries(reservation_id=proposal.reservation_id)
    held = next((entry for entry in entries if entry.purchase_key == key), None)
    if held is None or held.state != "held":
        return "No money is held for this part any more."
    over = overrun(
        tx,
        held.amount,
        team=proposal.team,
        configuration=configuration,
        now=now,
        apart=(key,),
    )
    if over is not None:
        return over.text
    if day_of(held.held_at) != day_of(now):
        tx.budget.free(key)
        tx.budget.hold(held.model_copy(update={"held_at": now}))
    return None


def free_unbought(tx: Transaction, proposal: Proposal) -> None:
    """Free the money of every leg without a live purchase."""
    live = {
        purchase.leg.number
        for purchase in tx.purchases.of(proposal.reservation_id)
        if purchase.state in LIVE_PURCHASES
    }
    for leg in proposal.legs:
        if leg.number not in live:
            tx.budget.free(budget_key(proposal.reservation_id, leg.number))
