"""How long: amounts with units, added up in elapsed hours."""

import re
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

from bot.language.quantities import number_at
from bot.language.refusals import RefusalError
from bot.language.scene import Found, Part, Scene
from bot.language.words import LEXICON

LONGEST_HOURS = Decimal(24 * 731)
"""No window may lie more than two years ahead."""
_RUN = re.compile(r"(-?\d+(?:[.,]\d+)?)([a-z]+)")
_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)*")
_CLOCK = re.compile(r"\d{1,2}h\d\d")
_MONTHS = re.compile(r"^[^H]*\dM$")
"""A capital M says months, but not in 2H30M."""
_NONE = Decimal(0)
_UNIT_HOURS = {hours: Decimal(hours) for hours in ("1", "24", "168")}
_MOST_AMOUNTS = 5
"""Weeks, days, hours, minutes; each written once."""
_MOST_DIGITS = 7
_MOST_FRACTION = 2


class Amount(NamedTuple):
    """One number with its unit; unit is hours as text, "minute" or "refused"."""

    digits: str
    unit: str
    said: str


class Length(NamedTuple):
    """A run of amounts: total hours, whether any part is finer than a day, and its end.

    `apart` are the amounts in hours when they may be several lengths: 3 days 72h.
    """

    hours: Decimal
    fine: bool
    end: int
    apart: tuple[Decimal, ...] = ()
    minutes_only: bool = False


def _unit(word: str) -> str | None:
    for words, meaning in LEXICON.starts.get(word, {}).get("unit", ()):
        if len(words) == 1:
            return str(meaning)
    return None


def _joined(key: str) -> list[Amount] | None:
    """Return the amounts of one word such as 2d12h."""
    amounts, position = [], 0
    while position < len(key):
        run = _RUN.match(key, position)
        unit = _unit(run[2]) if run else None
        if run is None or unit is None:
            return None
        amounts.append(Amount(run[1], unit, run[0]))
        position = run.end()
    return amounts


def amounts_at(scene: Scene, at: int) -> tuple[int, list[Amount]] | None:
    """Return the amounts that begin at this token: one word, or a number and its unit."""
    tokens = scene.tokens
    key = tokens.key(at)
    if not key:
        return None
    if key[0].isdigit() or key[0] == "-":
        if _NUMBER.fullmatch(key):
            unit = tokens.phrase("unit", at + 1)
            if unit is None or tokens.apart(at + 1):
                return None
            name = "refused" if tokens.items[at + 1].text == "M" else str(unit[1])
            return unit[0], [Amount(key, name, f"{key} {tokens.items[at + 1].text}")]
        joined = None if _CLOCK.fullmatch(key) else _joined(key)
        if joined and key[-1] == "m" and _MONTHS.search(tokens.items[at].text):
            joined[-1] = joined[-1]._replace(unit="refused")
        return (at + 1, joined) if joined else None
    begins = tokens.starts[at]
    counted = "number" in begins or "one" in begins
    word = (tokens.phrase("number", at) or tokens.phrase("one", at)) if counted else None
    unit = tokens.phrase("unit", word[0]) if word else None
    if word and unit and len(tokens.key(word[0])) > 1:
        said = f"{tokens.items[at].text} {tokens.items[word[0]].text}"
        return unit[0], [Amount(str(word[1]), str(unit[1]), said)]
    return None


def length_at(scene: Scene, at: int, *, words: int = _MOST_AMOUNTS) -> Length | None:
    """Return the longest run of adjacent amounts in falling units, of so many words at most.

    Raises:
        RefusalError: months, zero, negatives, a comma fraction in English.
    """
    found = amounts_at(scene, at)
    if found is None:
        return None
    end, amounts = found
    said = [amounts]
    while len(said) < words and not scene.tokens.apart(end):
        more = amounts_at(scene, end)
        if more is None or _size(more[1][0]) >= _size(amounts[-1]):
            break
        end = more[0]
        amounts = [*amounts, *more[1]]
        said.append(more[1])
    span = (at, end)
    if len(amounts) > 1 and any(_size(b) >= _size(a) for a, b in pairwise(amounts)):
        raise RefusalError("duration_form", tokens=span, said=scene.tokens.said(*span)[:40])
    hours = _hours(scene, amounts, span)
    if hours > LONGEST_HOURS:
        raise RefusalError("duration_long", tokens=span, mend=("2 weeks",))
    if len(amounts) == 1:
        minutes = amounts[0].unit == "minute"
        return Length(hours, minutes or amounts[0].unit == "1", end, minutes_only=minutes)
    fine = any(amount.unit in {"1", "minute"} for amount in amounts)
    apart = tuple(_hours(scene, word, span) for word in said) if len(said) > 1 else ()
    doubtful = any(
        later >= _size(before[-1]) for before, later in zip(said[:-1], apart[1:], strict=True)
    )
    return Length(hours, fine, end, apart if doubtful else (), amounts[0].unit == "minute")


def _hours(scene: Scene, amounts: list[Amount], span: tuple[int, int]) -> Decimal:
    # Minutes first, divided once: 2h20m is the same number whoever adds it up.
    if len(amounts) == 1:
        return _minutes(scene, amounts[0], span) / 60
    return sum((_minutes(scene, amount, span) for amount in amounts), _NONE) / 60


def _size(amount: Amount) -> Decimal:
    return _UNIT_HOURS.get(amount.unit, _NONE)


def _minutes(scene: Scene, amount: Amount, span: tuple[int, int]) -> Decimal:
    digits = amount.digits
    if amount.unit == "refused":
        raise RefusalError("duration_month", tokens=span, mend=("30 days",), said=amount.said)
    if "," in digits and not scene.day_first:
        mend = amount.said.replace(",", ".")
        raise RefusalError("duration_comma", tokens=span, mend=(mend,), said=amount.said)
    whole, _, fraction = digits.replace(",", ".").partition(".")
    if len(whole) > _MOST_DIGITS or len(fraction) > _MOST_FRACTION or "." in fraction:
        raise RefusalError("duration_form", tokens=span, mend=("3 days",), said=amount.said[:40])
    number = Decimal(f"{whole}.{fraction}")
    if number <= 0:
        raise RefusalError("duration_zero", tokens=span, mend=("1 day",), said=amount.said)
    return number if amount.unit == "minute" else number * 60 * _UNIT_HOURS[amount.unit]


def duration(scene: Scene, at: int) -> Found | None:
    """Recognise `for at least 3 days`, `36h`, `2d12h`, `a week`.

    Raises:
        RefusalError: minutes alone, under an hour, a number without a unit after "for".
    """
    tokens = scene.tokens
    strict = tokens.phrase("strict", at)
    lasting = None if strict else tokens.phrase("lasting", at)
    begin = lasting[0] if lasting else at
    if lasting:
        strict = tokens.phrase("strict", begin)
    begin = strict[0] if strict else begin
    length = length_at(scene, begin)
    if length is None:
        if lasting:
            refuse_unitless(scene, at, begin)
            _refuse_clock(scene, begin)
        return None
    end = length.end
    span = (at, end)
    if length.hours < 1 or length.minutes_only:
        said = tokens.said(begin, end)
        raise RefusalError("duration_minutes", tokens=(begin, end), mend=("1h",), said=said)
    parts = [Part("duration", (length.hours, *length.apart), *span)]
    late = None if strict else tokens.phrase("strict", end)
    if late and not number_follows(scene, late[0]):
        end = late[0]
    if strict or end != length.end:
        parts.append(Part("strict", (True,), *span))
    return end, tuple(parts)


def number_follows(scene: Scene, at: int) -> bool:
    """Return whether an amount or number begins here, so that words before belong to it."""
    key = scene.tokens.key(at)
    return bool(key) and (key[0].isdigit() or amounts_at(scene, at) is not None)


def _refuse_clock(scene: Scene, at: int) -> None:
    """Refuse `for 2h30`, which is how a time of day is written."""
    key = scene.tokens.key(at)
    if _CLOCK.fullmatch(key):
        raise RefusalError("duration_form", tokens=(at, at + 1), mend=(f"{key}m",), said=key)


def refuse_unitless(scene: Scene, at: int, number: int) -> None:
    """Refuse `for 3`: three what? Leaves everything that is not a bare number alone."""
    tokens = scene.tokens
    key = number_at(tokens, number)
    if key:
        ends = number + 1 >= tokens.count or tokens.apart(number + 1)
        following = tokens.phrase("start", number + 1) or tokens.phrase("cap", number + 1)
        if ends or (following and not tokens.key(following[0])[:1].isdigit()):
            raise RefusalError(
                "duration_unit", tokens=(at, number + 1), mend=(f"for {key} days",), said=key
            )
