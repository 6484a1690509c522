"""Keeps the owner and team tags of what was bought true: EC2 CreateTags, SageMaker AddTags."""

from bot.aws import wire
from bot.aws.calls import pages, read, understood
from bot.aws.clients import Clients
from bot.aws.receipts import EXTENSION_MARK
from bot.aws.tags import OWNER, TEAM
from bot.domain.errors import MarketError, RefusedError
from bot.domain.market import Kind
from bot.domain.records import Receipt

_LAUNCHED = frozenset({Kind.ON_DEMAND, Kind.SPOT})


class AwsTagger:
    """See bot.ports.Tagger. Uses the buying role: it wrote the tags at the purchase."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients

    def tag(self, receipt: Receipt, *, owner: str, team: str | None) -> None:
        """See bot.ports.Tagger. An extension has no tags of its own, so nothing is written."""
        if EXTENSION_MARK in receipt.id:
            return
        tags = [{"Key": OWNER, "Value": owner}, {"Key": TEAM, "Value": team or "none"}]
        service = "sagemaker" if receipt.kind is Kind.TRAINING_PLAN else "ec2"
        try:
            client = self._clients.spending(service, receipt.account, receipt.region)
        except RefusedError as error:
            raise MarketError("refused", error.code) from error
        if service == "sagemaker":
            read(client, "add_tags", ResourceArn=receipt.id, Tags=tags)
            return
        ids = self._machines(receipt) if receipt.kind in _LAUNCHED else [receipt.id]
        if ids:
            read(client, "create_tags", Resources=ids, Tags=tags)

    def _machines(self, receipt: Receipt) -> list[str]:
        """Return the ids of a launch's machines: a launch itself takes no tags."""
        client = self._clients.reading("ec2", receipt.account, receipt.region)
        filters = [{"Name": "reservation-id", "Values": [receipt.id]}]
        return [
            machine.instance_id
            for page in pages(client, "describe_instances", Filters=filters, MaxResults=1000)
            for launch in understood(wire.Launches, page).reservations
            for machine in launch.instances
            if machine.instance_id
        ]
