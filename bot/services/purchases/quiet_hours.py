"""When a region is likely to have machines free: its nights and weekends. Pure.

AWS names no such hours; that on-demand capacity returns when working days end is experience, so
that these times only choose when to ask again and never decide what may be spent.
"""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

NIGHT_FROM = 20
NIGHT_UNTIL = 7
SATURDAY = 5
PAUSE = timedelta(minutes=50)
"""With whole hours: about one round of attempts an hour."""

_ZONES = (
    ("us-west", "America/Los_Angeles"),
    ("us-", "America/New_York"),
    ("ca-", "America/Toronto"),
    ("mx-", "America/Mexico_City"),
    ("sa-", "America/Sao_Paulo"),
    ("eu-west-2", "Europe/London"),
    ("eu-west-1", "Europe/Dublin"),
    ("eu-north", "Europe/Stockholm"),
    ("eu-", "Europe/Berlin"),
    ("af-", "Africa/Johannesburg"),
    ("il-", "Asia/Jerusalem"),
    ("me-", "Asia/Dubai"),
    ("ap-south-", "Asia/Kolkata"),
    ("ap-northeast", "Asia/Tokyo"),
    ("ap-southeast-2", "Australia/Sydney"),
    ("ap-southeast-4", "Australia/Melbourne"),
    ("ap-southeast-3", "Asia/Jakarta"),
    ("ap-", "Asia/Singapore"),
)
"""Where most people of a region's name live and work, by the first prefix that fits."""


def is_quiet(region: str, moment: datetime) -> bool:
    """Return whether it is night or weekend around the region."""
    local = moment.astimezone(ZoneInfo(_zone(region)))
    return local.weekday() >= SATURDAY or not NIGHT_UNTIL <= local.hour < NIGHT_FROM


def next_quiet(region: str, after: datetime) -> datetime:
    """Return the next whole quiet hour (UTC), a while after the moment."""
    moment = (after + PAUSE).replace(minute=0, second=0, microsecond=0)
    while moment < after + PAUSE or not is_quiet(region, moment):
        moment += timedelta(hours=1)
    return moment


def _zone(region: str) -> str:
    return next((zone for prefix, zone in _ZONES if region.startswith(prefix)), "UTC")
