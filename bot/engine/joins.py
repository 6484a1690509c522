"""Which offerings to buy together to reach a count: exact, never greedy, in bounded time.

First the fewest purchases that reach the count, by sums kept as the bits of integers. Then the
cheapest join of that many: one layer for each distinct count, where only the cheapest offerings
of a count can be part of it, so a layer takes a prefix of them with costs summed beforehand.
The work grows with the count and with the number of distinct counts, not with the offerings.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from heapq import nsmallest
from itertools import accumulate


@dataclass(frozen=True, slots=True)
class Leg:
    """One offering that may be part of a join; `place` tells equal ones apart."""

    fee: Decimal
    ref: str
    count: int
    place: int = 0


def best_join(legs: Sequence[Leg], count: int) -> tuple[Leg, ...] | None:
    """Return the legs that sum to exactly `count`, by ref, or None when none do.

    Fewest legs first, then the lowest summed fee, then the smallest refs in order.
    """
    groups: defaultdict[int, list[Leg]] = defaultdict(list)
    for leg in legs:
        if 0 < leg.count <= count:
            groups[leg.count].append(leg)
    sizes = sorted(groups, reverse=True)
    most = fewest({size: len(groups[size]) for size in sizes}, count)
    if most is None:
        return None
    layers = [_Layer(size, nsmallest(most, groups[size], key=_cheapest)) for size in sizes]
    return tuple(sorted(_cheapest_of(layers, count, most), key=_by_ref))


def fewest(available: Mapping[int, int], count: int) -> int | None:
    """Return the fewest offerings that sum to exactly `count`, or None.

    `available` maps a count to how many offerings hold it. The limit is doubled until it is
    enough, since the answer is small on any market that people buy from.
    """
    reachable, mask = 1, (1 << (count + 1)) - 1
    for size, many in available.items():
        reachable = _reach(reachable, size, many, count, least=0)
    if not reachable >> count & 1:
        return None
    limit = 1
    while True:
        limit *= 2
        sums = [1] + [0] * limit
        for size, many in available.items():
            for purchases in range(limit, 0, -1):
                for taken in range(1, min(many, purchases, count // size) + 1):
                    sums[purchases] |= (sums[purchases - taken] << (taken * size)) & mask
        for purchases in range(1, limit + 1):
            if sums[purchases] >> count & 1:
                return purchases


def joinable(available: Mapping[int, int], count: int) -> frozenset[int]:
    """Return those counts that are part of some exact join to `count`.

    `available` maps a count to how many offerings hold it.
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


class _Layer:
    """The offerings of one count, cheapest first, and what each prefix of them costs."""

    def __init__(self, size: int, legs: Sequence[Leg]) -> None:
        self.size = size
        self.legs = legs
        self.costs = list(accumulate((leg.fee for leg in legs), initial=Decimal(0)))


_Partial = tuple[Decimal, tuple[int, ...]]
"""The cost of a partial join, and how many of each layer so far it takes."""


def _cheapest_of(layers: Sequence[_Layer], count: int, most: int) -> list[Leg]:
    """Return the cheapest `most` legs that sum to `count`.

    Adding the same legs to two partial joins never changes which is better, so the best for
    each number of purchases and sum is all that a layer must remember.
    """
    best: dict[tuple[int, int], _Partial] = {(0, 0): (Decimal(0), ())}
    for place, layer in enumerate(layers):
        largest_left = layers[place + 1].size if place + 1 < len(layers) else 0
        after: dict[tuple[int, int], _Partial] = {}
        for (purchases, total), (cost, taken) in best.items():
            for more in range(min(len(layer.legs), most - purchases) + 1):
                bought, reached = purchases + more, total + more * layer.size
                if reached > count:
                    break
                if reached + (most - bought) * largest_left < count:
                    continue
                fresh = (cost + layer.costs[more], (*taken, more))
                rival = after.get((bought, reached))
                if rival is None or _better(fresh, rival, layers):
                    after[bought, reached] = fresh
        best = after
    return _legs(best[most, count][1], layers)


def _better(fresh: _Partial, rival: _Partial, layers: Sequence[_Layer]) -> bool:
    if fresh[0] != rival[0]:
        return fresh[0] < rival[0]
    return _refs(fresh[1], layers) < _refs(rival[1], layers)


def _refs(taken: Sequence[int], layers: Sequence[_Layer]) -> list[str]:
    return sorted(leg.ref for leg in _legs(taken, layers))


def _legs(taken: Sequence[int], layers: Sequence[_Layer]) -> list[Leg]:
    parts = zip(layers, taken, strict=False)
    return [leg for layer, many in parts for leg in layer.legs[:many]]


def _reach(sums: int, size: int, many: int, count: int, *, least: int) -> int:
    limit = (1 << (count + 1)) - 1
    reached = 0
    for taken in range(least, min(many, count // size) + 1):
        reached |= sums << (taken * size)
    return reached & limit


def _cheapest(leg: Leg) -> tuple[Decimal, str, int]:
    return (leg.fee, leg.ref, leg.place)


def _by_ref(leg: Leg) -> tuple[str, int]:
    return (leg.ref, leg.place)
