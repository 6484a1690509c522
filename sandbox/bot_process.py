"""The bot as its own process: start, kill, and ask how it is."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import aiohttp
from pydantic import AwareDatetime, BaseModel, ConfigDict

REPOSITORY = Path(__file__).resolve().parent.parent
COMMAND = (sys.executable, "-m", "bot")
LEASHED = (sys.executable, "-m", "sandbox.leash", "bot")
"""The same bot, which ends with the sandbox; its standard input must be held open."""
HEALTH_SECONDS = 2.0
# A stop is not worth more patience than this: the bot must survive SIGKILL anyway.
GENTLE_SECONDS = 3.0

# The bot inherits nothing that could lead it out of the simulated world: no real tokens, no
# profiles, no proxies (slack_sdk would send even loopback calls through one).
KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT", "VIRTUAL_ENV")


class BotError(RuntimeError):
    """The bot could not be started or stopped as asked."""


class Backlog(BaseModel):
    """What the bot has taken on and not finished."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    inbox: int = 0
    outbox: int = 0
    due: int = 0
    purchases: int = 0

    def empty(self) -> bool:
        """Whether nothing waits.

        Purchases are not asked: one that is under way holds its due row, and one whose process
        died in the call is looked up later, by the very clock that would be waiting for it.
        """
        return not (self.inbox or self.outbox or self.due)

    def said(self) -> str:
        """The backlog in words."""
        return (
            f"inbox {self.inbox}, outbox {self.outbox}, due {self.due}, purchases {self.purchases}"
        )


class Health(BaseModel):
    """The bot's answer at /healthz."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    status: str
    mode: str = ""
    connected: bool = False
    clock: AwareDatetime
    backlog: Backlog = Backlog()
    next_due: AwareDatetime | None = None


def free_port() -> int:
    """A port of the loopback that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class BotProcess:
    """One bot, restarted on the same environment and so on the same database."""

    def __init__(
        self,
        *,
        environment: dict[str, str],
        log: Path,
        command: Sequence[str] = LEASHED,
    ) -> None:
        self.port = free_port()
        inherited = {name: os.environ[name] for name in KEPT if name in os.environ}
        self.environment = inherited | environment | {"HOST": "127.0.0.1", "PORT": str(self.port)}
        self._log = log
        self._command = tuple(command)
        self._process: subprocess.Popen[bytes] | None = None
        self._leash: int | None = None
        self._started = 0.0
        self._starts = 0
        self._lock = threading.Lock()

    @property
    def running(self) -> bool:
        """Whether the process is alive."""
        return self._process is not None and self._process.poll() is None

    @property
    def restarts(self) -> int:
        """How many times it was started again after the first."""
        return max(0, self._starts - 1)

    def status(self) -> dict[str, Any]:
        """What `GET /control/bot` tells; pid and uptime are null while it is down."""
        alive = self._process if self.running else None
        code = None if self._process is None else self._process.poll()
        return {
            "pid": None if alive is None else alive.pid,
            "uptime": None if alive is None else round(time.monotonic() - self._started, 3),
            "restarts": self.restarts,
            "running": alive is not None,
            "exit_status": code,
            "log": str(self._log),
        }

    def start(self) -> None:
        """Start the process.

        Raises:
            BotError: it already runs, or there is no such program.
        """
        with self._lock:
            if self.running:
                raise BotError("the bot is running; kill it first")
            self._let_go()
            with self._open_log() as log:
                end, self._leash = os.pipe()
                try:
                    self._process = subprocess.Popen(  # noqa: S603 - the sandbox's own command
                        self._command,
                        cwd=REPOSITORY,
                        env=self.environment,
                        stdin=end,
                        stdout=log,
                        stderr=subprocess.STDOUT,
                        start_new_session=True,
                    )
                except OSError as error:
                    self._let_go()
                    raise BotError(f"the bot could not be started: {error}") from error
                finally:
                    os.close(end)
            self._started = time.monotonic()
            self._starts += 1

    def kill(self) -> bool:
        """SIGKILL, at once, from any thread; whether there was something to kill."""
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                return False
            self._process.kill()
            self._process.wait()
            self._let_go()
            return True

    def _let_go(self) -> None:
        """Close the near end of the leash; a bot that still ran would end."""
        if self._leash is not None:
            os.close(self._leash)
            self._leash = None

    def stop(self) -> None:
        """SIGTERM, and SIGKILL for one that does not listen."""
        process = self._process
        if process is None or process.poll() is not None:
            with self._lock:
                self._let_go()
            return
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        try:
            process.wait(GENTLE_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
        with self._lock:
            self._let_go()

    async def health(self, session: aiohttp.ClientSession) -> Health | None:
        """The bot's own report, or None when it gives none."""
        if not self.running:
            return None
        url = f"http://127.0.0.1:{self.port}/healthz"
        try:
            async with session.get(
                url, timeout=aiohttp.ClientTimeout(total=HEALTH_SECONDS)
            ) as answer:
                return Health.model_validate_json(await answer.read())
        except (aiohttp.ClientError, TimeoutError, ValueError):
            return None

    def log_tail(self, lines: int = 20) -> str:
        """The end of the log, for a person who wonders why it is down."""
        try:
            text = self._log.read_text("utf-8", errors="replace")
        except OSError:
            return ""
        return "\n".join(text.splitlines()[-lines:])

    def _open_log(self) -> IO[bytes]:
        self._log.parent.mkdir(parents=True, exist_ok=True)
        return self._log.open("ab")
