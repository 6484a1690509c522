"""What the accounts hold by AWS's own books, whoever bought it."""

from bot.domain.base import Model
from bot.domain.market import Kind, NotRead
from bot.domain.values import Instant


class Held(Model):
    """One Capacity Block, training plan or capacity reservation that is not over.

    `state` is AWS's word as in receipts. `purchase` is its gpubot:purchase tag, None without one.
    """

    id: str
    kind: Kind
    account: str
    region: str
    state: str
    instance_type: str | None
    instance_count: int | None
    start: Instant | None
    end: Instant | None
    purchase: str | None


class Inventory(Model):
    """Everything that is held, and which books could not be read: those prove nothing."""

    rows: tuple[Held, ...]
    not_read: tuple[NotRead, ...] = ()
