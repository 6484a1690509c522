"""`python -m sandbox` as a process: it says where it is, and leaves nothing behind."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from sandbox.__main__ import main, read_settings
from sandbox.identity import home_account
from sandbox.scenario import read_scenario

README = Path(__file__).resolve().parents[3] / "sandbox" / "README.md"


@pytest.mark.parametrize(
    ("arguments", "status"),
    [(["--port", "many"], 64), (["--mode", "pigeon"], 64), (["--colour"], 64)],
)
def test_wrong_use_leaves_with_64(arguments, status, capsys):
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == status
    assert "usage" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--config", "--scenario"])
def test_a_missing_file_leaves_with_78_and_its_name(option, capsys):
    assert main([option, "/none/such.yaml"]) == 78
    assert "/none/such.yaml" in capsys.readouterr().err


def test_the_defaults_are_those_of_the_contract():
    settings = read_settings([])
    assert (settings.port, settings.mode) == (8700, "socket")
    assert settings.config.name == "config.yaml"
    settings.data.rmdir()


def test_the_bots_credentials_belong_to_the_account_of_its_configuration(tmp_path):
    config = tmp_path / "config.yaml"
    config.write_text(
        "accounts:\n"
        "  - {name: far, account_id: '222233334444', read_role: arn}\n"
        "  - {name: near, account_id: '111122223333', read_role: null}\n",
        "utf-8",
    )
    assert home_account(config) == "111122223333"
    config.write_text("nothing: here\n", "utf-8")
    assert home_account(config) is None


def test_the_scenario_in_the_readme_is_a_scenario(tmp_path):
    text = README.read_text("utf-8")
    block = re.search(r"```yaml\n(.*?)```", text, re.DOTALL)
    path = tmp_path / "readme.yaml"
    path.write_text(block[1], "utf-8")
    assert read_scenario(path).events[0].event == "price"


@pytest.mark.system
@pytest.mark.parametrize(
    "words", [("-m", "sandbox"), ("-c", "from bot.cli import main; main()", "sandbox")]
)
def test_a_sandbox_serves_and_stops_with_everything_on_sigterm(tmp_path, words):
    command = [sys.executable, *words, "--port", "0", "--data", str(tmp_path)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        address = re.search(r"http://127\.0\.0\.1:\d+", process.stderr.readline())[0]
        with urllib.request.urlopen(address + "/control/bot") as answer:  # noqa: S310 - loopback
            pid = json.load(answer)["pid"]
        with urllib.request.urlopen(address + "/control/aws/calls") as answer:  # noqa: S310
            calls = json.load(answer)
        process.send_signal(signal.SIGTERM)
        assert process.wait(15) == 0
    assert [call["params"]["RoleArn"] for call in calls if call["operation"] == "AssumeRole"] == [
        "arn:aws:iam::111122223333:role/gpubot"
    ]
    if pid is not None:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
