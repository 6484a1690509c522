"""One log line for each step of money, after its commit; the audit chain is the record."""

from typing import Protocol

from bot.domain.records import Proposal, Purchase, gpu_id
from bot.domain.values import money_text


class MoneyLog(Protocol):
    """Where an operator reads what was spent."""

    def info(self, event: str, **facts: object) -> object:
        """Write one line."""


class Silent:
    """Writes nothing."""

    def info(self, event: str, **facts: object) -> None:
        """See MoneyLog."""


SILENT = Silent()


def purchase_line(log: MoneyLog, purchase: Purchase) -> None:
    """Write where a purchase stands."""
    event = f"purchase {purchase.state}"
    log.info(
        event,
        reservation=gpu_id(purchase.reservation_id),
        purchase=purchase.id,
        offering=purchase.offering_ref,
        fee=money_text(purchase.fee),
        actor=" ".join(purchase.approvers),
        outcome=purchase.outcome or purchase.state.value,
    )


def proposal_line(log: MoneyLog, proposal: Proposal, *, by: str) -> None:
    """Write where a proposal stands after somebody's word."""
    event = f"proposal {proposal.state}"
    log.info(
        event,
        reservation=gpu_id(proposal.reservation_id),
        proposal=proposal.id,
        offering="+".join(proposal.option.refs),
        fee=money_text(proposal.ceiling),
        actor=by,
        outcome=proposal.note or proposal.state.value,
    )
