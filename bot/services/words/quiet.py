"""Night in somebody's own zone: what can wait is said in the morning. Pure."""

from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

NIGHT_FROM = time(22)
NIGHT_TO = time(7)


def said_at(moment: datetime, zone: str) -> datetime:
    """Return the moment itself by day, the next seven in the morning by night.

    A zone that nobody knows is taken for UTC. The clock on the wall decides, so that a night
    with a clock change is as long as it is.
    """
    try:
        place = ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError):
        place = ZoneInfo("UTC")
    local = moment.astimezone(place)
    if NIGHT_TO <= local.time() < NIGHT_FROM:
        return moment
    day = local.date() if local.time() < NIGHT_TO else local.date() + timedelta(days=1)
    return datetime.combine(day, NIGHT_TO, tzinfo=place).astimezone(moment.tzinfo)


def is_quiet(moment: datetime, zone: str) -> bool:
    """Return whether it is night there."""
    return said_at(moment, zone) != moment
