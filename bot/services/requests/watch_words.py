"""What a watch says: that it found something, or that it is over."""

from bot.domain.decision import Option
from bot.domain.market import Kind
from bot.domain.saying import Code, Moment, Press, Sentence
from bot.domain.values import dollars

FILE = "gpu.watch.file"

KINDS = {
    Kind.OWNED: "capacity that is owned already",
    Kind.ON_DEMAND: "On-Demand",
    Kind.SPOT: "Spot",
    Kind.ODCR: "a capacity reservation (ODCR)",
    Kind.CAPACITY_BLOCK: "a Capacity Block",
    Kind.TRAINING_PLAN: "a SageMaker training plan",
}


def found_words(option: Option, line: str) -> tuple[Sentence, ...]:
    """Return the pick in one sentence, what it was found for, and that nothing is held."""
    return (
        (
            (
                f"Found: {option.instance_count} x {option.instance_type} as"
                f" {KINDS[option.kind]} in {option.zone or option.region},"
                f" {dollars(option.total_usd)} in all, from "
            ),
            Moment(at=option.segments[0].start),
            ".",
        ),
        ("You asked for it with ", Code(text=f"/gpu {line}"), "."),
        ("Nothing is bought or held, and others may take it. This watch ends here.",),
    )


def ended_words(line: str, *, unread: bool) -> tuple[Sentence, ...]:
    """Return that the time is over; where a look was not complete, that nothing is proved."""
    doubt: tuple[Sentence, ...] = (
        (
            (
                (
                    "Some markets could not be read at some of my looks, so something may have"
                    " been on sale."
                ),
            ),
        )
        if unread
        else ()
    )
    return (
        ("I stop watching: I saw nothing that fits ", Code(text=f"/gpu {line}"), " in its time."),
        *doubt,
        ("Nothing was bought or held. Send a line with another time to go on.",),
    )


def found_presses(watch_id: int) -> tuple[Press, ...]:
    """Return the button that files the request."""
    return (Press(action=FILE, label="Request it", argument=str(watch_id), style="primary"),)
