"""How money, rates, hours and instants are held and printed in the contracts' JSON.

Inside: `Decimal` and aware UTC. In JSON: decimal strings (money at least two decimals, rates
at most four, half up) and ISO 8601 with `Z`.
"""

from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, PlainSerializer

_PRECISION = 10
"""Digits that a rounded number may have beside its whole ones."""
_USUAL = Context(prec=50)
_FIRST_YEAR = 1970
_CENT = Decimal("0.01")
_FOUR_PLACES = Decimal("0.0001")


def cents(amount: Decimal) -> Decimal:
    """Return the amount rounded half up to the cent."""
    return _rounded(amount, _CENT)


def plain_text(number: Decimal) -> str:
    """Return the number without exponent and without trailing zeros after the point."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def how_many(number: int, thing: str, things: str = "") -> str:
    """Return the number with its word: 1 machine, 2 machines; `things` where "s" is not enough."""
    return f"{number:,} {thing if number == 1 else things or f'{thing}s'}"


def money_text(amount: Decimal) -> str:
    """Return an exact amount with at least two decimals: 6877.4 is "6877.40"."""
    text = plain_text(amount)
    whole, _, fraction = text.partition(".")
    return f"{whole}.{fraction.ljust(2, '0')}"


def exact_dollars(amount: Decimal) -> str:
    """Return an exact amount for people: "$6,877.44"; more than cents only when AWS gave more."""
    whole, _, fraction = money_text(abs(amount)).partition(".")
    return f"{'-' if amount < 0 else ''}${int(whole):,}.{fraction}"


def dollars(amount: Decimal) -> str:
    """Return an amount for people, half up to the cent: "$6,877.44"."""
    return exact_dollars(cents(amount))


def rate_text(rate: Decimal) -> str:
    """Return a rate or ratio half up to four decimals: 0.86774 is "0.8677", 47.760 "47.76"."""
    return plain_text(_rounded(rate, _FOUR_PLACES))


def _rounded(number: Decimal, places: Decimal) -> Decimal:
    """Return the number half up to those places; one of any size, which the default can't."""
    digits = number.adjusted() + _PRECISION
    context = _USUAL if digits < _USUAL.prec else Context(prec=digits)
    return number.quantize(places, rounding=ROUND_HALF_UP, context=context)


def utc(instant: datetime) -> datetime:
    """Return the same instant with tzinfo UTC. Raises ValueError when it is naive or no date."""
    if instant.tzinfo is None:
        message = f"naive time {instant.isoformat()}: every time inside is aware UTC"
        raise ValueError(message)
    try:
        moment = instant.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("no calendar has this time in UTC") from error
    if moment.year < _FIRST_YEAR:
        raise ValueError(f"the year {moment.year} is before any that a market or a clock shows")
    return moment


@lru_cache(maxsize=4096)
def utc_text(instant: datetime) -> str:
    """Return ISO 8601 UTC with Z: whole seconds without a fraction, which sorts by instant."""
    moment = utc(instant)
    spec = "seconds" if moment.microsecond == 0 else "microseconds"
    return moment.replace(tzinfo=None).isoformat(timespec=spec) + "Z"


Usd = Annotated[Decimal, PlainSerializer(money_text, return_type=str, when_used="json")]
"""An amount of US dollars, exact."""
Rate = Annotated[Decimal, PlainSerializer(rate_text, return_type=str, when_used="json")]
"""Dollars an hour, or a ratio; printed with at most four decimals."""
Hours = Annotated[Decimal, PlainSerializer(rate_text, return_type=str, when_used="json")]
"""Elapsed hours."""
Instant = Annotated[
    AwareDatetime, AfterValidator(utc), PlainSerializer(utc_text, return_type=str, when_used="json")
]
"""A moment, aware UTC."""
