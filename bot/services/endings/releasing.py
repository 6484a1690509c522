"""Giving what is left of a reservation to somebody who waits for the like, or to whoever takes it.

The next matching request, the oldest first, has the first word for half an hour, then the one
after it; when none is left, anybody who may ask can take it. Nothing is bought and nothing paid
back: what moves is who owns it, and whose budget its extensions count against from now on.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.base import Model
from bot.domain.ending import usable
from bot.domain.errors import NotAllowedError, UserError
from bot.domain.lifecycle import BEFORE_PURCHASE, ReservationState
from bot.domain.market import Kind
from bot.domain.records import Due, Receipt, Reservation, gpu_id
from bot.domain.saying import Mention, Moment, Press, Sentence, Strong
from bot.domain.values import Instant, utc_text
from bot.policy.configuration import Configuration
from bot.policy.permitting import asking_groups, may_ask, may_not_ask, teams_of
from bot.ports import Bell, Clock, Store, Transaction
from bot.services.commitments.closing import Closing
from bot.services.endings.moving import Moving, left_words, live_receipt, shared_words
from bot.services.reservations.extensions import parent_of
from bot.services.reservations.looking import lost_of
from bot.services.verifying import Verifying
from bot.services.words.auditing import write_audit
from bot.services.words.telling import Telling

KIND = "release"
HOLD = timedelta(minutes=30)
LEAST = timedelta(minutes=30)
"""Less than this is of no use to anybody who waits."""
HOUR_SECONDS = 3600
_S = ReservationState
WAITING = BEFORE_PURCHASE - {_S.APPROVED}
"""A request that is approved is being bought; it no longer waits."""
MOST_WAITING = 500


class Offer(Model):
    """What was released: by whom, to whom it is offered now, and who had their turn.

    `request` is the waiting request that has the first word until `until`; None: anybody.
    """

    by: str
    at: Instant
    request: int | None = None
    until: Instant | None = None
    passed: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Releasing:
    """Offers, holds and hands out what was released."""

    store: Store
    clock: Clock
    verifying: Verifying
    moving: Moving
    closing: Closing
    telling: Telling
    configuration: Configuration
    bell: Bell

    def release(self, reservation_id: int, *, by: str) -> tuple[Sentence, ...]:
        """Offer the rest to others; return what was done. Raises NotAllowedError, UserError."""
        now = self.clock.now()
        with self.store.transaction() as tx:
            reservation = tx.reservations.get(reservation_id)
            self.moving.check_owner(reservation, by)
            if offer_of(tx, reservation_id) is not None:
                raise UserError(f"{gpu_id(reservation_id)} is offered to others already.")
            receipt = live_receipt(tx, reservation, now)
            offer = Offer(by=by, at=now)
            write_audit(tx, reservation, by, "reservation.released", now)
            said = self._next(tx, reservation, receipt, offer, now)
        self.bell.ring()
        return said

    def turn(self, reservation_id: int) -> str:
        """Let the next one have the first word when a hold has run out (due kind "release")."""
        now = self.clock.now()
        with self.store.transaction() as tx:
            offer = offer_of(tx, reservation_id)
            if offer is None or offer.until is None or now < offer.until:
                return "nothing to do"
            reservation = tx.reservations.get(reservation_id)
            try:
                receipt = live_receipt(tx, reservation, now)
            except UserError:
                tx.facts.drop(offer_name(reservation_id))
                return "dropped: it is over"
            passed = (*offer.passed, *((offer.request,) if offer.request is not None else ()))
            self._next(tx, reservation, receipt, offer.model_copy(update={"passed": passed}), now)
        self.bell.ring()
        return "offered on"

    def withdraw(self, reservation_id: int, *, by: str) -> tuple[Sentence, ...]:
        """Take the offer back, as long as nobody took it."""
        now = self.clock.now()
        with self.store.transaction() as tx:
            reservation = tx.reservations.get(reservation_id)
            self.moving.check_owner(reservation, by)
            if offer_of(tx, reservation_id) is None:
                raise UserError(f"{gpu_id(reservation_id)} is not offered to anybody.")
            tx.facts.drop(offer_name(reservation_id))
            write_audit(tx, reservation, by, "release.withdrawn", now)
        return ((f"{gpu_id(reservation_id)} stays yours; it is not offered any more.",),)

    def take(self, reservation_id: int, *, by: str) -> tuple[Sentence, ...]:
        """Make somebody the owner of what was released; return what they should know.

        Raises NotAllowedError while another has the first word, UserError when it is gone.
        """
        standing = self.verifying.standing(by, asking_groups(self.configuration))
        obstacle = may_ask(standing, self.configuration)
        if obstacle is not None:
            raise may_not_ask(obstacle)
        teams = teams_of(standing, self.configuration)
        now = self.clock.now()
        with self.store.transaction() as tx:
            reservation = tx.reservations.get(reservation_id)
            offer = offer_of(tx, reservation_id)
            if offer is None:
                raise UserError(f"{gpu_id(reservation_id)} is not offered any more.", hint="list")
            receipt = live_receipt(tx, reservation, now)
            waiting = tx.reservations.get(offer.request) if offer.request is not None else None
            held = waiting is not None and offer.until is not None and now < offer.until
            if waiting is not None and held and by not in (waiting.requester, waiting.owner):
                raise NotAllowedError(
                    f"Somebody who waits for it has the first word until"
                    f" {offer.until:%H:%M} UTC. Try again then."
                )
            mine = waiting if waiting is not None and held else None
            team = teams[0].name if teams else None
            self.moving.move(
                tx,
                reservation,
                receipt,
                to=by,
                team=mine.team if mine is not None else team,
                zone=standing.person.zone if standing.person is not None else reservation.zone,
                now=now,
            )
            tx.facts.drop(offer_name(reservation_id))
            if mine is not None:
                self._done_waiting(tx, mine, reservation_id, now)
        self.bell.ring()
        return (
            (Strong(text=gpu_id(reservation_id)), " is yours now. ", *left_words(receipt)),
            *shared_words(reservation),
        )

    def _next(
        self,
        tx: Transaction,
        reservation: Reservation,
        receipt: Receipt,
        offer: Offer,
        now: datetime,
    ) -> tuple[Sentence, ...]:
        waiting = next(
            (
                one
                for one in tx.reservations.listing(
                    states=WAITING, newest_first=False, limit=MOST_WAITING
                )
                if one.id not in offer.passed
                and one.owner != reservation.owner
                and matches(tx, one, receipt, self.configuration, now)
            ),
            None,
        )
        if waiting is None:
            self._offer_all(tx, reservation, receipt, offer, now)
            return ((f"{gpu_id(reservation.id)} is offered to everybody in the channel.",),)
        until = now + HOLD
        held = offer.model_copy(update={"request": waiting.id, "until": until})
        tx.facts.put(offer_name(reservation.id), held.model_dump_json(), at=now)
        subject = gpu_id(reservation.id)
        tx.dues.plan(
            Due(
                key=f"{KIND}:{subject}:{utc_text(until)}",
                kind=KIND,
                subject=subject,
                at=until,
                argument=str(reservation.id),
            )
        )
        self.telling.note(
            tx,
            waiting,
            f"offered:{gpu_id(reservation.id)}:{utc_text(now)}",
            (
                (
                    "What you wait for is free: ",
                    Strong(text=gpu_id(reservation.id)),
                    ". ",
                    *left_words(receipt),
                    " It costs you nothing, and is kept for you until ",
                    Moment(at=until),
                    ".",
                ),
            ),
            now=now,
            presses=(_take_press(reservation),),
        )
        words: Sentence = (
            f"{gpu_id(reservation.id)} is offered to ",
            Mention(id=waiting.owner, ping=False),
            f", who waits with {gpu_id(waiting.id)}, until ",
            Moment(at=until),
            ". It stays its owner's until somebody takes it.",
        )
        self.telling.note(
            tx,
            reservation,
            f"held:{utc_text(now)}",
            (words,),
            now=now,
            presses=(_keep_press(reservation),),
            ping=False,
        )
        return (words,)

    def _offer_all(
        self,
        tx: Transaction,
        reservation: Reservation,
        receipt: Receipt,
        offer: Offer,
        now: datetime,
    ) -> None:
        free = offer.model_copy(update={"request": None, "until": None})
        tx.facts.put(offer_name(reservation.id), free.model_dump_json(), at=now)
        self.telling.note(
            tx,
            reservation,
            f"for-all:{utc_text(offer.at)}",
            (
                (
                    Mention(id=offer.by, ping=False),
                    " releases ",
                    Strong(text=gpu_id(reservation.id)),
                    ". ",
                    *left_words(receipt),
                    " It is paid for: whoever takes it first has it.",
                ),
            ),
            now=now,
            presses=(_take_press(reservation), _keep_press(reservation)),
            ping=False,
        )

    def _done_waiting(
        self, tx: Transaction, waiting: Reservation, taken: int, now: datetime
    ) -> None:
        """Withdraw the request that waited: it has what it asked for."""
        self.closing.withdraw_proposal(
            tx, waiting, now=now, note=f"{gpu_id(taken)} is used instead"
        )
        tx.dues.withdraw(gpu_id(waiting.id), kinds=("quote",))
        if waiting.state not in WAITING:
            return
        saved = tx.reservations.save(
            waiting.model_copy(
                update={
                    "state": _S.CANCELLED,
                    "note": f"It uses {gpu_id(taken)}, which was released.",
                    "updated_at": now,
                }
            )
        )
        self.telling.redraw(tx, saved, now=now)


def offer_name(reservation_id: int) -> str:
    """Return the name of the fact that a reservation is offered to others."""
    return f"released:{gpu_id(reservation_id)}"


def offer_of(tx: Transaction, reservation_id: int) -> Offer | None:
    """Return the offer that is open for a reservation."""
    said = tx.facts.get(offer_name(reservation_id))
    return Offer.model_validate_json(said) if said is not None else None


def matches(
    tx: Transaction,
    waiting: Reservation,
    receipt: Receipt,
    configuration: Configuration,
    now: datetime,
) -> bool:
    """Return whether what is left would do for a waiting request, in every respect it names."""
    request = waiting.request
    target = request.target or configuration.default_target
    place = receipt.target or "ec2"
    if str(target) != place or (request.regions and receipt.region not in request.regions):
        return False
    if parent_of(tx, waiting.id) is not None:
        return False
    count = request.minimum_count or request.instance_count
    if count is not None and count > receipt.instance_count:
        return False
    if not _right_machine(tx, waiting, receipt):
        return False
    return any(_in_time(waiting, start, last, now) for start, last in _left(receipt, now))


def _left(receipt: Receipt, now: datetime) -> Iterable[tuple[datetime, datetime]]:
    for segment in receipt.segments:
        start, last = usable(segment, lost_of(receipt))
        if last > now:
            yield max(start, now), last


def _in_time(waiting: Reservation, start: datetime, last: datetime, now: datetime) -> bool:
    request = waiting.request
    begin = max(start, request.earliest_start or now)
    if request.latest_start is not None and begin > request.latest_start:
        return False
    hours = request.duration_hours
    length = timedelta(seconds=int(hours * HOUR_SECONDS)) if hours is not None else timedelta(0)
    # Days on sale are up to an hour short of days: that much the machines are AWS's anyway.
    whole_days = hours is not None and hours % 24 == 0 and not request.strict
    end = begin + max(length - (timedelta(hours=1) if whole_days else timedelta(0)), LEAST)
    limit = min(last, request.latest_end) if request.latest_end is not None else last
    return end <= limit


def _right_machine(tx: Transaction, waiting: Reservation, receipt: Receipt) -> bool:
    """Return whether it names this machine, or its own decision holds it for fit enough."""
    request = waiting.request
    if request.instance_type is not None:
        plain = receipt.kind is not Kind.TRAINING_PLAN
        own = receipt.instance_type if plain else receipt.instance_type.removeprefix("ml.")
        return request.instance_type.removeprefix("ml.") == own
    record = tx.decisions.latest(waiting.id)
    options = record.decision.options if record is not None else ()
    return any(
        option.instance_type.removeprefix("ml.") == receipt.instance_type.removeprefix("ml.")
        and option.instance_count <= receipt.instance_count
        for option in options
    )


def _keep_press(reservation: Reservation) -> Press:
    return Press(action="gpu.keep", label="Keep it after all", argument=str(reservation.id))


def _take_press(reservation: Reservation) -> Press:
    return Press(
        action="gpu.take",
        label=f"Take {gpu_id(reservation.id)}",
        argument=str(reservation.id),
        style="primary",
    )
