"""Prints every bench row as a ratio measured in this run against something in this run.

`python -m benchmarks [--strict] [row …]`: with --strict a mark that is not met fails.
"""

import importlib
import sys

ROOMS = (
    "parse", "decide", "join", "sweep", "ack", "start", "restart", "clicks", "store", "year",
)  # fmt: skip


def main(words: list[str]) -> int:
    strict = "--strict" in words
    rooms = [word for word in words if word != "--strict"]
    print(f"{'row':44} {'ratio':>8}  mark")
    broken = 0
    for room in rooms or ROOMS:
        try:
            module = importlib.import_module(f"benchmarks.{room}")
        except ModuleNotFoundError as missing:
            if missing.name != f"benchmarks.{room}":
                raise
            continue
        for name, ratio, mark in module.rows():
            kept = holds(ratio, mark)
            broken += not kept
            print(f"{name:44} {ratio:8.2f}  {mark}{'' if kept else '   NOT MET'}", flush=True)
    return 1 if broken and strict else 0


def holds(ratio: float, mark: str) -> bool:
    """Return whether a ratio keeps a mark like "≤ 8" or "≥ 0.5"."""
    sign, number = mark.split()[:2]
    limit = float(number.rstrip("×x"))
    return ratio <= limit if sign == "≤" else ratio >= limit


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
