"""The record of a clean-up, and whose the things in it are. Pure but the store."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from bot.domain.cleanup import CleanItem, CleanUp, ItemStage, Maker
from bot.domain.errors import UserError
from bot.domain.market import Kind
from bot.domain.records import Purchase, Receipt, gpu_id
from bot.domain.using import Found, Leftover, LeftoverKind
from bot.domain.values import money_text
from bot.ports import Transaction
from bot.services.running.endpoint_stages import record_of

_I = ItemStage
_LEAVING = frozenset({"shutting-down", "Deleting", "deleting"})


@dataclass(frozen=True, slots=True)
class Own:
    """What the bot made for a reservation itself, by its own records."""

    receipts: frozenset[str]
    purchases: frozenset[str]
    launches: frozenset[str]
    endpoint: str | None

    @classmethod
    def of(cls, tx: Transaction, reservation_id: int, receipts: Iterable[Receipt]) -> "Own":
        """Return what the books say."""
        bought: list[Purchase] = list(tx.purchases.of(reservation_id))
        record = record_of(tx, reservation_id)
        return cls(
            receipts=frozenset(receipt.id for receipt in receipts),
            purchases=frozenset(purchase.id for purchase in bought),
            launches=frozenset(
                purchase.id
                for purchase in bought
                if purchase.leg.kind in (Kind.ON_DEMAND, Kind.SPOT)
            ),
            endpoint=record.order.name if record is not None else None,
        )

    def maker(self, leftover: Leftover) -> Maker:
        """Return who made it; a tag alone is somebody's who used the kit."""
        match leftover.kind:
            case LeftoverKind.RESERVATION:
                own = leftover.id in self.receipts
            case LeftoverKind.INSTANCE | LeftoverKind.SPOT_REQUEST:
                own = leftover.purchase in self.launches
            case LeftoverKind.SHARE:
                own = leftover.purchase in self.purchases
            case LeftoverKind.ENDPOINT | LeftoverKind.CONFIGURATION:
                own = leftover.id == self.endpoint
            case _:
                own = False
        if own:
            return Maker.BOT
        return Maker.KIT if leftover.purchase in self.purchases else Maker.UNKNOWN


def merged(
    before: CleanUp | None, found: Found, *, own: Own, reservation_id: int, now: datetime
) -> CleanUp:
    """Return the record as AWS now shows it; what is in an unread book stays as it was."""
    seen = {leftover.key: leftover for leftover in found.items}
    unread = {(one.account, one.region) for one in found.not_read}
    items: list[CleanItem] = []
    for item in before.items if before else ():
        leftover = seen.pop(item.leftover.key, None)
        place = (item.leftover.account, item.leftover.region)
        if leftover is not None:
            stage = _I.FOUND if item.stage is _I.GONE else item.stage
            items.append(item.model_copy(update={"leftover": leftover, "stage": stage}))
        elif item.stage is _I.GONE or place in unread:
            items.append(item)
        else:
            gone = {"stage": _I.GONE, "gone_at": now, "detail": ""}
            items.append(item.model_copy(update=gone))
    items += [
        CleanItem(leftover=leftover, maker=own.maker(leftover), stage=_I.FOUND)
        for leftover in seen.values()
    ]
    return CleanUp(
        reservation_id=reservation_id, items=tuple(items), not_read=found.not_read, seen_at=now
    )


def leaving(item: CleanItem) -> bool:
    """Return whether it is on its way out, so that another look is worth it."""
    return item.stage is _I.REMOVING or item.leftover.state in _LEAVING


def cleanup_name(reservation_id: int) -> str:
    """Return the name of the fact that holds a reservation's clean-up."""
    return f"cleanup:{gpu_id(reservation_id)}"


def record_of_cleanup(tx: Transaction, reservation_id: int) -> CleanUp | None:
    """Return the reservation's clean-up, None before the first look."""
    stored = tx.facts.get(cleanup_name(reservation_id))
    return CleanUp.model_validate_json(stored) if stored else None


def with_item(record: CleanUp, item: CleanItem) -> CleanUp:
    """Return the record with that thing replaced."""
    return record.model_copy(
        update={
            "items": tuple(
                item if one.leftover.key == item.leftover.key else one for one in record.items
            ),
            "looks": 0,
        }
    )


def item_of(tx: Transaction, reservation_id: int, key: str) -> tuple[CleanUp, CleanItem]:
    """Return the record and the thing in it. Raises UserError when it is not open."""
    record = record_of_cleanup(tx, reservation_id)
    for item in record.open if record is not None else ():
        if record is not None and item.leftover.key == key:
            return record, item
    raise UserError("That is gone already, or was never there.")


def explained(record: CleanUp, refused: Mapping[str, str]) -> CleanUp:
    """Return the record with what AWS answered to removals that it refused."""
    return record.model_copy(
        update={
            "items": tuple(
                item.model_copy(update={"detail": f"AWS says {refused[item.leftover.key]}"})
                if item.leftover.key in refused and item.stage is _I.REMOVING
                else item
                for item in record.items
            )
        }
    )


def facts(item: CleanItem) -> dict[str, str]:
    """Return what the audit keeps of a thing."""
    leftover = item.leftover
    cost = leftover.usd_per_day
    return {
        "kind": leftover.kind.value,
        "id": leftover.id,
        "where": f"{leftover.account} {leftover.region}",
        "maker": item.maker.value,
        "asked_by": item.asked_by or "",
        "agreed_by": item.agreed_by or "",
        "usd_per_day": money_text(cost) if cost is not None else "",
    }
