"""Buys SageMaker training plans and extensions. The plan's name is made from the purchase."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from bot.aws import wire
from bot.aws.books import plan_tags
from bot.aws.calls import bought, pages, read, spend, understood
from bot.aws.clients import Clients
from bot.aws.receipts import EXTENSION_MARK, receipt
from bot.aws.tags import PURCHASE, plan_name, purchase_tags
from bot.domain.errors import BugError, IndeterminateError, MarketError
from bot.domain.lifecycle import PurchaseState
from bot.domain.market import Segment
from bot.domain.records import LegPurpose, Purchase, Receipt

_ABSENT: Final = ("not found", "does not exist", "could not find", "cannot find")


def buy_plan(clients: Clients, purchase: Purchase, *, at: datetime) -> Sequence[Receipt]:
    """Buy the offering; the answer is only an ARN while the plan is pending. See bot.ports."""
    if purchase.leg.purpose is LegPurpose.EXTENSION:
        return _buy_extension(clients, purchase, at=at)
    answer = spend(
        clients.spending("sagemaker", purchase.leg.account, purchase.leg.region),
        "create_training_plan",
        after_doubt=purchase.state is PurchaseState.INDETERMINATE,
        TrainingPlanName=plan_name(purchase),
        TrainingPlanOfferingId=purchase.offering_ref,
        Tags=purchase_tags(purchase),
    )
    arn = bought(wire.PlanMade, answer).training_plan_arn
    if not arn:
        raise IndeterminateError("UnreadableAnswer", "the answer names no training plan")
    return (receipt(purchase, receipt_id=arn, state="Pending", at=at),)


def find_plan(clients: Clients, purchase: Purchase, *, at: datetime) -> Sequence[Receipt]:
    """Return the plan of the purchase's name if it has our tag and did not fail.

    Raises MarketError when the books can't be read; a name that is not known gives nothing.
    """
    leg = purchase.leg
    if leg.purpose is LegPurpose.EXTENSION:
        rows = [
            row
            for row in read_plan_extensions(clients, leg.account, leg.region, _held(purchase))
            if row.training_plan_extension_offering_id == purchase.offering_ref
        ]
        return _extension_receipts(purchase, rows, at=at)
    plan = read_plan(clients, leg.account, leg.region, plan_name(purchase))
    if plan is None or plan.training_plan_arn is None or (plan.status or "").lower() == "failed":
        return ()
    tags = plan_tags(clients, leg.account, leg.region, plan.training_plan_arn)
    if tags.get(PURCHASE) != purchase.id:
        return ()
    return (
        receipt(
            purchase,
            receipt_id=plan.training_plan_arn,
            state=plan.status,
            at=at,
            count=plan.total_instance_count,
            segments=plan_segments(plan),
        ),
    )


def read_plan(clients: Clients, account: str, region: str, name: str) -> wire.Plan | None:
    """Return the plan, or None when SageMaker does not know the name. Raises MarketError."""
    client = clients.reading("sagemaker", account, region)
    try:
        return understood(wire.Plan, read(client, "describe_training_plan", TrainingPlanName=name))
    except MarketError as error:
        code, _, text = error.detail.partition(": ")
        absent = code == "ResourceNotFound" or (
            code == "ValidationException" and any(words in text.lower() for words in _ABSENT)
        )
        if absent:
            return None
        raise


def read_plan_extensions(
    clients: Clients, account: str, region: str, arn: str
) -> list[wire.PlanExtension]:
    """Return every extension of a plan. Raises MarketError."""
    client = clients.reading("sagemaker", account, region)
    found: list[wire.PlanExtension] = []
    for page in pages(
        client, "describe_training_plan_extension_history", TrainingPlanArn=arn, MaxResults=100
    ):
        found += understood(wire.PlanExtensions, page).training_plan_extensions
    return found


def plan_segments(plan: wire.Plan) -> tuple[Segment, ...]:
    """Return the plan's runs in order, empty while SageMaker shows none."""
    parts = [
        Segment(start=part.start_time, end=part.end_time, zone=part.availability_zone)
        for part in plan.reserved_capacity_summaries
        if part.start_time is not None and part.end_time is not None
    ]
    return tuple(sorted(parts, key=lambda part: part.start))


def extension_state(row: wire.PlanExtension) -> str | None:
    """Return the extension's state; while it is paid for, "Payment" and that state."""
    paid = (row.payment_status or "").lower()
    if (row.status or "").lower() == "pending" and paid in {"pending", "failed"}:
        return f"payment {paid}"
    return row.status


def _buy_extension(clients: Clients, purchase: Purchase, *, at: datetime) -> Sequence[Receipt]:
    if purchase.leg.extends is None:
        raise BugError(f"{purchase.id} extends nothing")
    answer = spend(
        clients.spending("sagemaker", purchase.leg.account, purchase.leg.region),
        "extend_training_plan",
        after_doubt=purchase.state is PurchaseState.INDETERMINATE,
        TrainingPlanExtensionOfferingId=purchase.offering_ref,
    )
    rows = [
        row
        for row in bought(wire.PlanExtensions, answer).training_plan_extensions
        if row.training_plan_extension_offering_id == purchase.offering_ref
    ]
    receipts = _extension_receipts(purchase, rows, at=at)
    if not receipts:
        raise IndeterminateError("UnreadableAnswer", "the answer names no extension")
    return receipts


def _extension_receipts(
    purchase: Purchase, rows: Sequence[wire.PlanExtension], *, at: datetime
) -> tuple[Receipt, ...]:
    return tuple(
        receipt(
            purchase,
            receipt_id=f"{_held(purchase)}{EXTENSION_MARK}{purchase.offering_ref}",
            state=extension_state(row),
            at=at,
            segments=extension_window(row, zone=purchase.leg.zone),
        )
        for row in rows
    )


def extension_window(row: wire.PlanExtension, *, zone: str | None) -> tuple[Segment, ...]:
    """Return the time that the extension adds, empty while SageMaker does not say."""
    if row.start_date is None or row.end_date is None or row.end_date <= row.start_date:
        return ()
    return (Segment(start=row.start_date, end=row.end_date, zone=zone),)


def _held(purchase: Purchase) -> str:
    return (purchase.leg.extends or "").partition(EXTENSION_MARK)[0]
