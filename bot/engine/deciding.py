"""The decision: every row judged, the options ranked and explained, the rest with its reason."""

from datetime import datetime
from decimal import localcontext

from bot.catalog import Catalog
from bot.domain.decision import Decision, Note, Option, Rejected
from bot.domain.market import Kind, Market, NotRead
from bot.domain.request import Request
from bot.domain.rules import Rules
from bot.domain.values import utc
from bot.engine.advised import advice
from bot.engine.candidates import Candidate
from bot.engine.costs import accelerator_rate, four_places, printed_hours
from bot.engine.digest import digest
from bot.engine.judging import Judged, judge
from bot.engine.near import Setting
from bot.engine.near import near_misses as nearest
from bot.engine.ranking import KINDS, Fitting
from bot.engine.reasons import best_of, reasons
from bot.engine.rejects import Case
from bot.engine.terms import terms_of
from bot.engine.warned import Warnings

_PRECISION = 50
"""Digits of intermediate quotients, so that only the last rounding of an amount is one."""


def decide(
    request: Request,
    market: Market,
    rules: Rules,
    *,
    now: datetime,
    zone: str,
    catalog: Catalog,
    requester: str | None = None,
    prefers: str | None = None,
) -> Decision:
    """Return what to do about the request in this market at `now`.

    `zone` is the person's IANA zone (it says where a named day ends). `requester` is the Slack
    user who asks, None on the command line. `prefers` is the account that wins among options that
    tie in all but place: the one that the asking team uses. Pure and ordered: the same inputs, in
    any row order, give the same bytes.
    """
    with localcontext(prec=_PRECISION):
        setting = _setting(
            request,
            market,
            rules,
            now=now,
            zone=zone,
            catalog=catalog,
            requester=requester,
            prefers=prefers,
        )
        judged = judge(market, setting.terms)
        best = best_of(judged.options)
        said = Warnings(judged.terms, judged.quotas)
        options = tuple(
            _option(rank, option, judged, reasons(option, best), said.of(option))
            for rank, option in enumerate(judged.options, start=1)
            if best is not None
        )
        return Decision(
            recommended=1 if options else None,
            options=options,
            rejected=tuple(_rejected(case, reason) for case, reason in _in_order(judged)),
            not_read=tuple(sorted(market.not_read, key=_not_read_order)),
            advice=advice(setting, judged),
            digest=digest(request, market, rules, now=now, zone=zone),
        )


def near_misses(
    request: Request,
    market: Market,
    rules: Rules,
    *,
    now: datetime,
    zone: str,
    catalog: Catalog,
) -> tuple[Note, ...]:
    """Return the nearest requests that this market can answer, each with a line to send."""
    with localcontext(prec=_PRECISION):
        setting = _setting(
            request, market, rules, now=now, zone=zone, catalog=catalog, requester=None
        )
        return nearest(setting, judge(market, setting.terms))


def _setting(
    request: Request,
    market: Market,
    rules: Rules,
    *,
    now: datetime,
    zone: str,
    catalog: Catalog,
    requester: str | None,
    prefers: str | None = None,
) -> Setting:
    terms = terms_of(
        request,
        rules,
        now=utc(now),
        zone=zone,
        catalog=catalog,
        requester=requester,
        prefers=prefers,
    )
    return Setting(market=market, terms=terms, zone=zone)


def _option(
    rank: int,
    option: Fitting,
    judged: Judged,
    reasons: tuple[Note, ...],
    warnings: tuple[Note, ...],
) -> Option:
    row, stay = option.candidate, option.stay
    versus = None if option.versus is None else four_places(option.versus)
    return Option(
        rank=rank,
        kind=row.kind,
        refs=row.refs,
        account=row.account,
        region=row.region,
        zone=row.zone,
        instance_type=row.instance_type,
        instance_count=row.machines,
        segments=row.segments,
        usable_end=stay.usable_end,
        usable_hours=printed_hours(stay.usable),
        total_usd=option.total,
        usd_per_instance_hour=four_places(option.rate),
        usd_per_accelerator_hour=four_places(accelerator_rate(row, option.rate, judged.terms)),
        versus_on_demand=versus,
        break_even_utilization=versus if row.prepaid else None,
        certainty=option.certainty,
        cancellable=_cancellable(row),
        paid="already" if row.kind is Kind.OWNED else "upfront" if row.prepaid else "hourly",
        reasons=reasons,
        warnings=warnings,
    )


def _cancellable(row: Candidate) -> bool:
    """Return whether it can be given back; what an owned row was bought as decides for it."""
    return row.origin not in (Kind.CAPACITY_BLOCK, Kind.TRAINING_PLAN)


def _rejected(case: Case, reason: Note) -> Rejected:
    row = case.candidate
    return Rejected(
        kind=row.kind,
        refs=row.refs,
        region=row.region,
        instance_type=row.instance_type,
        reason=reason,
    )


def _in_order(judged: Judged) -> list[tuple[Case, Note]]:
    return sorted(judged.rejected, key=_rejected_order)


def _rejected_order(entry: tuple[Case, Note]) -> tuple[object, ...]:
    row, reason = entry[0].candidate, entry[1]
    return (
        KINDS.index(row.kind),
        row.region,
        row.instance_type,
        row.refs,
        row.account,
        reason.code,
        reason.text,
    )


def _not_read_order(missing: NotRead) -> tuple[str, ...]:
    return (
        missing.account,
        missing.region,
        missing.market,
        missing.why,
        missing.detail or "",
    )
