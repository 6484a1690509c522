"""Every button, by its exact name, and the one service call it stands for.

What a button shows proves nothing: its ids are read again, and the service decides whether the
presser may.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import assert_never, cast

from bot.domain.errors import NotAllowedError, UserError
from bot.domain.records import Delivery, gpu_id
from bot.domain.request import Parsed, Problem, Request, Status
from handlers import after, ids, overview, questions, use, watching
from handlers.answers import answers_to, is_settled, picked, settle
from handlers.cards.buttons import seen
from handlers.cards.phrases import say
from handlers.cards.private import saying
from handlers.commands import Scope, denial, list_page, obey, shown_card
from handlers.deliveries import Action, Command, Submission, read_item
from handlers.desk import Desk, needed
from handlers.forms import FormContext, request_form
from handlers.heard import Pressed, Said, outdated
from handlers.reply import NOTHING, Form, Message, Reply
from handlers.submissions import line_sent

PLAIN = frozenset({"mine", "team", "all"})
SHELVES = frozenset({"mine", "team", "waiting"})


def press(pressed: Pressed, desk: Desk) -> Reply:
    """Return the answer to one press."""
    handler = KNOWN.get(pressed.action.action_id)
    if handler is None:
        raise outdated()
    return handler(pressed, desk)


def _request(pressed: Pressed, desk: Desk) -> Reply:
    """Ask for approval of the very option that was shown, or say that it has changed."""
    number = _reservation(pressed)
    card = desk.views.card(number)
    if card.decision is None or seen(card.decision) != pressed.value.seen:
        raise UserError(
            f"{gpu_id(number)} has changed since that card was drawn."
            " Please look at the new one first.",
            hint=f"status {gpu_id(number)}",
            code="changed_since",
            name=gpu_id(number),
        )
    desk.proposing.propose(number, by=pressed.user, rank=pressed.value.rank)
    return NOTHING


def _approve(pressed: Pressed, desk: Desk) -> Reply:
    desk.approving.approve(_proposal(pressed), by=pressed.user)
    return NOTHING


def _deny(pressed: Pressed, desk: Desk) -> Reply:
    """Ask for the reason; the verdict comes with the form."""
    number = _proposal(pressed)
    name = gpu_id(desk.views.proposal(number).reservation.id)
    return denial(number, name=name, channel=pressed.action.channel, locale=pressed.person.locale)


def _another(pressed: Pressed, desk: Desk) -> Reply:
    desk.quoting.show(_reservation(pressed), rank=pressed.value.rank or 1, by=pressed.user)
    return NOTHING


def _change(pressed: Pressed, desk: Desk) -> Reply:
    reservation = desk.views.card(_reservation(pressed)).reservation
    locale = pressed.person.locale
    instead = saying(say("no_form", locale), hint=reservation.line, locale=locale)
    return _form(pressed, reservation.request, instead, reservation=reservation.id)


def _search(pressed: Pressed, desk: Desk) -> Reply:
    desk.quoting.again(_reservation(pressed), by=pressed.user)
    return NOTHING


def _cancel(pressed: Pressed, desk: Desk) -> Reply:
    desk.asking.cancel(_reservation(pressed), by=pressed.user)
    return NOTHING


def _choice(pressed: Pressed, desk: Desk) -> Reply:
    """Go on with a line that had a question open: with an answer, a yes, or once more."""
    delivery, command, changes = _own_line(pressed, desk)
    value = pressed.value
    if value.confirm:
        return _confirmed(pressed, desk, delivery)
    if is_settled(desk.store, delivery.id) and not value.again:
        raise UserError("That question is settled already.", hint="list", code="settled")
    answers = answers_to(desk.store, delivery.id)
    if value.field is not None and value.choice is not None:
        others = {field: answer for field, answer in answers.items() if field != value.field}
        answers = picked(
            desk.store,
            delivery.id,
            _read(pressed, desk, delivery, command, others),
            field=value.field,
            choice=value.choice,
            at=desk.clock.now(),
        )
    said = Said(
        delivery=delivery.id,
        command=command.model_copy(update={"answer_at": pressed.action.answer_at}),
        person=pressed.person,
        parsed=_read(pressed, desk, delivery, command, answers),
        again=value.again and _first_time(delivery, desk),
        changes=changes,
    )
    reply = obey(said, desk)
    if said.parsed.status is Status.OK:
        settle(desk.store, delivery.id, at=desk.clock.now())
    return replace(reply, replaces=True)


def _confirmed(pressed: Pressed, desk: Desk, delivery: Delivery) -> Reply:
    """Have a late delivery carried out, once."""
    with desk.store.transaction() as tx:
        confirmed = tx.inbox.confirm(delivery.id)
    if not confirmed:
        raise UserError("That was carried out already.", hint="list")
    desk.bell.ring()
    going_on = saying(say("going_on", pressed.person.locale))
    return Reply(messages=(going_on,), replaces=True)


def _open_form(pressed: Pressed, desk: Desk) -> Reply:
    """Open the form, filled with what the line says, or with the line that works instead."""
    request: Request | None = None
    if pressed.value.delivery is not None:
        delivery, command, _ = _own_line(pressed, desk)
        answers = answers_to(desk.store, delivery.id)
        request = _nearest(pressed, desk, _read(pressed, desk, delivery, command, answers))
    instead = saying(say("no_form", pressed.person.locale))
    return _form(pressed, request, instead)


def _older(pressed: Pressed, desk: Desk) -> Reply:
    scope = pressed.value.scope
    if scope not in PLAIN:
        raise UserError("That list is not there any more.", hint="list")
    return list_page(
        desk,
        user=pressed.user,
        scope=cast("Scope", scope),
        locale=pressed.locale,
        before=pressed.value.before,
    )


def _show(pressed: Pressed, desk: Desk) -> Reply:
    """Show one card in private."""
    return shown_card(desk, _reservation(pressed), user=pressed.user, locale=pressed.locale)


def _turn(pressed: Pressed, desk: Desk) -> Reply:
    """Turn one shelf of the Home tab, which is drawn anew after every press on it."""
    scope = pressed.value.scope
    if scope not in SHELVES:
        raise outdated()
    needed(desk.homes).turn(pressed.user, scope, before=pressed.value.before)
    return NOTHING


def _form(
    pressed: Pressed, request: Request | None, instead: Message, *, reservation: int | None = None
) -> Reply:
    context = FormContext(
        channel=pressed.action.channel,
        zone=pressed.person.zone,
        locale=pressed.person.locale,
        reservation=reservation,
    )
    return Reply(form=Form(request_form(context, request), instead))


def _own_line(pressed: Pressed, desk: Desk) -> tuple[Delivery, Command, int | None]:
    """Return the row that a choice is about, its line, and the reservation it is to change.

    Only its own sender may choose. A form stands for a line, a press for an empty one.
    """
    if pressed.value.delivery is None:
        raise UserError("That question is settled already.", hint="list", code="settled")
    with desk.store.reading() as tx:
        delivery = tx.inbox.get(pressed.value.delivery)
    item = read_item(delivery.body)
    if not isinstance(item, Command | Submission | Action) or item.user != pressed.user:
        raise NotAllowedError("Only the person who sent that line may choose.")
    match item:
        case Command():
            return delivery, item, None
        case Submission():
            context = FormContext.model_validate_json(item.context or "{}")
            return delivery, line_sent(item, context), context.reservation
        case Action():
            return delivery, _line_pressed(item), None
    assert_never(item)


def _line_pressed(item: Action) -> Command:
    """Return a late press as an empty line: all that can be chosen about it is a yes."""
    return Command(
        user=item.user,
        workspace=item.workspace,
        channel=item.channel or item.user,
        text="",
        trigger="",
        answer_at=None,
    )


def _read(
    pressed: Pressed,
    desk: Desk,
    delivery: Delivery,
    command: Command,
    answers: dict[str, str],
) -> Parsed:
    """Return what the line meant when it was sent; choices never move with the clock."""
    return desk.parse(
        command.text,
        now=delivery.received_at,
        zone=pressed.person.zone,
        locale=pressed.person.locale,
        answers=answers,
    )


def _nearest(pressed: Pressed, desk: Desk, parsed: Parsed) -> Request | None:
    problem: Problem | None = parsed.problem
    if parsed.request is not None or problem is None:
        return parsed.request
    hinted = desk.parse(
        problem.hint.removeprefix(f"{ids.COMMAND} "),
        now=desk.clock.now(),
        zone=pressed.person.zone,
        locale=pressed.person.locale,
        answers={},
    )
    return hinted.request if hinted.status is not Status.REFUSED else None


def _first_time(delivery: Delivery, desk: Desk) -> bool:
    """Return True once for each line: neither a double press nor a crash may file it twice."""
    fact = f"again:{delivery.id}"
    with desk.store.transaction() as tx:
        if tx.facts.get(fact) is not None:
            return False
        tx.facts.put(fact, "filed", at=desk.clock.now())
    return True


def _reservation(pressed: Pressed) -> int:
    if pressed.value.reservation is None:
        raise outdated()
    return pressed.value.reservation


def _proposal(pressed: Pressed) -> int:
    if pressed.value.proposal is None:
        raise outdated()
    return pressed.value.proposal


KNOWN: dict[str, Callable[[Pressed, Desk], Reply]] = {
    ids.REQUEST: _request,
    ids.APPROVE: _approve,
    ids.DENY: _deny,
    ids.ANOTHER: _another,
    ids.CHANGE: _change,
    ids.CANCEL: _cancel,
    ids.SEARCH: _search,
    ids.CHOICE: _choice,
    ids.FORM: _open_form,
    ids.OLDER: _older,
    ids.SHOW: _show,
    ids.HOME_OLDER: _turn,
    ids.HOME_NEWEST: _turn,
    **after.BUTTONS,
    **overview.BUTTONS,
    **questions.BUTTONS,
    **use.BUTTONS,
    **watching.BUTTONS,
}
