"""Handing a reservation to a person of one's choice, once they agree."""

from dataclasses import dataclass

from bot.domain.base import Model
from bot.domain.errors import NotAllowedError, UserError
from bot.domain.records import gpu_id
from bot.domain.saying import Mention, Press, Sentence, Strong
from bot.domain.values import Instant, utc_text
from bot.policy.configuration import Configuration
from bot.policy.permitting import (
    approval_words,
    asking_groups,
    check_fit,
    teams_of,
    unfit,
)
from bot.ports import Bell, Clock, Store, Transaction
from bot.services.endings.moving import Moving, left_words, live_receipt, shared_words
from bot.services.endings.releasing import offer_name
from bot.services.verifying import Verifying
from bot.services.words.auditing import write_audit
from bot.services.words.telling import Telling


class Handover(Model):
    """Who gives it to whom, and since when the receiver is asked."""

    by: str
    to: str
    at: Instant


@dataclass(frozen=True, slots=True, kw_only=True)
class Handing:
    """Asks the receiver and moves what they accept."""

    store: Store
    clock: Clock
    verifying: Verifying
    moving: Moving
    telling: Telling
    configuration: Configuration
    bell: Bell

    def hand(self, reservation_id: int, *, to: str, by: str) -> tuple[Sentence, ...]:
        """Ask somebody to take a reservation over; return what was done.

        Raises NotAllowedError, also for a receiver who may not own anything here.
        """
        standing = self.verifying.standing(to)
        obstacle = unfit(standing)
        if obstacle is not None:
            raise NotAllowedError(f"They can't take it over: {approval_words(obstacle)}")
        now = self.clock.now()
        name = gpu_id(reservation_id)
        with self.store.transaction() as tx:
            reservation = tx.reservations.get(reservation_id)
            self.moving.check_owner(reservation, by)
            if to == reservation.owner:
                raise UserError(f"{name} is theirs already.")
            receipt = live_receipt(tx, reservation, now)
            asked = Handover(by=by, to=to, at=now)
            tx.facts.put(_name(reservation_id), asked.model_dump_json(), at=now)
            write_audit(tx, reservation, by, "handover.asked", now, to=to)
            self.telling.tell(
                tx,
                to,
                f"handover:{name}:{utc_text(now)}",
                (
                    (
                        Mention(id=by, ping=False),
                        " wants to hand you ",
                        Strong(text=name),
                        ". ",
                        *left_words(receipt),
                        (
                            " It is paid for. As its owner you get its reminders and may extend"
                            " or release it."
                        ),
                    ),
                ),
                now=now,
                presses=(
                    Press(
                        action="gpu.accept",
                        label=f"Take {name} over",
                        argument=str(reservation_id),
                        style="primary",
                    ),
                    Press(
                        action="gpu.decline", label="No, thank you", argument=str(reservation_id)
                    ),
                ),
            )
        self.bell.ring()
        return (
            (
                "I have asked ",
                Mention(id=to, ping=False),
                f". {name} is yours until then.",
            ),
        )

    def accept(self, reservation_id: int, *, by: str) -> tuple[Sentence, ...]:
        """Make the asked person the owner. Raises NotAllowedError for anybody else."""
        standing = self.verifying.standing(by, asking_groups(self.configuration))
        check_fit(standing)
        teams = teams_of(standing, self.configuration)
        now = self.clock.now()
        with self.store.transaction() as tx:
            reservation = tx.reservations.get(reservation_id)
            asked = self._asked(tx, reservation_id, by)
            if asked.by not in (reservation.owner, *self.configuration.administrators):
                raise UserError(f"{gpu_id(reservation_id)} has another owner by now.")
            receipt = live_receipt(tx, reservation, now)
            self.moving.move(
                tx,
                reservation,
                receipt,
                to=by,
                team=teams[0].name if teams else None,
                zone=standing.person.zone if standing.person is not None else reservation.zone,
                now=now,
            )
            tx.facts.drop(_name(reservation_id))
            tx.facts.drop(offer_name(reservation_id))
        self.bell.ring()
        return (
            (Strong(text=gpu_id(reservation_id)), " is yours now. ", *left_words(receipt)),
            *shared_words(reservation),
        )

    def decline(self, reservation_id: int, *, by: str) -> tuple[Sentence, ...]:
        """Leave it where it is, and tell who asked."""
        now = self.clock.now()
        with self.store.transaction() as tx:
            reservation = tx.reservations.get(reservation_id)
            asked = self._asked(tx, reservation_id, by)
            tx.facts.drop(_name(reservation_id))
            write_audit(tx, reservation, by, "handover.declined", now)
            self.telling.tell(
                tx,
                asked.by,
                f"declined:{gpu_id(reservation_id)}:{utc_text(asked.at)}",
                (
                    (
                        Mention(id=by, ping=False),
                        f" does not take {gpu_id(reservation_id)} over; it stays where it is.",
                    ),
                ),
                now=now,
            )
        self.bell.ring()
        return ((f"{gpu_id(reservation_id)} stays where it is.",),)

    def _asked(self, tx: Transaction, reservation_id: int, by: str) -> Handover:
        said = tx.facts.get(_name(reservation_id))
        asked = Handover.model_validate_json(said) if said is not None else None
        if asked is None or asked.to != by:
            raise NotAllowedError(f"Nobody has asked you to take {gpu_id(reservation_id)} over.")
        return asked


def _name(reservation_id: int) -> str:
    return f"handover:{gpu_id(reservation_id)}"
