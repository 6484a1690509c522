"""The Home tab: three shelves, each row with what may be done, within Slack's 100 blocks."""

from collections.abc import Callable, Iterator

from bot.domain.records import gpu_id
from bot.services.digests.homes import HomeView, Shelf
from bot.services.words.views import CardView
from handlers import ids
from handlers.cards.approval import verdict_buttons
from handlers.cards.buttons import card_buttons
from handlers.cards.lists import line
from handlers.cards.wording import shown_option
from handlers.rendering import (
    Names,
    actions,
    button,
    header,
    moment,
    section,
    shown,
    unnamed,
)
from handlers.reply import Block

MOST_BUTTONS = 4
"""Beside Show; more would take a second row of blocks."""

Row = Callable[[CardView, Names], Iterator[Block]]


def home_view(home: HomeView, names: Names = unnamed) -> dict[str, object]:
    """Return somebody's Home tab as Slack takes it."""
    blocks: list[Block] = [
        *actions(
            [
                button("New request", ids.FORM, ids.ButtonValue().text(), style="primary"),
                *(_look(label, verb) for label, verb in LOOKS),
            ]
        ),
        *_shelf("Waits for your approval", "waiting", home.waiting, _to_judge, names),
        *_shelf("Yours", "mine", home.mine, _own, names),
        *_shelf(_team_title(home), "team" if home.teams else "teamless", home.team, _others, names),
    ]
    return {"type": "home", "blocks": blocks}


LOOKS = (("Calendar", "calendar"), ("Budget", "budget"), ("Digest", "digest"))

NOTHING = {
    "waiting": "Nothing waits for your approval.",
    "mine": "You have nothing open. `/gpu help` lists what I can do.",
    "team": "Your team has nothing else open.",
    "teamless": "You are in no team; an administrator can add you to one.",
}


def _team_title(home: HomeView) -> str:
    return f"Your team's: {', '.join(home.teams)}" if home.teams else "Your team's"


def _shelf(title: str, name: str, shelf: Shelf, row: Row, names: Names) -> Iterator[Block]:
    yield header(title)
    for view in shelf.views:
        yield from row(view, names)
    if not shelf.views:
        empty = "There is nothing older." if shelf.turned else NOTHING[name]
        yield section(empty)
    pages = []
    if shelf.older:
        value = ids.ButtonValue(scope=name, before=shelf.views[-1].reservation.id)
        pages.append(button("Show more", ids.HOME_OLDER, value.text()))
    if shelf.turned:
        value = ids.ButtonValue(scope=name)
        pages.append(button("Back to the newest", ids.HOME_NEWEST, value.text()))
    yield from actions(pages)


def _own(view: CardView, _: Names) -> Iterator[Block]:
    yield section(line(view))
    buttons = list(card_buttons(view, shown_option(view)))
    yield from actions([_show(view), *buttons[:MOST_BUTTONS]])


def _others(view: CardView, names: Names) -> Iterator[Block]:
    yield section(f"{line(view)} · {shown(names(view.reservation.owner))}", accessory=_show(view))


def _to_judge(view: CardView, names: Names) -> Iterator[Block]:
    proposal = view.proposal
    if proposal is None:
        return
    until = moment(proposal.expires_at)
    yield section(f"{line(view)} · asked by {shown(names(proposal.asked_by))}, until {until}")
    yield from actions([*verdict_buttons(proposal), _show(view)])


def _show(view: CardView) -> Block:
    value = ids.ButtonValue(reservation=view.reservation.id)
    return button(f"Show {gpu_id(view.reservation.id)}", ids.SHOW, value.text())


def _look(label: str, verb: str) -> Block:
    return button(label, f"{ids.LOOK}.{verb}", ids.ButtonValue(argument=verb).text())
