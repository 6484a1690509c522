"""The bot of a sandbox that was killed ends with it."""

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from sandbox.bot_process import COMMAND, LEASHED, REPOSITORY, BotProcess
from sandbox.world import Settings

SLEEPER = "import threading; threading.Event().wait()"
PARENT = """
import sys
from pathlib import Path
from sandbox.bot_process import BotProcess
bot = BotProcess(environment={"PYTHONPATH": sys.argv[1]}, log=Path(sys.argv[1]) / "log",
                 command=(sys.executable, "-m", "sandbox.leash", "sleeper"))
bot.start()
print(bot.status()["pid"], flush=True)
sys.stdin.read()
"""


def ends(pid: int, seconds: float = 10.0) -> bool:
    """Whether the process ends in time; one that nobody has reaped yet has ended."""
    pause, limit = threading.Event(), time.monotonic() + seconds
    while time.monotonic() < limit:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        pause.wait(0.02)
    return False


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_the_real_bot_runs_on_the_leash():
    assert (*COMMAND[:2], "sandbox.leash", *COMMAND[2:]) == LEASHED
    assert Settings.__dataclass_fields__["command"].default == LEASHED


def test_a_bot_ends_when_its_sandbox_is_killed(tmp_path):
    (tmp_path / "sleeper.py").write_text(SLEEPER)
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path)],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    assert not ends(pid, 0.3)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    assert ends(pid)
    for stream in (parent.stdin, parent.stdout):
        assert stream is not None
        stream.close()


def test_a_bot_lives_as_long_as_its_sandbox_and_can_be_started_again(tmp_path):
    (tmp_path / "sleeper.py").write_text(SLEEPER)
    bot = BotProcess(
        environment={"PYTHONPATH": str(tmp_path)},
        log=tmp_path / "log",
        command=(sys.executable, "-m", "sandbox.leash", "sleeper"),
    )
    before = open_files()
    for _ in range(3):
        bot.start()
        assert not ends(bot.status()["pid"], 0.2)
        assert bot.kill()
    bot.start()
    bot.stop()
    assert not bot.running
    assert open_files() == before
