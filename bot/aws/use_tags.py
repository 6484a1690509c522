"""Tags on what is made with capacity, and reading them back."""

from collections.abc import Iterable

from bot.aws.calls import pages, understood
from bot.aws.clients import Clients
from bot.aws.tags import OWNER, PURCHASE, RESERVATION
from bot.aws.wire import Tag, Tags, tagged
from bot.domain.records import gpu_id
from bot.domain.using import EndpointOrder


def order_tags(order: EndpointOrder) -> list[dict[str, str]]:
    """Return the tags of an endpoint and of its configuration."""
    values = {
        PURCHASE: order.purchase_id,
        RESERVATION: gpu_id(order.reservation_id),
        OWNER: order.owner,
    }
    return [{"Key": key, "Value": value} for key, value in values.items()]


def purchase_of(tags: Iterable[Tag]) -> str | None:
    """Return which purchase of ours a thing says it belongs to."""
    return tagged(tuple(tags)).get(PURCHASE) or None


def sagemaker_purchase(clients: Clients, account: str, region: str, arn: str) -> str | None:
    """Return the same of a SageMaker resource, whose tags are read apart. Raises MarketError."""
    client = clients.reading("sagemaker", account, region)
    found: list[Tag] = []
    for page in pages(client, "list_tags", ResourceArn=arn):
        found += understood(Tags, page).tags
    return purchase_of(found)
