"""The things that the simulated AWS keeps books about."""

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from sandbox.aws import times
from sandbox.aws.zones import Zone


@dataclass(frozen=True, slots=True)
class Segment:
    """One unbroken run of capacity in one zone; `rate` is USD per unit and hour.

    A unit is an instance, or an UltraServer when the offer is of UltraServers.
    """

    instance_type: str
    zone: Zone
    count: int
    start: datetime
    end: datetime
    rate: Decimal


@dataclass(slots=True)
class BlockOffer:
    """A Capacity Block offering that an account has been shown."""

    id: str
    segments: tuple[Segment, ...]
    show_segments: bool = False
    ultraserver_type: str | None = None
    rate_change: Decimal = Decimal(0)
    sold: bool = False

    def fee_of(self, segment: Segment) -> Decimal:
        """The fee of one segment at today's rate."""
        return times.fee(
            segment.rate + self.rate_change, segment.count, segment.end - segment.start
        )

    @property
    def fee(self) -> Decimal:
        """The upfront fee of the whole offering."""
        return sum((self.fee_of(segment) for segment in self.segments), Decimal(0))


@dataclass(slots=True)
class Outage:
    """Slots of a reservation that no instance can use; until repaired when `until` is not set."""

    count: int
    instance_id: str | None
    until: datetime | None


@dataclass(slots=True)
class Reservation:
    """A capacity reservation: on demand, or one segment of a Capacity Block."""

    id: str
    account: str
    region: str
    zone: Zone
    instance_type: str
    count: int
    platform: str
    state: str
    start: datetime
    end: datetime | None
    created: datetime
    visible_at: datetime
    tags: dict[str, str]
    match: str
    fee: Decimal | None = None
    rate: Decimal = Decimal(0)
    block_id: str | None = None
    offering_id: str | None = None
    ultraserver_type: str | None = None
    outages: list[Outage] = field(default_factory=list)

    @property
    def arn(self) -> str:
        """Its name in the whole of AWS."""
        return f"arn:aws:ec2:{self.region}:{self.account}:capacity-reservation/{self.id}"

    @property
    def is_block(self) -> bool:
        """Whether this is (part of) a Capacity Block."""
        return self.block_id is not None

    @property
    def holds_capacity(self) -> bool:
        """Whether the capacity is set aside: bought or reserved, and not over."""
        return self.state in {"payment-pending", "scheduled", "active", "pending"}


@dataclass(slots=True)
class Block:
    """A Capacity Block: what one purchase made."""

    id: str
    zone: Zone
    reservation_ids: tuple[str, ...]
    start: datetime
    end: datetime
    created: datetime
    tags: dict[str, str]
    ultraserver_type: str | None


@dataclass(slots=True)
class ExtensionOffer:
    """More time for a block, as offered."""

    id: str
    reservation_id: str
    start: datetime
    end: datetime
    hours: int
    rate: Decimal
    count: int
    rate_change: Decimal = Decimal(0)
    sold: bool = False

    @property
    def fee(self) -> Decimal:
        """The upfront fee at today's rate."""
        return times.fee(self.rate + self.rate_change, self.count, self.end - self.start)


@dataclass(slots=True)
class Extension:
    """More time for a block, as bought."""

    offer: ExtensionOffer
    fee: Decimal
    status: str
    bought: datetime


@dataclass(slots=True)
class Instance:
    """A machine; `market` is on-demand, spot or capacity-block."""

    id: str
    account: str
    region: str
    zone: Zone
    instance_type: str
    image_id: str
    subnet_id: str | None
    state: str
    market: str
    launched: datetime
    tags: dict[str, str]
    token: str | None
    reservation_id: str | None = None
    launch_id: str = ""
    spot_request_id: str | None = None
    impaired: bool = False
    noticed: bool = False
    """Whether AWS has said that it takes this spot machine back."""
    reason: str = ""
    ended: datetime | None = None
    gpu_percent: list[tuple[datetime, Decimal | None]] = field(default_factory=list)
    """Since when an agent has reported which GPU utilisation; empty: there is no agent."""

    @property
    def occupies(self) -> bool:
        """Whether it takes room: everything but terminated."""
        return self.state in {"pending", "running", "shutting-down", "stopping"}


@dataclass(frozen=True, slots=True)
class PlanSegment:
    """One reserved capacity of a training plan."""

    zone: Zone
    start: datetime
    end: datetime


@dataclass(slots=True)
class PlanOffer:
    """A training plan offering that an account has been shown."""

    id: str
    target: str
    ml_instance_type: str
    count: int
    segments: tuple[PlanSegment, ...]
    rate: Decimal
    asked_start: datetime | None
    asked_end: datetime | None
    rate_change: Decimal = Decimal(0)
    sold: bool = False

    @property
    def fee(self) -> Decimal:
        """The upfront fee of the whole offering at today's rate."""
        rate = self.rate + self.rate_change
        return sum(
            (times.fee(rate, self.count, part.end - part.start) for part in self.segments),
            Decimal(0),
        )


@dataclass(slots=True)
class PlanExtensionOffer:
    """More time for a training plan, as offered."""

    id: str
    plan_name: str
    start: datetime
    end: datetime
    rate: Decimal
    count: int
    rate_change: Decimal = Decimal(0)
    sold: bool = False

    @property
    def fee(self) -> Decimal:
        """The upfront fee at today's rate."""
        return times.fee(self.rate + self.rate_change, self.count, self.end - self.start)


@dataclass(slots=True)
class PlanExtension:
    """More time for a training plan, as bought."""

    offer: PlanExtensionOffer
    fee: Decimal
    status: str
    payment: str
    bought: datetime


@dataclass(slots=True)
class Plan:
    """A training plan and its reserved capacities."""

    name: str
    arn: str
    offer: PlanOffer
    segments: list[PlanSegment]
    capacity_ids: tuple[str, ...]
    fee: Decimal
    status: str
    status_message: str
    created: datetime
    tags: dict[str, str]
    part_status: list[str]
    extensions: list[PlanExtension] = field(default_factory=list)

    @property
    def start(self) -> datetime:
        """When the first part begins."""
        return self.segments[0].start

    @property
    def end(self) -> datetime:
        """When the last part ends."""
        return self.segments[-1].end


@dataclass(slots=True)
class Endpoint:
    """A SageMaker inference endpoint."""

    name: str
    arn: str
    config_name: str
    status: str
    created: datetime
    changed: datetime
    tags: dict[str, str]
    failure: str = ""


@dataclass(slots=True)
class Settled:
    """What a client token has already brought about."""

    request: str
    answer: dict[str, Any]
    instance_ids: tuple[str, ...] = ()


@dataclass(slots=True)
class Sharing:
    """One resource or principal of a share, as `kind` says."""

    kind: str
    entity: str
    status: str
    created: datetime
    changed: datetime


@dataclass(slots=True)
class Share:
    """A resource share of AWS RAM."""

    arn: str
    name: str
    account: str
    region: str
    external: bool
    created: datetime
    changed: datetime
    tags: dict[str, str]
    status: str = "ACTIVE"
    parts: list[Sharing] = field(default_factory=list)

    def holds(self, kind: str, entity: str, *, waiting: bool = False) -> bool:
        """Whether the entity is associated now, or is about to be."""
        known = {"ASSOCIATED", "ASSOCIATING"} if waiting else {"ASSOCIATED"}
        return any((p.kind, p.entity) == (kind, entity) and p.status in known for p in self.parts)


@dataclass(slots=True)
class Place:
    """The books of one account in one Region."""

    account: str
    region: str
    offers: dict[str, BlockOffer] = field(default_factory=dict)
    blocks: dict[str, Block] = field(default_factory=dict)
    reservations: dict[str, Reservation] = field(default_factory=dict)
    extension_offers: dict[str, ExtensionOffer] = field(default_factory=dict)
    extensions: list[Extension] = field(default_factory=list)
    instances: dict[str, Instance] = field(default_factory=dict)
    tokens: dict[tuple[str, ...], Settled] = field(default_factory=dict)
    plan_offers: dict[str, PlanOffer] = field(default_factory=dict)
    plan_extension_offers: dict[str, PlanExtensionOffer] = field(default_factory=dict)
    plans: dict[str, Plan] = field(default_factory=dict)
    models: dict[str, dict[str, Any]] = field(default_factory=dict)
    endpoint_configs: dict[str, dict[str, Any]] = field(default_factory=dict)
    endpoints: dict[str, Endpoint] = field(default_factory=dict)
    shares: dict[str, Share] = field(default_factory=dict)
