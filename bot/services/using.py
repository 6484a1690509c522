"""How much of what was bought is used, kept as one small record per receipt. Pure but the store.

Counted in machine-seconds from the counts seen at each look; a time that nobody looked at is
counted as unseen, never guessed.
"""

from datetime import datetime, timedelta
from decimal import Decimal

from bot.domain.base import Model
from bot.domain.ending import usable
from bot.domain.market import Kind
from bot.domain.records import Purchase, Receipt
from bot.domain.values import Instant
from bot.ports import Transaction
from bot.services.looking import ACTIVE_WORDS, lost_of, segment_at, used_count

COUNTED = frozenset({Kind.CAPACITY_BLOCK, Kind.TRAINING_PLAN, Kind.ODCR})
"""Kinds that show how much of them is free."""

UNSEEN = timedelta(hours=3)
"""Between two looks longer than this nobody knows what was used."""

HOUR_SECONDS = 3600


class Use(Model):
    """What was seen until `at`, and the episode of low use that is under way, if one is.

    `used`, `lost` and `unseen` are machine-seconds. `low_since` begins an episode, `told_at` is
    when its owner was told, `raised` whether the channel was, `kept` whether a person wants it so.
    `told_last` outlives the episode. `unwell` is the largest number of unhealthy machines that
    was said since all were well.
    """

    at: Instant
    in_use: int = 0
    unhealthy: int = 0
    total: int = 0
    used: int = 0
    lost: int = 0
    unseen: int = 0
    ever: bool = False
    low_since: Instant | None = None
    told_at: Instant | None = None
    told_last: Instant | None = None
    raised: bool = False
    kept: bool = False
    unwell: int = 0


def use_name(receipt_id: str) -> str:
    """Return the name of the fact that holds a receipt's use."""
    return f"use:{receipt_id}"


def use_of(tx: Transaction, receipt_id: str) -> Use | None:
    """Return what was seen of a receipt; None before its first active look."""
    stored = tx.facts.get(use_name(receipt_id))
    return Use.model_validate_json(stored) if stored else None


def keep_use(tx: Transaction, receipt_id: str, use: Use, *, now: datetime) -> None:
    """Store it."""
    tx.facts.put(use_name(receipt_id), use.model_dump_json(), at=now)


def counted(before: Use | None, receipt: Receipt, now: datetime) -> Use | None:
    """Return the use up to now, with the counts that this look shows; None when it shows none."""
    if receipt.kind not in COUNTED or receipt.last_error or receipt.gone:
        return before
    segment = segment_at(receipt, now)
    if before is None:
        seen = segment is not None and receipt.state in ACTIVE_WORDS
        if segment is None or not seen or receipt.total_count is None:
            return None
        before = Use(at=segment.start, total=receipt.total_count)
    seconds = _usable_seconds(receipt, before.at, now)
    long = now - before.at > UNSEEN
    counts = receipt.state in ACTIVE_WORDS and receipt.total_count is not None
    in_use = used_count(receipt) if counts else 0
    return before.model_copy(
        update={
            "at": now,
            "used": before.used + (0 if long else before.in_use * seconds),
            "lost": before.lost + before.unhealthy * seconds,
            "unseen": before.unseen + (before.total * seconds if long else 0),
            "in_use": in_use,
            "unhealthy": (receipt.unhealthy_count or 0) if counts else 0,
            "total": receipt.total_count or before.total,
            "ever": before.ever or in_use > 0,
        }
    )


def _usable_seconds(receipt: Receipt, since: datetime, until: datetime) -> int:
    total = timedelta(0)
    for segment in receipt.segments:
        start, last = usable(segment, lost_of(receipt))
        total += max(timedelta(0), min(last, until) - max(start, since))
    return int(total / timedelta(seconds=1))


def usable_machine_hours(receipt: Receipt) -> Decimal:
    """Return the machine-hours that can be used in all, without what AWS takes at the ends."""
    first = min((segment.start for segment in receipt.segments), default=None)
    last = max((segment.end for segment in receipt.segments), default=None)
    if first is None or last is None:
        return Decimal(0)
    return hours(_usable_seconds(receipt, first, last) * receipt.instance_count)


def hours(machine_seconds: int) -> Decimal:
    """Return machine-seconds as machine-hours."""
    return Decimal(machine_seconds) / HOUR_SECONDS


def hourly_cost(purchase: Purchase) -> Decimal:
    """Return what one machine costs for an hour, used or not: the fee over all it buys."""
    leg = purchase.leg
    seconds = sum((int((part.end - part.start) / timedelta(seconds=1)) for part in leg.segments), 0)
    bought = hours(seconds * leg.instance_count)
    return purchase.fee / bought if bought else Decimal(0)
