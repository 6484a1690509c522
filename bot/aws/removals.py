"""One request that removes something: what is gone already is as good as removed."""

from typing import Any, Final

from bot.aws.calls import spend
from bot.aws.clients import Clients
from bot.domain.errors import RefusedError

_GONE_CODES: Final = frozenset(
    {
        "InvalidInstanceID.NotFound",
        "InvalidSpotInstanceRequestID.NotFound",
        "InvalidFleetId.NotFound",
        "InvalidVolume.NotFound",
        "InvalidCapacityReservationId.NotFound",
        "ResourceNotFound",
        "UnknownResourceException",
    }
)
_GONE_WORDS: Final = ("could not find", "does not exist", "cannot find")


def absent(code: str, detail: str) -> bool:
    """Return whether AWS says that there is no such thing.

    SageMaker says so of endpoints with ValidationException "Could not find …".
    """
    return code in _GONE_CODES or (
        code == "ValidationException" and any(words in detail.lower() for words in _GONE_WORDS)
    )


def remove(
    clients: Clients, service: str, account: str, region: str, operation: str, **parameters: Any
) -> None:
    """Send it once. Raises RefusedError or IndeterminateError; repeating it is harmless."""
    client = clients.spending(service, account, region, purpose="launch")
    try:
        spend(client, operation, after_doubt=False, **parameters)
    except RefusedError as refused:
        if not absent(refused.code, refused.detail):
            raise
