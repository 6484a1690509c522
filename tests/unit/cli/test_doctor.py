"""One command that says all is well: every finding has a level, and what to do about it."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from bot.cli import status_of
from bot.desk import _backlog, _database, _disk, _mended, _sharing
from bot.domain.records import Due
from bot.settings.config_file import EXAMPLE, parse_configuration
from storage import open_store

NOW = datetime(2027, 3, 10, 15, tzinfo=UTC)


class _Fixed:
    def now(self) -> datetime:
        return NOW


@pytest.mark.parametrize(
    ("result", "level"),
    [
        ("ok", "ok"),
        ("note", "warn"),
        ("refused", "fail"),
        ("wrong", "fail"),
        ("unknown", "fail"),
    ],
)
def test_what_could_not_be_seen_is_no_good_news(result, level) -> None:
    found = _mended({"name": "research us-east-1 describe_instances", "result": result})
    assert found["level"] == level
    assert bool(found["mend"]) == (level != "ok")


def test_settings_that_are_wrong_fail_with_the_mend(capsys, monkeypatch) -> None:
    monkeypatch.delenv("GPUBOT_CONFIG", raising=False)
    assert status_of(["doctor", "--json"]) == 2
    answer = json.loads(capsys.readouterr().out)
    [finding] = answer["findings"]
    assert not answer["ok"]
    assert finding["level"] == "fail"
    assert "config check" in finding["mend"]


def test_a_database_that_is_writable_and_has_room_is_well(tmp_path, monkeypatch) -> None:
    url = f"sqlite:///{tmp_path / 'gpubot.sqlite'}"
    monkeypatch.setenv("GPUBOT_DATABASE", url)
    assert [(row["name"], row["result"]) for row in _database(_Fixed())] == [
        ("database", "ok"),
        ("backlog", "ok"),
        ("switch", "ok"),
    ]
    [disk] = _disk(url)
    assert disk["name"] == "disk"
    assert "MB free" in disk["detail"]


def test_a_disk_that_is_nearly_full_is_told_before_it_is(tmp_path, monkeypatch) -> None:
    path = tmp_path / "gpubot.sqlite"
    path.touch()
    for free, result in ((10_000_000, "wrong"), (500_000_000, "note")):
        monkeypatch.setattr("bot.desk.shutil.disk_usage", lambda _, free=free: _Usage(free))
        [disk] = _disk(f"sqlite:///{path}")
        assert disk["result"] == result


class _Usage:
    def __init__(self, free: int) -> None:
        self.free = free


def test_work_that_has_waited_for_long_is_told_with_its_age(tmp_path) -> None:
    store = open_store(f"sqlite:///{tmp_path / 'gpubot.sqlite'}")
    due = Due(key="k", kind="quote", subject="gpu-1", at=NOW - timedelta(hours=2), argument="1")
    with store.transaction() as tx:
        tx.dues.plan(due)
    with store.reading() as tx:
        found = _backlog(tx, NOW)
    store.close()
    assert found["result"] == "note"
    assert "120 minutes late" in found["detail"]


@pytest.mark.parametrize(("named", "result"), [(("prod",), "ok"), ((), "note")])
def test_a_team_with_another_account_hears_whether_what_is_bought_gets_there(named, result) -> None:
    example, _ = parse_configuration(EXAMPLE)
    assert example is not None
    [research] = example.accounts
    buyer = research.model_copy(update={"organization": "o-a1b2c3d4e5", "shares_with": named})
    prod = buyer.model_copy(update={"name": "prod", "shares_with": ()})
    [team] = example.teams
    [found] = _sharing(
        example.model_copy(
            update={
                "accounts": (buyer, prod),
                "teams": (team.model_copy(update={"account": "prod"}),),
            }
        )
    )
    assert (found["name"], found["result"]) == ("sharing research with vision", result)
    assert bool(_mended(found)["mend"]) == (result == "note")
    assert _sharing(example) == []
