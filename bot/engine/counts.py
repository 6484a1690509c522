"""Which counts to search for: the asked one, a little more, or the parts of a join.

Plans are sold in powers of two (SageMaker Developer Guide, training plans).
"""

from collections.abc import Sequence

from bot.domain.market import Offering
from bot.domain.request import Request, Target
from bot.engine.wanted import Wanted

_LARGEST = 64
"""The most machines of one purchase (EC2 User Guide, Capacity Blocks)."""


def first_count(count: int, *, plans: bool) -> int:
    """Return the count to ask for first; plans are sold in powers of two only."""
    if plans and count <= _LARGEST:
        return _power_of_two_from(count)
    return min(count, _LARGEST)


def other_counts(
    count: int, request: Request, *, first: int, target: str | None
) -> tuple[int, ...]:
    """Return further counts, most useful first: a little more, then parts of a join.

    One machine is asked for before larger parts: where AWS has not even one, no part exists.
    """
    more = _power_of_two_from(count)
    larger = (more,) if count < more <= min(_LARGEST, 2 * count) and more != first else ()
    minimum = request.minimum_count or count
    powers = [1 << bit for bit in range(7) if (1 << bit) < count]
    if target in {None, Target.HYPERPOD.value}:
        probe = powers[:1]
        return (*larger, *probe, *sorted((p for p in powers if p > 1), reverse=True))
    return (*larger, *sorted((p for p in powers if p >= minimum), reverse=True))


def more_counts_pay(
    asked: int,
    found: Sequence[Offering],
    request: Request,
    item: Wanted,
    *,
    target: str | None,
) -> bool:
    """Return whether another count may still bring a better answer than this one did."""
    if asked == 1:
        return bool(found)
    if asked > item.count:
        return not found
    if found and request.minimum_count is not None and asked >= request.minimum_count:
        return False
    if target not in {None, Target.HYPERPOD.value}:
        return True
    together: dict[tuple[object, ...], int] = {}
    for offering in found:
        key = (offering.zone, offering.segments)
        together[key] = together.get(key, 0) + (
            (offering.ultraserver_count or 0) if item.ultraserver else offering.instance_count
        )
    return not any(total >= item.count for total in together.values())


def _power_of_two_from(count: int) -> int:
    return 1 << max(count - 1, 0).bit_length()
