"""The id of a purchase, by which AWS's books know it as ours."""

from datetime import datetime
from secrets import token_hex
from typing import Final

from bot.ports import Transaction

_INSTALLATION: Final = "installation"


def purchase_id(
    tx: Transaction, reservation_id: int, leg_number: int, attempt: int, *, now: datetime
) -> str:
    """Return an id that no other installation uses: a tag, a token or a plan name at AWS.

    Letters, digits and single hyphens, at most 63: botocore sagemaker, TrainingPlanName.
    """
    installation = tx.facts.get(_INSTALLATION)
    if installation is None:
        installation = token_hex(5)
        tx.facts.put(_INSTALLATION, installation, at=now)
    return f"gpubot-{installation}-{reservation_id}-{leg_number}-{attempt}"
