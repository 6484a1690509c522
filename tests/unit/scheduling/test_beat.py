import threading

import pytest

from bot.scheduling import Beat, Loop


class Lines:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def warning(self, event: str, **facts: object) -> None:
        self.lines.append(event)


class Work:
    """A pile of work whose steps can be held up."""

    def __init__(self, pieces: int = 0) -> None:
        self.lock = threading.Lock()
        self.pieces = pieces
        self.looks = 0
        self.all_done = threading.Event()

    def step(self) -> int:
        with self.lock:
            self.looks += 1
            if self.pieces == 0:
                self.all_done.set()
                return 0
            self.pieces -= 1
            return 1


@pytest.fixture
def beat():
    beat = Beat(beat_seconds=3600, log=Lines())
    yield beat
    beat.stop(patience_seconds=5)


def until(claim) -> None:
    for _ in range(500):
        if claim():
            return
        threading.Event().wait(0.01)
    raise AssertionError


def test_what_is_there_at_the_start_is_done_without_a_bell(beat) -> None:
    work = Work(5)
    beat.start([Loop(name="work", step=work.step, threads=2)])
    assert work.all_done.wait(5)


def test_a_bell_wakes_a_sleeping_loop(beat) -> None:
    work = Work()
    beat.start([Loop(name="work", step=work.step)])
    until(lambda: work.looks == 1)
    work.pieces = 3
    beat.ring()
    until(lambda: work.pieces == 0)


def test_an_idle_bell_costs_one_look_however_many_threads_there_are(beat) -> None:
    work = Work()
    beat.start([Loop(name="work", step=work.step, threads=8)])
    until(lambda: work.looks == 8)
    beat.ring()
    until(lambda: work.looks > 8)
    threading.Event().wait(0.1)
    assert work.looks == 9


def test_a_loop_that_fails_goes_on_at_the_next_bell(beat) -> None:
    calls: list[int] = []

    def step() -> int:
        calls.append(1)
        raise RuntimeError

    beat.start([Loop(name="work", step=step)])
    until(lambda: len(calls) == 1)
    beat.ring()
    until(lambda: len(calls) == 2)


def test_several_threads_share_a_pile_while_one_of_them_is_held_up(beat) -> None:
    held, go, done = threading.Event(), threading.Event(), threading.Event()
    pile = ["slow", "quick"]
    lock = threading.Lock()

    def step() -> int:
        with lock:
            piece = pile.pop(0) if pile else None
        if piece == "slow":
            held.set()
            go.wait(5)
        elif piece == "quick":
            done.set()
        return 1 if piece else 0

    beat.start([Loop(name="work", step=step, threads=2)])
    assert held.wait(5)
    assert done.wait(5)
    go.set()
