"""Lists of reservations: one line each, over as many messages as Slack needs."""

from collections.abc import Iterator, Sequence

from bot.domain.records import gpu_id
from bot.domain.values import exact_dollars
from bot.services.words.views import CardView
from handlers import ids
from handlers.cards import wording
from handlers.cards.bought import confirmed, extended
from handlers.cards.limits import split
from handlers.cards.phrases import say
from handlers.rendering import (
    ELLIPSIS,
    actions,
    button,
    cut,
    moment,
    one_line,
    section,
    shown,
    strong,
)
from handlers.reply import Block, Message

MOST_LISTED_REASON = 120
LINES_IN_A_SECTION = 4
MOST_SPOKEN = 20
"""Reservations that the text for screen readers and notifications names."""


def listing_messages(
    views: Sequence[CardView], *, scope: str, more: bool, locale: str
) -> tuple[Message, ...]:
    """Return the list; with `more`, the last message has a button for the older ones."""
    title = say(f"list_{scope}", locale)
    if not views:
        empty = say("list_empty", locale, title=title)
        return (Message(empty, (section(empty),)),)
    lines = [line(view) for view in views]
    blocks: list[Block] = [section(strong(title))]
    blocks += [
        section("\n".join(lines[first : first + LINES_IN_A_SECTION]))
        for first in range(0, len(lines), LINES_IN_A_SECTION)
    ]
    if more:
        value = ids.ButtonValue(scope=scope, before=views[-1].reservation.id)
        blocks += actions([button(say("older", locale), ids.OLDER, value.text())])
    spoken = [
        f"{gpu_id(view.reservation.id)} {wording.state_words(view)}" for view in views[:MOST_SPOKEN]
    ]
    unsaid = [ELLIPSIS] if len(views) > MOST_SPOKEN else []
    said = say("list_shown", locale, title=title, count=str(len(views)))
    return split(shown(f"{said} {'; '.join([*spoken, *unsaid])}"), blocks)


def line(view: CardView) -> str:
    """Return one reservation in a line: id, what, state, when, amount, reason."""
    return " · ".join(_parts(view))


def _parts(view: CardView) -> Iterator[str]:
    reservation = view.reservation
    tick = "✓ " if wording.sure(view) else ""
    yield strong(gpu_id(reservation.id))
    yield shown(wording.wanted(reservation.request))
    yield f"{tick}{wording.state_words(view)}"
    option = wording.shown_option(view)
    if option is not None:
        yield f"{moment(wording.began(option))} to {moment(option.usable_end)}"
        yield exact_dollars(option.total_usd) + (" and extensions" if extended(view) else "")
        agreed = reservation.option
        if confirmed(view) and agreed is not None and option.instance_count < agreed.instance_count:
            yield f"{option.instance_count} of {agreed.instance_count} machines"
    if any(receipt.gone for receipt in view.receipts):
        yield "no longer known to AWS"
    if reservation.request.reason:
        yield shown(cut(one_line(reservation.request.reason), MOST_LISTED_REASON))
