"""`year`: 60 people through the real services over a SQLite file, as a year would bring them.

The product runs as it is wired, with AWS and Slack in this process and a clock that jumps from
one thing to the next. Two worlds run side by side, each in a process of its own, one with twice
the requests. Each tenth of the time gives the ratio of their work in processor seconds; the
median is one row. The other is by how much the larger one has grown since its first tenth.

The bench takes a sixth of the year at the year's own pace, 5,000 requests in 365 days;
`python -m benchmarks.year 365` takes the whole, in some minutes.
"""

import gc
import logging
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from statistics import median

import structlog

from benchmarks.land import Channel, Land, LandClock, Ports, Townsfolk
from bot import wiring
from bot.catalog import packaged
from bot.domain.records import Switch
from bot.domain.request import Parsed, Request, Status, Target
from bot.policy.configuration import Account, ApprovalRules, Channels, Configuration, Team, Tier
from bot.scheduling import Beat
from bot.services.requests.asking import Asker
from storage import open_store

A_YEAR = 365
REQUESTS = 5_000
DAYS = 61
PEOPLE = 60
TEAMS = 6
STEPS = 10
TIME_MARK = "≤ 2.0"
MEMORY_MARK = "≤ 1.05"
FIRST = datetime(2027, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)
MOST = Decimal(10_000_000)
SECONDS_IN_DAY = 86_400
MEMORY = Path("/dev/shm")  # noqa: S108 - a bench's own folder in it; spares waiting for the disk


@dataclass(frozen=True)
class Wish:
    """One request: who asks when for what, and what becomes of it."""

    at: datetime
    user: str
    request: Request
    fate: str


def rows() -> list[tuple[str, float, str]]:
    """Return the two ratios with their marks."""
    return _ratios(DAYS)


def _ratios(days: int) -> list[tuple[str, float, str]]:
    running = [_start(days, twice=twice) for twice in (False, True)]
    (once, _), (twice, held) = (_measured(process) for process in running)
    # The first tenth loads what is loaded once.
    pairs = list(zip(twice, once, strict=True))[1:]
    span = "year" if days == A_YEAR else f"year, {days} days of it"
    return [
        (f"{span}: twice the requests", median(more / less for more, less in pairs), TIME_MARK),
        (f"{span}: memory since its first tenth", held[-1] / held[0], MEMORY_MARK),
    ]


def _start(days: int, *, twice: bool) -> subprocess.Popen[str]:
    word = "--twice" if twice else "--once"
    command = [sys.executable, "-m", "benchmarks.year", word, str(days)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def _measured(process: subprocess.Popen[str]) -> tuple[list[float], list[int]]:
    """Return processor seconds and resident bytes, one of each for every tenth."""
    said, _ = process.communicate()
    if process.returncode:
        raise RuntimeError("a simulated world broke; its error stands above")
    lines = [line.split() for line in said.splitlines()]
    return [float(seconds) for seconds, _ in lines], [int(held) for _, held in lines]


def wishes(count: int, days: int, *, twice: bool) -> list[Wish]:
    """Return the requests of so many days in the order of asking.

    `twice` gives every one of them a twin of somebody else, half a day later.
    """
    draw = random.Random(count)  # noqa: S311 - a year that is the same in every run
    made = [_wish(draw, days) for _ in range(count)]
    if twice:
        made += [
            replace(wish, at=FIRST + (wish.at - FIRST + DAY / 2) % (days * DAY), user=_user(draw))
            for wish in made
        ]
    return sorted(made, key=lambda wish: wish.at)


def _wish(draw: random.Random, days: int) -> Wish:
    at = FIRST + timedelta(seconds=draw.randrange(days * SECONDS_IN_DAY))
    kind = draw.choices(("block", "plan", "on-demand", "spot"), (54, 20, 25, 1))[0]
    length = 1 if kind == "spot" else draw.choice((1, 1, 2, 3, 7))
    request = Request(
        instance_type="p5.48xlarge",
        instance_count=draw.choice((1, 2, 4)),
        duration_hours=Decimal(24 * length),
        earliest_start=at + DAY * draw.choice((0, 1, 3, 7)),
        target=Target.TRAINING_JOB if kind == "plan" else None,
        interruptible=True if kind == "spot" else None,
    )
    fates = ("bought", "extended", "denied", "cancelled", "unanswered", "left")
    fate = draw.choices(fates, (70, 5, 8, 8, 5, 4))[0]
    return Wish(at=at, user=_user(draw), request=request, fate=fate)


def _user(draw: random.Random) -> str:
    return f"U{draw.randrange(PEOPLE):03}"


def configuration() -> Configuration:
    """Return rules that let a year through: one approver, and no ceiling that is ever met."""
    people = [f"U{number:03}" for number in range(PEOPLE)]
    return Configuration(
        accounts=(Account(name="research", account_id="111122223333", regions=("us-east-1",)),),
        purchasing=Switch.ON,
        daily_ceiling_usd=MOST,
        channels=Channels(requests="C0GPU", approvals="C0APPROVE", digest="C0GPU"),
        administrators=("U0ADMIN",),
        teams=tuple(
            Team(
                name=f"team{number}",
                members=tuple(people[number::TEAMS]),
                monthly_budget_usd=MOST,
            )
            for number in range(TEAMS)
        ),
        approval=ApprovalRules(
            tiers=(
                Tier(up_to_usd=Decimal(500), auto=True),
                Tier(up_to_usd=MOST, approvers=("U0BRUNO", "U0CARLA")),
            )
        ),
    )


@contextmanager
def _instead(**names: object) -> Iterator[None]:
    """Have the wiring name other classes meanwhile."""
    before = {name: getattr(wiring, name) for name in names}
    vars(wiring).update(names)
    try:
        yield
    finally:
        vars(wiring).update(before)


class Year:
    """The product, wired as in production, and the requests that it has to serve."""

    def __init__(self, path: Path, asked: Sequence[Wish]) -> None:
        self.clock = LandClock(FIRST)
        self.land = Land(self.clock)
        self.store = open_store(f"sqlite:///{path}")
        people = Townsfolk(self.clock)
        aws = Ports(self.land)
        log = structlog.wrap_logger(
            structlog.PrintLogger(),
            wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL),
        )
        with _instead(
            Aws=lambda **_: aws,
            SlackPeople=lambda **_: people,
            SlackMessenger=lambda **_: Channel(),
        ):
            self.house = wiring.build(
                configuration=configuration(),
                store=self.store,
                clock=self.clock,
                bell=Beat(beat_seconds=60, log=log),
                slack=wiring.Slack(token="xoxb-0", base_url="http://127.0.0.1/", workspace="T0"),  # noqa: S106 - opens nothing
                catalog=packaged(),
                log=log,
            )
        self.house.digesting.ensure()
        self.plans: list[tuple[datetime, int, partial[None]]] = [
            (wish.at, number, partial(self._ask, wish)) for number, wish in enumerate(asked)
        ]
        self.plans.reverse()

    # --- what people do ------------------------------------------------------------------------

    def _ask(self, wish: Wish) -> None:
        line = f"reserve {wish.at.isoformat()}"
        parsed = Parsed(
            status=Status.OK, command="reserve", id=None, arguments={}, request=wish.request,
            line=line, echo=line, questions=(), problem=None,
        )  # fmt: skip
        asker = Asker(
            user=wish.user, workspace="T0", channel="C0GPU", zone="Europe/Berlin", locale="en-US"
        )
        filed = self.house.desk.asking.file(parsed, by=asker)
        assert filed.reservation is not None
        number = filed.reservation.id
        if wish.fate == "cancelled":
            self._plan(10 * MINUTE, partial(self._cancel, number, wish.user))
        elif wish.fate != "left":
            self._plan(2 * MINUTE, partial(self._propose, number, wish))

    def _cancel(self, number: int, user: str) -> None:
        self.house.desk.asking.cancel(number, by=user)

    def _propose(self, number: int, wish: Wish) -> None:
        proposal = self.house.desk.proposing.propose(number, by=wish.user)
        if proposal.auto:
            return
        if wish.fate == "denied":
            self._plan(5 * MINUTE, partial(self._deny, proposal.id))
        elif wish.fate != "unanswered":
            self._plan(10 * MINUTE, partial(self._approve, proposal.id, wish))

    def _deny(self, proposal: int) -> None:
        self.house.desk.approving.deny(proposal, by="U0CARLA", reason="too dear")

    def _agree(self, proposal: int) -> None:
        self.house.desk.approving.approve(proposal, by="U0BRUNO")

    def _approve(self, proposal: int, wish: Wish) -> None:
        agreed = self.house.desk.approving.approve(proposal, by="U0BRUNO")
        start = agreed.option.segments[0].start
        if wish.fate == "extended" and agreed.option.paid == "upfront":
            later = start - self.clock.now() + timedelta(hours=3)
            self._plan(later, partial(self._extend, agreed.reservation_id, wish.user))

    def _extend(self, number: int, user: str) -> None:
        assert self.house.desk.after is not None
        proposal = self.house.desk.after.extending.extend(number, hours=Decimal(24), by=user)
        self._plan(10 * MINUTE, partial(self._agree, proposal.id))

    def _plan(self, later: timedelta, what: partial[None]) -> None:
        at = self.clock.now() + later
        place = next(
            (spot for spot in range(len(self.plans), 0, -1) if self.plans[spot - 1][0] >= at), 0
        )
        self.plans.insert(place, (at, 0, what))

    # --- time ----------------------------------------------------------------------------------

    def run_until(self, end: datetime) -> None:
        """Move the clock from one thing to the next, until then."""
        while True:
            self._settle()
            with self.store.reading() as tx:
                times = [tx.dues.next_at(), tx.outbox.next_at()]
            if self.plans:
                times.append(self.plans[-1][0])
            ahead = min(at for at in times if at is not None)
            if ahead >= end:
                self.clock.instant = end
                return
            self.clock.instant = max(ahead, self.clock.instant)
            while self.plans and self.plans[-1][0] <= self.clock.instant:
                _, _, what = self.plans.pop()
                what()

    def _settle(self) -> None:
        while self.house.duties.step() + self.house.delivering.step():
            pass


def _run(days: int, *, twice: bool) -> None:
    """Run one world and print a line for each tenth of its time."""
    count = REQUESTS * days // A_YEAR // 2
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        year = Year(Path(folder) / "year.sqlite", wishes(count, days, twice=twice))
        for step in range(1, STEPS + 1):
            began = time.process_time()
            year.run_until(FIRST + step * days * DAY / STEPS)
            took = time.process_time() - began
            gc.collect()
            print(took, _resident(), flush=True)
        year.store.close()


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--once" | "--twice" as word, days]:
            _run(int(days), twice=word == "--twice")
        case words:
            for name, ratio, mark in _ratios(int(words[0]) if words else DAYS):
                print(f"{name:44} {ratio:8.2f}  {mark}")
