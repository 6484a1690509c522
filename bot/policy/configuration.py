"""The administrator's file as values: every key, with defaults and the rules between keys.

Reading YAML, and naming the line of a complaint, is `bot.settings`' work.
"""

import re
from datetime import timedelta
from decimal import Decimal
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from bot.domain.base import Model
from bot.domain.market import Kind
from bot.domain.records import Switch
from bot.domain.request import Target
from bot.domain.rules import Rules
from bot.domain.values import Instant, Usd

UserId = Annotated[str, StringConstraints(pattern=r"^[UW][A-Z0-9]{2,}$")]
Member = Annotated[str, StringConstraints(pattern=r"^[UWS][A-Z0-9]{2,}$")]
ChannelId = Annotated[str, StringConstraints(pattern=r"^[CGD][A-Z0-9]{2,}$")]


def _queue_url(url: str) -> str:
    if re.fullmatch(r"https?://[^/\s]+/\S*[^/\s]", url) is None:
        raise ValueError(
            "write the queue's address, like"
            " https://sqs.us-east-1.amazonaws.com/111122223333/gpubot-events"
        )
    return url


QueueUrl = Annotated[str, AfterValidator(_queue_url)]
"""The address of an SQS queue, as AWS gives it."""


class Account(Model):
    """One AWS account. Roles None: the bot's own credentials. Platform is final at purchase.

    What it buys may be shared with the accounts of `shares_with` (AWS RAM), which AWS allows
    inside one AWS Organization only.
    """

    name: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,30}$")]
    account_id: Annotated[str, StringConstraints(pattern=r"^\d{12}$")]
    read_role: str | None = None
    buy_role: str | None = None
    launch_role: str | None = None
    regions: Annotated[tuple[str, ...], Field(min_length=1)]
    platform: str = "Linux/UNIX"
    launch_templates: dict[str, str] = Field(default_factory=dict)
    subnets: dict[str, str] = Field(default_factory=dict)
    event_queues: dict[str, QueueUrl] = Field(default_factory=dict)
    organization: Annotated[str, StringConstraints(pattern=r"^o-[a-z0-9]{10,32}$")] | None = None
    shares_with: tuple[str, ...] = ()


class Channels(Model):
    """Where the bot speaks."""

    requests: ChannelId
    approvals: ChannelId
    digest: ChannelId


class Digest(Model):
    """When the daily digest is posted. `zone` is an IANA name."""

    at: Annotated[str, StringConstraints(pattern=r"^([01]\d|2[0-3]):[0-5]\d$")] = "09:00"
    zone: str = "UTC"
    when_empty: Literal["skip", "post"] = "skip"


class Team(Model):
    """Who pays. Members are users (U…) or user groups (S…). `account` is where it runs machines."""

    name: Annotated[str, StringConstraints(pattern=r"^[\w-]{1,40}$")]
    members: tuple[Member, ...]
    monthly_budget_usd: Usd | None = None
    account: str | None = None


class Tier(Model):
    """Up to this total: who must agree, how many of them, and for how long it is asked.

    `quiet` may agree but are never pinged. `escalate_to` are asked, and may agree, once nobody
    has answered or too few are left who could.
    """

    up_to_usd: Annotated[Usd, Field(gt=0)]
    auto: bool = False
    approvers: tuple[Member, ...] = ()
    quiet: tuple[Member, ...] = ()
    escalate_to: tuple[Member, ...] = ()
    needed: Annotated[int, Field(ge=1, le=10)] = 1
    expires: timedelta = timedelta(hours=4)
    remind_after: timedelta = timedelta(minutes=15)

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.auto:
            if self.approvers:
                raise ValueError("a tier is either auto or has approvers; drop one of the two")
            return self
        everyone = {*self.approvers, *self.quiet}
        if not everyone:
            raise ValueError("nobody could approve this tier; name approvers, or write auto: true")
        users = {who for who in everyone if not who.startswith("S")}
        if len(users) == len(everyone) and len(users) < self.needed:
            raise ValueError(
                f"needed is {self.needed} but only {len(users)} people may approve;"
                " name more approvers or lower needed"
            )
        if self.expires <= timedelta(0):
            raise ValueError("expires must be longer than nothing, for example 4h")
        return self


class BreakGlass(Model):
    """Who may act alone in an emergency, up to how much; the reason is posted."""

    people: tuple[UserId, ...]
    up_to_usd: Usd


class Delegate(Model):
    """Somebody who agrees in an approver's place, in [since, until) when those are given."""

    of: UserId
    to: UserId
    since: Instant | None = None
    until: Instant | None = None

    @model_validator(mode="after")
    def _sensible(self) -> Self:
        if self.of == self.to:
            raise ValueError("nobody stands in for themselves; name two different people")
        if self.since is not None and self.until is not None and self.until <= self.since:
            raise ValueError("until must come after since")
        return self


class ApprovalRules(Model):
    """Who may ask, and who must agree to what. `delegates` stand in for approvers."""

    requesters: Literal["anyone"] | tuple[Member, ...] = "anyone"
    tiers: Annotated[tuple[Tier, ...], Field(min_length=1)]
    break_glass: BreakGlass | None = None
    delegates: tuple[Delegate, ...] = ()
    extensions_without_asking_usd: Usd | None = None

    @model_validator(mode="after")
    def _rising(self) -> Self:
        limits = [tier.up_to_usd for tier in self.tiers]
        if limits != sorted(set(limits)):
            raise ValueError("tiers must rise: each up_to_usd larger than the one before it")
        return self


class Limits(Model):
    """Brakes beside the budget. `start_drift`: how much later an instant block may begin.

    `lapse_after`: a quote, or what is blocked, that nobody goes on with for so long has expired.

    `idle_gpu_below`: a machine whose GPUs stay under this share counts as not used; None: its
    GPUs are not looked at.
    """

    start_drift: timedelta = timedelta(minutes=60)
    review_after: timedelta = timedelta(minutes=30)
    retry_for: timedelta = timedelta(hours=24)
    lapse_after: timedelta = timedelta(days=7)
    idle_after: timedelta = timedelta(minutes=30)
    idle_below: Decimal = Decimal("0.5")
    idle_gpu_below: Annotated[Decimal, Field(ge=0, le=1)] | None = Decimal("0.1")
    stop_at_end: bool = False


class Configuration(Model):
    """The whole file. A file under which nobody could approve is refused at start."""

    accounts: Annotated[tuple[Account, ...], Field(min_length=1)]
    kinds: tuple[Kind, ...] = Rules().kinds
    default_target: Target = Target.EC2
    purchasing: Switch = Switch.OFF
    daily_ceiling_usd: Usd | None = None
    channels: Channels
    digest: Digest = Digest()
    administrators: Annotated[tuple[UserId, ...], Field(min_length=1)]
    teams: tuple[Team, ...] = ()
    approval: ApprovalRules
    limits: Limits = Limits()
    decision: Rules = Rules()

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        for what, names in (
            ("account", [account.name for account in self.accounts]),
            ("team", [team.name for team in self.teams]),
        ):
            twice = {name for name in names if names.count(name) > 1}
            if twice:
                raise ValueError(f"two entries are called {min(twice)}; each {what} needs its own")
        return self

    @property
    def rules(self) -> Rules:
        """Return what the engine needs: its knobs with the kinds and regions of this file."""
        return self.decision.model_copy(
            update={
                "kinds": self.kinds,
                "default_target": self.default_target,
                "regions": {account.name: account.regions for account in self.accounts},
            }
        )
