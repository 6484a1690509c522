"""The Dockerfile, without Docker: linted, and its install steps run in an empty environment."""

import json
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
pytestmark = pytest.mark.system


def copied() -> list[str]:
    final = DOCKERFILE.split("FROM")[-1]
    return re.findall(r"^COPY (?!--from)(\S+) \S+$", final, flags=re.MULTILINE)


def test_hadolint_has_nothing_to_say() -> None:
    hadolint = Path(sys.executable).parent / "hadolint"
    answer = subprocess.run(
        [hadolint, "Dockerfile"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (answer.returncode, answer.stdout + answer.stderr) == (0, "")


def test_it_runs_as_nobody_special_and_is_asked_how_it_is() -> None:
    final = DOCKERFILE.split("FROM")[-1]
    assert re.search(r"^USER [1-9]\d*$", final, flags=re.MULTILINE)
    assert "HEALTHCHECK" in final
    assert "/healthz" in final
    assert "dev.txt" not in DOCKERFILE


@pytest.fixture(scope="module")
def image(tmp_path_factory) -> Path:
    """What the image holds: a fresh environment with the runtime pins, and the copied folders."""
    folder = tmp_path_factory.mktemp("image")
    venv.create(folder / "venv", with_pip=True)
    steps = re.search(r"pip install (--require-hashes -r \S+)", DOCKERFILE)
    assert steps is not None
    subprocess.run(
        [folder / "venv/bin/python", "-m", "pip", "install", "-q", *steps[1].split()],
        cwd=ROOT,
        check=True,
    )
    for name in copied():
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def run(image: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [image / "venv/bin/python", *arguments],
        cwd=image,
        env={"PATH": "/usr/bin:/bin", "HOME": str(image)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_image_has_what_the_bot_needs_and_no_development_tools(image) -> None:
    for tool in ("pytest", "moto", "ruff", "sandbox"):
        found = run(image, "-c", f"import importlib.util as u; print(u.find_spec({tool!r}))")
        assert found.stdout.strip() == "None", tool


def test_the_bot_starts_from_it_as_far_as_its_settings_go(image) -> None:
    answer = run(image, "-m", "bot")
    assert answer.returncode == 78
    assert "SLACK_BOT_TOKEN is not set" in answer.stderr
    assert "Traceback" not in answer.stderr


def test_a_command_line_works_in_it(image) -> None:
    answer = run(
        image, "-m", "bot.cli", "parse", "reserve 2 p5.48xlarge for 3 days", "--json",
        "--now", "2027-03-10T15:00:00Z",
    )  # fmt: skip
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout)["request"]["instance_count"] == 2
