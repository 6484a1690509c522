"""Notes of several sections under a reservation's card, and living notes that are drawn anew."""

from datetime import datetime

from bot.domain.records import Reservation, gpu_id
from bot.domain.saying import Announcement, Audience, Mention, Menu, Press, Section, Sentence
from bot.policy.configuration import Configuration
from bot.ports import Transaction
from bot.services.words.telling import card_key, home_channel


def say(
    tx: Transaction,
    reservation: Reservation,
    configuration: Configuration,
    what: str,
    sections: tuple[Section, ...],
    *,
    now: datetime,
    presses: tuple[Press, ...] = (),
    menus: tuple[Menu, ...] = (),
) -> bool:
    """Say it once to the owner, under the card; `what` makes it unique. False: said before."""
    return tx.outbox.put(
        f"note:{gpu_id(reservation.id)}:{what}",
        _note(reservation, configuration, greeted(reservation, sections), presses, menus),
        at=now,
    )


def redraw(
    tx: Transaction,
    reservation: Reservation,
    configuration: Configuration,
    what: str,
    sections: tuple[Section, ...],
    *,
    now: datetime,
    presses: tuple[Press, ...] = (),
) -> None:
    """Have the one living note of that name say this from now on."""
    tx.outbox.redraw(
        f"note:{gpu_id(reservation.id)}:{what}",
        _note(reservation, configuration, greeted(reservation, sections), presses, ()),
        at=now,
    )


def ask_approvers(
    tx: Transaction,
    reservation: Reservation,
    configuration: Configuration,
    what: str,
    sentences: tuple[Sentence, ...],
    *,
    now: datetime,
    presses: tuple[Press, ...],
) -> bool:
    """Put a question before the approvers' channel, once."""
    return tx.outbox.put(
        f"ask:{gpu_id(reservation.id)}:{what}",
        Announcement(
            kind="note",
            to=Audience(channel=configuration.channels.approvals),
            reservation_id=reservation.id,
            sections=(Section(sentences=sentences),),
            presses=presses,
        ),
        at=now,
    )


def greeted(reservation: Reservation, sections: tuple[Section, ...]) -> tuple[Section, ...]:
    """Return the sections with the owner named first, so that Slack notifies them."""
    if not sections or not sections[0].sentences:
        return sections
    first, *rest = sections[0].sentences
    greeting: Sentence = (Mention(id=reservation.owner), " ", *first)
    return (
        sections[0].model_copy(update={"sentences": (greeting, *rest)}),
        *sections[1:],
    )


def _note(
    reservation: Reservation,
    configuration: Configuration,
    sections: tuple[Section, ...],
    presses: tuple[Press, ...],
    menus: tuple[Menu, ...],
) -> Announcement:
    return Announcement(
        kind="note",
        to=Audience(channel=home_channel(reservation, configuration)),
        reservation_id=reservation.id,
        thread=card_key(reservation.id),
        sections=sections,
        presses=presses,
        menus=menus,
    )
