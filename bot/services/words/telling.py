"""How services put words into the outbox: living cards, notes under them, private messages."""

from dataclasses import dataclass
from datetime import datetime

from bot.domain.records import Reservation, gpu_id
from bot.domain.saying import Announcement, Audience, Mention, Press, Section, Sentence
from bot.policy.configuration import Configuration
from bot.ports import Transaction


def card_key(reservation_id: int) -> str:
    """Return the message key of a reservation's living card."""
    return f"card:{gpu_id(reservation_id)}"


def approval_key(proposal_id: int) -> str:
    """Return the message key of a proposal's card in the approvals channel."""
    return f"approval:{proposal_id}"


def home_channel(reservation: Reservation, configuration: Configuration) -> str:
    """Return where a reservation's card lives: where it was asked, if that is a channel."""
    asked_in = reservation.channel
    return asked_in if asked_in.startswith("C") else configuration.channels.requests


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """Writes announcements inside the caller's transaction; nothing leaves before its commit."""

    configuration: Configuration

    def redraw(self, tx: Transaction, reservation: Reservation, *, now: datetime) -> None:
        """Have the living card drawn from the records."""
        tx.outbox.redraw(
            card_key(reservation.id),
            Announcement(
                kind="card",
                to=Audience(channel=home_channel(reservation, self.configuration)),
                reservation_id=reservation.id,
            ),
            at=now,
        )

    def redraw_proposal(self, tx: Transaction, proposal_id: int, *, now: datetime) -> None:
        """Have the approvers' card drawn from the records."""
        tx.outbox.redraw(
            approval_key(proposal_id),
            Announcement(
                kind="approval",
                to=Audience(channel=self.configuration.channels.approvals),
                proposal_id=proposal_id,
            ),
            at=now,
        )

    def note(
        self,
        tx: Transaction,
        reservation: Reservation,
        what: str,
        sentences: tuple[Sentence, ...],
        *,
        now: datetime,
        presses: tuple[Press, ...] = (),
        ping: bool = True,
    ) -> bool:
        """Say something once under the reservation's card; `what` makes it unique.

        `ping` names the owner first, so that Slack notifies them.
        """
        greeting: Sentence = (Mention(id=reservation.owner), " ")
        said = (greeting + sentences[0], *sentences[1:]) if ping and sentences else sentences
        return tx.outbox.put(
            f"note:{gpu_id(reservation.id)}:{what}",
            Announcement(
                kind="note",
                to=Audience(channel=home_channel(reservation, self.configuration)),
                reservation_id=reservation.id,
                thread=card_key(reservation.id),
                sections=(Section(sentences=said),),
                presses=presses,
            ),
            at=now,
        )

    def tell(
        self,
        tx: Transaction,
        user: str,
        what: str,
        sentences: tuple[Sentence, ...],
        *,
        now: datetime,
        presses: tuple[Press, ...] = (),
    ) -> bool:
        """Say something once to one person by direct message; `what` makes it unique."""
        return tx.outbox.put(
            f"tell:{user}:{what}",
            Announcement(
                kind="note",
                to=Audience(user=user),
                sections=(Section(sentences=sentences),),
                presses=presses,
            ),
            at=now,
        )
