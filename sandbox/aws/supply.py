"""What the simulated AWS has to sell, and how long it takes; a scenario may override it.

Everything that is not listed is drawn from the seed. Times are seconds of the simulated clock.
"""

from decimal import Decimal
from typing import Any, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, model_validator


class SupplyModel(BaseModel):
    """A frozen, closed value; takes the plain values of a scenario file."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class BlockWindow(SupplyModel):
    """Capacity that blocks and training plans may be cut from.

    Once a pair of Region and type is listed, only its listed windows are sold.
    An `instance_count` of 0 says that nothing is left.
    """

    region: str
    instance_type: str
    zone: str | None = None
    available_from: AwareDatetime | None = None
    available_until: AwareDatetime | None = None
    instance_count: int = Field(ge=0)
    usd_per_instance_hour: Decimal | None = Field(default=None, gt=0)
    shown_from: AwareDatetime | None = None
    shown_until: AwareDatetime | None = None


class Pool(SupplyModel):
    """How many instances of a type can be had, on demand or as spot, in a zone or each zone."""

    region: str
    instance_type: str
    zone: str | None = None
    instance_count: int = Field(ge=0)


class SpotPrice(SupplyModel):
    """A spot price (USD per instance-hour) and a placement score, instead of the drawn ones."""

    region: str
    instance_type: str
    usd_per_instance_hour: Decimal | None = Field(default=None, gt=0)
    score: int | None = Field(default=None, ge=1, le=10)


class QuotaSetting(SupplyModel):
    """A limit by quota code (`L-…`) or quota name; no account or Region means all."""

    service: str = "ec2"
    quota: str
    value: float = Field(ge=0)
    account: str | None = None
    region: str | None = None


class Denial(SupplyModel):
    """An operation that the caller's permissions do not cover."""

    operation: str
    account: str | None = None
    region: str | None = None


class RolePolicy(SupplyModel):
    """A policy document of a role: with one, the role may do what its documents allow."""

    role: str
    document: dict[str, Any]


class EventQueue(SupplyModel):
    """An SQS queue that a rule of EventBridge sends the events of its account and Region to."""

    account: str
    region: str
    name: str = "gpubot-events"
    max_receives: int = Field(default=5, ge=1)
    """After so many receives a message goes to the dead-letter queue."""
    visibility_seconds: int = Field(default=30, ge=0)


class Supply(SupplyModel):
    """The whole supply; the defaults let an ordinary purchase go through."""

    payment_seconds: tuple[int, int] = (300, 1200)
    """An ordinary payment takes 5 to 20 minutes; AWS allows up to 12 hours."""
    activation_seconds: int = Field(default=240, ge=0)
    """AWS still says `scheduled` for some minutes after the start."""
    visibility_seconds: int = Field(default=3, ge=0)
    """A new reservation is not in the books at once (EC2 is eventually consistent)."""
    endpoint_seconds: int = Field(default=360, ge=0)
    cleanup_seconds: int = Field(default=600, ge=0)
    """How long a slot of a block stays unavailable after its machine went away."""
    offering_sells_once: bool = True
    """Whether a second purchase of the same offering id is refused; AWS documents neither."""
    open_percent: int = Field(default=75, ge=0, le=100)
    """Share of days on which a zone has blocks to sell, where nothing is listed."""

    extension_percent: int = Field(default=100, ge=0, le=100)
    """How often there is more time for a block or a plan, where nothing is listed."""

    blocks: tuple[BlockWindow, ...] = ()
    on_demand: tuple[Pool, ...] = ()
    spot_pools: tuple[Pool, ...] = ()
    spot: tuple[SpotPrice, ...] = ()
    quotas: tuple[QuotaSetting, ...] = ()
    denied: tuple[Denial, ...] = ()
    policies: tuple[RolePolicy, ...] = ()
    event_queues: tuple[EventQueue, ...] = ()
    opted_in_zones: tuple[str, ...] = ()
    organization_sharing: bool = True
    """Whether AWS RAM may share within the one organization that all accounts are in."""
    accounts_outside_organization: tuple[str, ...] = ()
    new_accounts: tuple[str, ...] = ()
    """Accounts with a limited billing history: AWS lets them share no reservation."""
    sharing_seconds: int = Field(default=20, ge=0)
    """How long a resource or an account takes to be associated with a share."""
    own_zone_names: tuple[str, ...] = ()
    """Accounts that see a Region's zones under other names than the others; ids are the same."""

    @model_validator(mode="after")
    def _payment_is_a_range(self) -> Self:
        low, high = self.payment_seconds
        if not 0 <= low <= high:
            raise ValueError("payment_seconds is [least, most], least first")
        return self

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """The supply that a scenario's plain values describe.

        Raises:
            ValueError: a key or value is not understood; the message says which.
        """
        return cls.model_validate(values)
