"""The exact join of 500 offerings, against the same optimum by OR-Tools CP-SAT.

`python -m benchmarks.join` prints the median ratio of interleaved pairs; the mark is 5. Needs
the packages of requirements/bench.txt.
"""

import random
import statistics
import time
from collections.abc import Callable, Sequence
from decimal import Decimal

from bot.engine.joins import Leg, best_join

MARK = 5.0
PAIRS = 5
OFFERINGS = 500
AWS_COUNTS = (1, 2, 4, 8, 16, 32)
WANTED = 61
"""No single count and no two counts reach it, so that a real search is needed."""


def rows() -> list[tuple[str, float, str]]:
    """Name, median ratio and mark, for AWS's counts and for arbitrary ones."""
    odd = tuple(range(1, 31))
    return [
        ("join of 500 offerings, AWS's counts", ratio(AWS_COUNTS), f"≥ {MARK:g}"),
        ("join of 500 offerings, any count to 30", ratio(odd), f"≥ {MARK:g}"),
    ]


def ratio(counts: Sequence[int]) -> float:
    """The median of CP-SAT's time over ours, in interleaved pairs on fresh offerings."""
    measured = []
    for seed in range(PAIRS):
        legs = offerings(seed, counts)
        ours = _seconds(lambda legs=legs: best_join(legs, WANTED))
        theirs = _seconds(lambda legs=legs: by_cp_sat(legs, WANTED))
        chosen = best_join(legs, WANTED)
        assert chosen is not None
        assert by_cp_sat(legs, WANTED) == (len(chosen), sum(leg.fee for leg in chosen))
        measured.append(theirs / ours)
    return statistics.median(measured)


def offerings(seed: int, counts: Sequence[int]) -> list[Leg]:
    """Offerings with fees around a common price, to the cent."""
    dice = random.Random(seed)  # noqa: S311 - repeatable inputs, no secret
    legs = []
    for place in range(OFFERINGS):
        count = dice.choice(counts)
        fee = Decimal(count * 83_059 + dice.randrange(20_000)) / 100
        legs.append(Leg(fee=fee, ref=f"cb-{place:017x}", count=count, place=place))
    return legs


def by_cp_sat(legs: Sequence[Leg], wanted: int) -> tuple[int, Decimal]:
    """Purchases and cost of the optimum: one weighted objective, purchases before cents."""
    from ortools.sat.python import cp_model  # noqa: PLC0415 - only where the bench is installed

    model = cp_model.CpModel()
    taken = [model.new_bool_var(leg.ref) for leg in legs]
    cents = [int(leg.fee * 100) for leg in legs]
    weight = sum(cents) + 1
    model.add(sum(leg.count * take for leg, take in zip(legs, taken, strict=True)) == wanted)
    model.minimize(sum((weight + cost) * take for cost, take in zip(cents, taken, strict=True)))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    assert solver.solve(model) == cp_model.OPTIMAL
    chosen = [leg for leg, take in zip(legs, taken, strict=True) if solver.value(take)]
    return len(chosen), sum((leg.fee for leg in chosen), Decimal(0))


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    for name, measured, mark in rows():
        print(f"{name}: {measured:.1f} (mark {mark})")
