"""Money that may still be committed: a team's month and the whole day, both in UTC.

Only money held or committed counts; what was freed does not. Sums are exact Decimals.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from decimal import Decimal

from bot.domain.base import Model
from bot.domain.records import BudgetEntry
from bot.domain.values import Usd, dollars
from bot.policy.configuration import Configuration


class Overrun(Model):
    """A ceiling that a new amount would break: whose, how high, and what is left under it."""

    whose: str
    limit: Usd
    left: Usd

    @property
    def text(self) -> str:
        """The sentence for people."""
        left = max(self.left, Decimal(0))
        return f"This would go over {self.whose} of {dollars(self.limit)}: {dollars(left)} is left."


def counted(entries: Iterable[BudgetEntry]) -> Decimal:
    """Return the exact sum of what is held or committed."""
    return sum((entry.amount for entry in entries if entry.state != "freed"), Decimal(0))


def day_of(moment: datetime) -> tuple[datetime, datetime]:
    """Return the half-open UTC day around the moment."""
    start = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return start, start + timedelta(days=1)


def month_of(moment: datetime) -> tuple[datetime, datetime]:
    """Return the half-open UTC month around the moment."""
    start = moment.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    after = start.replace(year=start.year + start.month // 12, month=start.month % 12 + 1)
    return start, after


def team_overrun(
    amount: Decimal,
    *,
    team: str | None,
    this_month: Decimal,
    configuration: Configuration,
) -> Overrun | None:
    """Return how the amount would break the team's monthly budget; None when it holds it.

    `this_month` is what the team has held and committed in it.
    """
    limit = next(
        (entry.monthly_budget_usd for entry in configuration.teams if entry.name == team), None
    )
    if team is None or limit is None:
        return None
    left = limit - this_month
    if amount <= left:
        return None
    return Overrun(whose=f"{team}'s budget for this month", limit=limit, left=left)


def daily_overrun(
    amount: Decimal, *, today: Decimal, configuration: Configuration
) -> Overrun | None:
    """Return how the amount would break the day's ceiling over everything; None when it fits.

    `today` is what all teams have held and committed on it.
    """
    limit = configuration.daily_ceiling_usd
    if limit is None:
        return None
    left = limit - today
    if amount <= left:
        return None
    return Overrun(whose="the ceiling for today (UTC) over everything", limit=limit, left=left)
