"""How much of what was bought is used, kept as one small record per receipt. Pure but the store.

Counted in machine-seconds from the counts seen at each look; a time that nobody looked at is
counted as unseen, never guessed.
"""

from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal

from bot.domain.base import Model
from bot.domain.ending import usable
from bot.domain.market import Kind
from bot.domain.records import Purchase, Receipt
from bot.domain.using import GpuUse
from bot.domain.values import Instant
from bot.ports import Transaction
from bot.services.reservations.looking import ACTIVE_WORDS, lost_of, segment_at, used_count

COUNTED = frozenset({Kind.CAPACITY_BLOCK, Kind.TRAINING_PLAN, Kind.ODCR})
"""Kinds that show how much of them is free."""

LAUNCHED = frozenset({Kind.ON_DEMAND, Kind.SPOT})
"""Kinds that are nothing but machines: only their GPUs tell whether they are used."""

UNSEEN = timedelta(hours=3)
"""Between two looks longer than this nobody knows what was used."""

HOUR_SECONDS = 3600


class Use(Model):
    """What was seen until `at`, and the episode of low use that is under way, if one is.

    `used`, `lost` and `unseen` are machine-seconds. `low_since` begins an episode, `told_at` is
    when its owner was told, `raised` whether the channel was, `kept` whether a person wants it so.
    `told_last` outlives the episode. `unwell` is the largest number of unhealthy machines that
    was said since all were well.

    `gpu_idle` of the machines in use have GPUs that do next to nothing, out of `gpu_reporting`
    that report; `gpu_permille` is the sum over these. `measured` are the machine-seconds that
    were reported, `worked` the same times permille. `gpu_low`: the episode stands on GPUs alone.
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
    gpu_idle: int = 0
    gpu_reporting: int = 0
    gpu_permille: int = 0
    measured: int = 0
    worked: int = 0
    gpu_low: bool = False

    @property
    def busy(self) -> int:
        """Return how many machines are used and, as far as anybody knows, do something."""
        return max(self.in_use - self.gpu_idle, 0)

    def few_run(self, kind: Kind, below: Decimal) -> bool:
        """Return whether less than that share of the machines is in use, where AWS counts them."""
        return kind in COUNTED and (not self.in_use or self.in_use < below * self.total)

    def few_work(self, below: Decimal) -> bool:
        """Return whether, because GPUs stand idle, less than that share of them does something."""
        return bool(self.gpu_idle) and (not self.busy or self.busy < below * self.total)


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


def counted(
    before: Use | None,
    receipt: Receipt,
    now: datetime,
    *,
    gpus: GpuUse | None = None,
    idle_below: Decimal | None = None,
) -> Use | None:
    """Return the use up to now, with the counts that this look shows; None when it shows none.

    `gpus` is what is known of them, `idle_below` the share under which a machine does nothing.
    """
    if receipt.last_error or receipt.gone or not (receipt.kind in COUNTED or gpus or before):
        return before
    segment = segment_at(receipt, now)
    if before is None:
        seen = segment is not None and receipt.state in ACTIVE_WORDS
        if segment is None or not seen or receipt.total_count is None:
            return None
        before = Use(at=segment.start, total=_total(receipt))
    seconds = _usable_seconds(receipt, before.at, now)
    long = now - before.at > UNSEEN
    counts = receipt.state in ACTIVE_WORDS and receipt.total_count is not None
    in_use = _in_use(receipt) if counts else 0
    # The busiest ones: an ill machine may still report, but does not count as used.
    shares = gpus.shares[-in_use:] if gpus is not None and in_use else ()
    return before.model_copy(
        update={
            "at": now,
            "used": before.used + (0 if long else before.busy * seconds),
            "measured": before.measured + (0 if long else before.gpu_reporting * seconds),
            "worked": before.worked + (0 if long else before.gpu_permille * seconds),
            "gpu_reporting": len(shares),
            "gpu_permille": int(sum(shares, Decimal(0)) * 1000),
            "gpu_idle": sum(1 for one in shares if idle_below is not None and one < idle_below),
            "lost": before.lost + before.unhealthy * seconds,
            "unseen": before.unseen + (before.total * seconds if long else 0),
            "in_use": in_use,
            "unhealthy": (receipt.unhealthy_count or 0) if counts else 0,
            "total": _total(receipt) or before.total,
            "ever": before.ever or in_use > 0,
        }
    )


def _in_use(receipt: Receipt) -> int:
    """Return how many machines there are; of a launch those that still run."""
    if receipt.kind in LAUNCHED:
        return receipt.available_count or 0
    return used_count(receipt)


def _total(receipt: Receipt) -> int:
    """Return how many machines cost money: of a launch those that still run."""
    if receipt.kind in LAUNCHED:
        return receipt.available_count or 0
    return receipt.total_count or 0


def gpu_words(gpus: GpuUse) -> str:
    """Return source and age: "CloudWatch, last 30 min, 7 of 8 machines report"."""
    minutes = (gpus.until - gpus.since) // timedelta(minutes=1)
    machines = "1 machine reports" if gpus.machines == 1 else f"{gpus.machines} machines report"
    return f"CloudWatch, last {minutes} min, {gpus.reporting} of {machines}"


def average(gpus: GpuUse) -> str:
    """Return the average over the machines that report, as people read it: "3 %"."""
    share = sum(gpus.shares, Decimal(0)) / max(len(gpus.shares), 1)
    return percent(share)


def percent(share: Decimal) -> str:
    """Return a share as whole per cent: "3 %"."""
    return f"{(share * 100).quantize(Decimal(1), rounding=ROUND_HALF_UP)} %"


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
