"""Training plans on sale: SageMaker SearchTrainingPlanOfferings. At most three come back."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from bot.aws import wire
from bot.aws.calls import read, understood
from bot.aws.clients import Clients
from bot.aws.errors import not_sold_here
from bot.aws.rate import Shared, Tokens
from bot.aws.zones import ZoneFacts, Zones, facts_of
from bot.domain.errors import MarketError
from bot.domain.market import Kind, Offering, Segment
from bot.domain.records import Leg, LegPurpose
from bot.engine.asking import Search
from bot.ports import Clock

_KEEP: Final = timedelta(seconds=60)
_MOMENT: Final = timedelta(minutes=1)
_HOUR: Final = timedelta(hours=1)


class TrainingPlans:
    """Reads offerings of training plans; each is for one kind of target, for life."""

    def __init__(self, clients: Clients, *, clock: Clock, tokens: Tokens, zones: Zones) -> None:
        self._clients = clients
        self._clock = clock
        self._tokens = tokens
        self._zones = zones
        self._kept: Shared[tuple[Offering, ...]] = Shared(clock=clock, keep=_KEEP)

    def search(
        self, search: Search, *, account: str, region: str, patience_seconds: float
    ) -> tuple[Offering, ...]:
        """Return what SageMaker offers for one search. Raises MarketError.

        A quota of zero stops the search itself (ResourceLimitExceeded): why "quota".
        """
        try:
            return self._kept.get(
                (account, region, search),
                lambda: self._ask(search, account, region, patience_seconds, spare=False),
            )
        except MarketError as error:
            if not_sold_here(error):
                return ()
            raise

    def requote(self, leg: Leg) -> tuple[Offering, ...]:
        """Return what is sold now for the leg; see bot.ports."""
        if leg.purpose is LegPurpose.EXTENSION:
            return self._extensions(leg)
        reserved = sum((part.end - part.start for part in leg.segments), timedelta(0))
        search = Search(
            instance_type=leg.ultraserver_type or leg.instance_type,
            count=leg.ultraserver_count or leg.instance_count,
            hours=max(-(-reserved // (24 * _HOUR)), 1) * 24,
            start_after=leg.segments[0].start,
            end_before=leg.segments[-1].end + _MOMENT,
            ultraserver=leg.ultraserver_type is not None,
            target=leg.target,
        )
        found = self._ask(search, leg.account, leg.region, 5.0, spare=True)
        return tuple(o for o in found if o.instance_count == leg.instance_count)

    def _ask(
        self, search: Search, account: str, region: str, patience_seconds: float, *, spare: bool
    ) -> tuple[Offering, ...]:
        if not self._tokens.take(
            ("plans", account, region), patience_seconds=patience_seconds, spare=spare
        ):
            raise MarketError("throttled", "our own share of the calls is used up")
        what: dict[str, object] = (
            {"UltraServerType": _ml(search.instance_type), "UltraServerCount": search.count}
            if search.ultraserver
            else {"InstanceType": _ml(search.instance_type), "InstanceCount": search.count}
        )
        # "Start after" must lie in the future, and a plan that starts at that very moment counts.
        after = max(search.start_after - _MOMENT, self._clock.now() + _MOMENT)
        answer = read(
            self._clients.reading("sagemaker", account, region),
            "search_training_plan_offerings",
            DurationHours=search.hours,
            StartTimeAfter=after,
            EndTimeBefore=search.end_before,
            TargetResources=[search.target or "training-job"],
            **what,
        )
        rows = understood(wire.PlanOfferings, answer).training_plan_offerings
        zones = self._zones.known(account, region)
        return tuple(_offerings(rows, search, account=account, region=region, zones=zones))

    def _extensions(self, leg: Leg) -> tuple[Offering, ...]:
        if leg.extends is None:
            return ()
        hours = -(-(leg.segments[-1].end - leg.segments[0].start) // _HOUR)
        answer = read(
            self._clients.reading("sagemaker", leg.account, leg.region),
            "search_training_plan_offerings",
            TrainingPlanArn=leg.extends.partition("#")[0],
            DurationHours=max(-(-hours // 24), 1) * 24,
        )
        rows = understood(wire.PlanOfferings, answer).training_plan_extension_offerings
        zones = self._zones.known(leg.account, leg.region)
        return tuple(offering for row in rows for offering in _extension(row, leg, zones))


def _ml(name: str) -> str:
    return name if name.startswith("ml.") else f"ml.{name}"


def _offerings(
    rows: Iterable[wire.PlanOffering],
    search: Search,
    *,
    account: str,
    region: str,
    zones: dict[str, ZoneFacts],
) -> Iterable[Offering]:
    for row in rows:
        parts = row.reserved_capacity_offerings
        segments = [
            Segment(start=part.start_time, end=part.end_time, zone=part.availability_zone)
            for part in parts
            if part.start_time is not None
            and part.end_time is not None
            and part.start_time < part.end_time
        ]
        if row.training_plan_offering_id is None or not parts or len(segments) != len(parts):
            continue
        first = parts[0]
        known = facts_of(zones, first.availability_zone)
        yield Offering(
            ref=row.training_plan_offering_id,
            kind=Kind.TRAINING_PLAN,
            account=account,
            region=region,
            zone=first.availability_zone,
            zone_id=known.id or first.availability_zone_id,
            zone_type=known.type,
            opted_in=True,
            instance_type=first.instance_type or _ml(search.instance_type),
            instance_count=min(part.instance_count or 0 for part in parts),
            ultraserver_type=(first.ultra_server_type or "").removeprefix("ml.") or None,
            ultraserver_count=first.ultra_server_count,
            target_resources=row.target_resources,
            segments=tuple(sorted(segments, key=lambda part: part.start)),
            upfront_fee=row.upfront_fee,
            currency=row.currency_code,
        )


def _extension(
    row: wire.PlanExtensionOffering, leg: Leg, zones: dict[str, ZoneFacts]
) -> list[Offering]:
    if row.training_plan_extension_offering_id is None or not (row.start_date and row.end_date):
        return []
    known = facts_of(zones, row.availability_zone)
    return [
        Offering(
            ref=row.training_plan_extension_offering_id,
            kind=Kind.TRAINING_PLAN,
            account=leg.account,
            region=leg.region,
            zone=row.availability_zone,
            zone_id=known.id,
            zone_type=known.type,
            opted_in=True,
            instance_type=leg.instance_type,
            instance_count=leg.instance_count,
            ultraserver_type=leg.ultraserver_type,
            ultraserver_count=leg.ultraserver_count,
            target_resources=(leg.target,) if leg.target else (),
            segments=(Segment(start=row.start_date, end=row.end_date, zone=row.availability_zone),),
            upfront_fee=row.upfront_fee,
            currency=row.currency_code,
        )
    ]
