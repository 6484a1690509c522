"""What may be done about a reservation, as the buttons of its card and of the Home tab."""

from collections.abc import Iterator
from decimal import Decimal

from bot.domain.decision import Decision, Option
from bot.domain.lifecycle import ReservationState as State
from bot.services.words.views import CardView
from handlers import ids
from handlers.cards import wording
from handlers.rendering import button
from handlers.reply import Block

SEEN_FIGURES = 12
"""Enough of a digest to tell two decisions on one reservation apart."""
LEAST_TO_UNDERCUT = Decimal(2)
"""Dollars; a watch undercuts by whole dollars."""
BEFORE_MONEY = frozenset({State.REQUESTED, State.QUOTED, State.PENDING_APPROVAL, State.BLOCKED})
SEARCHED_AGAIN = frozenset({State.BLOCKED, State.EXPIRED})
CLEANED_UP = frozenset({State.ACTIVE, State.ENDED, State.FAILED})
"""States in which something that bills may be left over."""


def seen(decision: Decision) -> str:
    """Return the first figures of a decision's digest, which tie a button to what it showed."""
    return decision.digest[:SEEN_FIGURES]


def card_buttons(view: CardView, option: Option | None) -> Iterator[Block]:
    """Give what may be done now, the likeliest first."""
    yield from _quoted_buttons(view, option)
    yield from _request_buttons(view, option)
    yield from used_buttons(view)


def _quoted_buttons(view: CardView, option: Option | None) -> Iterator[Block]:
    reservation = view.reservation
    if reservation.state != State.QUOTED or view.decision is None:
        return
    if option is None:
        value = ids.ButtonValue(reservation=reservation.id)
        yield button("Watch", ids.WATCH, value.text())
        return
    mine = ids.ButtonValue(reservation=reservation.id, rank=option.rank, seen=seen(view.decision))
    if wording.approvable(view, option):
        yield button("Ask for approval", ids.REQUEST, mine.text(), style="primary")
    if len(view.decision.options) > 1:
        ranks = [other.rank for other in view.decision.options]
        following = ranks[(ranks.index(option.rank) + 1) % len(ranks)]
        value = ids.ButtonValue(reservation=reservation.id, rank=following)
        yield button("Another option", ids.ANOTHER, value.text())


def _cheaper_button(view: CardView, option: Option | None) -> Iterator[Block]:
    """Give the button that watches for the same at less than what is shown costs."""
    reservation = view.reservation
    if reservation.state != State.QUOTED or view.decision is None or option is None:
        return
    if option.total_usd < LEAST_TO_UNDERCUT or wording.extension(view):
        return
    value = ids.ButtonValue(reservation=reservation.id, rank=option.rank, seen=seen(view.decision))
    yield button("Watch for less", ids.WATCH, value.text())


def _request_buttons(view: CardView, option: Option | None) -> Iterator[Block]:
    state = view.reservation.state
    if state not in BEFORE_MONEY | {State.EXPIRED}:
        return
    value = ids.ButtonValue(reservation=view.reservation.id).text()
    if state in SEARCHED_AGAIN and not wording.extension(view) and not _too_late(view):
        yield button("Search again", ids.SEARCH, value)
    if state != State.REQUESTED:
        yield button("Change", ids.CHANGE, value)
    yield from _cheaper_button(view, option)
    if state != State.EXPIRED:
        yield button(
            "Cancel",
            ids.CANCEL,
            value,
            style="danger",
            confirm="The request ends here. Nothing has been bought.",
        )


def _too_late(view: CardView) -> bool:
    """Return whether the last start that was asked for has passed."""
    start = view.reservation.request.latest_start
    return start is not None and start <= view.seen_at


def used_buttons(view: CardView) -> Iterator[Block]:
    """Give what may be done with what was bought; a service decides whether it still can be."""
    state = view.reservation.state
    value = ids.ButtonValue(reservation=view.reservation.id).text()
    if wording.can_be_used(view):
        yield button("Launch kit", ids.LAUNCH, value)
        if wording.can_be_extended(view):
            yield button("Extend by 1 day", ids.EXTEND, value)
        yield button("Release to others", ids.RELEASE, value)
    if wording.can_be_used(view) and state == State.ACTIVE:
        yield button("Health", ids.HEALTH, value)
    if state in CLEANED_UP and view.receipts and not wording.extension(view):
        yield button("Clean up", ids.CLEANUP, value)
