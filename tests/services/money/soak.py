"""Many randomized runs of the money path: `python -m tests.services.money.soak --runs N --seed S`.

Each run is one history of clicks, crashes, faults and changes over the fakes, judged at every
step; the first breach is printed with the steps that lead to it. Ends with 1 on a breach.
"""

import argparse
import multiprocessing
import sys
import time

from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.services.money.test_money_machine import Money, MoneyByTheHour

STEPS = 40
BATCH = 250
"""Runs of one task: short enough to spread, long enough that Hypothesis need not start anew."""

MACHINES = (Money, Money, MoneyByTheHour)
"""Prepaid capacity is where the money is: two thirds of all runs."""


def run(task: tuple[int, int, int]) -> tuple[int, str]:
    """Run one batch; return how many runs it was, and the breach if there was one."""
    number, first, count = task
    machine = MACHINES[number % len(MACHINES)]
    chosen = settings(
        max_examples=count,
        stateful_step_count=STEPS,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate,),
        database=None,
        verbosity=Verbosity.quiet,
        report_multiple_bugs=False,
    )

    runs = 0

    class Counted(machine):
        def __init__(self) -> None:
            nonlocal runs
            runs += 1
            super().__init__()

    try:
        run_state_machine_as_test(seed(first)(Counted), settings=chosen)
    except BaseException as breach:  # noqa: BLE001 — whatever it is, it is printed and counted
        notes = "\n".join(getattr(breach, "__notes__", ()))
        return runs, f"{machine.__name__} seed {first}: {type(breach).__name__}: {breach}\n{notes}"
    return runs, ""


def main(arguments: list[str] | None = None) -> int:
    """Run so many histories and return the exit status."""
    parser = argparse.ArgumentParser(prog="tests.services.money.soak", description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=multiprocessing.cpu_count())
    how = parser.parse_args(arguments)
    tasks = [
        (number, how.seed * 1_000_000 + number, min(BATCH, how.runs - number * BATCH))
        for number in range(-(-how.runs // BATCH))
    ]
    begin, done = time.monotonic(), 0
    with multiprocessing.get_context("spawn").Pool(how.jobs) as pool:
        for runs, breach in pool.imap_unordered(run, tasks):
            done += runs
            if breach:
                sys.stdout.write(f"BREACH after {done} runs\n{breach}\n")
                pool.terminate()
                return 1
            sys.stdout.write(f"{done} runs without a breach\n")
            sys.stdout.flush()
    seconds = time.monotonic() - begin
    sys.stdout.write(f"{done} runs without a breach in {seconds:.0f} s (seed {how.seed})\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
