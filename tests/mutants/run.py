"""Break one rule at a time in a copy of the tree; every break must turn its tests red.

`python -m tests.mutants.run [room …] [--jobs N]`: a room is a module beside this one with
`TESTS` (pytest paths) and `MUTANTS`. Ends with 1 when a mutant survives, or when the text that
it replaces does not stand in its file exactly once.
"""

import argparse
import importlib
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_COPIED = ("bot", "handlers", "storage", "sandbox", "tests", "benchmarks", "pyproject.toml")
_SLOWEST_SECONDS = 300
_TESTS_FAILED = 1
_NOTHING_COLLECTED = 5


@dataclass(frozen=True, slots=True)
class Mutant:
    """One broken rule: `before` stands exactly once in the file and becomes `after`.

    `tests` narrows the room's tests to those that should see it.
    """

    name: str
    path: str
    before: str
    after: str
    tests: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a mutant: killed, survived, or broken (it could not be tried)."""

    room: str
    mutant: Mutant
    verdict: str
    detail: str = ""


def rooms() -> list[str]:
    """Return the names of the rooms that have mutants."""
    here = Path(__file__).parent
    return sorted(path.stem for path in here.glob("*.py") if path.stem not in {"run", "__init__"})


def load(room: str) -> tuple[tuple[str, ...], tuple[Mutant, ...]]:
    """Return the room's tests and mutants."""
    module = importlib.import_module(f"tests.mutants.{room}")
    return tuple(module.TESTS), tuple(module.MUTANTS)


@contextmanager
def copied_tree() -> Iterator[Path]:
    """Yield a copy of what tests need, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        for name in _COPIED:
            source, target = ROOT / name, Path(folder) / name
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
            elif source.is_file():
                shutil.copy2(source, target)
        for path in ROOT.glob("*.y*ml"):
            shutil.copy2(path, folder)
        yield Path(folder)


def _pytest(tree: Path, tests: Sequence[str]) -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command,
            cwd=tree,
            env=environment,
            capture_output=True,
            text=True,
            timeout=_SLOWEST_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return _TESTS_FAILED, "timed out"
    return done.returncode, done.stdout[-2000:] + done.stderr[-2000:]


def attempt(room: str, mutant: Mutant, tests: Sequence[str], tree: Path) -> Outcome:
    """Return the verdict of one mutant; the tree is as before afterwards."""
    path = tree / mutant.path
    original = path.read_text(encoding="utf-8") if path.is_file() else ""
    found = original.count(mutant.before)
    if found != 1:
        return Outcome(room, mutant, "broken", f"its text stands {found} times in {mutant.path}")
    path.write_text(original.replace(mutant.before, mutant.after), encoding="utf-8")
    try:
        code, output = _pytest(tree, mutant.tests or tests)
    finally:
        path.write_text(original, encoding="utf-8")
    if code == 0:
        return Outcome(room, mutant, "survived")
    if code == _NOTHING_COLLECTED:
        return Outcome(room, mutant, "broken", "its tests hold no test")
    # Anything else red counts: a tree that cannot even be imported is seen by every test.
    return Outcome(room, mutant, "killed", output if code != _TESTS_FAILED else "")


def run(chosen: Sequence[str], jobs: int) -> list[Outcome]:
    """Return the outcome of every mutant of the chosen rooms, in order."""
    work = [
        (room, mutant, tests) for room in chosen for tests, all_ in [load(room)] for mutant in all_
    ]
    trees: queue.Queue[Path] = queue.Queue()

    def one(entry: tuple[str, Mutant, tuple[str, ...]]) -> Outcome:
        room, mutant, tests = entry
        tree = trees.get()
        try:
            begin = time.monotonic()
            outcome = attempt(room, mutant, tests, tree)
        finally:
            trees.put(tree)
        seconds = time.monotonic() - begin
        sys.stdout.write(f"{outcome.verdict:9}{room}: {mutant.name} ({seconds:.1f} s)\n")
        sys.stdout.flush()
        return outcome

    with copied_trees(jobs) as folders:
        for folder in folders:
            trees.put(folder)
        with ThreadPoolExecutor(jobs) as pool:
            return list(pool.map(one, work))


@contextmanager
def copied_trees(count: int) -> Iterator[list[Path]]:
    """Yield so many copies of the tree, one for each job."""
    with ExitStack() as stack:
        yield [stack.enter_context(copied_tree()) for _ in range(count)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the chosen rooms and return the exit status."""
    parser = argparse.ArgumentParser(prog="tests.mutants.run", description=__doc__)
    parser.add_argument("rooms", nargs="*", metavar="room", help="default: all")
    parser.add_argument("--jobs", type=int, default=max(1, os.cpu_count() or 1))
    chosen = parser.parse_args(arguments)
    unknown = sorted(set(chosen.rooms) - set(rooms()))
    if unknown:
        parser.error(f"no such room: {', '.join(unknown)}; there are {', '.join(rooms())}")
    outcomes = run(chosen.rooms or rooms(), max(1, chosen.jobs))
    bad = [outcome for outcome in outcomes if outcome.verdict != "killed"]
    for outcome in bad:
        sys.stdout.write(
            f"{outcome.verdict.upper()} {outcome.room}: {outcome.mutant.name} {outcome.detail}\n"
        )
    sys.stdout.write(f"{len(outcomes) - len(bad)} of {len(outcomes)} mutants killed\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
