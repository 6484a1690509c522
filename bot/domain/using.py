"""What is done with capacity once it is there: endpoints, health of machines, what is left."""

from decimal import Decimal
from enum import StrEnum

from bot.domain.base import Model
from bot.domain.market import NotRead
from bot.domain.values import Instant, Usd

SPOT_WATCH = "spot-watch"
ROUTINE = frozenset({SPOT_WATCH})
"""Looks that come and go by the minute for as long as machines run: nobody waits for one, so
the health page does not name it as what is due next."""


class EndpointStage(StrEnum):
    """How far an endpoint is. Every stage before a call is committed before the call."""

    WAITING = "waiting"
    CONFIGURING = "configuring"
    CREATING = "creating"
    COMING_UP = "coming up"
    IN_SERVICE = "in service"
    FAILED = "failed"
    DELETING = "deleting"
    UNCONFIGURING = "unconfiguring"
    GONE = "gone"


class EndpointOrder(Model):
    """An endpoint on a training plan. The configuration has the endpoint's own name."""

    name: str
    account: str
    region: str
    plan_arn: str
    instance_type: str
    count: int
    model: str
    reservation_id: int
    purchase_id: str
    owner: str


class EndpointRecord(Model):
    """Our record of a reservation's endpoint.

    `sent_at` is when the newest create left and its outcome is not known yet; `detail` says why
    it waits or failed; `attempt` counts creates that came to nothing.
    """

    order: EndpointOrder
    stage: EndpointStage
    asked_by: str
    asked_at: Instant
    changed_at: Instant
    sent_at: Instant | None = None
    attempt: int = 1
    detail: str = ""
    used: int | None = None
    total: int | None = None


class EndpointView(Model):
    """An endpoint as SageMaker shows it now. Counts are of its plan, None while not shown."""

    status: str
    reason: str = ""
    plan_arn: str | None = None
    used: int | None = None
    total: int | None = None
    available: int | None = None


class PlanView(Model):
    """A training plan as SageMaker shows it now."""

    status: str
    targets: tuple[str, ...]
    total: int | None = None
    available: int | None = None


class Machine(Model):
    """One machine. `notice` is AWS's word when it is about to take, or took, a spot machine."""

    id: str
    state: str
    zone: str | None = None
    impaired: bool = False
    reason: str = ""
    notice: str = ""


class Health(Model):
    """Machines of one receipt as AWS shows them now. A count is None where AWS shows none.

    `unhealthy` counts slots of a block or plan that AWS says can't be used. `interconnect` is
    EC2's own word: ok, impaired, insufficient-data.
    """

    receipt_id: str
    state: str
    total: int | None = None
    used: int | None = None
    free: int | None = None
    unhealthy: int | None = None
    interconnect: str | None = None
    machines: tuple[Machine, ...] = ()
    not_read: tuple[NotRead, ...] = ()


class GpuUse(Model):
    """How busy the GPUs of a receipt's machines were, as agents on them told CloudWatch.

    Of `machines` that run, each that reported over the whole window has its average in `shares`,
    0 to 1, lowest first. Who does not report is unknown, not idle. `not_read`: why nobody knows.
    """

    since: Instant
    until: Instant
    machines: int = 0
    shares: tuple[Decimal, ...] = ()
    not_read: str = ""

    @property
    def reporting(self) -> int:
        """Return how many machines report."""
        return len(self.shares)


class SpotPrice(Model):
    """What one spot machine costs for an hour from `at` until the next change."""

    at: Instant
    usd_per_hour: Decimal


class QueuedEvent(Model):
    """A message that waits in a queue for events, as the queue gave it.

    `handle` deletes it; `receives` counts how often it was given out, this time included.
    """

    queue: str
    account: str
    region: str
    body: str
    handle: str
    receives: int = 1


class LeftoverKind(StrEnum):
    """What may be left over and bill."""

    INSTANCE = "instance"
    SPOT_REQUEST = "spot request"
    FLEET = "fleet"
    VOLUME = "volume"
    RESERVATION = "capacity reservation"
    SHARE = "resource share"
    ENDPOINT = "endpoint"
    CONFIGURATION = "endpoint configuration"


class Leftover(Model):
    """One thing that still exists. `purchase` is its gpubot:purchase tag, None without one.

    `prepaid`: it costs nothing beyond what was paid. `usd_per_day` None: the price is unknown.
    """

    kind: LeftoverKind
    id: str
    account: str
    region: str
    state: str
    purchase: str | None
    detail: str = ""
    prepaid: bool = False
    usd_per_day: Usd | None = None

    @property
    def key(self) -> str:
        """Return what makes it unique in the world."""
        return f"{self.kind}|{self.account}|{self.region}|{self.id}"


class Found(Model):
    """What was found, and which books could not be read: those prove nothing."""

    items: tuple[Leftover, ...]
    not_read: tuple[NotRead, ...]
