"""All that people can do with what was bought, in one place for those who take their presses.

Everything returns what to tell the person, as sentences; everything raises NotAllowedError with
who may not and why, and UserError with what works.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from bot.domain.errors import UserError
from bot.domain.records import AuditEntry, Due, gpu_id
from bot.domain.saying import Sentence
from bot.domain.values import dollars
from bot.policy.configuration import Configuration
from bot.policy.permitting import check_concerned
from bot.ports import Bell, Clock, Store, Tagger
from bot.services.approvals.proposing import Proposing
from bot.services.commitments.closing import Closing
from bot.services.endings.extending import Extending, asked_words
from bot.services.endings.handing import Handing
from bot.services.endings.moving import Moving
from bot.services.endings.prolonging import Prolonging, being_bought
from bot.services.endings.releasing import Releasing, offer_of
from bot.services.reservations.ending_as_planned import let_end
from bot.services.reservations.idling import Idling
from bot.services.reservations.tendering import Tendering
from bot.services.verifying import Verifying
from bot.services.words.pleading import Pleading
from bot.services.words.telling import Telling


@dataclass(frozen=True, slots=True, kw_only=True)
class Afterwards:
    """Extends, releases, hands over, keeps; see the services it names."""

    store: Store
    clock: Clock
    extending: Extending
    prolonging: Prolonging
    releasing: Releasing
    handing: Handing
    moving: Moving
    telling: Telling
    configuration: Configuration

    def extend(self, reservation_id: int, *, hours: Decimal, by: str) -> tuple[Sentence, ...]:
        """See Extending.extend."""
        proposal = self.extending.extend(reservation_id, hours=hours, by=by)
        return asked_words(proposal, reservation_id)

    def permit(self, reservation_id: int, *, up_to_usd: Decimal, by: str) -> tuple[Sentence, ...]:
        """See Prolonging.permit."""
        permission = self.prolonging.permit(reservation_id, up_to_usd=up_to_usd, by=by)
        return (
            (
                (
                    f"Extensions of {gpu_id(reservation_id)} up to {dollars(permission.up_to)} in"
                    " all are bought without asking from now on, a day before each end by itself."
                    " The one that waits still needs its approval."
                ),
            ),
        )

    def ask_permission(self, reservation_id: int, *, by: str) -> tuple[Sentence, ...]:
        """See Prolonging.ask."""
        return self.prolonging.ask(reservation_id, by=by)

    def revoke(self, reservation_id: int, *, by: str) -> tuple[Sentence, ...]:
        """See Prolonging.revoke."""
        return self.prolonging.revoke(reservation_id, by=by)

    def prolong(self, due: Due) -> str:
        """See Prolonging.prolong."""
        return self.prolonging.prolong(due)

    def release(self, reservation_id: int, *, by: str) -> tuple[Sentence, ...]:
        """See Releasing.release."""
        return self.releasing.release(reservation_id, by=by)

    def take(self, reservation_id: int, *, by: str) -> tuple[Sentence, ...]:
        """See Releasing.take."""
        return self.releasing.take(reservation_id, by=by)

    def hand(self, reservation_id: int, *, to: str, by: str) -> tuple[Sentence, ...]:
        """See Handing.hand."""
        return self.handing.hand(reservation_id, to=to, by=by)

    def accept(self, reservation_id: int, *, by: str) -> tuple[Sentence, ...]:
        """See Handing.accept."""
        return self.handing.accept(reservation_id, by=by)

    def decline(self, reservation_id: int, *, by: str) -> tuple[Sentence, ...]:
        """See Handing.decline."""
        return self.handing.decline(reservation_id, by=by)

    def keep(self, reservation_id: int, *, by: str) -> tuple[Sentence, ...]:
        """Keep idle machines, or take back what was offered and not taken; say no more of it."""
        with self.store.reading() as tx:
            offered = offer_of(tx, reservation_id) is not None
        if offered:
            return self.releasing.withdraw(reservation_id, by=by)
        with self.store.transaction() as tx:
            now = self.clock.now()
            reservation = tx.reservations.get(reservation_id)
            check_concerned(reservation, by, self.configuration)
            idling = Idling(telling=self.telling)
            kept = [
                receipt.id
                for receipt in tx.receipts.of(reservation_id)
                if idling.keep(tx, receipt, now=now)
            ]
            if not kept:
                raise UserError(f"{gpu_id(reservation_id)} is in use, as far as AWS shows.")
            tx.audit.append(
                AuditEntry(at=now, actor=by, action="idle.kept", reservation_id=reservation_id)
            )
        return ((f"{gpu_id(reservation_id)} is kept as it is. I say no more about it.",),)

    def let_end(self, reservation_id: int, *, by: str) -> tuple[Sentence, ...]:
        """Say no more of extending it; the last word to save one's work still comes."""
        with self.store.transaction() as tx:
            now = self.clock.now()
            reservation = tx.reservations.get(reservation_id)
            check_concerned(reservation, by, self.configuration)
            let_end(tx, reservation, now=now)
            running = self.extending.recall(tx, reservation, by=by, now=now)
            tx.audit.append(
                AuditEntry(at=now, actor=by, action="end.wanted", reservation_id=reservation_id)
            )
        if running is not None:
            return ((f"{gpu_id(reservation_id)} is to end. {being_bought(running.id)}",),)
        return (
            (
                (
                    f"{gpu_id(reservation_id)} ends as planned. I remind only once more, shortly"
                    " before its last usable minute."
                ),
            ),
        )

    def turn(self, due: Due) -> str:
        """See Releasing.turn."""
        return self.releasing.turn(int(due.argument))

    def tag(self, due: Due) -> str:
        """See Moving.tag."""
        return self.moving.tag(due)

    def quote(self, reservation_id: int) -> object:
        """See Extending.quote."""
        return self.extending.quote(reservation_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What the services after a purchase share with those before it."""

    store: Store
    clock: Clock
    tagger: Tagger
    tendering: Tendering
    proposing: Proposing
    verifying: Verifying
    closing: Closing
    pleading: Pleading
    telling: Telling
    configuration: Configuration
    bell: Bell


def afterwards(means: Means, *, quote_others: Callable[[int], object]) -> Afterwards:
    """Wire them; `quote_others` quotes every reservation that is no extension."""
    moving = Moving(
        store=means.store,
        clock=means.clock,
        tagger=means.tagger,
        telling=means.telling,
        configuration=means.configuration,
    )
    extending = Extending(
        store=means.store,
        clock=means.clock,
        tendering=means.tendering,
        proposing=means.proposing,
        closing=means.closing,
        verifying=means.verifying,
        pleading=means.pleading,
        telling=means.telling,
        configuration=means.configuration,
        bell=means.bell,
        quote_others=quote_others,
    )
    return Afterwards(
        store=means.store,
        clock=means.clock,
        extending=extending,
        prolonging=Prolonging(
            store=means.store,
            clock=means.clock,
            extending=extending,
            tendering=means.tendering,
            telling=means.telling,
            configuration=means.configuration,
            bell=means.bell,
        ),
        releasing=Releasing(
            store=means.store,
            clock=means.clock,
            verifying=means.verifying,
            moving=moving,
            closing=means.closing,
            telling=means.telling,
            configuration=means.configuration,
            bell=means.bell,
        ),
        handing=Handing(
            store=means.store,
            clock=means.clock,
            verifying=means.verifying,
            moving=moving,
            telling=means.telling,
            configuration=means.configuration,
            bell=means.bell,
        ),
        moving=moving,
        telling=means.telling,
        configuration=means.configuration,
    )
