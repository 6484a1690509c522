"""How fast the command language is: against dateparser on the dates alone, and by length.

Run with `python -m benchmarks.parse` where dateparser is installed (requirements/bench.txt).
The anchor reads only the date phrases of the same lines; the product reads whole lines and
says them back.
"""

import math
import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime

from bot.catalog import packaged
from bot.language import parse

NOW = datetime(2027, 3, 10, 15, 0, tzinfo=UTC)
PAIRS = 5
"""Interleaved pairs; the ratio is the median, as noise comes and goes."""

_MACHINES = ("2 p5.48xlarge", "16xH100", "p5en.48xlarge x4", "8 gpus p5.4xlarge", "4 p4d.24xlarge")
_LINES = {
    "en-US": (
        (("Mar 15 9am",), "reserve {m} for 3 days from Mar 15 9am under $15k in us-east-1"),
        (("next friday",), '{m} 36h from next friday no spot because "eval run"'),
        (("tomorrow 10am",), "plan {m} for 2d12h tomorrow 10am on hyperpod"),
        (("2027-04-20",), "reserve {m} for 2w by 2027-04-20 $40/h"),
        (("March 20 17:00",), "{m} 1 week before March 20 17:00 for a training job"),
        (("Mar 15", "Mar 20"), "{m} 2d between Mar 15 and Mar 20 under $15k"),
        (("Mar 15 9:00", "Mar 16 17:00"), "{m} from Mar 15 9:00 to Mar 16 17:00"),
        (("in 3 days",), "{m} for 2d in 3 days spot ok"),
    ),
    "pt-BR": (
        (("15 de março",), "reservar {m} por 3 dias em 15 de março até 15 mil dólares"),
        (("amanhã às 9h",), "{m} por 36h amanhã às 9h sem spot"),
        (("20/04/2027",), "planejar {m} por 2 semanas a partir de 20/04/2027 em us-east-1"),
        (("quinta-feira às 10h",), "{m} por 2 dias na quinta-feira às 10h"),
    ),
    "es-ES": (
        (("15 de marzo",), "reservar {m} por 3 días el 15 de marzo hasta 15 mil dólares"),
        (("mañana a las 9",), "{m} por 36h mañana a las 9 sin spot"),
        (("20/04/2027",), "planear {m} por 2 semanas a partir del 20/04/2027 en us-east-1"),
        (("22 de marzo", "29 de marzo"), "{m} por 2 días entre el 22 de marzo y el 29 de marzo"),
    ),
}


def lines(count: int = 1000) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return (locale, whole line, its date phrases), the same every time."""
    each = [
        (locale, line.format(m=machine), phrases)
        for machine in _MACHINES
        for locale, pairs in _LINES.items()
        for phrases, line in pairs
    ]
    return [each[index % len(each)] for index in range(count)]


def _seconds(work: Callable[[], None]) -> float:
    """Return the CPU time of this process: what else the machine does must not count."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def _parse_all(work: list[tuple[str, str, tuple[str, ...]]]) -> None:
    catalog = packaged()
    for locale, line, _ in work:
        said = parse(line, now=NOW, zone="Europe/Berlin", locale=locale, catalog=catalog)
        assert said.echo, line


def _dates_all(work: list[tuple[str, str, tuple[str, ...]]]) -> None:
    import dateparser  # noqa: PLC0415 - only the anchor needs it, and it is not a dependency

    settings = {"RELATIVE_BASE": NOW.replace(tzinfo=None), "TIMEZONE": "Europe/Berlin"}
    for _, _, phrases in work:
        for phrase in phrases:
            dateparser.parse(phrase, languages=["en", "pt", "es"], settings=settings)


def against_dateparser() -> float:
    """Return how many times as long dateparser takes for the dates alone (median of pairs)."""
    work = lines()
    _parse_all(work[:100])
    _dates_all(work[:100])
    ratios = []
    for _ in range(PAIRS):
        ours = _seconds(lambda: _parse_all(work))
        theirs = _seconds(lambda: _dates_all(work))
        ratios.append(theirs / ours)
    return statistics.median(ratios)


DOUBLED = "≤ 2.1"
"""Twice, and a twentieth for what a shared machine adds to the worst of thirteen shapes."""

_SHAPES: dict[str, tuple[str, str]] = {
    "words no rule knows": ("reserve 2 p5.48xlarge for 3 days ", "very "),
    "a long reason": ('2 p5.48xlarge 3d because "', "eval run "),
    "a purpose": ("2 p5.48xlarge 3d for ", "eval run "),
    "many durations": ("2 p5.48xlarge ", "3 days "),
    "many numbers": ("2 p5.48xlarge 3d ", "1 "),
    "many regions": ("2 p5.48xlarge 3d in us-east-1", ", us-west-2"),
    "many machines": ("3d ", "2 p5.48xlarge "),
    "many amounts": ("2 p5.48xlarge 3d ", "max $15k "),
    "many dates": ("2 p5.48xlarge 3d ", "on Mar 15 9am "),
    "one long word": ("2 p5.48xlarge 3d ", "x"),
    "one long number": ("2 p5.48xlarge 3d ", "7"),
    "one run of units": ("2 p5.48xlarge ", "2d"),
    "quotes": ("2 p5.48xlarge 3d because 'a", " 'a"),
}


def _shape(name: str, length: int) -> str:
    begin, more = _SHAPES[name]
    text = begin + more * ((length - len(begin)) // len(more))
    return text[: length - 1] + '"' if name == "a long reason" else text


def doubling() -> dict[str, float]:
    """Return, for each shape of text, how the time grows from 1,500 to 3,000 characters."""
    catalog = packaged()
    grown = {}
    for name in _SHAPES:
        texts = [_shape(name, length) for length in (1500, 3000)]
        best = [math.inf, math.inf]
        for _ in range(80):  # turn by turn, so that a busy moment cannot meet one length only
            for which, text in enumerate(texts):

                def once(text: str = text) -> None:
                    parse(text, now=NOW, zone="Europe/Berlin", locale="en-US", catalog=catalog)

                best[which] = min(best[which], _seconds(once))
        grown[name] = best[1] / best[0]
    return grown


def rows() -> list[tuple[str, float, str]]:
    """Return the rows of the bench table: name, ratio, mark."""
    worst = max(doubling().items(), key=lambda entry: entry[1])
    return [
        ("parse: dateparser's time over ours", against_dateparser(), "≥ 5"),
        (f"parse: time at twice the length (worst: {worst[0]})", worst[1], DOUBLED),
    ]


if __name__ == "__main__":
    for title, ratio, mark in rows():
        print(f"{title}: {ratio:.2f} ({mark})")
    for title, ratio in doubling().items():
        print(f"  {title}: {ratio:.2f}")
