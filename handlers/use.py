"""What people do with capacity that is there: kits, endpoints, health, clean-up.

Verbs and buttons, each the one service call it stands for; services decide who may.
"""

from collections.abc import Callable

from bot.domain.errors import UserError
from bot.domain.saying import Section
from bot.services.running.kits import Handout
from bot.services.uses import Uses
from handlers import ids
from handlers.cards.notes import whispered
from handlers.desk import Desk, needed
from handlers.heard import Pressed, Said, number_in, outdated, plain_number
from handlers.reply import Reply


def _uses(desk: Desk) -> Uses:
    return needed(desk.uses)


def _kits(handouts: tuple[Handout, ...], reservation: int) -> Reply:
    messages = [
        message
        for handout in handouts
        for message in whispered(handout.sections, reservation=reservation, menus=handout.menus)
    ]
    return Reply(messages=tuple(messages))


def _word(text: str) -> Reply:
    return Reply(messages=whispered((Section(sentences=((text,),)),)))


# --- verbs --------------------------------------------------------------------------------------


def _launch(said: Said, desk: Desk) -> Reply:
    number = _needed(said)
    return _kits(_uses(desk).kits.launch(number), number)


def _health(said: Said, desk: Desk) -> Reply:
    number = _needed(said)
    return Reply(messages=whispered(_uses(desk).healing.health(number), reservation=number))


def _endpoint(said: Said, desk: Desk) -> Reply:
    """Create, show or delete; a model that reads gpu-42 names the reservation instead."""
    keeping = _uses(desk).endpoints
    arguments = said.parsed.arguments
    model = str(arguments.get("model") or "")
    number = _number(said.parsed.id) or _number(model)
    match arguments.get("action"):
        case "create":
            if not model or _number(model) is not None:
                raise UserError(
                    "Which SageMaker model should it serve?",
                    hint=f"endpoint create {said.parsed.id or 'gpu-42'} your-model-name",
                )
            count = arguments.get("count")
            sections = keeping.create(
                number, model=model, count=count if isinstance(count, int) else None, by=said.user
            )
        case "delete":
            sections = keeping.delete(number, by=said.user, named=model or None)
        case _:
            sections = keeping.status(number, by=said.user, named=model or None)
    return Reply(messages=whispered(sections, reservation=number))


# --- buttons ------------------------------------------------------------------------------------


def _press_launch(pressed: Pressed, desk: Desk) -> Reply:
    number = _reservation(pressed)
    return _kits(_uses(desk).kits.launch(number), number)


def _press_health(pressed: Pressed, desk: Desk) -> Reply:
    number = _reservation(pressed)
    return Reply(messages=whispered(_uses(desk).healing.health(number), reservation=number))


def _press_kit(pressed: Pressed, desk: Desk) -> Reply:
    number = pressed.value.reservation
    if number is None:
        raise outdated()
    return _kits(_uses(desk).kits.launch(number, name=pressed.value.argument), number)


def _press_look(pressed: Pressed, desk: Desk) -> Reply:
    number = _reservation(pressed)
    return _word(_uses(desk).cleaning.look(number, by=pressed.user))


def _press_clean(pressed: Pressed, desk: Desk) -> Reply:
    number, key = _reservation(pressed), pressed.value.argument or ""
    return _word(_uses(desk).cleaning.remove(number, key, by=pressed.user))


def _press_clean_all(pressed: Pressed, desk: Desk) -> Reply:
    number = _reservation(pressed)
    return _word(_uses(desk).cleaning.remove_all(number, by=pressed.user))


def _press_agree(pressed: Pressed, desk: Desk) -> Reply:
    number_text, _, key = (pressed.value.argument or "").partition("|")
    number = number_in(number_text)
    return _word(_uses(desk).cleaning.agree(number, key, by=pressed.user))


def _press_delete(pressed: Pressed, desk: Desk) -> Reply:
    number = _reservation(pressed)
    return Reply(messages=whispered(_uses(desk).endpoints.delete(number, by=pressed.user)))


def _reservation(pressed: Pressed) -> int:
    """Return the reservation of a button; a reminder's carries it as its argument."""
    if pressed.value.reservation is not None:
        return pressed.value.reservation
    return number_in((pressed.value.argument or "").partition("|")[0])


def _needed(said: Said) -> int:
    number = _number(said.parsed.id)
    if number is None:
        raise UserError("Please say which one, by its number.", hint="list", code="which_one")
    return number


def _number(name: str | None) -> int | None:
    digits = (name or "").lower().removeprefix("#").removeprefix("gpu-")
    return plain_number(digits)


VERBS: dict[str, Callable[[Said, Desk], Reply]] = {
    "launch": _launch,
    "endpoint": _endpoint,
    "health": _health,
}

BUTTONS: dict[str, Callable[[Pressed, Desk], Reply]] = {
    ids.LAUNCH: _press_launch,
    ids.HEALTH: _press_health,
    ids.KIT: _press_kit,
    ids.CLEANUP: _press_look,
    ids.CLEAN: _press_clean,
    ids.CLEAN_ALL: _press_clean_all,
    ids.CLEAN_AGREE: _press_agree,
    ids.ENDPOINT_DELETE: _press_delete,
}
