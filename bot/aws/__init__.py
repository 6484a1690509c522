"""The only home of boto3: reads the markets, buys, and looks after what was bought."""

from bot.aws.buying import AwsBuyer
from bot.aws.clients import Clients
from bot.aws.endpoints import AwsEndpoints
from bot.aws.events import AwsEventQueue, event_queues
from bot.aws.holdings import AwsHoldings
from bot.aws.identity import Check, check_identity
from bot.aws.inventory import AwsInventory
from bot.aws.leftovers import AwsLeftovers
from bot.aws.machines import AwsMachines
from bot.aws.market import AwsMarket
from bot.aws.sharing import AwsSharer
from bot.aws.spot_paid import AwsSpotPrices
from bot.aws.tagging import AwsTagger
from bot.aws.utilisation import AwsUtilisation

__all__ = [
    "AwsBuyer",
    "AwsEndpoints",
    "AwsEventQueue",
    "AwsHoldings",
    "AwsInventory",
    "AwsLeftovers",
    "AwsMachines",
    "AwsMarket",
    "AwsSharer",
    "AwsSpotPrices",
    "AwsTagger",
    "AwsUtilisation",
    "Check",
    "Clients",
    "check_identity",
    "event_queues",
]
