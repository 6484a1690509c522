"""The switch that stops all spending, and who may turn it."""

from dataclasses import dataclass

from bot.domain.errors import NotAllowedError
from bot.domain.lifecycle import ReservationState
from bot.domain.records import AuditEntry, Due, Switch, gpu_id
from bot.domain.saying import Announcement, Audience, Mention, Section
from bot.domain.values import utc_text
from bot.policy.configuration import Configuration
from bot.policy.permitting import check_fit
from bot.ports import Bell, Clock, Store
from bot.services.verifying import Verifying
from bot.services.words.telling import Telling
from bot.services.words.views import switch_of

WAITING = frozenset(
    {
        ReservationState.PENDING_APPROVAL,
        ReservationState.APPROVED,
        ReservationState.PURCHASING,
    }
)

SAID = {
    Switch.OFF: " stopped all purchasing. Nothing is bought until it is resumed.",
    Switch.SHADOW: " put purchasing into shadow: everything happens but the call that buys.",
    Switch.ON: " resumed purchasing. What is approved and has not expired goes on now.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Switching:
    """Reads and sets the switch."""

    store: Store
    clock: Clock
    verifying: Verifying
    telling: Telling
    configuration: Configuration
    bell: Bell

    def state(self) -> Switch:
        """Return the switch in force."""
        with self.store.reading() as tx:
            return switch_of(tx, self.configuration)

    def set(self, to: Switch, *, by: str) -> None:
        """Turn the switch and say so. Raises NotAllowedError unless an administrator does it.

        Stopping never waits for Slack to confirm who it is; resuming does.
        """
        if by not in self.configuration.administrators:
            raise NotAllowedError(
                "Only an administrator may stop or resume purchasing.", code="not_administrator"
            )
        if to is not Switch.OFF:
            check_fit(self.verifying.standing(by))
        now = self.clock.now()
        with self.store.transaction() as tx:
            before = switch_of(tx, self.configuration)
            tx.facts.put("switch", to.value, at=now)
            tx.audit.append(
                AuditEntry(at=now, actor=by, action="switch.set", facts={"from": before, "to": to})
            )
            tx.outbox.put(
                f"note:switch:{to}:{utc_text(now)}",
                Announcement(
                    kind="note",
                    to=Audience(channel=self.configuration.channels.requests),
                    sections=(Section(sentences=((Mention(id=by, ping=False), SAID[to]),)),),
                ),
                at=now,
            )
            for reservation in tx.reservations.listing(states=WAITING, limit=1000):
                self.telling.redraw(tx, reservation, now=now)
                if to is Switch.OFF or reservation.state is ReservationState.PENDING_APPROVAL:
                    continue
                subject = gpu_id(reservation.id)
                tx.dues.plan(
                    Due(
                        key=f"buy:{subject}:resumed-{utc_text(now)}",
                        kind="buy",
                        subject=subject,
                        at=now,
                        argument=str(reservation.id),
                    )
                )
        self.bell.ring()
