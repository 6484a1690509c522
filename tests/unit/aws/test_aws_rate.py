"""Tokens are shared and some are set aside; people who ask at once make one call."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from bot.aws.rate import Shared, Tokens
from bot.domain.errors import MarketError
from tests.fakes.clock import FakeClock


class Wall:
    def __init__(self) -> None:
        self.at = 0.0
        self.slept: list[float] = []

    def seconds(self) -> float:
        return self.at

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.at += seconds


def test_two_tokens_stay_for_requotes():
    wall = Wall()
    tokens = Tokens(seconds=wall.seconds, sleep=wall.sleep)
    assert [tokens.take("r", patience_seconds=0) for _ in range(9)] == [True] * 8 + [False]
    spare = [tokens.take("r", patience_seconds=0, spare=True) for _ in range(3)]
    assert spare == [True, True, False]


def test_each_region_has_its_own_tokens():
    wall = Wall()
    tokens = Tokens(seconds=wall.seconds, sleep=wall.sleep, burst=3)
    assert tokens.take("a", patience_seconds=0)
    assert not tokens.take("a", patience_seconds=0)
    assert tokens.take("b", patience_seconds=0)


def test_a_search_waits_for_the_refill_but_not_beyond_its_patience():
    wall = Wall()
    tokens = Tokens(seconds=wall.seconds, sleep=wall.sleep)
    for _ in range(8):
        tokens.take("r", patience_seconds=0)
    assert not tokens.take("r", patience_seconds=6)
    assert wall.slept == []
    assert tokens.take("r", patience_seconds=7)
    assert sum(wall.slept) == pytest.approx(1 / 0.15)


def test_a_refusal_of_aws_empties_our_count_too():
    wall = Wall()
    tokens = Tokens(seconds=wall.seconds, sleep=wall.sleep)
    tokens.empty("r")
    assert not tokens.take("r", patience_seconds=0, spare=True)


def test_ten_at_once_make_one_call_and_a_minute_later_another():
    clock = FakeClock()
    shared: Shared[int] = Shared(clock=clock, keep=timedelta(seconds=60))
    made: list[int] = []
    gate = threading.Event()

    def make() -> int:
        gate.wait(5)
        made.append(1)
        return len(made)

    with ThreadPoolExecutor(10) as pool:
        asked = [pool.submit(shared.get, "key", make) for _ in range(10)]
        gate.set()
        assert [future.result() for future in asked] == [1] * 10
    clock.advance(timedelta(seconds=61))
    assert shared.get("key", make) == 2


def test_a_failure_is_told_and_not_kept():
    shared: Shared[int] = Shared(clock=FakeClock(), keep=timedelta(hours=1))

    def fail() -> int:
        raise MarketError("throttled", "x")

    with pytest.raises(MarketError):
        shared.get("key", fail)
    assert shared.get("key", lambda: 7) == 7
