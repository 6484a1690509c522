"""Whether the ledger and AWS's books agree. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from bot.domain.inventory import Held, Inventory
from bot.domain.lifecycle import PurchaseState
from bot.domain.records import Purchase, Receipt, gpu_id
from bot.domain.values import money_text

NOT_BOUGHT = frozenset({PurchaseState.REFUSED, PurchaseState.WITHDRAWN, PurchaseState.SHADOWED})


def differences(
    *,
    purchases: Sequence[Purchase],
    receipts: Mapping[str, Receipt],
    inventory: Inventory,
    now: datetime,
) -> list[str]:
    """Return where the two differ, as sentences; empty when they agree in all that was read.

    `receipts` are ours as AWS shows them now, by id.
    """
    rows = {purchase.id: purchase for purchase in purchases}
    return [
        *_vanished(rows, receipts, now),
        *(text for held in inventory.rows for text in _unknown(held, rows, receipts)),
        *(
            f"{gap.account}, {gap.region}: the books of {gap.market} could not be read"
            f" ({gap.why}), so that nothing is proved there."
            for gap in inventory.not_read
        ),
    ]


def _vanished(
    rows: Mapping[str, Purchase], receipts: Mapping[str, Receipt], now: datetime
) -> Iterator[str]:
    for receipt in receipts.values():
        purchase = rows.get(receipt.purchase_id)
        name = gpu_id(receipt.reservation_id)
        if receipt.last_error:
            yield f"{name}: {receipt.id} could not be looked at ({receipt.last_error})."
        elif receipt.gone and any(now < segment.end for segment in receipt.segments):
            paid = f" for {money_text(purchase.fee)} USD" if purchase is not None else ""
            yield f"{name}: {receipt.id}, bought{paid}, has vanished from AWS's books."


def _unknown(
    held: Held, rows: Mapping[str, Purchase], receipts: Mapping[str, Receipt]
) -> Iterator[str]:
    if held.id in receipts:
        return
    if held.purchase is None:
        yield f"{_words(held)} was not bought by this bot."
        return
    purchase = rows.get(held.purchase)
    if purchase is None:
        yield f"{_words(held)} carries {held.purchase}, which is not in this ledger."
    elif purchase.state in NOT_BOUGHT:
        yield (
            f"{_words(held)} carries {held.purchase}, which the ledger calls"
            f" {purchase.state}: it was bought all the same, for"
            f" {money_text(purchase.fee)} USD that nothing holds."
        )
    else:
        yield (
            f"{_words(held)} carries {held.purchase}, which is {purchase.state} and has no such"
            " receipt yet."
        )


def _words(held: Held) -> str:
    size = f" of {held.instance_count} x {held.instance_type}" if held.instance_type else ""
    kind = held.kind.replace("_", " ")
    return f"{held.account}, {held.region}: the {held.state} {kind} {held.id}{size}"
