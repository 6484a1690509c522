"""Which tier of approval a total falls into, and when a tier's people are reminded."""

from datetime import datetime, timedelta
from decimal import Decimal

from bot.policy.configuration import Configuration, Tier


def tier_for(total: Decimal, configuration: Configuration) -> Tier | None:
    """Return the first tier that holds the total; None above the last: nobody may agree."""
    return next((tier for tier in configuration.approval.tiers if total <= tier.up_to_usd), None)


def everyone(tier: Tier) -> tuple[str, ...]:
    """Return all who may approve in a tier, users and user groups, pinged ones first."""
    return tuple(dict.fromkeys((*tier.approvers, *tier.quiet)))


def escalation_time(asked_at: datetime, expires_at: datetime, first: timedelta) -> datetime:
    """Return when silence is escalated: at the last reminder, or half way when there is none."""
    times = nudge_times(asked_at, expires_at, first)
    return times[-1] if times else asked_at + (expires_at - asked_at) / 2


def nudge_times(asked_at: datetime, expires_at: datetime, first: timedelta) -> tuple[datetime, ...]:
    """Return when approvers are reminded: `first` after the question, then after twice as long.

    Every pause doubles, so that a long wait brings few messages; none comes at or after expiry.
    """
    times: list[datetime] = []
    wait = first
    while wait > timedelta(0) and asked_at + wait < expires_at:
        times.append(asked_at + wait)
        wait *= 2
    return tuple(times)
