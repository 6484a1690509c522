"""What one request asks for, in the terms that the rules compare: counts, hours, limits."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from decimal import ROUND_CEILING, ROUND_HALF_UP, Decimal
from fractions import Fraction

from bot.catalog import Catalog
from bot.domain.request import Request, Target
from bot.domain.rules import Rules
from bot.domain.values import rate_text
from bot.engine.words import MICROSECOND, zone_of

BOOKING_HORIZON = timedelta(days=56)
"""How far ahead AWS sells prepaid capacity (EC2 User Guide, Capacity Blocks: eight weeks)."""
SHORTEST_STAY = timedelta(hours=1)
"""Asked hours when a request names none (a watch on a type): any offering is long enough."""
_LONGEST_HOURS = 10 * 366 * 24
"""Ten years: longer than anything on sale, and every end is still a date that exists."""
_DAY = timedelta(days=1)
_NEVER_MIDNIGHT = time(11, 30)
"""When blocks begin, UTC: no zone on Earth has its midnight then, so it ends nobody's day."""
_WHOLE_LOCAL_DAYS = tuple(timedelta(hours=count) for count in (23, 24, 25))


def bare(instance_type: str) -> str:
    """Return the type without SageMaker's prefix."""
    return instance_type.removeprefix("ml.")


@dataclass(frozen=True, slots=True)
class Terms:
    """The request with the rules, the clock and the catalog, ready to compare.

    `counts` maps each type asked for (without "ml.") to the machines asked of it. When
    `ultraserver` is set, that type is counted in whole UltraServers. `certain` says whether a
    latest start or end makes certainty required. `needed` is the least
    time that is enough, `asked` the time that was said. `prefers` is the account that wins a tie.
    """

    request: Request
    rules: Rules
    catalog: Catalog
    now: datetime
    requester: str | None
    target: Target
    counts: Mapping[str, int]
    ultraserver: str | None
    asked: timedelta
    needed: timedelta
    by_reserved_hours: bool
    utilization: Fraction
    start_ends_a_day: bool
    certain: bool
    prefers: str | None = None

    @property
    def sagemaker(self) -> bool:
        """Whether the request belongs to SageMaker's branch."""
        return self.target is not Target.EC2

    @property
    def several_types(self) -> bool:
        """Whether only an accelerator was named, so that types compete."""
        return self.request.instance_type is None and self.request.accelerator is not None

    @property
    def beyond_horizon(self) -> bool:
        """Whether the stated start is further ahead than AWS sells."""
        start = self.request.earliest_start
        return start is not None and start > self.now + BOOKING_HORIZON

    def least(self, asked: int) -> int:
        """Return how many machines are enough when `asked` were asked for."""
        minimum = self.request.minimum_count
        return asked if minimum is None else min(minimum, asked)


def terms_of(
    request: Request,
    rules: Rules,
    *,
    now: datetime,
    zone: str,
    catalog: Catalog,
    requester: str | None,
    prefers: str | None = None,
) -> Terms:
    """Return the comparable terms of a request at `now`; `zone` is the person's IANA zone."""
    asked = _asked(request)
    by_reserved = asked % _DAY == timedelta() and not request.strict
    return Terms(
        request=request,
        rules=rules,
        catalog=catalog,
        now=now,
        requester=requester,
        prefers=prefers,
        target=request.target or rules.default_target,
        counts=_counts(request, catalog),
        ultraserver=_ultraserver(request),
        asked=asked,
        needed=asked - _slack(asked, rules) if by_reserved else asked,
        by_reserved_hours=by_reserved,
        utilization=_utilization(request.utilization),
        start_ends_a_day=_ends_a_day(request, zone),
        certain=request.latest_start is not None or request.latest_end is not None,
    )


def _asked(request: Request) -> timedelta:
    if request.duration_hours is None or request.duration_hours <= 0:
        return SHORTEST_STAY
    if request.duration_hours > _LONGEST_HOURS:
        return timedelta(hours=_LONGEST_HOURS)
    # Whole seconds: an hour's third is printed as 0.3333, and must read back as 20 minutes.
    seconds = (request.duration_hours * 3600).quantize(Decimal(1), rounding=ROUND_HALF_UP)
    return timedelta(seconds=int(seconds))


def _slack(asked: timedelta, rules: Rules) -> timedelta:
    share = Decimal(asked // MICROSECOND) * rules.short_tolerance
    return min(timedelta(microseconds=int(share)), rules.short_limit)


def _counts(request: Request, catalog: Catalog) -> dict[str, int]:
    if request.ultraserver_type is not None and request.instance_type is None:
        return {bare(request.ultraserver_type): request.instance_count or 1}
    if request.instance_type is not None:
        name = bare(request.instance_type)
        return {name: request.instance_count or _holding(request, name, catalog)}
    if request.accelerator is None:
        return {}
    return {
        kind.name: _machines(request.accelerator_count or 1, kind.accelerators)
        for kind in catalog.carrying(request.accelerator)
    }


def _holding(request: Request, name: str, catalog: Catalog) -> int:
    kind = catalog.types.get(name)
    if kind is None or request.accelerator_count is None:
        return 1
    return _machines(request.accelerator_count, kind.accelerators)


def _machines(accelerators: int, each: Decimal) -> int:
    return int((accelerators / each).to_integral_value(rounding=ROUND_CEILING))


def _ultraserver(request: Request) -> str | None:
    if request.ultraserver_type is not None:
        inner = request.instance_type
        if inner is None or bare(inner) == bare(request.ultraserver_type):
            return bare(request.ultraserver_type)
        return None
    if request.instance_type is not None and bare(request.instance_type).startswith("u-"):
        return bare(request.instance_type)
    return None


def _utilization(share: Decimal | None) -> Fraction:
    """Return the exact share: 0.3333 is what eight hours a day print as, so it is a third."""
    if share is None:
        return Fraction(1)
    printed = rate_text(share)
    for hours_a_day in range(1, 24):
        exact = Fraction(hours_a_day, 24)
        if printed == rate_text(Decimal(exact.numerator) / exact.denominator):
            return exact
    return Fraction(share)


def _ends_a_day(request: Request, zone: str) -> bool:
    """Return whether the latest start is only the end of a named day, so not itself a start.

    It is when it is a day's first minute in the person's zone, or a whole local day after
    the earliest start (a day in a zone that the text named), or stands alone ("today").
    """
    earliest, latest = request.earliest_start, request.latest_start
    if latest is None or latest == earliest or latest.time() == _NEVER_MIDNIGHT:
        return False
    if earliest is None or latest - earliest in _WHOLE_LOCAL_DAYS:
        return True
    local = zone_of(zone)
    return (latest - MICROSECOND).astimezone(local).date() != latest.astimezone(local).date()
