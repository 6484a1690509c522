"""`python -m tests.system.chaos --runs N --seed S`: real processes, killed and misled at random.

Each run is one reservation in a sandbox; several share a world, so that money adds up. Prints the
seed, what was done in each run, and every invariant that broke; ends with 1 when one did.
"""

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from tests.system.chaos.invariants import INVARIANTS
from tests.system.chaos.worlds import Told, play

RUNS_IN_A_WORLD = 10


def main() -> int:
    made = argparse.ArgumentParser(prog="python -m tests.system.chaos", description=__doc__)
    made.add_argument("--runs", type=int, default=200)
    made.add_argument("--seed", type=int, default=1)
    made.add_argument("--jobs", type=int, default=2, help="worlds beside each other")
    made.add_argument("--minutes", type=float, default=15, help="no run begins after so long")
    made.add_argument("--runs-in-a-world", type=int, default=RUNS_IN_A_WORLD)
    given = made.parse_args()
    until = time.time() + given.minutes * 60
    sizes = [
        min(given.runs_in_a_world, given.runs - done)
        for done in range(0, given.runs, given.runs_in_a_world)
    ]
    sys.stdout.write(f"seed {given.seed}, up to {given.runs} runs\n")
    sys.stdout.writelines(f"  {rule.__name__.replace('_', ' ')}\n" for rule in INVARIANTS)
    whole = Told()
    with ProcessPoolExecutor(given.jobs, mp_context=get_context("spawn")) as pool:
        worlds = [
            pool.submit(play, given.seed * 1000 + number, size, until)
            for number, size in enumerate(sizes)
        ]
        for world in as_completed(worlds):
            add(whole, world.result())
    ends = ", ".join(f"{count} {end}" for end, count in whole.ends.most_common())
    sys.stdout.write(f"\n{whole.runs} runs, {whole.sold} sales; they ended: {ends}\n")
    sys.stdout.write(f"{len(whole.wrong)} broken\n")
    sys.stdout.writelines(f"  {one}\n" for one in whole.wrong)
    return 1 if whole.wrong else 0


def add(whole: Told, told: Told) -> None:
    sys.stdout.writelines(f"{line}\n" for line in told.lines)
    sys.stdout.writelines(f"  BROKEN {one}\n" for one in told.wrong)
    sys.stdout.flush()
    whole.runs += told.runs
    whole.sold += told.sold
    whole.ends += told.ends
    whole.wrong += told.wrong


if __name__ == "__main__":
    raise SystemExit(main())
