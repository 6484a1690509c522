"""Reads the state of what was bought, in batches; one unknown id never spoils the rest."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from bot.aws import wire
from bot.aws.calls import pages, understood
from bot.aws.capacity_block_buyer import extension_window as block_extension_window
from bot.aws.capacity_block_buyer import read_extensions
from bot.aws.clients import Clients
from bot.aws.receipts import EXTENSION_MARK, launch_state, word
from bot.aws.training_plan_buyer import (
    extension_state,
    plan_segments,
    read_plan,
    read_plan_extensions,
)
from bot.aws.training_plan_buyer import extension_window as plan_extension_window
from bot.domain.errors import MarketError
from bot.domain.market import Kind, Segment
from bot.domain.records import Receipt
from bot.policy.configuration import Account
from bot.ports import Clock

_BATCH: Final = 100
_UNKNOWN_ID: Final = (
    "InvalidCapacityReservationId.",
    "InvalidReservationID.",
    "InvalidReservationId.",
)
_ON_BOARD: Final = frozenset({"running", "pending"})


class AwsHoldings:
    """See bot.ports.Holdings."""

    def __init__(
        self,
        accounts: tuple[Account, ...],
        *,
        clock: Clock,
        clients: Clients | None = None,
    ) -> None:
        self._clock = clock
        self.clients = clients or Clients(accounts)

    def look(self, receipts: Sequence[Receipt]) -> Mapping[str, Receipt]:
        """See bot.ports.Holdings."""
        groups: dict[tuple[str, str, str], list[Receipt]] = {}
        for receipt in receipts:
            groups.setdefault((receipt.account, receipt.region, _family(receipt)), []).append(
                receipt
            )
        seen: dict[str, Receipt] = {}
        for (account, region, family), members in groups.items():
            look = self._readers()[family]
            try:
                seen.update(look(account, region, members))
            except MarketError as error:
                seen.update(self._unread(members, error))
        return seen

    def _readers(self) -> dict[str, Callable[[str, str, list[Receipt]], dict[str, Receipt]]]:
        return {
            "reservation": self._reservations,
            "launch": self._launches,
            "plan": self._plans,
            "extension": self._extensions,
        }

    def _reservations(
        self, account: str, region: str, receipts: list[Receipt]
    ) -> dict[str, Receipt]:
        rows: dict[str, wire.Reservation] = {}
        for group in _batches(receipts):
            rows.update(self._described(account, region, [receipt.id for receipt in group]))
        unhealthy = self._unhealthy(account, region, rows.values())
        seen: dict[str, Receipt] = {}
        for receipt in receipts:
            row = rows.get(receipt.id)
            if row is None:
                seen[receipt.id] = self._gone(receipt)
                continue
            seen[receipt.id] = self._fresh(
                receipt,
                state=word(row.state),
                zone=row.availability_zone or receipt.zone,
                segments=_reserved(row, receipt),
                total_count=row.count,
                available_count=row.available_instance_count,
                unhealthy_count=unhealthy.get(receipt.id),
            )
        return seen

    def _described(self, account: str, region: str, ids: list[str]) -> dict[str, wire.Reservation]:
        """Return rows by id; when AWS does not know one of several, each is asked by itself."""
        client = self.clients.reading("ec2", account, region)
        try:
            return {
                row.capacity_reservation_id: row
                for page in pages(
                    client, "describe_capacity_reservations", CapacityReservationIds=ids
                )
                for row in understood(wire.Reservations, page).capacity_reservations
                if row.capacity_reservation_id
            }
        except MarketError as error:
            if not error.detail.startswith(_UNKNOWN_ID):
                raise
            if len(ids) == 1:
                return {}
        found: dict[str, wire.Reservation] = {}
        for one in ids:
            found.update(self._described(account, region, [one]))
        return found

    def _unhealthy(
        self, account: str, region: str, rows: Iterable[wire.Reservation]
    ) -> dict[str, int]:
        """Return by reservation how much of an active block a failed check makes unusable.

        Read per block: at reservation level the same member is documented as used capacity.
        Nice to know only, so a failure here is no failure of the look.
        """
        active = {
            row.capacity_reservation_id for row in rows if row.is_block and row.state == "active"
        }
        if not active:
            return {}
        client = self.clients.reading("ec2", account, region)
        found: dict[str, int] = {}
        try:
            for page in pages(client, "describe_capacity_block_status", MaxResults=_BATCH):
                for block in understood(wire.BlockStatuses, page).capacity_block_statuses:
                    held = block.capacity_reservation_statuses
                    name = held[0].capacity_reservation_id if len(held) == 1 else None
                    if name in active and name and block.total_unavailable_capacity is not None:
                        found[name] = block.total_unavailable_capacity
        except MarketError:
            return {}
        return found

    def _launches(self, account: str, region: str, receipts: list[Receipt]) -> dict[str, Receipt]:
        client = self.clients.reading("ec2", account, region)
        machines: dict[str, list[wire.Instance]] = {}
        for group in _batches(receipts):
            filters = [{"Name": "reservation-id", "Values": [receipt.id for receipt in group]}]
            for page in pages(client, "describe_instances", Filters=filters, MaxResults=1000):
                for row in understood(wire.Launches, page).reservations:
                    if row.reservation_id:
                        machines.setdefault(row.reservation_id, []).extend(row.instances)
        seen: dict[str, Receipt] = {}
        for receipt in receipts:
            own = machines.get(receipt.id)
            if not own:
                seen[receipt.id] = self._gone(receipt)
                continue
            alive = sum(1 for machine in own if word(machine.state.name) in _ON_BOARD)
            seen[receipt.id] = self._fresh(
                receipt,
                state=launch_state(own),
                zone=next((m.placement.availability_zone for m in own), None) or receipt.zone,
                total_count=len(own),
                available_count=alive,
                unhealthy_count=len(own) - alive,
            )
        return seen

    def _plans(self, account: str, region: str, receipts: list[Receipt]) -> dict[str, Receipt]:
        seen: dict[str, Receipt] = {}
        for receipt in receipts:
            try:
                plan = read_plan(self.clients, account, region, receipt.id.rpartition("/")[2])
            except MarketError as error:
                seen.update(self._unread([receipt], error))
                continue
            if plan is None:
                seen[receipt.id] = self._gone(receipt)
                continue
            seen[receipt.id] = self._fresh(
                receipt,
                state=word(plan.status),
                segments=plan_segments(plan) or receipt.segments,
                total_count=plan.total_instance_count,
                available_count=plan.available_instance_count,
                unhealthy_count=plan.unhealthy_instance_count,
            )
        return seen

    def _extensions(self, account: str, region: str, receipts: list[Receipt]) -> dict[str, Receipt]:
        seen: dict[str, Receipt] = {}
        for receipt in receipts:
            try:
                found = self._extension(account, region, receipt)
            except MarketError as error:
                seen.update(self._unread([receipt], error))
                continue
            if found is None:
                seen[receipt.id] = self._gone(receipt)
            else:
                state, window = found
                seen[receipt.id] = self._fresh(
                    receipt, state=state, segments=window or receipt.segments
                )
        return seen

    def _extension(
        self, account: str, region: str, receipt: Receipt
    ) -> tuple[str, tuple[Segment, ...]] | None:
        held, _, offering_id = receipt.id.partition(EXTENSION_MARK)
        if receipt.kind is Kind.TRAINING_PLAN:
            for plan_row in read_plan_extensions(self.clients, account, region, held):
                if plan_row.training_plan_extension_offering_id == offering_id:
                    state = word(extension_state(plan_row))
                    return state, plan_extension_window(plan_row, zone=receipt.zone)
            return None
        rows = read_extensions(
            self.clients, account=account, region=region, offering_id=offering_id
        )
        if not rows:
            return None
        return word(rows[0].capacity_block_extension_status), block_extension_window(rows[0])

    def _fresh(self, receipt: Receipt, **seen: Any) -> Receipt:
        return receipt.model_copy(
            update={"checked_at": self._clock.now(), "last_error": "", "gone": False, **seen}
        )

    def _gone(self, receipt: Receipt) -> Receipt:
        return self._fresh(receipt, gone=True)

    def _unread(self, receipts: Iterable[Receipt], error: MarketError) -> dict[str, Receipt]:
        text = f"{error.why}: {error.detail}"
        return {receipt.id: receipt.model_copy(update={"last_error": text}) for receipt in receipts}


def _family(receipt: Receipt) -> str:
    if EXTENSION_MARK in receipt.id:
        return "extension"
    if receipt.kind is Kind.TRAINING_PLAN:
        return "plan"
    return "launch" if receipt.kind in {Kind.ON_DEMAND, Kind.SPOT} else "reservation"


def _batches(receipts: list[Receipt]) -> Iterable[list[Receipt]]:
    for start in range(0, len(receipts), _BATCH):
        yield receipts[start : start + _BATCH]


def _reserved(row: wire.Reservation, receipt: Receipt) -> tuple[Segment, ...]:
    """Return the window as AWS shows it now: an extension moves its end."""
    if row.start_date is None or row.end_date is None:
        return receipt.segments
    return (Segment(start=row.start_date, end=row.end_date, zone=row.availability_zone),)
