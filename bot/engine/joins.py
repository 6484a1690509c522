"""Which offerings to buy together to reach a count: exact, never greedy, in bounded time.

One layer for each distinct count. Within a count only the cheapest offerings can be part of
the best join, so a layer takes a prefix of them (by fee, then ref), whose costs are summed
beforehand. For a count of N machines the work is at most the sum of N·N/c over the counts c,
however many offerings there are.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate


@dataclass(frozen=True, slots=True, order=True)
class Leg:
    """One offering that may be part of a join; `place` tells equal ones apart."""

    fee: Decimal
    ref: str
    count: int
    place: int = 0


@dataclass(frozen=True, slots=True)
class _Partial:
    """The best way to reach one sum with the counts seen so far."""

    purchases: int
    cost: Decimal
    taken: tuple[Leg, ...]
    before: "_Partial | None"

    def legs(self) -> list[Leg]:
        """Return every leg taken, newest layer first."""
        found: list[Leg] = []
        step: _Partial | None = self
        while step is not None:
            found.extend(step.taken)
            step = step.before
        return found

    def refs(self) -> list[str]:
        """Return the refs in order."""
        return sorted(leg.ref for leg in self.legs())


def best_join(legs: Sequence[Leg], count: int) -> tuple[Leg, ...] | None:
    """Return the legs that sum to exactly `count`, or None when none do.

    Fewest legs first, then the lowest summed fee, then the smallest refs in order. Adding the
    same legs to two partial joins never changes which is better, so the best for each sum is
    all that a layer must remember.
    """
    best: dict[int, _Partial] = {0: _Partial(0, Decimal(0), (), None)}
    for size, offers in sorted(_by_count(legs, count).items()):
        best = _layer(best, size, offers, count)
    full = best.get(count)
    return None if full is None or full.purchases == 0 else tuple(sorted(full.legs(), key=_ref))


def joinable(available: Mapping[int, int], count: int) -> frozenset[int]:
    """Return those counts that are part of some exact join to `count`.

    `available` maps a count to how many offerings hold it. Sums are bits of an integer.
    """
    sizes = sorted(size for size in available if 0 < size <= count)
    before = [1]
    for size in sizes:
        before.append(_reach(before[-1], size, available[size], count, least=0))
    after = [1]
    for size in reversed(sizes):
        after.append(_reach(after[-1], size, available[size], count, least=0))
    after.reverse()
    found = set()
    for place, size in enumerate(sizes):
        using = _reach(before[place], size, available[size], count, least=1)
        rest = after[place + 1]
        if any(using >> part & 1 and rest >> (count - part) & 1 for part in range(count + 1)):
            found.add(size)
    return frozenset(found)


def _layer(
    best: dict[int, _Partial], size: int, offers: Sequence[Leg], count: int
) -> dict[int, _Partial]:
    costs = list(accumulate((leg.fee for leg in offers), initial=Decimal(0)))
    after = dict(best)
    for total, partial in best.items():
        for taken in range(1, min(len(offers), (count - total) // size) + 1):
            reached = total + taken * size
            purchases, cost = partial.purchases + taken, partial.cost + costs[taken]
            rival = after.get(reached)
            if rival is not None and (rival.purchases, rival.cost) < (purchases, cost):
                continue
            fresh = _Partial(purchases, cost, tuple(offers[:taken]), partial)
            tied = rival is not None and (rival.purchases, rival.cost) == (purchases, cost)
            if rival is None or not tied or fresh.refs() < rival.refs():
                after[reached] = fresh
    return after


def _by_count(legs: Sequence[Leg], count: int) -> dict[int, list[Leg]]:
    """Group legs by count, cheapest first, no more of each than could ever be taken."""
    groups: defaultdict[int, list[Leg]] = defaultdict(list)
    for leg in legs:
        if 0 < leg.count <= count:
            groups[leg.count].append(leg)
    return {size: sorted(group)[: count // size] for size, group in groups.items()}


def _reach(sums: int, size: int, many: int, count: int, *, least: int) -> int:
    limit = (1 << (count + 1)) - 1
    reached = 0
    for taken in range(least, min(many, count // size) + 1):
        reached |= sums << (taken * size)
    return reached & limit


def _ref(leg: Leg) -> tuple[str, int]:
    return (leg.ref, leg.place)
