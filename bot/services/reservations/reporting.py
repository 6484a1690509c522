"""The report at the end: what was paid, what was used, and what would have been cheaper."""

from collections.abc import Iterable, Sequence
from decimal import ROUND_HALF_UP, Decimal

from bot.domain.base import Model
from bot.domain.decision import Decision, Option
from bot.domain.lifecycle import PurchaseState
from bot.domain.market import Kind, Market
from bot.domain.records import Purchase, Receipt, Reservation
from bot.domain.saying import Sentence, Strong
from bot.domain.values import dollars, rate_text
from bot.ports import Transaction
from bot.services.reservations.extensions import children_of
from bot.services.reservations.looking import FAILED_WORDS
from bot.services.reservations.using import COUNTED, hours, percent, usable_machine_hours, use_of

_TENTH = Decimal("0.1")


class Report(Model):
    """The figures of one reservation that has ended, in machine-hours and dollars.

    `held` is what could be used at most; `used`, `lost` (ill machines) and `unseen` (nobody
    looked) are parts of it; a machine whose GPUs did next to nothing is not `used`. `measured` is
    for how long GPUs were reported, `gpu_share` their average then. `on_demand` is the rate of one
    machine when it was decided.
    """

    paid: Decimal
    held: Decimal
    used: Decimal
    lost: Decimal
    unseen: Decimal
    measured: Decimal
    gpu_share: Decimal | None
    accelerators: int | None
    on_demand: Decimal | None
    cheapest: Option | None
    cheapest_usd: Decimal | None


def report(tx: Transaction, reservation: Reservation) -> Report | None:
    """Return the figures; None when nothing was bought that shows how much of it is used."""
    receipts = [
        one
        for one in tx.receipts.of(reservation.id)
        if one.kind in COUNTED and one.state not in FAILED_WORDS
    ]
    paid = _paid(tx, reservation.id)
    if not receipts or not paid:
        return None
    seen = [use for use in (use_of(tx, one.id) for one in receipts) if use is not None]
    used = hours(sum(use.used for use in seen))
    measured, worked = sum(use.measured for use in seen), sum(use.worked for use in seen)
    record = tx.decisions.latest(reservation.id)
    cheapest = _cheapest(record.decision, used) if record is not None else None
    return Report(
        paid=sum((one.fee for one in paid), Decimal(0)),
        held=sum((usable_machine_hours(one) for one in receipts), Decimal(0)),
        used=used,
        lost=hours(sum(use.lost for use in seen)),
        unseen=hours(sum(use.unseen for use in seen)),
        measured=hours(measured),
        gpu_share=Decimal(worked) / 1000 / measured if measured else None,
        accelerators=_accelerators(reservation.option),
        on_demand=_on_demand(record.market, receipts) if record is not None else None,
        cheapest=cheapest[1] if cheapest is not None else None,
        cheapest_usd=cheapest[0] if cheapest is not None else None,
    )


def report_words(tx: Transaction, reservation: Reservation) -> tuple[Sentence, ...]:
    """Return the report as sentences; empty when there is nothing to report."""
    figures = report(tx, reservation)
    if figures is None or not figures.held:
        return ()
    return tuple(_sentences(figures, reservation))


def _sentences(figures: Report, reservation: Reservation) -> Iterable[Sentence]:
    share = (figures.used / figures.held * 100).quantize(Decimal(1), rounding=ROUND_HALF_UP)
    yield (
        "Report: ",
        Strong(text=f"{dollars(figures.paid)} paid"),
        (
            f", {share} % used: {_tenth(figures.used)} of {_tenth(figures.held)} machine-hours,"
            " by the counts seen while it ran."
        ),
    )
    if figures.gpu_share is not None:
        yield (
            (
                f"CloudWatch had the GPUs for {_tenth(figures.measured)} machine-hours:"
                f" {percent(figures.gpu_share)} busy on average. Machines whose GPUs stayed idle"
                " count as not used."
            ),
        )
    if figures.lost:
        yield (f"{_tenth(figures.lost)} machine-hours were lost to machines that were ill.",)
    if figures.unseen:
        yield (f"{_tenth(figures.unseen)} machine-hours nobody could see; they count as not used.",)
    if figures.used and figures.accelerators:
        rate = figures.paid / figures.used / figures.accelerators
        yield (f"That is {dollars(rate)} for each GPU-hour in use, idle time paid for included.",)
    if figures.on_demand is not None:
        held, used = figures.on_demand * figures.held, figures.on_demand * figures.used
        yield (
            (
                f"On-Demand at ${rate_text(figures.on_demand)} a machine-hour, its price when"
                f" this was decided, would have cost {dollars(held)} for the same hours held,"
                f" {dollars(used)} for only the hours used, had there been any."
            ),
        )
    if figures.cheapest is not None and figures.cheapest_usd is not None:
        yield _hindsight(figures.cheapest, figures.cheapest_usd, figures.paid, reservation)


def _hindsight(option: Option, cost: Decimal, paid: Decimal, reservation: Reservation) -> Sentence:
    taken = reservation.option
    if (taken is not None and taken.refs == option.refs) or cost >= paid:
        return ("In hindsight nothing that was on offer would have been cheaper.",)
    kind = option.kind.replace("_", " ")
    return (
        (
            f"In hindsight the cheapest on offer was {kind} in {option.zone or option.region}:"
            f" {dollars(cost)} for what was used."
        ),
    )


def _tenth(machine_hours: Decimal) -> str:
    return f"{machine_hours.quantize(_TENTH, rounding=ROUND_HALF_UP):,f}"


def _paid(tx: Transaction, reservation_id: int) -> Sequence[Purchase]:
    ids = (reservation_id, *children_of(tx, reservation_id))
    failed = {
        receipt.purchase_id
        for one in ids
        for receipt in tx.receipts.of(one)
        if "failed" in receipt.state
    }
    return [
        row
        for one in ids
        for row in tx.purchases.of(one)
        if row.state is PurchaseState.CONFIRMED and row.id not in failed
    ]


def _accelerators(option: Option | None) -> int | None:
    """Return how many accelerators one machine has, by the option's own two rates."""
    if option is None or not option.usd_per_accelerator_hour:
        return None
    ratio = option.usd_per_instance_hour / option.usd_per_accelerator_hour
    return int(ratio.quantize(Decimal(1), rounding=ROUND_HALF_UP)) or None


def _on_demand(market: Market, receipts: Sequence[Receipt]) -> Decimal | None:
    places = {(one.region, one.instance_type) for one in receipts}
    rates = [
        row.usd_per_hour
        for row in market.hourly
        if row.kind is Kind.ON_DEMAND
        and row.usd_per_hour is not None
        and (row.region, row.instance_type) in places
    ]
    return min(rates, default=None)


def _cheapest(decision: Decision, used: Decimal) -> tuple[Decimal, Option] | None:
    """Return what the use would have cost at least: a whole fee up front, or the hours used."""
    costs = [
        (
            option.usd_per_instance_hour * used if option.paid == "hourly" else option.total_usd,
            option.rank,
            option,
        )
        for option in decision.options
        if option.kind is not Kind.OWNED
    ]
    if not costs:
        return None
    cost, _, option = min(costs, key=lambda row: row[:2])
    return cost, option
