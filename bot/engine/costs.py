"""What an option costs, at which rates, and against which on-demand price.

Amounts are exact fractions until they are said: a quotient that is cut before it is compared
or rounded again can fall on the wrong side of a cap, or of a half.
"""

from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from bot.domain.market import Kind, Market
from bot.engine.candidates import Candidate
from bot.engine.terms import Terms, bare
from bot.engine.windows import Stay
from bot.engine.words import MICROSECOND, MICROSECONDS_AN_HOUR, exact_hours


class OnDemandRates:
    """The market's on-demand price of each account, region and type."""

    def __init__(self, market: Market) -> None:
        self._rates: dict[tuple[str, str, str], Decimal] = {}
        for row in market.hourly:
            if row.kind is Kind.ON_DEMAND and row.usd_per_hour is not None and row.usd_per_hour > 0:
                key = (row.account, row.region, row.instance_type)
                self._rates[key] = min(row.usd_per_hour, self._rates.get(key, row.usd_per_hour))

    def of(self, candidate: Candidate) -> Decimal | None:
        """Return dollars an instance-hour, None when this market shows no such price."""
        return self._rates.get((candidate.account, candidate.region, candidate.instance_type))


def four_places(ratio: Fraction) -> Decimal:
    """Return the rate or ratio as it is printed: half up to four decimals."""
    return half_up(ratio, 4)


@lru_cache(maxsize=1024)
def printed_hours(length: timedelta) -> Decimal:
    """Return the length in hours as it is printed; a market repeats few lengths."""
    return four_places(exact_hours(length))


def half_up(number: Fraction, places: int) -> Decimal:
    """Return the exact number rounded half up, once, to that many decimals."""
    twice = 2 * number.denominator
    units = (2 * number.numerator * 10**places + number.denominator) // twice
    return Decimal(units).scaleb(-places)


@lru_cache(maxsize=8192)
def exact(amount: Decimal | None) -> Fraction:
    """Return the amount as a fraction, nothing when there is none; a market repeats its fees."""
    return Fraction(amount or 0)


def exact_total(candidate: Candidate, stay: Stay, terms: Terms) -> Fraction:
    """Return the unrounded dollars paid when the option is taken and used as asked.

    Prepaid: the fee. On-demand and spot: the asked hours times the share of running time.
    ODCR: from now, since it bills while held, to the end of its use. Owned: nothing.
    """
    price = exact(candidate.price)
    match candidate.kind:
        case Kind.OWNED:
            return Fraction(0)
        case Kind.CAPACITY_BLOCK | Kind.TRAINING_PLAN:
            return price
        case Kind.ODCR:
            return price * candidate.machines * exact_hours(stay.use_end - terms.now)
        case _:
            return price * candidate.machines * exact_hours(terms.asked) * terms.utilization


def total(candidate: Candidate, stay: Stay, terms: Terms) -> Decimal:
    """Return the total as it is said: a fee as given, hourly kinds half up to the cent."""
    if candidate.prepaid and candidate.price is not None:
        return candidate.price
    return half_up(exact_total(candidate, stay, terms), 2)


def instance_rate(candidate: Candidate, stay: Stay) -> Fraction:
    """Return exact dollars an instance-hour; prepaid fees spread over reserved hours."""
    price = exact(candidate.price)
    reserved = stay.reserved // MICROSECOND * candidate.machines
    if not candidate.prepaid or not reserved:
        return price
    return Fraction(price.numerator * MICROSECONDS_AN_HOUR, price.denominator * reserved)


def accelerator_rate(candidate: Candidate, rate: Fraction, terms: Terms) -> Fraction:
    """Return exact dollars an accelerator-hour; a type that no catalog knows counts as one."""
    known = terms.catalog.types.get(bare(candidate.instance_type))
    return rate if known is None else rate / exact(known.accelerators)


def versus_on_demand(candidate: Candidate, rate: Fraction, rates: OnDemandRates) -> Fraction | None:
    """Return the exact rate over the on-demand rate, None for owned or without a price."""
    if candidate.kind is Kind.OWNED:
        return None
    if candidate.kind is Kind.ON_DEMAND:
        return Fraction(1)
    listed = rates.of(candidate)
    return None if listed is None else rate / exact(listed)
