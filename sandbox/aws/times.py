"""Times and amounts as AWS writes them: aware UTC, 11:30, whole cents."""

from datetime import UTC, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
BOUNDARY = time(11, 30)
"""Capacity Blocks and training plans end at 11:30 UTC (EC2 User Guide, Capacity Blocks)."""

LEAD = timedelta(minutes=30)
HORIZON = timedelta(days=56)
PAYMENT_LIMIT = timedelta(hours=12)
PAYMENT_BEFORE_START = timedelta(minutes=5)
CLOCK_TOLERANCE = timedelta(minutes=5)
"""A start "now" has already passed when the request arrives; that much is forgiven."""


def stamp(moment: datetime) -> str:
    """The moment as ISO 8601 UTC with `Z`."""
    text = moment.astimezone(UTC).isoformat()
    return text.replace("+00:00", "Z")


def boundary_after(moment: datetime) -> datetime:
    """The first 11:30 UTC at or after this moment."""
    today = datetime.combine(moment.date(), BOUNDARY, tzinfo=UTC)
    return today if today >= moment else today + DAY


def boundary_before(moment: datetime) -> datetime:
    """The last 11:30 UTC at or before this moment."""
    after = boundary_after(moment)
    return after if after == moment else after - DAY


def whole_minute(moment: datetime) -> datetime:
    """The moment, cut to its minute."""
    return moment.replace(second=0, microsecond=0)


def fee(rate: Decimal, count: int, length: timedelta) -> Decimal:
    """What `count` instances cost for this long, in whole cents."""
    hours = Decimal(int(length.total_seconds())) / 3600
    return (rate * count * hours).quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)


def hours_and_minutes(length: timedelta) -> tuple[int, int]:
    """The two duration fields: whole hours, and the minutes besides."""
    minutes = int(length.total_seconds()) // 60
    return minutes // 60, minutes % 60


def is_block_duration(hours: int) -> bool:
    """Whether a Capacity Block may last this long: 1-14 days, or weeks up to 182 days."""
    days, rest = divmod(hours, 24)
    return rest == 0 and (1 <= days <= 14 or (days <= 182 and days > 0 and days % 7 == 0))
