"""Wakes the loops on a beat, and at once when a bell rings. Holds no rule of its own.

What is due is a row in the store; a beat that is lost or doubled changes nothing. APScheduler
gives the beat; each loop runs on threads of its own, so that a slow AWS call delays no message.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from apscheduler.schedulers.background import BackgroundScheduler
from typing_extensions import override

from bot.ports import Bell
from bot.services.delivering import Log

IDLE_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """One kind of work: `step` returns how much it did; 0 means sleep till the next beat."""

    name: str
    step: Callable[[], int]
    threads: int = 1


@dataclass(slots=True)
class _Worker:
    """One thread of a loop."""

    loop: Loop
    log: Log
    wake: threading.Event = field(default_factory=threading.Event)
    stopping: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None

    def start(self, number: int) -> None:
        self.thread = threading.Thread(target=self._run, name=f"{self.loop.name}-{number}", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        while not self.stopping.is_set():
            self.wake.clear()
            if self._step() == 0:
                self.wake.wait(IDLE_SECONDS)

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

    def __init__(self, *, beat_seconds: float, log: Log) -> None:
        self._log = log
        self._workers: list[_Worker] = []
        self._beat_seconds = beat_seconds
        self._scheduler = BackgroundScheduler(
            job_defaults={"misfire_grace_time": None, "coalesce": True, "max_instances": 1},
            timezone="UTC",
        )

    def start(self, loops: Sequence[Loop]) -> None:
        """Start every loop's threads and the beat."""
        for loop in loops:
            for number in range(loop.threads):
                worker = _Worker(loop, self._log)
                self._workers.append(worker)
                worker.start(number)
        self._scheduler.add_job(self.ring, "interval", seconds=self._beat_seconds)
        self._scheduler.start()

    @override
    def ring(self) -> None:
        for worker in self._workers:
            worker.wake.set()

    def stop(self, *, patience_seconds: float) -> None:
        """Let running steps finish, at most that long; what is left is taken up at the start."""
        for worker in self._workers:
            worker.stopping.set()
            worker.wake.set()
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)
        for worker in self._workers:
            if worker.thread is not None:
                worker.thread.join(patience_seconds)
