"""Every verb that works, and the one service call it stands for.

A verb is known here exactly when its service exists; help lists these and no others.
"""

from collections.abc import Callable
from typing import Literal, cast

from bot.domain.errors import BugError, UserError
from bot.domain.records import Switch, gpu_id
from bot.domain.request import Request, Status
from bot.services.requests.asking import Asker
from bot.services.words.house_words import span
from handlers import after, overview, use, watching
from handlers.cards import private
from handlers.cards.decision import decision_card, plan_card
from handlers.cards.lists import listing_messages
from handlers.cards.phrases import say
from handlers.cards.private import saying
from handlers.desk import Desk
from handlers.forms import FormContext, denial_form, request_form
from handlers.heard import Said, plain_number
from handlers.reply import NOTHING, Form, Message, Reply

Scope = Literal["mine", "team", "all"]
PAGE = 20
"""How many reservations one page of a list holds (bot.services.words.views)."""

MOST_PAGES = 4
"""Pages shown at once; five private messages are all that a response_url takes."""


def obey(said: Said, desk: Desk) -> Reply:
    """Return the answer to one line; questions and refusals are answers, too."""
    parsed = said.parsed
    if wants_form(said):
        return open_form(said, None)
    if parsed.status is Status.REFUSED and parsed.problem is not None:
        marked = private.refused(
            parsed.problem,
            text=said.command.text,
            delivery=said.delivery,
            locale=said.locale,
            form=private.fits_form(parsed),
        )
        return Reply(messages=(marked,))
    verb = parsed.command or ""
    if verb not in KNOWN:
        raise BugError(f"{verb or 'a line'} was understood, and no room obeys it")
    if parsed.status is Status.ASK and verb == "deny" and parsed.id is not None:
        return _ask_why(said, desk)
    if parsed.status is Status.ASK:
        return Reply(messages=private.asked(parsed, delivery=said.delivery, locale=said.locale))
    return KNOWN[verb](said, desk)


def wants_form(said: Said) -> bool:
    """Return whether the line is /gpu or /gpu reserve and nothing else."""
    parsed = said.parsed
    bare = parsed.request is None or parsed.request == Request()
    words = said.command.text.split()
    return parsed.status is Status.ASK and parsed.command == "reserve" and bare and len(words) < 2  # noqa: PLR2004 - the verb alone


def open_form(said: Said, request: Request | None, *, reservation: int | None = None) -> Reply:
    """Return the form; when it can't open any more, the same in a private message."""
    context = FormContext(
        channel=said.command.channel,
        zone=said.person.zone,
        locale=said.person.locale,
        reservation=reservation,
    )
    questions = private.asked(said.parsed, delivery=said.delivery, locale=said.locale)[0]
    instead = Message(
        f"{say('no_form', said.locale)} {questions.text}",
        (*saying(say("no_form", said.locale)).blocks, *questions.blocks),
    )
    return Reply(form=Form(request_form(context, request), instead))


def _reserve(said: Said, desk: Desk) -> Reply:
    if said.changes is not None:
        changed = desk.asking.change(said.changes, said.parsed, by=said.user)
        words = say("changed", said.locale, name=gpu_id(changed.id))
        return _word(f"{words} {said.parsed.echo or ''}")
    by = Asker(
        user=said.user,
        workspace=said.command.workspace,
        channel=said.command.channel,
        zone=said.person.zone,
        locale=said.person.locale,
    )
    filed = desk.asking.file(said.parsed, by=by, again=said.again)
    if filed.reservation is None:
        if filed.same_as is None:
            return NOTHING
        return Reply(
            messages=(private.same_line(filed.same_as, delivery=said.delivery, locale=said.locale),)
        )
    return Reply(messages=(private.filed(filed.reservation, said.parsed.echo, locale=said.locale),))


def _plan(said: Said, desk: Desk) -> Reply:
    request = said.parsed.request
    if request is None:
        return NOTHING
    market, decision = desk.quoting.plan(request, zone=said.person.zone, requester=said.user)
    line = f"/gpu {said.parsed.line or ''}".strip()
    return Reply(messages=(plan_card(decision, line, read_at=market.as_of),))


def _status(said: Said, desk: Desk) -> Reply:
    if said.parsed.id is not None:
        return shown_card(desk, _number(said), user=said.user, locale=said.locale)
    switch = saying(say(f"switch_{desk.switching.state()}", said.locale))
    return Reply(
        messages=(
            switch,
            *list_page(desk, user=said.user, scope="mine", locale=said.locale).messages,
        )
    )


def shown_card(desk: Desk, reservation_id: int, *, user: str, locale: str) -> Reply:
    """Return a copy of a card; what AWS showed over a minute ago is looked at again."""
    card = decision_card(desk.views.copy(reservation_id, reader=user), live=False)
    last = desk.glancing.look_again(reservation_id) if desk.glancing is not None else None
    if last is None:
        return Reply(messages=(card,))
    age = desk.clock.now() - last
    words = say("looking_again", locale, age=span(age))
    return Reply(messages=(card, saying(words)))


def _list(said: Said, desk: Desk) -> Reply:
    scope = said.parsed.arguments.get("scope") or "mine"
    return list_page(desk, user=said.user, scope=cast("Scope", scope), locale=said.locale)


def list_page(
    desk: Desk, *, user: str, scope: Scope, locale: str, before: int | None = None
) -> Reply:
    """Return the first pages of a list; the rest is behind a button."""
    views = desk.views.listing(scope=scope, user=user, before_id=before)
    pages = 1
    while views and len(views) % PAGE == 0 and pages < MOST_PAGES:
        older = desk.views.listing(scope=scope, user=user, before_id=views[-1].reservation.id)
        if not older:
            break
        views += older
        pages += 1
    more = len(views) == PAGE * MOST_PAGES
    messages = listing_messages(views, scope=scope, more=more, locale=locale)
    return Reply(messages=messages)


def _cancel(said: Said, desk: Desk) -> Reply:
    cancelled = desk.asking.cancel(_number(said), by=said.user)
    return _word(say("cancelled", said.locale, name=gpu_id(cancelled.id)))


def _approve(said: Said, desk: Desk) -> Reply:
    proposal = desk.approving.approve(_open_proposal(said, desk), by=said.user)
    return _word(say("approved", said.locale, name=gpu_id(proposal.reservation_id)))


def _deny(said: Said, desk: Desk) -> Reply:
    reason = str(said.parsed.arguments.get("reason") or "")
    proposal = desk.approving.deny(_open_proposal(said, desk), by=said.user, reason=reason)
    return _word(say("denied", said.locale, name=gpu_id(proposal.reservation_id)))


def _ask_why(said: Said, desk: Desk) -> Reply:
    name = said.parsed.id or ""
    return denial(
        _open_proposal(said, desk), name=name, channel=said.command.channel, locale=said.locale
    )


def denial(proposal_id: int, *, name: str, channel: str | None, locale: str) -> Reply:
    """Return the form that asks for the reason of a denial; the verdict comes with it."""
    context = FormContext(channel=channel, proposal=proposal_id, locale=locale)
    hint = f'deny {name} "too expensive for an evaluation"'
    instead = saying(say("no_form", locale), hint=hint, locale=locale)
    return Reply(form=Form(denial_form(context, name=name), instead))


def _stop(said: Said, desk: Desk) -> Reply:
    desk.switching.set(Switch.OFF, by=said.user)
    return _word(say(f"switch_{Switch.OFF}", said.locale))


def _resume(said: Said, desk: Desk) -> Reply:
    to = Switch.SHADOW if desk.resume_to is Switch.SHADOW else Switch.ON
    desk.switching.set(to, by=said.user)
    return _word(say(f"switch_{to}", said.locale))


def _help(said: Said, desk: Desk) -> Reply:
    verb = said.parsed.arguments.get("verb")
    text = desk.help(str(verb) if verb else None, said.person.locale)
    return Reply(messages=private.helped(text))


def _number(said: Said) -> int:
    """Return the number in gpu-42. The parser has checked its form."""
    return number_of(said.parsed.id or "")


def number_of(name: str) -> int:
    """Return 42 for gpu-42. Raises UserError when it is no such name."""
    number = plain_number(name.removeprefix("gpu-"))
    if number is None:
        raise UserError("Please say which one, by its number.", hint="list", code="which_one")
    return number


def _open_proposal(said: Said, desk: Desk) -> int:
    proposal = desk.views.card(_number(said)).proposal
    if proposal is None:
        raise UserError(
            f"Nobody has asked for approval of {said.parsed.id} yet.",
            code="not_asked",
            name=said.parsed.id or "",
        )
    return proposal.id


def _word(text: str) -> Reply:
    return Reply(messages=(saying(text),))


KNOWN: dict[str, Callable[[Said, Desk], Reply]] = {
    "reserve": _reserve,
    "plan": _plan,
    "status": _status,
    "list": _list,
    "cancel": _cancel,
    "approve": _approve,
    "deny": _deny,
    "stop": _stop,
    "resume": _resume,
    "help": _help,
    **overview.VERBS,
    **after.VERBS,
    **use.VERBS,
    **watching.VERBS,
}
