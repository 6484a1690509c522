"""Our records: reservation, proposal, approval, leg, purchase, receipt, and what is due.

A reservation's id is a number that people see as gpu-42. Every change of a row is a
compare-and-swap on its `revision` (reservations, receipts) or `state` (purchases, proposals).
"""

from enum import StrEnum
from typing import Literal

from pydantic import ConfigDict, Field

from bot.domain.base import Model
from bot.domain.decision import Decision, Option
from bot.domain.lifecycle import ProposalState, PurchaseState, ReservationState
from bot.domain.market import Kind, Market, Segment
from bot.domain.request import Request
from bot.domain.rules import Rules
from bot.domain.values import Instant, Usd


def gpu_id(reservation_id: int) -> str:
    """Return the id as people see it: gpu-42."""
    return f"gpu-{reservation_id}"


class Reservation(Model):
    """One request through its life. `id` 0 and `revision` 0 mean: not stored yet.

    `version` counts changes of the request itself; a proposal is bound to one version.
    `zone` and `locale` are the requester's when the request was filed.
    """

    id: int = 0
    revision: int = 0
    version: int = 1
    state: ReservationState
    workspace: str
    requester: str
    owner: str
    team: str | None
    account: str | None = None
    channel: str
    request: Request
    line: str
    zone: str
    locale: str
    shown_rank: int = 1
    option: Option | None = None
    note: str = ""
    created_at: Instant
    updated_at: Instant


class DecisionRecord(Model):
    """A decision with its evidence, so that it can be made again byte for byte."""

    reservation_id: int
    version: int
    decided_at: Instant
    zone: str
    requester: str | None = None
    prefers: str | None = None
    request: Request
    rules: Rules
    market: Market
    decision: Decision


class ShownDecision(Model):
    """A decision as cards show it, without the evidence, which is most of a record."""

    model_config = ConfigDict(extra="ignore")

    decided_at: Instant
    decision: Decision


class LegPurpose(StrEnum):
    """What a leg is bought for."""

    INITIAL = "initial"
    EXTENSION = "extension"


class Leg(Model):
    """One purchase-to-be of a reservation, with everything a buyer needs.

    `ref` is the offering's id at approval; `fee` the approved price of this leg. A re-quote may
    find the same offer under a fresh id. `extends` is the receipt id that an extension prolongs.
    """

    number: int
    purpose: LegPurpose
    kind: Kind
    ref: str
    account: str
    region: str
    zone: str | None
    instance_type: str
    instance_count: int
    ultraserver_type: str | None = None
    ultraserver_count: int | None = None
    segments: tuple[Segment, ...]
    target: str | None = None
    platform: str
    fee: Usd
    extends: str | None = None


class Proposal(Model):
    """An option, its price ceiling and a time limit, put before approvers. `id` 0: not stored.

    `needed` distinct approvers of `approvers` (users or user groups) must agree before
    `expires_at`; `auto` means that policy needs nobody.
    """

    id: int = 0
    reservation_id: int
    version: int
    state: ProposalState
    option: Option
    legs: tuple[Leg, ...]
    ceiling: Usd
    team: str | None
    needed: int
    approvers: tuple[str, ...]
    auto: bool = False
    asked_by: str
    asked_at: Instant
    expires_at: Instant
    note: str = ""


class Approval(Model):
    """Who said what to a proposal, when, and the fee they saw."""

    proposal_id: int
    approver: str
    verdict: Literal["approve", "deny"]
    at: Instant
    fee: Usd
    reason: str = ""


class Purchase(Model):
    """The one ledger row that may spend for a leg. `id` is unique across installations.

    It travels as a tag (Capacity Block), token (ODCR, launches) or plan name (training plan).
    `approvers` and `team` become tags. `offering_ref` is the id actually bought.
    """

    id: str
    reservation_id: int
    proposal_id: int
    leg: Leg
    attempt: int
    state: PurchaseState
    offering_ref: str
    fee: Usd
    currency: str = "USD"
    owner: str
    team: str | None
    approvers: tuple[str, ...]
    intended_at: Instant
    submitted_at: Instant | None = None
    settled_at: Instant | None = None
    outcome: str = ""


class Receipt(Model):
    """AWS's own record of what was bought: its id and its state, in AWS's raw word.

    `state` is lower case with dashes as EC2 spells it, or SageMaker's word in lower case.
    `ultraserver_type` is the leg's: such machines are lost earlier and mended as a whole. Counts
    are None while AWS shows none. `last_error` is the last failed look, if the newest.
    """

    id: str
    revision: int = 0
    purchase_id: str
    reservation_id: int
    kind: Kind
    account: str
    region: str
    zone: str | None
    instance_type: str
    instance_count: int
    target: str | None
    segments: tuple[Segment, ...]
    state: str
    total_count: int | None = None
    available_count: int | None = None
    unhealthy_count: int | None = None
    checked_at: Instant
    last_error: str = ""
    gone: bool = False
    ultraserver_type: str | None = None


class BudgetEntry(Model):
    """Money of one leg against a team's month and the day's ceiling."""

    purchase_key: str
    reservation_id: int
    team: str | None
    amount: Usd
    state: Literal["held", "committed", "freed"]
    held_at: Instant


class Due(Model):
    """Something that falls due: a row, never a timer. `key` makes it happen once.

    `kind` names the service step; `subject` groups rows so that they can be withdrawn together.
    `stale_after`: past it the step is dropped and logged instead of done late.
    """

    key: str
    kind: str
    subject: str
    at: Instant
    argument: str = ""
    stale_after: Instant | None = None


class AuditEntry(Model):
    """One thing that happened. `facts` is a flat map of plain words."""

    at: Instant
    actor: str
    action: str
    reservation_id: int | None = None
    purchase_id: str | None = None
    facts: dict[str, str] = Field(default_factory=dict)


class Delivery(Model):
    """One thing that Slack delivered, recorded before it is acknowledged.

    `key` is what makes it unique (trigger id, envelope, event id). `late`: the acknowledgement
    left too late, so that Slack showed a failure; it waits for its sender's confirmation.
    """

    id: int = 0
    key: str
    kind: Literal["command", "action", "submission", "event"]
    body: str
    received_at: Instant
    late: bool = False


class MessageRef(Model):
    """Where a message is in Slack. `ts` is Slack's own string, never a number."""

    channel: str
    ts: str


class Person(Model):
    """What Slack says about somebody, and when it said so.

    `external`: of another organisation or workspace. `zone` is an IANA name.
    """

    id: str
    zone: str
    locale: str
    active: bool
    external: bool
    bot: bool = False
    read_at: Instant


class Switch(StrEnum):
    """Whether the bot may spend."""

    OFF = "off"
    SHADOW = "shadow"
    ON = "on"
