"""How busy GPUs are, read in every account that runs machines in what was bought."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from bot.domain.records import Receipt
from bot.domain.sharing import ShareRecord, ShareStage
from bot.domain.using import GpuUse
from bot.ports import Utilisation
from bot.services.reservations.sharing import there


def read_gpus(
    utilisation: Utilisation,
    receipts: Sequence[Receipt],
    shares: Mapping[str, ShareRecord | None],
    *,
    window: timedelta,
) -> Mapping[str, GpuUse]:
    """Return the use by receipt; of what is shared, the machines of both accounts together."""
    if not receipts:
        return {}
    theirs = [
        there(receipt, share)
        for receipt in receipts
        for share in [shares.get(receipt.id)]
        if share is not None and share.stage is ShareStage.STANDING
    ]
    found = dict(utilisation.read(receipts, window=window))
    for name, use in utilisation.read(theirs, window=window).items() if theirs else ():
        own = found.get(name)
        found[name] = _both(own, use) if own is not None else use
    return found


def _both(own: GpuUse, theirs: GpuUse) -> GpuUse:
    """Return the use of all machines; what could not be read in one account is said."""
    return GpuUse(
        since=min(own.since, theirs.since),
        until=max(own.until, theirs.until),
        machines=own.machines + theirs.machines,
        shares=tuple(sorted((*own.shares, *theirs.shares))),
        not_read=own.not_read or theirs.not_read,
    )
