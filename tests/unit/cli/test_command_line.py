import json
import subprocess
import sys
from pathlib import Path

import pytest

from bot.cli import status_of
from bot.domain.market import Market
from bot.planning import readable
from bot.settings import EXAMPLE

NOW = ["--now", "2027-03-10T15:00:00Z"]
MARKET = Path(__file__).resolve().parents[2] / "data/plan/market-example.json"


def test_a_text_that_acts_is_0_one_that_asks_3_and_one_that_is_refused_2(capsys) -> None:
    assert status_of(["parse", "reserve 2 p5.48xlarge for 3 days", *NOW]) == 0
    assert status_of(["parse", "reserve p5 for 3 days", *NOW]) == 3
    assert status_of(["parse", "reserve 0 p5.48xlarge for 3 days", *NOW]) == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["parse"],
        ["parse", "help", "--tz", "Moon/Base"],
        ["parse", "help", "--now", "noon"],
        ["parse", "help", "--now", "2027-03-10T15:00"],
        ["parse", "help", "--locale", "xx"],
        ["nonsense"],
        ["--nonsense"],
        ["plan"],
    ],
)
def test_wrong_use_is_64_and_says_why_on_stderr(capsys, arguments) -> None:
    assert status_of(arguments) == 64
    said = capsys.readouterr()
    assert said.out == ""
    assert "Error" in said.err
    assert "Traceback" not in said.err


def test_json_is_one_object_on_stdout(capsys) -> None:
    status_of(["parse", "reserve 2 p5.48xlarge for 3 days", *NOW, "--json"])
    said = capsys.readouterr()
    assert json.loads(said.out)["command"] == "reserve"
    assert said.err == ""


def test_a_configuration_that_is_wrong_is_78_with_file_and_line(capsys, tmp_path) -> None:
    path = tmp_path / "gpubot.yaml"
    path.write_text(EXAMPLE.replace("needed: 1", "neded: 1"))
    assert status_of(["config", "check", str(path)]) == 78
    assert f"{path}:" in capsys.readouterr().err
    path.write_text(EXAMPLE)
    assert status_of(["config", "check", str(path)]) == 0


def test_the_example_that_is_printed_checks_out(capsys, tmp_path) -> None:
    status_of(["config", "example"])
    path = tmp_path / "gpubot.yaml"
    path.write_text(capsys.readouterr().out)
    assert status_of(["config", "check", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"ok": True, "problems": []}


def test_parse_loads_neither_boto3_nor_slack_nor_a_database() -> None:
    script = (
        "import sys; from bot.cli import status_of; status_of(['parse', 'help']); "
        "print([m for m in ('boto3', 'botocore', 'slack_bolt', 'slack_sdk', 'sqlite_utils',"
        " 'apscheduler', 'yaml') if m in sys.modules])"
    )
    answer = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert answer.stdout.splitlines()[-1] == "[]"


def test_the_same_market_in_any_row_order_gives_the_same_bytes(capsys, tmp_path) -> None:
    market = Market.model_validate_json(MARKET.read_bytes())
    turned = market.model_copy(
        update={"offerings": market.offerings[::-1], "hourly": market.hourly[::-1]}
    )
    other = tmp_path / "market.json"
    other.write_text(turned.model_dump_json())
    said = []
    for path in (MARKET, other):
        text = "reserve 2 p5.48xlarge for 3 days from Mar 15"
        assert status_of(["plan", text, "--market", str(path), "--json"]) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]


@pytest.mark.parametrize("content", [None, "", "[]", '{"as_of": 3}', '{"as_of": "2027-03-10"}'])
def test_a_market_that_cannot_be_read_is_78_with_its_name(capsys, tmp_path, content) -> None:
    path = tmp_path / "market.json"
    if content is not None:
        path.write_text(content)
    assert status_of(["plan", "2 p5.48xlarge for 3 days", "--market", str(path)]) == 78
    said = capsys.readouterr()
    assert str(path) in said.err
    assert said.out == ""


def test_a_verb_that_needs_no_decision_is_refused_with_a_line_that_works(capsys) -> None:
    assert status_of(["plan", "list all", "--market", str(MARKET), "--json"]) == 2
    answer = json.loads(capsys.readouterr().out)
    assert answer["decision"] is None
    assert answer["problem"]["hint"]


def test_the_policy_says_who_must_agree(capsys, tmp_path) -> None:
    path = tmp_path / "gpubot.yaml"
    path.write_text(EXAMPLE)
    arguments = ["policy", "explain", "reserve 2 p5.48xlarge for 3 days from Mar 15"]
    arguments += ["--as", "U0ANA", "--config", str(path), "--market", str(MARKET), "--json"]
    assert status_of(arguments) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["total_usd"] == "6877.44"
    assert "U0BRUNO" in answer["sentences"][0]
    assert answer["sentences"][-1].startswith("The sum is that of 2 x p5.48xlarge, ")
    assert answer["sentences"][-1].endswith(", by the recorded market.")


def test_a_plan_in_words_says_times_to_the_minute(capsys) -> None:
    text = "reserve 2 p5.48xlarge for 3 days from Mar 15"
    assert status_of(["plan", text, "--market", str(MARKET)]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert " 2027-03-15 11:30 UTC to 2027-03-18 11:00 UTC, " in first


def test_the_policy_asks_back_with_the_question_and_its_choices(capsys, tmp_path) -> None:
    path = tmp_path / "gpubot.yaml"
    path.write_text(EXAMPLE)
    arguments = ["policy", "explain", "reserve 2 p5.48xlarge for 3 days from Monday"]
    arguments += ["--as", "U0ANA", "--config", str(path), "--now", "2027-03-15T12:00:00Z"]
    assert status_of(arguments) == 3
    said = capsys.readouterr().out
    assert "When should it start?" in said
    assert "[Monday 2027-03-15]" in said


def test_an_empty_ledger_is_sound_and_says_so(capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("GPUBOT_DATABASE", f"sqlite:///{tmp_path / 'empty.sqlite'}")
    assert status_of(["ledger"]) == 0
    assert "Nothing was ever meant" in capsys.readouterr().out
    assert status_of(["ledger", "verify"]) == 0


def test_a_database_that_is_none_is_78(capsys, tmp_path, monkeypatch) -> None:
    path = tmp_path / "text.sqlite"
    path.write_text("this is not a database, only some text that is long enough to look at")
    monkeypatch.setenv("GPUBOT_DATABASE", f"sqlite:///{path}")
    assert status_of(["ledger"]) == 78
    assert str(path) in capsys.readouterr().err


def test_replaying_what_was_never_decided_is_said_plainly(capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("GPUBOT_DATABASE", f"sqlite:///{tmp_path / 'empty.sqlite'}")
    assert status_of(["replay", "gpu-7"]) == 2
    assert "Nothing was decided for gpu-7" in capsys.readouterr().err
    assert status_of(["replay", "seven"]) == 2


@pytest.mark.parametrize(
    ("arguments", "status", "code"),
    [
        (["parse", "help", "--tz", "Moon/Base", "--json"], 64, "usage"),
        (["nonsense", "--json"], 64, "usage"),
        (["plan", "2 p5.48xlarge for 3 days", "--market", "none.json", "--json"], 78, "settings"),
    ],
)
def test_a_fault_is_one_json_object_too(capsys, arguments, status, code) -> None:
    assert status_of(arguments) == status
    said = capsys.readouterr()
    error = json.loads(said.out)["error"]
    assert error["code"] == code
    assert error["message"] in said.err
    assert error["next"].startswith("gpubot")


@pytest.mark.parametrize("person", ["ana", "@ana", "S0GROUP", "u0ana", "U0", "<@U0ANA>"])
def test_the_policy_is_explained_for_a_slack_id_only(capsys, person) -> None:
    assert status_of(["policy", "explain", "2 p5.48xlarge for 3 days", "--as", person]) == 64
    assert "like U0ANA" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["parse"], ["plan"], ["run"], ["config", "check"], ["config", "example"],
        ["policy", "explain"], ["replay"], ["ledger"], ["doctor"],
    ],
)  # fmt: skip
def test_every_command_shows_an_example(capsys, words) -> None:
    assert status_of([*words, "--help"]) == 0
    assert f"Example: gpubot {' '.join(words)}" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("$6877.44 ($5.97 per GPU-hour)", "$6,877.44 ($5.97 per GPU-hour)"),
        ("starts 2515.2272 h later", "starts 2,515 h later"),
        ("ends 7.5166 h earlier", "ends 7.5 h earlier"),
        ("for 36 h, $1000000", "for 36 h, $1,000,000"),
    ],
)
def test_the_text_of_a_plan_has_thousands_apart_and_hours_rounded(line, shown) -> None:
    assert readable(line) == shown


def test_the_policy_says_where_it_is_bought_and_with_whom_it_is_shared(capsys, tmp_path) -> None:
    prod = '  - {name: prod, account_id: "444455556666", regions: [us-east-1]}\nkinds:'
    file = tmp_path / "gpubot.yaml"
    text = EXAMPLE.replace("kinds:", prod, 1)
    file.write_text(text.replace("{name: vision,", "{name: vision, account: prod,", 1))
    line = "2 p5.48xlarge for 3 days by 2027-03-20 08:00"
    order = ["policy", "explain", line, "--as", "U0ANA", "--config", str(file)]
    status_of([*order, "--market", str(MARKET), "--now", "2027-03-10T15:00:00Z", "--json"])
    said = " ".join(json.loads(capsys.readouterr().out)["sentences"])
    assert "Bought in research, can't be used from prod: the administrator's file" in said
