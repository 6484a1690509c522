"""Making somebody else the owner of what was bought, in the books and in AWS's tags.

What was paid stays with the budget that paid it, and says so; extensions count against the new
team's budget from now on. The tags are moved by a due row, so that a crash loses nothing.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from bot.domain.ending import usable
from bot.domain.errors import NotAllowedError, UserError
from bot.domain.lifecycle import ReservationState
from bot.domain.records import Due, Receipt, Reservation, gpu_id
from bot.domain.saying import Mention, Moment, Sentence, Strong
from bot.domain.values import dollars, money_text, utc_text
from bot.policy.configuration import Configuration
from bot.ports import Clock, Store, Tagger, Transaction
from bot.services.reservations.looking import lost_of
from bot.services.reservations.sharing import follow_owner
from bot.services.reservations.using import hourly_cost
from bot.services.words.auditing import write_audit
from bot.services.words.telling import Telling

KIND = "tag"
_S = ReservationState
LIVE = frozenset({_S.ACTIVE, _S.SCHEDULED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Moving:
    """Moves ownership inside the caller's transaction; tags follow by themselves."""

    store: Store
    clock: Clock
    tagger: Tagger
    telling: Telling
    configuration: Configuration

    def check_owner(self, reservation: Reservation, by: str) -> None:
        """Raise NotAllowedError unless they own it or administer the bot."""
        if by not in (reservation.owner, *self.configuration.administrators):
            raise NotAllowedError(
                f"Only its owner or an administrator may give {gpu_id(reservation.id)} away."
            )

    def move(
        self,
        tx: Transaction,
        reservation: Reservation,
        receipt: Receipt,
        *,
        to: str,
        team: str | None,
        zone: str,
        now: datetime,
    ) -> Reservation:
        """Store the new owner, say it, and have the tags moved; return the reservation."""
        before = reservation
        saved = tx.reservations.save(
            reservation.model_copy(
                update={"owner": to, "team": team, "zone": zone, "updated_at": now}
            )
        )
        worth = worth_left(tx, receipt, now)
        write_audit(
            tx,
            saved,
            to,
            "reservation.moved",
            now,
            from_owner=before.owner,
            to_owner=to,
            from_team=before.team or "",
            to_team=team or "",
            worth_from_now=money_text(worth),
        )
        subject = gpu_id(saved.id)
        for one in tx.receipts.of(saved.id):
            tx.dues.plan(
                Due(
                    key=f"{KIND}:{subject}:{one.id}:{saved.revision}",
                    kind=KIND,
                    subject=subject,
                    at=now,
                    argument=one.id,
                    stale_after=last_minute(one),
                )
            )
        charge = (
            f" The {dollars(worth)} that its rest is worth were paid by"
            f" {before.team or 'no team'}; extensions are {team or 'no team'}'s from now on."
        )
        self.telling.note(
            tx,
            saved,
            f"moved:{utc_text(now)}",
            (
                (
                    Strong(text=gpu_id(saved.id)),
                    " went from ",
                    Mention(id=before.owner),
                    f" to its new owner.{charge}",
                ),
            ),
            now=now,
        )
        self.telling.redraw(tx, saved, now=now)
        follow_owner(tx, saved, self.configuration, now=now)
        return saved

    def tag(self, due: Due) -> str:
        """Write owner and team of today into AWS's tags (due kind "tag"). Raises MarketError."""
        with self.store.reading() as tx:
            receipt = tx.receipts.get(due.argument)
            reservation = tx.reservations.get(receipt.reservation_id)
        self.tagger.tag(receipt, owner=reservation.owner, team=reservation.team)
        return f"tagged for {reservation.owner}"


def live_receipt(tx: Transaction, reservation: Reservation, now: datetime) -> Receipt:
    """Return what can still be used of a reservation. Raises UserError when there is nothing."""
    name = gpu_id(reservation.id)
    if reservation.state not in LIVE:
        raise UserError(
            f"{name} is {reservation.state.replace('_', ' ')}; there is nothing to give away.",
            hint=f"status {name}",
        )
    left = [
        receipt
        for receipt in tx.receipts.of(reservation.id)
        if not receipt.gone and last_minute(receipt) > now
    ]
    if not left:
        raise UserError(f"{name} has no usable time left.", hint=f"status {name}")
    return max(left, key=last_minute)


def last_minute(receipt: Receipt) -> datetime:
    """Return the last usable moment of all its parts."""
    return max(
        (usable(part, lost_of(receipt))[1] for part in receipt.segments),
        default=receipt.checked_at,
    )


def worth_left(tx: Transaction, receipt: Receipt, now: datetime) -> Decimal:
    """Return what the time from now on cost, by the hour."""
    purchase = tx.purchases.get(receipt.purchase_id)
    left = sum(
        (max(timedelta(0), part.end - max(part.start, now)) for part in receipt.segments),
        timedelta(0),
    )
    seconds = Decimal(int(left / timedelta(seconds=1)))
    return hourly_cost(purchase) * receipt.instance_count * seconds / 3600


def left_words(receipt: Receipt) -> Sentence:
    """Return what is left of it, where, and until when."""
    return (
        (
            f"{receipt.instance_count} x {receipt.instance_type} in"
            f" {receipt.zone or receipt.region}, usable until "
        ),
        Moment(at=last_minute(receipt)),
        ".",
    )


def shared_words(reservation: Reservation) -> tuple[Sentence, ...]:
    """Return what a new owner should know about what the old one left there."""
    return (
        (
            "Machines that ",
            Mention(id=reservation.owner, ping=False),
            " left running there count as used; agree with them before you end any.",
        ),
    )
