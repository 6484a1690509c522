"""How a purchase is found again: tags, token and plan name, all made from its id."""

import hashlib
from typing import Final

from bot.domain.records import Purchase, gpu_id

PURCHASE: Final = "gpubot:purchase"
RESERVATION: Final = "gpubot:reservation"
OWNER: Final = "gpubot:owner"
TEAM: Final = "gpubot:team"

_LONGEST_VALUE: Final = 256


def purchase_tags(purchase: Purchase) -> list[dict[str, str]]:
    """Return the tags of a purchase; values hold only letters that SageMaker allows too."""
    values = {
        PURCHASE: purchase.id,
        RESERVATION: gpu_id(purchase.reservation_id),
        "gpubot:leg": str(purchase.leg.number),
        OWNER: purchase.owner,
        TEAM: purchase.team or "",
        "gpubot:approver": " ".join(purchase.approvers),
    }
    return [{"Key": key, "Value": text[:_LONGEST_VALUE]} for key, text in values.items() if text]


def purchase_token(purchase: Purchase) -> str:
    """Return the client token: the same for the same purchase, at most 64 characters."""
    return f"gpubot-{_digest(purchase)}"


def plan_name(purchase: Purchase) -> str:
    """Return the name of the purchase's training plan.

    Letters, digits and hyphens, at most 63 characters (SageMaker CreateTrainingPlan).
    """
    return f"gpubot-{_digest(purchase)}"


def _digest(purchase: Purchase) -> str:
    return hashlib.sha256(purchase.id.encode()).hexdigest()[:48]
