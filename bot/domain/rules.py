"""What the administrator's file says to the decision engine (decision.md, names in braces)."""

from datetime import timedelta
from decimal import Decimal

from bot.domain.base import Model
from bot.domain.market import Kind
from bot.domain.request import Target
from bot.domain.values import Rate


class Premiums(Model):
    """What each kind must be cheaper by before it beats the least commitment (decision.md)."""

    on_demand: Rate = Decimal(0)
    odcr: Rate = Decimal(0)
    spot: Rate = Decimal("0.10")
    spot_low: Rate = Decimal("0.50")
    capacity_block: Rate = Decimal("0.15")
    training_plan: Rate = Decimal("0.15")


class Rules(Model):
    """The engine's knobs; every default is decision.md's.

    `regions` maps an account to the regions it may use; None allows every account and region.
    """

    kinds: tuple[Kind, ...] = (
        Kind.ON_DEMAND,
        Kind.SPOT,
        Kind.ODCR,
        Kind.CAPACITY_BLOCK,
        Kind.TRAINING_PLAN,
    )
    regions: dict[str, tuple[str, ...]] | None = None
    default_target: Target = Target.EC2
    more_machines_premium: Rate = Decimal("0.10")
    oversize_limit: Rate = Decimal(2)
    short_tolerance: Rate = Decimal("0.10")
    short_limit: timedelta = timedelta(hours=12)
    payment_margin: timedelta = timedelta(minutes=10)
    refusal_memory: timedelta = timedelta(hours=6)
    hold_limit: timedelta = timedelta(hours=24)
    asap_window: timedelta = timedelta(hours=24)
    patience: timedelta = timedelta(days=7)
    large_request_instances: int = 16
    premium: Premiums = Premiums()
