"""Whose seat somebody takes when they agree: their own, or that of whoever they stand in for.

A delegate counts as the approver they stand in for: both together are one voice, and nobody
stands in for whoever asked. Only people named in the file, not members of a group, have delegates.
"""

from collections.abc import Collection
from datetime import datetime

from bot.policy.configuration import Configuration
from bot.policy.permitting import Standing


def stands_in_for(user: str, configuration: Configuration, now: datetime) -> tuple[str, ...]:
    """Return whom the person stands in for at the moment, in the file's order."""
    return tuple(
        entry.of
        for entry in configuration.approval.delegates
        if entry.to == user
        and (entry.since is None or entry.since <= now)
        and (entry.until is None or now < entry.until)
    )


def seat_of(
    standing: Standing,
    *,
    approvers: Collection[str],
    configuration: Configuration,
    now: datetime,
    barred: Collection[str] = (),
) -> str | None:
    """Return whose agreement the person's word is: an approver's id; None when it is nobody's.

    `barred` are people for whom nobody may speak here: who asked and who will own it.
    """
    if standing.among(approvers):
        return standing.user
    for principal in stands_in_for(standing.user, configuration, now):
        if principal in approvers and principal not in barred:
            return principal
    return None
