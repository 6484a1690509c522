"""What AWS shows and what is owned, as the contracts' market file holds it (market-example).

Each row is what one market said at `as_of`; rows never carry a guess: what a market did not say,
or a recorded file leaves out, is None.
"""

from enum import StrEnum
from typing import Literal

from bot.domain.base import Model
from bot.domain.values import Instant, Usd


class Kind(StrEnum):
    """A way of getting capacity."""

    OWNED = "owned"
    ON_DEMAND = "on_demand"
    SPOT = "spot"
    ODCR = "odcr"
    CAPACITY_BLOCK = "capacity_block"
    TRAINING_PLAN = "training_plan"


class Segment(Model):
    """One unbroken run of capacity in one zone, half-open [start, end)."""

    start: Instant
    end: Instant
    zone: str | None = None


class Offering(Model):
    """Prepaid capacity on sale: a Capacity Block or a training plan.

    `instance_type` carries "ml." for plans. `upfront_fee` is the whole price; None when AWS
    gave none. `currency` other than USD is rejected by the engine, never converted.
    """

    ref: str
    kind: Literal[Kind.CAPACITY_BLOCK, Kind.TRAINING_PLAN]
    account: str
    region: str
    zone: str | None = None
    zone_id: str | None = None
    zone_type: str | None = None
    opted_in: bool
    instance_type: str
    instance_count: int
    ultraserver_type: str | None = None
    ultraserver_count: int | None = None
    target_resources: tuple[str, ...] = ()
    segments: tuple[Segment, ...]
    upfront_fee: Usd | None = None
    currency: str | None = None


class HourlyRate(Model):
    """A price per instance-hour of on-demand, spot or ODCR, with what is known of its odds."""

    ref: str
    kind: Literal[Kind.ON_DEMAND, Kind.SPOT, Kind.ODCR]
    account: str
    region: str
    zone: str | None = None
    zone_id: str | None = None
    zone_type: str | None = None
    opted_in: bool
    instance_type: str
    usd_per_hour: Usd | None = None
    source: str
    as_of: Instant
    last_refused_at: Instant | None = None
    placement_score: int | None = None


class Owned(Model):
    """Capacity that an account holds already, bought by this bot or not."""

    ref: str
    kind: Literal[Kind.CAPACITY_BLOCK, Kind.TRAINING_PLAN, Kind.ODCR]
    account: str
    region: str
    zone: str | None = None
    zone_id: str | None = None
    instance_type: str
    target_resources: tuple[str, ...] = ()
    total_count: int
    available_count: int
    start: Instant
    end: Instant | None = None
    owner: str | None = None


class Quota(Model):
    """One service quota. `types` are shell patterns; `unit` says what `limit` counts."""

    account: str
    region: str
    name: str
    code: str | None = None
    kinds: tuple[Kind, ...]
    types: tuple[str, ...]
    unit: Literal["vcpus", "instances"]
    limit: int | None = None
    used: int | None = None


class NotRead(Model):
    """A market that could not be read; never the same as "no capacity"."""

    account: str
    region: str
    market: str
    why: str
    detail: str | None = None


class Market(Model):
    """Everything that was read at `as_of`."""

    as_of: Instant
    offerings: tuple[Offering, ...] = ()
    hourly: tuple[HourlyRate, ...] = ()
    owned: tuple[Owned, ...] = ()
    quotas: tuple[Quota, ...] = ()
    not_read: tuple[NotRead, ...] = ()
