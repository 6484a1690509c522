"""What people hear of a look: ready, not active yet, pausing, longer; each once.

`before` and `after` are one receipt as it was stored and as the look saved it.
"""

from datetime import datetime

from bot.domain.market import Segment
from bot.domain.records import Receipt, Reservation
from bot.domain.values import utc_text
from bot.ports import Transaction
from bot.services.reservations import progress, sequels
from bot.services.reservations.extensions import parent_of
from bot.services.reservations.looking import (
    ACTIVE_WORDS,
    NOT_ACTIVE_YET,
    WAITING_WORDS,
    segment_at,
)
from bot.services.words.telling import Telling


def say_longer(
    telling: Telling,
    tx: Transaction,
    reservation: Reservation,
    look: tuple[Receipt, Receipt],
    *,
    now: datetime,
) -> None:
    """Say that AWS shows a later end; an extension says nothing, what it prolongs does."""
    before, after = look
    ended = max((segment.end for segment in before.segments), default=None)
    last = max(after.segments, key=lambda segment: segment.end, default=None)
    if ended is None or last is None or last.end <= ended:
        return
    if parent_of(tx, reservation.id) is not None:
        return
    words = progress.longer_words(reservation, after, last)
    telling.note(tx, reservation, f"longer:{after.id}:{utc_text(last.end)}", words, now=now)


def say_progress(
    telling: Telling,
    tx: Transaction,
    reservation: Reservation,
    look: tuple[Receipt, Receipt],
    *,
    now: datetime,
) -> None:
    """Say how the present segment stands, or that it pauses until the next one."""
    before, receipt = look
    segment = segment_at(receipt, now)
    if _ran_before(before, receipt, segment):
        return
    if receipt.gone or receipt.last_error or parent_of(tx, reservation.id) is not None:
        return
    if segment is None:
        _say_pause(telling, tx, reservation, look, now)
        return
    part = f"{receipt.id}:{utc_text(segment.start)}"
    if receipt.state in ACTIVE_WORDS:
        words = progress.ready_words(reservation, receipt, segment)
        if telling.note(tx, reservation, f"ready:{part}", words, now=now):
            sequels.when_ready(tx, reservation, receipt, segment, now=now)
    elif receipt.state in WAITING_WORDS and now - segment.start >= NOT_ACTIVE_YET:
        words = progress.not_yet_words(receipt, segment)
        telling.note(tx, reservation, f"not-yet:{part}", words, now=now)


def _say_pause(
    telling: Telling,
    tx: Transaction,
    reservation: Reservation,
    look: tuple[Receipt, Receipt],
    now: datetime,
) -> None:
    before, receipt = look
    coming = [one for one in receipt.segments if one.start > now]
    over = len(coming) < len(receipt.segments)
    if coming and over and before.state in ACTIVE_WORDS:
        following = min(coming, key=lambda one: one.start)
        what = f"between:{receipt.id}:{utc_text(following.start)}"
        words = progress.between_words(reservation, receipt, following)
        telling.note(tx, reservation, what, words, now=now)


def _ran_before(before: Receipt, receipt: Receipt, segment: Segment | None) -> bool:
    """Return whether the look before this one showed the same run: all was said then.

    A receipt that no look has saved yet has revision 1.
    """
    if segment is None or receipt.state not in ACTIVE_WORDS or before.revision == 1:
        return False
    return before.state in ACTIVE_WORDS and segment.start <= before.checked_at < segment.end
