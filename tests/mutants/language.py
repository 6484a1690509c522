"""One broken rule of the command language at a time; its tests must turn red on each."""

from tests.mutants.run import Mutant

_UNIT = "tests/unit/language"
TESTS: tuple[str, ...] = (_UNIT,)

_VERBS = (f"{_UNIT}/test_language_verbs.py",)
_MACHINES = (f"{_UNIT}/test_language_machines.py",)
_DURATIONS = (f"{_UNIT}/test_language_durations.py",)
_WHEN = (f"{_UNIT}/test_language_when.py",)
_MONEY = (f"{_UNIT}/test_language_money.py",)
_TERMS = (f"{_UNIT}/test_language_terms.py",)
_NORMAL = (f"{_UNIT}/test_language_normalise.py",)
_READINGS = (f"{_UNIT}/test_language_readings.py",)
_ROUND = (f"{_UNIT}/test_language_round.py",)


def _of(file: str, tests: tuple[str, ...], *breaks: tuple[str, str, str]) -> tuple[Mutant, ...]:
    return tuple(
        Mutant(name, f"bot/language/{file}", before, after, tests) for name, before, after in breaks
    )


MUTANTS: tuple[Mutant, ...] = (
    *_of(
        "settle_timing.py",
        _WHEN,
        (
            "a day is asked that no answer could fit",
            "    if min(said) > window + 1:",
            "    if min(said) > window + 100:",
        ),
    ),
    *_of(
        "words/english.py",
        _WHEN,
        ("after means by", '"by": said("by")', '"by": said("after")'),
        ("tomorrow is in two days", 'said("tomorrow", 1)', 'said("tomorrow", 2)'),
        ("march and may change places", "march/mar|april/apr|may|", "may|april/apr|march/mar|"),
    ),
    *_of(
        "words/english.py",
        _DURATIONS,
        ("a week has six days", 'weeks", "168")', 'weeks", "144")'),
        ("months are days", 'years|s|sec|second|seconds", "refused")', 'years|s|sec", "24")'),
    ),
    *_of(
        "words/portuguese.py",
        _MONEY,
        ("ate without a currency is not asked", 'said("até", "unsure")', 'said("até", "")'),
    ),
    *_of(
        "words/portuguese.py",
        _WHEN,
        ("terca is Wednesday", "segunda-feira/segunda/segunda feira|terça", "terça-feira|segunda"),
    ),
    *_of(
        "words/spanish.py",
        _VERBS,
        ("rechazar approves", '"deny": "rechazar', '"approve": "rechazar'),
    ),
    *_of(
        "quantities.py",
        _MACHINES,
        ("zero is a count", "if number < 1:", "if number < 0:"),
        ("more machines than the most", "MOST_MACHINES = 256", "MOST_MACHINES = 257"),
    ),
    *_of(
        "settle_machines.py",
        _MACHINES,
        (
            "GPUs round down",
            "return ceil(gpus / kind.accelerators)",
            "return int(gpus / kind.accelerators) or 1",
        ),
        (
            "half an UltraServer is sold",
            "is_ultraserver(kind.name) and gpus % kind.accelerators",
            "False",
        ),
        ("a fractional type counts GPUs", "if kind.accelerators < 1:", "if kind.accelerators < 0:"),
        ("the minimum may pass the count", "any(number > count for number in least)", "False"),
        (
            "an inner machine is sold alone",
            "if inside := names.ultraservers_of(kind.name):",
            "if inside := ():",
        ),
    ),
    *_of(
        "settling.py",
        (_UNIT,),
        (
            "the first of two values wins",
            "if len(options) == 1 and not ask:",
            "if options and not ask:",
        ),
        ("an answer is ignored", "if answer is not None:", "if answer == 0:"),
    ),
    *_of(
        "durations.py",
        _DURATIONS,
        (
            "a comma fraction is taken in English",
            'if "," in digits and not scene.day_first:',
            "if False:",
        ),
        (
            "minutes alone are taken",
            "length.hours < 1 or length.minutes_only",
            "length.hours < 1",
        ),
        ("rising units are one duration", "_size(more[1][0]) >= _size(amounts[-1])", "False"),
        ("at least is not strict", 'parts.append(Part("strict", (True,), *span))', "pass"),
    ),
    *_of(
        "days.py",
        _WHEN,
        (
            "today's weekday is today",
            "return Day((today, today + timedelta(days=_WEEK)), ask=True)",
            "return Day((today,))",
        ),
        ("next friday skips a week", "    if away:\n", "    if away and not following:\n"),
        (
            "a slash date is never asked",
            "ask=not scene.day_first, month_day",
            "ask=False, month_day",
        ),
        ("two-digit years are taken", "if year and len(year) != 4:", "if year and len(year) == 3:"),
        (
            "month first everywhere",
            "pairs = [(int(second), int(first))]",
            "pairs = [(int(first), int(second))]",
        ),
    ),
    *_of(
        "calendars.py",
        _WHEN,
        (
            "a doubled time is taken",
            "return tuple(sorted((first, second))), False",
            "return (first,), True",
        ),
        ("the horizon is three years", "YEARS_AHEAD = 2", "YEARS_AHEAD = 3"),
    ),
    *_of(
        "clocks.py",
        _WHEN,
        ("12am is noon", "number = number % _NOON +", "number = number +"),
        (
            "24:00 is a time",
            "_LAST_HOUR, _LAST_MINUTE = 23, 59",
            "_LAST_HOUR, _LAST_MINUTE = 24, 59",
        ),
        (
            "a bare hour is morning",
            "return _zoned(scene, at + 1, Clock(both, ask=True))",
            "return _zoned(scene, at + 1, Clock(both[:1]))",
        ),
        (
            "9 at night is in the morning",
            "return Clock((_seconds(fitting[0], minute, span),))",
            "return Clock((first,))",
        ),
        (
            "9:00-10:00 is Hawaii",
            "return Zone(zone.name, (*zone.options, scene.zone), ask=True)",
            "return zone",
        ),
    ),
    *_of(
        "zones.py",
        _WHEN,
        (
            "CST is Chicago",
            "return at + 1, Zone(word.upper(), places, ask=True)",
            "return at + 1, Zone(word.upper(), places[:1])",
        ),
        (
            "an offset turns round",
            'timezone(-away if found[1] == "-" else away)',
            'timezone(away if found[1] == "-" else -away)',
        ),
    ),
    *_of(
        "settle_start.py",
        _WHEN,
        (
            "the past is taken",
            "(reading.end > now if reading.whole_day else reading.end >= now)",
            "True",
        ),
        (
            "after binds the start",
            "        latest = None\n    return",
            "        pass\n    return",
        ),
    ),
    *_of(
        "settle_start.py",
        _READINGS,
        (
            "a range over New Year is not asked",
            "return coming is not None and coming - begin < _HALF_A_YEAR",
            "return False",
        ),
    ),
    *_of(
        "settle_end.py",
        _WHEN,
        (
            "before a day is its end",
            'reading.start if field == "before" else reading.end',
            "reading.end",
        ),
        (
            "a short window is taken",
            "if isinstance(hours, Decimal) and begin +",
            "if isinstance(hours, int) and begin +",
        ),
    ),
    *_of(
        "settle_end.py",
        _READINGS,
        ("an end time is always today's", "timedelta(days=1 if past else 0)", "timedelta(0)"),
        ("a range may be minutes", "_LEAST = timedelta(hours=1)", "_LEAST = timedelta(0)"),
        ("ends that leave no room are offered", "if misfit is None]", "]"),
    ),
    *_of(
        "settle_timing.py",
        _WHEN,
        ("a range is not strict", "        strict = True\n", "        strict = False\n"),
    ),
    *_of(
        "settle_timing.py",
        _READINGS,
        ("a range may be shorter than asked", "any(hours > window for hours in said)", "False"),
        ("a day is not lent to two times", "    _lend_day(settling)\n    until", "    until"),
    ),
    *_of(
        "spans.py",
        _READINGS,
        (
            "a deadline ends a range",
            'return tokens.phrase("until", at) is not None and not ranged',
            "return ranged and False",
        ),
    ),
    *_of(
        "moments.py",
        _READINGS,
        ("1.5 days are one day", "if length.fine or away % timedelta(days=1):", "if length.fine:"),
    ),
    *_of(
        "words/portuguese.py",
        _READINGS,
        ("no is a machine", "nó de|nós", "nó|nós"),
    ),
    *_of(
        "verbs.py",
        _READINGS,
        ("the ID comes first", "said = own() if own else None", "said = None"),
    ),
    *_of(
        "money.py",
        _MONEY,
        ("k is a hundred", "factor = 1000 if", "factor = 100 if"),
        (
            "euros are dollars",
            "or tail in _OTHERS:\n        raise _other(scene, span)",
            "and False:\n        raise _other(scene, span)",
        ),
        ("1.500 is fifteen hundred in English", "(whole, as_point or whole)", "(whole,)"),
        ("a cap of zero is taken", "if amount == 0:", "if amount < 0:"),
        ("more than a billion is taken", "if amount > LARGEST:", "if amount > 10 * LARGEST:"),
    ),
    *_of(
        "terms.py",
        _TERMS,
        (
            "no spot is sure in Portuguese",
            'if scene.language == "pt" and',
            'if scene.language == "xx" and',
        ),
        (
            "150 % of use is taken",
            "/ _HUNDRED\n    if not 0 < value <= 1:",
            "/ _HUNDRED\n    if not 0 < value <= 2:",
        ),
    ),
    *_of(
        "settle_terms.py",
        _TERMS,
        (
            "sagemaker is a training job",
            "said = [*said, *_SAGEMAKER]",
            "said = [*said, _SAGEMAKER[0]]",
        ),
    ),
    *_of(
        "tokens.py",
        _TERMS,
        (
            "no is on the in Spanish",
            'starts = LEXICON.starts if language == "pt" else _ELSEWHERE',
            "starts = LEXICON.starts",
        ),
        ("any apostrophe closes", 'text[close + 1] not in " \\t\\n,;"', "False"),
    ),
    *_of(
        "people.py",
        _TERMS,
        ("a reason may be longer", "LONGEST_REASON = 500", "LONGEST_REASON = 501"),
        ("a raw name is a purpose", ' or item.text[0] == "@"', ""),
    ),
    *_of(
        "normalise.py",
        _NORMAL,
        ("direction overrides pass", "if first in _DIRECTION:", "if first in ():"),
        ("foreign digits pass", "not letter.isascii() and letter.isdecimal()", "False"),
        ("a longer text is read", "LONGEST = 3000", "LONGEST = 4000"),
    ),
    *_of(
        "reading.py",
        _TERMS,
        ("leftovers are ignored", "leftover.append((at, at + 1))", "pass"),
        (
            "a purpose swallows parts",
            "    except RefusalError:\n        return True\n",
            "    finally:\n        return False\n",
        ),
    ),
    *_of(
        "lines.py",
        _ROUND,
        ("the line drops strict", 'least = "at least " if request.strict else ""', 'least = ""'),
        ("three decimals read as thousands", 'fraction += "0"', "pass"),
        (
            "the line drops the fewest machines",
            'return counted if least is None else f"at least',
            'return counted if least else f"at least',
        ),
    ),
    *_of(
        "echoes.py",
        _ROUND,
        (
            "the echo forgets the cap",
            "if request.max_total_usd is not None:\n        said",
            "if request.max_total_usd is None and False:\n        said",
        ),
        (
            "the echo counts machines as GPUs",
            "total = kind.accelerators * count",
            "total = kind.accelerators",
        ),
    ),
)
