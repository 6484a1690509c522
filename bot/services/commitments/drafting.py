"""What a proposal consists of: the legs to buy, and until when it makes sense. Pure."""

from datetime import datetime
from decimal import Decimal

from bot.domain.decision import Option
from bot.domain.errors import BugError
from bot.domain.market import Kind, Offering
from bot.domain.records import DecisionRecord, Leg, LegPurpose
from bot.domain.request import Request, Target
from bot.policy.configuration import Configuration

PREPAID = frozenset({Kind.CAPACITY_BLOCK, Kind.TRAINING_PLAN})


def legs_of(
    option: Option, record: DecisionRecord, configuration: Configuration
) -> tuple[Leg, ...]:
    """Return the purchases that the option stands for, in order; a join has several.

    The largest comes first: it is the hardest to get, and nothing is paid yet if it fails.
    Raises BugError when the market rows are not there or don't add up to the option's total.
    """
    if option.kind in PREPAID:
        rows = {row.ref: row for row in record.market.offerings if row.account == option.account}
        parts = [_known(rows, ref) for ref in option.refs]
        parts.sort(key=lambda row: row.instance_count, reverse=True)
        legs = tuple(
            _prepaid(number, row, record.request, configuration)
            for number, row in enumerate(parts, start=1)
        )
    else:
        legs = (_hourly(option, record.request, configuration),)
    total = sum((leg.fee for leg in legs), Decimal(0))
    if total != option.total_usd:
        raise BugError(f"legs cost {total} but the option says {option.total_usd}")
    return legs


def last_moment(option: Option, request: Request, configuration: Configuration) -> datetime | None:
    """Return until when agreeing makes sense; None when it always does.

    Prepaid capacity must be paid before it starts; hourly kinds need the last possible start, or
    enough time before the deadline.
    """
    if option.kind in PREPAID:
        return option.segments[0].start - configuration.decision.payment_margin
    limits = [request.latest_start] if request.latest_start is not None else []
    first, last = option.segments[0], option.segments[-1]
    if request.latest_end is not None:
        limits.append(request.latest_end - (last.end - first.start))
    if option.kind is Kind.OWNED:
        limits.append(last.end)
    return min(limits, default=None)


def target_of(request: Request, configuration: Configuration) -> Target:
    """Return where the capacity is to be used."""
    return request.target or configuration.default_target


def _known(rows: dict[str, Offering], ref: str) -> Offering:
    if ref not in rows:
        raise BugError(f"the option names {ref}, which its own market does not hold")
    return rows[ref]


def _prepaid(number: int, row: Offering, request: Request, configuration: Configuration) -> Leg:
    if row.upfront_fee is None or row.currency != "USD":
        raise BugError(f"{row.ref} is an option without a price in dollars")
    plan = row.kind is Kind.TRAINING_PLAN
    return Leg(
        number=number,
        purpose=LegPurpose.INITIAL,
        kind=row.kind,
        ref=row.ref,
        account=row.account,
        region=row.region,
        zone=row.zone,
        instance_type=row.instance_type,
        instance_count=row.instance_count,
        ultraserver_type=row.ultraserver_type,
        ultraserver_count=row.ultraserver_count,
        segments=row.segments,
        target=str(target_of(request, configuration)) if plan else None,
        platform=_platform(row.account, request, configuration),
        fee=row.upfront_fee,
    )


def _hourly(option: Option, request: Request, configuration: Configuration) -> Leg:
    managed = option.instance_type.startswith("ml.")
    return Leg(
        number=1,
        purpose=LegPurpose.INITIAL,
        kind=option.kind,
        ref=option.refs[0],
        account=option.account,
        region=option.region,
        zone=option.zone,
        instance_type=option.instance_type,
        instance_count=option.instance_count,
        segments=option.segments,
        target=str(target_of(request, configuration)) if managed else None,
        platform=_platform(option.account, request, configuration),
        fee=option.total_usd,
    )


def _platform(account: str, request: Request, configuration: Configuration) -> str:
    known = {entry.name: entry.platform for entry in configuration.accounts}
    return request.platform or known.get(account, "Linux/UNIX")
