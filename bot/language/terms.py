"""Targets, interruption and utilization: how the capacity may be used."""

import re
from decimal import Decimal

from bot.language.refusals import RefusalError
from bot.language.scene import Found, Part, Scene, one

_PERCENT = re.compile(r"(-?\d+(?:[.,]\d+)?)%?")
_SHARE = re.compile(r"0?\.\d+")
_HOURS = re.compile(r"(\d+(?:[.,]\d+)?)(h|hs|hrs?|hours?|horas?)?(/day|/d|/dia)?")
_PLACES = Decimal("0.0001")
"""A share is printed with four decimals, so it is held with four."""
_DAY_HOURS = 24
_HUNDRED = 100


def target(scene: Scene, at: int) -> Found | None:
    """Recognise `on ec2`, `for a training job`, `hyperpod`; `on sagemaker` alone is asked."""
    found = scene.tokens.phrase("target", at)
    if found is None:
        return None
    field = "sagemaker" if found[1] == "sagemaker" else "target"
    value = True if field == "sagemaker" else found[1]
    return one(field, value, at, found[0])


def spot(scene: Scene, at: int) -> Found | None:
    """Recognise `spot ok`, `no spot`; in Portuguese `no spot` may be "on the spot (market)"."""
    tokens = scene.tokens
    found = tokens.phrase("spot", at)
    if found is None:
        return None
    if scene.language == "pt" and tokens.key(at) == "no" and tokens.key(at + 1) == "spot":
        return found[0], (Part("interruptible", (False, True), at, found[0]),)
    return one("interruptible", found[1], at, found[0])


def use(scene: Scene, at: int) -> Found | None:
    """Recognise `at 60% use` and `running 8h a day`. Raises RefusalError outside 0-100 %."""
    return _percent(scene, at) or _daily(scene, at)


def _percent(scene: Scene, at: int) -> Found | None:
    tokens = scene.tokens
    begin = tokens.after("use_lead", at)
    key = tokens.key(begin)
    if not key or not (key[0].isdigit() or key[0] == "-"):
        return None
    number = _PERCENT.fullmatch(key)
    if not number:
        return None
    sign = key.endswith("%")
    end = begin + 1
    if not sign and tokens.key(end) == "%":
        sign, end = True, end + 1
    word = tokens.phrase("use", end)
    if not sign or word is None:
        return None
    return one("utilization", share(number[1], (at, word[0])), at, word[0])


def share(percent: str, span: tuple[int, int]) -> Decimal:
    """Return a percentage as a share of one. Raises RefusalError outside 0-100 %."""
    value = Decimal(percent.replace(",", ".")) / _HUNDRED
    if not 0 < value <= 1:
        raise RefusalError("use_range", tokens=span, mend=("", "60%"), said=f"{percent}%")
    return value.quantize(_PLACES)


def keyed_use(scene: Scene, at: int) -> Found | None:
    """Recognise the value of `use=60%`; a bare 60 would be a guess. Raises RefusalError."""
    tokens = scene.tokens
    key = tokens.key(at)
    if _SHARE.fullmatch(key):
        return one("utilization", share(str(Decimal(key) * _HUNDRED), (at, at + 1)), at, at + 1)
    number = _PERCENT.fullmatch(key) if key else None
    if number and key.endswith("%"):
        end = tokens.after("use", at + 1)
        return one("utilization", share(number[1], (at, at + 1)), at, end)
    if number and tokens.key(at + 1) == "%":
        return one("utilization", share(number[1], (at, at + 2)), at, at + 2)
    return None


def _daily(scene: Scene, at: int) -> Found | None:
    tokens = scene.tokens
    running = tokens.phrase("running", at)
    begin = running[0] if running else at
    word = tokens.phrase("number", begin) if running else None
    key = str(word[1]) if word else tokens.key(begin)
    hours = _HOURS.fullmatch(key) if key and key[0].isdigit() else None
    if hours is None:
        return None
    end = begin + 1
    if hours[2] is None:
        unit = tokens.phrase("unit", end)
        if unit is None or unit[1] != "1":
            return None
        end = unit[0]
    per_day = tokens.phrase("per_day", end)
    if per_day is None and hours[3] is None:
        return None
    end = per_day[0] if per_day else end
    value = Decimal(hours[1].replace(",", ".")) / _DAY_HOURS
    if not 0 < value <= 1:
        raise RefusalError("use_range", tokens=(at, end), said=tokens.said(begin, end))
    return one("utilization", value.quantize(_PLACES), at, end)
