"""What is said while AWS's states move on. Pure."""

from collections.abc import Sequence

from bot.domain.ending import usable
from bot.domain.market import Segment
from bot.domain.records import Receipt, Reservation, gpu_id
from bot.domain.saying import Code, Mention, Moment, Sentence, Strong
from bot.services.reservations.looking import counts_words, id_words, lost_of, part_of, part_words


def ready_words(
    reservation: Reservation, receipt: Receipt, segment: Segment
) -> tuple[Sentence, ...]:
    """Return that AWS shows a segment active."""
    _, last_minute = usable(segment, lost_of(receipt))
    return (
        (
            Strong(text=gpu_id(reservation.id)),
            f"{part_words(receipt, segment)} is ready: ",
            Code(text=receipt.id),
            (
                f" is {receipt.state} at AWS, {receipt.instance_count} x {receipt.instance_type} in"
                f" {segment.zone or receipt.zone or receipt.region}.{counts_words(receipt)}"
                " Usable until "
            ),
            Moment(at=last_minute),
            ".",
        ),
    )


def between_words(
    reservation: Reservation, receipt: Receipt, after: Segment
) -> tuple[Sentence, ...]:
    """Return that one part is over and when the next one starts."""
    number, of = part_of(receipt, after)
    return (
        (
            Strong(text=gpu_id(reservation.id)),
            f": part {number - 1} of {of} is over. Part {number} of {of} starts ",
            Moment(at=after.start),
            "; nothing runs until then.",
        ),
    )


def not_yet_words(receipt: Receipt, segment: Segment) -> tuple[Sentence, ...]:
    """Return that a start has passed and AWS does not show it active."""
    return (
        (
            "Not active yet: ",
            Code(text=receipt.id),
            " should have started ",
            Moment(at=segment.start),
            f", and AWS still says {receipt.state}. I keep looking.",
        ),
    )


def gone_words(receipt: Receipt) -> tuple[Sentence, ...]:
    """Return that AWS does not know an id any more."""
    before, known = id_words(receipt)
    return (
        (
            before[:1].upper() + before[1:],
            Code(text=known),
            (
                " is no longer known to AWS. I stop asking for it; check the account if that"
                " surprises you."
            ),
        ),
    )


def scheduled_words(reservation: Reservation, receipts: Sequence[Receipt]) -> tuple[Sentence, ...]:
    """Return that the payment is through and when it starts."""
    start = min(segment.start for receipt in receipts for segment in receipt.segments)
    return (
        (
            "Paid: AWS shows ",
            Strong(text=gpu_id(reservation.id)),
            " as scheduled. It starts ",
            Moment(at=start),
            ".",
        ),
    )


def longer_words(
    reservation: Reservation, receipt: Receipt, segment: Segment
) -> tuple[Sentence, ...]:
    """Return that AWS shows a later end."""
    _, last_minute = usable(segment, lost_of(receipt))
    return (
        (
            Strong(text=gpu_id(reservation.id)),
            " is longer now: AWS shows ",
            Code(text=receipt.id),
            " usable until ",
            Moment(at=last_minute),
            ". What runs goes on; its reminders have moved.",
        ),
    )


def ended_words(reservation: Reservation) -> tuple[Sentence, ...]:
    """Return that nothing of it is left."""
    return ((Strong(text=gpu_id(reservation.id)), " has ended: AWS shows nothing of it active."),)


def failed_words(
    reservation: Reservation,
    receipt: Receipt,
    approvers: Sequence[str],
    *,
    parent: int | None,
    alone: bool,
) -> tuple[Sentence, ...]:
    """Return that a payment failed, what that means, and what to do; names the approvers.

    `alone`: nothing else was bought for the reservation.
    """
    names: Sentence = tuple(
        part for who in approvers if who.startswith("U") for part in (" ", Mention(id=who))
    )
    if parent is not None:
        result = f"{gpu_id(parent)} is not prolonged and ends when it would have."
    elif alone:
        result = "there is no capacity, nothing stays paid, and its reminders are withdrawn."
    else:
        result = "this part has no capacity and is not paid; the other parts are looked at apart."
    result += " The money is free in the budget again."
    before, known = id_words(receipt)
    return (
        (
            f"AWS says {receipt.state} for {before}",
            Code(text=known),
            f": {result} Ask again with ",
            Code(text=f"/gpu {reservation.line}"),
            " once the payment method works.",
            *names,
        ),
    )
