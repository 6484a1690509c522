"""Sent forms: a new request, a changed one, or a denial with its reason."""

from collections.abc import Callable

from bot.domain.errors import UserError
from handlers import ids, questions
from handlers.commands import obey
from handlers.deliveries import Command, Submission
from handlers.desk import Desk
from handlers.forms import DENIAL, FormContext, sentence_of
from handlers.heard import Said, Sent
from handlers.reply import NOTHING, Reply


def submit(sent: Sent, desk: Desk) -> Reply:
    """Return the answer to one sent form."""
    handler = KNOWN.get(sent.form.form)
    if handler is None:
        raise UserError("That form is from an older version of me.", hint="help")
    return handler(sent, desk)


def line_sent(form: Submission, context: FormContext) -> Command:
    """Return the form as the line it stands for."""
    line, _ = sentence_of(form.values)
    return Command(
        user=form.user,
        workspace=form.workspace,
        channel=context.channel or form.user,
        text=line,
        trigger="",
        answer_at=None,
    )


def _request(sent: Sent, desk: Desk) -> Reply:
    command = line_sent(sent.form, sent.context)
    parsed = desk.parse(
        command.text,
        now=sent.delivery.received_at,
        zone=sent.person.zone,
        locale=sent.person.locale,
        answers={},
    )
    said = Said(
        delivery=sent.delivery.id,
        command=command,
        person=sent.person,
        parsed=parsed,
        changes=sent.context.reservation,
    )
    return obey(said, desk)


def _deny(sent: Sent, desk: Desk) -> Reply:
    if sent.context.proposal is None:
        raise UserError("That form is from an older version of me.", hint="list")
    reason = sent.form.values.get(DENIAL) or ""
    desk.approving.deny(sent.context.proposal, by=sent.form.user, reason=reason)
    return NOTHING


KNOWN: dict[str, Callable[[Sent, Desk], Reply]] = {
    ids.REQUEST_VIEW: _request,
    ids.DENY_VIEW: _deny,
    **questions.FORMS,
}
