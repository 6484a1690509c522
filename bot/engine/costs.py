"""What an option costs, at which rates, and against which on-demand price."""

from decimal import ROUND_HALF_UP, Decimal

from bot.domain.market import Kind, Market
from bot.domain.values import cents
from bot.engine.candidates import Candidate
from bot.engine.terms import Terms, bare
from bot.engine.windows import Stay
from bot.engine.words import MICROSECOND, hours

_FOUR_PLACES = Decimal("0.0001")
_MICROSECONDS_AN_HOUR = 3_600_000_000


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


def four_places(ratio: Decimal) -> Decimal:
    """Return the rate or ratio as it is printed: half up to four decimals."""
    return ratio.quantize(_FOUR_PLACES, rounding=ROUND_HALF_UP)


def exact_total(candidate: Candidate, stay: Stay, terms: Terms) -> Decimal:
    """Return the unrounded dollars paid when the option is taken and used as asked.

    Prepaid: the fee. On-demand and spot: the asked hours times the share of running time.
    ODCR: from now, since it bills while held, to the end of its use. Owned: nothing.
    """
    price = candidate.price or Decimal(0)
    match candidate.kind:
        case Kind.OWNED:
            return Decimal(0)
        case Kind.CAPACITY_BLOCK | Kind.TRAINING_PLAN:
            return price
        case Kind.ODCR:
            held = stay.use_end - terms.now
            return price * candidate.machines * (held // MICROSECOND) / _MICROSECONDS_AN_HOUR
        case _:
            share = terms.utilization
            run = price * candidate.machines * (terms.asked // MICROSECOND) * share.numerator
            return run / (_MICROSECONDS_AN_HOUR * share.denominator)


def total(candidate: Candidate, stay: Stay, terms: Terms) -> Decimal:
    """Return the total as it is said: a fee as given, hourly kinds half up to the cent."""
    amount = exact_total(candidate, stay, terms)
    return cents(amount) if candidate.hourly else amount


def instance_rate(candidate: Candidate, stay: Stay) -> Decimal:
    """Return unrounded dollars an instance-hour; prepaid fees spread over reserved hours."""
    price = candidate.price or Decimal(0)
    if not candidate.prepaid:
        return price
    reserved = hours(stay.reserved) * candidate.machines
    return price / reserved if reserved else price


def accelerator_rate(candidate: Candidate, rate: Decimal, terms: Terms) -> Decimal:
    """Return unrounded dollars an accelerator-hour; a type that no catalog knows counts as one."""
    known = terms.catalog.types.get(bare(candidate.instance_type))
    return rate if known is None else rate / known.accelerators


def versus_on_demand(candidate: Candidate, stay: Stay, rates: OnDemandRates) -> Decimal | None:
    """Return the unrounded rate over the on-demand rate, None for owned or without a price."""
    if candidate.kind is Kind.OWNED:
        return None
    if candidate.kind is Kind.ON_DEMAND:
        return Decimal(1)
    listed = rates.of(candidate)
    return None if listed is None else instance_rate(candidate, stay) / listed


def true_share(stay: Stay, terms: Terms) -> Decimal:
    """Return the share of the reserved hours in which the machines will really run."""
    share = terms.utilization
    return (
        Decimal(terms.asked // MICROSECOND)
        * share.numerator
        / share.denominator
        / (stay.reserved // MICROSECOND)
    )
