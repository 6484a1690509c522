"""What spot machines have cost by the hour since a moment, from AWS's history of prices.

EC2 API Reference, DescribeSpotPriceHistory: the history lists changes, in no promised order, with
the one that held at the start.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from bot.aws import wire
from bot.aws.calls import pages, understood
from bot.aws.clients import Clients
from bot.domain.records import Receipt
from bot.domain.using import SpotPrice


class AwsSpotPrices:
    """See bot.ports.SpotPrices."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients

    def since(self, receipt: Receipt, moment: datetime) -> Sequence[SpotPrice]:
        """See bot.ports.SpotPrices."""
        client = self._clients.reading("ec2", receipt.account, receipt.region)
        zone: dict[str, Any] = {"AvailabilityZone": receipt.zone} if receipt.zone else {}
        found: dict[datetime, SpotPrice] = {}
        for page in pages(
            client,
            "describe_spot_price_history",
            InstanceTypes=[receipt.instance_type],
            ProductDescriptions=["Linux/UNIX"],
            StartTime=moment,
            MaxResults=1000,
            **zone,
        ):
            for row in understood(wire.SpotPrices, page).spot_price_history:
                if row.timestamp is None or row.spot_price is None:
                    continue
                if row.instance_type in {None, receipt.instance_type}:
                    found[row.timestamp] = SpotPrice(at=row.timestamp, usd_per_hour=row.spot_price)
        return tuple(found[at] for at in sorted(found))
