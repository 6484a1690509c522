"""`start`: the bot from process start to ready, against the imports and an empty connected App.

Both sides run in an environment with the runtime pins only, as the image has it: sqlite_utils
imports numpy and pandas where they are installed, and the bench's own environment has them.
"""

import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from urllib.error import URLError
from urllib.request import urlopen

from benchmarks.standin import FakeSlack

ROOT = Path(__file__).resolve().parents[1]
PYTHON = os.environ.get("BENCH_PYTHON", str(ROOT / ".venv-run/bin/python"))
PAIRS = 5
MARK = "≤ 1.8"

ANCHOR = """
import sys, boto3, pydantic
from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_sdk import WebClient
app = App(client=WebClient(token="xoxb-x", base_url=sys.argv[1]), token_verification_enabled=False)
handler = SocketModeHandler(app, "xapp-1-A1-x", web_client=WebClient(base_url=sys.argv[1]))
handler.connect()
print("ready", flush=True)
sys.stdin.read()
"""


def rows() -> list[tuple[str, float, str]]:
    """Return the ratio of medians over interleaved pairs."""
    with FakeSlack() as slack, tempfile.TemporaryDirectory() as folder:
        ours, anchors = [], []
        for _ in range(PAIRS + 1):
            anchors.append(_anchor(slack.base_url))
            ours.append(_bot(slack.base_url, Path(folder)))
    pairs = [mine / other for mine, other in zip(ours[1:], anchors[1:], strict=True)]
    return [("start: process to ready / imports and App", median(pairs), MARK)]


def _anchor(base_url: str) -> float:
    began = time.perf_counter()
    process = subprocess.Popen(
        [PYTHON, "-c", ANCHOR, base_url], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    took = time.perf_counter() - began
    _end(process)
    return took


def _bot(base_url: str, folder: Path) -> float:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    config = folder / "gpubot.yaml"
    config.write_text((ROOT / "bot/settings/example.yaml").read_text("utf-8"), "utf-8")
    environment = {
        "PATH": os.environ["PATH"],
        "SLACK_BOT_TOKEN": "xoxb-x",
        "SLACK_APP_TOKEN": "xapp-1-A1-x",
        "SLACK_API_URL": base_url,
        "GPUBOT_CONFIG": str(config),
        "GPUBOT_DATABASE": f"sqlite:///{folder}/start.sqlite",
        "PORT": str(port),
        "HOST": "127.0.0.1",
    }
    began = time.perf_counter()
    process = subprocess.Popen(
        [PYTHON, "-m", "bot"], cwd=ROOT, env=environment, stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    while not _well(port):
        assert process.poll() is None, "the bot ended before it was ready"
        time.sleep(0.005)
    took = time.perf_counter() - began
    _end(process)
    return took


def _well(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/healthz", timeout=1) as answer:
            return bool(answer.status == 200)
    except (URLError, OSError):
        return False


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate()


if __name__ == "__main__":
    sys.stdout.write(f"{rows()}\n")
