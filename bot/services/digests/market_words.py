"""What is on sale of one type: each kind's price and supply, with source and age. Pure."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from itertools import groupby

from bot.catalog import Catalog
from bot.domain.market import HourlyRate, Kind, Market, NotRead, Offering, Owned
from bot.domain.saying import Code, Moment, Section, Sentence, Strong
from bot.domain.values import dollars, exact_dollars, how_many, plain_text

MOST_PLACES = 3
MOST_PRICES = 3
MOST_HELD = 4
MOST_UNREAD = 6
DAY_HOURS = 24
HOURLY = {
    Kind.ON_DEMAND: "On-Demand",
    Kind.SPOT: "Spot",
    Kind.ODCR: "Capacity reservation (ODCR)",
}
PREPAID = {Kind.CAPACITY_BLOCK: "Capacity Block", Kind.TRAINING_PLAN: "SageMaker training plan"}


def market_section(name: str, market: Market, catalog: Catalog, *, hours: int) -> Section:
    """Return what the market says of one machine of a type; prepaid offers are for `hours`.

    What could not be read is said; it is never told as nothing on sale.
    """
    known = catalog.types.get(name)
    carries = f": {plain_text(known.accelerators)} x {known.accelerator}" if known else ""
    hourly = [row for row in market.hourly if _is(row.instance_type, name)]
    offers = [
        row
        for row in market.offerings
        if _is(row.instance_type, name) or row.ultraserver_type == name
    ]
    owned = [row for row in market.owned if _is(row.instance_type, name)]
    sentences: list[Sentence] = []
    for kind in HOURLY:
        sentences += _rates(kind, [row for row in hourly if row.kind is kind])
    for kind in PREPAID:
        sentences += _offers(
            kind, [row for row in offers if row.kind is kind], hours=hours, as_of=market.as_of
        )
    sentences += _owned(owned, market.as_of)
    if not sentences:
        sentences.append(("No price and no offer was shown.",))
    sentences += _unread(market.not_read)
    what = f"{hours // DAY_HOURS}d"
    sentences.append(("Decide on it: ", Code(text=f"/gpu plan 1 {name} for {what}"), "."))
    return Section(title=f"{name}{carries}", sentences=tuple(sentences))


def _is(instance_type: str, name: str) -> bool:
    return instance_type.removeprefix("ml.") == name


def _rates(kind: Kind, rows: Sequence[HourlyRate]) -> Iterable[Sentence]:
    """Yield the lowest prices of a kind with their sources and the age of the oldest."""
    priced = [(row.usd_per_hour, row) for row in rows if row.usd_per_hour is not None]
    priced.sort(key=lambda pair: (pair[0], pair[1].region, pair[1].zone or "", pair[1].account))
    if not priced:
        if rows:
            yield (Strong(text=HOURLY[kind]), ": no price is known.")
        return
    prices = [
        _price(price, [row for _, row in same])
        for price, same in groupby(priced, key=lambda pair: pair[0])
    ]
    more = (
        f"; {how_many(len(prices) - MOST_PRICES, 'dearer price')}"
        if len(prices) > MOST_PRICES
        else ""
    )
    oldest = min(row.as_of for _, row in priced)
    sources = " and ".join(sorted({row.source for _, row in priced}))
    yield (
        Strong(text=HOURLY[kind]),
        f": {'; '.join(prices[:MOST_PRICES])}{more}. By {sources}, read ",
        Moment(at=oldest),
        ".",
    )


def _price(price: Decimal, rows: Sequence[HourlyRate]) -> str:
    """Return a price and the places that have it, with what is known of their odds."""
    places = [_place(row) for row in rows]
    more = f" and {len(places) - MOST_PLACES} more" if len(places) > MOST_PLACES else ""
    return f"{exact_dollars(price)} an hour in {', '.join(places[:MOST_PLACES])}{more}"


def _place(row: HourlyRate) -> str:
    known = [
        *([f"score {row.placement_score} of 10"] if row.placement_score is not None else []),
        *(["refused lately"] if row.last_refused_at is not None else []),
    ]
    odds = f" ({', '.join(known)})" if known else ""
    return f"{row.zone or row.region}{odds}"


def _offers(
    kind: Kind, rows: Sequence[Offering], *, hours: int, as_of: datetime
) -> Iterable[Sentence]:
    """Yield the cheapest offer and the soonest, when that is another one."""
    priced = [
        (row.upfront_fee, row)
        for row in rows
        if row.upfront_fee is not None and row.currency == "USD" and _is_offer(row)
    ]
    if not priced:
        return
    cheapest = min(priced, key=lambda pair: (pair[0], pair[1].segments[0].start, pair[1].ref))
    soonest = min(priced, key=lambda pair: (pair[1].segments[0].start, pair[0], pair[1].ref))
    yield (
        Strong(text=PREPAID[kind]),
        f": {len(priced)} on sale for about {hours} h; the cheapest {_fee(*cheapest)} from ",
        Moment(at=cheapest[1].segments[0].start),
        ". By AWS's offers, read ",
        Moment(at=as_of),
        ".",
    )
    if soonest[1].ref != cheapest[1].ref:
        yield (
            f"The soonest {_fee(*soonest)} from ",
            Moment(at=soonest[1].segments[0].start),
            ".",
        )


def _is_offer(row: Offering) -> bool:
    """Return whether there is something to have: no machines, no time, no price is a misreading."""
    price = row.upfront_fee or 0
    return price > 0 and row.instance_count > 0 and _seconds(row) > 0


def _seconds(row: Offering) -> int:
    return sum(int((part.end - part.start).total_seconds()) for part in row.segments)


def _fee(fee: Decimal, row: Offering) -> str:
    rate = fee * 3600 / (_seconds(row) * row.instance_count)
    target = f" for {row.target_resources[0]}" if row.target_resources else ""
    several = f", {row.instance_count} machines" if row.instance_count > 1 else ""
    return (
        f"costs {exact_dollars(fee)} ({dollars(rate)} a machine-hour{several}){target}"
        f" in {row.zone or row.region}, {row.account},"
    )


def _owned(rows: Sequence[Owned], as_of: datetime) -> Iterable[Sentence]:
    free = [row for row in rows if row.available_count > 0]
    for row in free[:MOST_HELD]:
        until: Sentence = (" until ", Moment(at=row.end)) if row.end is not None else ()
        yield (
            Strong(text="Owned and free"),
            f": {row.available_count} of {row.total_count} in {row.zone or row.region}, ",
            Code(text=row.ref),
            *until,
            ". By AWS's books, read ",
            Moment(at=as_of),
            ".",
        )
    if len(free) > MOST_HELD:
        rest = how_many(len(free) - MOST_HELD, "more reservation has", "more reservations have")
        yield (f"{rest} free machines.",)


def _unread(rows: Sequence[NotRead]) -> Iterable[Sentence]:
    if not rows:
        return
    named = "; ".join(
        f"{row.market} in {row.region}, {row.account} ({row.why})" for row in rows[:MOST_UNREAD]
    )
    more = f" and {len(rows) - MOST_UNREAD} more" if len(rows) > MOST_UNREAD else ""
    yield (
        Strong(text="Not read"),
        f": {named}{more}. That is not the same as nothing on sale.",
    )
