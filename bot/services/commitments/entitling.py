"""Who may agree to a proposal at this moment, by the records and today's file, and for whom.

A seat is one voice: an approver's own id, whether they speak themselves or their delegate does.
"""

from collections.abc import Sequence

from bot.domain.market import Kind
from bot.domain.records import Proposal
from bot.policy.configuration import Configuration
from bot.policy.tiers import everyone, tier_for
from bot.ports import Transaction


def escalated_name(proposal_id: int) -> str:
    """Return the name of the fact that a proposal was escalated."""
    return f"escalated:{proposal_id}"


def seat_name(proposal_id: int, user: str) -> str:
    """Return the name of the fact whose seat somebody took."""
    return f"seat:{proposal_id}:{user}"


def named(proposal: Proposal, configuration: Configuration) -> tuple[str, ...]:
    """Return everybody, users and groups, who may agree now or once it is escalated."""
    tier = tier_for(proposal.ceiling, configuration)
    later = tier.escalate_to if tier is not None and proposal.option.kind is not Kind.OWNED else ()
    return tuple(dict.fromkeys((*proposal.approvers, *later)))


def entitled(tx: Transaction, proposal: Proposal, configuration: Configuration) -> tuple[str, ...]:
    """Return who may agree: named when it was asked and by today's file; more once escalated."""
    if proposal.option.kind is Kind.OWNED:
        return proposal.approvers
    tier = tier_for(proposal.ceiling, configuration)
    if tier is None:
        return ()
    today = everyone(tier)
    still = tuple(who for who in proposal.approvers if who in today)
    if tx.facts.get(escalated_name(proposal.id)) is None:
        return still
    return tuple(dict.fromkeys((*still, *tier.escalate_to)))


def needed(proposal: Proposal, configuration: Configuration) -> int:
    """Return how many must agree: never fewer than when it was asked, nor than today."""
    tier = tier_for(proposal.ceiling, configuration)
    if proposal.option.kind is Kind.OWNED or tier is None:
        return proposal.needed
    return max(proposal.needed, tier.needed)


def seats_taken(tx: Transaction, proposal_id: int, users: Sequence[str]) -> dict[str, str]:
    """Return whose seat each of those who agreed took: mostly their own."""
    return {user: tx.facts.get(seat_name(proposal_id, user)) or user for user in users}
