"""An approver asks, the requester answers: words go back and forth, nothing is decided by them.

The request stays alive meanwhile. Whoever would rather change it does so from its card, and the
old approval card loses its power.
"""

from dataclasses import dataclass
from datetime import datetime

from bot.domain.base import Model
from bot.domain.errors import NotAllowedError, UserError
from bot.domain.lifecycle import ProposalState
from bot.domain.records import AuditEntry, Proposal, Reservation, gpu_id
from bot.domain.saying import Mention, Press, Sentence
from bot.domain.values import Instant
from bot.policy.configuration import Configuration
from bot.policy.delegating import seat_of
from bot.policy.permitting import Obstacle, may_not_decide, unfit
from bot.ports import Bell, Clock, Store, Transaction
from bot.services.commitments.entitling import entitled, named
from bot.services.verifying import Verifying
from bot.services.words.pleading import Pleading
from bot.services.words.telling import Telling

ANSWER = "gpu.answer"
"""The button under a question; its argument is the proposal's and the question's number."""


class Question(Model):
    """What an approver wants to know before they decide."""

    proposal_id: int
    number: int
    by: str
    text: str
    at: Instant
    answer: str = ""
    answered_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Questioning:
    """Carries questions to the requester and answers back."""

    store: Store
    clock: Clock
    verifying: Verifying
    telling: Telling
    pleading: Pleading
    configuration: Configuration
    bell: Bell

    def ask(self, proposal_id: int, *, by: str, text: str) -> Question:
        """Ask the requester under their card; the same question again is not asked twice.

        Raises NotAllowedError for whoever may not decide on it, UserError when it is decided.
        """
        words = _said(text, "Please write what you would like to know.")
        with self.store.reading() as tx:
            before = tx.proposals.get(proposal_id)
        standing = self.verifying.standing(by, named(before, self.configuration))
        now = self.clock.now()
        with self.store.transaction() as tx:
            proposal, reservation = self._open(tx, proposal_id, now)
            seat = seat_of(
                standing,
                approvers=entitled(tx, proposal, self.configuration),
                configuration=self.configuration,
                now=now,
            )
            obstacle = unfit(standing) or (Obstacle.NOT_NAMED if seat is None else None)
            if obstacle is not None:
                raise may_not_decide(obstacle)
            asked = _questions(tx, proposal_id)
            same = next((one for one in asked if (one.by, one.text) == (by, words)), None)
            if same is not None:
                return same
            question = Question(
                proposal_id=proposal_id, number=len(asked) + 1, by=by, text=words, at=now
            )
            _keep(tx, question, now)
            self._tell_requester(tx, reservation, question, now)
            note: Sentence = (
                Mention(id=by, ping=False),
                " asked the requester: ",
                words,
            )
            self.pleading.under_approval(
                tx, proposal, f"question-{question.number}", (note,), now=now
            )
            _write(tx, question, by, "proposal.question", now)
        self.bell.ring()
        return question

    def answer(self, proposal_id: int, number: int, *, by: str, text: str) -> Question:
        """Carry the answer to whoever asked. Raises NotAllowedError for strangers, UserError."""
        words = _said(text, "Please write an answer.")
        now = self.clock.now()
        with self.store.transaction() as tx:
            proposal, reservation = self._open(tx, proposal_id, now)
            if by not in (
                reservation.requester,
                reservation.owner,
                *self.configuration.administrators,
            ):
                raise NotAllowedError(
                    f"Only the requester or the owner may answer for {gpu_id(reservation.id)}."
                )
            asked = _questions(tx, proposal_id)
            question = next((one for one in asked if one.number == number), None)
            if question is None:
                raise UserError("That question is not there any more.", hint="list")
            if question.answer:
                raise UserError(f"@{question.answered_by} has answered that already.")
            answered = question.model_copy(update={"answer": words, "answered_by": by})
            _keep(tx, answered, now)
            note: Sentence = (
                Mention(id=question.by),
                " ",
                Mention(id=by, ping=False),
                f" answers “{question.text}”: {words}",
            )
            self.pleading.under_approval(tx, proposal, f"answer-{number}", (note,), now=now)
            thanks: Sentence = (Mention(id=by, ping=False), f" answered: {words}")
            self.telling.note(
                tx, reservation, f"answer-{proposal_id}-{number}", (thanks,), now=now, ping=False
            )
            _write(tx, answered, by, "proposal.answer", now)
        self.bell.ring()
        return answered

    def _open(
        self, tx: Transaction, proposal_id: int, now: datetime
    ) -> tuple[Proposal, Reservation]:
        proposal = tx.proposals.get(proposal_id)
        reservation = tx.reservations.get(proposal.reservation_id)
        if proposal.state is not ProposalState.OPEN or now >= proposal.expires_at:
            name = gpu_id(reservation.id)
            raise UserError(f"{name} is decided or replaced already.", hint=f"status {name}")
        return proposal, reservation

    def _tell_requester(
        self, tx: Transaction, reservation: Reservation, question: Question, now: datetime
    ) -> None:
        ping: Sentence = (
            ()
            if reservation.requester == reservation.owner
            else (Mention(id=reservation.requester), " ")
        )
        words: Sentence = (
            *ping,
            Mention(id=question.by, ping=False),
            f" asks before deciding: {question.text}",
        )
        press = Press(
            action=ANSWER,
            label="Answer …",
            argument=f"{question.proposal_id}|{question.number}",
            style="primary",
        )
        self.telling.note(
            tx,
            reservation,
            f"question-{question.proposal_id}-{question.number}",
            (words,),
            now=now,
            presses=(press,),
        )


def _questions(tx: Transaction, proposal_id: int) -> list[Question]:
    found = tx.facts.starting_with(f"question:{proposal_id}:")
    rows = [Question.model_validate_json(text) for text in found.values()]
    return sorted(rows, key=lambda one: one.number)


def _keep(tx: Transaction, question: Question, now: datetime) -> None:
    name = f"question:{question.proposal_id}:{question.number}"
    tx.facts.put(name, question.model_dump_json(), at=now)


def _said(text: str, instead: str) -> str:
    words = " ".join(text.split())
    if not words:
        raise UserError(instead)
    return words


def _write(tx: Transaction, question: Question, by: str, action: str, now: datetime) -> None:
    tx.audit.append(
        AuditEntry(
            at=now,
            actor=by,
            action=action,
            reservation_id=tx.proposals.get(question.proposal_id).reservation_id,
            facts={
                "proposal": str(question.proposal_id),
                "question": question.text,
                "answer": question.answer,
            },
        )
    )
