"""Works off the inbox: translate, call one service, translate back. Total.

A delivery may be worked on twice after a crash. Services bear that; a private answer leaves only
after its delivery is marked, so that it comes once or not at all.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import assert_never

from structlog.typing import FilteringBoundLogger

from bot.domain.errors import (
    BusyError,
    ConflictError,
    DeliveryError,
    NotAllowedError,
    StateError,
    UnknownRecordError,
    UserError,
)
from bot.domain.records import Delivery, Person
from bot.domain.saying import Announcement, Audience
from handlers import ids
from handlers.actions import press
from handlers.answering import Answering, place_of
from handlers.cards import private
from handlers.commands import obey
from handlers.deliveries import Action, Command, Late, Opened, Submission, read_item
from handlers.desk import Desk
from handlers.forms import FormContext
from handlers.heard import Pressed, Said, Sent
from handlers.ids import ButtonValue
from handlers.reply import NOTHING, Reply
from handlers.submissions import submit

LEASE = timedelta(minutes=2)
"""Longer than one command takes; a dead holder's rows are free at once (storage)."""
BATCH = 1
"""A slow line must not hold up a form behind it, whose trigger lives three seconds."""
DAILY = timedelta(days=1)
"""Zone and locale change rarely; who may spend is read afresh by the services."""
ANY_AGE = timedelta(days=3650)

Worked = Command | Action | Submission | Opened | Late


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """Carries out what was written down."""

    desk: Desk
    answering: Answering
    log: FilteringBoundLogger

    def step(self) -> int:
        """Work on what waits; return how many deliveries were worked on."""
        try:
            with self.desk.store.transaction() as tx:
                batch = tx.inbox.claim(now=self.desk.clock.now(), lease=LEASE, limit=BATCH)
        except BusyError:
            self.log.warning("inbox busy")
            return 0
        for delivery in batch:
            self._work(delivery)
        return len(batch)

    def _work(self, delivery: Delivery) -> None:
        """Carry one out, mark it, then answer: an answer that may have left is never repeated.

        What the database was too busy for stays in the inbox and is carried out again.
        """
        try:
            try:
                item = read_item(delivery.body)
                place = place_of(item)
            except ValueError:
                self.log.exception("delivery unreadable", delivery=delivery.id)
                self._settle(delivery, "unreadable")
                return
            reply, outcome = self._reply(delivery, item)
            self._settle(delivery, outcome)
            self.answering.give(place, reply)
        except BusyError:
            self.log.warning("delivery put off: database busy", delivery=delivery.id)
        except Exception:
            self.log.exception("delivery not answered", delivery=delivery.id)

    def _settle(self, delivery: Delivery, outcome: str) -> None:
        with self.desk.store.transaction() as tx:
            tx.inbox.done(delivery.id, outcome=outcome)

    def _reply(self, delivery: Delivery, item: Worked) -> tuple[Reply, str]:
        """Return the answer and the word for the log; every failure is an answer."""
        try:
            return self._carry_out_twice(delivery, item), "done"
        except NotAllowedError as error:
            return self._refused(error, item), "not allowed"
        except UserError as error:
            return self._refused(error, item), "refused"
        except UnknownRecordError:
            refusal = UserError("I know nothing by that number.", hint="list", code="unknown")
            return self._refused(refusal, item), "unknown"
        except StateError as error:
            message = f"That can't be done any more: {error}."
            return self._refused(UserError(message, hint="list", code="too_late"), item), "too late"
        except BusyError:
            raise
        except Exception:
            reference = f"d{delivery.id}"
            self.log.exception("delivery failed", reference=reference)
            return Reply(messages=(private.trouble(reference),)), "failed"

    def _refused(self, error: UserError, item: Worked) -> Reply:
        return Reply(messages=(private.problem_of(error, locale=self._locale(item)),))

    def _carry_out_twice(self, delivery: Delivery, item: Worked) -> Reply:
        """Carry it out; when another writer won, look again once with what is stored now."""
        try:
            return self._carry_out(delivery, item)
        except ConflictError:
            return self._carry_out(delivery, item)

    def _carry_out(self, delivery: Delivery, item: Worked) -> Reply:
        match item:
            case Command():
                person = self._person(item.user)
                parsed = self.desk.parse(
                    item.text,
                    now=delivery.received_at,
                    zone=person.zone,
                    locale=person.locale,
                    answers={},
                )
                said = Said(delivery=delivery.id, command=item, person=person, parsed=parsed)
                return obey(said, self.desk)
            case Action():
                person = self._person(item.user)
                value = ButtonValue.read(item.value)
                pressed = Pressed(delivery=delivery.id, action=item, person=person, value=value)
                try:
                    return press(pressed, self.desk)
                finally:
                    if item.channel is None:
                        self._draw_home(item.user)
            case Submission():
                person = self._person(item.user)
                context = FormContext.model_validate_json(item.context or "{}")
                sent = Sent(delivery=delivery, form=item, person=person, context=context)
                return submit(sent, self.desk)
            case Opened():
                self._draw_home(item.user, anew=True)
                return NOTHING
            case Late():
                return self._ask(item)
        assert_never(item)

    def _person(self, user: str) -> Person:
        """Return who it is. Raises NotAllowedError for strangers, bots and the deactivated.

        When Slack can't be asked, what was last known serves to read a line; the services ask
        afresh before anything that needs a right.
        """
        try:
            person = self.desk.people.person(user, max_age=DAILY)
        except DeliveryError:
            person = self._last_known(user)
        if person.external:
            raise NotAllowedError("Only members of this workspace may use me.", code="stranger")
        if person.bot or not person.active:
            raise NotAllowedError("Only people with an active account may use me.", code="inactive")
        return person

    def _last_known(self, user: str) -> Person:
        try:
            return self.desk.people.person(user, max_age=ANY_AGE)
        except DeliveryError as error:
            message = "Slack could not tell me who you are just now. Please try again in a minute."
            raise UserError(message, code="slack_silent") from error

    def _locale(self, item: Worked) -> str:
        """Return the language to answer in, as far as it is known."""
        try:
            return self.desk.people.person(item.user, max_age=ANY_AGE).locale
        except DeliveryError:
            return private.ENGLISH_LOCALE

    def _draw_home(self, user: str, *, anew: bool = False) -> None:
        """Have the Home tab drawn; `anew` from its newest, else as it was turned."""
        with self.desk.store.transaction() as tx:
            if anew and self.desk.homes is not None:
                self.desk.homes.reset(tx, user)
            tx.outbox.redraw(
                f"home:{user}",
                Announcement(kind="home", to=Audience(user=user)),
                at=self.desk.clock.now(),
            )
        self.desk.bell.ring()

    def _ask(self, notice: Late) -> Reply:
        with self.desk.store.reading() as tx:
            late = tx.inbox.find(notice.of)
        if late is None or not late.late:
            return NOTHING
        question = private.late(
            described(notice.what), delivery=late.id, locale=self._locale(notice)
        )
        return Reply(messages=(question,))


def described(item: Command | Action | Submission) -> str:
    """Return what somebody did, in their own words or the button's name."""
    match item:
        case Command():
            return f"{ids.COMMAND} {item.text}".strip()
        case Action():
            return f"pressed {item.action_id.removeprefix('gpu.')}"
        case Submission():
            return "sent the form"
