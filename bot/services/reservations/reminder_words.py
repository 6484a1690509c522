"""What reminders say. Pure."""

from datetime import datetime
from decimal import Decimal

from bot.domain.ending import usable
from bot.domain.market import Kind, Segment
from bot.domain.records import Receipt, Reservation, gpu_id
from bot.domain.request import Target
from bot.domain.saying import Code, Mention, Moment, Sentence, Strong
from bot.domain.values import dollars
from bot.services.reservations.looking import lost_of, part_words
from bot.services.reservations.permissions import Permission
from bot.services.reservations.tendering import PAY_BEFORE_END, Tender


def start_words(
    reservation: Reservation, receipt: Receipt, start: datetime, *, late: bool
) -> tuple[Sentence, ...]:
    """Return what starts when, and what must be ready by then."""
    segment = next(one for one in receipt.segments if one.start == start)
    place = segment.zone or receipt.zone or receipt.region
    ready: Sentence = (
        "Have ready by then: an image for the platform you bought, a subnet in ",
        Code(text=place),
        ", and room in your launch quota. I say so here the moment AWS shows it active.",
    )
    if receipt.target == Target.ENDPOINT:
        ready = (
            "Have your model in SageMaker by then. ",
            Code(text=f"/gpu endpoint create {gpu_id(reservation.id)} your-model"),
            " can be sent now: it makes the endpoint the moment AWS shows the plan active.",
        )
    elif receipt.kind is Kind.TRAINING_PLAN:
        ready = (
            (
                "Have ready by then: your job or cluster definition with the plan's ARN, and the"
                " role it runs under. I say so here the moment AWS shows it active."
            ),
        )
    return (
        (
            Strong(text=gpu_id(reservation.id)),
            (
                f"{part_words(receipt, segment)}: {receipt.instance_count} x"
                f" {receipt.instance_type} in {place} starts "
            ),
            Moment(at=start),
            "." + _late_words(late=late),
        ),
        ready,
    )


def end_words(
    reservation: Reservation,
    receipt: Receipt,
    last_minute: datetime,
    *,
    late: bool,
    last: bool,
    tender: Tender,
) -> tuple[Sentence, ...]:
    """Return what ends when, and what can be done about it, each with its limit in time."""
    segment = _segment_that_ends(receipt, last_minute)
    call = "save your work now" if last else "save your work in time"
    head: Sentence = (
        Strong(text=gpu_id(reservation.id)),
        f"{part_words(receipt, segment)}: {call}. The last usable moment is ",
        Moment(at=last_minute),
        f"{_assumed(receipt)}; from then on AWS takes the machines of ",
        Code(text=receipt.id),
        "." + _late_words(late=late),
    )
    return (head, *_extension_words(receipt, segment, tender, last=last))


def _extension_words(
    receipt: Receipt, segment: Segment, tender: Tender, *, last: bool
) -> tuple[Sentence, ...]:
    if last or (tender.fee is None and not tender.why):
        return ()
    if tender.until is None:
        return ((tender.why,),)
    price = f"1 more day costs {tender.price} now." if tender.fee is not None else tender.why
    paid: Sentence = (
        ("; a block's payment must be through by ", Moment(at=segment.end - PAY_BEFORE_END))
        if receipt.kind is Kind.CAPACITY_BLOCK
        else ()
    )
    return (
        (
            f"{price} An extension can be bought until ",
            Moment(at=tender.until),
            *paid,
            ". It can't be given back, and is not certain until AWS shows the new end.",
        ),
    )


def by_itself_words(
    permission: Permission, left: Decimal, at: datetime, tender: Tender
) -> Sentence:
    """Return that it is extended by itself unless somebody stops it, or why it is not."""
    allowed: Sentence = (
        f" of the {dollars(permission.up_to)} that ",
        Mention(id=permission.by, ping=False),
        " allowed",
    )
    if tender.fee is not None and tender.fee > left:
        short = ": too little for a day, so it is not extended by itself."
        return (f"{dollars(left)} is left", *allowed, short)
    return (
        "Unless you press Let it end, I extend it by 1 day ",
        Moment(at=at),
        f", for at most {dollars(left)}, which is left",
        *allowed,
        ".",
    )


def in_flight_words(child: int) -> Sentence:
    """Return that more time is asked for, and that it is not there yet."""
    return (
        "More time is asked for as ",
        Code(text=gpu_id(child)),
        "; the end moves when AWS shows it.",
    )


def _segment_that_ends(receipt: Receipt, last_minute: datetime) -> Segment:
    return next(one for one in receipt.segments if usable(one, lost_of(receipt))[1] == last_minute)


def _assumed(receipt: Receipt) -> str:
    """AWS publishes no figure for endpoints, so that half an hour is an assumption."""
    if receipt.target == Target.ENDPOINT:
        return " (assumed: AWS does not say how early it ends endpoints; I take 30 minutes)"
    return ""


def _late_words(*, late: bool) -> str:
    return " (This reminder is late: I was not running when it was due.)" if late else ""
