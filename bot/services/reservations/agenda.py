"""Which reservation is looked at when, in which account and region.

Each has a fact with its own next moment there; one due row at that moment wakes the look for all
whose moment has come.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from bot.domain.records import Due, Receipt, gpu_id
from bot.domain.values import utc_text
from bot.ports import Transaction
from bot.services.reservations.looking import on_minute

KIND: Final = "follow"

Place = tuple[str, str]
"""An account and a region."""


def plan(
    tx: Transaction, reservation_id: int, place: Place, at: datetime, *, now: datetime
) -> None:
    """Have the reservation looked at there, on the whole minute at or after `at`."""
    moment = utc_text(on_minute(at, now))
    tx.facts.put(_name(place, gpu_id(reservation_id)), moment, at=now)
    tx.dues.plan(_due(place, moment, at=datetime.fromisoformat(moment)))


def hasten(tx: Transaction, receipt: Receipt, *, why: str, now: datetime) -> bool:
    """Have it looked at now instead of later, once for each `why`; return whether it will be.

    What is not followed any more is left alone.
    """
    place, followed_as = (receipt.account, receipt.region), gpu_id(receipt.reservation_id)
    name = _name(place, followed_as)
    if tx.facts.get(name) is None:
        return False
    if not tx.dues.plan(_due(place, f"{followed_as}:{why}", at=now)):
        return False
    tx.facts.put(name, utc_text(now), at=now)
    return True


def waiting(tx: Transaction, place: Place, *, now: datetime) -> list[int]:
    """Return the reservations whose moment there has come."""
    found = tx.facts.starting_with(_name(place, "")).items()
    return sorted(
        _reservation_in(name, place) for name, at in found if datetime.fromisoformat(at) <= now
    )


def followed(tx: Transaction, place: Place) -> Sequence[Receipt]:
    """Return what is followed there and is not gone."""
    return [
        receipt
        for name in sorted(tx.facts.starting_with(_name(place, "")))
        for receipt in tx.receipts.of(_reservation_in(name, place))
        if is_at(receipt, place) and not receipt.gone
    ]


def forget(tx: Transaction, reservation_id: int, place: Place) -> None:
    """Follow it there no more."""
    tx.facts.drop(_name(place, gpu_id(reservation_id)))


def place_of(due: Due) -> Place:
    """Return the place that a due row is about."""
    account, region = due.argument.split("|")
    return account, region


def is_at(receipt: Receipt, place: Place) -> bool:
    """Return whether it was bought there."""
    return (receipt.account, receipt.region) == place


def _due(place: Place, what: str, *, at: datetime) -> Due:
    account, region = place
    subject = f"{KIND}:{account}:{region}"
    return Due(
        key=f"{subject}:{what}", kind=KIND, subject=subject, at=at, argument=f"{account}|{region}"
    )


def _name(place: Place, name: str) -> str:
    account, region = place
    return f"look:{account}:{region}:{name}"


def _reservation_in(name: str, place: Place) -> int:
    return int(name.removeprefix(_name(place, "")).removeprefix("gpu-"))
