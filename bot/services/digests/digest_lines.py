"""What the digest has to say about each reservation, one line each; nothing is folded yet.

A line's `state` is what makes it news: two days with the same state fold into one line.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from bot.domain.ending import usable
from bot.domain.lifecycle import PurchaseState, ReservationState
from bot.domain.market import Segment
from bot.domain.records import Receipt, Reservation, Switch, gpu_id
from bot.domain.saying import Code, Mention, Moment, Phrase, Sentence, Strong
from bot.domain.values import dollars, how_many, utc_text
from bot.policy.configuration import Configuration
from bot.ports import Transaction
from bot.services.endings.releasing import offer_of
from bot.services.reservations.extensions import parent_of
from bot.services.reservations.looking import (
    ACTIVE_WORDS,
    counts_words,
    ending_now,
    lost_of,
    part_words,
    segment_at,
    used_count,
)
from bot.services.reservations.using import counted, hourly_cost, use_of
from bot.services.words.views import switch_of

if TYPE_CHECKING:
    from decimal import Decimal

SOON = timedelta(days=7)
ENDS_SOON = timedelta(days=2)
CLEAN_UP = timedelta(hours=24)
NAMED_APPROVERS = 4
_S = ReservationState


@dataclass(frozen=True, slots=True)
class Line:
    """One thing to say. `name` is the reservation's, `state` what would be news if it changed."""

    name: str
    state: str
    sentence: Sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Books:
    """The live reservations with their receipts, as they are now."""

    tx: Transaction
    live: Sequence[Reservation]
    receipts: Mapping[int, tuple[Receipt, ...]]
    configuration: Configuration
    now: datetime

    def held(self) -> Iterable[tuple[Reservation, Receipt]]:
        """Yield what was bought and is not over."""
        for reservation in self.live:
            for receipt in self.receipts.get(reservation.id, ()):
                if not receipt.gone:
                    yield reservation, receipt


def troubles(books: Books) -> Iterable[Line]:
    """Yield what does not go on without a person."""
    switch = switch_of(books.tx, books.configuration)
    if switch is not Switch.ON:
        yield Line("", f"switch {switch}", (f"Purchasing is {switch}: nothing is bought.",))
    for purchase in books.tx.purchases.in_state({PurchaseState.INDETERMINATE}):
        name = gpu_id(purchase.reservation_id)
        words: Sentence = (
            Strong(text=name),
            f": it is unclear whether {dollars(purchase.fee)} was spent; it stays held. See ",
            Code(text="gpubot ledger"),
            ".",
        )
        yield Line(name, f"unclear {purchase.id}", words)
    for reservation in books.live:
        name = gpu_id(reservation.id)
        if reservation.state in (_S.BLOCKED, _S.NEEDS_REVIEW):
            state = reservation.state.replace("_", " ")
            text = f": {state}. {reservation.note}".rstrip()
            yield Line(name, f"{state} {reservation.note}", (Strong(text=name), text))
        if offer_of(books.tx, reservation.id) is not None:
            text = " is offered to others, and nobody has taken it yet."
            yield Line(name, "offered", (Strong(text=name), text))
    for reservation, receipt in books.held():
        bad = receipt.unhealthy_count or 0
        if bad and receipt.state in ACTIVE_WORDS:
            name = gpu_id(reservation.id)
            text = f": {bad} of {how_many(receipt.total_count or 0, 'machine')} failed a check."
            yield Line(name, f"ill {receipt.id} {bad}", (Strong(text=name), text))
        if receipt.last_error:
            name = gpu_id(reservation.id)
            words = (Strong(text=name), ": AWS could not be read; last seen ")
            at = Moment(at=receipt.checked_at)
            yield Line(name, f"unread {receipt.id}", (*words, at, "."))


def ends(books: Books) -> Iterable[Line]:
    """Yield what runs and ends within two days, the soonest first."""
    return (line for end, line in _running(books) if end - books.now <= ENDS_SOON)


def running(books: Books) -> Iterable[Line]:
    """Yield what runs for longer."""
    return (line for end, line in _running(books) if end - books.now > ENDS_SOON)


def _running(books: Books) -> Iterable[tuple[datetime, Line]]:
    found: list[tuple[datetime, int, Line]] = []
    for reservation, receipt in books.held():
        segment = segment_at(receipt, books.now)
        if segment is None or receipt.state not in ACTIVE_WORDS:
            continue
        _, last = usable(segment, lost_of(receipt))
        words = _running_words(reservation, receipt, segment, ending=ending_now(receipt, books.now))
        state = f"runs {receipt.id} {utc_text(last)} {ending_now(receipt, books.now)}"
        found.append((last, reservation.id, Line(gpu_id(reservation.id), state, words)))
    for last, _, line in sorted(found, key=lambda row: row[:2]):
        yield last, line


def _running_words(
    reservation: Reservation, receipt: Receipt, segment: Segment, *, ending: bool
) -> Sentence:
    _, last = usable(segment, lost_of(receipt))
    until = (
        ": ending, instances are being terminated; it was usable until "
        if ending
        else ", usable until "
    )
    return (
        Strong(text=gpu_id(reservation.id)),
        (
            f" {receipt.instance_count} x {receipt.instance_type} in"
            f" {segment.zone or receipt.zone or receipt.region}"
            f"{part_words(receipt, segment)}{until}"
        ),
        Moment(at=last),
        "." + ("" if ending else counts_words(receipt)),
    )


def starts(books: Books) -> Iterable[Line]:
    """Yield what starts within seven days, the soonest first."""
    found: list[tuple[datetime, int, Line]] = []
    for reservation, receipt in books.held():
        coming = [segment for segment in receipt.segments if segment.start > books.now]
        first = min(coming, key=lambda segment: segment.start, default=None)
        if first is None or first.start - books.now > SOON or parent_of(books.tx, reservation.id):
            continue
        pending = " Payment is not through yet." if "pending" in receipt.state else ""
        words: Sentence = (
            Strong(text=gpu_id(reservation.id)),
            (
                f" {receipt.instance_count} x {receipt.instance_type} in"
                f" {first.zone or receipt.zone or receipt.region}"
                f"{part_words(receipt, first)} starts "
            ),
            Moment(at=first.start),
            f".{pending}",
        )
        state = f"starts {receipt.id} {utc_text(first.start)}{pending}"
        found.append((first.start, reservation.id, Line(gpu_id(reservation.id), state, words)))
    return (line for _, _, line in sorted(found, key=lambda row: row[:2]))


def idle(books: Books) -> Iterable[Line]:
    """Yield what is paid for and does nothing, the dearest first, as the idle notice counts it."""
    found: list[tuple[Decimal, int, Line]] = []
    below = books.configuration.limits.idle_below
    for reservation, receipt in books.held():
        use = use_of(books.tx, receipt.id) or counted(None, receipt, books.now)
        runs = segment_at(receipt, books.now) is not None and receipt.state in ACTIVE_WORDS
        if use is None or not use.total or not runs or ending_now(receipt, books.now):
            continue
        if not use.few_run(receipt.kind, below) and not use.few_work(below):
            continue
        count = max(use.total - use.busy, 0)
        cost = hourly_cost(books.tx.purchases.get(receipt.purchase_id)) * count
        lazy = f", {use.gpu_idle} of them running with idle GPUs" if use.gpu_idle else ""
        kept = " Its owner keeps it so." if use.kept else ""
        words: Sentence = (
            Strong(text=gpu_id(reservation.id)),
            f" {count} of {how_many(use.total, 'machine')} idle at",
            f" {dollars(cost)} an hour{lazy}.{kept}",
        )
        state = f"idle {receipt.id} {kept}"
        found.append((-cost, reservation.id, Line(gpu_id(reservation.id), state, words)))
    return (line for _, _, line in sorted(found, key=lambda row: row[:2]))


def clean_up(books: Books) -> Iterable[Line]:
    """Yield what AWS takes within a day while machines still run in it."""
    for reservation, receipt in books.held():
        segment = segment_at(receipt, books.now)
        used = used_count(receipt)
        if segment is None or not used or segment.end - books.now > CLEAN_UP:
            continue
        words: Sentence = (
            Strong(text=gpu_id(reservation.id)),
            f": {how_many(used, 'machine still runs', 'machines still run')} in it.",
            " Its card has Clean up: ",
            Code(text=f"/gpu status {gpu_id(reservation.id)}"),
            ".",
        )
        yield Line(gpu_id(reservation.id), f"clean {receipt.id}", words)


def waiting(books: Books) -> Iterable[Line]:
    """Yield what waits for approval, and for whom."""
    for reservation in books.live:
        if reservation.state is not _S.PENDING_APPROVAL or reservation.option is None:
            continue
        proposal = books.tx.proposals.current(reservation.id)
        if proposal is None:
            continue
        given = {one.approver for one in books.tx.proposals.given(proposal.id)}
        left = [who for who in proposal.approvers if who not in given][:NAMED_APPROVERS]
        names: list[Phrase] = []
        for who in left:
            names += [", " if names else " Waits for ", Mention(id=who, ping=False)]
        option = reservation.option
        words: Sentence = (
            Strong(text=gpu_id(reservation.id)),
            f" {dollars(option.total_usd)} for {option.instance_count} x {option.instance_type}.",
            *names,
            " until " if names else " Until ",
            Moment(at=proposal.expires_at),
            ".",
        )
        state = f"waits {proposal.id} {len(given)}"
        yield Line(gpu_id(reservation.id), state, words)
