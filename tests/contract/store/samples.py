"""Whole records for the store's tests; every value a test cares about is given by it."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from bot.domain.decision import Certainty, Decision, Note, Option
from bot.domain.lifecycle import ProposalState, PurchaseState, ReservationState
from bot.domain.market import Kind, Market, Segment
from bot.domain.records import (
    Approval,
    AuditEntry,
    BudgetEntry,
    DecisionRecord,
    Delivery,
    Due,
    Leg,
    LegPurpose,
    Proposal,
    Purchase,
    Receipt,
    Reservation,
)
from bot.domain.request import Request
from bot.domain.rules import Rules
from bot.domain.saying import Announcement, Audience, Moment, Section
from bot.ports import Transaction

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
SEGMENTS = (Segment(start=NOW, end=NOW + timedelta(days=3), zone="us-east-1a"),)


def at(minutes: float) -> datetime:
    return NOW + timedelta(minutes=minutes)


def request(**change: Any) -> Request:
    return Request(
        instance_type="p5.48xlarge",
        instance_count=2,
        earliest_start=NOW,
        latest_start=at(60),
        duration_hours=Decimal(1) / Decimal(3),
        regions=("us-east-1",),
        max_total_usd=Decimal("20000.10"),
        reason="größer <&> `\u2028` 🚀",
    ).model_copy(update=change)


def option(**change: Any) -> Option:
    return Option(
        rank=1,
        kind=Kind.CAPACITY_BLOCK,
        refs=("cb-1",),
        account="main",
        region="us-east-1",
        zone="us-east-1a",
        instance_type="p5.48xlarge",
        instance_count=2,
        segments=SEGMENTS,
        usable_end=NOW + timedelta(days=3),
        usable_hours=Decimal("71.5"),
        total_usd=Decimal("1661.184"),
        usd_per_instance_hour=Decimal("31.123456789"),
        usd_per_accelerator_hour=Decimal("3.89"),
        versus_on_demand=None,
        break_even_utilization=Decimal("0.5"),
        certainty=Certainty.GUARANTEED,
        cancellable=False,
        paid="upfront",
        reasons=(Note(code="cheapest", text="It costs least."),),
        warnings=(),
    ).model_copy(update=change)


def reservation(**change: Any) -> Reservation:
    return Reservation(
        state=ReservationState.REQUESTED,
        workspace="T1",
        requester="U1",
        owner="U1",
        team="vision",
        channel="C1",
        request=request(),
        line="reserve 2x p5.48xlarge",
        zone="Europe/Berlin",
        locale="en-US",
        created_at=NOW,
        updated_at=NOW,
    ).model_copy(update=change)


def decision(reservation_id: int, **change: Any) -> DecisionRecord:
    return DecisionRecord(
        reservation_id=reservation_id,
        version=1,
        decided_at=NOW,
        zone="Europe/Berlin",
        request=request(),
        rules=Rules(
            regions={"main": ("us-east-1",)},
            hold_limit=timedelta(hours=1, microseconds=1),
            oversize_limit=Decimal("1.123456789"),
        ),
        market=Market(as_of=NOW),
        decision=Decision(
            recommended=1,
            options=(option(),),
            rejected=(),
            not_read=(),
            advice=(),
            digest="d",
        ),
    ).model_copy(update=change)


def leg(**change: Any) -> Leg:
    return Leg(
        number=1,
        purpose=LegPurpose.INITIAL,
        kind=Kind.CAPACITY_BLOCK,
        ref="cb-1",
        account="main",
        region="us-east-1",
        zone="us-east-1a",
        instance_type="p5.48xlarge",
        instance_count=2,
        segments=SEGMENTS,
        platform="Linux/UNIX",
        fee=Decimal("1661.184"),
    ).model_copy(update=change)


def proposal(reservation_id: int, **change: Any) -> Proposal:
    return Proposal(
        reservation_id=reservation_id,
        version=1,
        state=ProposalState.OPEN,
        option=option(),
        legs=(leg(),),
        ceiling=Decimal("1700.00"),
        team="vision",
        needed=1,
        approvers=("U9", "S1"),
        asked_by="U1",
        asked_at=NOW,
        expires_at=at(60),
    ).model_copy(update=change)


def approval(proposal_id: int, **change: Any) -> Approval:
    return Approval(
        proposal_id=proposal_id,
        approver="U9",
        verdict="approve",
        at=NOW,
        fee=Decimal("1661.184"),
    ).model_copy(update=change)


def purchase(reservation_id: int, proposal_id: int, **change: Any) -> Purchase:
    return Purchase(
        id="gpubot-1",
        reservation_id=reservation_id,
        proposal_id=proposal_id,
        leg=leg(),
        attempt=1,
        state=PurchaseState.INTENDED,
        offering_ref="cb-1",
        fee=Decimal("1661.184"),
        owner="U1",
        team="vision",
        approvers=("U9",),
        intended_at=NOW,
    ).model_copy(update=change)


def receipt(reservation_id: int, **change: Any) -> Receipt:
    return Receipt(
        id="cr-1",
        purchase_id="gpubot-1",
        reservation_id=reservation_id,
        kind=Kind.CAPACITY_BLOCK,
        account="main",
        region="us-east-1",
        zone="us-east-1a",
        instance_type="p5.48xlarge",
        instance_count=2,
        target=None,
        segments=SEGMENTS,
        state="payment-pending",
        checked_at=NOW,
    ).model_copy(update=change)


def money(reservation_id: int, **change: Any) -> BudgetEntry:
    return BudgetEntry(
        purchase_key="gpu-1/1",
        reservation_id=reservation_id,
        team="vision",
        amount=Decimal("1661.184"),
        state="held",
        held_at=NOW,
    ).model_copy(update=change)


def due(key: str = "due-1", **change: Any) -> Due:
    return Due(key=key, kind="sweep", subject="gpu-1", at=NOW).model_copy(update=change)


def delivery(key: str = "trigger-1", **change: Any) -> Delivery:
    return Delivery(key=key, kind="command", body='{"text":"reserve"}', received_at=NOW).model_copy(
        update=change
    )


def entry(**change: Any) -> AuditEntry:
    return AuditEntry(
        at=NOW, actor="U1", action="approved", reservation_id=1, facts={"fee": "1661.184"}
    ).model_copy(update=change)


def saying(words: str = "hello", **change: Any) -> Announcement:
    return Announcement(
        kind="note",
        to=Audience(channel="C1"),
        sections=(Section(title=words, sentences=((words, Moment(at=NOW)),)),),
    ).model_copy(update=change)


def proposed(transaction: Transaction) -> tuple[int, int]:
    """Store a reservation with a proposal; return both ids."""
    stored = transaction.reservations.add(reservation())
    return stored.id, transaction.proposals.add(proposal(stored.id)).id
