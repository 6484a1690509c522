"""Wakes the loops on a beat, and at once when a bell rings. Holds no rule of its own.

What is due is a row in the store; a beat that is lost or doubled changes nothing. APScheduler
gives the beat; each loop runs on threads of its own, so that a slow AWS call delays no message.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from typing_extensions import override

from bot.ports import Bell

if TYPE_CHECKING:
    from apscheduler.schedulers.background import BackgroundScheduler

    from bot.services.words.delivering import Log

IDLE_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """One kind of work: `step` returns how much it did; 0 means sleep till the next beat."""

    name: str
    step: Callable[[], int]
    threads: int = 1


@dataclass(slots=True)
class _Crew:
    """The threads of one loop. A call wakes one of them; one that found work wakes the next.

    So an idle beat costs one look per loop, however many threads the loop may use.
    """

    loop: Loop
    log: "Log"
    called: bool = False
    stopping: bool = False
    turn: threading.Condition = field(default_factory=threading.Condition)
    threads: list[threading.Thread] = field(default_factory=list)

    def start(self) -> None:
        for number in range(self.loop.threads):
            name = f"{self.loop.name}-{number}"
            self.threads.append(threading.Thread(target=self._run, name=name, daemon=True))
        for thread in self.threads:
            thread.start()

    def call(self) -> None:
        with self.turn:
            self.called = True
            self.turn.notify()

    def stop(self) -> None:
        with self.turn:
            self.stopping = True
            self.turn.notify_all()

    def _run(self) -> None:
        while not self.stopping:
            if self._step() > 0:
                self.call()
                continue
            with self.turn:
                if not self.called and not self.stopping:
                    self.turn.wait(IDLE_SECONDS)
                self.called = False

    def _step(self) -> int:
        try:
            return self.loop.step()
        except Exception as error:  # noqa: BLE001 — the boundary of a background loop
            self.log.warning(
                "loop failed, goes on at the next beat",
                loop=self.loop.name,
                error=f"{type(error).__name__}: {error}",
            )
            return 0


class Beat(Bell):
    """Runs loops on threads; `beat_seconds` apart at the longest, at once when rung."""

    def __init__(self, *, beat_seconds: float, log: "Log") -> None:
        self._log = log
        self._crews: list[_Crew] = []
        self._beat_seconds = beat_seconds
        self._scheduler: BackgroundScheduler | None = None

    def start(self, loops: Sequence[Loop]) -> None:
        """Start every loop's threads and the beat."""
        self._crews = [_Crew(loop, self._log) for loop in loops]
        for crew in self._crews:
            crew.start()
        from apscheduler.schedulers.background import (  # noqa: PLC0415 - a bell rings without it
            BackgroundScheduler,
        )

        self._scheduler = BackgroundScheduler(
            job_defaults={"misfire_grace_time": None, "coalesce": True, "max_instances": 1},
            timezone="UTC",
        )
        self._scheduler.add_job(self.ring, "interval", seconds=self._beat_seconds)
        self._scheduler.start()

    @override
    def ring(self) -> None:
        for crew in self._crews:
            crew.call()

    def stop(self, *, patience_seconds: float) -> None:
        """Let running steps finish, at most that long; what is left is taken up at the start."""
        for crew in self._crews:
            crew.stop()
        if self._scheduler is not None and self._scheduler.running:
            self._scheduler.shutdown(wait=False)
        end = time.monotonic() + patience_seconds
        for thread in (thread for crew in self._crews for thread in crew.threads):
            thread.join(max(0.0, end - time.monotonic()))
