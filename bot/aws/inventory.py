"""Reads what the accounts hold: blocks, plans and capacity reservations, ours or not."""

from collections.abc import Iterator
from typing import Final

from bot.aws import wire
from bot.aws.books import plan_tags, read_plans, read_reservations
from bot.aws.clients import Clients
from bot.aws.receipts import word
from bot.aws.tags import PURCHASE
from bot.domain.errors import MarketError
from bot.domain.inventory import Held, Inventory
from bot.domain.market import Kind, NotRead
from bot.policy.configuration import Account

_LIVE: Final = frozenset(
    {"active", "scheduled", "pending", "payment-pending", "delayed", "assessing"}
)


class AwsInventory:
    """Reads the books of every account and region of the file."""

    def __init__(self, accounts: tuple[Account, ...], *, clients: Clients | None = None) -> None:
        self._accounts = accounts
        self.clients = clients or Clients(accounts)

    def read(self) -> Inventory:
        """Return what is held now; a region that can't be read stands in `not_read`."""
        rows: list[Held] = []
        not_read: list[NotRead] = []
        for account in self._accounts:
            for region in account.regions:
                for name, books in (("ec2", self._reservations), ("sagemaker", self._plans)):
                    try:
                        rows += books(account.name, region)
                    except MarketError as error:
                        not_read.append(
                            NotRead(
                                account=account.name,
                                region=region,
                                market=name,
                                why=error.why,
                                detail=error.detail,
                            )
                        )
        return Inventory(rows=tuple(rows), not_read=tuple(not_read))

    def _reservations(self, account: str, region: str) -> Iterator[Held]:
        for row in read_reservations(self.clients, account, region):
            if row.capacity_reservation_id is None or word(row.state) not in _LIVE:
                continue
            yield Held(
                id=row.capacity_reservation_id,
                kind=Kind.CAPACITY_BLOCK if row.is_block else Kind.ODCR,
                account=account,
                region=region,
                state=word(row.state),
                instance_type=row.instance_type,
                instance_count=row.count,
                start=row.start_date,
                end=row.end_date,
                purchase=wire.tagged(row.tags).get(PURCHASE),
            )

    def _plans(self, account: str, region: str) -> Iterator[Held]:
        for plan in read_plans(self.clients, account, region):
            arn = plan.training_plan_arn
            if arn is None or word(plan.status) not in _LIVE:
                continue
            part = next(iter(plan.reserved_capacity_summaries), None)
            yield Held(
                id=arn,
                kind=Kind.TRAINING_PLAN,
                account=account,
                region=region,
                state=word(plan.status),
                instance_type=part.instance_type if part else None,
                instance_count=plan.total_instance_count,
                start=plan.start_time,
                end=plan.end_time,
                purchase=plan_tags(self.clients, account, region, arn).get(PURCHASE),
            )
