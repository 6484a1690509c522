"""How much: a cap on the total, or on the price of one machine for one hour, in US dollars."""

import re
from decimal import Decimal
from typing import NamedTuple

from bot.language.quantities import MOST_MACHINES, means_something
from bot.language.refusals import RefusalError
from bot.language.scene import Found, Part, Scene

LARGEST = Decimal(1_000_000_000)
_OTHERS = frozenset(
    [
        "€",
        "£",
        "¥",
        "₹",
        "₩",
        "r$",
        "c$",
        "a$",
        "ca$",
        "au$",
        "nz$",
        "mx$",
        "hk$",
        "s$",
        "eur",
        "gbp",
        "jpy",
        "cny",
        "inr",
        "brl",
        "mxn",
        "ars",
        "cop",
        "clp",
        "pen",
        "uyu",
        "cad",
        "aud",
        "nzd",
        "chf",
        "sek",
        "nok",
        "dkk",
        "pln",
        "krw",
        "sgd",
        "hkd",
        "btc",
        "euro",
        "euros",
        "pound",
        "pounds",
        "yen",
        "yuan",
        "reais",
        "real",
        "peso",
        "pesos",
        "libra",
        "libras",
        "franc",
        "francs",
        "rupees",
    ]
)
_FORM = re.compile(
    r"(?P<cap><=)?(?P<before>us\$|usd|\$|[a-z]{0,2}\$|[€£¥₹₩])?(?P<number>\d[\d.,]*)"
    r"(?P<tail>k|mil|usd|us\$|\$|k\$|kusd|[€£¥₹₩]|[a-z]{3})?(?P<hour>/(?:h|hr|hour|hora))?"
)
_DOLLARS_PER_HOUR = re.compile(r"(?:us\$|\$|usd|dollars?|dolar(?:es)?)/(?:h|hr|hour|hora)")
_DOLLARS = frozenset({"$", "us$", "usd"})
_PLAIN = re.compile(r"\d+(?:\.\d+)?")
_COMMAS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_POINTS = re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?")
_DECIMAL_COMMA = re.compile(r"\d+,\d+")
_LIKE_A_THOUSAND = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")
_CENT_DIGITS, _RATE_DIGITS = 2, 6
_LONGEST = 24
_NOT_NUMBERS = frozenset({"nan", "inf", "infinity", "-inf", "infinite", "unlimited"})


class _Written(NamedTuple):
    """An amount as typed: digits, the token after it, and what stood around it."""

    digits: str
    end: int
    dollars: bool
    thousand: bool
    hourly: bool


def money(scene: Scene, at: int, *, keyed: str = "") -> Found | None:
    """Recognise `under $15k`, `até 15 mil dólares`, `$40/h`; `keyed` is max or hourly.

    Raises:
        RefusalError: another currency, or a number that is no amount of money.
    """
    tokens = scene.tokens
    start = at
    cap = tokens.phrase("cap", at)
    unsure_word = bool(cap) and cap is not None and cap[1] == "unsure"
    if cap:
        at = cap[0]
        if more := tokens.phrase("cap", at):
            at, unsure_word = more[0], False
    led = cap is not None or bool(keyed)
    key = tokens.key(at)
    if not key or not (led or key[0] in "<$€£¥₹₩" or key[0].isdigit() or "$" in key or _coin(key)):
        return None
    written = _written(scene, at, led=led, sure=led and not unsure_word)
    if written is None:
        return None
    hourly = written.hourly or keyed == "hourly"
    bare = not written.dollars and not written.hourly and not keyed
    if bare and not led:
        return None
    span = (start, written.end)
    readings, doubtful = _amounts(scene, written, span, hourly=hourly)
    field = "hourly" if hourly else "total"
    unsure = (bare and unsure_word) or doubtful
    return written.end, (Part(field, readings, *span, unsure),)


def _coin(key: str) -> bool:
    return key == "usd" or key in _OTHERS or key.startswith(("usd", "us$"))


def _written(scene: Scene, at: int, *, led: bool, sure: bool) -> _Written | None:  # noqa: C901 - an amount has many optional parts
    """Return the amount at this token, or None when something else is meant."""
    tokens = scene.tokens
    start, dollars = at, False
    key = tokens.key(at)
    if key in _DOLLARS or key == "<=$":
        dollars, at = True, at + 1
        key = tokens.key(at)
    elif key in _OTHERS and tokens.key(at + 1)[:1].isdigit():
        raise _other(scene, (at, at + 2))
    form = _FORM.fullmatch(key)
    if form is None:
        said_money = dollars or (sure and not _means_time(key)) or ("$" in key and led)
        if said_money and (key[:1].isdigit() or key[:1] in "-$€£" or key in _NOT_NUMBERS):
            raise RefusalError(
                "amount_form",
                tokens=(start, at + 1),
                mend=("$1500", ""),
                said=tokens.said(start, at + 1)[:40],
            )
        return None
    span = (start, at + 1)
    tail = form["tail"] or ""
    if (form["before"] and form["before"] not in _DOLLARS) or tail in _OTHERS:
        raise _other(scene, span)
    dollars = dollars or bool(form["before"]) or tail.endswith(("usd", "$"))
    thousand = tail.startswith("k") or tail == "mil"
    if tail and not thousand and not dollars:
        return None
    end = at + 1
    if not thousand and not form["hour"] and (mil := tokens.phrase("thousand", end)):
        thousand, end = True, mil[0]
    if tokens.key(end) in _OTHERS and not tokens.apart(end):
        raise _other(scene, (start, end + 1))
    if coin := tokens.phrase("dollar", end):
        dollars, end = True, coin[0]
    hourly = bool(form["hour"])
    if not hourly and _DOLLARS_PER_HOUR.fullmatch(tokens.key(end)) and not tokens.apart(end):
        dollars, hourly, end = True, True, end + 1
    if not hourly and (hour := tokens.phrase("per_hour", end)) and not tokens.apart(end):
        hourly, end = True, hour[0]
    bare = not dollars and not thousand and not hourly
    if bare and means_something(scene, end) and not (sure and _no_count(form["number"])):
        return None
    return _Written(form["number"], end, dollars, thousand, hourly)


def _no_count(digits: str) -> bool:
    """Return whether a number cannot count machines: 15,000 p5.48xlarge."""
    return not digits.isdigit() or len(digits) > len(str(MOST_MACHINES))


def _means_time(key: str) -> bool:
    return ":" in key or "/" in key or key.endswith(("am", "pm", "h", "d", "w"))


def _other(scene: Scene, span: tuple[int, int]) -> RefusalError:
    end = scene.tokens.after("thousand", span[1])
    span = (span[0], end + 1 if scene.tokens.key(end) in _OTHERS else end)
    said = scene.tokens.said(*span)
    return RefusalError("other_currency", tokens=span, mend=("$1500", ""), said=said)


def _amounts(
    scene: Scene, written: _Written, span: tuple[int, int], *, hourly: bool
) -> tuple[tuple[Decimal, ...], bool]:
    """Return what the digits may be worth in this locale, and whether that must be asked.

    Raises:
        RefusalError: no amount, zero, too large, or a total with parts of a cent.
    """
    digits = written.digits.rstrip(".")
    said = scene.tokens.said(*span)
    if len(digits) > _LONGEST:
        raise RefusalError("amount_large", tokens=span, mend=("$1500", ""), said=said[:40])
    numbers = _worth(digits, day_first=scene.day_first, hourly=hourly, thousand=written.thousand)
    if not numbers:
        raise RefusalError("amount_form", tokens=span, mend=("$1500", ""), said=said)
    factor = 1000 if written.thousand else 1
    amounts = tuple(number * factor for number in numbers)
    for amount in amounts:
        if amount == 0:
            raise RefusalError("amount_zero", tokens=span, mend=("$1500", ""))
        if amount > LARGEST:
            raise RefusalError("amount_large", tokens=span, mend=("$1500", ""), said=said)
    fine = tuple(
        amount
        for amount in amounts
        if _fraction(amount) <= (_RATE_DIGITS if hourly else _CENT_DIGITS)
    )
    if not fine:
        raise RefusalError("amount_cents", tokens=span, mend=("$1500", ""), said=said)
    return fine, len(amounts) > 1


def _fraction(amount: Decimal) -> int:
    exponent = amount.normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else _RATE_DIGITS + 1


def _worth(digits: str, *, day_first: bool, hourly: bool, thousand: bool) -> tuple[Decimal, ...]:  # noqa: PLR0911 - one return for each form
    """Return the numbers that digits with points and commas may be; none: it is no number."""
    as_point = Decimal(digits) if _PLAIN.fullmatch(digits) else None
    as_comma = Decimal(digits.replace(",", ".")) if _DECIMAL_COMMA.fullmatch(digits) else None
    grouped = _COMMAS.fullmatch(digits) or _POINTS.fullmatch(digits)
    looks_grouped = _LIKE_A_THOUSAND.fullmatch(digits) is not None
    if looks_grouped and thousand:
        return ()
    if looks_grouped:
        whole = Decimal(digits.replace(",", "").replace(".", ""))
        if "." in digits and not day_first:
            return (as_point or whole,) if hourly else (whole, as_point or whole)
        if "," in digits and day_first:
            return (whole, as_comma or whole)
        return (whole,)
    if as_point is not None:
        return (as_point,)
    if as_comma is not None and day_first:
        return (as_comma,)
    if grouped and _COMMAS.fullmatch(digits):
        return (Decimal(digits.replace(",", "")),)
    if grouped and day_first:
        return (Decimal(digits.replace(".", "").replace(",", ".")),)
    return ()
