"""Buttons and forms around an approval: ask the requester, answer, act alone, go on trying.

Each form takes one text. What a button carries is ids only; the service decides who may.
"""

from collections.abc import Callable

from bot.domain.records import gpu_id
from bot.services.approvals.counsel import Counsel
from handlers import ids
from handlers.cards.phrases import say
from handlers.cards.private import saying
from handlers.desk import Desk, needed
from handlers.forms import WORDS, FormContext, words_form
from handlers.heard import Pressed, Sent, number_in, outdated
from handlers.reply import NOTHING, Form, Reply


def _ask(pressed: Pressed, desk: Desk) -> Reply:
    """Ask the approver for their question."""
    number = pressed.value.proposal
    if number is None:
        raise outdated()
    name = gpu_id(desk.views.proposal(number).reservation.id)
    return _form(pressed, ids.ASK_VIEW, "ask_form", name=name, proposal=number)


def _answer(pressed: Pressed, desk: Desk) -> Reply:
    """Ask the requester for their answer."""
    proposal, question = _two_numbers(pressed.value.argument)
    name = gpu_id(desk.views.proposal(proposal).reservation.id)
    return _form(
        pressed, ids.ANSWER_VIEW, "answer_form", name=name, proposal=proposal, question=question
    )


def _alone(pressed: Pressed, desk: Desk) -> Reply:
    """Ask whoever would act alone for the reason, which is posted."""
    number = number_in(pressed.value.argument)
    name = gpu_id(desk.views.proposal(number).reservation.id)
    return _form(pressed, ids.ALONE_VIEW, "alone_form", name=name, proposal=number)


def _retry(pressed: Pressed, desk: Desk) -> Reply:
    _counsel(desk).retry(number_in(pressed.value.argument), by=pressed.user)
    return NOTHING


def _sent_question(sent: Sent, desk: Desk) -> Reply:
    proposal, text = _of(sent)
    _counsel(desk).ask(proposal, by=sent.form.user, text=text)
    return NOTHING


def _sent_answer(sent: Sent, desk: Desk) -> Reply:
    proposal, text = _of(sent)
    if sent.context.question is None:
        raise outdated()
    _counsel(desk).answer(proposal, sent.context.question, by=sent.form.user, text=text)
    return NOTHING


def _sent_alone(sent: Sent, desk: Desk) -> Reply:
    proposal, text = _of(sent)
    _counsel(desk).alone(proposal, by=sent.form.user, reason=text)
    return NOTHING


def _form(
    pressed: Pressed,
    callback: str,
    phrase: str,
    *,
    name: str,
    proposal: int,
    question: int | None = None,
) -> Reply:
    locale = pressed.person.locale
    context = FormContext(
        channel=pressed.action.channel, locale=locale, proposal=proposal, question=question
    )
    view = words_form(context, callback=callback, question=say(phrase, locale, name=name))
    return Reply(form=Form(view, saying(say("no_form", locale), locale=locale)))


def _counsel(desk: Desk) -> Counsel:
    return needed(desk.counsel)


def _of(sent: Sent) -> tuple[int, str]:
    if sent.context.proposal is None:
        raise outdated()
    return sent.context.proposal, sent.form.values.get(WORDS) or ""


def _two_numbers(argument: str | None) -> tuple[int, int]:
    first, _, second = (argument or "").partition("|")
    return number_in(first), number_in(second)


BUTTONS: dict[str, Callable[[Pressed, Desk], Reply]] = {
    ids.ASK: _ask,
    ids.ANSWER: _answer,
    ids.ALONE: _alone,
    ids.RETRY: _retry,
}
FORMS: dict[str, Callable[[Sent, Desk], Reply]] = {
    ids.ASK_VIEW: _sent_question,
    ids.ANSWER_VIEW: _sent_answer,
    ids.ALONE_VIEW: _sent_alone,
}
