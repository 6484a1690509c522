"""When to look at what was bought: as seldom as the moment allows, and on common minutes. Pure.

Looks fall on shared whole minutes, so that everything in one account and region is read in one
batch. The words are AWS's own: EC2 states with dashes, SageMaker's in lower case.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

from bot.domain.ending import tail, usable
from bot.domain.lifecycle import ReservationState
from bot.domain.market import Segment
from bot.domain.records import Receipt

MINUTE = timedelta(minutes=1)
PAYING = timedelta(minutes=2)
"""AWS takes the payment within 5 minutes to 12 hours (EC2 User Guide, Capacity Blocks)."""
PAYING_LONG = timedelta(minutes=10)
LONG = timedelta(minutes=30)
ENDING = timedelta(minutes=5)
SETTLING_IN = timedelta(minutes=15)
USING = timedelta(hours=1)
FAR = timedelta(hours=6)
"""Nothing is expected before the start, but a block can vanish: four looks a day."""
EARLY = timedelta(minutes=10)
FIRST_STRETCH = timedelta(hours=2)
NO_SHOW = timedelta(minutes=30)
"""So long after a start with nothing launched is worth a word, hence a look."""

NOT_ACTIVE_YET = timedelta(minutes=15)
"""AWS shows a block active some minutes after its start; later than this is worth a warning."""

PENDING_WORDS = frozenset({"payment-pending", "pending"})
WAITING_WORDS = frozenset({"scheduled", "assessing", "delayed"})
ACTIVE_WORDS = frozenset({"active", "running"})
FAILED_WORDS = frozenset({"payment-failed", "failed", "unsupported"})
ENDED_WORDS = frozenset({"expired", "cancelled", "terminated"})
PAID_WORDS = frozenset({"payment-succeeded", "scheduled", "active", "expired"})
"""What an extension's own record says once its money is through."""

EXTENSION_MARK = "#"
"""Between what is prolonged and the offering, in the id of an extension's own record."""

_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_S = ReservationState


def state_from(
    receipts: Sequence[Receipt], *, before: ReservationState, now: datetime
) -> ReservationState | None:
    """Return what the receipts' words mean for their reservation; None when they say nothing."""
    words = {receipt.state for receipt in receipts if not receipt.gone}
    for known, state in (
        (ACTIVE_WORDS, _S.ACTIVE),
        (PENDING_WORDS, _S.PAYMENT_PENDING),
        (WAITING_WORDS, _S.SCHEDULED),
    ):
        if words & known:
            return state
    if not receipts or not words <= ENDED_WORDS | FAILED_WORDS:
        return None
    # A part that ran ends it, whatever became of the others: that another one's payment failed
    # was told when it did. What AWS forgot unpaid, before its start, never ran.
    starts = [part.start for receipt in receipts for part in receipt.segments]
    forgotten = before is _S.PAYMENT_PENDING and not words and now < min(starts, default=now)
    failed = all(receipt.state in FAILED_WORDS for receipt in receipts)
    return _S.FAILED if failed or forgotten else _S.ENDED


def next_look(
    receipts: Iterable[Receipt], now: datetime, *, bought_at: datetime | None = None
) -> datetime | None:
    """Return when to look again, a whole minute after now; None when nothing is left to follow.

    `bought_at` tells a payment that was just made from one that takes long.
    """
    times = [moment for receipt in receipts for moment in _looks(receipt, now, bought_at)]
    return min((on_minute(moment, now) for moment in times), default=None)


def on_minute(moment: datetime, now: datetime) -> datetime:
    """Return the first whole minute that is not before the moment, and after now."""
    return max(_grid(moment - MINUTE, MINUTE), _grid(now, MINUTE))


def _grid(now: datetime, step: timedelta) -> datetime:
    """Return the first common time of that step after now."""
    return _EPOCH + ((now - _EPOCH) // step + 1) * step


def _looks(receipt: Receipt, now: datetime, bought_at: datetime | None) -> Sequence[datetime]:
    if receipt.gone or receipt.state in ENDED_WORDS | FAILED_WORDS:
        return ()
    if receipt.state in PENDING_WORDS:
        starts = [segment.start for segment in receipt.segments if segment.start > now]
        slow = bought_at is not None and now - bought_at > LONG
        near = bool(starts) and min(starts) - now < LONG
        return (now + (PAYING_LONG if slow and not near else PAYING),)
    running = segment_at(receipt, now)
    if running is None:
        return (_look_while_nothing_runs(receipt, now),)
    if receipt.state in ACTIVE_WORDS:
        return _looks_while_used(running, lost_of(receipt), now)
    fresh = now - running.start < 2 * NOT_ACTIVE_YET
    return (now + MINUTE if fresh else _grid(now, SETTLING_IN),)


def _look_while_nothing_runs(receipt: Receipt, now: datetime) -> datetime:
    """Before the first part, between two, or after the last one while AWS does not say so."""
    starts = [segment.start for segment in receipt.segments if segment.start > now]
    ended = max((segment.end for segment in receipt.segments if segment.end <= now), default=None)
    just_ended = ended is not None and now - ended < USING
    if starts and not (just_ended and receipt.state in ACTIVE_WORDS):
        start = min(starts)
        early = start - EARLY
        return min(_grid(now, FAR), early) if now < early else start
    return _grid(now, ENDING if just_ended else USING)


def _looks_while_used(segment: Segment, lost: timedelta, now: datetime) -> Sequence[datetime]:
    _, last_minute = usable(segment, lost)
    fresh = now - segment.start < FIRST_STRETCH
    known = (segment.start + NO_SHOW, last_minute, segment.end)
    pace = _grid(now, SETTLING_IN if fresh else USING)
    return (pace, *(moment for moment in known if moment > now))


def lost_of(receipt: Receipt) -> timedelta:
    """Return how long before a segment's end the receipt's machines are lost."""
    return tail(
        receipt.kind,
        instance_type=receipt.instance_type,
        ultraserver=is_ultraserver(receipt),
        target=receipt.target,
    )


def is_extension(receipt: Receipt) -> bool:
    """Return whether the receipt is the record of more time bought, not of machines."""
    return EXTENSION_MARK in receipt.id


def id_words(receipt: Receipt) -> tuple[str, str]:
    """Return what goes before the id that AWS knows, and that id: "extension of ", "cr-1"."""
    known, mark, _ = receipt.id.partition(EXTENSION_MARK)
    return ("extension of " if mark else ""), known


def is_ultraserver(receipt: Receipt) -> bool:
    """Return whether the receipt's machines hang together as an UltraServer."""
    named = receipt.instance_type.removeprefix("ml.").startswith("u-")
    return named or receipt.ultraserver_type is not None


def segment_at(receipt: Receipt, now: datetime) -> Segment | None:
    """Return the segment that runs at the moment."""
    return next(
        (segment for segment in receipt.segments if segment.start <= now < segment.end), None
    )


def part_of(receipt: Receipt, segment: Segment) -> tuple[int, int]:
    """Return which part of how many a segment is, by its start: (2, 2) is the second of two."""
    starts = sorted(one.start for one in receipt.segments)
    return starts.index(segment.start) + 1, len(starts)


def part_words(receipt: Receipt, segment: Segment) -> str:
    """Return ", part 2 of 2" where there are several parts."""
    number, of = part_of(receipt, segment)
    return f", part {number} of {of}" if of > 1 else ""


def ending_now(receipt: Receipt, now: datetime) -> bool:
    """Return whether AWS is taking the machines: after the last usable minute, before the end."""
    segment = segment_at(receipt, now)
    return segment is not None and now >= usable(segment, lost_of(receipt))[1]


def counts_words(receipt: Receipt) -> str:
    """Return " 2 used, 1 free, 1 unhealthy of 4"; empty while AWS shows no counts."""
    if receipt.total_count is None or receipt.available_count is None:
        return ""
    bad = receipt.unhealthy_count or 0
    unwell = f", {bad} unhealthy" if bad else ""
    return (
        f" {used_count(receipt)} used, {receipt.available_count} free{unwell} of"
        f" {receipt.total_count}."
    )


def used_count(receipt: Receipt) -> int:
    """Return how many machines are in use; 0 while AWS shows no counts."""
    if receipt.total_count is None or receipt.available_count is None:
        return 0
    bad = receipt.unhealthy_count or 0
    return max(receipt.total_count - receipt.available_count - bad, 0)
