"""What starts, ends and is held in the coming days, by the day of whoever looks. Pure.

What is the reader's own stands first and in full; of the others a few stand in full, and all by
their number, so that every reservation can be reached.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.domain.ending import usable
from bot.domain.market import Segment
from bot.domain.records import Receipt, Reservation, gpu_id
from bot.domain.saying import Mention, Moment, Phrase, Section, Sentence, Strong
from bot.services.reservations.looking import is_extension, lost_of, part_words

AHEAD = timedelta(days=14)
MOST_OWN = 8
MOST_OTHERS = 4
"""Lines in full for each day; more would not fit what Slack takes for one answer."""


@dataclass(frozen=True, slots=True)
class Happening:
    """One thing on a day: what, when, of which reservation. `at` None: it goes on all day."""

    at: datetime | None
    reservation: Reservation
    sentence: Sentence


def coming_sections(
    live: Sequence[Reservation],
    receipts: Mapping[int, Sequence[Receipt]],
    *,
    user: str,
    zone: str,
    now: datetime,
) -> tuple[Section, ...]:
    """Return a section for what is held now, and one for each day on which something happens."""
    place = zone_of(zone)
    days: dict[date, list[Happening]] = {}
    running: list[Happening] = []
    for reservation in live:
        for receipt in receipts.get(reservation.id, ()):
            if receipt.gone or is_extension(receipt):
                continue
            for segment in receipt.segments:
                if segment.start <= now < segment.end:
                    running.append(_held(reservation, receipt, segment))
                for happening in _happenings(reservation, receipt, segment, now):
                    if happening.at is not None:
                        day = happening.at.astimezone(place).date()
                        days.setdefault(day, []).append(happening)
    sections = [
        Section(
            title=f"{day:%A} {day.isoformat()}",
            sentences=tuple(_told(days[day], user)),
        )
        for day in sorted(days)
    ]
    if running:
        held = Section(title="Held now", sentences=tuple(_told(running, user)))
        sections.insert(0, held)
    return tuple(sections)


def zone_of(zone: str) -> ZoneInfo:
    """Return the zone of that name; UTC for one that nobody knows."""
    try:
        return ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")


def _happenings(
    reservation: Reservation, receipt: Receipt, segment: Segment, now: datetime
) -> Iterable[Happening]:
    start, last = usable(segment, lost_of(receipt))
    pending = "; its payment is not through yet" if "pending" in receipt.state else ""
    for at, words in ((start, "starts "), (last, "can be used until ")):
        if now < at <= now + AHEAD:
            sentence: Sentence = (
                *_what(reservation, receipt, segment),
                f" {words}",
                Moment(at=at),
                f"{pending if at == start else ''}.",
            )
            yield Happening(at, reservation, sentence)


def _held(reservation: Reservation, receipt: Receipt, segment: Segment) -> Happening:
    _, last = usable(segment, lost_of(receipt))
    words = (*_what(reservation, receipt, segment), " until ", Moment(at=last), ".")
    return Happening(None, reservation, words)


def _what(reservation: Reservation, receipt: Receipt, segment: Segment) -> Sentence:
    return (
        Strong(text=gpu_id(reservation.id)),
        (
            f" {receipt.instance_count} x {receipt.instance_type} in"
            f" {segment.zone or receipt.zone or receipt.region}{part_words(receipt, segment)}, "
        ),
        Mention(id=reservation.owner, ping=False),
        ",",
    )


def _told(happenings: Sequence[Happening], user: str) -> Iterable[Sentence]:
    """Yield the reader's own first, then the others, in order of time; what is left by number."""
    ordered = sorted(
        happenings,
        key=lambda one: (one.at.timestamp() if one.at else 0, one.reservation.id),
    )
    own = [one for one in ordered if user in (one.reservation.owner, one.reservation.requester)]
    others = [one for one in ordered if one not in own]
    for group, most, words in ((own, MOST_OWN, "Also yours: "), (others, MOST_OTHERS, "Also: ")):
        for one in group[:most]:
            yield one.sentence
        rest: Sequence[str] = list(
            dict.fromkeys(gpu_id(one.reservation.id) for one in group[most:])
        )
        for first in range(0, len(rest), 100):
            names: list[Phrase] = [words, ", ".join(rest[first : first + 100]), "."]
            yield tuple(names)
