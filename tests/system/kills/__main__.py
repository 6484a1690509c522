"""`python -m tests.system.kills`: kill the bot at every point; `--list` names the points only."""

import argparse
import sys
import time

from tests.system.kills.journeys import JOURNEYS
from tests.system.kills.running import killed_at, reference


def main() -> int:
    made = argparse.ArgumentParser(prog="python -m tests.system.kills", description=__doc__)
    made.add_argument("--list", action="store_true", help="list the points and end")
    made.add_argument("--journey", choices=JOURNEYS, help="this one only")
    made.add_argument("--from", type=int, default=1, dest="first", help="number of the first point")
    given = made.parse_args()
    failed = 0
    for name in [given.journey] if given.journey else JOURNEYS:
        points = reference(name).points
        sys.stdout.write(f"{name}: {len(points)} points\n")
        for number, point in enumerate(points, 1):
            if given.list:
                sys.stdout.write(f"{number:4} {point}\n")
            elif number >= given.first:
                failed += not survived(name, number, point)
    sys.stdout.write("" if given.list else f"{failed} failed\n")
    return 1 if failed else 0


def survived(name: str, number: int, point: str) -> bool:
    begun = time.monotonic()
    wrong = killed_at(name, point)
    sys.stdout.write(f"{number:4} {time.monotonic() - begun:4.1f}s {point}\n")
    sys.stdout.writelines(f"     {line}\n" for line in wrong)
    sys.stdout.flush()
    return not wrong


if __name__ == "__main__":
    raise SystemExit(main())
