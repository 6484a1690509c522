"""Watches: the verb, the button on a card, and what is done with what was found.

A button carries the number of a watch or a reservation; the request is taken from the records.
"""

from collections.abc import Callable
from decimal import ROUND_FLOOR, Decimal

from bot import language
from bot.domain.errors import UserError
from bot.domain.records import gpu_id
from bot.services.requests.asking import Asker
from bot.services.requests.watching import Watching
from bot.services.words.views import CardView
from handlers import ids
from handlers.cards.buttons import seen
from handlers.desk import Desk, needed
from handlers.heard import Pressed, Said, number_in, outdated
from handlers.ids import ButtonValue
from handlers.rendering import actions, button, code, section, shown
from handlers.reply import Message, Reply


def _watch(said: Said, desk: Desk) -> Reply:
    request, line = said.parsed.request, said.parsed.line
    if request is None or line is None:
        raise UserError("Please say what to watch for.", hint="help watch")
    by = Asker(
        user=said.user,
        workspace=said.command.workspace,
        channel=said.command.channel,
        zone=said.person.zone,
        locale=said.person.locale,
    )
    return _began(_watching(desk).watch(request, line, by=by), line)


def _press_watch(pressed: Pressed, desk: Desk) -> Reply:
    """Watch for what a reservation asked for: any that fits, or one that costs less than shown."""
    if pressed.value.reservation is None:
        raise outdated()
    view = desk.views.card(pressed.value.reservation)
    reservation = view.reservation
    by = Asker(
        user=pressed.user,
        workspace=reservation.workspace,
        channel=reservation.channel,
        zone=reservation.zone,
        locale=pressed.person.locale,
    )
    if pressed.value.rank is None:
        line = f"watch {reservation.line.partition(' ')[2]}"
        return _began(_watching(desk).watch(reservation.request, line, by=by), line)
    cheaper = reservation.request.model_copy(
        update={"max_total_usd": _below(_shown_total(view, pressed.value))}
    )
    line = language.line_of(cheaper, command="watch", zone=reservation.zone)
    return _began(_watching(desk).watch(cheaper, line, by=by), line)


def _shown_total(view: CardView, value: ButtonValue) -> Decimal:
    """Return what the option costs that the pressed button stood under."""
    decision = view.decision
    if decision is None or value.seen != seen(decision):
        raise outdated()
    option = next((one for one in decision.options if one.rank == value.rank), None)
    if option is None:
        raise outdated()
    return option.total_usd


def _below(total: Decimal) -> Decimal:
    """Return the most whole dollars that are less."""
    return (total - Decimal("0.01")).to_integral_value(ROUND_FLOOR)


def _press_file(pressed: Pressed, desk: Desk) -> Reply:
    """File the request of a watch, as if its line had just been sent."""
    watching = _watching(desk)
    watch = watching.found(number_in(pressed.value.argument), by=pressed.user)
    filed = desk.asking.file(watch.meant, by=watch.asker)
    number = filed.same_as if filed.reservation is None else filed.reservation.id
    if number is None:
        raise UserError("Nothing was filed. Please send the line yourself.", hint=watch.order)
    watching.filed(watch.id, number, by=pressed.user)
    text = f"Filed as {gpu_id(number)}. Nothing is bought before it is approved."
    return Reply(messages=(Message(text, (section(text),)),))


def _press_stop(pressed: Pressed, desk: Desk) -> Reply:
    text = _watching(desk).stop(number_in(pressed.value.argument), by=pressed.user)
    return Reply(messages=(Message(text, (section(text),)),))


def _began(watch_id: int, line: str) -> Reply:
    text = (
        "I watch for it and tell you once by direct message when it is on sale, for at most"
        " 14 days and not past the time you asked for. Nothing is bought or held."
    )
    value = ButtonValue(argument=str(watch_id))
    rows = actions([button("Stop watching", ids.WATCH_STOP, value.text())])
    blocks = (section(text), section(code(f"{ids.COMMAND} {line}")), *rows)
    return Reply(messages=(Message(shown(text), blocks),))


def _watching(desk: Desk) -> Watching:
    return needed(desk.watching)


VERBS: dict[str, Callable[[Said, Desk], Reply]] = {"watch": _watch}

BUTTONS: dict[str, Callable[[Pressed, Desk], Reply]] = {
    ids.WATCH: _press_watch,
    ids.WATCH_FILE: _press_file,
    ids.WATCH_STOP: _press_stop,
}
