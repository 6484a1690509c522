"""What people do with what was bought: verbs and buttons, each the one service call it stands for.

A button carries a reservation's number, with `|` and a second figure where one is needed; who
may do it, and whether it still can be done, is the service's business.
"""

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Final

from bot.domain.errors import UserError
from bot.domain.saying import Section, Sentence
from bot.services.afterwards import Afterwards
from handlers import ids
from handlers.cards.notes import whispered
from handlers.desk import Desk, needed
from handlers.heard import Pressed, Said, number_in, outdated, plain_number
from handlers.reply import Reply


def told(sentences: tuple[Sentence, ...]) -> Reply:
    """Return the service's words as one private message."""
    return Reply(messages=whispered((Section(sentences=sentences),)))


def _after(desk: Desk) -> Afterwards:
    return needed(desk.after)


def _extend(said: Said, desk: Desk) -> Reply:
    hours = _figure(str(said.parsed.arguments.get("duration_hours") or ""))
    return told(_after(desk).extend(_number(said), hours=hours, by=said.user))


def _release(said: Said, desk: Desk) -> Reply:
    return told(_after(desk).release(_number(said), by=said.user))


def _handover(said: Said, desk: Desk) -> Reply:
    to = str(said.parsed.arguments.get("person") or "")
    return told(_after(desk).hand(_number(said), to=to, by=said.user))


def _press_extend(pressed: Pressed, desk: Desk) -> Reply:
    number, hours = carried(pressed, default="24")
    return told(_after(desk).extend(number, hours=_figure(hours), by=pressed.user))


def _press_permit(pressed: Pressed, desk: Desk) -> Reply:
    number, amount = carried(pressed)
    return told(_after(desk).permit(number, up_to_usd=_figure(amount), by=pressed.user))


def _press_ask(pressed: Pressed, desk: Desk) -> Reply:
    return told(_after(desk).ask_permission(carried(pressed)[0], by=pressed.user))


def _press_revoke(pressed: Pressed, desk: Desk) -> Reply:
    return told(_after(desk).revoke(carried(pressed)[0], by=pressed.user))


def _press_release(pressed: Pressed, desk: Desk) -> Reply:
    return told(_after(desk).release(carried(pressed)[0], by=pressed.user))


def _press_take(pressed: Pressed, desk: Desk) -> Reply:
    return told(_after(desk).take(carried(pressed)[0], by=pressed.user))


def _press_accept(pressed: Pressed, desk: Desk) -> Reply:
    return told(_after(desk).accept(carried(pressed)[0], by=pressed.user))


def _press_decline(pressed: Pressed, desk: Desk) -> Reply:
    return told(_after(desk).decline(carried(pressed)[0], by=pressed.user))


def _press_keep(pressed: Pressed, desk: Desk) -> Reply:
    return told(_after(desk).keep(carried(pressed)[0], by=pressed.user))


def _press_nothing(pressed: Pressed, desk: Desk) -> Reply:
    return told(_after(desk).let_end(carried(pressed)[0], by=pressed.user))


def carried(pressed: Pressed, *, default: str = "") -> tuple[int, str]:
    """Return the reservation's number and the second figure that a button carries.

    Raises UserError when it carries no number.
    """
    number, _, figure = (pressed.value.argument or "").partition("|")
    if not number and pressed.value.reservation is not None:
        number = str(pressed.value.reservation)
    return number_in(number), figure or default


def _number(said: Said) -> int:
    number = plain_number((said.parsed.id or "").removeprefix("gpu-"))
    if number is None:
        raise UserError("Please say which one, by its number.", hint="list", code="which_one")
    return number


def _figure(text: str) -> Decimal:
    """Return hours or dollars. Raises UserError for what no button of ours carries."""
    if not _FIGURE.fullmatch(text):
        raise outdated()
    return Decimal(text)


_FIGURE: Final = re.compile(r"[0-9]{1,12}(\.[0-9]{1,12})?")


VERBS: dict[str, Callable[[Said, Desk], Reply]] = {
    "extend": _extend,
    "release": _release,
    "handover": _handover,
}

BUTTONS: dict[str, Callable[[Pressed, Desk], Reply]] = {
    ids.EXTEND: _press_extend,
    ids.PERMIT: _press_permit,
    ids.PERMIT_ASK: _press_ask,
    ids.PERMIT_END: _press_revoke,
    ids.RELEASE: _press_release,
    ids.TAKE: _press_take,
    ids.ACCEPT: _press_accept,
    ids.DECLINE: _press_decline,
    ids.KEEP: _press_keep,
    ids.NOTHING: _press_nothing,
}
