"""What the documents say is what the program does."""

import json
import re
import subprocess
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from bot.catalog import packaged
from bot.language import parse
from bot.settings import Environment
from handlers import VERBS
from handlers.checking import SCOPES

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
NOW = datetime(2027, 3, 10, 15, tzinfo=UTC)


def commands() -> list[str]:
    table = README.split("## What people type")[1].split("## ")[0]
    # Slack sends a name as a mention before the bot sees it.
    return [re.sub(r"@\w+", "<@U0LIN>", line) for line in re.findall(r"`/gpu ([^`]+)`", table)]


@pytest.mark.parametrize("line", commands())
def test_every_command_of_the_readme_means_something(line) -> None:
    parsed = parse(line, now=NOW, zone="UTC", locale="en-US", catalog=packaged())
    assert parsed.status == "ok", parsed.problem


def test_the_readme_shows_the_verbs_that_work_and_no_other() -> None:
    shown = set()
    for line in commands():
        parsed = parse(line, now=NOW, zone="UTC", locale="en-US", catalog=packaged())
        shown.add(parsed.command)
    assert shown == set(VERBS)


def test_the_readme_names_every_variable_that_is_read() -> None:
    table = README.split("## Configuration")[1].split("## ")[0]
    assert set(re.findall(r"^\| `([A-Z_]+)`", table, flags=re.MULTILINE)) == {
        name.upper() for name in Environment.model_fields
    }


def test_the_readme_opens_with_what_it_does_a_picture_and_two_commands() -> None:
    first_screen = "\n".join(README.splitlines()[:20])
    for part in ("![", "make sandbox", "make test"):
        assert part in first_screen
    [picture] = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", first_screen)
    assert (ROOT / picture).is_file()


def test_every_link_in_the_documents_leads_somewhere() -> None:
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_doctor_asks_for_the_scopes_of_the_manifest() -> None:
    manifest = yaml.safe_load((ROOT / "manifest.yml").read_text(encoding="utf-8"))
    assert set(manifest["oauth_config"]["scopes"]["bot"]) == set(SCOPES)


def test_every_command_of_the_command_line_has_help(tmp_path) -> None:
    for words in (
        [], ["parse"], ["plan"], ["run"], ["config"], ["config", "check"], ["config", "example"],
        ["policy", "explain"], ["replay"], ["ledger"], ["doctor"],
    ):  # fmt: skip
        answer = subprocess.run(
            [ROOT / ".venv/bin/gpubot", *words, "--help"],
            capture_output=True,
            text=True,
            check=True,
        )
        assert "Usage: gpubot" in answer.stdout


def test_requirement_files_pin_with_hashes_and_name_no_index() -> None:
    for file in (ROOT / "requirements").glob("*.txt"):
        text = file.read_text(encoding="utf-8")
        assert "index-url" not in text
        pins = re.findall(r"^[a-z0-9][^\n]*==[^\n]*", text, flags=re.MULTILINE)
        assert pins
        assert all(pin.rstrip().endswith("\\") for pin in pins)


@pytest.mark.parametrize(
    ("purpose", "policy"),
    [("reading", "read"), ("buying", "buy"), ("launching", "launch"), ("hearing", "events")],
)
def test_the_readme_names_every_permission_of_the_policies_and_no_other(purpose, policy) -> None:
    table = README.split("## AWS permissions")[1].split("## ")[0]
    [row] = [line for line in table.splitlines() if line.startswith(f"| {purpose}")]
    statements = json.loads((ROOT / "docs" / "iam" / f"{policy}.json").read_text("utf-8"))
    allowed = {
        action
        for statement in statements["Statement"]
        for action in (
            [statement["Action"]] if isinstance(statement["Action"], str) else statement["Action"]
        )
    }
    # Only some launch templates need to pass a role; the policy can't know which.
    assert set(re.findall(r"`(\w+:\w+)`", row)) - {"iam:PassRole"} == allowed


def test_the_architecture_lists_the_rooms_of_the_services_as_they_may_be_used() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = page.split("## The rooms of the services")[1].split("## ")[0]
    shown = re.findall(r"^\| `(\w+)` \|", table, flags=re.MULTILINE)
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    [contract] = [
        one
        for one in settings["tool"]["importlinter"]["contracts"]
        if one["name"] == "A room of the services uses those below it"
    ]
    layers = [name.strip() for layer in contract["layers"] for name in layer.split("|")]
    assert shown == [name for name in layers if name in shown]
    rooms = {path.parent.name for path in (ROOT / "bot" / "services").glob("*/__init__.py")}
    # Words stand in a row with a module of the lowest layer.
    assert set(shown) | {"words"} == rooms
