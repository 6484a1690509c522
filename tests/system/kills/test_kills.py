"""The bot is killed with SIGKILL around every commit and every call, and loses nothing."""

import pytest

from tests.system.kills.journeys import JOURNEYS
from tests.system.kills.running import killed_at, reference
from tests.system.kills.verdicts import UNSENT

pytestmark = pytest.mark.system

SHARES = 12
"""Parts of about the same length, for workers that run beside each other."""


@pytest.mark.parametrize("share", range(SHARES))
def test_a_kill_anywhere_in_a_purchase_changes_neither_books_nor_messages(share):
    assert wrong_at("bought", share, of=SHARES) == {}


@pytest.mark.parametrize("name", ["denied", "expired"])
@pytest.mark.parametrize("share", range(2))
def test_a_kill_anywhere_in_an_end_without_purchase_changes_nothing_either(name, share):
    """Filing and asking are the purchase's own; only the points of the other end are new."""
    assert wrong_at(name, share, of=2, beside="bought") == {}


def test_the_main_journey_passes_at_least_forty_points():
    points = reference("bought").points
    assert len(points) >= 40
    assert len(set(points)) == len(points)
    assert set(UNSENT) < set(points)
    commits = [point for point in points if "commit" in point]
    assert {point.partition(" ")[0] for point in commits} == {"before", "after"}


def wrong_at(name: str, share: int, *, of: int, beside: str | None = None) -> dict[str, list[str]]:
    known = set(reference(beside).points) if beside is not None else set()
    points = [point for point in reference(name).points if point not in known]
    verdicts = {point: killed_at(name, point) for point in points[share::of]}
    return {point: wrong for point, wrong in verdicts.items() if wrong}


def test_all_journeys_are_killed():
    assert set(JOURNEYS) == {"bought", "denied", "expired"}
