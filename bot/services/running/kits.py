"""Hands over launch kits: by itself when capacity is active, and whenever one is asked for."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.catalog import Catalog
from bot.domain.errors import UserError
from bot.domain.records import Due, Receipt, Reservation, gpu_id
from bot.domain.saying import Choice, Menu, Section, Sentence, Strong
from bot.domain.sharing import ShareRecord, ShareStage
from bot.kits import Format, Kit, Setting, formats_for, kit, setting_of
from bot.kits.setting import NAMES
from bot.policy.configuration import Account, Configuration
from bot.ports import Clock, Store, Transaction
from bot.services.reservations.sharing import share_of
from bot.services.words.announcing import say

ACTION = "gpu.kit"
OVER = frozenset({"expired", "cancelled", "failed", "payment-failed", "terminated"})
EXTENSION = "#"


@dataclass(frozen=True, slots=True, kw_only=True)
class Handout:
    """One kit as it is said: its words, the text to copy, and the other formats to choose."""

    sections: tuple[Section, ...]
    menus: tuple[Menu, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kits:
    """Makes kits from receipts and the administrator's file."""

    store: Store
    clock: Clock
    catalog: Catalog
    configuration: Configuration

    def give(self, due: Due) -> str:
        """Say once, under the card, that there is a kit for what has become active."""
        receipt_id, part = due.argument.split("|")
        with self.store.transaction() as tx:
            receipt = tx.receipts.get(receipt_id)
            reservation = tx.reservations.get(receipt.reservation_id)
            if receipt.gone or receipt.state in OVER:
                return "dropped: it is over"
            setting = self._setting(receipt, share_of(tx, receipt))
            handout = self._handout(setting, formats_for(setting)[0])
            say(
                tx,
                reservation,
                self.configuration,
                f"kit:{receipt_id}:{part}",
                handout.sections,
                menus=handout.menus,
                now=self.clock.now(),
            )
        return "said"

    def launch(self, reservation_id: int, *, name: str | None = None) -> tuple[Handout, ...]:
        """Return a kit for each receipt that can be used, in the named or the first format.

        Raises UserError when nothing is bought or all of it is over.
        """
        with self.store.reading() as tx:
            reservation = tx.reservations.get(reservation_id)
            receipts = [(one, share_of(tx, one)) for one in _usable(tx, reservation)]
        if not receipts:
            raise UserError(
                f"There is nothing to launch into: {gpu_id(reservation_id)} is"
                f" {reservation.state.replace('_', ' ')}.",
                hint=f"status {gpu_id(reservation_id)}",
            )
        chosen = _format(name)
        found = []
        for receipt, share in receipts:
            setting = self._setting(receipt, share)
            fitting = formats_for(setting)
            if chosen is None or chosen in fitting:
                found.append(self._handout(setting, chosen or fitting[0]))
        if not found:
            fitting = formats_for(self._setting(*receipts[0]))
            names = ", ".join(NAMES[one] for one in fitting)
            raise UserError(
                f"That format does not fit {gpu_id(reservation_id)}. These do: {names}."
            )
        return tuple(found)

    def _setting(self, receipt: Receipt, record: ShareRecord | None) -> Setting:
        """Return the setting in the account that it is to be launched from.

        What is shared is launched from the consumer's account, with what that one has; the
        platform stays that of the purchase.
        """
        buyer = self._account(receipt.account)
        share = record.share if record and record.stage is ShareStage.STANDING else None
        user = self._account(record.order.consumer) if record and share else buyer
        zone = (share.zone or share.zone_id) if share else receipt.zone
        setting = setting_of(
            receipt.model_copy(update={"zone": zone}),
            self.catalog,
            platform=buyer.platform if buyer else "Linux/UNIX",
            subnets=user.subnets if user else {},
            templates=user.launch_templates if user else {},
        )
        if record is None:
            return setting
        there = {"user": record.order.consumer, "zone_id": share.zone_id} if share else {}
        waits = {} if share else {"waits_for": record.order.consumer}
        return setting.model_copy(update={"buyer": receipt.account, **there, **waits})

    def _account(self, name: str) -> Account | None:
        """Return the account; None when the file does not name it any more."""
        return next((one for one in self.configuration.accounts if one.name == name), None)

    def _handout(self, setting: Setting, name: Format) -> Handout:
        made = kit(setting, name)
        others = tuple(
            Choice(label=NAMES[other], argument=str(other)) for other in formats_for(setting)
        )
        menu = Menu(action=ACTION, label="Another format", choices=others)
        return Handout(
            sections=(Section(sentences=_words(setting, made), listing=made.text),),
            menus=(menu,) if len(others) > 1 else (),
        )


def _format(name: str | None) -> Format | None:
    if name is None:
        return None
    try:
        return Format(name)
    except ValueError as error:
        known = ", ".join(str(one) for one in Format)
        raise UserError(f"I know no format {name}. I know {known}.") from error


def _usable(tx: Transaction, reservation: Reservation) -> Sequence[Receipt]:
    found: dict[str, Receipt] = {}
    for receipt in tx.receipts.of(reservation.id):
        if not receipt.gone and receipt.state not in OVER:
            found.setdefault(receipt.id.partition(EXTENSION)[0], receipt)
    return tuple(found.values())


def _words(setting: Setting, made: Kit) -> tuple[Sentence, ...]:
    first: Sentence = (
        "Launch kit for ",
        Strong(text=setting.reservation),
        (
            f" ({made.title}): {setting.count} x {setting.instance_type} in"
            f" {setting.zone or setting.region}."
        ),
    )
    return (first, *((note,) for note in made.notes))
