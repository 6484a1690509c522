"""Whether money may be spent at this very moment, judged by the records in one transaction."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.domain.lifecycle import ProposalState, ReservationState
from bot.domain.market import Kind
from bot.domain.records import Proposal, Reservation, Switch
from bot.policy.configuration import Configuration
from bot.ports import Transaction
from bot.services.commitments.committing import break_glass_name, good_until
from bot.services.commitments.entitling import seats_taken
from bot.services.words.views import switch_of

SPENDABLE = frozenset({ReservationState.APPROVED, ReservationState.PURCHASING})


class Stop(StrEnum):
    """Why nothing may be spent."""

    NOT_APPROVED = "not approved"
    EXPIRED = "the approval has expired"
    SWITCHED_OFF = "purchasing is stopped"


@dataclass(frozen=True, slots=True)
class Leave:
    """What may be bought now: a reservation under its approved proposal."""

    reservation: Reservation
    proposal: Proposal
    shadow: bool


def leave(
    tx: Transaction, reservation_id: int, *, configuration: Configuration, now: datetime
) -> Leave | Stop:
    """Return the leave to spend for a reservation, or what stands against it.

    The newest proposal must be approved, for this very version, by enough different people, and
    not have expired; the switch must not be off, unless what is owned is only lent. Read anew
    in every transaction that spends.
    """
    reservation = tx.reservations.get(reservation_id)
    proposal = tx.proposals.current(reservation_id)
    if (
        proposal is None
        or reservation.state not in SPENDABLE
        or proposal.state is not ProposalState.APPROVED
        or proposal.version != reservation.version
        or not _agreed(tx, proposal)
    ):
        return Stop.NOT_APPROVED
    if now >= good_until(tx, proposal):
        return Stop.EXPIRED
    if proposal.option.kind is Kind.OWNED:
        return Leave(reservation=reservation, proposal=proposal, shadow=False)
    switch = switch_of(tx, configuration)
    if switch is Switch.OFF:
        return Stop.SWITCHED_OFF
    return Leave(reservation=reservation, proposal=proposal, shadow=switch is Switch.SHADOW)


def approvers_of(tx: Transaction, proposal: Proposal) -> tuple[str, ...]:
    """Return who agreed, each once, in the order they did."""
    given = tx.proposals.given(proposal.id)
    return tuple(
        dict.fromkeys(verdict.approver for verdict in given if verdict.verdict == "approve")
    )


def _agreed(tx: Transaction, proposal: Proposal) -> bool:
    if proposal.auto:
        return True
    if tx.facts.get(break_glass_name(proposal.id)) is not None:
        return True
    voices = seats_taken(tx, proposal.id, approvers_of(tx, proposal)).values()
    return len(set(voices)) >= proposal.needed
